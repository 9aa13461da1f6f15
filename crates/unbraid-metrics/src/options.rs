//! The options of metrics. A metric declares each option once, with the field that holds its value; listing, checking and
//! setting it by name follow from that.

use crate::error::{OptionError, Result};
use serde::Serialize;
use serde_json::{Map, Value};
use std::fmt::Display;
use std::ops::{Bound, RangeBounds};

/// Positive numbers, for [`Declare::number`].
pub const POSITIVE: (Bound<f64>, Bound<f64>) = (Bound::Excluded(0.0), Bound::Unbounded);

/// One option of a metric.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct OptionInfo {
    /// Its name: `bins`.
    pub name: String,
    /// What it does, in one line.
    pub meaning: String,
    /// The values that are allowed, in words: `a whole number, 2 or more`.
    pub expected: String,
    /// Its value unless it is set. The default of an option that belongs to a choice is the one it has with that choice.
    pub default: Value,
    /// The choice that this option belongs to, as option and word: `c` of `sap` exists only with `predictor = "svm"`.
    pub only_with: Option<(String, String)>,
}

/// A choice between alternatives, each with a word that names it and with options of its own.
pub trait Choice: Sized {
    /// The words of all alternatives, the default first.
    const WORDS: &'static [&'static str];

    /// The word of this alternative.
    fn word(&self) -> &'static str;

    /// The alternative with this word and default options.
    fn of_word(word: &str) -> Option<Self>;

    /// Declares the options that only this alternative has.
    fn declare(&mut self, declare: &mut Declare<'_>) {
        let _ = declare;
    }
}

/// Takes the declarations of a metric's options in [`Metric::declare_options`](crate::Metric::declare_options).
///
/// ```
/// use unbraid_metrics::{Codes, Declare, Description, Metric, Needs, Options, Registry, Result, ScoreValues};
///
/// struct Large { threshold: f64 }
///
/// impl Metric for Large {
///     fn description(&self) -> Description {
///         Description::new("large", "share of large codes").number("large", "large codes").needs(Needs::CODES)
///     }
///
///     fn declare_options(&mut self, declare: &mut Declare<'_>) {
///         declare.number("threshold", &mut self.threshold, 0.0.., "magnitude from which a code is large");
///     }
///
///     fn run(&self, codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
///         let large = codes.codes_train().iter().filter(|code| code.abs() >= self.threshold).count();
///         Ok(ScoreValues::new("large", large as f64 / codes.codes_train().len() as f64))
///     }
/// }
///
/// let mut registry = Registry::empty().with(Large { threshold: 1.0 })?;
/// let set = |value: serde_json::Value| serde_json::Map::from_iter([("threshold".to_owned(), value)]);
/// registry.configure("large", &set(2.into()))?;
/// let report = registry.run(&["large"], &Codes::unlabelled(ndarray::array![[1.5], [-3.0]])?, &Options::default())?;
/// assert_eq!((report.get("large"), &report.scores[0].parameters["threshold"]), (Some(0.5), &2.0.into()));
/// let error = registry.configure("large", &set("big".into())).unwrap_err();
/// assert_eq!(error.to_string(), "large.threshold: found \"big\", expected a number, 0 or more");
/// # Ok::<(), unbraid_metrics::MetricsError>(())
/// ```
#[derive(Debug)]
pub struct Declare<'a> {
    task: Task<'a>,
    /// The choice, as option and word, whose own options are being declared.
    within: Option<(&'static str, &'static str)>,
}

