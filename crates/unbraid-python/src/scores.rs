//! Scores of codes: from arrays, or from a sampler.

use crate::errors::{Raise, wrong_type, wrong_value};
use crate::factors::{Factors, doubles, integers};
use crate::numbers::{self, check_memory, optional};
use crate::sampler::{PythonSampler, draw};
use crate::values::{from_json, to_json_object};
use crate::work::{self, Failure, Stop, Stoppable};
use ndarray::{Array2, Axis};
use numpy::{PyArray1, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use unbraid::config::check_resamples;
use unbraid::evaluate::score;
use unbraid::metrics::{
    Codes, Description, Direction, FactorKind, MetricsError, Options, Registry, Report, interruptible,
    registry,
};

/// What is known of the points to be scored.
struct Points {
    codes: Array2<f64>,
    factors: Option<Factors>,
    test: Option<(Array2<f64>, Factors)>,
    log_variance: Option<Array2<f64>>,
    clusters: Option<(Array2<i64>, Array2<i64>)>,
    factor_names: Vec<String>,
    factor_kinds: Option<Vec<FactorKind>>,
}

impl Points {
    /// The same points as the library takes them, by the rules of a codes file.
    fn check(self) -> Result<Codes, MetricsError> {
        let Self { codes, factors, test, log_variance, clusters, factor_names, factor_kinds } = self;
        let mut codes = match (factors, test) {
            (None, _) => Codes::unlabelled(codes)?,
            (Some(Factors::Whole(factors)), None) => Codes::split(codes.view(), factors.view())?,
            (Some(Factors::Real(factors)), None) => Codes::split_numbers(codes.view(), factors.view())?,
            (Some(Factors::Whole(factors)), Some((codes_test, Factors::Whole(factors_test)))) => {
                Codes::new(codes, factors, codes_test, factors_test)?
            }
            (Some(factors), Some((codes_test, factors_test))) => {
                Codes::from_numbers(codes, factors.into_numbers(), codes_test, factors_test.into_numbers())?
            }
        };
        if let Some(all) = log_variance {
            let rows = codes.codes_train().nrows();
            let is_of_all = all.nrows() == rows + codes.codes_test().nrows();
            let of_train = if is_of_all { all.slice_axis(Axis(0), (..rows).into()).to_owned() } else { all };
            codes = codes.with_log_variances(of_train)?;
        }
        if let Some((train, test)) = clusters {
            codes = codes.with_clusters(train, test)?;
        }
        codes = codes.with_factor_names(factor_names)?;
        match factor_kinds {
            Some(kinds) => codes.with_factor_kinds(kinds),
            None => Ok(codes),
        }
    }
}

/// Computes disentanglement scores of codes; returns `Scores`, a mapping from the keys of scores to numbers.
///
/// Numbers are those of `unbraid evaluate --codes`, to the bit. Ctrl-C raises `KeyboardInterrupt` within a second.
///
/// Parameters
/// ----------
/// codes : array, optional
///     The codes, [points, units]; drawn from `sampler` if they are left out.
/// factors : array, optional
///     Class numbers or real numbers, [points, factors]. Without them, scores that need none are computed.
/// codes_test, factors_test : array, optional
///     The points that learners are tested on; by default the last third of `codes`.
/// log_variance : array, optional
///     Logarithms of the posterior variances of the codes, which are then means.
/// clusters, clusters_test : array, optional
///     The most likely class of each categorical unit.
/// factor_names, factor_kinds : list of str, optional
///     The names of the factors, and their kinds: categorical, ordered or angle.
/// sampler : callable, optional
///     A function from factor vectors [n, factors] to codes [n, units], from which the interventional scores draw.
/// factor_sizes : list of int, optional
///     The number of values of each factor, for `sampler`.
/// samples : int
///     The number of training points that are drawn from `sampler` if there are no codes; half as many are for testing.
/// metrics : list of str, optional
///     The scores, by name; by default all that apply.
/// options : dict, optional
///     Options of metrics: `{"sap": {"predictor": "threshold"}}`.
/// seed : int
///     The seed of everything that is drawn.
/// chance : bool
///     Whether to compute each score on shuffled factors as well: its level by chance.
/// bootstrap : int
///     How often to resample the points for an interval of each score; 0 for none.
#[pyfunction]
#[pyo3(signature = (
    codes=None, factors=None, *, codes_test=None, factors_test=None, log_variance=None, clusters=None,
    clusters_test=None, factor_names=None, factor_kinds=None, sampler=None, factor_sizes=None, samples=10_000,
    metrics=None, options=None, seed=0, chance=true, bootstrap=0
))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn evaluate<'py>(
    py: Python<'py>,
    codes: Option<&Bound<'py, PyAny>>,
    factors: Option<&Bound<'py, PyAny>>,
    codes_test: Option<&Bound<'py, PyAny>>,
    factors_test: Option<&Bound<'py, PyAny>>,
    log_variance: Option<&Bound<'py, PyAny>>,
    clusters: Option<&Bound<'py, PyAny>>,
    clusters_test: Option<&Bound<'py, PyAny>>,
    factor_names: Option<Vec<String>>,
    factor_kinds: Option<Vec<String>>,
    sampler: Option<&Bound<'py, PyAny>>,
    #[pyo3(from_py_with = optional::factor_sizes)] factor_sizes: Option<Vec<usize>>,
    #[pyo3(from_py_with = numbers::samples)] samples: usize,
    metrics: Option<Vec<String>>,
    options: Option<&Bound<'py, PyDict>>,
    #[pyo3(from_py_with = numbers::seed)] seed: u64,
    chance: bool,
    #[pyo3(from_py_with = numbers::bootstrap)] bootstrap: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let configured = configured(options)?;
    let names = metrics.unwrap_or_default();
    for name in names.iter().filter(|name| *name != registry::DEFAULT) {
        configured.find(name).map_err(Raise::raise)?;
    }
    check_resamples(bootstrap).map_err(|expected| wrong_value("bootstrap", bootstrap, expected))?;
    let sampler = match (sampler, factor_sizes) {
        (Some(sampler), Some(sizes)) => {
            check_memory("samples", samples, 16 * sizes.len(), "factor vectors")?;
            Some(PythonSampler::new(sampler, sizes)?)
        }
        (None, None) => None,
        (Some(_), None) => {
            return Err(wrong_type("factor_sizes", "None", "the number of values of each factor"));
        }
        (None, Some(_)) => {
            return Err(wrong_type("sampler", "None", "a function from factor vectors to codes"));
        }
    };
    let kind = |word: &String| {
        FactorKind::of_word(word)
            .ok_or_else(|| wrong_value("factor_kinds", format!("{word:?}"), "categorical, ordered or angle"))
    };
    let factor_kinds =
        factor_kinds.map(|words| words.iter().map(kind).collect::<PyResult<_>>()).transpose()?;
    let test = match (codes_test, factors_test) {
        (Some(codes), Some(factors)) => {
            Some((doubles("codes_test", codes)?, Factors::new("factors_test", factors)?))
        }
        (None, None) => None,
        (Some(_), None) => return Err(wrong_type("factors_test", "None", "the factors of codes_test")),
        (None, Some(_)) => return Err(wrong_type("codes_test", "None", "the codes of factors_test")),
    };
    let clusters = match (clusters, clusters_test) {
        (Some(train), Some(test)) => Some((integers("clusters", train)?, integers("clusters_test", test)?)),
        (Some(train), None) => {
            let all = integers("clusters", train)?;
            let rows = (all.nrows() * 2).div_ceil(3);
            let (train, test) = all.view().split_at(Axis(0), rows);
            Some((train.to_owned(), test.to_owned()))
        }
        (None, _) => None,
    };
    let given = match codes {
        Some(codes) => Some(Points {
            codes: doubles("codes", codes)?,
            factors: factors.map(|factors| Factors::new("factors", factors)).transpose()?,
            test,
            log_variance: log_variance.map(|values| doubles("log_variance", values)).transpose()?,
            clusters,
            factor_names: factor_names.clone().unwrap_or_default(),
            factor_kinds: factor_kinds.clone(),
        }),
        None if sampler.is_some() => None,
        None => return Err(wrong_type("codes", "None", "an array of codes, or sampler=")),
    };
    let report = work::run_detached(py, move |stop: &Stop| -> Result<Report, Failure> {
        let sampler = sampler.map(|sampler| sampler.with(stop));
        let points = match (given, &sampler) {
            (Some(points), _) => points,
            (None, Some(sampler)) => {
                let (codes, factors) = draw(sampler, seed, "training points", samples);
                let (codes_test, factors_test) = draw(sampler, seed, "test points", samples / 2);
                Points {
                    codes,
                    factors: Some(Factors::Whole(factors)),
                    test: Some((codes_test, Factors::Whole(factors_test))),
                    log_variance: None,
                    clusters: None,
                    factor_names: factor_names.unwrap_or_default(),
                    factor_kinds,
                }
            }
            (None, None) => unreachable!("one of them is given"),
        };
        let codes = points.check()?;
        let sampler = sampler.as_ref().map(|sampler| {
            sampler.set_unit_count(codes.codes_train().ncols());
            sampler as &dyn unbraid::metrics::scores::InterventionSampler
        });
        let options = Options { seed, sampler, chance, resamples: bootstrap };
        // What is left behind after Ctrl-C ends soon, too.
        let scored = interruptible(stop.request_flag(), || {
            score(&configured, &names, &codes, &options, &Stoppable(stop))
        });
        Ok(scored?)
    })?;
    to_python(py, &report)
}

