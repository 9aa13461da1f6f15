#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;
use unbraid::Run;
use unbraid::data::formats::fuzzing::on_file;
use unbraid::model::read_state;

/// A run without weights. Its configuration is that of the seeds.
static RUN: LazyLock<PathBuf> = LazyLock::new(|| unbraid_fuzz::run_directory("checkpoint"));

// The bytes as the state of an optimizer, and as the weights of a run, whose metadata is compared with the
// configuration and the tensors.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    on_file(bytes, "safetensors", |path| drop(read_state(path)));
    std::fs::write(RUN.join("checkpoints/last.safetensors"), bytes).expect("it can be written");
    drop(Run::open(RUN.as_path()));
});
