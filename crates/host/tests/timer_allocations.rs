//! Waiting allocates nothing, whatever the method.

#[path = "../../../tests/support/allocations.rs"]
mod allocations;

use std::time::Duration;

use takt_base::{Clock, Stop, WallClock};
use takt_host::timer::{Method, Ticks, Timer, TimerOptions};

#[test]
fn a_wait_allocates_nothing() {
    // If the kernel has no vDSO, the first reading of the clock looks for it.
    let _first = WallClock.now();
    let before = allocations::count();
    drop(vec![0_u8; 100]);
    assert!(allocations::count() > before, "the counter counts");
    let stop = Stop::new();
    for method in [Method::Nanosleep, Method::TimerFd, Method::Hybrid { spin: Method::SPIN }, Method::Spin] {
        let ticks = Ticks::of(1024).filter(|_| method != Method::Spin);
        let mut timer = Timer::open(TimerOptions { method, ticks, slack_ns: None }).unwrap();
        let before = allocations::count();
        for _ in 0..20 {
            timer.wait_until(WallClock.now() + Duration::from_micros(200), &stop).unwrap().unwrap();
        }
        assert_eq!(allocations::count(), before, "{method}");
    }
}