#[derive(Debug)]
enum Task<'a> {
    /// Collects all options, those of other alternatives included.
    List(&'a mut Vec<OptionInfo>),
    /// Collects the values.
    Read(&'a mut Map<String, Value>),
    /// Moves values from `left` into the fields of the metric.
    Set { metric: &'a str, left: &'a mut Map<String, Value>, error: &'a mut Option<OptionError> },
}

impl Declare<'_> {
    /// A whole number within a range.
    pub fn count(
        &mut self,
        name: &'static str,
        place: &mut usize,
        range: impl RangeBounds<usize>,
        meaning: &str,
    ) {
        self.required(name, place, range, meaning);
    }

    /// A whole number within a range, or nothing, which is the word `none`.
    pub fn optional_count(
        &mut self,
        name: &'static str,
        place: &mut Option<usize>,
        range: impl RangeBounds<usize>,
        meaning: &str,
    ) {
        self.optional(name, place, range, meaning);
    }

    /// A number within a range, such as [`POSITIVE`] or `0.0..=1.0`.
    pub fn number(
        &mut self,
        name: &'static str,
        place: &mut f64,
        range: impl RangeBounds<f64>,
        meaning: &str,
    ) {
        self.required(name, place, range, meaning);
    }

    /// A number within a range, or nothing, which is the word `none`.
    pub fn optional_number(
        &mut self,
        name: &'static str,
        place: &mut Option<f64>,
        range: impl RangeBounds<f64>,
        meaning: &str,
    ) {
        self.optional(name, place, range, meaning);
    }

    /// Yes or no.
    pub fn flag(&mut self, name: &'static str, place: &mut bool, meaning: &str) {
        self.declare(
            name,
            place,
            "true or false".to_owned(),
            meaning,
            |value| Value::from(*value),
            Value::as_bool,
        );
    }

    /// A list of whole numbers, each within a range, at least one of them.
    pub fn counts(
        &mut self,
        name: &'static str,
        place: &mut Vec<usize>,
        range: impl RangeBounds<usize>,
        meaning: &str,
    ) {
        let expected = format!("a list of whole numbers{}", bounds_in_words(&range));
        let read = |found: &Value| {
            let list = found.as_array().filter(|list| !list.is_empty())?;
            list.iter().map(|found| within(found, &range)).collect()
        };
        self.declare(name, place, expected, meaning, |value| Value::from(value.as_slice()), read);
    }

    /// One of several words, and the options that belong to it.
    pub fn choice<T: Choice>(&mut self, name: &'static str, place: &mut T, meaning: &str) {
        let words: Vec<String> = T::WORDS.iter().map(|word| format!("\"{word}\"")).collect();
        let read = |found: &Value| T::of_word(found.as_str()?);
        // Choosing the present alternative again keeps its options.
        let same = |place: &T, found: &T| place.word() == found.word();
        self.declare_unless(
            name,
            place,
            in_words(&words),
            meaning,
            |value| Value::from(value.word()),
            read,
            same,
        );
        let outer = self.within;
        self.within = Some((name, place.word()));
        place.declare(self);
        if matches!(self.task, Task::List(_)) {
            for word in T::WORDS.iter().filter(|word| **word != place.word()) {
                self.within = Some((name, word));
                if let Some(mut other) = T::of_word(word) {
                    other.declare(self);
                }
            }
        }
        self.within = outer;
    }

    fn required<T: Number>(
        &mut self,
        name: &'static str,
        place: &mut T,
        range: impl RangeBounds<T>,
        meaning: &str,
    ) {
        let expected = format!("{}{}", T::IN_WORDS, bounds_in_words(&range));
        self.declare(name, place, expected, meaning, |value| (*value).into(), |found| within(found, &range));
    }

    fn optional<T: Number>(
        &mut self,
        name: &'static str,
        place: &mut Option<T>,
        range: impl RangeBounds<T>,
        meaning: &str,
    ) {
        let expected = format!("{}{}, or \"none\"", T::IN_WORDS, bounds_in_words(&range));
        let read = |found: &Value| {
            if is_none(found) { Some(None) } else { within(found, &range).map(Some) }
        };
        self.declare(name, place, expected, meaning, |value| Value::from(*value), read);
    }

    fn declare<T>(
        &mut self,
        name: &'static str,
        place: &mut T,
        expected: String,
        meaning: &str,
        write: impl Fn(&T) -> Value,
        read: impl Fn(&Value) -> Option<T>,
    ) {
        self.declare_unless(name, place, expected, meaning, write, read, |_, _| false);
    }

    #[expect(clippy::too_many_arguments, reason = "private, and each of them is one part of a declaration")]
    fn declare_unless<T>(
        &mut self,
        name: &'static str,
        place: &mut T,
        expected: String,
        meaning: &str,
        write: impl Fn(&T) -> Value,
        read: impl Fn(&Value) -> Option<T>,
        stays: impl Fn(&T, &T) -> bool,
    ) {
        match &mut self.task {
            Task::List(list) => list.push(OptionInfo {
                name: name.to_owned(),
                meaning: meaning.to_owned(),
                expected,
                default: write(place),
                only_with: self.within.map(|(option, word)| (option.to_owned(), word.to_owned())),
            }),
            Task::Read(values) => drop(values.insert(name.to_owned(), write(place))),
            Task::Set { metric, left, error } => {
                let Some(found) = left.remove(name) else { return };
                match read(&found) {
                    Some(value) if stays(place, &value) => {}
                    Some(value) => *place = value,
                    None => {
                        let words: Vec<&str> = expected.split('"').skip(1).step_by(2).collect();
                        let nearest = found.as_str().and_then(|word| nearest(word, words)).map(str::to_owned);
                        error.get_or_insert_with(|| OptionError::Value {
                            metric: (*metric).to_owned(),
                            option: name.to_owned(),
                            found: found.to_string(),
                            expected,
                            nearest,
                        });
                    }
                }
            }
        }
    }
}

/// Whatever declares options.
type Declarer<'a> = &'a mut dyn FnMut(&mut Declare<'_>);

/// All options, those of other alternatives included.
pub(crate) fn list(declarer: Declarer<'_>) -> Vec<OptionInfo> {
    let mut options = Vec::new();
    declarer(&mut Declare { task: Task::List(&mut options), within: None });
    options
}

/// The values of the options that exist with the present choices.
pub(crate) fn read(declarer: Declarer<'_>) -> Map<String, Value> {
    let mut values = Map::new();
    declarer(&mut Declare { task: Task::Read(&mut values), within: None });
    values
}

/// Sets options; `all` are those of [`list`].
pub(crate) fn set(
    metric: &str,
    all: &[OptionInfo],
    values: &Map<String, Value>,
    declarer: Declarer<'_>,
) -> Result<()> {
    let (mut left, mut error) = (values.clone(), None);
    declarer(&mut Declare { task: Task::Set { metric, left: &mut left, error: &mut error }, within: None });
    if let Some(error) = error {
        return Err(error.into());
    }
    let Some((name, _)) = left.into_iter().next() else { return Ok(()) };
    let metric = metric.to_owned();
    let owners: Vec<&(String, String)> = all
        .iter()
        .filter(|option| option.name == name)
        .filter_map(|option| option.only_with.as_ref())
        .collect();
    match owners.first() {
        Some((option, _)) => Err(OptionError::OtherWord {
            metric,
            name,
            option: option.clone(),
            found: read(declarer).get(option).and_then(Value::as_str).unwrap_or_default().to_owned(),
            expected: owners.iter().map(|(_, word)| word.clone()).collect(),
        }
        .into()),
        None => {
            let mut known: Vec<String> = Vec::new();
            for option in all {
                if !known.contains(&option.name) {
                    known.push(option.name.clone());
                }
            }
            let nearest = nearest(&name, known.iter().map(String::as_str)).map(str::to_owned);
            Err(OptionError::Unknown { metric, name, nearest, known }.into())
        }
    }
}

/// Longer than any name of ours; nobody misspells a text.
const LONGEST_WORD: usize = 200;

/// The candidate that a word is most likely a misspelling of, if one is similar.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let similarity = |candidate: &str| {
        // `prune_below` means `prune`. No word at all begins every candidate.
        let begins = !word.is_empty()
            && candidate.len() > 2
            && (word.starts_with(candidate) || candidate.starts_with(word));
        // A table of both lengths is made, and a word may come from a file, in which it has millions of letters.
        let is_word = word.len().max(candidate.len()) <= LONGEST_WORD;
        let similarity = if is_word { strsim::normalized_damerau_levenshtein(word, candidate) } else { 0.0 };
        similarity.max(if begins { 0.5 } else { 0.0 })
    };
    candidates
        .into_iter()
        .map(|candidate| (similarity(candidate), candidate))
        .filter(|(similarity, _)| *similarity >= 0.5)
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, candidate)| candidate)
}

