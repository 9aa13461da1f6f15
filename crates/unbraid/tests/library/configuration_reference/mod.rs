//! `docs/configuration.md`: every key of a configuration with its type, default and meaning, generated from
//! the source of the types, their defaults, and the registries of data sets and metrics. The test writes it
//! again if `UNBRAID_WRITE_REFERENCE` is set, and otherwise checks that it is up to date.

mod source;

use source::{Field, Item, ItemKind, Payload, Source, Variant, kebab};
use std::collections::BTreeMap;
use std::fmt::{Debug, Write};
use std::path::Path;
use unbraid::config::{
    AdversarialKlConfig, ContrastConfig, CovarianceConfig, DiscriminatorConfig, EvaluationConfig,
    LatentsConfig, MmdConfig, ModelConfig, OptimizerConfig, REFERENCE, Scale, Source as ConfigSource,
    TrainingConfig,
};
use unbraid::data::{DataOption, registry};

/// The types that are tables, with their headings in the order of the page. A type that is missing here fails the test.
const TABLES: [(&str, &str); 24] = [
    ("Config", "Top level"),
    ("ModelConfig", "[model]"),
    ("LatentsConfig", "[model.latents]"),
    ("ArchitectureConfig", "model.architecture"),
    ("LikelihoodConfig", "model.likelihood"),
    ("PriorConfig", "model.prior"),
    ("PosteriorConfig", "model.posterior"),
    ("ObjectiveConfig", "[objective]"),
    ("DipConfig", "Keys of DIP-VAE"),
    ("DivergenceConfig", "Divergences"),
    ("TermConfig", "Terms"),
    ("MmdConfig", "MMD"),
    ("CovarianceConfig", "Covariances"),
    ("AdversarialKlConfig", "The adversarial KL divergence"),
    ("DiscriminatorConfig", "Discriminators"),
    ("ContrastConfig", "Discriminators that see the image"),
    ("Schedule", "Schedules"),
    ("Ramp", "Ramps"),
    ("OptimizerConfig", "[optimizer]"),
    ("TrainingConfig", "[training]"),
    ("EarlyStop", "training.early_stop"),
    ("InitConfig", "training.init"),
    ("EvaluationConfig", "[evaluation]"),
    ("DataSpec", "[data]"),
];

struct Page {
    source: Source,
    /// Every field of the default of a type, as `Debug` writes it: serde leaves some of them out.
    defaults: BTreeMap<&'static str, BTreeMap<String, String>>,
}

impl Page {
    fn new() -> Self {
        let mut defaults = BTreeMap::new();
        let mut add = |name, value: &dyn Debug| drop(defaults.insert(name, fields_of(value)));
        add("ModelConfig", &ModelConfig::default());
        add("LatentsConfig", &LatentsConfig::default());
        add("OptimizerConfig", &OptimizerConfig::default());
        add("TrainingConfig", &TrainingConfig::default());
        add("EvaluationConfig", &EvaluationConfig::default());
        add("DiscriminatorConfig", &DiscriminatorConfig::default());
        add("ContrastConfig", &ContrastConfig::default());
        add("AdversarialKlConfig", &AdversarialKlConfig::default());
        add("CovarianceConfig", &CovarianceConfig::default());
        add("MmdConfig", &MmdConfig::default());
        Self { source: Source::read(), defaults }
    }

    fn item(&self, name: &str) -> &Item {
        self.source.items.get(name).unwrap_or_else(|| panic!("no type {name} in the configuration"))
    }

    fn write(&self) -> String {
        let mut page = String::from(
            "# Configuration\n\n\
             Every key of a configuration. This page is generated from the code; `unbraid config reference` prints it.\n\n\
             A configuration is a TOML file. `unbraid train --config FILE` reads one, `--set KEY=VALUE` sets a single key by its \
             dotted name, as in `--set objective.beta=4`, and `--print-config` prints what results. A table with a `name` has a \
             short form: `model.likelihood = \"bernoulli\"` is `{ name = \"bernoulli\" }`. Unknown keys are refused.\n",
        );
        for (name, heading) in TABLES {
            let shown =
                if heading.contains(['[', '.']) { format!("`{heading}`") } else { heading.to_owned() };
            let _ = writeln!(page, "\n## {shown}\n");
            match name {
                "DataSpec" => data(&mut page),
                "Schedule" => schedule(&mut page),
                _ => self.table(&mut page, name),
            }
            if name == "EvaluationConfig" {
                metrics(&mut page);
            }
        }
        while page.contains("\n\n\n") {
            page = page.replace("\n\n\n", "\n\n");
        }
        page
    }

