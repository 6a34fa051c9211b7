//! The transmitting direction, as something that takes turns.

use std::sync::Arc;
use std::time::Duration;

use takt_base::{Complex32, MonoNs, Tick};
use takt_packet::Counters;
use takt_radio::n200::{ClockReading, TxStats, TxStreamer};
use takt_radio::{Burst, Net, RadioError, TxEventKind, TxStream};

use super::faults::{Fault, Faults, Letter};
use super::intervals::TxTally;
use super::outcome::Tx;
use super::{CALL_DATAGRAMS, PATIENCE};

/// Most channels of a stream.
const CHANNELS: usize = 2;

#[derive(Clone, Copy, Debug, Default)]
struct TxCounts {
    at: MonoNs,
    timeouts: u64,
    stats: TxStats,
    engine: Counters,
}

pub(super) struct TxSide {
    net: Arc<dyn Net>,
    streamer: TxStreamer,
    /// Relates the radio's clock to this host's.
    clocks: ClockReading,
    /// The same for each channel.
    samples: Vec<Complex32>,
    /// When the burst starts, until it has.
    at: Option<Tick>,
    timeouts: u64,
    faults: Faults,
    base: Option<TxCounts>,
    /// Since when the radio takes nothing, and how long it may.
    closed_since: Option<MonoNs>,
    patience: Duration,
}

/// How long a radio that is well may take nothing: until it has played half of what it holds. It reports room more often: an
/// X310 when an eighth is played.
fn patience(window_datagrams: u32, samples_per_datagram: usize, rate_sps: f64) -> Duration {
    let held = f64::from(window_datagrams) * samples_per_datagram as f64;
    Duration::try_from_secs_f64(held / rate_sps / 2.0).map_or(PATIENCE, |half| half.max(PATIENCE))
}

impl TxSide {
    /// The burst shall start at `at`.
    pub(super) fn starting_at(net: Arc<dyn Net>, streamer: TxStreamer, clocks: ClockReading, at: Tick) -> TxSide {
        let count = CALL_DATAGRAMS * streamer.samples_per_datagram();
        // A tone of an eighth of the rate at half of full scale.
        let tone = |n: usize| Complex32::from_polar(0.5, std::f32::consts::FRAC_PI_4 * (n % 8) as f32);
        let samples = (0..count).map(tone).collect();
        let patience = patience(streamer.window_datagrams(), streamer.samples_per_datagram(), streamer.rate_sps());
        let patience = clocks.speed.patience(patience);
        TxSide {
            net,
            streamer,
            clocks,
            samples,
            at: Some(at),
            timeouts: 0,
            faults: Faults::with_room(),
            base: None,
            closed_since: None,
            patience,
        }
    }

    /// Sends a call's worth, or what the radio takes until `until`.
    pub(super) fn turn(&mut self, until: MonoNs) -> Result<(), RadioError> {
        let burst = self.at.map_or(Burst::GO_ON, Burst::at);
        let channels = self.streamer.channels().min(CHANNELS);
        let taken = self.streamer.send(&[&self.samples[..]; CHANNELS][..channels], burst, until)?;
        if taken > 0 {
            self.at = None;
        }
        self.take_reports()?;
        if taken > 0 {
            self.closed_since = None;
            return Ok(());
        }
        let now = self.net.now();
        let since = *self.closed_since.get_or_insert(now);
        if now - since >= self.patience {
            self.timeouts += 1;
            self.closed_since = Some(now);
            let [from, to] = [since, now].map(|at| self.clocks.tick_at(at));
            self.note(Letter::T, from, to, 0);
        }
        Ok(())
    }

