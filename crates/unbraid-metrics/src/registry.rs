//! Metrics by name: the built-in ones, and yours beside them.
//!
//! The functions of this module run the built-in metrics with their default parameters. A [`Registry`] value does the
//! same for metrics and parameters of your choice.
//!
//! ```
//! use ndarray::Array2;
//! use unbraid_metrics::{Codes, Options, registry};
//!
//! let factors = Array2::from_shape_fn((60, 2), |(row, factor)| [row / 10, row % 3][factor] as i64);
//! let codes = Codes::split(factors.mapv(|value| value as f64).view(), factors.view())?;
//! let report = registry::run(&["mig", "modularity"], &codes, &Options::default())?;
//! assert!(report.get("mig").is_some_and(|value| value > 0.5));
//! let json = serde_json::to_value(&report).unwrap();
//! assert!(json["modularity"].is_number() && json["details"]["mutual_information"].is_array());
//! # Ok::<(), unbraid_metrics::MetricsError>(())
//! ```

use crate::codes::Codes;
use crate::error::{MetricsError, Result};
use crate::factor_classes;
use crate::metric::{Description, Metric, Needs, Options};
use crate::options::{self, OptionInfo};
use crate::report::{Report, Score};
use crate::scores;
use crate::trials::Trials;
use serde_json::{Map, Value};
use std::sync::LazyLock;
use std::time::Instant;

/// In a list of names, stands for the metrics that run when none are named.
pub const DEFAULT: &str = "default";

/// Metrics that can be run by name, in display order.
///
/// Options are set by name, or by replacing the metric:
///
/// ```
/// use unbraid_metrics::Registry;
/// use unbraid_metrics::scores::{HistogramParameters, Mig};
///
/// let mut registry = Registry::builtin();
/// registry.configure("sap", serde_json::json!({ "predictor": "threshold" }).as_object().unwrap())?;
/// assert_eq!(registry.values("sap")?["predictor"], "threshold");
/// registry.replace(Box::new(Mig { parameters: HistogramParameters { bins: 10 }, ..Mig::default() }))?;
/// assert_eq!(registry.values("mig")?["bins"], 10);
/// let error = registry.register(Box::new(Mig::default())).unwrap_err();
/// assert_eq!(error.to_string(), "metric `mig`: `mig` already belongs to the metric `mig`");
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
pub struct Registry {
    entries: Vec<Entry>,
}

struct Entry {
    description: Description,
    /// All options, as they were when the metric was registered.
    options: Vec<OptionInfo>,
    /// The values that its options have now.
    values: Map<String, Value>,
    metric: Box<dyn Metric>,
}

impl Entry {
    fn new(description: Description, mut metric: Box<dyn Metric>) -> Self {
        let options = options::list(&mut |declare| metric.declare_options(declare));
        let values = options::read(&mut |declare| metric.declare_options(declare));
        Self { description, options, values, metric }
    }
}

impl Registry {
    /// No metrics at all.
    pub fn empty() -> Self {
        Self { entries: Vec::new() }
    }

    /// The built-in metrics with their default parameters.
    pub fn builtin() -> Self {
        let entry = |metric: Box<dyn Metric>| Entry::new(metric.description(), metric);
        Self { entries: scores::builtin().into_iter().map(entry).collect() }
    }

    /// Adds a metric after the others.
    ///
    /// # Errors
    /// If its description has no numbers, or one of its names or keys is taken.
    pub fn register(&mut self, metric: Box<dyn Metric>) -> Result<()> {
        let description = self.check(metric.as_ref(), None)?;
        self.entries.push(Entry::new(description, metric));
        Ok(())
    }

    /// Replaces the metric of the same name, usually by one with other parameters.
    ///
    /// # Errors
    /// If there is no metric of this name, its description has no numbers, or one of its other names or its keys belongs
    /// to another metric.
    pub fn replace(&mut self, metric: Box<dyn Metric>) -> Result<()> {
        let name = metric.description().name;
        let place = self.position(&name).ok_or_else(|| self.unknown(&name))?;
        let description = self.check(metric.as_ref(), Some(place))?;
        self.entries[place] = Entry::new(description, metric);
        Ok(())
    }