    /// The section of a type.
    fn table(&self, page: &mut String, name: &str) {
        let item = self.item(name);
        let _ = writeln!(page, "{}\n", words(&item.doc));
        match &item.kind {
            ItemKind::Struct(fields) => self.keys(page, fields, name, item.serde.contains("default")),
            ItemKind::Wrapper(_) => panic!("{name} is no table"),
            ItemKind::Enum(variants) => {
                for variant in variants {
                    self.variant(page, variant);
                }
            }
        }
    }

    fn variant(&self, page: &mut String, variant: &Variant) {
        let _ = write!(page, "### `name = \"{}\"`\n\n{}\n\n", variant.word, words(&variant.doc));
        match &variant.payload {
            Payload::Nothing => {}
            Payload::Fields(fields) if fields.is_empty() => {}
            Payload::Fields(fields) => self.keys(page, fields, "", false),
            Payload::Wrapped(of_type) => {
                let _ = writeln!(page, "Keys: {}.\n", self.type_in_words(of_type));
            }
        }
    }

    /// The keys of a table; `owner` is the type whose default has theirs, if it has one.
    fn keys(&self, page: &mut String, fields: &[Field], owner: &str, has_default: bool) {
        page.push_str("| key | type | default | meaning |\n|---|---|---|---|\n");
        for field in fields.iter().filter(|field| !field.serde.contains("flatten")) {
            let default = if has_default {
                let value = self.defaults.get(owner).and_then(|fields| fields.get(&field.name));
                let value = value.unwrap_or_else(|| panic!("no default of {owner}.{}", field.name));
                in_toml(value)
            } else {
                self.default_of(field)
            };
            let (key, of_type, meaning) =
                (&field.name, self.type_in_words(&field.of_type), words(&field.doc).replace('|', "\\|"));
            let _ = writeln!(page, "| `{key}` | {of_type} | {default} | {meaning} |");
        }
        page.push('\n');
    }

    /// The default that serde's attributes give a field.
    fn default_of(&self, field: &Field) -> String {
        if field.of_type.starts_with("Option<") {
            return "none".to_owned();
        }
        if let Some((_, rest)) = field.serde.split_once("default = \"") {
            let function = rest.split('"').next().unwrap();
            let body = &self.source.functions[function];
            return in_toml(body.trim_start_matches("Schedule::Constant(").trim_start_matches("vec!"));
        }
        if !field.serde.contains("default") {
            return "required".to_owned();
        }
        match field.of_type.as_str() {
            "bool" => "`false`".to_owned(),
            "u64" | "usize" => "`0`".to_owned(),
            "f64" => "`0.0`".to_owned(),
            "Samples" => "`1`".to_owned(),
            "Scale" => in_toml(&format!("{:?}", Scale::default())),
            "DivergenceConfig" => "`{ name = \"mmd\" }`".to_owned(),
            list if list.starts_with("Vec<") => "`[]`".to_owned(),
            other => match &self.item(other).kind {
                ItemKind::Enum(variants) => {
                    let default = variants.iter().find(|variant| variant.is_default);
                    format!("`\"{}\"`", default.unwrap_or_else(|| panic!("no default of {other}")).word)
                }
                ItemKind::Struct(_) | ItemKind::Wrapper(_) => "its own defaults".to_owned(),
            },
        }
    }