/// The built-in metrics with options: `{"sap": {"predictor": "threshold"}}`.
fn configured(options: Option<&Bound<'_, PyDict>>) -> PyResult<Registry> {
    let mut registry = Registry::builtin();
    for (name, values) in options.into_iter().flatten() {
        let Ok(name) = name.extract::<String>() else {
            return Err(wrong_type("options", format!("the key {name}"), "names of metrics as keys"));
        };
        let Ok(values) = values.cast::<PyDict>() else {
            return Err(wrong_type(&format!("options[{name:?}]"), values, "a dict of options"));
        };
        let own = registry.find(&name).map_err(Raise::raise)?.name.clone();
        let values = to_json_object(&name, values)?;
        registry.configure(&own, &values).map_err(Raise::raise)?;
    }
    Ok(registry)
}

/// A report as `unbraid.Scores`.
pub(crate) fn to_python<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyAny>> {
    let part = || PyDict::new(py);
    let (numbers, details, chance, deviations) = (part(), part(), part(), part());
    let (intervals, majorities, undefined) = (part(), part(), part());
    let (parameters, metrics, seconds) = (part(), part(), part());
    for score in &report.scores {
        parameters.set_item(&score.name, from_json(py, &score.parameters)?)?;
        seconds.set_item(&score.name, score.seconds)?;
        for (key, value) in score.values.numbers() {
            numbers.set_item(key, value)?;
            metrics.set_item(key, &score.name)?;
            if let Some(share) = score.values.majority(key) {
                majorities.set_item(key, share)?;
            }
            if let Some(why) = score.values.why_undefined(key) {
                undefined.set_item(key, why)?;
            }
        }
        // Where metrics share a key (the mutual information), the first one's is kept.
        for (key, matrix) in score.values.matrices() {
            if !details.contains(key)? {
                details.set_item(key, matrix.to_pyarray(py))?;
            }
        }
        for (key, list) in score.values.lists() {
            if !details.contains(key)? {
                details.set_item(key, PyArray1::from_slice(py, list))?;
            }
        }
        for (key, level) in score.chance.iter().flat_map(unbraid::metrics::Chance::levels) {
            chance.set_item(key, level.mean)?;
            if let Some(deviation) = level.deviation {
                deviations.set_item(key, deviation)?;
            }
        }
        for (key, [low, high]) in score.bootstrap.iter().flat_map(unbraid::metrics::Bootstrap::intervals) {
            intervals.set_item(key, (low, high))?;
        }
    }
    let all = part();
    for (name, value) in [
        ("numbers", numbers),
        ("details", details),
        ("chance", chance),
        ("chance_deviation", deviations),
        ("interval", intervals),
        ("majority", majorities),
        ("undefined", undefined),
        ("parameters", parameters),
        ("metrics", metrics),
        ("seconds", seconds),
    ] {
        all.set_item(name, value)?;
    }
    all.set_item("notes", &report.notes)?;
    all.set_item("factor_names", &report.factors)?;
    py.import("unbraid._scores")?.getattr("Scores")?.call((), Some(&all))
}

