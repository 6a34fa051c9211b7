//! Counts that a round's threads publish while it runs, and a spectrum of the samples that they receive.

use std::sync::Arc;

use takt_base::{Clock, Speed, WallClock};
use takt_live::tap::{TapReader, TapWriter, tap};
use takt_live::{Direction, Letters, Radio, Snapshot, Source};

use super::RateOptions;
use super::intervals::Seen;

/// One direction, as it was set.
#[derive(Clone, Debug)]
struct Side {
    rate_sps: f64,
    channels: usize,
}

/// Shows a round while it runs: the source of a [`Publisher`](takt_live::Publisher). Its counts are those of the measured part.
pub struct RateView {
    /// Model and address.
    radio: String,
    seen: Arc<Seen>,
    speed: Speed,
    freq_hz: Option<f64>,
    rx: Option<Side>,
    tx: Option<Side>,
    tap: TapReader,
}

impl RateView {
    /// A view, and the end of the tap for the thread that receives.
    pub(super) fn new(options: &RateOptions, model: &str, seen: Arc<Seen>, speed: Speed) -> (RateView, TapWriter) {
        let (writer, reader) = tap();
        let side =
            |rate: Option<f64>, channels: &Vec<u8>| rate.map(|rate_sps| Side { rate_sps, channels: channels.len() });
        let view = RateView {
            radio: format!("{model} at {}", options.addr),
            seen,
            speed,
            freq_hz: options.frequency_hz,
            rx: side(options.rx_sps, &options.rx_channels),
            tx: side(options.tx_sps, &options.tx_channels),
            tap: reader,
        };
        (view, writer)
    }

    /// The radio, for people.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.radio
    }

    fn radio(
        &self,
        side: &Side,
        direction: Direction,
        samples: u64,
        lost_samples: Option<u64>,
        letters: Letters,
    ) -> Radio {
        Radio {
            name: self.radio.clone(),
            direction,
            rate_sps: Some(side.rate_sps),
            freq_hz: self.freq_hz,
            channels: u32::try_from(side.channels).ok(),
            samples: Some(samples),
            lost_samples,
            letters,
        }
    }
}

impl Source for RateView {
    fn snapshot(&mut self) -> Snapshot {
        let rx = self.rx.as_ref().map(|side| {
            let [samples, lost, overflows, sequence_errors, late, _timeouts] = self.seen.rx.read();
            let letters = Letters {
                overflows: Some(overflows),
                received_lost: Some(sequence_errors),
                late: Some(late),
                ..Letters::default()
            };
            self.radio(side, Direction::Rx, samples, Some(lost), letters)
        });
        let tx = self.tx.as_ref().map(|side| {
            let [samples, underflows, sequence_errors, late, _timeouts] = self.seen.tx.read();
            let letters = Letters {
                underflows: Some(underflows),
                sent_lost: Some(sequence_errors),
                late: Some(late),
                ..Letters::default()
            };
            self.radio(side, Direction::Tx, samples, None, letters)
        });
        let span_hz = self.rx.as_ref().map(|side| side.rate_sps);
        let spectrum = span_hz.and_then(|span_hz| self.tap.spectrum("rx", self.freq_hz, span_hz, WallClock.now()));
        Snapshot {
            speed: Some(self.speed.seconds()),
            radios: rx.into_iter().chain(tx).collect(),
            spectra: spectrum.into_iter().collect(),
            ..Snapshot::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_has_the_counts_of_both_directions_and_no_others() {
        let options = RateOptions {
            rx_sps: Some(1e6),
            tx_sps: Some(2e6),
            rx_channels: vec![0, 1],
            frequency_hz: Some(9e8),
            ..RateOptions::default()
        };
        let seen = Arc::new(Seen::default());
        let (mut view, mut tap) = RateView::new(&options, "N200", seen.clone(), Speed::WALL);
        assert!(view.snapshot().spectra.is_empty(), "nothing has come");
        seen.rx.publish([100, 5, 1, 2, 3, 4]);
        seen.tx.publish([200, 6, 7, 8, 9]);
        tap.offer(&[takt_base::Complex32::new(1.0, 0.0); 1024]);
        let snapshot = view.snapshot();
        let [rx, tx] = &snapshot.radios[..] else { panic!("{snapshot:?}") };
        assert_eq!((rx.name.as_str(), rx.direction, rx.channels), ("N200 at 127.0.0.1", Direction::Rx, Some(2)));
        assert_eq!((rx.rate_sps, rx.samples, rx.lost_samples), (Some(1e6), Some(100), Some(5)));
        let of = |radio: &Radio| radio.letters.list().map(|(_, count)| count);
        assert_eq!(of(rx), [Some(1), None, Some(3), None, Some(2)]);
        assert_eq!((tx.rate_sps, tx.samples, tx.lost_samples), (Some(2e6), Some(200), None));
        assert_eq!(of(tx), [None, Some(6), Some(8), Some(7), None]);
        let [spectrum] = &snapshot.spectra[..] else { panic!("a spectrum") };
        assert_eq!((spectrum.freq_hz, spectrum.span_hz), (Some(9e8), 1e6));
        assert!(spectrum.dbfs[512].abs() < 0.1, "{}", spectrum.dbfs[512]);
    }
}
