//! Every sample of the radio's clock in the measured part: delivered, or lost and where.
//!
//! The measured part is a span of the radio's clock, fixed before the stream starts. Samples delivered or lost outside
//! of it (the warm-up, what the radio sent after the end) are in no count. At the end the sum must come out:
//! `delivered + lost = span`, to the sample.

use takt_base::Tick;

/// A span of the radio's clock: samples at `from`, `from + step`, ... before `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: Tick,
    /// The sample after the last.
    pub(super) to: Tick,
    /// Ticks between samples, at least 1.
    pub(super) step: u64,
}

impl Span {
    pub(super) fn samples(&self) -> u64 {
        (self.to.0 - self.from.0) / self.step
    }

    /// Counts those of `samples` samples, the first at `first`, that lie in the span. They need not be on its grid: a
    /// stream that is started anew begins at any tick.
    fn count(&self, first: Tick, samples: u64) -> u64 {
        let before = |tick: Tick| tick.0.saturating_sub(first.0).div_ceil(self.step).min(samples);
        before(self.to) - before(self.from)
    }

    /// The span up to `end` at most, which is brought onto its grid.
    pub(super) fn ending_by(self, end: Tick) -> Span {
        let samples = end.0.saturating_sub(self.from.0) / self.step;
        Span { to: self.to.min(Tick(self.from.0 + samples * self.step)), ..self }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The radio could not send and stopped (`O`).
    Radio,
    /// Between the radio and the reader (`D`).
    Way,
}

/// Samples lost in the span, by place, one channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lost {
    pub(super) radio: u64,
    pub(super) way: u64,
    /// The radio had not been started, or had ended, and sent none.
    pub(super) unsent: u64,
    /// Behind the last datagram that came: nothing that came later shows the gap.
    pub(super) tail: u64,
}

impl Lost {
    pub(super) fn all(&self) -> u64 {
        self.radio + self.way + self.unsent + self.tail
    }
}

/// Counts one channel of a stream against its span.
#[derive(Clone, Copy, Debug)]
pub(super) struct Account {
    span: Span,
    /// The tick after the last sample delivered or known lost.
    pub(super) at: Tick,
    delivered: u64,
    lost: Lost,
}

impl Account {
    pub(super) fn new(start: Tick, span: Span) -> Account {
        Account { span, at: start, delivered: 0, lost: Lost::default() }
    }

    /// Samples of the span delivered so far, and lost in the radio or on the way from it.
    pub(super) fn so_far(&self) -> (u64, u64) {
        (self.delivered, self.lost.radio + self.lost.way)
    }

    /// Whether nothing of the span is still to come.
    pub(super) fn is_complete(&self) -> bool {
        self.at >= self.span.to
    }

    /// So many samples came, the first at `first`. The radio has not sent the samples between them and the last ones,
    /// unless an event reported them. Answers how many of those are in the span.
    pub(super) fn deliver(&mut self, first: Tick, samples: u64) -> u64 {
        // Whole ones: the new grid may begin between two samples of the old.
        let between = first.min(self.span.to).0.saturating_sub(self.at.max(self.span.from).0) / self.span.step;
        self.lost.unsent += between;
        self.delivered += self.span.count(first, samples);
        self.at = Tick(first.0 + samples * self.span.step);
        between
    }

    /// So many samples are missing from where the stream stands, which is then behind them; how many of them are in the
    /// span.
    pub(super) fn lose(&mut self, samples: u64, place: Place) -> u64 {
        let lost = self.span.count(self.at, samples);
        *match place {
            Place::Radio => &mut self.lost.radio,
            Place::Way => &mut self.lost.way,
        } += lost;
        self.at = Tick(self.at.0.saturating_add(samples.saturating_mul(self.span.step)));
        lost
    }

    /// The span ends before its time. Everything counted lies before its new end.
    pub(super) fn cut(&mut self, span: Span) {
        self.span = span;
    }

