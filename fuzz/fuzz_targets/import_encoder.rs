#![no_main]

use unbraid::import::fuzzing;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| drop(fuzzing::encoder(bytes)));
