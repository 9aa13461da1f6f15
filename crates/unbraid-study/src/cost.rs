//! What a study costs: the time of a step, measured here on one thread, times the number of steps.

use crate::definition::data_label;
use crate::manifest::Entry;
use crate::plan::{Plan, RunProgress};
use std::time::{Duration, Instant};
use toml::Table;
use unbraid::config::{Config, PriorConfig};
use unbraid::data::DataSet;
use unbraid::data::progress::Progress;
use unbraid::train::cost::{self, Timing};
use unbraid::{BoxedError, Device, error_chain};

/// Runs of one method whose steps cost the same.
#[derive(Clone, Debug, PartialEq)]
pub struct CostClass {
    /// The label of the method.
    pub method: String,
    /// The data set, in few words.
    pub data: String,
    /// How many runs there are.
    pub runs: usize,
    /// How many of them are not trained yet.
    pub left: usize,
    /// Steps of all runs together; `None` if that takes the number of images, and the data cannot be opened.
    pub steps: Option<u64>,
    /// Steps of those that are not trained yet.
    pub steps_left: Option<u64>,
    /// The time of a step, or why there is none.
    pub step: StepTime,
}

/// What is known of the time of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum StepTime {
    /// Seconds, measured.
    Measured(f64),
    /// Seconds, measured with the same network and method on another data set.
    Borrowed(f64),
    /// Why it was not measured.
    Unknown(String),
}

impl StepTime {
    /// Seconds, where they are known.
    pub fn seconds(&self) -> Option<f64> {
        match self {
            Self::Measured(seconds) | Self::Borrowed(seconds) => Some(*seconds),
            Self::Unknown(_) => None,
        }
    }
}

impl CostClass {
    /// Core-hours of training: of all runs, and of those that are left. `None` if time or steps are not known.
    pub fn core_hours(&self) -> Option<[f64; 2]> {
        let seconds = self.step.seconds()?;
        Some([self.steps?, self.steps_left?].map(|steps| steps as f64 * seconds / 3600.0))
    }
}

/// Runs that are measured as one.
struct Group<'a> {
    first: &'a Entry,
    /// All that the cost of a step depends on, apart from the data.
    structure: String,
    entries: Vec<(&'a Entry, bool)>,
}

/// No class needs more than this to be known well enough.
const LONGEST: Duration = Duration::from_millis(400);

impl Plan {
    /// Measures the time of a training step of each kind of run within about `budget`, the time to open the data aside.
    /// What cannot be measured says why; nothing fails.
    pub fn measure_cost(&self, budget: Duration, progress: &dyn Progress) -> Vec<CostClass> {
        let groups = groups(self);
        let mut classes: Vec<Option<CostClass>> = groups.iter().map(|_| None).collect();
        let deadline = Instant::now() + budget;
        let mut waiting = groups.len();
        // A data set is opened once, and only one is in memory.
        for first in 0..groups.len() {
            if classes[first].is_some() {
                continue;
            }
            let spec = &groups[first].first.configuration.data;
            let data = if Instant::now() < deadline {
                unbraid::data::open(spec, progress).map_err(|error| error_chain(&error))
            } else {
                Err("there was no time for it".to_owned())
            };
            for (index, group) in groups.iter().enumerate().skip(first) {
                if group.first.configuration.data != *spec {
                    continue;
                }
                let share = deadline.saturating_duration_since(Instant::now())
                    / u32::try_from(waiting).unwrap_or(1).max(1);
                let step = match &data {
                    Ok(data) => step(&group.first.configuration, data.as_ref(), share),
                    Err(message) => StepTime::Unknown(message.clone()),
                };
                classes[index] = Some(class(group, data.as_deref().ok().map(DataSet::len), step));
                waiting -= 1;
            }
        }
        borrow(&groups, classes.into_iter().flatten().collect())
    }
}

