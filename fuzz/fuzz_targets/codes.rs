#![no_main]

use unbraid::Run;
use unbraid::data::formats::fuzzing::on_file;
use unbraid::evaluate::codes_file;
use unbraid::inference::codes_input;

thread_local! {
    /// The run whose codes are decoded.
    static RUN: Run = {
        let directory = unbraid_fuzz::run_directory("codes");
        std::fs::write(directory.join("checkpoints/last.safetensors"), unbraid_fuzz::WEIGHTS).expect("it can be written");
        Run::open(directory).expect("the seeds are a run")
    };
}

// Codes to be scored, and codes to be decoded: an archive, JSON or CSV, by its first byte.
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let ending = match bytes.first() {
        Some(b'P') => "npz",
        Some(b'{') => "json",
        _ => "csv",
    };
    on_file(bytes, ending, |path| {
        if ending == "npz" {
            drop(codes_file::read(path));
        }
        RUN.with(|run| drop(codes_input::read(run, path)));
    });
});
