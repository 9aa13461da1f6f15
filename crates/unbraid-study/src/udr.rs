//! Unsupervised disentanglement ranking of the runs of a study, from the codes that their evaluations wrote.

use crate::analysis::groups::{Part, groups};
use crate::directory::StudyDirectory;
use crate::table::Table;
use ndarray::{Array2, Axis};
use unbraid::data::progress::Progress;
use unbraid::error_chain;
use unbraid::evaluate::{About, codes_file, read_about};
use unbraid::metrics::scores::{UdrParameters, udr};
use unbraid::metrics::{MetricsError, Posteriors};
use unbraid::run::RunPaths;

/// How much work to put into it. Every run of a setting is compared with every other, both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdrLimits {
    /// Runs of one setting at most.
    pub runs_per_setting: usize,
    /// Runs in all at most; settings that come after are left out.
    pub runs: usize,
    /// Points that are compared at most.
    pub points: usize,
}

impl Default for UdrLimits {
    /// Five models of each setting, as Duan et al. (2020, section 4) find enough, on a thousand points.
    fn default() -> Self {
        Self { runs_per_setting: 5, runs: 1200, points: 1000 }
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyUdr {
    /// The UDR of each row of the table; NaN for those that were not compared.
    pub values: Vec<f64>,
    /// How many runs have one.
    pub runs: usize,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// Computes the UDR of these rows: for each setting of a method on a data set, the runs that differ in nothing but the
/// seed are compared with each other (lasso; Duan et al. 2020). Only runs whose `codes.npz` is there, with
/// posteriors and on the same points, count. Memory is bounded by one setting's codes.
pub fn study_udr(
    study: &StudyDirectory,
    table: &Table,
    rows: &[usize],
    limits: UdrLimits,
    progress: &dyn Progress,
) -> StudyUdr {
    let mut found = StudyUdr { values: vec![f64::NAN; table.rows.len()], runs: 0, notes: Vec::new() };
    let own: Vec<usize> = rows.iter().copied().filter(|&row| table.rows[row].source.is_none()).collect();
    let settings = groups(table, &own, &[Part::Data, Part::Method, Part::Setting]);
    let mut left_out = 0;
    progress.start("comparing codes", settings.len() as u64);
    for group in settings {
        let most = limits.runs_per_setting.min(limits.runs - found.runs);
        if most < 2 {
            left_out += 1;
            continue;
        }
        let mut models: Vec<(usize, About, RunCodes)> = Vec::new();
        for &row in &group.rows {
            if models.len() == most {
                break;
            }
            let run = study.run_named(&table.rows[row].name);
            match RunCodes::read(&run, limits.points, models.first().map(|(_, about, _)| about)) {
                Ok(Some((about, posteriors))) => models.push((row, about, posteriors)),
                Ok(None) => {}
                Err(note) => found.notes.push(note),
            }
        }
        if models.len() >= 2 {
            let codes: Result<Vec<Posteriors<'_>>, MetricsError> =
                models.iter().map(|(_, _, model)| model.checked()).collect();
            match codes.and_then(|codes| udr(&codes, &UdrParameters::default())) {
                Ok(scores) => {
                    for ((row, _, _), value) in models.iter().zip(scores.values) {
                        found.values[*row] = value;
                    }
                    found.runs += models.len();
                }
                Err(error) => found.notes.push(format!("{}: {error}", group.labels.join(" "))),
            }
        }
        progress.advance(1);
    }
    progress.finish();
    if left_out > 0 {
        found
            .notes
            .push(format!("{left_out} settings were left out: {} runs were compared before", found.runs));
    }
    found
}

/// The codes of one run.
pub(crate) struct RunCodes {
    means: Array2<f64>,
    log_variances: Array2<f64>,
}

impl RunCodes {
    /// Of the first points; `None` if the run has none. `Err` says why they cannot be compared with those of `first`.
    pub(crate) fn read(
        run: &RunPaths,
        points: usize,
        first: Option<&About>,
    ) -> Result<Option<(About, Self)>, String> {
        let file = run.codes();
        let Some(about) = read_about(&run.scores()).filter(|_| file.exists()) else {
            return Ok(None);
        };
        // Points are drawn by the seed of the evaluation.
        let points_of =
            |about: &About| (about.data_sha256.clone(), about.seed, about.train_points, about.test_split);
        if first.is_some_and(|first| points_of(first) != points_of(&about)) {
            return Err(format!("{}: was evaluated on other points than the runs beside it", file.display()));
        }
        if about.representation != "mean" {
            return Err(format!("{}: has samples, expected means of posteriors", file.display()));
        }
        let (means, log_variances) =
            codes_file::read_posteriors(&file).map_err(|error| error_chain(&error))?;
        let cut = |array: Array2<f64>| {
            let rows = array.nrows().min(points);
            array.slice_axis(Axis(0), (..rows).into()).to_owned()
        };
        Ok(Some((about, Self { means: cut(means), log_variances: cut(log_variances) })))
    }

    pub(crate) fn checked(&self) -> Result<Posteriors<'_>, MetricsError> {
        Posteriors::new(self.means.view(), self.log_variances.view())
    }
}