fn groups(plan: &Plan) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for (entry, progress) in plan.manifest.entries.iter().zip(&plan.progress) {
        let entry_and_left = (entry, *progress != RunProgress::Trained);
        // Neighbours differ in their seed only, and thousands need not be described for that.
        let like_last = groups.last_mut().filter(|group| is_like(group.entries.last(), entry));
        if let Some(group) = like_last {
            group.entries.push(entry_and_left);
            continue;
        }
        let structure = structure(&entry.configuration);
        let same = |group: &&mut Group<'_>| {
            group.structure == structure
                && group.first.method() == entry.method()
                && group.first.configuration.data == entry.configuration.data
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.entries.push(entry_and_left),
            None => groups.push(Group { first: entry, structure, entries: vec![entry_and_left] }),
        }
    }
    groups
}

fn is_like(last: Option<&(&Entry, bool)>, entry: &Entry) -> bool {
    last.is_some_and(|(last, _)| {
        let other = Config { seed: entry.configuration.seed, ..last.configuration.clone() };
        last.method() == entry.method() && other == entry.configuration
    })
}

/// Network, method and batch as text: without the weights of an objective and the numbers of a prior, which
/// cost nothing.
fn structure(config: &Config) -> String {
    let mut objective = Table::try_from(&config.objective).unwrap_or_default();
    for (key, _) in config.objective.schedules() {
        objective.remove(&key);
    }
    let terms = objective.get_mut("terms").and_then(toml::Value::as_array_mut);
    for term in terms.into_iter().flatten().filter_map(toml::Value::as_table_mut) {
        term.remove("weight");
        term.remove("capacity");
    }
    let mut model = Table::try_from(&config.model).unwrap_or_default();
    model.insert("prior".to_owned(), config.model.prior.name().into());
    format!("{objective} {model} {} {}", config.training.batch_size, config.optimizer.amsgrad)
}

fn step(config: &Config, data: &dyn DataSet, share: Duration) -> StepTime {
    if config.objective.closed_form().is_some() {
        return StepTime::Unknown("linear components are fitted at once".to_owned());
    }
    if share.is_zero() {
        return StepTime::Unknown("there was no time for it".to_owned());
    }
    match measure_step(config, data, share.min(LONGEST)) {
        Ok(seconds) => StepTime::Measured(seconds),
        Err(error) => StepTime::Unknown(error_chain(&*error)),
    }
}

fn measure_step(config: &Config, data: &dyn DataSet, share: Duration) -> Result<f64, BoxedError> {
    config.check_against(data)?;
    let mut config = config.clone();
    if let PriorConfig::Anisotropic { .. } = config.model.prior {
        // Its principal components take seconds, once; its divergence costs what any other does.
        config.model.prior = PriorConfig::StandardNormal {};
    }
    // The first step pays for memory that the others find. Of the others, the fastest counts.
    let timing = Timing { warm_up: 1, rounds: 2, round: Duration::ZERO, at_least: share };
    // As in a study: one thread for each run.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    Ok(pool.install(|| cost::measure_step(&config, data, &Device::cpu(), timing))?.seconds)
}

fn class(group: &Group<'_>, images: Option<usize>, step: StepTime) -> CostClass {
    let steps = |only_left: bool| {
        let entries = group.entries.iter().filter(|(_, left)| *left || !only_left);
        entries
            .map(|(entry, _)| {
                let training = &entry.configuration.training;
                training.steps.or_else(|| Some(training.total_steps(images?)))
            })
            .sum()
    };
    CostClass {
        method: group.first.method().to_owned(),
        data: data_label(&group.first.configuration.data),
        runs: group.entries.len(),
        left: group.entries.iter().filter(|(_, left)| *left).count(),
        steps: steps(false),
        steps_left: steps(true),
        step,
    }
}

