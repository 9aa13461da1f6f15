//! What follows training: scores and the report. Nothing that goes wrong here touches the trained run.

use super::evaluate::score_and_write;
use crate::evaluate::{Settings, scores_file, table};
use crate::failure::{Failure, Outcome};
use crate::files::print;
use crate::report::document;
use crate::run::{Run, signal_name};
use crate::terminal::{TerminalProgress, log_line};
use std::path::Path;
use unbraid_data::DataSet;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) evaluation: bool,
    pub(super) report: bool,
}

/// What of it has not been done yet for a run that has come to `step`. Where scores are missing, or are of
/// `other_metrics` than wanted, a report that is there lacks them.
pub(super) fn missing(path: &Path, step: u64, wanted: Wanted, other_metrics: bool) -> Wanted {
    let about = scores_file::read_about(&path.join("scores.json"));
    let scored = about.is_some_and(|about| about.step == step) && !other_metrics;
    let evaluation = wanted.evaluation && !scored;
    Wanted { evaluation, report: wanted.report && (evaluation || !path.join("report.html").exists()) }
}

/// Scores a trained run by `metrics`, all that apply if there are none, and writes its report, as far as wanted; prints the
/// scores and where the report is. The data comes with its hash.
///
/// # Errors
/// The first thing that failed, after everything else was tried.
pub(super) fn finish(
    path: &Path,
    metrics: &[String],
    (data, hash): (&dyn DataSet, &str),
    wanted: Wanted,
    quiet: bool,
) -> Outcome {
    if !wanted.evaluation && !wanted.report {
        return Ok(());
    }
    let run = Run::open(path)?;
    let mut failed = None;
    if wanted.evaluation {
        if !quiet {
            log_line("evaluating; the run is saved, and Ctrl-C ends at once");
        }
        let settings = Settings { metrics: metrics.to_vec(), ..Settings::default() };
        match score_and_write(&run, (data, None), hash.to_owned(), &settings, quiet) {
            Ok(report) => print(&format!("\n{}", table::as_text(&report, false)))?,
            Err(failure) => failed = Some(after_training(path, "evaluate", failure)),
        }
    }
    if wanted.report {
        match document::write(&run, data, &TerminalProgress::new(quiet)) {
            Ok(page) => print(&format!("\n{:15} {}\n", "report", page.display()))?,
            Err(failure) => match &failed {
                Some(_) => log_line(&format!("error: {}", after_training(path, "report", failure))),
                None => failed = Some(after_training(path, "report", failure)),
            },
        }
    }
    failed.map_or(Ok(()), Err)
}

/// A signal came in the last step: the run is trained, and nothing more was begun.
pub(super) fn interrupted(path: &Path, signal: u8) -> Failure {
    Failure::Interrupted {
        signal,
        message: format!(
            "interrupted by {} after the last step; the run is trained and saved\nhint: unbraid train --resume --out {} does \
             the rest",
            signal_name(signal),
            path.display()
        ),
    }
}

/// Says that the run itself is safe, and how to try again.
fn after_training(path: &Path, verb: &str, failure: Failure) -> Failure {
    match failure {
        Failure::Input(error) | Failure::Run(error) => Failure::run(format!(
            "the run is trained and saved, but `unbraid {verb}` failed: {error:#}\nhint: unbraid {verb} {} tries again",
            path.display()
        )),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_missing_is_done() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let both = Wanted { evaluation: true, report: true };
        let neither = Wanted { evaluation: false, report: false };
        assert_eq!(missing(path, 5, both, false), both);
        assert_eq!(missing(path, 5, neither, false), neither);
        let scores = |step: u64| {
            let text = format!(
                r#"{{"evaluation": {{"unbraid": "", "step": {step}, "representation": "mean", "seed": 0,
                "train_points": 1, "test_points": 1, "images_encoded": 1, "encoding_seconds": 1, "data_sha256": ""}}}}"#
            );
            std::fs::write(path.join("scores.json"), text).unwrap();
        };
        scores(5);
        assert_eq!(missing(path, 5, both, false), Wanted { evaluation: false, report: true });
        std::fs::write(path.join("report.html"), "").unwrap();
        assert_eq!(missing(path, 5, both, false), neither);
        assert_eq!(missing(path, 5, both, true), both);
        // Scores of fewer steps are no scores of this run.
        scores(4);
        assert_eq!(missing(path, 5, both, false), both);
    }
}
