#![no_main]

#[path = "../../crates/phy/tests/support/hostile.rs"]
mod hostile;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hostile::component(bytes));
