//! The command from end to end: every verb as a user meets it, and what two runs must have in common.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../support/mod.rs"]
mod support;

mod browser;
mod compare;
mod data_command;
mod evaluate_categories;
mod evaluate_command;
mod evaluate_run;
mod exactness;
mod guide;
mod library;
mod measure;
mod report;
mod study_kill;
mod study_plan;
mod study_report;
mod study_results;
mod study_run;
mod study_size;
mod study_submit;
mod train_input;
mod trained_run;
mod unit_losses;
mod use_model;
mod use_model_errors;
