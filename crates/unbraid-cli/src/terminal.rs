//! What a person sees while waiting: progress bars on a terminal, plain lines elsewhere; always on standard error.

use crate::error::message;
use crate::format::{duration, print, without_controls};
use crate::score_table;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use unbraid::data::ImageShape;
use unbraid::data::progress::Progress;
use unbraid::metrics::Report;
use unbraid::run::RunPaths;
use unbraid::train::Row;
use unbraid::{Encoding, Observer, Trained, TrainingStart};

/// Work on fewer items than this is over too soon for a line of its own in a log.
const QUIET_BELOW: u64 = 1000;

/// Lines in a log are at least this far apart.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Shows the progress of long work, and prints the results of a training as they arrive.
#[derive(Debug)]
pub(crate) struct Terminal {
    bar: Mutex<Option<ProgressBar>>,
    training: ProgressBar,
    last_line: Mutex<Option<Instant>>,
    pace: Mutex<Option<Pace>>,
    quiet: bool,
}

/// What a training was when it started or resumed, and how its loss has developed.
#[derive(Clone, Copy, Debug)]
struct Pace {
    since: Instant,
    first_step: u64,
    steps: u64,
    /// What a second has many of: `images` or `rows`.
    points: &'static str,
    smoothed_loss: Option<f64>,
}

/// The weight of a new loss in the one that is shown: single batches differ too much to see where it goes.
const SMOOTHING: f64 = 0.02;

impl Pace {
    /// Adds a loss; returns the smoothed one.
    fn smooth(&mut self, loss: f64) -> f64 {
        let smoothed = self.smoothed_loss.map_or(loss, |before| before + SMOOTHING * (loss - before));
        *self.smoothed_loss.insert(smoothed)
    }

    /// The time that is left at a step, in words.
    fn left(&self, step: u64, elapsed: Duration) -> String {
        let done = step.saturating_sub(self.first_step).max(1);
        let seconds = elapsed.as_secs_f64() / done as f64 * self.steps.saturating_sub(step) as f64;
        duration(seconds)
    }
}

impl Terminal {
    /// Shows progress unless `quiet`. Results are printed in any case.
    pub(crate) fn new(quiet: bool) -> Self {
        Self {
            bar: Mutex::new(None),
            training: ProgressBar::hidden(),
            last_line: Mutex::new(None),
            pace: Mutex::new(None),
            quiet,
        }
    }

    /// One line on standard error, unless quiet.
    pub(crate) fn log(&self, message: &str) {
        if !self.quiet {
            log_line(message);
        }
    }

    fn with_bar(&self, act: impl FnOnce(&mut Option<ProgressBar>)) {
        // A poisoned lock means that a worker panicked; the bar is then of no interest any more.
        if let Ok(mut bar) = self.bar.lock() {
            act(&mut bar);
        }
    }

    fn is_drawn(&self) -> bool {
        !self.quiet && std::io::stderr().is_terminal()
    }
}

impl Progress for Terminal {
    fn start(&self, what: &str, total: u64) {
        if self.quiet {
            return;
        }
        if !self.is_drawn() {
            if total >= QUIET_BELOW {
                log_line(&format!("{what}: {total}"));
            }
            return;
        }
        let style = style("{msg} {wide_bar} {human_pos}/{human_len} {eta:>4}");
        let bar = ProgressBar::new(total).with_style(style).with_message(what.to_owned());
        self.with_bar(|slot| *slot = Some(bar));
    }

    fn advance(&self, items: u64) {
        self.with_bar(|slot| {
            if let Some(bar) = slot {
                bar.inc(items);
            }
        });
    }

    fn finish(&self) {
        self.with_bar(|slot| {
            if let Some(bar) = slot.take() {
                bar.finish_and_clear();
            }
        });
    }

    fn note(&self, message: &str) {
        if self.quiet {
            return;
        }
        self.with_bar(|slot| match slot {
            Some(bar) => bar.suspend(|| log_line(message)),
            None => log_line(message),
        });
    }
}

