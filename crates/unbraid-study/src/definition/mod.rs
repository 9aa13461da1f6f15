//! `study.toml`: what is asked for, and the runs that it makes.

mod axes;
mod error;
mod naming;
mod points;

pub use error::DefinitionError;
pub(crate) use naming::data_label;
pub(crate) use points::entries;

use crate::directory::StudyDirectory;
use crate::error::{Error, Result};
use axes::Axis;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use toml::{Table, Value};
use unbraid::config::{Layers, explain};
use unbraid::data::files::{LONGEST_TEXT, read_text};

/// A study that has been read and checked, except for the configurations that it leads to.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The file, for messages.
    origin: String,
    /// The directory of the study, without links.
    pub(crate) directory: PathBuf,
    /// What people call it.
    pub name: Option<String>,
    /// The seeds of every point, in order.
    pub seeds: Vec<u64>,
    /// Its parts, in order; one if it names no methods, none if it consists of imported tables.
    pub methods: Vec<Method>,
}

/// A part of a study: a base and what is varied over it.
#[derive(Clone, Debug)]
pub struct Method {
    /// What people call it; by default the name of the objective.
    pub label: Option<String>,
    /// The base and everything that is set over it.
    layers: Layers,
    /// What is varied, slowest first.
    axes: Vec<Axis>,
}

