#![no_main]
//! An experiment file: an experiment, or an error that names a place in it.

use takt_lab::experiment::Experiment;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Err(error) = Experiment::parse("f", text) {
        assert!(!error.to_string().is_empty());
    }
});
