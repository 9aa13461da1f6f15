//! What can be wrong with a `study.toml`.

use unbraid::data::one_line;

/// What is wrong with a `study.toml`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DefinitionError {
    /// It is not TOML.
    #[error("{message}")]
    Syntax {
        /// What the parser says, with line and column.
        message: String,
    },
    /// A key is unknown, or its value has the wrong type.
    #[error("{message}")]
    Shape {
        /// The key and what is wrong with it.
        message: String,
    },
    /// A configuration is wrong.
    #[error(transparent)]
    Config(#[from] unbraid::Error),
    /// Something is wrong in a part of it.
    #[error("{}", one_line(place))]
    Within {
        /// The part, such as ``method `beta` ``, or a point of the grid, such as `objective.beta = 4`.
        place: String,
        /// What is wrong there.
        source: Box<DefinitionError>,
    },
    /// There are no seeds.
    #[error("seeds: found none, expected one or more")]
    NoSeeds,
    /// There are more seeds than anybody trains.
    #[error("seeds: found {found}, expected at most {most}")]
    TooManySeeds {
        /// How many.
        found: u64,
        /// How many are allowed.
        most: usize,
    },
    /// A seed is given twice.
    #[error("seeds: found {seed} twice, expected each seed once")]
    RepeatedSeed {
        /// The seed.
        seed: u64,
    },
    /// There are more runs than anybody trains.
    #[error("found more than {most} runs, expected at most that many")]
    TooManyRuns {
        /// How many are allowed.
        most: usize,
    },
    /// There is nothing to start from.
    #[error(
        "found neither `base` nor `config`, expected base = \"default\" or another preset, or config = \"base.toml\" or \
         another file"
    )]
    NoBase,
    /// A study of imported tables asks for runs of its own.
    #[error("imported = true: found also `{key}`, expected a name only, since nothing is trained")]
    ImportedAndTrained {
        /// What it asks for.
        key: &'static str,
    },
    /// There are two configurations to start from.
    #[error("found both `base` and `config`, expected one of them")]
    TwoBases,
    /// The name of a method is empty.
    #[error("found an empty name, expected a word")]
    EmptyName,
    /// Two methods have the same name, and not on purpose.
    #[error("found two methods called `{}`, expected a `name` for each", one_line(label))]
    RepeatedLabel {
        /// The name.
        label: String,
    },
    /// A seed is set like any other key.
    #[error("set: found `seed`, expected seeds in `seeds` only")]
    SeedIsSet,
    /// Seeds are varied like any other key.
    #[error("found a list of `seed`, expected seeds in `seeds` only")]
    SeedIsVaried,
    /// A value of a grid is no list.
    #[error(
        "{}: found {shown}, expected a list of values, such as [{shown}]",
        one_line(key), shown = one_line(found)
    )]
    NotAList {
        /// Its key.
        key: String,
        /// The value.
        found: String,
    },
    /// A list of values is empty.
    #[error("{}: found an empty list, expected values", one_line(key))]
    EmptyList {
        /// Its key.
        key: String,
    },
    /// A group of lists is empty.
    #[error("found nothing, expected lists of equal length")]
    EmptyZip,
    /// Lists of a group have different lengths.
    #[error(
        "found {first_len} values of {} and {other_len} of {}, expected lists of equal length",
        one_line(first),
        one_line(other)
    )]
    UnequalLists {
        /// The key of the first list.
        first: String,
        /// Its length.
        first_len: usize,
        /// The key of one that differs.
        other: String,
        /// Its length.
        other_len: usize,
    },
    /// A key has two lists.
    #[error("found two lists of {}, expected one", one_line(key))]
    RepeatedKey {
        /// The key.
        key: String,
    },
    /// A key is both set by a method and varied.
    #[error("found {} both in the method's `set` and in a list, expected one of them", one_line(key))]
    SetAndVaried {
        /// The key.
        key: String,
    },
    /// Two runs would train the same model.
    #[error(
        "runs {first} and {second} train the same model: {}, and {}",
        one_line(first_settings),
        one_line(second_settings)
    )]
    SameModel {
        /// The number of the first.
        first: usize,
        /// The number of the second.
        second: usize,
        /// What distinguishes the first, as text.
        first_settings: String,
        /// What distinguishes the second.
        second_settings: String,
    },
}

impl DefinitionError {
    /// The same error with the part of the file that it is in.
    pub(super) fn within(self, place: impl Into<String>) -> Self {
        Self::Within { place: place.into(), source: Box::new(self) }
    }
}
