//! For tests alone: a skip or an outcome that could not be judged goes on record, a wait has no deadline but a hang guard,
//! and an address belongs to one process.
//!
//! A test may end in four ways: it passes, it fails, it is skipped (something it needs is not here), or it is not judged
//! (the machine, as a witness saw, spoiled it). The last two are appended to the file that `TAKT_TEST_RECORD` names, which
//! is how `./test` lists them in its summary, and are printed on the real standard error, past the test harness. With
//! `TAKT_NO_SKIP=1`, as in CI, a skip is a failure. `./test` limits how many outcomes may stay unjudged.
//!
//! ```
//! # fn find(_: &str) -> Option<&'static str> { Some("/usr/bin/tshark") }
//! let Some(tshark) = find("tshark") else {
//!     return takt_testing::skip("tshark is not installed   (apt-get install tshark)");
//! };
//! let ready = takt_testing::wait_for("a port that listens", || Some(5201));
//! assert_eq!(ready, 5201);
//! ```

pub mod fixes;
pub mod prose;
mod ptp4l;
mod record;
mod run_delay;
mod wait;

use std::net::Ipv4Addr;

pub use ptp4l::Ptp4l;
pub use record::{not_judged, repeated, skip};
pub use run_delay::run_delay;
pub use wait::{HANG, wait_for};

/// A loopback address that no other running test process uses: 127.64.0.0 and up, by process number. `host` tells a test's
/// addresses apart.
///
/// Process numbers that are a multiple of 16384 apart share addresses; the kernel gives numbers in turn.
#[must_use]
pub fn loopback(host: u8) -> Ipv4Addr {
    let process = std::process::id() % (1 << 14);
    Ipv4Addr::new(127, 64 + (process >> 8) as u8, process as u8, host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_of_loopback_and_told_apart_by_host() {
        assert!(loopback(1).is_loopback());
        assert_ne!(loopback(1), loopback(2));
    }
}
