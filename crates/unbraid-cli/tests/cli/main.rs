//! The command from end to end: every verb as a user meets it, and what two runs must have in common.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../support/mod.rs"]
mod support;

mod algorithms;
mod best;
#[cfg(target_os = "linux")]
mod bombs;
mod browser;
mod compare;
mod data_command;
#[cfg(target_os = "linux")]
mod disk_full;
mod earlier_version;
mod edit;
mod evaluate_categories;
mod evaluate_command;
#[cfg(feature = "onnx")]
mod evaluate_encoder;
mod evaluate_options;
mod evaluate_run;
mod exactness;
mod export;
mod extending;
mod guide;
mod hostile_input;
mod hostile_study;
mod import;
mod infer;
mod init;
#[cfg(target_os = "linux")]
mod kill_everywhere;
mod library;
mod live_engine;
mod live_page;
mod live_table;
mod measure;
mod misleading;
mod names;
#[cfg(target_os = "linux")]
mod network;
#[cfg(target_os = "linux")]
mod odd_names;
mod own_data;
mod papers;
mod posteriors;
mod reference;
mod release;
mod report;
mod shell;
mod study_kill;
mod study_plan;
mod study_published;
mod study_report;
mod study_results;
mod study_run;
mod study_size;
mod study_submit;
mod tables;
mod train_input;
mod trained_run;
mod traverse;
mod unit_losses;
mod use_model;
mod use_model_errors;
mod validation;
