//! `unbraid metrics`: the scores and their options.

use crate::error::Outcome;
use crate::format::{TextFormat, pretty_json, print, wrapped};
use clap::Args;
use serde_json::{Value, json};
use std::fmt::Write;
use unbraid::metrics::{Description, Needs, OptionInfo, Registry, registry};

/// Arguments of `unbraid metrics`.
#[derive(Args, Debug)]
pub(crate) struct MetricsArgs {
    /// Metrics to show (default: all)
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: TextFormat,
}

/// Lists metrics.
///
/// # Errors
/// If there is no metric of that name.
pub(crate) fn run(args: &MetricsArgs) -> Outcome {
    let registry = registry::shared();
    let metrics: Vec<&Description> = if args.names.is_empty() {
        registry.iter().collect()
    } else {
        args.names.iter().map(|name| registry.find(name)).collect::<Result<_, _>>()?
    };
    print(&match args.format {
        TextFormat::Text => as_text(registry, &metrics)?,
        TextFormat::Json => pretty_json(
            &metrics.iter().map(|metric| as_json(registry, metric)).collect::<Outcome<Vec<_>>>()?,
        )?,
    })
}

/// For people: a paragraph of at most 80 columns for each metric.
fn as_text(registry: &Registry, metrics: &[&Description]) -> Outcome<String> {
    let mut text = String::new();
    for metric in metrics {
        let asked = if metric.by_default { "" } else { "; on request only" };
        let _ = writeln!(text, "{}", metric.name);
        let _ = writeln!(text, "  {}", wrapped(&metric.meaning, 76, 2));
        let _ = writeln!(text, "  {}; {}{asked}", metric.direction, range(metric));
        let needs = needs(metric.needs);
        if !needs.is_empty() {
            let _ = writeln!(text, "  {}", wrapped(&format!("needs {}", needs.join(", ")), 76, 2));
        }
        let keys: Vec<&str> = metric.keys().collect();
        if keys != [metric.name.as_str()] {
            let _ = writeln!(text, "  {}", wrapped(&format!("numbers: {}", keys.join(", ")), 76, 2));
        }
        for option in registry.options(&metric.name)? {
            let _ = writeln!(text, "    {}", wrapped(&option_in_words(option), 74, 6));
        }
        text.push('\n');
    }
    text.push_str(
        "Options are set by --set sap.predictor=threshold of `unbraid evaluate`, by\n\
         --set evaluation.sap.predictor=threshold of `unbraid train`, or in a file:\n\n  \
         [evaluation.sap]\n  predictor = \"threshold\"\n",
    );
    Ok(text)
}

fn range(metric: &Description) -> String {
    match metric.range {
        (low, high) if low.is_finite() && high.is_finite() => format!("{} to {}", short(low), short(high)),
        (low, _) if low.is_finite() => format!("{} and above", short(low)),
        (_, high) if high.is_finite() => format!("at most {}", short(high)),
        _ => "any number".to_owned(),
    }
}

/// A bound with few digits: ln 20 is not worth more.
fn short(number: f64) -> String {
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn needs(needs: Needs) -> Vec<&'static str> {
    let Needs { factors, test_points, log_variances, clusters, factor_kinds, reconstructions } = needs;
    [
        (factors, "factors"),
        (test_points, "test points"),
        (log_variances, "log-variances"),
        (clusters, "categorical units"),
        (factor_kinds, "kinds of factors"),
        (reconstructions, "reconstruction errors"),
    ]
    .into_iter()
    .filter_map(|(needed, word)| needed.then_some(word))
    .collect()
}

/// `bins = 20: bins of equal width for each unit (a whole number, 2 to 65536)`.
fn option_in_words(option: &OptionInfo) -> String {
    let OptionInfo { name, meaning, expected, default, only_with, .. } = option;
    let default = if default.is_null() { "\"none\"".to_owned() } else { default.to_string() };
    let with =
        only_with.as_ref().map_or_else(String::new, |(other, word)| format!(", with {other} = \"{word}\""));
    format!("{name} = {default}{with}: {meaning} ({expected})")
}

fn as_json(registry: &Registry, metric: &Description) -> Outcome<Value> {
    let options = registry.options(&metric.name)?;
    let options: Vec<Value> = options
        .iter()
        .map(|option| {
            let only_with =
                option.only_with.as_ref().map(|(option, value)| json!({ "option": option, "value": value }));
            json!({
                "name": option.name,
                "meaning": option.meaning,
                "expected": option.expected,
                "default": option.default,
                "only_with": only_with,
            })
        })
        .collect();
    let numbers: Vec<Value> =
        metric.numbers.iter().map(|number| json!({ "key": number.key, "label": number.label })).collect();
    let bound = |bound: f64| bound.is_finite().then_some(bound);
    Ok(json!({
        "name": metric.name,
        "aliases": metric.aliases,
        "meaning": metric.meaning,
        "direction": metric.direction.to_string(),
        "range": [bound(metric.range.0), bound(metric.range.1)],
        "numbers": numbers,
        "needs": needs(metric.needs),
        "by_default": metric.by_default,
        "interventional": metric.interventional,
        "options": options,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_fits_eighty_columns_and_has_everything() {
        let registry = registry::shared();
        let metrics: Vec<&Description> = registry.iter().collect();
        let text = as_text(registry, &metrics).unwrap();
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for metric in metrics {
            assert!(text.contains(&format!("\n{}\n", metric.name)) || text.starts_with(&metric.name));
            let json = as_json(registry, metric).unwrap();
            assert_eq!(
                json["options"].as_array().unwrap().len(),
                registry.options(&metric.name).unwrap().len()
            );
        }
        for part in [
            "prune = 0.05: units with a smaller standard deviation do not vote",
            "predictor = \"svm\": ",
            "\"threshold\"",
            "0 to 1",
            "0 and above; on request only",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
}
