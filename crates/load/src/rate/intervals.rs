//! Counts of a round by intervals, as a thread that looks from outside takes them.
//!
//! The threads that stream publish their counts after each turn. Counts never fall, so no interval has a negative one. An
//! interval holds what was found in its time: a loss counts once a later datagram shows it. The last interval also holds what
//! was read after the measured part, so that all of them add up to the outcome.

use std::array;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_base::{MonoNs, Speed};

use super::{RateOptions, Rx, Tx};

pub(super) const SHORTEST: Duration = Duration::from_millis(100);
/// Most intervals of a round.
pub(super) const MOST: u128 = 100_000;

/// The traffic both ways in an interval of the measured part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RateInterval {
    /// Since the measured part began, by this host's clock, in seconds of the radio: as many as of this host, unless its time
    /// passes at another speed.
    pub start_s: f64,
    pub end_s: f64,
    /// `None`: nothing is received.
    pub rx: Option<RxInterval>,
    /// `None`: nothing is transmitted.
    pub tx: Option<TxInterval>,
}

/// Counts of what was received in an interval, and found to be missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RxInterval {
    /// Samples that came, all channels together.
    pub samples: u64,
    /// The same a second, each channel.
    pub rate_sps: f64,
    /// Samples found to be missing, all channels together.
    pub lost_samples: u64,
    /// `O`.
    pub overflows: u64,
    /// `D`.
    pub sequence_errors: u64,
    /// `L`.
    pub late: u64,
    pub timeouts: u64,
}

/// Counts of what was transmitted in an interval, and reported by the radio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TxInterval {
    /// Samples handed to the kernel, all channels together.
    pub samples: u64,
    /// The same a second, each channel.
    pub rate_sps: f64,
    /// `U`.
    pub underflows: u64,
    /// `S`.
    pub sequence_errors: u64,
    /// `L`.
    pub late: u64,
    pub timeouts: u64,
}

/// Samples that came, samples lost, `O`, `D`, `L`, time-outs.
pub(super) type RxTally = [u64; 6];
/// Samples sent, `U`, `S`, `L`, time-outs.
pub(super) type TxTally = [u64; 5];

/// The counts of a thread so far, for one that looks.
#[derive(Debug)]
pub(super) struct Gauge<const N: usize>([AtomicU64; N]);

impl<const N: usize> Default for Gauge<N> {
    fn default() -> Gauge<N> {
        Gauge(array::from_fn(|_| AtomicU64::new(0)))
    }
}

impl<const N: usize> Gauge<N> {
    pub(super) fn publish(&self, counts: [u64; N]) {
        // Relaxed: each count stands for itself, and no other data is published through it.
        for (place, count) in self.0.iter().zip(counts) {
            place.store(count, Ordering::Relaxed);
        }
    }

    pub(super) fn read(&self) -> [u64; N] {
        self.0.each_ref().map(|count| count.load(Ordering::Relaxed))
    }
}

/// The counts of both directions so far, for the thread that waits for both.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) rx: Gauge<6>,
    pub(super) tx: Gauge<5>,
}

/// Counts of both directions since the measured part began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    rx: RxTally,
    tx: TxTally,
}

impl Sums {
    /// Those of a round that is over.
    pub(super) fn of(rx: &Rx, tx: &Tx) -> Sums {
        Sums {
            rx: [rx.samples, rx.dropped, rx.overflows, rx.sequence_errors, rx.late, rx.timeouts],
            tx: [tx.samples, tx.underflows, tx.sequence_errors, tx.late, tx.timeouts],
        }
    }
}

/// Cuts a round into intervals.
#[derive(Debug)]
pub(super) struct Meter {
    seen: Arc<Seen>,
    /// By this host's clock.
    length: Duration,
    speed: Speed,
    /// When the measured part begins.
    from: MonoNs,
    /// When the last interval ended, and what had been counted then.
    at: MonoNs,
    sums: Sums,
    /// Channels received and transmitted; 0: not that way.
    channels: [usize; 2],
    list: Vec<RateInterval>,
}

impl Meter {
    /// A meter of a round whose measured part begins at `from`, with a radio of this speed; `None`: it is to have no intervals.
    pub(super) fn new(options: &RateOptions, seen: Arc<Seen>, from: MonoNs, speed: Speed) -> Option<Meter> {
        let length = speed.host_time(options.interval?);
        let ways = [(options.rx_sps, &options.rx_channels), (options.tx_sps, &options.tx_channels)];
        let channels = ways.map(|(rate, channels)| rate.map_or(0, |_| channels.len()));
        Some(Meter { seen, length, speed, from, at: from, sums: Sums::default(), channels, list: Vec::new() })
    }

