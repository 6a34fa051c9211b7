#![no_main]
//! Metadata of a recording: what is read can be written and read again, meaning the same.

use std::path::Path;

use takt_dsp::sigmf::Metadata;

libfuzzer_sys::fuzz_target!(|text: &[u8]| {
    let Ok(metadata) = Metadata::parse(Path::new("f"), text) else { return };
    let again = Metadata::parse(Path::new("f"), metadata.to_json().as_bytes());
    assert_eq!(again.expect("it was read before"), metadata);
});