    /// A type for people: a kind of number, the words of an enum, or the section that has its keys.
    fn type_in_words(&self, of_type: &str) -> String {
        let inner = |prefix: &str| of_type.strip_prefix(prefix).and_then(|rest| rest.strip_suffix('>'));
        if let Some(inner) = inner("Option<") {
            return self.type_in_words(inner);
        }
        if let Some(inner) = inner("Vec<") {
            let of = self.type_in_words(inner);
            let several = match of.strip_prefix("a ") {
                Some(rest) if rest.starts_with("list ") => rest.replacen("list", "lists", 1),
                Some(rest) => format!("{rest}s"),
                None => of,
            };
            return format!("a list of {several}");
        }
        match of_type {
            "u64" | "usize" => return "a whole number".to_owned(),
            "f64" => return "a number".to_owned(),
            "bool" => return "true or false".to_owned(),
            "String" => return "a text".to_owned(),
            "Terms" => {
                return "a list of names or of tables with `name`, `weight` and keys: [Terms](#terms)"
                    .to_owned();
            }
            "ValidationConfig" => return "a fraction such as 0.1, or the word `test`".to_owned(),
            _ => {}
        }
        if let Some((_, heading)) = TABLES.iter().find(|(name, _)| *name == of_type) {
            let anchor: String = heading
                .to_lowercase()
                .chars()
                .filter_map(|letter| match letter {
                    ' ' => Some('-'),
                    letter if letter.is_alphanumeric() || matches!(letter, '-' | '_') => Some(letter),
                    _ => None,
                })
                .collect();
            let shown = if of_type == "Schedule" { "a number or a ramp" } else { "a table" };
            return format!("{shown}: [{}](#{anchor})", heading.trim_matches(['[', ']']));
        }
        let item = self.item(of_type);
        if let Some((_, rest)) = item.serde.split_once("expecting = \"expected ") {
            return rest.split('"').next().unwrap().replace("\\", "").replace("  ", " ");
        }
        match &item.kind {
            ItemKind::Wrapper(inner) => self.type_in_words(inner),
            ItemKind::Struct(_) => panic!("{of_type} has no section"),
            ItemKind::Enum(variants) => {
                let word = |variant: &Variant| {
                    assert!(matches!(variant.payload, Payload::Nothing), "{of_type} has no section");
                    format!("`\"{}\"`: {}", variant.word, words(&variant.doc).trim_end_matches('.'))
                };
                variants.iter().map(word).collect::<Vec<_>>().join("; ").replace('|', "\\|")
            }
        }
    }
}

/// The fields of a value, as `Debug` writes them.
fn fields_of(value: &dyn Debug) -> BTreeMap<String, String> {
    let text = format!("{value:?}");
    let inside = text.split_once(" { ").map_or("", |(_, rest)| rest.strip_suffix(" }").unwrap_or(rest));
    let mut fields = BTreeMap::new();
    let (mut depth, mut start) = (0_i32, 0);
    let ends = inside.char_indices().chain([(inside.len(), ',')]);
    for (place, letter) in ends {
        match letter {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            ',' if depth <= 0 => {
                if let Some((name, value)) = inside[start..place].trim().split_once(": ") {
                    fields.insert(name.to_owned(), value.to_owned());
                }
                start = (place + 1).min(inside.len());
            }
            _ => {}
        }
    }
    fields
}

/// A value of Rust as TOML has it: `Some(3)`, `Conv`, `Fixed(1.0)`, `Kernel::Imq`.
fn in_toml(value: &str) -> String {
    let value = value.trim().trim_end_matches(')');
    let value =
        ["Some(", "Fixed(", "Constant("].iter().fold(value, |value, prefix| value.trim_start_matches(prefix));
    if value == "None" {
        return "none".to_owned();
    }
    let word = value.rsplit("::").next().unwrap();
    if word.starts_with(|letter: char| letter.is_ascii_uppercase()) {
        let name: String = word.chars().take_while(|letter| letter.is_alphanumeric()).collect();
        // A struct has a section of its own.
        return if name.ends_with("Config") {
            "its own defaults".to_owned()
        } else {
            format!("`\"{}\"`", kebab(&name))
        };
    }
    format!("`{value}`")
}

/// Documentation of the code as text of a page.
fn words(doc: &str) -> String {
    let plain = doc.replace("[`", "`").replace("`]", "`").replace("\\[", "[").replace("\\]", "]");
    let sentences = plain.split_inclusive(". ").filter(|sentence| {
        let sentence = sentence.to_lowercase();
        // Of interest to who reads the code alone.
        !sentence.contains("left out of a written configuration")
            && !sentence.contains("keep their fingerprints")
    });
    let text: String = sentences.collect();
    match text.split_once("; `").filter(|_| text.contains("has one file for each")) {
        Some((before, _)) => format!("{before}."),
        None => text.trim().to_owned(),
    }
}

