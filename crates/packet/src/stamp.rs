//! Arrival stamps: the kernel stamps datagrams with its real-time clock; the engine's clock is the monotonic one.
//!
//! The two run at the same rate (both are slewed alike) and differ by an offset that changes only when a program sets
//! the time of day. A reading of one between two readings of the other bounds that offset; the intersection of all
//! bounds soon pins it to some ten nanoseconds **and keeps it there**, so that differences between stamps, which is
//! what jitter is made of, are the kernel's own. A bound that does not meet the others means that the clock was set.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};
use takt_base::{Clock, MonoNs, WallClock};

use crate::sys::message::{Wants, recv_one};
use crate::sys::option;

/// Converts real-time stamps into monotonic ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StampClock {
    /// Bounds of real time minus monotonic time, ns, both inclusive.
    low_ns: i128,
    high_ns: i128,
}

impl StampClock {
    pub(crate) fn new() -> StampClock {
        let mut clock = StampClock { low_ns: i128::MIN, high_ns: i128::MAX };
        for _ in 0..8 {
            clock.look();
        }
        clock
    }

    /// Reads both clocks once.
    pub(crate) fn look(&mut self) {
        let before = WallClock.now();
        let real_ns = real_now_ns();
        let after = WallClock.now();
        self.bound(before, real_ns, after);
    }

    fn bound(&mut self, before: MonoNs, real_ns: i128, after: MonoNs) {
        let (low, high) = (real_ns - i128::from(after.0), real_ns - i128::from(before.0));
        let (meet_low, meet_high) = (self.low_ns.max(low), self.high_ns.min(high));
        (self.low_ns, self.high_ns) = if meet_low <= meet_high { (meet_low, meet_high) } else { (low, high) };
    }

    /// The monotonic instant of a real-time stamp.
    pub(crate) fn monotonic(&self, real_ns: i128) -> MonoNs {
        let offset = self.low_ns + (self.high_ns - self.low_ns) / 2;
        MonoNs(u64::try_from(real_ns - offset).unwrap_or(0))
    }
}

fn real_now_ns() -> i128 {
    let real = clock_gettime(ClockId::Realtime);
    i128::from(real.tv_sec) * 1_000_000_000 + i128::from(real.tv_nsec)
}

/// Waits, some 50 ms at most, until the kernel stamps what arrives. It switches its stamps on in a work queue, some time
/// after the first socket of the machine has requested them (`net_enable_timestamp`, net/core/dev.c). Until then a
/// datagram is stamped when it is read, and would be handed out after datagrams that came later.
///
/// The caller's socket has requested them already, so that the stamps stay on. If loopback is down nothing can be
/// tried, and nothing is waited for.
pub(crate) fn await_stamps() {
    let _loopback_is_down = stamped_on_arrival();
}

/// Sends itself single bytes until one is stamped before it is read.
fn stamped_on_arrival() -> io::Result<()> {
    let probe = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    probe.connect(probe.local_addr()?)?;
    option::set(probe.as_fd(), libc::SOL_SOCKET, option::SO_TIMESTAMPNS_NEW, 1)?;
    for _ in 0..25 {
        probe.send(&[0])?;
        let millisecond = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
        if poll(&mut [PollFd::new(&probe, PollFlags::IN)], Some(&millisecond)).is_ok_and(|ready| ready > 0) {
            let reading_ns = real_now_ns();
            let got = recv_one(probe.as_fd(), &mut [0; 1], Wants::ALL, 0)?;
            if got.ancillary.arrived_real_ns.is_some_and(|stamp_ns| stamp_ns <= reading_ns) {
                break;
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_stamps_survive_while_the_clock_is_not_set() {
        let mut clock = StampClock { low_ns: i128::MIN, high_ns: i128::MAX };
        let offset = 1_700_000_000_000_000_000;
        clock.bound(MonoNs(100), offset + 140, MonoNs(150));
        clock.bound(MonoNs(200), offset + 210, MonoNs(240));
        let first = clock.monotonic(offset + 210);
        assert!((190..=240).contains(&first.0), "{first:?}");
        clock.bound(MonoNs(1000), offset + 1500, MonoNs(2000)); // preempted between two readings: says nothing new
        assert_eq!(clock.monotonic(offset + 210), first);
    }

    #[test]
    fn a_clock_that_was_set_is_followed_at_once() {
        let mut clock = StampClock { low_ns: i128::MIN, high_ns: i128::MAX };
        clock.bound(MonoNs(100), 1000, MonoNs(102));
        clock.bound(MonoNs(200), 5_000_201, MonoNs(202));
        assert_eq!(clock.monotonic(5_000_301), MonoNs(301));
        assert_eq!(clock.monotonic(0), MonoNs(0), "before the monotonic clock began");
    }
}
