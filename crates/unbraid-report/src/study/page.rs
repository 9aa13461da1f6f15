//! `report.html` of a study: every figure and table on one page.

use super::chapter::Chapter;
use super::view::StudyView;
use super::{
    best, correlations, downstream, findings, hyper_parameters, imported, model_selection, overview, scores,
    sparsity, trade_off, variance,
};
use crate::error::Result;
use crate::html::{Section, check_page, page};
use crate::run_report::page::run_name;
use std::io::Write;
use std::path::Path;
use unbraid::data::progress::Progress;
use unbraid::files::{self, Existing};
use unbraid_study::analysis::quantities::{UDR, with_derived};
use unbraid_study::{Definition, Results, StudyDirectory, Table, UdrLimits, study_udr};

/// Writes the page of a study (a hyper-parameter sweep) from what its run directories hold, and returns notes on what could
/// not be read or was left out, which the page has too. Runs that are not done yet are counted.
///
/// ```no_run
/// use std::path::Path;
/// use unbraid::data::progress::Silent;
/// use unbraid::files::Existing;
/// use unbraid_study::StudyDirectory;
///
/// let study = StudyDirectory::open(Path::new("six-methods"))?;
/// unbraid_report::write_study_report(&study, &study.report(), Existing::Replace, &Silent)?;
/// # Ok::<(), unbraid_report::Error>(())
/// ```
///
/// # Errors
/// If a file of the study is damaged, there is a file that must be kept, or the page cannot be written.
pub fn write_study_report(
    study: &StudyDirectory,
    path: &Path,
    existing: Existing,
    progress: &dyn Progress,
) -> Result<Vec<String>> {
    check_page(path, existing)?;
    let Results { mut table, warnings: mut notes } = Results::read(study)?;
    let udr = study_udr(study, &table, &table.own_runs(), UdrLimits::default(), progress);
    if udr.runs > 0 {
        table.set_numbers(UDR, &udr.values);
    }
    notes.extend(udr.notes);
    // The page does not depend on the definition, which may be damaged by now.
    let name = Definition::read(study).ok().and_then(|definition| definition.name);
    let html = study_page(&name.unwrap_or_else(|| run_name(study.path())), table, &notes)?;
    files::write(path, existing, |file| file.write_all(html.as_bytes()))?;
    Ok(notes)
}

/// The page of a table of runs, as HTML; `notes` say what could not be read. The same table gives the same bytes.
///
/// # Errors
/// If a picture cannot be encoded.
pub fn study_page(title: &str, table: Table, notes: &[String]) -> Result<String> {
    let table = with_derived(table);
    let view = StudyView::new(&table);
    let sections = chapters(&view, notes).iter().map(Chapter::section).collect::<Result<Vec<Section>>>()?;
    Ok(page(title, &overview::facts(&view), &sections))
}

/// All chapters in the order of the page.
fn chapters(view: &StudyView<'_>, notes: &[String]) -> Vec<Chapter> {
    let mut chapters = vec![findings::chapter(view), overview::chapter(view, notes), scores::methods(view)];
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
    chapters.push(model_selection::chapter(view));
    chapters.extend(imported::chapter(view));
    chapters
}