    /// Nothing more comes: the rest of the span is lost.
    pub(super) fn close(mut self) -> Closed {
        let rest = self.span.to.0.saturating_sub(self.at.0).div_ceil(self.span.step);
        self.lost.tail = self.span.count(self.at, rest);
        Closed { samples: self.span.samples(), delivered: self.delivered, lost: self.lost }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Closed {
    pub(super) samples: u64,
    pub(super) delivered: u64,
    pub(super) lost: Lost,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SPAN: Span = Span { from: Tick(1000), to: Tick(2000), step: 10 };

    #[test]
    fn what_lies_outside_of_the_span_is_in_no_count() {
        let mut account = Account::new(Tick(500), SPAN);
        account.deliver(Tick(500), 60); // 10 of them in the span
        assert_eq!(account.lose(5, Place::Way), 5);
        account.deliver(Tick(1150), 80);
        assert_eq!(account.lose(50, Place::Radio), 5, "to 1 950, then 45 behind its end");
        let closed = account.close();
        let lost = Lost { way: 5, radio: 5, ..Lost::default() };
        assert_eq!(closed, Closed { samples: 100, delivered: 90, lost });
    }

    #[test]
    fn a_tail_that_never_came_is_lost() {
        let mut account = Account::new(Tick(1000), SPAN);
        account.deliver(Tick(1000), 64);
        assert!(!account.is_complete());
        assert_eq!(account.close().lost, Lost { tail: 36, ..Lost::default() });
    }

    #[test]
    fn a_stream_that_started_late_lacks_what_was_not_sent() {
        let mut account = Account::new(Tick(1000), SPAN);
        account.deliver(Tick(1200), 80);
        assert!(account.is_complete());
        assert_eq!(account.close().lost, Lost { unsent: 20, ..Lost::default() });
    }

    #[test]
    fn a_span_that_was_cut_short_stays_on_its_grid() {
        assert_eq!(SPAN.ending_by(Tick(1239)), Span { to: Tick(1230), ..SPAN });
        assert_eq!(SPAN.ending_by(Tick(9999)), SPAN);
        assert_eq!(SPAN.ending_by(Tick(7)).samples(), 0);
    }

    /// Started anew in the warm-up, or in the span, at ticks that are on no grid of the old stream.
    #[test]
    fn a_stream_that_was_started_anew_between_two_samples_adds_up() {
        for start in [703, 709, 1000, 1003, 1509, 1995] {
            let mut account = Account::new(Tick(500), SPAN);
            account.deliver(Tick(500), 10);
            account.deliver(Tick(start), 200);
            let closed = account.close();
            assert_eq!(closed.delivered + closed.lost.unsent, 100, "from {start}: {closed:?}");
            assert!(start > 1000 || closed.lost.unsent == 0, "from {start}: {closed:?}");
        }
    }

    #[test]
    fn what_comes_behind_the_cut_is_in_no_count() {
        let mut account = Account::new(Tick(1000), SPAN);
        account.deliver(Tick(1000), 20);
        account.cut(SPAN.ending_by(Tick(1255)));
        account.deliver(Tick(1200), 30);
        let closed = account.close();
        assert_eq!((closed.samples, closed.delivered, closed.lost.all()), (25, 25, 0));
    }

    proptest! {
        /// Whatever comes in whatever portions, the sum comes out.
        #[test]
        fn delivered_and_lost_make_the_span(steps in proptest::collection::vec((0_u64..40, 0_u64..40, 0_u8..2), 0..40)) {
            let mut account = Account::new(Tick(800), SPAN);
            for (samples, lost, place) in steps {
                let first = account.at;
                account.deliver(first, samples);
                account.lose(lost, if place == 0 { Place::Way } else { Place::Radio });
            }
            let closed = account.close();
            prop_assert_eq!(closed.delivered + closed.lost.all(), closed.samples);
        }
    }
}
