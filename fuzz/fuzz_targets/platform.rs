#![no_main]
//! A platform file of any bytes is read, with all its figures sound, or refused with a place inside the text and a fix. Never a
//! panic.

use takt_mapper::Platform;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    match Platform::parse("fuzzed.toml", &text) {
        Ok(platform) => {
            assert!(!platform.cores().is_empty());
            for (index, core) in platform.cores().iter().enumerate() {
                assert!(core.node < platform.nodes().len() && core.class < platform.classes().len());
                let spec = platform.class_of(index).spec;
                assert!(spec.capacities.is_none_or(|capacities| capacities.wrong().is_none()));
                assert!(spec.prices.is_none_or(|prices| prices.wrong().is_none()));
            }
        }
        Err(error) => {
            assert!(!error.fix().is_empty() && !error.to_string().is_empty());
            let place = error.place.expect("from a file");
            assert!(place.source.text.get(place.span).is_some() && place.line >= 1 && place.column >= 1);
        }
    }
});
