//! The two directions of a stream, each as something that takes turns.

use std::sync::Arc;
use std::time::Duration;

use takt_base::{Clock, Complex32, MonoNs, Tick};
use takt_packet::Counters;
use takt_radio::n200::{RxStats, RxStreamer, TxStats, TxStreamer};
use takt_radio::{Burst, RadioError, RxEvent, RxStream, TxStream, WallNet};

use super::outcome::{Rx, RxPlaces, Tx};

/// A call that brings nothing, or takes nothing, for so long counts as a timeout.
pub(super) const PATIENCE: Duration = Duration::from_millis(100);
/// Datagrams of samples in a call.
const CALL_DATAGRAMS: usize = 96;

/// What was counted at one instant.
#[derive(Clone, Copy, Debug, Default)]
struct RxCounts {
    at: MonoNs,
    samples: u64,
    lost: u64,
    lost_in_radio: u64,
    overflows: u64,
    gaps: u64,
    lost_datagrams: u64,
    late: u64,
    timeouts: u64,
    unknown: u64,
    stats: RxStats,
    engine: Counters,
}

/// The receiving side.
pub(super) struct RxSide {
    net: Arc<WallNet>,
    streamer: RxStreamer,
    buffers: Vec<Vec<Complex32>>,
    counts: RxCounts,
    /// Counts when the warm-up ended.
    base: Option<RxCounts>,
    /// When something last came.
    heard: Option<MonoNs>,
}

impl RxSide {
    pub(super) fn new(net: Arc<WallNet>, streamer: RxStreamer) -> RxSide {
        let samples = CALL_DATAGRAMS * streamer.samples_per_datagram();
        let buffers = vec![vec![Complex32::default(); samples]; streamer.channels()];
        RxSide { net, streamer, buffers, counts: RxCounts::default(), base: None, heard: None }
    }

    pub(super) fn start(&mut self, at: Tick) -> Result<(), RadioError> {
        self.streamer.start(Some(at))
    }

    /// Receives until the buffers are full, something happened, or `until`.
    pub(super) fn turn(&mut self, until: MonoNs) -> Result<(), RadioError> {
        let mut buffers: [&mut [Complex32]; 2] = [&mut [], &mut []];
        let channels = self.buffers.len();
        for (slot, buffer) in buffers.iter_mut().zip(&mut self.buffers) {
            *slot = buffer;
        }
        let received = self.streamer.recv(&mut buffers[..channels], until)?;
        let counts = &mut self.counts;
        counts.samples += received.samples as u64;
        if received.samples > 0 || received.event.is_some() {
            self.heard = None;
        } else {
            self.silent();
        }
        let counts = &mut self.counts;
        match received.event {
            Some(RxEvent::Overflow { lost, .. }) => {
                counts.overflows += 1;
                counts.lost += lost;
                counts.lost_in_radio += lost;
            }
            Some(RxEvent::Dropped { lost, datagrams, .. }) => {
                counts.gaps += 1;
                counts.lost += lost;
                counts.lost_datagrams += datagrams;
            }
            // The stream never began, or has come to its end: from now.
            Some(RxEvent::Late { .. }) => {
                counts.late += 1;
                self.streamer.start(None)?;
            }
            Some(RxEvent::Unknown { .. }) => counts.unknown += 1,
            _ => {}
        }
        Ok(())
    }

    /// Nothing came in this turn.
    fn silent(&mut self) {
        let now = self.net.now();
        let since = *self.heard.get_or_insert(now);
        if now - since >= PATIENCE {
            self.counts.timeouts += 1;
            self.heard = Some(now);
        }
    }

    fn snapshot(&self) -> RxCounts {
        let stats = self.streamer.stats();
        RxCounts { at: self.net.now(), stats, engine: self.streamer.engine_counters(), ..self.counts }
    }

    /// What counts begins here.
    pub(super) fn begin_measuring(&mut self) {
        self.streamer.reset_longest_pause();
        self.base = Some(self.snapshot());
    }

    pub(super) fn is_measuring(&self) -> bool {
        self.base.is_some()
    }

