//! `unbraid study plan`.

use crate::error::Outcome;
use crate::format::{TextFormat, duration, print};
use crate::terminal::{Terminal, log_line};
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;
use unbraid_study::{CostClass, Plan, RunProgress, StepTime, StudyDirectory};

/// Which study, and how much to say of it.
#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    /// The directory of the study
    #[arg(value_name = "STUDY")]
    study: PathBuf,
    /// Do not measure the time per step
    #[arg(long)]
    no_timing: bool,
    /// Plan in a directory whose runs all belong to another study; they are left alone
    #[arg(long)]
    force: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    format: TextFormat,
}

/// How long all measurements take together, about.
const BUDGET: Duration = Duration::from_secs(5);

/// Plans the study, writes its manifest, and says what it will cost.
///
/// # Errors
/// If the study is wrong, the directory belongs to another one, or the manifest cannot be written.
pub(crate) fn run(args: &PlanArgs) -> Outcome {
    let study = StudyDirectory::open(&args.study)?;
    let plan = Plan::of(&study)?;
    plan.write(&study, args.force)?;
    match args.format {
        TextFormat::Text => {
            print(&as_text(&plan, &study))?;
            if args.no_timing { Ok(()) } else { print(&cost_as_text(&measure(&plan, args))) }
        }
        TextFormat::Json => {
            let classes = if args.no_timing { None } else { Some(measure(&plan, args)) };
            print(&format!("{:#}\n", as_json(&plan, &study, classes.as_deref())))
        }
    }
}

fn measure(plan: &Plan, args: &PlanArgs) -> Vec<CostClass> {
    if args.format == TextFormat::Text {
        log_line("measuring the time of a step; Ctrl-C leaves it out, the plan is written");
    }
    plan.measure_cost(BUDGET, &Terminal::new(args.format == TextFormat::Json))
}

/// Lines with a name before them, as everywhere.
fn line(text: &mut String, name: &str, value: &str) {
    let _ = writeln!(text, "{name:12} {value}");
}

fn as_text(plan: &Plan, study: &StudyDirectory) -> String {
    let mut text = String::new();
    if let Some(name) = &plan.name {
        line(&mut text, "study", name);
    }
    line(&mut text, "runs", &plan.manifest.entries.len().to_string());
    let methods = plan.methods();
    let width = methods.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    for (label, count) in &methods {
        line(&mut text, "", &format!("{label:width$}  {count}"));
    }
    let [new, begun, trained] =
        [RunProgress::New, RunProgress::Begun, RunProgress::Trained].map(|state| plan.count(state));
    line(&mut text, "kept", &format!("{}, {trained} of them trained", begun + trained));
    line(&mut text, "new", &new.to_string());
    if !plan.orphaned.is_empty() {
        let more = if plan.orphaned.len() > 1 { ", ..." } else { "" };
        let example = format!("{}{more}", plan.orphaned[0]);
        let count = plan.orphaned.len();
        line(
            &mut text,
            "orphaned",
            &format!("{count} no longer in the study, left alone in runs/: {example}"),
        );
    }
    line(&mut text, "manifest", &study.manifest().display().to_string());
    text
}

fn cost_as_text(classes: &[CostClass]) -> String {
    let several = classes.iter().map(|class| &class.data).collect::<BTreeSet<_>>().len() > 1;
    let name = |class: &CostClass| {
        if several { format!("{}, {}", class.method, class.data) } else { class.method.clone() }
    };
    let width = classes.iter().map(|class| name(class).chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    let mut sums = [0.0, 0.0];
    let mut unknown = 0;
    for (index, class) in classes.iter().enumerate() {
        let value = match (&class.step, class.core_hours()) {
            (step, Some(hours)) => {
                sums = [sums[0] + hours[0], sums[1] + hours[1]];
                let mark = if matches!(step, StepTime::Borrowed(_)) { " (as on other data)" } else { "" };
                let milliseconds = 1000.0 * step.seconds().unwrap_or(0.0);
                format!("{milliseconds:.1} ms a step, {} core-hours{mark}", in_hours(hours[0]))
            }
            (StepTime::Unknown(why), None) => {
                unknown += class.runs;
                format!("not measured: {}", why.lines().next().unwrap_or_default())
            }
            (_, None) => {
                unknown += class.runs;
                "not measured: the number of steps needs the data".to_owned()
            }
        };
        line(&mut text, if index == 0 { "step" } else { "" }, &format!("{:width$}  {value}", name(class)));
    }
    if unknown > 0 {
        line(
            &mut text,
            "unknown",
            &format!("what {unknown} of the runs cost; they are not in the sums below"),
        );
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let [all, left] = sums;
    line(&mut text, "core-hours", &format!("{} of training, {} of them left", in_hours(all), in_hours(left)));
    let wait = duration(left * 3600.0 / cores as f64);
    line(&mut text, "here", &format!("{wait} on {cores} cores, with a run on each; scoring comes on top"));
    text
}

fn in_hours(hours: f64) -> String {
    match hours {
        hours if hours >= 100.0 => format!("{hours:.0}"),
        hours if hours >= 1.0 => format!("{hours:.1}"),
        hours => format!("{hours:.3}"),
    }
}

fn as_json(plan: &Plan, study: &StudyDirectory, classes: Option<&[CostClass]>) -> Value {
    let methods: Vec<Value> =
        plan.methods().iter().map(|(name, runs)| json!({ "name": name, "runs": runs })).collect();
    let cost = classes.map(|classes| {
        let sum = |index: usize| -> f64 {
            classes.iter().filter_map(CostClass::core_hours).map(|hours| hours[index]).sum()
        };
        let unknown: usize =
            classes.iter().filter(|class| class.core_hours().is_none()).map(|class| class.runs).sum();
        json!({
            "core_hours": sum(0),
            "core_hours_left": sum(1),
            "unmeasured_runs": unknown,
            "classes": classes.iter().map(class_as_json).collect::<Vec<_>>(),
        })
    });
    json!({
        "name": plan.name,
        "manifest": study.manifest().display().to_string(),
        "runs": plan.manifest.entries.len(),
        "methods": methods,
        "trained": plan.count(RunProgress::Trained),
        "begun": plan.count(RunProgress::Begun),
        "new": plan.count(RunProgress::New),
        "orphaned": plan.orphaned,
        "cost": cost,
    })
}

fn class_as_json(class: &CostClass) -> Value {
    let why = match &class.step {
        StepTime::Unknown(why) => Some(why),
        StepTime::Measured(_) | StepTime::Borrowed(_) => None,
    };
    json!({
        "method": class.method,
        "data": class.data,
        "runs": class.runs,
        "left": class.left,
        "steps": class.steps,
        "steps_left": class.steps_left,
        "step_seconds": class.step.seconds(),
        "measured": matches!(class.step, StepTime::Measured(_)),
        "why_not": why,
    })
}
