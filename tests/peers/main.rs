//! The software radios before judges from elsewhere: Debian's UHD 4.3, GNU Radio, SoapySDR and tshark, unmodified.
//!
//! One row of `docs/internals/acceptance.md` is one test, and one command runs it:
//!
//! ```text
//! cargo test --release --package takt --test peers -- row_07 --nocapture
//! ```
//!
//! The program under test is the one that `TAKT_PROGRAM` names, otherwise the one that was built with the tests. A machine
//! without the peers skips, on record. Rows in the module `alone` ask how fast or how soon, and run one after the other
//! (`--test-threads=1 alone::`); all others may run side by side (`--test-threads=3 --skip alone::`): each radio has an address
//! of its own, and two runs never meet.
//!
//! UHD's programs and the emulator run at real-time priority where the process may give it, so that ordinary programs
//! beside them do not count. The rule about repeating in [`row`] covers the rest.

mod acceptance;
mod alone;
mod calibration;
mod devtest;
mod dissect;
mod emulator;
mod field;
mod letters;
mod namespaces;
mod peer;
mod row;
mod share;
#[path = "../support/tone.rs"]
mod tone;
mod witness;
mod x310;
