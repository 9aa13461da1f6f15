//! What a metric is: the trait that built-in metrics implement, and that yours can, too.

use crate::codes::Codes;
use crate::error::Result;
use crate::options::Declare;
use crate::report::ScoreValues;
use crate::scores::{GroupedRows, InterventionSampler};

/// A metric: a description, options, and a way to compute its numbers.
///
/// Every score of this crate has a type that implements it ([`Mig`](crate::scores::Mig), [`Dci`](crate::scores::Dci)).
/// The value carries the parameters: a metric with other parameters is another value. A [`Registry`](crate::Registry) runs
/// metrics by name, and takes yours as well:
///
/// ```
/// use unbraid_metrics::{Codes, Description, Direction, Metric, Needs, Options, Registry, Result, ScoreValues};
///
/// struct LargestCode;
///
/// impl Metric for LargestCode {
///     fn description(&self) -> Description {
///         Description::new("largest_code", "the largest magnitude of any code")
///             .number("largest_code", "largest code")
///             .direction(Direction::Neither)
///             .range(0.0, f64::INFINITY)
///             .needs(Needs::CODES)
///     }
///
///     fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
///         let largest = codes.codes_train().iter().fold(0.0_f64, |largest, code| largest.max(code.abs()));
///         Ok(ScoreValues::new("largest_code", largest))
///     }
/// }
///
/// let registry = Registry::builtin().with(LargestCode)?;
/// let codes = Codes::unlabelled(ndarray::array![[0.5, -2.0], [1.0, 0.0]])?;
/// assert_eq!(registry.run(&["largest-code"], &codes, &Options::default())?.get("largest_code"), Some(2.0));
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
///
/// A metric without `run` does not compile:
///
/// ```compile_fail,E0046
/// use unbraid_metrics::{Description, Metric};
///
/// struct Unfinished;
///
/// impl Metric for Unfinished {
///     fn description(&self) -> Description {
///         Description::new("unfinished", "nothing yet").number("unfinished", "unfinished")
///     }
/// }
/// ```
pub trait Metric: Send + Sync {
    /// Its name, what it needs, and how to read its numbers. A registry calls this once.
    fn description(&self) -> Description;

    /// Declares its options, each with the field that holds its value. They can then be set by name
    /// ([`Registry::configure`](crate::Registry::configure)), and are stored with the numbers. By default there are none.
    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        let _ = declare;
    }

    /// Computes its numbers from codes that have what [`Description::needs`] asks for.
    ///
    /// # Errors
    /// If they cannot be computed from these codes, or a parameter is out of range.
    fn run(&self, codes: &Codes, options: &Options<'_>) -> Result<ScoreValues>;
}

/// How to run metrics.
#[derive(Clone, Copy, Default)]
pub struct Options<'a> {
    /// Seeds all random numbers.
    pub seed: u64,
    /// Draws codes under interventions on the whole data set. Without it, interventional metrics group the rows of the
    /// training codes.
    pub sampler: Option<&'a dyn InterventionSampler>,
    /// Whether scores that depend on factors are also computed on shuffled factors, which gives their chance level.
    pub chance: bool,
    /// Number of bootstrap resamples of the points for the intervals of scores; 0 for no intervals.
    pub resamples: usize,
}

impl<'a> Options<'a> {
    /// The sampler, or one that groups the rows of the training codes.
    ///
    /// # Errors
    /// If there is none and the codes have no factor that varies.
    pub fn sampler_for(&self, codes: &Codes) -> Result<Box<dyn InterventionSampler + 'a>> {
        match self.sampler {
            Some(sampler) => Ok(Box::new(sampler)),
            None => Ok(Box::new(GroupedRows::new(&codes.labelled()?))),
        }
    }
}

impl std::fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("seed", &self.seed)
            .field("sampler", &self.sampler.map(|_| "InterventionSampler"))
            .field("chance", &self.chance)
            .field("resamples", &self.resamples)
            .finish()
    }
}