    /// Sets options of the metric with exactly this name: `{"predictor": "threshold"}`. Others keep their values.
    ///
    /// # Errors
    /// If there is no such metric or option, or a value is not allowed; all options then keep their values.
    pub fn configure(&mut self, name: &str, options: &Map<String, Value>) -> Result<()> {
        let place = self.position(name).ok_or_else(|| self.unknown(name))?;
        let Entry { options: all, values, metric, .. } = &mut self.entries[place];
        let mut declarer = |declare: &mut options::Declare<'_>| metric.declare_options(declare);
        if let Err(error) = options::set(name, all, options, &mut declarer) {
            // Options before the invalid one have been set already.
            options::set(name, all, values, &mut declarer)?;
            return Err(error);
        }
        *values = options::read(&mut declarer);
        Ok(())
    }

    /// The options of a metric, found as by [`Registry::find`], with their defaults. An option that several alternatives of a
    /// choice have is listed once for each.
    ///
    /// # Errors
    /// As [`Registry::find`].
    pub fn options(&self, name: &str) -> Result<&[OptionInfo]> {
        self.find_entry(name).map(|entry| entry.options.as_slice())
    }

    /// The current values of a metric's options, as they are stored with its numbers.
    ///
    /// # Errors
    /// As [`Registry::find`].
    pub fn values(&self, name: &str) -> Result<&Map<String, Value>> {
        self.find_entry(name).map(|entry| &entry.values)
    }

    /// As [`Registry::register`], for building a registry in one expression.
    ///
    /// # Errors
    /// As [`Registry::register`].
    pub fn with(mut self, metric: impl Metric + 'static) -> Result<Self> {
        self.register(Box::new(metric))?;
        Ok(self)
    }

    /// The description of a metric, if none of its names is taken by an entry other than the one it replaces.
    fn check(&self, metric: &dyn Metric, replaced: Option<usize>) -> Result<Description> {
        let description = metric.description();
        if description.numbers.is_empty() {
            return Err(MetricsError::NoNumbers { metric: description.name });
        }
        for name in description.names() {
            if let Some(place) = self.lookup(name).filter(|&place| Some(place) != replaced) {
                return Err(MetricsError::AlreadyRegistered {
                    taken: name.to_owned(),
                    owner: self.entries[place].description.name.clone(),
                    metric: description.name.clone(),
                });
            }
        }
        Ok(description)
    }

