#![no_main]

#[path = "../../crates/lte-link/tests/support/mod.rs"]
mod support;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| support::forged::forged(bytes));
