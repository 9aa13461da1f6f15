//! Which of some runs is the best, and by what: scores, unsupervised disentanglement ranking, or the held-out bound.

use crate::directory::StudyDirectory;
use crate::error::{Error, Result, counted};
use crate::udr::{RunCodes, UdrLimits};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use unbraid::config::{Config, Source, nearest};
use unbraid::data::files::{LONGEST_TEXT, longest_table, read_text};
use unbraid::error_chain;
use unbraid::evaluate::{About, Scores};
use unbraid::metrics::scores::{UdrParameters, udr};
use unbraid::metrics::{Description, Direction, registry};
use unbraid::run::{RunPaths, State, Status};

/// What runs are ranked by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// The mean of the ranks by every score that all runs have.
    MeanRank,
    /// One number of `scores.json`.
    Score(String),
    /// Unsupervised disentanglement ranking (Duan et al. 2020): how much a run has in common with those of other seeds.
    Udr,
    /// The evidence lower bound on images that were held out from training.
    HeldOutElbo,
}

impl Criterion {
    /// What `--by` takes for it.
    pub fn name(&self) -> &str {
        match self {
            Self::MeanRank => "rank",
            Self::Score(key) => key,
            Self::Udr => "udr",
            Self::HeldOutElbo => "elbo",
        }
    }
}

/// A run in its place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RankedRun {
    /// Its directory.
    pub run: PathBuf,
    /// The value that decides its place.
    pub value: f64,
    /// The numbers that the value is made of, by their keys; empty if there is only the value.
    pub numbers: Vec<(String, f64)>,
    /// In what its configuration differs from those of the others, by key.
    pub settings: BTreeMap<String, String>,
}

/// Runs, the best first.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// By what.
    pub criterion: Criterion,
    /// Why by that, in a sentence.
    pub reason: String,
    /// The runs, the best first.
    pub runs: Vec<RankedRun>,
    /// Runs that have no place, and why.
    pub left_out: Vec<String>,
}

/// The runs at these paths, of which each is a run or a study with its finished runs.
///
/// # Errors
/// If a path is neither, or a study has not been planned.
pub fn runs_at(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut runs = Vec::new();
    for path in paths {
        let Ok(study) = StudyDirectory::open(path) else {
            runs.push(path.clone());
            continue;
        };
        for entry in &study.read_manifest()?.entries {
            let run = study.run(entry);
            if Status::read(&run.status()).is_some_and(|status| status.state == State::Done) {
                runs.push(run.root().to_owned());
            }
        }
    }
    Ok(runs)
}

/// What is known of a run.
struct Candidate {
    paths: RunPaths,
    config: Config,
    scores: Option<Scores>,
}

impl Candidate {
    fn read(path: &Path) -> Result<Self> {
        let paths = RunPaths::new(path);
        if !paths.config().is_file() {
            let found = if path.is_dir() { "no config.toml in it" } else { "no such directory" };
            return Err(unbraid::Error::NotARun { path: path.to_owned(), found }.into());
        }
        let file = paths.config();
        let text =
            read_text(&file, LONGEST_TEXT).map_err(unbraid::Error::io(&file, "read the configuration"))?;
        let mut config = Source::parse(&text, &file.display().to_string())?;
        // Runs of one study may have been trained before and after it was moved.
        config.data = paths.data_spec(&config);
        let scores = Scores::read_numbers(&paths.scores())?;
        Ok(Self { paths, config, scores })
    }

    fn name(&self) -> String {
        self.paths.root().display().to_string()
    }

    /// The evidence lower bound of the last validation, or of the best if the run uses those weights; `None`
    /// if nothing was held out.
    fn held_out_elbo(&self) -> Result<Option<f64>> {
        let path = self.paths.metrics();
        let text = match read_text(&path, longest_table(4)) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unbraid::Error::io(&path, "read it")(error).into()),
        };
        Ok(bound_of_log(&text, self.config.training.keep_best))
    }

    /// What must be equal for scores to be compared.
    fn scored_data(&self) -> Option<(&str, bool, Option<&str>)> {
        let About { data_sha256, test_split, test_sha256, .. } = &self.scores.as_ref()?.about;
        Some((data_sha256, *test_split, test_sha256.as_deref()))
    }
}