    /// The descriptions of all metrics, in display order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Description> + Clone {
        self.entries.iter().map(|entry| &entry.description)
    }

    /// The metric with exactly this name.
    pub fn get(&self, name: &str) -> Option<&Description> {
        self.position(name).map(|place| &self.entries[place].description)
    }

    /// The position of the metric with exactly this name in display order.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.iter().position(|description| description.name == name)
    }

    /// Finds a metric by its name, an alias or the key of one of its numbers. Hyphens count as underscores, case is
    /// ignored, and a trailing `_score` may be omitted.
    ///
    /// # Errors
    /// [`MetricsError::UnknownMetric`] with the nearest name.
    ///
    /// ```
    /// use unbraid_metrics::Registry;
    ///
    /// let registry = Registry::builtin();
    /// assert_eq!(registry.find("dci_completeness")?.name, "dci");
    /// assert_eq!(registry.find("Beta-VAE")?.name, "beta_vae_score");
    /// let error = registry.find("modularitty").unwrap_err();
    /// assert_eq!(error.to_string(), "unknown metric `modularitty`\nhint: did you mean `modularity`?");
    /// # Ok::<(), unbraid_metrics::MetricsError>(())
    /// ```
    pub fn find(&self, name: &str) -> Result<&Description> {
        self.find_entry(name).map(|entry| &entry.description)
    }

    /// As [`Registry::find`], but returns the metric itself.
    ///
    /// # Errors
    /// As [`Registry::find`].
    pub fn metric(&self, name: &str) -> Result<&dyn Metric> {
        self.find_entry(name).map(|entry| entry.metric.as_ref())
    }

    fn find_entry(&self, name: &str) -> Result<&Entry> {
        self.lookup(name).map(|place| &self.entries[place]).ok_or_else(|| self.unknown(name))
    }

    fn lookup(&self, name: &str) -> Option<usize> {
        let wanted = normalised(name);
        let named = |description: &Description| description.names().any(|name| normalised(name) == wanted);
        let shortened =
            |description: &Description| normalised(&description.name).strip_suffix("_score") == Some(&wanted);
        self.iter().position(named).or_else(|| self.iter().position(shortened))
    }

    /// The name of the metric that a name is most likely a misspelling of.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        options::nearest(name, self.iter().map(|metric| metric.name.as_str()))
    }

    fn unknown(&self, name: &str) -> MetricsError {
        let wanted = normalised(name);
        MetricsError::UnknownMetric {
            name: name.to_owned(),
            nearest: self.nearest(&wanted).map(str::to_owned),
            known: self.iter().map(|metric| metric.name.clone()).collect(),
        }
    }

    /// The metric that gives the number with this key. A metric also owns its keys followed by a count
    /// (`downstream_accuracy_100`) or by the name of a factor (`attribute_accuracy/Smiling`).
    pub fn find_by_key(&self, key: &str) -> Option<&Description> {
        let owner = |key: &str| self.iter().find(|metric| metric.position(key).is_some());
        match factor_of_key(key) {
            Some((stem, _)) => owner(stem),
            None => owner(key).or_else(|| owner(without_count(key)?.0)),
        }
    }

    /// The label of the number with this key in figures: `DCI completeness`, `downstream accuracy 100`, `attribute
    /// accuracy, Smiling`.
    pub fn label(&self, key: &str) -> Option<String> {
        let metric = self.find_by_key(key)?;
        let label = |key: &str| metric.position(key).map(|place| metric.numbers[place].label.clone());
        if let Some((stem, factor)) = factor_of_key(key) {
            return Some(format!("{}, {factor}", label(stem)?));
        }
        label(key).or_else(|| {
            let (stem, count) = without_count(key)?;
            Some(format!("{} {count}", label(stem)?))
        })
    }

    /// The metrics that run when none are named: those that run by default and whose needs these codes meet.
    pub fn applicable(&self, codes: &Codes) -> Vec<&Description> {
        let applies = |metric: &&Description| metric.by_default && metric.needs.missing_from(codes).is_none();
        self.iter().filter(applies).collect()
    }

    /// The metrics that [`Registry::run`] runs for these names.
    ///
    /// # Errors
    /// If a name is unknown.
    pub fn choose<N: AsRef<str>>(&self, names: &[N], codes: &Codes) -> Result<Vec<&Description>> {
        Ok(self.choose_entries(names, codes)?.into_iter().map(|entry| &entry.description).collect())
    }

    /// As [`Registry::choose`], for codes that have yet to be computed and will have what is `available`.
    ///
    /// # Errors
    /// If a name is unknown, or a metric that is requested by name needs something that is not available.
    pub fn choose_from<N: AsRef<str>>(&self, names: &[N], available: Needs) -> Result<Vec<&Description>> {
        let chosen = self.choose_where(names, |needs| needs.lacking(available).is_none())?;
        for Entry { description, .. } in &chosen {
            if let Some(missing) = description.needs.lacking(available) {
                return Err(MetricsError::Unmet { metric: description.name.clone(), missing });
            }
        }
        Ok(chosen.into_iter().map(|entry| &entry.description).collect())
    }

    fn choose_entries<N: AsRef<str>>(&self, names: &[N], codes: &Codes) -> Result<Vec<&Entry>> {
        self.choose_where(names, |needs| needs.missing_from(codes).is_none())
    }

    fn choose_where<N: AsRef<str>>(&self, names: &[N], met: impl Fn(Needs) -> bool) -> Result<Vec<&Entry>> {
        let applies = |entry: &&Entry| entry.description.by_default && met(entry.description.needs);
        if names.is_empty() {
            return Ok(self.entries.iter().filter(applies).collect());
        }
        let mut chosen: Vec<&Entry> = Vec::new();
        for name in names {
            let entries = match name.as_ref() {
                DEFAULT => self.entries.iter().filter(applies).collect(),
                name => vec![self.find_entry(name)?],
            };
            for entry in entries {
                // Two keys of one metric are one request.
                if !chosen.iter().any(|other| other.description.name == entry.description.name) {
                    chosen.push(entry);
                }
            }
        }
        Ok(chosen)
    }

    /// Runs metrics by name; without names, all that apply. Among names, [`DEFAULT`] stands for all that apply.
    ///
    /// # Errors
    /// If a name is unknown, the codes lack what a named metric needs, or a score cannot be computed.
    pub fn run<N: AsRef<str>>(&self, names: &[N], codes: &Codes, options: &Options<'_>) -> Result<Report> {
        self.run_with_progress(names, codes, options, |_, _, _| ())
    }

    /// As [`Registry::run`], and calls `progress` before each metric with its description, its position and the number of
    /// metrics, and again before each repetition for a chance level or an interval.
    ///
    /// # Errors
    /// As [`Registry::run`].
    pub fn run_with_progress<N: AsRef<str>>(
        &self,
        names: &[N],
        codes: &Codes,
        options: &Options<'_>,
        mut progress: impl FnMut(&Description, usize, usize),
    ) -> Result<Report> {
        let chosen = self.choose_entries(names, codes)?;
        for Entry { description, .. } in &chosen {
            if let Some(missing) = description.needs.missing_from(codes) {
                return Err(MetricsError::Unmet { metric: description.name.clone(), missing });
            }
        }
        let (scorable, mut notes) = factor_classes::scorable(codes);
        // A sampler over the whole data set knows the original factors only: if some have been put into classes or left out,
        // the rows of the codes are grouped instead.
        let sampler = options.sampler.filter(|_| notes.is_empty());
        notes.extend(factor_classes::unseen_values(&scorable));
        let options = Options { sampler, ..*options };
        let mut trials = Trials::new(&scorable, options);
        let mut report = Report { scores: Vec::new(), notes, factors: scorable.factor_names().to_vec() };
        for (position, Entry { description, values: own, metric, .. }) in chosen.iter().enumerate() {
            let mut tick = || progress(description, position, chosen.len());
            tick();
            let started = Instant::now();
            let mut score = Score {
                name: description.name.clone(),
                values: trials.values(metric.as_ref(), description)?,
                parameters: Value::Object(own.clone()),
                seed: options.seed,
                seconds: started.elapsed().as_secs_f64(),
                chance: None,
                bootstrap: None,
            };
            score.chance = trials.chance(metric.as_ref(), description, &score.values, &mut tick)?;
            score.bootstrap = trials.bootstrap(metric.as_ref(), description, &mut tick)?;
            report.scores.push(score);
        }
        Ok(report)
    }
}