/// The file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct StudyText {
    name: Option<String>,
    base: Option<String>,
    config: Option<PathBuf>,
    #[serde(default)]
    imported: bool,
    seeds: Option<Seeds>,
    #[serde(default)]
    set: Table,
    #[serde(default)]
    grid: Table,
    #[serde(default)]
    zip: Vec<Table>,
    #[serde(default)]
    method: Vec<MethodText>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct MethodText {
    name: Option<String>,
    base: Option<String>,
    config: Option<PathBuf>,
    set: Table,
    grid: Table,
    zip: Vec<Table>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected the number of seeds, or a list of seeds")]
enum Seeds {
    Number(u64),
    List(Vec<u64>),
}

/// More runs than anybody trains: a typo, caught before it fills the memory.
const MOST_RUNS: usize = 1_000_000;

impl Definition {
    /// Reads the study's file.
    ///
    /// # Errors
    /// If it cannot be read, a key is unknown, or it describes no study.
    pub fn read(study: &StudyDirectory) -> Result<Self> {
        let path = study.definition();
        let text = read_text(&path, LONGEST_TEXT).map_err(unbraid::Error::io(&path, "read it"))?;
        Self::parse(&text, &path.display().to_string(), study.path())
    }

    /// The same from text; `origin` names it in messages, and paths in it start in `directory`.
    ///
    /// # Errors
    /// As [`Definition::read`].
    pub fn parse(text: &str, origin: &str, directory: &Path) -> Result<Self> {
        // Paths are part of what identifies a run, so they must not depend on how the study was addressed.
        let directory = directory.canonicalize().map_err(unbraid::Error::io(directory, "find it"))?;
        Self::checked(text, origin, &directory).map_err(|source| wrong(origin, source))
    }

    fn checked(text: &str, origin: &str, directory: &Path) -> Result<Self, DefinitionError> {
        let table: Table = text.parse().map_err(|error: toml::de::Error| DefinitionError::Syntax {
            message: error.to_string().trim_end().to_owned(),
        })?;
        let text: StudyText = Value::Table(table)
            .try_into()
            .map_err(|error| DefinitionError::Shape { message: explain(&error) })?;
        let seeds = checked_seeds(text.seeds.as_ref())?;
        let methods = methods(&text, directory)?;
        match count(&methods, &seeds) {
            Some(0..=MOST_RUNS) => {
                let (origin, directory) = (origin.to_owned(), directory.to_owned());
                Ok(Self { origin, directory, name: text.name, seeds, methods })
            }
            _ => Err(DefinitionError::TooManyRuns { most: MOST_RUNS }),
        }
    }

    /// The keys that its lists vary.
    pub(crate) fn varied_keys(&self) -> impl Iterator<Item = &str> {
        self.methods.iter().flat_map(|method| &method.axes).flat_map(|axis| &axis.keys).map(String::as_str)
    }

    /// The number of its runs.
    pub fn runs(&self) -> usize {
        count(&self.methods, &self.seeds).unwrap_or(0)
    }
}

fn wrong(origin: &str, source: DefinitionError) -> Error {
    Error::Definition { origin: origin.to_owned(), source: Box::new(source) }
}

/// The number of runs; `None` if it overflows.
fn count(methods: &[Method], seeds: &[u64]) -> Option<usize> {
    methods.iter().try_fold(0_usize, |sum, method| {
        sum.checked_add(axes::count(&method.axes)?.checked_mul(seeds.len())?)
    })
}

fn checked_seeds(seeds: Option<&Seeds>) -> Result<Vec<u64>, DefinitionError> {
    let list = match seeds {
        None => vec![0],
        Some(Seeds::Number(number)) if *number > MOST_RUNS as u64 => {
            return Err(DefinitionError::TooManySeeds { found: *number, most: MOST_RUNS });
        }
        Some(Seeds::Number(number)) => (0..*number).collect(),
        Some(Seeds::List(list)) => list.clone(),
    };
    if list.is_empty() {
        return Err(DefinitionError::NoSeeds);
    }
    let mut seen = BTreeSet::new();
    match list.iter().find(|seed| !seen.insert(**seed)) {
        Some(seed) => Err(DefinitionError::RepeatedSeed { seed: *seed }),
        None => Ok(list),
    }
}

/// The parts of a study; without `[[method]]` it is one.
fn methods(study: &StudyText, directory: &Path) -> Result<Vec<Method>, DefinitionError> {
    if study.imported {
        let asked = [
            ("base", study.base.is_some()),
            ("config", study.config.is_some()),
            ("seeds", study.seeds.is_some()),
            ("set", !study.set.is_empty()),
            ("grid", !study.grid.is_empty()),
            ("zip", !study.zip.is_empty()),
            ("method", !study.method.is_empty()),
        ];
        return match asked.into_iter().find(|(_, is_there)| *is_there) {
            Some((key, _)) => Err(DefinitionError::ImportedAndTrained { key }),
            None => Ok(Vec::new()),
        };
    }
    if study.method.is_empty() {
        return Ok(vec![method(study, &MethodText::default(), directory)?]);
    }
    let one = |(index, part): (usize, &MethodText)| {
        let place = match part.name.as_deref().map(str::trim) {
            Some("") => return Err(DefinitionError::EmptyName.within(format!("method {}", index + 1))),
            Some(name) => format!("method `{name}`"),
            None => format!("method {}", index + 1),
        };
        method(study, part, directory).map_err(|error| error.within(place))
    };
    study.method.iter().enumerate().map(one).collect()
}

fn method(study: &StudyText, part: &MethodText, directory: &Path) -> Result<Method, DefinitionError> {
    let own = base(part.base.as_deref(), part.config.as_deref(), directory)?;
    let mut layers = match own {
        Some(layers) => layers,
        None => {
            base(study.base.as_deref(), study.config.as_deref(), directory)?.ok_or(DefinitionError::NoBase)?
        }
    };
    // Nobody reads thousands of pages; `[set]` can ask for them.
    let no_pages = Value::Boolean(false);
    layers.put(layer([("evaluation.report", &no_pages)])?);
    for set in [&study.set, &part.set] {
        let keys = axes::flattened(set);
        if keys.contains_key("seed") {
            return Err(DefinitionError::SeedIsSet);
        }
        layers.put(layer(keys.iter().map(|(key, value)| (key.as_str(), *value)))?);
    }
    Ok(Method { label: part.name.clone(), layers, axes: axes_of(study, part)? })
}

fn base(
    preset: Option<&str>,
    file: Option<&Path>,
    directory: &Path,
) -> Result<Option<Layers>, DefinitionError> {
    let layers = match (preset, file) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => return Err(DefinitionError::TwoBases),
        (Some(name), None) => Layers::of_preset(name)?,
        (None, Some(path)) => Layers::of_file(&directory.join(path))?,
    };
    Ok(Some(layers.with_paths_in(directory)))
}