/// What was not measured on one data set may have been on another; the size of its images is then a guess.
fn borrow(groups: &[Group<'_>], mut classes: Vec<CostClass>) -> Vec<CostClass> {
    for index in 0..classes.len() {
        if classes[index].step.seconds().is_some() {
            continue;
        }
        let alike =
            groups.iter().zip(&classes).filter(|(group, _)| group.structure == groups[index].structure);
        let measured = alike.into_iter().find_map(|(_, class)| match class.step {
            StepTime::Measured(seconds) => Some(seconds),
            StepTime::Borrowed(_) | StepTime::Unknown(_) => None,
        });
        if let Some(seconds) = measured {
            classes[index].step = StepTime::Borrowed(seconds);
        }
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::{Definition, entries};
    use crate::manifest::Manifest;
    use std::path::Path;
    use unbraid::data::progress::Silent;

    fn plan(text: &str) -> Plan {
        let definition = Definition::parse(text, "study.toml", Path::new(".")).unwrap();
        let entries = entries(&definition).unwrap();
        Plan {
            name: None,
            progress: vec![RunProgress::New; entries.len()],
            manifest: Manifest { entries },
            orphaned: Vec::new(),
        }
    }

    const TINY: &str = r#"
        base = "shapes/beta-vae"
        seeds = 2
        [set]
        data = "shapes(scales=2, orientations=2, positions=4)"
        model.architecture = { name = "mlp", encoder = [4], decoder = [4] }
        training = { batch_size = 4, steps = 10 }
    "#;

    #[test]
    fn runs_that_cost_the_same_are_measured_as_one() {
        let mut plan = plan(&format!(
            "{TINY}\n[grid]\nobjective.beta = [1, 2]\n[[zip]]\ntraining.batch_size = [4, 8]\ntraining.steps = [10, 20]"
        ));
        plan.progress[0] = RunProgress::Trained;
        let classes = plan.measure_cost(Duration::from_millis(50), &Silent);
        let seen: Vec<_> =
            classes.iter().map(|class| (class.runs, class.left, class.steps, class.steps_left)).collect();
        assert_eq!(seen, [(4, 3, Some(40), Some(30)), (4, 4, Some(80), Some(80))]);
        // The first is always measured; the second may find the time used up on a busy machine.
        assert!(matches!(classes[0].step, StepTime::Measured(seconds) if seconds > 0.0));
    }

    #[test]
    fn data_that_is_missing_borrows_the_time_and_has_no_epochs() {
        let plan = plan(&format!(
            "{TINY}\n[grid]\ndata = [\"shapes\", \"missing.npz\"]\n[[zip]]\ntraining.steps = [10]\n[[method]]\n[[method]]\n\
             name = \"other\"\nset = {{ model.latents.continuous = 3 }}"
        ));
        let classes = plan.measure_cost(Duration::from_secs(5), &Silent);
        let data: Vec<_> = classes.iter().map(|class| (class.method.as_str(), class.data.as_str())).collect();
        let shapes = "shapes(orientations=2, positions=4, scales=2)";
        assert_eq!(
            data,
            [("beta-vae", shapes), ("beta-vae", "missing"), ("other", shapes), ("other", "missing")]
        );
        assert_eq!(classes[1].step.seconds(), classes[0].step.seconds());
        assert!(matches!(classes[1].step, StepTime::Borrowed(_)));
    }

    #[test]
    fn core_hours_are_steps_times_seconds() {
        let class = CostClass {
            method: "a".to_owned(),
            data: "b".to_owned(),
            runs: 4,
            left: 1,
            steps: Some(7200),
            steps_left: Some(1800),
            step: StepTime::Measured(0.5),
        };
        assert_eq!(class.core_hours(), Some([1.0, 0.25]));
        let unknown = CostClass { step: StepTime::Unknown("no data".to_owned()), ..class.clone() };
        assert_eq!(unknown.core_hours(), None);
        assert_eq!(CostClass { steps: None, ..class }.core_hours(), None);
    }
}
