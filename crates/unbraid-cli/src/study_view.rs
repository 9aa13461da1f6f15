//! What a person sees of a study that runs: a few lines that are drawn again and again on a terminal, and a
//! line for each run that ends elsewhere. Always on standard error.

use crate::format::duration;
use crate::terminal::{log_line, style};
use indicatif::{MultiProgress, ProgressBar};
use std::fmt::Write;
use std::io::IsTerminal;
use std::time::{Duration, Instant};
use unbraid_study::slurm::JobArray;
use unbraid_study::{Counts, EndedRun, InProgress, Message, RunEnd, Stage, StudyObserver};

/// No line is longer, whatever a run is called.
const WIDTH: usize = 79;

/// Runs that are shown one by one.
const LINES: usize = 8;

/// The view of a study.
#[derive(Debug)]
pub(crate) struct StudyView {
    started: Instant,
    /// How many runs had ended at the start.
    ended_before: Option<usize>,
    drawn: Option<Drawn>,
    /// The numbers of the jobs that were submitted.
    jobs: String,
}

#[derive(Debug)]
struct Drawn {
    all: MultiProgress,
    summary: ProgressBar,
    lines: Vec<ProgressBar>,
}

impl Drawn {
    fn new() -> Self {
        let all = MultiProgress::new();
        let summary = all.add(ProgressBar::new(0).with_style(style("{wide_bar} {prefix}\n{wide_msg}")));
        Self { all, summary, lines: Vec::new() }
    }

    /// One line for each text, below the summary.
    fn set_lines(&mut self, texts: Vec<String>) {
        while self.lines.len() > texts.len()
            && let Some(line) = self.lines.pop()
        {
            line.finish_and_clear();
            self.all.remove(&line);
        }
        while self.lines.len() < texts.len() {
            self.lines.push(self.all.add(ProgressBar::new(0).with_style(style("{wide_msg}"))));
        }
        self.lines.iter().zip(texts).for_each(|(line, text)| line.set_message(text));
    }
}

impl StudyView {
    /// Draws if standard error is a terminal.
    pub(crate) fn new() -> Self {
        let drawn = std::io::stderr().is_terminal().then(Drawn::new);
        Self { started: Instant::now(), ended_before: None, drawn, jobs: String::new() }
    }

    /// The numbers of the jobs that were submitted, one a line.
    pub(crate) fn jobs(self) -> String {
        self.jobs
    }

    /// One line, above whatever is drawn.
    fn say(&self, message: &str) {
        match &self.drawn {
            Some(drawn) => drawn.all.suspend(|| log_line(message)),
            None => log_line(message),
        }
    }
}

impl StudyObserver for StudyView {
    fn is_watching(&self) -> bool {
        self.drawn.is_some()
    }

