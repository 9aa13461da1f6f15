#![no_main]

use unbraid_data::formats::fuzzing::on_file;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| on_file(bytes, |path| drop(unbraid::model::read_state(path))));