/// `"a"`, `"a" or "b"`, `"a", "b" or "c"`.
pub(crate) fn in_words(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [only] => only.clone(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    }
}

fn is_none(found: &Value) -> bool {
    found.is_null() || found == "none"
}

/// The numeric types of options.
trait Number: Copy + Display + PartialOrd + Into<Value> {
    /// What it is called in messages.
    const IN_WORDS: &'static str;

    fn of(found: &Value) -> Option<Self>;
}

impl Number for usize {
    const IN_WORDS: &'static str = "a whole number";

    fn of(found: &Value) -> Option<Self> {
        found.as_u64().and_then(|value| value.try_into().ok())
    }
}

impl Number for f64 {
    const IN_WORDS: &'static str = "a number";

    fn of(found: &Value) -> Option<Self> {
        found.as_f64().filter(|value| value.is_finite())
    }
}

fn within<T: Number>(found: &Value, range: &impl RangeBounds<T>) -> Option<T> {
    T::of(found).filter(|value| range.contains(value))
}

/// `, 2 or more`, ` above 0`, `, 0 to 1`.
fn bounds_in_words<T: Number>(range: &impl RangeBounds<T>) -> String {
    let low = match range.start_bound() {
        Bound::Included(low) => Some((*low, false)),
        Bound::Excluded(low) => Some((*low, true)),
        Bound::Unbounded => None,
    };
    let high = match range.end_bound() {
        Bound::Included(high) => Some((*high, false)),
        Bound::Excluded(high) => Some((*high, true)),
        Bound::Unbounded => None,
    };
    match (low, high) {
        (None, None) => String::new(),
        (Some((low, false)), None) => format!(", {low} or more"),
        (Some((low, true)), None) => format!(" above {low}"),
        (None, Some((high, false))) => format!(", at most {high}"),
        (None, Some((high, true))) => format!(" below {high}"),
        (Some((low, false)), Some((high, false))) => format!(", {low} to {high}"),
        (Some((low, true)), Some((high, false))) => format!(" above {low}, at most {high}"),
        (Some((low, open)), Some((high, true))) => {
            format!("{} {low}, below {high}", if open { " above" } else { " from" })
        }
    }
}
