//! `report.html` of a study: every figure and table on one page.

use super::chapter::Chapter;
use super::view::StudyView;
use super::{
    best, choice, correlations, downstream, findings, hyper_parameters, imported, overview, scores, sparsity,
    trade_off, variance,
};
use crate::error::Result;
use crate::html::{Section, page};
use unbraid_study::Table;
use unbraid_study::analysis::quantities::with_derived;

/// The page of a study with this name; `notes` say what could not be read. The same table gives the same bytes.
///
/// # Errors
/// If a picture cannot be encoded.
pub(crate) fn write(title: &str, table: Table, notes: &[String]) -> Result<String> {
    let table = with_derived(table);
    let view = StudyView::new(&table);
    let sections =
        chapters(&view, notes).iter().map(Chapter::section).collect::<Result<Vec<Section>>>()?;
    Ok(page(title, &overview::facts(&view), &sections))
}

/// All chapters in the order of the page.
fn chapters(view: &StudyView<'_>, notes: &[String]) -> Vec<Chapter> {
    let mut chapters =
        vec![findings::chapter(view), overview::chapter(view, notes), scores::methods(view)];
    chapters.extend(scores::data_sets(view));
    chapters.extend([
        hyper_parameters::chapter(view),
        trade_off::chapter(view),
        best::chapter(view),
        variance::chapter(view),
        correlations::chapter(view),
    ]);
    chapters.extend(downstream::chapter(view));
    chapters.extend(sparsity::chapter(view));
    chapters.push(choice::chapter(view));
    chapters.extend(imported::chapter(view));
    chapters
}