    /// When the interval that runs now is to end.
    pub(super) fn due(&self) -> MonoNs {
        let length_ns = self.length.as_nanos().max(1);
        let past = self.at.saturating_since(self.from).as_nanos() / length_ns;
        self.from + Duration::from_nanos(u64::try_from((past + 1) * length_ns).unwrap_or(u64::MAX))
    }

    /// The interval that has ended by now, if one has. A late look makes it longer.
    pub(super) fn look(&mut self, now: MonoNs) -> Option<RateInterval> {
        if now < self.due() {
            return None;
        }
        Some(self.cut(now, Sums { rx: self.seen.rx.read(), tx: self.seen.tx.read() }))
    }

    /// All intervals of a round that was measured until `now`, with these sums in the end.
    pub(super) fn end(mut self, now: MonoNs, sums: Sums) -> Vec<RateInterval> {
        if now > self.at || sums != self.sums {
            self.cut(now.max(self.at), sums);
        }
        self.list
    }

    fn cut(&mut self, now: MonoNs, sums: Sums) -> RateInterval {
        let seconds = |at: MonoNs| at.saturating_since(self.from).as_secs_f64() * self.speed.seconds();
        let [start_s, end_s] = [self.at, now].map(seconds);
        let [rx_channels, tx_channels] = self.channels;
        let rate_sps = |samples: u64, channels: usize| {
            let length_s = (end_s - start_s) * channels as f64;
            if length_s > 0.0 { samples as f64 / length_s } else { 0.0 }
        };
        let [samples, lost_samples, overflows, sequence_errors, late, timeouts] = added(self.sums.rx, sums.rx);
        let rate = rate_sps(samples, rx_channels);
        let rx = RxInterval { samples, rate_sps: rate, lost_samples, overflows, sequence_errors, late, timeouts };
        let [samples, underflows, sequence_errors, late, timeouts] = added(self.sums.tx, sums.tx);
        let rate = rate_sps(samples, tx_channels);
        let tx = TxInterval { samples, rate_sps: rate, underflows, sequence_errors, late, timeouts };
        let rx = (rx_channels > 0).then_some(rx);
        let tx = (tx_channels > 0).then_some(tx);
        let interval = RateInterval { start_s, end_s, rx, tx };
        (self.at, self.sums) = (now, sums);
        self.list.push(interval);
        interval
    }
}

