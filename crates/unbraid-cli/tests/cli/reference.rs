//! What the command says of itself: the reference of the configuration, and help.

use crate::support::Bench;

#[test]
fn the_reference_names_every_table_and_key() {
    let bench = Bench::new();
    let text = bench.expect_output(&["config", "reference"]);
    assert_eq!(text, unbraid::config::REFERENCE);
    for part in [
        "## `[training]`\n",
        "| `keep_best` | true or false | `false` |",
        "| `batch_size` | a whole number | `64` | Images per step. |",
        "| `beta` | a number or a ramp: [Schedules](#schedules) | required |",
        "### `name = \"dip-vae-ii\"`\n",
        "| `leak` | a number | `0.2` |",
        "| `columns` | names joined by `+`, or a list of them | all numbers | columns",
        "| `sap.predictor` |",
    ] {
        assert!(text.contains(part), "{part}");
    }
    // Nothing of Rust is left in it.
    for word in ["Option<", "Vec<", "usize", "u64", "f64", "Config`", "struct "] {
        assert!(!text.contains(word), "{word}");
    }
}

#[test]
fn help_is_a_command() {
    let bench = Bench::new();
    let plain = bench.expect_output(&["--help"]);
    assert_eq!(bench.expect_output(&["help"]), plain);
    assert!(plain.contains("\n  best") && plain.contains("\n  config"), "{plain}");
    assert_eq!(bench.expect_output(&["help", "train"]), bench.expect_output(&["train", "--help"]));
}

#[test]
fn a_key_without_its_table_is_found() {
    let bench = Bench::new();
    bench.refuse(
        &["train", "--set", "beta=3"],
        "error: configuration: unknown key `beta`\nhint: did you mean `objective.beta`?",
    );
}
