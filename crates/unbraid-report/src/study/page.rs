//! `report.html` of a study: every figure and table on one page.

use super::chapter::Chapter;
use super::subject::Subject;
use super::{
    best, choice, correlations, downstream, findings, hyper_parameters, imported, overview, scores, sparsity,
    trade_off, variance,
};
use crate::failure::Outcome;
use crate::report::html::{Section, page};
use crate::study::Table;
use crate::study::analysis::quantities::with_derived;

/// The page of a study with this name; `notes` say what could not be read. The same table gives the same bytes.
///
/// # Errors
/// If a picture cannot be encoded.
pub fn write(title: &str, table: Table, notes: &[String]) -> Outcome<String> {
    let table = with_derived(table);
    let subject = Subject::new(&table);
    let sections =
        chapters(&subject, notes).iter().map(Chapter::section).collect::<Outcome<Vec<Section>>>()?;
    Ok(page(title, &overview::facts(&subject), &sections))
}

/// All chapters in the order of the page.
fn chapters(subject: &Subject<'_>, notes: &[String]) -> Vec<Chapter> {
    let mut chapters =
        vec![findings::chapter(subject), overview::chapter(subject, notes), scores::methods(subject)];
    chapters.extend(scores::data_sets(subject));
    chapters.extend([
        hyper_parameters::chapter(subject),
        trade_off::chapter(subject),
        best::chapter(subject),
        variance::chapter(subject),
        correlations::chapter(subject),
    ]);
    chapters.extend(downstream::chapter(subject));
    chapters.extend(sparsity::chapter(subject));
    chapters.push(choice::chapter(subject));
    chapters.extend(imported::chapter(subject));
    chapters
}