/// The counts added between two instants. Only an event behind the last sample of the measured part is in the first counts and
/// not in the second: the outcome leaves it out.
fn added<const N: usize>(was: [u64; N], is: [u64; N]) -> [u64; N] {
    array::from_fn(|n| is[n].saturating_sub(was[n]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FROM: MonoNs = MonoNs(5_000_000_000);

    fn meter(rx_channels: Vec<u8>) -> (Meter, Arc<Seen>) {
        meter_at(Speed::WALL, rx_channels)
    }

    fn meter_at(speed: Speed, rx_channels: Vec<u8>) -> (Meter, Arc<Seen>) {
        let options = RateOptions {
            rx_sps: Some(1e6),
            tx_sps: Some(1e6),
            rx_channels,
            interval: Some(SHORTEST),
            ..RateOptions::default()
        };
        let seen = Arc::new(Seen::default());
        (Meter::new(&options, seen.clone(), FROM, speed).unwrap(), seen)
    }

    fn at(ms: u64) -> MonoNs {
        FROM + Duration::from_millis(ms)
    }

    #[test]
    fn an_interval_has_what_was_counted_since_the_last_look() {
        let (mut meter, seen) = meter(vec![0, 1]);
        assert_eq!((meter.due(), meter.look(at(99))), (at(100), None));
        seen.rx.publish([200_000, 0, 0, 0, 0, 0]);
        seen.tx.publish([100_000, 0, 0, 0, 0]);
        let first = meter.look(at(100)).unwrap();
        let rx = RxInterval { samples: 200_000, rate_sps: 1e6, ..RxInterval::default() };
        let tx = TxInterval { samples: 100_000, rate_sps: 1e6, ..TxInterval::default() };
        assert_eq!(first, RateInterval { start_s: 0.0, end_s: 0.1, rx: Some(rx), tx: Some(tx) });
        // This thread stood still: the next interval is longer, and the one after it ends on time.
        seen.rx.publish([500_000, 26, 1, 2, 3, 4]);
        seen.tx.publish([100_000, 1, 2, 3, 4]);
        let late = meter.look(at(250)).unwrap();
        assert_eq!((late.start_s, late.end_s, meter.due()), (0.1, 0.25, at(300)));
        let rx = late.rx.unwrap();
        assert_eq!((rx.samples, rx.rate_sps.round(), rx.lost_samples), (300_000, 1e6, 26));
        assert_eq!([rx.overflows, rx.sequence_errors, rx.late, rx.timeouts], [1, 2, 3, 4]);
        let tx = late.tx.unwrap();
        assert_eq!((tx.samples, tx.rate_sps), (0, 0.0));
        assert_eq!([tx.underflows, tx.sequence_errors, tx.late, tx.timeouts], [1, 2, 3, 4]);
    }

    #[test]
    fn intervals_of_a_slow_radio_are_of_its_own_time() {
        let (mut meter, seen) = meter_at("0.1".parse().unwrap(), vec![0]);
        seen.rx.publish([100_000, 0, 0, 0, 0, 0]);
        assert_eq!((meter.due(), meter.look(at(999))), (at(1000), None));
        let first = meter.look(at(1000)).unwrap();
        assert_eq!((first.start_s, first.end_s), (0.0, 0.1));
        assert_eq!(first.rx.map(|rx| (rx.samples, rx.rate_sps.round())), Some((100_000, 1e6)));
    }

    #[test]
    fn a_round_that_ends_in_its_warm_up_has_no_interval() {
        let (meter, _) = meter(vec![0]);
        assert_eq!(meter.end(MonoNs(FROM.0 - 1), Sums::default()), []);
    }

    #[test]
    fn a_direction_that_does_not_stream_is_in_no_interval() {
        let options = RateOptions { rx_sps: Some(1e6), interval: Some(SHORTEST), ..RateOptions::default() };
        let meter = Meter::new(&options, Arc::new(Seen::default()), FROM, Speed::WALL).unwrap();
        let list = meter.end(at(30), Sums::default());
        assert_eq!(list.iter().map(|one| (one.rx.is_some(), one.tx)).collect::<Vec<_>>(), [(true, None)]);
        let without = Meter::new(&RateOptions::default(), Arc::new(Seen::default()), FROM, Speed::WALL);
        assert!(without.is_none());
    }

    proptest! {
        /// Whenever it looks, the intervals lie end to end and add up to the outcome.
        #[test]
        fn intervals_add_up_to_the_outcome(
            steps in prop::collection::vec(
                (0_u64..300, prop::array::uniform6(0_u64..50), prop::array::uniform5(0_u64..50)),
                0..60,
            ),
        ) {
            let (mut meter, seen) = meter(vec![0]);
            let (mut now, mut sums) = (FROM, Sums::default());
            for (wait_ms, rx, tx) in steps {
                now += Duration::from_millis(wait_ms);
                sums.rx.iter_mut().zip(rx).for_each(|(sum, more)| *sum += more);
                sums.tx.iter_mut().zip(tx).for_each(|(sum, more)| *sum += more);
                seen.rx.publish(sums.rx);
                seen.tx.publish(sums.tx);
                let due = meter.due();
                prop_assert_eq!(meter.look(now).is_some(), now >= due);
            }
            sums.rx[0] += 7; // read after the end
            let list = meter.end(now, sums);
            prop_assert!(list.windows(2).all(|pair| pair[0].end_s == pair[1].start_s));
            prop_assert_eq!(list.first().map(|first| first.start_s), Some(0.0));
            let rx = |of: fn(&RxInterval) -> u64| list.iter().filter_map(|one| one.rx.as_ref()).map(of).sum::<u64>();
            let tx = |of: fn(&TxInterval) -> u64| list.iter().filter_map(|one| one.tx.as_ref()).map(of).sum::<u64>();
            let received = [
                rx(|rx| rx.samples),
                rx(|rx| rx.lost_samples),
                rx(|rx| rx.overflows),
                rx(|rx| rx.sequence_errors),
                rx(|rx| rx.late),
                rx(|rx| rx.timeouts),
            ];
            prop_assert_eq!(received, sums.rx);
            let sent = [
                tx(|tx| tx.samples),
                tx(|tx| tx.underflows),
                tx(|tx| tx.sequence_errors),
                tx(|tx| tx.late),
                tx(|tx| tx.timeouts),
            ];
            prop_assert_eq!(sent, sums.tx);
        }
    }
}
