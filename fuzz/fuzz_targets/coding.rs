#![no_main]

#[path = "../../crates/dsp/tests/support/hostile.rs"]
mod hostile;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::coding(bytes));
