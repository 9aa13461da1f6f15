#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| unbraid_data::formats::fuzzing::picture(bytes));