/// Values by their keys as one layer.
fn layer<'a>(keys: impl IntoIterator<Item = (&'a str, &'a Value)>) -> unbraid::Result<Layers> {
    Layers::of_keys(keys.into_iter().map(|(key, value)| (key, value.clone())))
}

/// What is varied, slowest first: the groups of the study, those of the method, then the grids of both in
/// alphabetical order.
fn axes_of(study: &StudyText, part: &MethodText) -> Result<Vec<Axis>, DefinitionError> {
    let mut axes = Vec::new();
    for (number, group) in study.zip.iter().chain(&part.zip).enumerate() {
        axes.push(Axis::of_zip(group).map_err(|error| error.within(format!("zip {}", number + 1)))?);
    }
    let mut grid = Vec::new();
    for table in [&study.grid, &part.grid] {
        grid.extend(Axis::of_grid(table).map_err(|error| error.within("grid"))?);
    }
    grid.sort_by(|left, right| left.keys.cmp(&right.keys));
    axes.extend(grid);

    let set = axes::flattened(&part.set);
    let mut seen = BTreeSet::new();
    for key in axes.iter().flat_map(|axis| &axis.keys) {
        if key == "seed" {
            return Err(DefinitionError::SeedIsVaried);
        }
        if !seen.insert(key) {
            return Err(DefinitionError::RepeatedKey { key: key.clone() });
        }
        // The list would silently win.
        if set.contains_key(key) {
            return Err(DefinitionError::SetAndVaried { key: key.clone() });
        }
    }
    Ok(axes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Definition> {
        Definition::parse(text, "study.toml", Path::new("."))
    }

    fn message(text: &str) -> String {
        let error = parse(text).unwrap_err();
        assert_eq!(error.kind(), unbraid::ErrorKind::Input, "{text}");
        unbraid::error_chain(&error)
    }

    #[test]
    fn seeds_are_a_number_or_a_list() {
        let seeds = |text: &str| parse(&format!("base = \"default\"\n{text}")).unwrap().seeds;
        assert_eq!(seeds(""), [0]);
        assert_eq!(seeds("seeds = 3"), [0, 1, 2]);
        assert_eq!(seeds("seeds = [7, 1]"), [7, 1]);
    }

    #[test]
    fn the_axes_of_study_and_method_are_in_one_order() {
        let text = r#"
            base = "default"
            [grid]
            "objective.beta" = [1]
            [[zip]]
            "training.steps" = [1, 2]
            "data.positions" = [8, 16]
            [[method]]
            [method.grid]
            model.latents.continuous = [6]
            [[method.zip]]
            optimizer.learning_rate = [0.1]
        "#;
        let axes: Vec<_> =
            parse(text).unwrap().methods.remove(0).axes.into_iter().map(|axis| axis.keys).collect();
        assert_eq!(
            axes,
            [
                vec!["data.positions", "training.steps"],
                vec!["optimizer.learning_rate"],
                vec!["model.latents.continuous"],
                vec!["objective.beta"],
            ]
        );
    }

    #[test]
    fn a_wrong_definition_is_refused_with_its_place() {
        let base = "base = \"default\"\n";
        let here = Path::new(".").canonicalize().unwrap();
        let missing = format!(
            "{}: cannot read the configuration: No such file or directory (os error 2)",
            here.join("missing.toml").display()
        );
        for (text, expected) in [
            (
                "",
                "found neither `base` nor `config`, expected base = \"default\" or another preset, or config = \
                 \"base.toml\" or another file",
            ),
            ("base = \"defalt\"", "unknown preset `defalt`\nhint: did you mean `default`?"),
            ("base = \"default\"\nconfig = \"a\"", "found both `base` and `config`, expected one of them"),
            ("config = \"missing.toml\"", &missing),
            ("base = \"default\"\nseedz = 3", "unknown key `seedz`\nhint: did you mean `seeds`?"),
            ("base = \"default\"\nseeds = 0", "seeds: found none, expected one or more"),
            ("base = \"default\"\nseeds = []", "seeds: found none, expected one or more"),
            ("base = \"default\"\nseeds = [1, 1]", "seeds: found 1 twice, expected each seed once"),
            ("base = \"default\"\nseeds = -1", "seeds: expected the number of seeds, or a list of seeds"),
            (
                "base = \"default\"\nseeds = \"three\"",
                "seeds: expected the number of seeds, or a list of seeds",
            ),
            ("base = \"default\"\nseeds = 2000000", "seeds: found 2000000, expected at most 1000000"),
        ] {
            assert_eq!(message(text), format!("study.toml: {expected}"), "{text}");
        }
        assert_eq!(
            message("[grid"),
            "study.toml: TOML parse error at line 1, column 6\n  |\n1 | [grid\n  |      ^\nunclosed table, expected `]`"
        );
        for (text, expected) in [
            ("[set]\nseed = 3", "set: found `seed`, expected seeds in `seeds` only"),
            ("[grid]\nseed = [3]", "found a list of `seed`, expected seeds in `seeds` only"),
            ("[grid]\n\"objective.beta\" = []", "grid: objective.beta: found an empty list, expected values"),
            (
                "[grid]\n\"objective.beta\" = 4",
                "grid: objective.beta: found 4, expected a list of values, such as [4]",
            ),
            (
                "[grid]\n\"a..b\" = [4]\n[set]\n\"a..b\" = 4",
                "configuration: `a..b`: found an empty part, expected a key such as objective.beta",
            ),
            (
                "[[zip]]\na = [1]\nb = [1, 2]",
                "zip 1: found 1 values of a and 2 of b, expected lists of equal length",
            ),
            ("[[zip]]\na = [1]\n[grid]\na = [2]", "found two lists of a, expected one"),
            ("[[method]]\n[method.gird]\na = [1]", "method: unknown key `gird`\nhint: did you mean `grid`?"),
            ("[[method]]\nname = \" \"", "method 1: found an empty name, expected a word"),
            ("[[method]]\nname = \"x\"\nbase = \"nope\"", "method `x`: unknown preset `nope`"),
            (
                "[grid]\na = [1]\n[[method]]\nset = { a = 2 }",
                "method 1: found a both in the method's `set` and in a list, expected one of them",
            ),
        ] {
            let text = format!("{base}{text}");
            assert_eq!(message(&text), format!("study.toml: {expected}"), "{text}");
        }
    }

    #[test]
    fn a_study_of_imported_tables_trains_nothing() {
        let definition = parse("name = \"published\"\nimported = true").unwrap();
        assert_eq!((definition.runs(), definition.methods.len()), (0, 0));
        assert!(entries(&definition).unwrap().is_empty());
        assert_eq!(
            message("imported = true\nseeds = 3"),
            "study.toml: imported = true: found also `seeds`, expected a name only, since nothing is trained"
        );
    }

    #[test]
    fn runs_that_cannot_be_told_apart_are_refused() {
        let message = |text: &str| {
            let definition = parse(&format!("base = \"shapes/beta-vae\"\n{text}")).unwrap();
            unbraid::error_chain(&entries(&definition).unwrap_err())
        };
        assert_eq!(
            message("[grid]\n\"evaluation.report\" = [true, false]"),
            "study.toml: runs 0 and 1 train the same model: evaluation.report = true, method = \"beta-vae\", seed = 0, \
             and evaluation.report = false, method = \"beta-vae\", seed = 0"
        );
        assert_eq!(
            message("[[method]]\n[[method]]\nset = { \"training.steps\" = 7 }"),
            "study.toml: found two methods called `beta-vae`, expected a `name` for each"
        );
    }

    #[test]
    fn more_runs_than_anybody_trains_are_refused() {
        let list = (0..1100).map(|value| value.to_string()).collect::<Vec<_>>().join(",");
        let text = format!("base = \"default\"\n[grid]\na = [{list}]\nb = [{list}]");
        assert_eq!(message(&text), "study.toml: found more than 1000000 runs, expected at most that many");
    }
}