/// The evidence lower bound of the validation in a log that the weights of a run are of: the last one, or the
/// best. Which is the best is decided as training does, by the loss with the last values of all schedules
/// where there are any.
fn bound_of_log(log: &str, keep_best: bool) -> Option<f64> {
    let rows = log.lines().filter_map(|line| serde_json::from_str::<Map<String, Value>>(line).ok());
    let number = |row: &Map<String, Value>, key: &str| row.get(key).and_then(Value::as_f64);
    let mut validations = rows
        .filter_map(|row| {
            let bound = -(number(&row, "validation/reconstruction")? + number(&row, "validation/kl")?);
            let criterion = number(&row, "validation/final_loss").or_else(|| number(&row, "validation/loss"));
            Some((criterion?, bound))
        })
        .filter(|(_, bound)| bound.is_finite());
    let used = if keep_best {
        // The first of equal ones, as in training.
        validations.min_by(|a, b| a.0.total_cmp(&b.0))
    } else {
        validations.next_back()
    };
    used.map(|(_, bound)| bound)
}

/// Ranks runs by `wanted`, or by what suits them: by the scores that they all have, if their data has
/// factors; else by UDR, if there are several seeds of a setting; else by the held-out bound.
///
/// # Errors
/// If a path is not a run, or there is nothing to rank the runs by.
pub fn rank(paths: &[PathBuf], wanted: Option<&Criterion>) -> Result<Ranking> {
    let candidates = paths.iter().map(|path| Candidate::read(path)).collect::<Result<Vec<_>>>()?;
    if candidates.len() < 2 {
        let found = counted(candidates.len(), "finished run", "finished runs");
        return Err(nothing(format!("found {found}, expected at least 2")));
    }
    match wanted {
        Some(Criterion::MeanRank) => by_mean_rank(&candidates),
        Some(Criterion::Score(key)) => by_score(&candidates, key),
        Some(Criterion::Udr) => by_udr(&candidates),
        Some(Criterion::HeldOutElbo) => by_bound(&candidates),
        None => by_mean_rank(&candidates).or_else(|scores| {
            by_udr(&candidates).or_else(|udr| {
                by_bound(&candidates).map_err(|bound| {
                    let [scores, udr, bound] = [scores, udr, bound].map(why);
                    nothing(format!("by scores: {scores}; by UDR: {udr}; by held-out loss: {bound}"))
                })
            })
        }),
    }
}

fn nothing(reason: String) -> Error {
    Error::NothingToRank { reason }
}

fn why(error: Error) -> String {
    match error {
        Error::NothingToRank { reason } => reason,
        // Whatever else is wrong with the files of a run.
        other => error_chain(&other),
    }
}

/// The main number of every metric of factors for which higher is better.
fn score_keys() -> impl Iterator<Item = String> {
    registry::metrics()
        .filter(|metric| metric.needs.factors && metric.by_default && metric.direction == Direction::Higher)
        .filter_map(|metric| metric.keys().next().map(str::to_owned))
}

fn check_scored_data(candidates: &[Candidate]) -> Result {
    let mut data = candidates.iter().filter_map(|candidate| Some((candidate, candidate.scored_data()?)));
    let Some((first, expected)) = data.next() else { return Ok(()) };
    match data.find(|(_, found)| *found != expected) {
        None => Ok(()),
        Some((other, _)) => Err(nothing(format!(
            "the scores of {} and {} are of different data or splits",
            first.name(),
            other.name()
        ))),
    }
}

fn by_mean_rank(candidates: &[Candidate]) -> Result<Ranking> {
    check_scored_data(candidates)?;
    if let Some(unscored) = candidates.iter().find(|candidate| candidate.scores.is_none()) {
        return Err(nothing(format!(
            "{} has no scores.json (`unbraid evaluate` writes it)",
            unscored.name()
        )));
    }
    let value = |candidate: &Candidate, key: &str| {
        candidate.scores.as_ref().and_then(|scores| scores.get(key)).filter(|value| value.is_finite())
    };
    let keys: Vec<String> = score_keys()
        .filter(|key| candidates.iter().all(|candidate| value(candidate, key).is_some()))
        .collect();
    if keys.is_empty() {
        return Err(nothing("the runs share no score of factors".to_owned()));
    }
    let numbers: Vec<Vec<f64>> = candidates
        .iter()
        .map(|candidate| keys.iter().filter_map(|key| value(candidate, key)).collect())
        .collect();
    let ranks = mean_ranks(&numbers);
    let reason = format!(
        "by the mean rank over {} scores of the same factors: {}; lower is better",
        keys.len(),
        keys.join(", ")
    );
    let numbered = numbers.into_iter().map(|values| keys.iter().cloned().zip(values).collect());
    Ok(sorted(
        Criterion::MeanRank,
        reason,
        candidates,
        ranks.into_iter().map(Some),
        numbered.collect(),
        false,
    ))
}

