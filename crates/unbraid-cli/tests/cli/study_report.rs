//! `unbraid study report`: the page of a study from what its run directories hold.

use crate::support::Bench;
use std::fs;
use unbraid::run::State;
use unbraid_report::study_page;
use unbraid_study::{Row, Table};

/// Three methods with two values of beta and two seeds; MIG is the row's number over a hundred.
fn by_hand() -> Table {
    let mut rows = Vec::new();
    for method in ["a-vae", "b-vae", "c<vae"] {
        for beta in [1.0, 4.0] {
            for seed in 0..2 {
                let number = rows.len();
                rows.push(Row {
                    number: Some(number),
                    seed: Some(seed),
                    settings: vec![Some(beta.into())],
                    numbers: vec![number as f64 / 100.0, 50.0 - number as f64, 10.0],
                    ..Row::named(format!("{method}-{beta}-{seed}").replace('<', "_"), method, "shapes")
                });
            }
        }
    }
    Table {
        setting_keys: vec!["objective.beta".to_owned()],
        number_keys: ["mig", "train/reconstruction", "train/kl"].map(str::to_owned).to_vec(),
        rows,
    }
}

#[test]
fn the_page_of_a_directory_has_its_sections_and_its_numbers() {
    let bench = Bench::new();
    let mut table = by_hand();
    table.rows.push(Row { state: State::Failed, numbers: vec![f64::NAN; 3], ..table.rows[0].clone() });
    table.rows[12].name = "the-failed-one".to_owned();
    table.rows.push(Row { state: State::Queued, name: "later".to_owned(), ..table.rows[12].clone() });
    crate::support::table_study::write_directory(&bench.path("small"), &table);
    bench.expect(&["study", "report", "small", "--quiet"], 0, &[]);
    let html = fs::read_to_string(bench.path("small/report.html")).unwrap();
    for heading in [
        "Findings",
        "Overview",
        "Scores by method",
        "Effect of the hyper-parameters",
        "Scores against reconstruction",
        "Best hyper-parameters",
        "Explained variance",
        "Agreement between scores",
        "Unsupervised model selection",
    ] {
        assert!(html.contains(&format!("-heading\">{heading}</h2>")), "{heading}");
    }
    for fact in [
        "<dt>runs</dt><dd>14</dd>",
        "<dt>done</dt><dd>12</dd>",
        "<dt>failed</dt><dd>1</dd>",
        "<dt>not started</dt><dd>1</dd>",
    ] {
        assert!(html.contains(fact), "{fact}");
    }
    assert!(html.contains("1 run failed: the-failed-one."));
    // The best setting of c<vae is beta = 4 with 0.10 and 0.11: the mean is 0.105, the deviation 0.01 / sqrt(2).
    assert!(html.contains("<strong>0.105 ± 0.007</strong> <span class=\"faint\">beta=4</span>"));
    // The mean of a-vae with beta = 1: 0 and 0.01.
    assert!(html.contains("<td class=\"number\">0.005 ± 0.007</td>"));
    // Medians of c<vae and b-vae: of 0.08 to 0.11 and 0.04 to 0.07.
    assert!(html.contains("c&lt;vae is best with 0.0950, before b-vae with 0.0550"));
    // Of the sum of squares 143 (numbers 0 to 11), 3 times 5 is within methods, and 6 times 0.5 within settings.
    assert!(
        html.contains(
            "the method explains 90\u{a0}%, the hyper-parameter another 8\u{a0}%, and 2\u{a0}% is left"
        ),
        "{html}"
    );
    assert!(!html.contains("<vae"), "names are escaped");
    assert!(html.contains("UDR compares runs"), "what is missing is said");
}

#[test]
fn the_page_needs_nothing_else_and_is_the_same_every_time() {
    let bench = Bench::new();
    crate::support::table_study::write_directory(
        &bench.path("six"),
        &crate::support::table_study::table(&["shapes"], 3, 3),
    );
    bench.expect(&["study", "report", "six", "--quiet", "-o", "one.html"], 0, &[]);
    bench.expect(&["study", "report", "six", "--quiet", "-o", "two.html"], 0, &[]);
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
    crate::support::table_study::write_directory(&bench.path("small"), &by_hand());
    fs::write(bench.path("mine.html"), "my notes").unwrap();
    bench.expect(
        &["study", "report", "small", "--quiet", "-o", "mine.html", "--overwrite"],
        2,
        &["did not write"],
    );
    assert_eq!(fs::read_to_string(bench.path("mine.html")).unwrap(), "my notes");
    bench.expect(&["study", "report", "small", "--quiet", "-o", "mine.html"], 2, &["mine.html"]);
    bench.expect(
        &["study", "report", "nothing"],
        2,
        &["nothing: found nothing, expected the directory of a study"],
    );
    bench.expect(&["study", "report", "small", "--quiet", "-o", "missing/page.html"], 2, &["missing"]);
}

/// 6 methods x 6 hyper-parameters x 50 seeds x 6 data sets, as many as disentanglement_lib has.
#[test]
fn ten_thousand_runs_make_a_page_of_bounded_size() {
    let data = ["dsprites", "color_dsprites", "noisy_dsprites", "scream_dsprites", "smallnorb", "cars3d"];
    let table = crate::support::table_study::table(&data, 6, 50);
    assert_eq!(table.rows.len(), 10_800);
    let html = study_page("large", table, &[]).unwrap();
    assert!(html.len() < 20_000_000, "{} bytes", html.len());
    assert!(html.contains("<dt>done</dt><dd>10,800</dd>"));
    assert!(html.contains("of 1,800 runs, one in 6 is drawn"), "what is left out is said");
}