    fn progress(&mut self, counts: &Counts, running: &[InProgress<'_>]) {
        let before = *self.ended_before.get_or_insert(counts.ended());
        let Some(drawn) = &mut self.drawn else { return };
        let fractions: f64 = running.iter().map(fraction).sum();
        let done_here = (counts.ended() - before) as f64 + fractions;
        let left = (counts.all - counts.ended()) as f64 - fractions;
        drawn.summary.set_length(counts.all as u64);
        drawn.summary.set_position(counts.ended() as u64);
        drawn.summary.set_message(summary_line(counts));
        drawn.summary.set_prefix(rate(done_here, left, self.started.elapsed()));
        let mut texts: Vec<String> = running.iter().take(LINES).map(line).collect();
        if running.len() > LINES {
            texts.push(format!("and {} more", running.len() - LINES));
        }
        drawn.set_lines(texts);
    }

    fn run_ended(&mut self, counts: &Counts, ended: &EndedRun<'_>) {
        let EndedRun { entry, end, elapsed } = *ended;
        let (stage, error) = match end {
            RunEnd::Done => (Stage::Done, None),
            RunEnd::Interrupted => (Stage::Interrupted, None),
            RunEnd::Failed(error) => (Stage::Failed, Some(error)),
        };
        let word = stage.name();
        let time = duration(elapsed.as_secs_f64());
        let (ended, all) = (counts.ended(), counts.all);
        self.say(&format!("{ended}/{all} {word}: {} {} after {time}", entry.number, entry.name));
        if let Some(error) = error {
            self.say(error);
        }
    }

    fn message(&mut self, message: &Message<'_>) {
        self.say(&message.to_string());
    }

    fn finished(&mut self) {
        if let Some(mut drawn) = self.drawn.take() {
            drawn.set_lines(Vec::new());
            drawn.summary.finish_and_clear();
        }
    }

    fn array_submitted(&mut self, job: &str, array: &JobArray) {
        self.say(&format!("job {job}: tasks {} to {}", array.offset, array.offset + array.tasks - 1));
        let _ = writeln!(self.jobs, "{job}");
    }
}

fn fraction(running: &InProgress<'_>) -> f64 {
    if running.steps == 0 { 0.0 } else { running.step.min(running.steps) as f64 / running.steps as f64 }
}

/// `12/36 done  2 running  1 failed  21 pending`; what there is none of is left out.
fn summary_line(counts: &Counts) -> String {
    let mut text = format!("{}/{} done", counts.done, counts.all);
    for (count, word) in [
        (counts.running, Stage::Running.name()),
        (counts.elsewhere, "elsewhere"),
        (counts.failed, Stage::Failed.name()),
        (counts.interrupted, Stage::Interrupted.name()),
        (counts.pending(), Stage::Pending.name()),
    ] {
        if count > 0 {
            let _ = write!(text, "  {count} {word}");
        }
    }
    text
}

/// `14.2/h  2.5 h left`, in runs; nothing before anything is known.
fn rate(done_here: f64, left: f64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    if done_here <= 0.0 || seconds <= 0.0 {
        return String::new();
    }
    let rate = done_here / seconds;
    format!("{:.1}/h  {} left", rate * 3600.0, duration(left / rate))
}

/// `12 beta-vae-beta=4-seed=0-1a2b3c4d      1200/5000  24 %`
fn line(running: &InProgress<'_>) -> String {
    let InProgress { entry, step, steps } = running;
    let progress = match steps {
        0 => "starting".to_owned(),
        steps if step >= steps => "evaluating".to_owned(),
        _ => format!("{step}/{steps} {:3.0} %", (100.0 * fraction(running)).floor()),
    };
    let room = WIDTH.saturating_sub(progress.len() + 2);
    let name = shortened(&format!("{} {}", entry.number, entry.name), room);
    format!("{name:room$}  {progress}")
}

/// At most so many characters; the end of a name, where seed and hash stand, says more than its middle.
fn shortened(text: &str, room: usize) -> String {
    let count = text.chars().count();
    if count <= room {
        return text.to_owned();
    }
    let end = room / 2;
    let start = room.saturating_sub(end + 1);
    let (first, last) = (text.chars().take(start), text.chars().skip(count - end));
    first.chain(['…']).chain(last).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use unbraid::config::Source;
    use unbraid_study::Entry;

    fn entry(name: String) -> Entry {
        let configuration = Source::default().resolve().unwrap();
        let (hash, settings, paths) = (String::new(), BTreeMap::new(), BTreeMap::new());
        Entry { number: 10_799, name, hash, settings, configuration, paths }
    }

    #[test]
    fn the_summary_names_what_there_is_and_fits_eighty_columns() {
        let counts = Counts { all: 36, done: 12, running: 2, failed: 1, ..Counts::default() };
        assert_eq!(summary_line(&counts), "12/36 done  2 running  1 failed  21 pending");
        let counts =
            Counts { all: 1_080, done: 540, running: 64, elsewhere: 128, failed: 99, interrupted: 1 };
        assert!(summary_line(&counts).len() < 80, "{}", summary_line(&counts));
        assert_eq!(summary_line(&Counts::default()), "0/0 done");
    }

    /// Six runs in an hour; another twenty-one take three and a half.
    #[test]
    fn the_rate_says_when_the_rest_will_be_done() {
        assert_eq!(rate(6.0, 21.0, Duration::from_secs(3600)), "6.0/h  3.5 h left");
        assert_eq!(rate(0.0, 21.0, Duration::from_secs(3600)), "");
    }

    #[test]
    fn a_run_fits_eighty_columns_whatever_its_name() {
        for (length, step, steps, end) in [
            (20, 1200, 5000, "1200/5000  24 %"),
            (100, 300_000, 300_000, "evaluating"),
            (100, 0, 0, "starting"),
        ] {
            let entry = entry("ä".repeat(length));
            let text = line(&InProgress { entry: &entry, step, steps });
            assert_eq!(text.chars().count(), WIDTH, "{text}");
            assert!(text.starts_with("10799 ä") && text.ends_with(end), "{text}");
        }
        assert_eq!(shortened("abcdefghij", 5), "ab…ij");
    }
}
