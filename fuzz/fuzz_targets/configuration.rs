#![no_main]

use unbraid::config::Source;
use unbraid::data::ImageShape;
use unbraid::train::check_memory;

// A configuration that is understood is written and read back as the same. Texts are compared, as NaN is not
// equal to itself. The memory that its training would take can be told, whatever its numbers are.
libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(config) = Source::parse(text, "fuzz") {
        let written = config.to_toml();
        let read = Source::parse(&written, "fuzz").expect("it was written by us");
        assert_eq!(read.to_toml(), written);
        drop(check_memory(&config, ImageShape::new(64, 64, 3)));
    }
});
