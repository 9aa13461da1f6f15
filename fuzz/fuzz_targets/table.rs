#![no_main]

use unbraid_data::formats::fuzzing::on_file;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| on_file(bytes, "csv", |path| drop(
    unbraid_study::imported::read(path)
)));
