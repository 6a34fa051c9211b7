#![no_main]
//! Texts that a person may write behind a flag.

use takt_base::{parse_bytes, parse_duration, parse_number};
use takt_emulator::{fault::Fault, n200::Board, policy::Cidr, sink, source};
use takt_lab::experiment::Need;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let _ = (parse_number(text), parse_duration(text), parse_bytes(text));
    let _ = (text.parse::<Cidr>(), text.parse::<Board>(), text.parse::<Need>());
    // An understood text can be said again.
    if let Ok(fault) = text.parse::<Fault>() {
        assert_eq!(fault.to_string().parse::<Fault>(), Ok(fault));
    }
    if let Ok(spec) = text.parse::<sink::Spec>() {
        assert_eq!(spec.to_string().parse::<sink::Spec>().ok(), Some(spec));
    }
    let _ = text.parse::<source::Spec>();
});