fn schedule(page: &mut String) {
    page.push_str(
        "A weight or a capacity as a function of the step: a number, `4.0`, or a ramp, `{ from = 0.0, to = 4.0, start = 0, end \
         = 10000 }`: `from` until step `start`, `to` from step `end` on, and linear in between. With `name = \"geometric\"`, \
         the ratio between one step and the next is constant instead, so that each halving or doubling takes the same number \
         of steps.\n",
    );
}

/// The data sets and their options.
fn data(page: &mut String) {
    page.push_str(
        "What is trained on: `name`, `path`, or both, and options. The short form is a path or `data = \
         \"shapes(positions=16)\"`. Without a `name`, the type is inferred from the path.\n\n\
         Options of every data set that can be split:\n\n",
    );
    let options = |page: &mut String, options: &[DataOption]| {
        page.push_str("| key | type | default | meaning |\n|---|---|---|---|\n");
        for DataOption { name, values, default, meaning } in options {
            let is_value = default.parse::<f64>().is_ok() || default.parse::<bool>().is_ok();
            let default = if is_value { format!("`{default}`") } else { (*default).to_owned() };
            let _ = writeln!(page, "| `{name}` | {values} | {default} | {meaning} |");
        }
        page.push('\n');
    };
    options(page, registry::SPLIT_OPTIONS);
    for entry in registry::ENTRIES {
        let path = entry.path.map_or_else(String::new, |path| format!(" `path` is {path}."));
        let _ = writeln!(page, "### `name = \"{}\"`\n\n{}.{path}\n", entry.name, entry.summary);
        if !entry.options.is_empty() {
            options(page, entry.options);
        }
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
}

/// The options of metrics.
fn metrics(page: &mut String) {
    page.push_str(
        "Options of metrics are tables by the name of the metric, as `[evaluation.sap]`; `unbraid metrics` says what each \
         metric means.\n\n| key | type | default | meaning |\n|---|---|---|---|\n",
    );
    let metrics = unbraid::metrics::registry::shared();
    for metric in metrics.iter() {
        for option in metrics.options(&metric.name).unwrap() {
            let default =
                if option.default.is_null() { "none".to_owned() } else { format!("`{}`", option.default) };
            let _ = writeln!(
                page,
                "| `{}.{}` | {} | {default} | {} |",
                metric.name,
                option.name,
                option.expected.replace('|', "\\|"),
                option.meaning.replace('|', "\\|")
            );
        }
    }
}

#[test]
fn the_reference_is_that_of_the_code() {
    let page = Page::new().write();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let copies = [root.join("src/config/reference.md"), root.join("../../docs/configuration.md")];
    if std::env::var_os("UNBRAID_WRITE_REFERENCE").is_some() {
        copies.iter().for_each(|path| std::fs::write(path, &page).unwrap());
        return;
    }
    let again = "UNBRAID_WRITE_REFERENCE=1 cargo test -p unbraid --test library configuration_reference writes it again";
    assert!(REFERENCE == page, "src/config/reference.md is not that of the code; {again}");
    // A copy of the crate alone has no documentation beside it.
    if let Ok(copy) = std::fs::read_to_string(&copies[1]) {
        assert!(copy == page, "docs/configuration.md is not that of the code; {again}");
    }
}

/// Every key that a resolved configuration of a preset has is a key of the page.
#[test]
fn every_key_of_every_preset_is_in_the_reference() {
    for preset in unbraid::config::PRESETS {
        let config = ConfigSource::preset(preset.name).resolve().unwrap();
        for key in config.values().keys() {
            let last = key.rsplit('.').next().unwrap();
            // Options of metrics have the name of the metric before them.
            let start =
                if key.starts_with("evaluation.") && key.matches('.').count() == 2 { "." } else { "| `" };
            let is_there = last == "name" || REFERENCE.contains(&format!("{start}{last}` |"));
            assert!(is_there, "{key} of {}", preset.name);
        }
    }
}
