//! `report.html` of a study: every figure and table on one page.

use super::section::StudySection;
use super::view::StudyView;
use super::{
    attributes, best, correlations, density_grid, downstream, findings, hyper_parameters, imported,
    model_selection, overview, scores, sparsity, trade_off, training, variance,
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

/// Writes the page of a study (a hyper-parameter sweep) from what its run directories hold, and returns notes
/// on what could not be read or was left out, which the page has too. Runs that are not done yet are counted.
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
    let title = name.unwrap_or_else(|| run_name(study.path()));
    let table = with_derived(table);
    let view = StudyView::new(&table);
    let mut sections = sections(&view, &notes);
    sections.extend(density_grid::section(&view, study, progress));
    sections.extend(training::section(&view, study));
    let html = assemble(&title, &view, &sections)?;
    files::write(path, existing, |file| file.write_all(html.as_bytes()))?;
    Ok(notes)
}

/// The page of a table of runs, as HTML; `notes` say what could not be read. The same table gives the same
/// bytes. It has all sections but those that need the directories of the runs: curves of training, and
/// densities by alpha and beta.
///
/// # Errors
/// If a picture cannot be encoded.
pub fn study_page(title: &str, table: Table, notes: &[String]) -> Result<String> {
    let table = with_derived(table);
    let view = StudyView::new(&table);
    assemble(title, &view, &sections(&view, notes))
}

fn assemble(title: &str, view: &StudyView<'_>, sections: &[StudySection]) -> Result<String> {
    let sections = sections.iter().map(StudySection::page_section).collect::<Result<Vec<Section>>>()?;
    Ok(page(title, &overview::facts(view), &sections))
}

/// All sections in the order of the page.
fn sections(view: &StudyView<'_>, notes: &[String]) -> Vec<StudySection> {
    let mut sections = vec![findings::section(view), overview::section(view, notes), scores::methods(view)];
    sections.extend(scores::data_sets(view));
    sections.extend([hyper_parameters::section(view), trade_off::section(view), best::section(view)]);
    sections.extend(attributes::section(view));
    sections.extend([variance::section(view), correlations::section(view)]);
    sections.extend(downstream::section(view));
    sections.extend(sparsity::section(view));
    sections.push(model_selection::section(view));
    sections.extend(imported::section(view));
    sections
}

#[cfg(test)]
mod tests {
    use super::*;
    use unbraid::run::State;
    use unbraid_study::{Row, Spread};

    /// Three methods with two values of beta and two seeds; MIG is the row's number over a hundred.
    fn by_hand() -> Table {
        let mut rows = Vec::new();
        for method in ["a-vae", "b-vae", "c<vae"] {
            for beta in [1.0, 4.0] {
                for seed in 0..2 {
                    let number = rows.len();
                    rows.push(Row {
                        number: Some(number),
                        seed: Some(seed),
                        settings: vec![Some(beta.into())],
                        numbers: vec![number as f64 / 100.0, 50.0 - number as f64, 10.0],
                        ..Row::named(format!("{method}-{beta}-{seed}").replace('<', "_"), method, "shapes")
                    });
                }
            }
        }
        Table {
            setting_keys: vec!["objective.beta".to_owned()],
            number_keys: ["mig", "train/reconstruction", "train/kl"].map(str::to_owned).to_vec(),
            rows,
        }
    }

    #[test]
    fn the_page_has_its_sections_and_its_numbers() {
        let html = study_page("by hand", by_hand(), &["what is missing".to_owned()]).unwrap();
        for heading in [
            "Findings",
            "Overview",
            "Scores by method",
            "Effect of the hyper-parameters",
            "Scores against reconstruction",
            "Best hyper-parameters",
            "Explained variance",
            "Agreement between scores",
            "Unsupervised model selection",
        ] {
            assert!(html.contains(&format!("-heading\">{heading}</h2>")), "{heading}");
        }
        // The best setting of c<vae is beta = 4 with 0.10 and 0.11: the mean is 0.105, the deviation 0.01 / sqrt(2).
        assert!(html.contains("<strong>0.105 ± 0.007</strong> <span class=\"faint\">beta=4</span>"));
        // Medians of c<vae and b-vae: of 0.08 to 0.11 and 0.04 to 0.07.
        assert!(html.contains("c&lt;vae is best with 0.0950, before b-vae with 0.0550"));
        // Of the sum of squares 143 (numbers 0 to 11), 3 times 5 is within methods, and 6 times 0.5 within settings.
        assert!(
            html.contains(
                "the method explains 90\u{a0}%, the hyper-parameter another 8\u{a0}%, and 2\u{a0}% is left"
            ),
            "{html}"
        );
        assert!(!html.contains("<vae") && html.contains("Left out: what is missing."));
    }