impl Observer for Terminal {
    fn training_started(&self, training: &TrainingStart<'_>) {
        let TrainingStart { run, objective, data, dataset_len, image_shape, step, steps } = *training;
        let verb = if step == 0 { "training" } else { "resuming" };
        self.log(&format!(
            "{verb} {objective} on {data} ({dataset_len} {}) in {}",
            points_of(image_shape),
            run.display()
        ));
        if let Ok(mut pace) = self.pace.lock() {
            let (since, points) = (Instant::now(), images_or_rows(image_shape));
            *pace = Some(Pace { since, first_step: step, steps, points, smoothed_loss: None });
        }
        if !self.is_drawn() {
            return;
        }
        let style = style("step {human_pos}/{human_len} {wide_bar} {msg}  {rate} steps/s  {eta:>4} left")
            .with_key("rate", |state: &ProgressState, text: &mut dyn fmt::Write| {
                // A bar that cannot be drawn is no reason to stop training.
                let _ = write!(text, "{:.1}", state.per_sec());
            });
        self.training.set_style(style);
        self.training.set_length(steps);
        self.training.set_position(step);
        self.training.set_draw_target(ProgressDrawTarget::stderr());
        self.training.reset_eta();
    }

    fn step(&self, step: u64, loss: f64) {
        if !self.is_drawn() {
            return;
        }
        if let Ok(mut pace) = self.pace.lock()
            && let Some(pace) = pace.as_mut()
        {
            self.training.set_message(format!("loss {:.1}", pace.smooth(loss)));
        }
        self.training.set_position(step);
    }

    fn row(&self, row: &Row, images_per_second: f64) {
        if self.quiet || self.is_drawn() {
            return;
        }
        let Ok(mut last) = self.last_line.lock() else { return };
        if last.is_none_or(|last| last.elapsed() >= BETWEEN_LINES) {
            *last = Some(Instant::now());
            let value = |key: &str| row.get(key).unwrap_or(f64::NAN);
            let held_out = row.get("validation/loss");
            let held_out = held_out.map(|loss| format!(" (held out {loss:.3})")).unwrap_or_default();
            let pace = self.pace.lock().ok().and_then(|pace| *pace);
            let (of, left) = pace.map_or_else(Default::default, |pace| {
                let left = pace.left(row.step, pace.since.elapsed());
                (format!(" of {}", pace.steps), format!(", {left} left"))
            });
            let points = pace.map_or("images", |pace| pace.points);
            // A posterior without a density has no KL divergence, unless a term estimates it.
            let kl = row.get("train/kl").map_or_else(String::new, |kl| format!("kl {kl:.3}, "));
            log_line(&format!(
                "step {}{of}: loss {:.3}{held_out}, reconstruction {:.3}, {kl}{images_per_second:.0} {points}/s{left}",
                row.step,
                value("train/loss"),
                value("train/reconstruction"),
            ));
        }
    }

    fn training_stopped(&self) {
        self.training.finish_and_clear();
    }

    fn stopped_early(&self, step: u64, best_step: u64) {
        self.log(&format!(
            "stopped early at step {step}: the held-out loss has not improved since step {best_step}"
        ));
    }

    fn trained(&self, trained: &Trained<'_>) {
        print_result(&losses(trained));
    }

    fn already_trained(&self, run: &Path, step: u64) {
        log_line(&format!("{}: already finished after {step} steps", run.display()));
    }

    fn already_stopped_early(&self, run: &Path, step: u64, best_step: u64) {
        let run = run.display();
        log_line(&format!(
            "{run}: already finished after {step} steps: it stopped early, since the held-out loss has not improved since step \
             {best_step}\n\
             hint: to train on with more patience, start a new run from its weights: --config {run}/config.toml --init {run} --set \
             training.early_stop.patience=N --out DIRECTORY"
        ));
    }

    fn evaluation_started(&self) {
        self.log("evaluating; the run is saved, and Ctrl-C ends at once");
    }

    fn encoded(&self, encoding: &Encoding<'_>) {
        let Encoding { run, images, image_shape, seconds, step, replaces } = *encoding;
        let points = images_or_rows(image_shape);
        self.log(&format!("{}: {images} {points} encoded in {seconds:.1} s at step {step}", run.display()));
        if let Some(earlier) = replaces {
            self.log(&format!(
                "{}: replacing the earlier scores (step {}, seed {}, {})",
                RunPaths::new(run).scores().display(),
                earlier.step,
                earlier.seed,
                earlier.representation
            ));
        }
    }

    fn kept(&self, run: &Path, kept: usize, computed: usize) {
        self.log(&format!(
            "{}: {kept} scores kept, {computed} computed; --recompute discards them",
            RunPaths::new(run).scores().display()
        ));
    }

    fn scored(&self, scores: &Report) {
        print_result(&format!("\n{}", score_table::in_short(scores)));
    }

    fn reported(&self, page: &Path) {
        print_result(&format!("\n{:15} {}\n", "report", page.display()));
    }

