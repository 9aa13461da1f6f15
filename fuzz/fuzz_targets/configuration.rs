#![no_main]

use unbraid::config::Source;

// A configuration that is understood is written and read back as the same.
libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(config) = Source::parse(text, "fuzz") {
        assert_eq!(Source::parse(&config.to_toml(), "fuzz").expect("it was written by us"), config);
    }
});