    /// Takes in what the radio has reported.
    fn take_reports(&mut self) -> Result<(), RadioError> {
        while let Some(event) = self.streamer.event(self.net.now())? {
            let size = self.streamer.samples_per_datagram() as u64;
            let (letter, samples) = match event.kind {
                TxEventKind::Underflow => (Letter::U, 0),
                TxEventKind::SequenceError => (Letter::S, size),
                TxEventKind::Late => (Letter::L, size),
                _ => continue,
            };
            self.note(letter, event.tick, event.tick, samples);
        }
        Ok(())
    }

    /// Keeps a fault of the measured part.
    fn note(&mut self, letter: Letter, from: Tick, to: Tick, samples: u64) {
        if self.is_measuring() {
            self.faults.push(Fault { letter, from_tick: from.0, to_tick: to.0, samples });
        }
    }

    fn snapshot(&self) -> TxCounts {
        let (stats, engine) = (self.streamer.stats(), self.streamer.engine_counters());
        TxCounts { at: self.net.now(), timeouts: self.timeouts, stats, engine }
    }

    /// The measured part begins here.
    pub(super) fn begin_measuring(&mut self) {
        self.base = Some(self.snapshot());
    }

    pub(super) fn is_measuring(&self) -> bool {
        self.base.is_some()
    }

    /// The counts of the measured part so far, all channels together; zeros before it begins.
    pub(super) fn so_far(&self) -> TxTally {
        let Some(TxCounts { stats: base, timeouts, .. }) = &self.base else { return TxTally::default() };
        let now = self.streamer.stats();
        [
            now.samples - base.samples,
            now.underflows - base.underflows,
            now.sequence_errors - base.sequence_errors,
            now.late - base.late,
            self.timeouts - timeouts,
        ]
    }

    /// Takes in what the radio has reported; what was counted since [`TxSide::begin_measuring`]. Then ends the burst.
    pub(super) fn finish(mut self) -> Result<Tx, RadioError> {
        self.take_reports()?;
        let now = self.snapshot();
        let base = self.base.unwrap_or(now);
        let channels = self.streamer.channels().min(CHANNELS);
        let until = self.net.now() + self.clocks.speed.patience(PATIENCE);
        self.streamer.send(&[&[][..]; CHANNELS][..channels], Burst::END, until)?;
        // Seconds of the radio.
        let seconds = (now.at - base.at).as_secs_f64() * self.clocks.speed.seconds();
        let limits = self.streamer.engine_limits();
        Ok(Tx {
            samples: now.stats.samples - base.stats.samples,
            underflows: now.stats.underflows - base.stats.underflows,
            sequence_errors: now.stats.sequence_errors - base.stats.sequence_errors,
            late: now.stats.late - base.stats.late,
            timeouts: now.timeouts - base.timeouts,
            expected_samples: (self.streamer.rate_sps() * seconds).round() as u64 * channels as u64,
            span_ticks: [base.at, now.at].map(|at| self.clocks.tick_at(at).0),
            faults: std::mem::take(&mut self.faults),
            datagrams: now.stats.datagrams - base.stats.datagrams,
            burst_acks: now.stats.burst_acks - base.stats.burst_acks,
            unknown_reports: now.stats.unknown_events - base.stats.unknown_events,
            samples_per_datagram: self.streamer.samples_per_datagram(),
            window_datagrams: self.streamer.window_datagrams(),
            given_up_datagrams: now.stats.given_up_datagrams - base.stats.given_up_datagrams,
            waits: now.stats.waits - base.stats.waits,
            send_calls: now.engine.send_calls - base.engine.send_calls,
            engine_path: limits.path.words().to_owned(),
            aggregated: limits.aggregates_sends,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_radio_may_take_nothing_while_it_plays_half_of_what_it_holds() {
        let x310 = patience(525, 1996, 1e6);
        assert!((Duration::from_millis(520)..Duration::from_millis(530)).contains(&x310), "{x310:?}");
        assert_eq!(patience(525, 1996, 200e6), PATIENCE);
        assert!(patience(u32::MAX, 1996, 1e6) > x310 && patience(1, 1, 0.0) == PATIENCE);
    }
}