/// The name of a metric, what it needs, and how to read its numbers.
///
/// [`Description::new`] describes a metric of codes and factors that lies between 0 and 1, is better when higher, and runs by
/// default; the other methods change that.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Description {
    /// The name it is requested by.
    pub name: String,
    /// Other names it can be requested by.
    pub aliases: Vec<String>,
    /// Its numbers, the main one first. A metric may give further numbers whose keys are one of these followed by a count
    /// (`downstream_accuracy_100`) or by the name of a factor (`attribute_accuracy/Smiling`).
    pub numbers: Vec<Number>,
    /// The keys of its matrices under `details`.
    pub details: Vec<String>,
    /// What a good value means, in one line.
    pub meaning: String,
    /// Whether higher or lower is better.
    pub direction: Direction,
    /// The smallest and the largest possible value.
    pub range: (f64, f64),
    /// What it needs beyond training codes.
    pub needs: Needs,
    /// Whether it draws codes under interventions, and so benefits from a sampler over the whole data set.
    pub interventional: bool,
    /// Whether it runs when no metrics are named; off for those that are slow or add little to the others.
    pub by_default: bool,
    /// Whether factor values are read as numbers, so that relabelling them changes the score.
    pub factor_values_are_numbers: bool,
    /// The keys of numbers that compare factors: they are undefined or trivial with a single one.
    pub compares_factors: Vec<String>,
    /// The keys of numbers that compare units: they are undefined or trivial with a single one.
    pub compares_units: Vec<String>,
    /// How often factors are shuffled for the chance level: once for metrics that take seconds, unless a value may be chance.
    pub shuffles: usize,
}

/// One number of a metric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    /// Its key in reports and files: `dci_disentanglement`.
    pub key: String,
    /// Its name in figures: `DCI disentanglement`.
    pub label: String,
}

impl Description {
    /// A metric with this name, and what a good value means, in one line. Give it at least one [`number`](Self::number).
    pub fn new(name: impl Into<String>, meaning: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            aliases: Vec::new(),
            numbers: Vec::new(),
            details: Vec::new(),
            meaning: meaning.into(),
            direction: Direction::Higher,
            range: (0.0, 1.0),
            needs: Needs::FACTORS,
            interventional: false,
            by_default: true,
            factor_values_are_numbers: false,
            compares_factors: Vec::new(),
            compares_units: Vec::new(),
            shuffles: crate::trials::SHUFFLES,
        }
    }

    /// Adds a number: its key in reports and its label in figures. The first one is the main number.
    #[must_use]
    pub fn number(mut self, key: impl Into<String>, label: impl Into<String>) -> Self {
        self.numbers.push(Number { key: key.into(), label: label.into() });
        self
    }

    /// Adds another name.
    #[must_use]
    pub fn alias(mut self, alias: impl Into<String>) -> Self {
        self.aliases.push(alias.into());
        self
    }

    /// Adds the key of a matrix under `details`.
    #[must_use]
    pub fn detail(mut self, key: impl Into<String>) -> Self {
        self.details.push(key.into());
        self
    }

    /// Sets whether higher or lower is better.
    #[must_use]
    pub fn direction(mut self, direction: Direction) -> Self {
        self.direction = direction;
        self
    }

    /// Sets the smallest and the largest possible value.
    #[must_use]
    pub fn range(mut self, smallest: f64, largest: f64) -> Self {
        self.range = (smallest, largest);
        self
    }

    /// Sets what it needs beyond training codes.
    #[must_use]
    pub fn needs(mut self, needs: Needs) -> Self {
        self.needs = needs;
        self
    }

    /// Marks it as drawing codes under interventions.
    #[must_use]
    pub fn interventional(mut self) -> Self {
        self.interventional = true;
        self
    }

    /// Runs it only when it is requested by name.
    #[must_use]
    pub fn on_request_only(mut self) -> Self {
        self.by_default = false;
        self
    }

    /// Marks it as reading factor values as numbers.
    #[must_use]
    pub fn factor_values_are_numbers(mut self) -> Self {
        self.factor_values_are_numbers = true;
        self
    }

    /// Marks the number with this key as a comparison of factors, which is meaningless with a single factor.
    #[must_use]
    pub fn compares_factors(mut self, key: impl Into<String>) -> Self {
        self.compares_factors.push(key.into());
        self
    }

    /// Marks the number with this key as a comparison of units, which is meaningless with a single unit.
    #[must_use]
    pub fn compares_units(mut self, key: impl Into<String>) -> Self {
        self.compares_units.push(key.into());
        self
    }

    /// Sets how often factors are shuffled for the chance level.
    #[must_use]
    pub fn shuffles(mut self, shuffles: usize) -> Self {
        self.shuffles = shuffles;
        self
    }

    /// The keys of its numbers, the main one first.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> {
        self.numbers.iter().map(|number| number.key.as_str())
    }

    /// Everything it can be requested by: its name, its aliases, and the keys of its numbers.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name.as_str()).chain(self.aliases.iter().map(String::as_str)).chain(self.keys())
    }

    /// The index of a key among its numbers.
    pub fn position(&self, key: &str) -> Option<usize> {
        self.keys().position(|own| own == key)
    }
}

