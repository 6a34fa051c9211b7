//! The cell's reference signal: against another implementation, and through channels that are known.
//!
//! `TAKT_LONG_TESTS` takes more subframes; `--nocapture` then prints what each measured.

#![allow(clippy::print_stdout, reason = "figures that a long run measures")]

mod channel;
mod estimation;
pub mod file;
mod hostile;
mod mapping;
mod quality;
mod signal;
mod tracking;

/// How many subframes a statistical test takes.
fn subframes(short: u32, long: u32) -> u32 {
    if std::env::var_os("TAKT_LONG_TESTS").is_some() { long } else { short }
}