    /// Ends the stream; what was counted since [`RxSide::begin_measuring`].
    pub(super) fn finish(mut self) -> Rx {
        let now = self.snapshot();
        let base = self.base.unwrap_or(now);
        // The radio may be gone; what was counted stands.
        let _ = self.streamer.stop();
        let channels = self.streamer.channels() as u64;
        let seconds = (now.at - base.at).as_secs_f64();
        let limits = self.streamer.engine_limits();
        let size = self.streamer.samples_per_datagram();
        let lost_datagrams = now.lost_datagrams - base.lost_datagrams;
        let drops = now.engine.receive_buffer_drops.zip(base.engine.receive_buffer_drops).map(|(n, b)| n - b);
        let takt = now.stats.crowded_out_datagrams - base.stats.crowded_out_datagrams;
        // What the socket dropped while nothing was missing to the stream was no sample of it.
        let in_buffer = drops.map(|drops| drops.min(lost_datagrams));
        let places = RxPlaces {
            radio_samples: (now.lost_in_radio - base.lost_in_radio) * channels,
            path_datagrams: lost_datagrams.saturating_sub(in_buffer.unwrap_or(0)).saturating_sub(takt),
            receive_buffer_datagrams: in_buffer,
            takt_datagrams: takt,
        };
        let frame_bytes = limits.max_payload_bytes;
        let buffer_datagrams = limits.recv_buffer_bytes as f64 / frame_bytes as f64;
        Rx {
            samples: (now.samples - base.samples) * channels,
            dropped: (now.lost - base.lost) * channels,
            overflows: now.overflows - base.overflows,
            sequence_errors: now.gaps - base.gaps,
            late: now.late - base.late,
            timeouts: now.timeouts - base.timeouts,
            expected_samples: (self.streamer.rate_sps() * seconds).round() as u64 * channels,
            lost_by_place: places,
            datagrams: now.stats.datagrams - base.stats.datagrams,
            lost_datagrams,
            bad_datagrams: now.stats.bad_datagrams - base.stats.bad_datagrams,
            reordered_datagrams: now.stats.reordered_datagrams - base.stats.reordered_datagrams,
            stale_datagrams: now.stats.stale_datagrams - base.stats.stale_datagrams,
            uncorroborated_gaps: now.stats.uncorroborated_gaps - base.stats.uncorroborated_gaps,
            unknown_messages: now.unknown - base.unknown,
            samples_per_datagram: size,
            recv_buffer_bytes: limits.recv_buffer_bytes,
            recv_buffer_s: buffer_datagrams * size as f64 / self.streamer.rate_sps(),
            longest_pause_ns: u64::try_from(now.stats.longest_pause.as_nanos()).unwrap_or(u64::MAX),
            receive_calls: now.engine.receive_calls - base.engine.receive_calls,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct TxCounts {
    at: MonoNs,
    timeouts: u64,
    stats: TxStats,
    engine: Counters,
}

/// The transmitting side.
pub(super) struct TxSide {
    net: Arc<WallNet>,
    streamer: TxStreamer,
    samples: Vec<Complex32>,
    /// When the burst starts, until it has.
    at: Option<Tick>,
    timeouts: u64,
    base: Option<TxCounts>,
    /// When something was last taken.
    shut: Option<MonoNs>,
}

impl TxSide {
    pub(super) fn new(net: Arc<WallNet>, streamer: TxStreamer) -> TxSide {
        let count = CALL_DATAGRAMS * streamer.samples_per_datagram();
        // A tone of an eighth of the rate at half of full scale.
        let tone = |n: usize| Complex32::from_polar(0.5, std::f32::consts::FRAC_PI_4 * (n % 8) as f32);
        let samples = (0..count).map(tone).collect();
        TxSide { net, streamer, samples, at: None, timeouts: 0, base: None, shut: None }
    }

    /// The burst shall start at `at`.
    pub(super) fn start(&mut self, at: Tick) {
        self.at = Some(at);
    }

    /// Sends a call's worth, or what the radio takes until `until`.
    pub(super) fn turn(&mut self, until: MonoNs) -> Result<(), RadioError> {
        let burst = self.at.map_or(Burst::GO_ON, Burst::at);
        let taken = self.streamer.send(&[&self.samples], burst, until)?;
        if taken > 0 {
            self.at = None;
        }
        if taken == self.samples.len() {
            self.shut = None;
            return Ok(());
        }
        let now = self.net.now();
        let since = *self.shut.get_or_insert(now);
        if now - since >= PATIENCE {
            self.timeouts += 1;
            self.shut = Some(now);
        }
        Ok(())
    }

    fn snapshot(&self) -> TxCounts {
        let (stats, engine) = (self.streamer.stats(), self.streamer.engine_counters());
        TxCounts { at: self.net.now(), timeouts: self.timeouts, stats, engine }
    }

    /// What counts begins here.
    pub(super) fn begin_measuring(&mut self) {
        self.base = Some(self.snapshot());
    }

    pub(super) fn is_measuring(&self) -> bool {
        self.base.is_some()
    }

    /// Takes in what the radio has reported; what was counted since [`TxSide::begin_measuring`]. Then ends the burst.
    pub(super) fn finish(mut self) -> Result<Tx, RadioError> {
        while self.streamer.event(self.net.now())?.is_some() {}
        let now = self.snapshot();
        let base = self.base.unwrap_or(now);
        self.streamer.send(&[&[]], Burst::END, self.net.now() + PATIENCE)?;
        let seconds = (now.at - base.at).as_secs_f64();
        let limits = self.streamer.engine_limits();
        Ok(Tx {
            samples: now.stats.samples - base.stats.samples,
            underflows: now.stats.underflows - base.stats.underflows,
            sequence_errors: now.stats.sequence_errors - base.stats.sequence_errors,
            late: now.stats.late - base.stats.late,
            timeouts: now.timeouts - base.timeouts,
            expected_samples: (self.streamer.rate_sps() * seconds).round() as u64,
            datagrams: now.stats.datagrams - base.stats.datagrams,
            burst_acks: now.stats.burst_acks - base.stats.burst_acks,
            unknown_reports: now.stats.unknown_events - base.stats.unknown_events,
            samples_per_datagram: self.streamer.samples_per_datagram(),
            window_datagrams: self.streamer.window_datagrams(),
            given_up_datagrams: now.stats.given_up_datagrams - base.stats.given_up_datagrams,
            waits: now.stats.waits - base.stats.waits,
            send_calls: now.engine.send_calls - base.engine.send_calls,
            aggregated: limits.aggregates_sends,
        })
    }
}