/// The built-in metrics.
impl Default for Registry {
    fn default() -> Self {
        Self::builtin()
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter().map(|metric| &metric.name)).finish()
    }
}

/// The form in which names are compared.
fn normalised(name: &str) -> String {
    name.trim().to_lowercase().replace('-', "_")
}

/// Splits a key into that of a score and the name of a factor: `attribute_accuracy/Smiling` into `attribute_accuracy` and
/// `Smiling`. Names of losses, such as `train/kl`, are split as well, but what precedes their slash is not a score.
pub fn factor_of_key(key: &str) -> Option<(&str, &str)> {
    key.split_once('/')
}

/// `downstream_accuracy_100` as `downstream_accuracy` and `100`.
fn without_count(key: &str) -> Option<(&str, &str)> {
    key.rsplit_once('_').filter(|(_, count)| count.parse::<usize>().is_ok())
}

/// The built-in metrics with their default parameters, created once.
pub fn shared() -> &'static Registry {
    static SHARED: LazyLock<Registry> = LazyLock::new(Registry::builtin);
    &SHARED
}

/// The descriptions of the built-in metrics, in display order.
pub fn metrics() -> impl ExactSizeIterator<Item = &'static Description> + Clone {
    shared().iter()
}

/// Finds a built-in metric; see [`Registry::find`].
///
/// # Errors
/// As [`Registry::find`].
pub fn find(name: &str) -> Result<&'static Description> {
    shared().find(name)
}

/// The built-in metric that gives the number with this key; see [`Registry::find_by_key`].
pub fn find_by_key(key: &str) -> Option<&'static Description> {
    shared().find_by_key(key)
}

/// The built-in metrics that run when none are named; see [`Registry::applicable`].
pub fn applicable(codes: &Codes) -> Vec<&'static Description> {
    shared().applicable(codes)
}

/// Runs built-in metrics by name; see [`Registry::run`].
///
/// # Errors
/// As [`Registry::run`].
pub fn run<N: AsRef<str>>(names: &[N], codes: &Codes, options: &Options<'_>) -> Result<Report> {
    shared().run(names, codes, options)
}

/// Runs built-in metrics by name and reports progress; see [`Registry::run_with_progress`].
///
/// # Errors
/// As [`Registry::run`].
pub fn run_with_progress<N: AsRef<str>>(
    names: &[N],
    codes: &Codes,
    options: &Options<'_>,
    progress: impl FnMut(&Description, usize, usize),
) -> Result<Report> {
    shared().run_with_progress(names, codes, options, progress)
}
