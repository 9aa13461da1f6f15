//! The analyses of the papers, as pure functions of a [`Table`](super::Table) that give plain numbers; what is drawn of
//! them is decided elsewhere.
//!
//! Every analysis takes the places of the rows that it is to look at, such as
//! [`Table::shown_runs`](super::Table::shown_runs): the caller decides which data sets and sources belong together.
//!
//! | module | what it says |
//! |---|---|
//! | [`quantities`] | what kind of number a column holds, and which way is better |
//! | [`statistics`] | means with deviations and confidence intervals, quartiles |
//! | [`data_sets`] | common names for the data sets of a study and of published tables |
//! | [`settings`] | which settings are the hyper-parameters of a method, and their short names |
//! | [`groups`] | rows that have something in common |
//! | [`curves`] | numbers against hyper-parameters, and against each other |
//! | [`best`] | the best hyper-parameter of each method |
//! | [`correlations`] | rank correlations between numbers |
//! | [`variance`] | how much method, hyper-parameter and seed explain |
//! | [`downstream`] | accuracy from few and from many labels |
//! | [`selection`] | choosing a model without labels |

pub mod best;
pub mod correlations;
pub mod curves;
pub mod data_sets;
pub mod downstream;
pub mod groups;
pub mod quantities;
pub mod selection;
pub mod settings;
pub mod statistics;
pub mod variance;

#[cfg(test)]
mod testing;