/// Which values of a metric are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Higher is better.
    Higher,
    /// Lower is better.
    Lower,
    /// Neither: it describes the codes without rating them.
    Neither,
}

impl std::fmt::Display for Direction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Higher => "higher is better",
            Self::Lower => "lower is better",
            Self::Neither => "no direction is better",
        })
    }
}

/// What a metric needs beyond training codes.
///
/// ```
/// use unbraid_metrics::Needs;
///
/// let needs = Needs { clusters: true, ..Needs::TEST_POINTS };
/// assert!(needs.factors && needs.test_points && !needs.log_variances);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Needs {
    /// Factors of the training points.
    pub factors: bool,
    /// Test points with factors.
    pub test_points: bool,
    /// Log-variances of the posteriors.
    pub log_variances: bool,
    /// Clusters: the most likely category of each categorical unit.
    pub clusters: bool,
    /// The kind of each factor.
    pub factor_kinds: bool,
    /// How well each point is reconstructed.
    pub reconstructions: bool,
}

impl Needs {
    /// Nothing beyond training codes.
    pub const CODES: Self = Self {
        factors: false,
        test_points: false,
        log_variances: false,
        clusters: false,
        factor_kinds: false,
        reconstructions: false,
    };
    /// Factors of the training points.
    pub const FACTORS: Self = Self { factors: true, ..Self::CODES };
    /// Factors, and test points.
    pub const TEST_POINTS: Self = Self { test_points: true, ..Self::FACTORS };
    /// Posteriors, without factors.
    pub const POSTERIORS: Self = Self { log_variances: true, ..Self::CODES };
    /// Posteriors with factors.
    pub const LABELLED_POSTERIORS: Self = Self { log_variances: true, ..Self::FACTORS };

    /// The first requirement that these codes do not meet.
    pub fn missing_from(self, codes: &Codes) -> Option<Requirement> {
        self.lacking(codes.seen_with(self).available())
    }

    /// The first requirement that is not available.
    pub fn lacking(self, available: Self) -> Option<Requirement> {
        [
            (self.factors && !available.factors, Requirement::Factors),
            (self.test_points && !available.test_points, Requirement::TestPoints),
            (self.log_variances && !available.log_variances, Requirement::LogVariances),
            (self.clusters && !available.clusters, Requirement::Clusters),
            (self.factor_kinds && !available.factor_kinds, Requirement::FactorKinds),
            (self.reconstructions && !available.reconstructions, Requirement::Reconstructions),
        ]
        .into_iter()
        .find_map(|(missing, requirement)| missing.then_some(requirement))
    }
}

/// How the values of a factor relate to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FactorKind {
    /// Classes without an order: the shape of an object.
    Categorical,
    /// Numbers: a size, a position.
    Ordered,
    /// Numbers on a circle, where the last value is next to the first.
    Angle,
}

impl FactorKind {
    /// Its word in files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Categorical => "categorical",
            Self::Ordered => "ordered",
            Self::Angle => "angle",
        }
    }

    /// The kind with this word.
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Categorical, Self::Ordered, Self::Angle].into_iter().find(|kind| kind.word() == word)
    }
}

/// Something that codes can have beyond training codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// Factors of the training points.
    Factors,
    /// Test points with factors.
    TestPoints,
    /// Log-variances of the posteriors.
    LogVariances,
    /// Clusters: the most likely category of each categorical unit.
    Clusters,
    /// The kind of each factor.
    FactorKinds,
    /// How well each point is reconstructed.
    Reconstructions,
}

impl std::fmt::Display for Requirement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Factors => "factors",
            Self::TestPoints => "test points with factors",
            Self::LogVariances => "log-variances of the posteriors",
            Self::Clusters => "categories of a categorical unit",
            Self::FactorKinds => "kinds of the factors (categorical, ordered or angle)",
            Self::Reconstructions => "reconstruction errors",
        })
    }
}
