//! Gaps by time stamps.
//!
//! A stamp is that of a read's first sample, in nanoseconds, rounded as its driver likes. So each read is compared with the one
//! before, and a gap is a difference of a sample at least: what is rounded away stays below half of one ([`Grid`]), and no error
//! adds up over a long stream.
//!
//! Not every driver has stamps, and the flag that says so does not come through the safe binding. A stamp is one if it moves:
//! one that stands still while samples come, or is 0, is none. A stamp before the end of the last read contradicts the samples,
//! as that of a driver does which asks this host's clock. From then on nobody knows what was lost.

use crate::grid::Grid;

/// The meaning of the stamp of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It is the first.
    First,
    /// The samples follow the last ones.
    Follows,
    /// So many are missing before them, at least 1.
    Gap(u64),
    /// It has none.
    Unstamped,
    /// It lies before the end of the last read.
    Back,
}

/// Follows the stamps of one stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stamps {
    grid: Grid,
    /// The last stamp.
    last: Option<i64>,
    /// Samples since it.
    since: u64,
    /// A stamp has followed another one.
    has_moved: bool,
    has_gone_back: bool,
}

impl Stamps {
    pub(crate) fn new(grid: Grid) -> Stamps {
        Stamps { grid, last: None, since: 0, has_moved: false, has_gone_back: false }
    }

    /// A read brought so many samples, at least 1, and this stamp.
    pub(crate) fn note(&mut self, ns: i64, samples: u64) -> Step {
        let Some(last) = self.last else {
            (self.last, self.since) = (Some(ns), samples);
            return Step::First;
        };
        if ns == last || ns == 0 {
            self.since = self.since.saturating_add(samples);
            return Step::Unstamped;
        }
        let ahead = (self.grid.samples_in(ns.saturating_sub(last)) - self.since as f64).round();
        (self.last, self.since, self.has_moved) = (Some(ns), samples, true);
        if ahead >= 1.0 {
            return Step::Gap(ahead as u64);
        }
        if ahead <= -1.0 {
            self.has_gone_back = true;
            return Step::Back;
        }
        Step::Follows
    }

    /// Whether they show each loss: some came, and none contradicted the samples.
    pub(crate) fn show_losses(&self) -> bool {
        self.has_moved && !self.has_gone_back
    }

    /// Whether one contradicted the samples.
    pub(crate) fn contradict(&self) -> bool {
        self.has_gone_back
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stamps(sps: f64) -> Stamps {
        Stamps::new(Grid::new(sps).unwrap())
    }

    #[test]
    fn one_sample_is_a_gap_and_a_rounded_nanosecond_is_none() {
        // 5.425 ns a sample.
        let mut stamps = stamps(184.32e6);
        let ns = |sample: u64| 1_000_000_000 + (sample as f64 * 1e9 / 184.32e6).floor() as i64;
        assert_eq!(stamps.note(ns(0), 7), Step::First);
        assert!(!stamps.show_losses(), "one alone shows nothing");
        assert_eq!(stamps.note(ns(7), 7), Step::Follows);
        assert_eq!(stamps.note(ns(15), 7), Step::Gap(1));
        assert!(stamps.show_losses());
    }

    #[test]
    fn a_stamp_that_stands_still_is_none() {
        let mut stamps = stamps(1e6);
        assert_eq!(stamps.note(0, 100), Step::First);
        assert_eq!([stamps.note(0, 100), stamps.note(0, 100)], [Step::Unstamped; 2]);
        assert!(!stamps.show_losses() && !stamps.contradict());
    }

    #[test]
    fn a_driver_that_stamps_some_reads_has_what_lies_between_counted() {
        let mut stamps = stamps(1e6);
        assert_eq!(stamps.note(5_000_000, 100), Step::First);
        assert_eq!(stamps.note(5_000_000, 100), Step::Unstamped);
        assert_eq!(stamps.note(0, 100), Step::Unstamped);
        assert_eq!(stamps.note(5_350_000, 100), Step::Gap(50));
        assert!(stamps.show_losses());
    }

    #[test]
    fn a_stamp_that_goes_back_ends_all_knowledge() {
        let mut stamps = stamps(1e6);
        stamps.note(1_000_000, 100);
        assert_eq!(stamps.note(1_120_000, 100), Step::Gap(20), "a driver that asks this host's clock");
        assert_eq!(stamps.note(1_200_000, 100), Step::Back);
        assert_eq!(stamps.note(1_300_000, 100), Step::Follows);
        assert!(!stamps.show_losses() && stamps.contradict());
    }

    #[test]
    fn hostile_stamps_saturate() {
        let mut stamps = stamps(499e6);
        stamps.note(i64::MIN, u64::MAX);
        for ns in [i64::MAX, i64::MIN, 1, -1, i64::MAX] {
            stamps.note(ns, u64::MAX);
        }
    }

    /// How drivers make nanoseconds of a sample's place.
    #[derive(Clone, Copy, Debug)]
    enum Rounded {
        Down,
        Nearest,
        Up,
    }

    fn rounded() -> impl Strategy<Value = Rounded> {
        prop_oneof![Just(Rounded::Down), Just(Rounded::Nearest), Just(Rounded::Up)]
    }

    proptest! {
        /// Whatever is lost in whatever portions is seen to the sample, at whole rates up to 250 MS/s, however a driver rounds.
        #[test]
        fn each_gap_is_its_length(
            hz in 1_000_u64..250_000_000,
            start in 1_u64..1 << 40,
            rounded in rounded(),
            reads in prop::collection::vec((1_u64..5_000, prop_oneof![Just(0_u64), Just(1), 1_u64..100_000]), 2..60),
        ) {
            let ns = |sample: u64| {
                let exact = u128::from(sample) * 1_000_000_000;
                let hz = u128::from(hz);
                let ns = match rounded {
                    Rounded::Down => exact / hz,
                    Rounded::Nearest => (exact + hz / 2) / hz,
                    Rounded::Up => exact.div_ceil(hz),
                };
                i64::try_from(ns).unwrap()
            };
            let mut stamps = stamps(hz as f64);
            let mut at = start;
            for (n, (samples, lost)) in reads.into_iter().enumerate() {
                at += if n == 0 { 0 } else { lost };
                let step = stamps.note(ns(at), samples);
                let expected = match (n, lost) {
                    (0, _) => Step::First,
                    (_, 0) => Step::Follows,
                    (_, lost) => Step::Gap(lost),
                };
                prop_assert_eq!(step, expected);
                at += samples;
            }
            prop_assert!(stamps.show_losses());
        }
    }
}
