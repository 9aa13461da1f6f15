//! The page of a study (a hyper-parameter sweep): the analyses of [`unbraid_study::analysis`] drawn as charts
//! and tables. One file for each family of figures; each names the figures of the papers that it follows.
//!
//! * [`page`] puts the sections together; [`section`] is what they are made of; [`view`] is the table that they draw.
//! * [`findings`], [`overview`]: what the study found, and what it consists of.
//! * [`scores`], [`hyper_parameters`], [`trade_off`], [`best`], [`attributes`], [`variance`],
//!   [`correlations`], [`downstream`], [`sparsity`], [`model_selection`], [`imported`]: the figures and
//!   tables.
//! * [`training`] and [`density_grid`] read the directories of runs as well.

mod attributes;
mod best;
mod correlations;
mod density_grid;
mod downstream;
mod findings;
mod hyper_parameters;
mod imported;
mod model_selection;
mod overview;
pub(crate) mod page;
mod scores;
mod section;
mod sparsity;
mod trade_off;
mod training;
mod variance;
mod view;
