#![no_main]

use unbraid::import::fuzzing;

libfuzzer_sys::fuzz_target!(|text: &str| drop(fuzzing::settings(text)));