/// What the metrics are: names, keys with labels, meaning, direction, range, needs and options, in the order
/// in which they are shown.
#[pyfunction]
pub(crate) fn describe_metrics(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let builtin = registry::shared();
    let list = PyList::empty(py);
    for description in builtin.iter() {
        list.append(described(py, builtin, description)?)?;
    }
    Ok(list)
}

fn described<'py>(
    py: Python<'py>,
    builtin: &Registry,
    description: &Description,
) -> PyResult<Bound<'py, PyDict>> {
    let entry = PyDict::new(py);
    entry.set_item("name", &description.name)?;
    entry.set_item("aliases", &description.aliases)?;
    let labels: Vec<(&str, &str)> =
        description.numbers.iter().map(|number| (number.key.as_str(), number.label.as_str())).collect();
    entry.set_item("numbers", labels)?;
    entry.set_item("details", &description.details)?;
    entry.set_item("meaning", &description.meaning)?;
    let better = match description.direction {
        Direction::Higher => "higher",
        Direction::Lower => "lower",
        Direction::Neither => "neither",
    };
    entry.set_item("better", better)?;
    entry.set_item("range", description.range)?;
    let needs = description.needs;
    let words = [
        (needs.factors, "factors"),
        (needs.test_points, "codes_test"),
        (needs.log_variances, "log_variance"),
        (needs.clusters, "clusters"),
        (needs.factor_kinds, "factor_kinds"),
        (needs.reconstructions, "reconstructions"),
    ];
    let words: Vec<&str> = words.iter().filter(|(needed, _)| *needed).map(|(_, word)| *word).collect();
    entry.set_item("needs", words)?;
    entry.set_item("interventional", description.interventional)?;
    entry.set_item("by_default", description.by_default)?;
    let options = PyList::empty(py);
    for option in builtin.options(&description.name).map_err(Raise::raise)? {
        let about = PyDict::new(py);
        about.set_item("name", &option.name)?;
        about.set_item("meaning", &option.meaning)?;
        about.set_item("expected", &option.expected)?;
        about.set_item("default", from_json(py, &option.default)?)?;
        about.set_item("only_with", option.only_with.clone())?;
        options.append(about)?;
    }
    entry.set_item("options", options)?;
    Ok(entry)
}
