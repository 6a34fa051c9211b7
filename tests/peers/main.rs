//! The software N200 before judges nobody here wrote: Debian's UHD 4.3, GNU Radio, SoapySDR and tshark, unmodified.
//!
//! One row of `docs/reference/acceptance.md` is one test, and one command runs it:
//!
//! ```text
//! cargo test --release --test peers -- row_07 --nocapture
//! ```
//!
//! A machine without the peers skips aloud; with `TAKT_REQUIRE_PEERS=1` (as in CI) a missing peer is a failure. These
//! are real-time programs on a shared machine: a row may be repeated, aloud and at most five times, but only when the
//! emulator itself counted that it was late or a watcher above every other thread found a core gone for milliseconds. At
//! full rate (row 7 and 8) a machine that was disturbed each time judges nothing, aloud; an error of an undisturbed
//! attempt always fails. Rows take turns, whatever the number of test threads.

#![allow(clippy::print_stderr)] // a test that skips or repeats says so

mod acceptance;
mod devtest;
mod dissect;
mod emulator;
mod letters;
mod namespaces;
mod peer;
mod row;
mod witness;