/// The mean over the columns of each row's rank, 1 for the highest; equal values share the mean of their ranks.
fn mean_ranks(rows: &[Vec<f64>]) -> Vec<f64> {
    let columns = rows.first().map_or(0, Vec::len).max(1) as f64;
    let rank = |row: &Vec<f64>| {
        let ranks = row.iter().enumerate().map(|(column, value)| {
            let higher = rows.iter().filter(|other| other[column] > *value).count() as f64;
            let equal = rows.iter().filter(|other| other[column] == *value).count() as f64;
            higher + (equal + 1.0) / 2.0
        });
        ranks.sum::<f64>() / columns
    };
    rows.iter().map(rank).collect()
}

fn by_score(candidates: &[Candidate], key: &str) -> Result<Ranking> {
    check_scored_data(candidates)?;
    let metric = registry::metrics().find(|metric| metric.keys().any(|known| known == key));
    let higher = match metric.map(|metric| metric.direction) {
        Some(Direction::Higher) => true,
        Some(Direction::Lower) => false,
        Some(Direction::Neither) => return Err(nothing(format!("no value of {key} is better than another"))),
        None => {
            let others = ["rank", "udr", "elbo"].into_iter();
            let known = others.chain(registry::metrics().flat_map(Description::keys));
            return Err(Error::UnknownCriterion { name: key.to_owned(), suggestion: nearest(key, known) });
        }
    };
    let values: Vec<Option<f64>> = candidates
        .iter()
        .map(|candidate| candidate.scores.as_ref()?.get(key).filter(|value| value.is_finite()))
        .collect();
    if values.iter().flatten().count() == 0 {
        return Err(nothing(format!("no run has the score {key}")));
    }
    let better = if higher { "higher" } else { "lower" };
    let reason = format!("by {key}, as asked for; {better} is better");
    let none = vec![Vec::new(); candidates.len()];
    Ok(sorted(Criterion::Score(key.to_owned()), reason, candidates, values.into_iter(), none, higher))
}

fn by_bound(candidates: &[Candidate]) -> Result<Ranking> {
    let values = candidates.iter().map(Candidate::held_out_elbo).collect::<Result<Vec<Option<f64>>>>()?;
    if values.iter().flatten().count() == 0 {
        return Err(nothing("no run has held-out losses (training.validation = 0.1 logs them)".to_owned()));
    }
    let held_out =
        |candidate: &Candidate| (candidate.config.data.clone(), candidate.config.training.validation);
    if let Some(other) = candidates.iter().find(|other| held_out(other) != held_out(&candidates[0])) {
        return Err(nothing(format!(
            "{} and {} were not validated on the same held-out data",
            candidates[0].name(),
            other.name()
        )));
    }
    let reason = "by the evidence lower bound on held-out data, -(reconstruction + KL) in nats, whatever the objective \
                  weighs; higher is better. It says how well a run models the data, not how disentangled it is"
        .to_owned();
    let none = vec![Vec::new(); candidates.len()];
    Ok(sorted(Criterion::HeldOutElbo, reason, candidates, values.into_iter(), none, true))
}

/// Compares the runs of each setting, which differ in their seeds only.
fn by_udr(candidates: &[Candidate]) -> Result<Ranking> {
    let mut settings: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, candidate) in candidates.iter().enumerate() {
        let any_seed = Config { seed: 0, ..candidate.config.clone() };
        settings.entry(any_seed.fingerprint()).or_default().push(place);
    }
    let limits = UdrLimits::default();
    let mut values = vec![None; candidates.len()];
    let mut notes = Vec::new();
    for places in settings.values().filter(|places| places.len() > 1) {
        let mut models: Vec<(usize, About, RunCodes)> = Vec::new();
        for &place in places.iter().take(limits.runs_per_setting.max(2)) {
            let first = models.first().map(|(_, about, _)| about);
            match RunCodes::read(&candidates[place].paths, limits.points, first) {
                Ok(Some((about, codes))) => models.push((place, about, codes)),
                Ok(None) => notes.push(format!(
                    "{}: no codes.npz (`unbraid evaluate` writes it)",
                    candidates[place].name()
                )),
                Err(note) => notes.push(note),
            }
        }
        if models.len() < 2 {
            continue;
        }
        let codes = models.iter().map(|(_, _, model)| model.checked()).collect::<Result<Vec<_>, _>>();
        match codes.and_then(|codes| udr(&codes, &UdrParameters::default())) {
            Ok(scores) => {
                for ((place, _, _), value) in models.iter().zip(scores.values) {
                    values[*place] = Some(value);
                }
            }
            Err(error) => notes.push(error.to_string()),
        }
    }
    if values.iter().flatten().count() == 0 {
        let why =
            notes.into_iter().next().unwrap_or_else(|| "no two runs differ in their seeds only".to_owned());
        return Err(nothing(why));
    }
    let reason = "by UDR (unsupervised disentanglement ranking, Duan et al. 2020), which needs no factors: how much of its \
                  units a run shares with runs of the same settings and other seeds; higher is better"
        .to_owned();
    let none = vec![Vec::new(); candidates.len()];
    let mut ranking = sorted(Criterion::Udr, reason, candidates, values.into_iter(), none, true);
    ranking.left_out.extend(notes);
    Ok(ranking)
}

