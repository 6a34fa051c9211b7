//! Timer slack: how late the kernel may wake a sleeping thread in order to wake several at once.
//!
//! 50 µs by default for every thread of normal priority, and the largest part of such a thread's wake-up latency on an
//! idle machine. Real-time policies have none, whatever is set here.

use std::num::NonZeroU64;

/// Slack of the calling thread, nanoseconds. 0 under a real-time policy.
#[must_use]
pub fn timer_slack_ns() -> u64 {
    // The call cannot fail: prctl(2) knows no error for PR_GET_TIMERSLACK.
    rustix::thread::current_timer_slack().unwrap_or(0)
}

/// Sets the slack of the calling thread; threads it starts later inherit it. No privilege is needed. 1 ns is the least.
pub fn set_timer_slack_ns(slack_ns: NonZeroU64) {
    // As above: nothing to report.
    let _ = rustix::thread::set_current_timer_slack(Some(slack_ns));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slack_belongs_to_the_thread_and_is_inherited() {
        let outside = timer_slack_ns();
        std::thread::spawn(|| {
            set_timer_slack_ns(NonZeroU64::MIN);
            assert_eq!(timer_slack_ns(), 1);
            assert_eq!(std::thread::spawn(timer_slack_ns).join().unwrap(), 1);
        })
        .join()
        .unwrap();
        assert_eq!(timer_slack_ns(), outside);
    }
}
