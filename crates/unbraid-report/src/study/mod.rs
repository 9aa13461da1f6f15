//! The page of a study: the analyses of [`study::analysis`](crate::study::analysis) drawn with the charts of
//! [`report`](super). One file for each family of figures; each names the figures of the papers that it repeats.
//!
//! * [`page`] puts the chapters together; [`chapter`] is what they are made of; [`subject`] is what they are about.
//! * [`findings`], [`overview`]: what the study says, and what it is.
//! * [`scores`], [`hyper_parameters`], [`trade_off`], [`best`], [`variance`], [`correlations`], [`downstream`],
//!   [`sparsity`], [`choice`], [`imported`]: the figures and tables.

pub mod best;
pub mod chapter;
pub mod choice;
pub mod correlations;
pub mod downstream;
pub mod findings;
pub mod hyper_parameters;
pub mod imported;
mod names;
pub mod overview;
pub mod page;
pub mod scores;
pub mod sparsity;
pub mod subject;
pub mod trade_off;
pub mod variance;