    #[test]
    fn a_study_without_results_has_a_page_that_says_so() {
        let mut table = by_hand();
        for row in &mut table.rows {
            (row.state, row.numbers) = (State::Queued, vec![f64::NAN; 3]);
        }
        let html = study_page("empty", table, &[]).unwrap();
        assert!(html.contains("Nothing yet: no finished run has scores."));
        assert!(html.contains("<dt>not started</dt><dd>12</dd>") && !html.contains("<svg"));
        assert!(study_page("nothing at all", Table::default(), &[]).unwrap().contains("Nothing yet"));
    }

    #[test]
    fn unfinished_runs_are_counted_and_named() {
        let mut table = by_hand();
        for (row, state) in table.rows.iter_mut().zip([State::Failed, State::Running, State::Interrupted]) {
            row.state = state;
        }
        let html = study_page("unfinished", table, &[]).unwrap();
        assert!(html.contains("<dt>done</dt><dd>9</dd>") && html.contains("<dt>failed</dt><dd>1</dd>"));
        assert!(html.contains("<dt>running or interrupted</dt><dd>2</dd>"));
        assert!(html.contains("1 run failed: a-vae-1-0."));
        assert!(html.contains("2 runs did not finish: a-vae-1-1 and a-vae-4-0."), "{html}");
    }

    #[test]
    fn published_means_stand_beside_the_runs_of_the_same_setting() {
        let mut table = by_hand();
        let mut published = table.rows[0].clone();
        published.source = Some("paper".to_owned());
        (published.number, published.seed, published.numbers) = (None, None, vec![0.42, f64::NAN, f64::NAN]);
        published.spread = Some(Spread { runs: 50, deviations: vec![0.05; 3], medians: vec![f64::NAN; 3] });
        let mut elsewhere = published.clone();
        (elsewhere.data, elsewhere.name) = ("cars3d".to_owned(), "other".to_owned());
        table.rows.extend([published, elsewhere]);
        let html = study_page("compared", table, &[]).unwrap();
        assert!(html.contains("2 rows from paper."));
        // Once in the box plot of methods, once in that of settings.
        assert_eq!(html.matches("class=\"published\"").count(), 2);
        assert!(html.contains("0.005 ± 0.007 <span class=\"faint\">0.420 ± 0.050</span>"));
        // The study's own runs are not mixed with published ones.
        assert!(html.contains("<dt>runs</dt><dd>12</dd>") && html.contains("0.005 ± 0.007"));
    }

    /// Accuracies 0.70, 0.72, ... for one attribute: of beta = 4, the mean of b-vae is that of rows 6 and 7.
    /// A section without numbers says which command computes them.
    #[test]
    fn sections_without_numbers_name_a_command() {
        let table = Table { rows: vec![Row::named("run", "beta-vae", "shapes")], ..Table::default() };
        let empty: Vec<StudySection> = sections(&StudyView::new(&table), &[])
            .into_iter()
            .filter(|section| section.blocks.is_empty())
            .collect();
        assert!(empty.len() >= 7, "{empty:?}");
        for section in empty {
            assert!(section.introduction.contains("unbraid "), "{section:?}");
        }
    }

    #[test]
    fn attributes_are_listed_by_name_and_stay_out_of_the_other_sections() {
        let mut table = by_hand();
        table.number_keys[1] = "attribute_accuracy/Bald".to_owned();
        for (place, row) in table.rows.iter_mut().enumerate() {
            row.numbers[1] = 0.7 + 0.02 * place as f64;
        }
        let html = study_page("by hand", table, &[]).unwrap();
        assert!(html.contains("-heading\">Attribute accuracies</h2>"), "{html}");
        assert!(html.contains("0.830 ± 0.014"), "{html}");
        assert_eq!(html.matches("<th scope=\"row\">attribute accuracy, Bald").count(), 1, "{html}");
        assert!(!study_page("by hand", by_hand(), &[]).unwrap().contains("Attribute accuracies"));
    }
}
