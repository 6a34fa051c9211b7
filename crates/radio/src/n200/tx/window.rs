//! How many datagrams may be on their way.
//!
//! The radio buffers 2^20 bytes; divided by the frame size that is how far the host may be ahead of the last datagram the
//! radio says it has taken. The reports that say so may be lost, late, or left over from an earlier stream. They come 20
//! times a second even when nothing happens, and each carries the whole truth, so a wrong one is mended by the next:
//! what counts is the last report, not the furthest. One that names a datagram not sent yet is of another stream, and
//! says nothing.
//!
//! If everything on its way is lost, no report will ever name any of it, and a window that waited for one would stay shut
//! for ever. So what is on its way can be given up; the number the radio then goes on repeating says nothing any more.

/// Counts datagrams out and reports in, as unsigned 32-bit numbers that wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    /// Datagrams that fit the radio's buffer.
    size: u32,
    /// Number of the next datagram.
    next: u32,
    /// Number of the last one the radio has taken.
    taken: u32,
    /// Number that the radio had taken when all that followed was given up; until it says something else.
    given_up_after: Option<u32>,
}

impl Window {
    /// Nothing sent; the radio reports all ones until it has taken the first.
    pub(super) fn new(size: u32) -> Window {
        Window { size, next: 0, taken: u32::MAX, given_up_after: None }
    }

    pub(super) fn size(&self) -> u32 {
        self.size
    }

    pub(super) fn next(&self) -> u32 {
        self.next
    }

    /// Datagrams that may be sent now.
    pub(super) fn credit(&self) -> u32 {
        self.size.saturating_sub(self.in_flight())
    }

    /// Sent and not reported as taken.
    pub(super) fn in_flight(&self) -> u32 {
        self.next.wrapping_sub(self.taken).wrapping_sub(1)
    }

    pub(super) fn sent(&mut self, datagrams: u32) {
        self.next = self.next.wrapping_add(datagrams);
    }

    /// The radio reports the last datagram it has taken. `false`: that cannot be of this stream.
    pub(super) fn report(&mut self, taken: u32) -> bool {
        if self.given_up_after == Some(taken) {
            return true;
        }
        let in_flight = self.next.wrapping_sub(taken).wrapping_sub(1);
        let possible = in_flight <= self.size;
        if possible {
            self.taken = taken;
            self.given_up_after = None;
        }
        possible
    }

    /// Takes all that is on its way for lost; returns how many datagrams that were.
    pub(super) fn give_up(&mut self) -> u32 {
        let lost = self.in_flight();
        self.given_up_after = self.given_up_after.or(Some(self.taken));
        self.taken = self.next.wrapping_sub(1);
        lost
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_full_window_opens_with_each_report() {
        let mut window = Window::new(712);
        assert_eq!(window.credit(), 712);
        window.sent(712);
        assert_eq!(window.credit(), 0);
        assert!(window.report(88));
        assert_eq!(window.credit(), 89);
    }

    #[test]
    fn a_report_of_another_stream_changes_nothing() {
        let mut window = Window::new(712);
        window.sent(10);
        assert!(!window.report(10), "not sent yet");
        assert!(!window.report(5000));
        assert_eq!(window.credit(), 702);
    }

    #[test]
    fn an_old_report_is_mended_by_the_next() {
        let mut window = Window::new(712);
        window.sent(712);
        assert!(window.report(711));
        assert!(window.report(u32::MAX), "overtaken on the way");
        assert_eq!(window.credit(), 0);
        assert!(window.report(711));
        assert_eq!(window.credit(), 712);
    }

    #[test]
    fn a_window_given_up_opens_and_the_radio_repeating_itself_does_not_shut_it() {
        let mut window = Window::new(712);
        window.sent(800.min(window.credit()));
        window.report(99);
        window.sent(window.credit());
        assert_eq!((window.credit(), window.give_up()), (0, 712));
        assert!(window.report(99));
        assert_eq!(window.credit(), 712);
        window.sent(712);
        assert_eq!((window.report(99), window.credit(), window.give_up()), (true, 0, 712));
        window.sent(10);
        assert!(window.report(window.next() - 4));
        assert_eq!(window.in_flight(), 3);
    }

    proptest! {
        /// Whatever is reported, never more is in flight than fits, also across the wrap.
        #[test]
        fn never_more_is_in_flight_than_fits(steps in prop::collection::vec((0..800u32, any::<u32>(), any::<bool>()), 1..200)) {
            let mut window = Window { next: u32::MAX - 3000, taken: u32::MAX - 3001, ..Window::new(712) };
            for (want, report, near) in steps {
                window.sent(want.min(window.credit()));
                window.report(if near { window.next.wrapping_sub(report % 1000) } else { report });
                prop_assert!(window.in_flight() <= 712 && window.credit() <= 712);
            }
        }
    }
}
