//! `unbraid study report`: the page of a study from what its run directories hold.

use crate::support::Bench;
use crate::support::table_study::{table, write_directory};
use std::fs;
use unbraid::run::State;
use unbraid_report::study_page;
use unbraid_study::Row;

#[test]
fn the_page_of_a_directory_has_the_numbers_of_its_runs() {
    let bench = Bench::new();
    // Six methods with two values and two seeds; each pair of rows is one setting.
    let mut study = table(&["shapes"], 2, 2);
    let mig = study.number_column("mig").unwrap();
    let settings: Vec<String> = study
        .rows
        .chunks_exact(2)
        .map(|pair| {
            let [one, other] = [pair[0].numbers[mig], pair[1].numbers[mig]];
            // The deviation of two numbers, with n - 1 in the denominator.
            format!("{:.3} ± {:.3}", (one + other) / 2.0, (one - other).abs() / 2_f64.sqrt())
        })
        .collect();
    let numbers = vec![f64::NAN; study.number_keys.len()];
    for (state, name) in [(State::Failed, "the-failed-one"), (State::Queued, "later")] {
        let row = Row { state, name: name.to_owned(), numbers: numbers.clone(), ..study.rows[0].clone() };
        study.rows.push(row);
    }
    write_directory(&bench.path("small"), &study);
    bench.succeed(&["study", "report", "small", "--quiet"], &[]);
    let html = fs::read_to_string(bench.path("small/report.html")).unwrap();
    for fact in [
        "<dt>runs</dt><dd>26</dd>",
        "<dt>done</dt><dd>24</dd>",
        "<dt>failed</dt><dd>1</dd>",
        "<dt>not started</dt><dd>1</dd>",
        "1 run failed: the-failed-one.",
        "UDR compares runs",
    ] {
        assert!(html.contains(fact), "{fact}");
    }
    for setting in &settings {
        assert!(html.contains(setting), "{setting}");
    }
}

#[test]
fn the_page_needs_nothing_else_and_is_the_same_every_time() {
    let bench = Bench::new();
    write_directory(&bench.path("six"), &table(&["shapes"], 3, 3));
    bench.succeed(&["study", "report", "six", "--quiet", "-o", "one.html"], &[]);
    bench.succeed(&["study", "report", "six", "--quiet", "-o", "two.html"], &[]);
    let html = fs::read_to_string(bench.path("one.html")).unwrap();
    assert_eq!(html, fs::read_to_string(bench.path("two.html")).unwrap());
    for reference in ["http://", "https://", "src=\"/", "url(", "@import"] {
        let found = html.matches(reference).count();
        // The namespace of SVG is a name, not an address.
        assert_eq!(
            found,
            html.matches("http://www.w3.org").count() * usize::from(reference == "http://"),
            "{reference}"
        );
    }
    assert!(!html.contains("NaN") && !html.contains(">inf"), "no number that is none is drawn");
}

#[test]
fn a_page_is_not_written_over_another_file() {
    let bench = Bench::new();
    write_directory(&bench.path("small"), &table(&["shapes"], 1, 1));
    fs::write(bench.path("mine.html"), "my notes").unwrap();
    let refused = |more: &[&str], message: &str| {
        bench.refuse(&[&["study", "report", "small", "--quiet", "-o"], more].concat(), message);
    };
    refused(
        &["mine.html", "--overwrite"],
        "error: mine.html: found a file that unbraid did not write, expected none or an earlier page\n\
         hint: move it out of the way",
    );
    assert_eq!(fs::read_to_string(bench.path("mine.html")).unwrap(), "my notes");
    refused(&["mine.html"], "error: mine.html: the file exists\nhint: --overwrite replaces it");
    refused(&["missing/page.html"], "error: missing/page.html: its directory does not exist");
    refused(&["page.txt"], "error: page.txt: expected a name that ends in .html");
    // The study's own page is there to be replaced, whether one says so or not.
    for more in [&["--overwrite"][..], &[], &["--overwrite"]] {
        bench.succeed(&[&["study", "report", "small", "--quiet"], more].concat(), &[]);
    }
    bench.refuse(
        &["study", "report", "nothing"],
        "error: nothing: found nothing, expected the directory of a study\nhint: `unbraid study new` creates one",
    );
}

/// 6 methods x 6 hyper-parameters x 50 seeds x 6 data sets, as many as disentanglement_lib has.
#[test]
fn ten_thousand_runs_make_a_page_of_bounded_size() {
    let data = ["dsprites", "color_dsprites", "noisy_dsprites", "scream_dsprites", "smallnorb", "cars3d"];
    let table = table(&data, 6, 50);
    assert_eq!(table.rows.len(), 10_800);
    let html = study_page("large", table, &[]).unwrap();
    assert!(html.len() < 20_000_000, "{} bytes", html.len());
    assert!(html.contains("<dt>done</dt><dd>10,800</dd>"));
    assert!(html.contains("of 1,800 runs, one in 6 is drawn"), "what is left out is said");
}
