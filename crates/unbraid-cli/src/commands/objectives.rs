//! `unbraid objectives`: the methods, and the terms that they are made of.

use crate::error::{Outcome, usage};
use crate::format::{TextFormat, pretty_json, print, wrapped};
use clap::Args;
use serde_json::{Value, json};
use std::fmt::Write;
use unbraid::config::{CatalogueEntry, METHODS, TERMS, nearest};

/// Arguments of `unbraid objectives`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  unbraid objectives
  unbraid objectives beta-tcvae total-correlation
  unbraid train --set objective.name=composed \\
    --set 'objective.terms=[\"kl\", { name = \"mmd\", weight = 10 }]'")]
pub(crate) struct ObjectivesArgs {
    /// Methods and terms to show (default: all)
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: TextFormat,
}

/// Lists methods and terms.
///
/// # Errors
/// If there is no method and no term of a name.
pub(crate) fn run(args: &ObjectivesArgs) -> Outcome {
    let known = || METHODS.iter().map(|method| method.name).chain(TERMS.iter().map(|term| term.name));
    for name in &args.names {
        if !known().any(|known| known == name) {
            let hint = match nearest(name, known()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`unbraid objectives` lists methods and terms".to_owned(),
            };
            return Err(usage(format!("unknown method or term `{name}`\nhint: {hint}")));
        }
    }
    let wanted = |name: &str| args.names.is_empty() || args.names.iter().any(|other| other == name);
    let methods: Vec<CatalogueEntry> = METHODS.into_iter().filter(|method| wanted(method.name)).collect();
    let terms: Vec<CatalogueEntry> = TERMS.into_iter().filter(|term| wanted(term.name)).collect();
    print(&match args.format {
        TextFormat::Text => as_text(&methods, &terms),
        TextFormat::Json => pretty_json(&json!({ "methods": as_json(&methods), "terms": as_json(&terms) }))?,
    })
}

fn as_json(entries: &[CatalogueEntry]) -> Vec<Value> {
    let object = |entry: &CatalogueEntry| {
        let CatalogueEntry { name, formula, source, example } = entry;
        json!({ "name": name, "formula": formula, "source": source, "example": example })
    };
    entries.iter().map(object).collect()
}

/// For people: a paragraph of at most 80 columns for each.
fn as_text(methods: &[CatalogueEntry], terms: &[CatalogueEntry]) -> String {
    let mut text = String::new();
    let named = methods.iter().map(|entry| ("", entry)).chain(terms.iter().map(|entry| ("term ", entry)));
    for (kind, CatalogueEntry { name, formula, source, example }) in named {
        let _ = writeln!(text, "{kind}{name}");
        let _ = writeln!(text, "  {}", wrapped(formula, 76, 2));
        let _ = writeln!(text, "  {}", wrapped(source, 76, 2));
        let _ = writeln!(text, "    {}\n", wrapped(example, 74, 6));
    }
    text.push_str(
        "A method is chosen by --set objective.name=NAME of `unbraid train`, its options\n\
         by --set objective.KEY=VALUE. Terms are put together in a file:\n\n  \
         [objective]\n  name = \"composed\"\n  terms = [\n    { name = \"kl\", weight = 1.0 },\n    \
         { name = \"mmd\", weight = { from = 0.0, to = 10.0, end = 10000 } },\n  ]\n",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_fits_eighty_columns_and_has_everything() {
        let text = as_text(&METHODS, &TERMS);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for name in METHODS.iter().map(|method| method.name) {
            assert!(text.contains(&format!("\n{name}\n")) || text.starts_with(name), "{name}");
        }
        for name in TERMS.iter().map(|term| term.name) {
            assert!(text.contains(&format!("\nterm {name}\n")), "{name}");
        }
    }
}