/// The runs by their values; equal ones stay in order, and those without a value are left out.
fn sorted(
    criterion: Criterion,
    reason: String,
    candidates: &[Candidate],
    values: impl Iterator<Item = Option<f64>>,
    mut numbers: Vec<Vec<(String, f64)>>,
    higher: bool,
) -> Ranking {
    let settings = differing_settings(candidates);
    let (mut runs, mut left_out) = (Vec::new(), Vec::new());
    for (place, value) in values.enumerate() {
        let run = candidates[place].paths.root().to_owned();
        match value {
            Some(value) => runs.push(RankedRun {
                run,
                value,
                numbers: std::mem::take(&mut numbers[place]),
                settings: settings[place].clone(),
            }),
            None => left_out.push(format!("{}: has no {}", run.display(), criterion.name())),
        }
    }
    runs.sort_by(|a, b| if higher { b.value.total_cmp(&a.value) } else { a.value.total_cmp(&b.value) });
    Ranking { criterion, reason, runs, left_out }
}

/// The keys in which some configurations differ, with the value of each.
fn differing_settings(candidates: &[Candidate]) -> Vec<BTreeMap<String, String>> {
    let all: Vec<BTreeMap<String, String>> =
        candidates.iter().map(|candidate| candidate.config.values()).collect();
    let keys: BTreeSet<&String> = all.iter().flat_map(BTreeMap::keys).collect();
    let differ: Vec<&String> =
        keys.into_iter().filter(|key| all.iter().any(|other| other.get(*key) != all[0].get(*key))).collect();
    all.iter()
        .map(|values| {
            let own = differ.iter().filter_map(|key| Some(((*key).clone(), values.get(*key)?.clone())));
            own.collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 0.9 and 0.5 are first and second of the first column; both share 1.5 in the second.
    #[test]
    fn ranks_are_averaged_and_ties_shared() {
        let rows = [vec![0.9, 0.3], vec![0.5, 0.3], vec![0.1, 0.2]];
        assert_eq!(mean_ranks(&rows), [1.25, 1.75, 3.0]);
    }

    /// A growing beta raises the loss while the model improves: training keeps the weights of step 20, by the
    /// loss with the last beta, though that of step 10 is lower as it stands.
    #[test]
    fn the_best_validation_is_the_one_whose_weights_were_kept() {
        let row = |step: u64, loss: f64, last: Option<f64>, kl: f64| {
            let last = last.map_or_else(String::new, |last| format!(",\"validation/final_loss\":{last}"));
            format!(
                "{{\"step\":{step},\"validation/loss\":{loss}{last},\"validation/reconstruction\":5,\"validation/kl\":{kl}}}\n"
            )
        };
        let log = [
            row(10, 6.0, Some(21.0), 4.0),
            "{\"step\":15,\"train/loss\":7}\n".to_owned(),
            row(20, 8.0, Some(9.0), 1.0),
            row(30, 9.0, Some(13.0), 2.0),
        ]
        .concat();
        assert_eq!(bound_of_log(&log, true), Some(-6.0));
        assert_eq!(bound_of_log(&log, false), Some(-7.0));
        let constant = [row(10, 6.0, None, 4.0), row(20, 8.0, None, 1.0)].concat();
        assert_eq!(bound_of_log(&constant, true), Some(-9.0));
        assert_eq!(bound_of_log("{\"step\":1,\"train/loss\":7}\n", true), None);
    }
}
