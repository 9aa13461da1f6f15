//! The seeds of the targets in `fuzz/`: what they start from is whole, so that what they change is reached.

use std::fs;
use std::path::{Path, PathBuf};
use unbraid::Run;
use unbraid::config::Source;
use unbraid::evaluate::codes_file;
use unbraid::inference::codes_input;
use unbraid::model::read_state;

fn seeds() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds")
}

/// As `fuzz/src/lib.rs` makes it for the targets `checkpoint` and `codes`.
#[test]
fn weights_and_configuration_are_a_run_and_codes_are_its_own() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("checkpoints")).unwrap();
    for (seed, name) in
        [("run/config.toml", "config.toml"), ("checkpoint/last.safetensors", "checkpoints/last.safetensors")]
    {
        fs::copy(seeds().join(seed), directory.path().join(name)).unwrap();
    }
    let run = Run::open(directory.path()).unwrap();
    assert_eq!((run.step(), run.units(), run.categorical_units()), (3, 2, &[3][..]));
    assert!(read_state(&seeds().join("checkpoint/optimizer.safetensors")).is_ok());
    for name in ["encoded.csv", "encoded.npz", "copied.json"] {
        let latents = codes_input::read(&run, &seeds().join("codes").join(name)).unwrap();
        // Two numbers and three classes.
        assert_eq!(latents.ncols(), 5, "{name}");
    }
    for name in ["scored.npz", "numpy_real.npz", "numpy_split.npz"] {
        codes_file::read(&seeds().join("codes").join(name)).unwrap();
    }
}

/// What the target `configuration` asserts of every text that is a configuration: its own seeds are presets,
/// which another test reads.
#[test]
fn the_configuration_of_the_run_is_written_as_it_was_read() {
    let text = fs::read_to_string(seeds().join("run/config.toml")).unwrap();
    assert_eq!(Source::parse(&text, "seed").unwrap().to_toml(), text);
}
