//! A run of the smallest size, for targets that read files of a run: `unbraid train --config
//! fuzz/seeds/run/config.toml` made its weights.
#![cfg(feature = "library")]

use std::path::PathBuf;

/// Its configuration.
const CONFIGURATION: &str = include_str!("../seeds/run/config.toml");
/// Its weights.
pub const WEIGHTS: &[u8] = include_bytes!("../seeds/checkpoint/last.safetensors");

/// Creates the run without its weights; `name` keeps targets that run at the same time apart.
pub fn run_directory(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("unbraid-fuzz-{name}-{}", std::process::id()));
    std::fs::create_dir_all(path.join("checkpoints"))
        .expect("the directory of temporary files can be written");
    std::fs::write(path.join("config.toml"), CONFIGURATION).expect("it can be written");
    path
}