    fn also_failed(&self, error: &(dyn std::error::Error + 'static)) {
        log_line(&format!("error: {}", unbraid::error_chain(error)));
    }
}

/// A terminal that leaves printing the scores to its command.
#[derive(Debug)]
pub(crate) struct QuietScores(pub(crate) Terminal);

impl Progress for QuietScores {
    fn start(&self, what: &str, total: u64) {
        self.0.start(what, total);
    }

    fn advance(&self, items: u64) {
        self.0.advance(items);
    }

    fn finish(&self) {
        self.0.finish();
    }

    fn note(&self, message: &str) {
        self.0.note(message);
    }
}

impl Observer for QuietScores {
    fn encoded(&self, encoding: &Encoding<'_>) {
        self.0.encoded(encoding);
    }

    fn kept(&self, run: &Path, kept: usize, computed: usize) {
        self.0.kept(run, kept, computed);
    }
}

/// Prints a result to standard output. A failure to print must not stop the work that is still to be done.
fn print_result(text: &str) {
    if let Err(error) = print(text) {
        log_line(&message(&error));
    }
}

/// Whether an image is a row of a table, which is an image of one row to everything else.
fn is_row(shape: ImageShape) -> bool {
    matches!(shape, ImageShape { height: 1, channels: 1, .. })
}

fn images_or_rows(shape: ImageShape) -> &'static str {
    if is_row(shape) { "rows" } else { "images" }
}

/// What a data set consists of: images, or the rows of a table.
pub(crate) fn points_of(shape: ImageShape) -> String {
    if is_row(shape) { format!("rows of {} columns", shape.width) } else { format!("images of {shape}") }
}

/// The final losses, the weights that scores and the page are of if those are not the last ones, and where everything is.
fn losses(trained: &Trained<'_>) -> String {
    let Trained { run, steps, best, row } = *trained;
    let mut lines = vec![("steps", steps.to_string())];
    let of_unit = |key: &str| key.contains("/kl_unit/") || key.contains("/kl_categorical/");
    for (key, value) in row.iter().flat_map(|row| &row.values).filter(|(key, _)| !of_unit(key)) {
        lines.push((key.strip_prefix("train/").unwrap_or(key), format!("{value:.3}")));
    }
    lines.extend(best.map(|best| ("weights", format!("step {best} (best)"))));
    lines.push(("run", run.display().to_string()));
    let width = lines.iter().map(|(name, _)| name.len()).max().unwrap_or_default().max(15);
    lines.iter().map(|(name, value)| format!("{name:width$} {value}\n")).collect()
}

/// The style of every bar.
pub(crate) fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("━╸ ")
}

/// One line on standard error. A failure to print it is ignored.
pub(crate) fn log_line(message: &str) {
    let _ = writeln!(std::io::stderr(), "{}", without_controls(message));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_follows_from_what_is_done() {
        let mut pace = Pace {
            since: Instant::now(),
            first_step: 1000,
            steps: 3000,
            points: "images",
            smoothed_loss: None,
        };
        // 500 steps in 100 seconds, 1500 to go.
        assert_eq!(pace.left(1500, Duration::from_secs(100)), "5 min");
        assert_eq!(pace.left(3000, Duration::from_secs(400)), "0.0 s");
        assert_eq!(pace.smooth(100.0), 100.0);
        assert_eq!(pace.smooth(50.0), 99.0);
    }

    #[test]
    fn the_final_losses_are_aligned() {
        let values = [("train/loss", 1.5), ("train/kl_unit/0", 0.5), ("validation/reconstruction", 2.25)];
        let values = values.map(|(key, value)| (key.to_owned(), value)).to_vec();
        let row = Row { step: 20, steps: 20, values };
        let trained = Trained { run: Path::new("runs/a"), steps: 20, best: Some(15), row: Some(&row) };
        let expected = "steps                     20\n\
                        loss                      1.500\n\
                        validation/reconstruction 2.250\n\
                        weights                   step 15 (best)\n\
                        run                       runs/a\n";
        assert_eq!(losses(&trained), expected);
        let trained = Trained { run: Path::new("a"), steps: 7, best: None, row: None };
        assert_eq!(losses(&trained), "steps           7\nrun             a\n");
    }

    #[test]
    fn tables_have_rows_and_folders_have_images() {
        assert_eq!(points_of(ImageShape::new(1, 64, 1)), "rows of 64 columns");
        assert_eq!(points_of(ImageShape::new(64, 64, 3)), "images of 64 x 64 x 3");
    }
}
