//! The receiving direction, as something that takes turns.

use std::sync::Arc;
use std::time::Duration;

use takt_base::{Complex32, MonoNs, Tick};
use takt_live::tap::TapWriter;
use takt_packet::Counters;
use takt_radio::n200::{ClockReading, RxStats, RxStreamer};
use takt_radio::{Net, RadioError, Received, RxEvent, RxStream};

use super::account::{Account, Closed, Place, Span};
use super::backlog::Recorder;
use super::faults::{Fault, Faults, Letter};
use super::intervals::RxTally;
use super::numbers::Numbers;
use super::outcome::{Rx, RxPlaces};
use super::{CALL_DATAGRAMS, PATIENCE};

mod delivery;
#[cfg(test)]
mod tests;

/// When so many turns after the end brought nothing, nothing will come: 100 ms; of a slow radio, longer.
const QUIET_TURNS: u32 = 10;
/// A round that ends by more than this before its time was stopped; of a slow radio, by more.
const EARLY: Duration = Duration::from_millis(1);
/// Longest time in which what is left is read: eight times what the largest receive buffer holds of 25 MS/s.
const DRAIN: Duration = Duration::from_secs(4);
/// A read returns by then, full or not, so that each part of a round has some.
const TURN: Duration = Duration::from_millis(10);

#[derive(Clone, Copy, Debug, Default)]
struct RxCounts {
    overflows: u64,
    gaps: u64,
    lost_datagrams: u64,
    late: u64,
    timeouts: u64,
    unknown: u64,
    retimed: u64,
    stats: RxStats,
    engine: Counters,
}

pub(super) struct RxSide {
    net: Arc<dyn Net>,
    streamer: RxStreamer,
    /// Relates the radio's clock to this host's.
    clocks: ClockReading,
    buffers: Vec<Vec<Complex32>>,
    span: Span,
    account: Account,
    backlog: Recorder,
    delivery: delivery::Recorder,
    faults: Faults,
    numbers: Option<Numbers>,
    /// Takes a few samples for who looks.
    tap: Option<TapWriter>,
    counts: RxCounts,
    /// Counts when the warm-up ended.
    base: Option<RxCounts>,
    /// Counts when the last sample of the span had come.
    done: Option<RxCounts>,
    /// Since when nothing has come.
    silent_since: Option<MonoNs>,
    /// The measured part is over, and what is left is read.
    draining: bool,
}

/// Room for a call that asks for so many datagrams.
fn buffers(streamer: &RxStreamer, datagrams: usize) -> Vec<Vec<Complex32>> {
    vec![vec![Complex32::default(); datagrams * streamer.samples_per_datagram()]; streamer.channels()]
}

impl RxSide {
    /// Starts the stream at `start`; what counts begins `warm_up` later and lasts for `duration`.
    pub(super) fn start(
        net: Arc<dyn Net>,
        mut streamer: RxStreamer,
        clocks: ClockReading,
        start: Tick,
        [warm_up, duration]: [Duration; 2],
    ) -> Result<RxSide, RadioError> {
        let step = streamer.ticks_per_sample().0;
        let ticks = |span: Duration| clocks.clock.ticks_in(span).0.div_ceil(step) * step;
        let from = Tick(start.0 + ticks(warm_up));
        let span = Span { from, to: Tick(from.0 + ticks(duration)), step };
        streamer.start(Some(start))?;
        Ok(RxSide {
            buffers: buffers(&streamer, CALL_DATAGRAMS),
            account: Account::new(start, span),
            backlog: Recorder::new(clocks.host_at(span.from), clocks.host_at(span.to)),
            delivery: delivery::Recorder::default(),
            faults: Faults::with_room(),
            numbers: None,
            tap: None,
            counts: RxCounts::default(),
            base: None,
            done: None,
            silent_since: None,
            draining: false,
            net,
            streamer,
            clocks,
            span,
        })
    }

    /// The radio plays a `counter`: samples are counted by their numbers too.
    pub(super) fn with_numbers(self) -> RxSide {
        let numbers = Numbers::new(self.span, self.streamer.full_scale());
        RxSide { numbers: Some(numbers), ..self }
    }

    /// The stream offers samples of the first channel to a tap.
    pub(super) fn with_tap(self, tap: Option<TapWriter>) -> RxSide {
        RxSide { tap, ..self }
    }

    /// A call asks for so many datagrams' worth of samples, instead of [`CALL_DATAGRAMS`].
    pub(super) fn with_call(self, datagrams: usize) -> RxSide {
        RxSide { buffers: buffers(&self.streamer, datagrams), ..self }
    }

    /// Receives until the buffers are full, something happened, or `until`; returns after [`TURN`] at the latest. How many
    /// samples came on each channel.
    pub(super) fn turn(&mut self, until: MonoNs) -> Result<usize, RadioError> {
        let mut buffers: [&mut [Complex32]; 2] = [&mut [], &mut []];
        let channels = self.buffers.len();
        for (slot, buffer) in buffers.iter_mut().zip(&mut self.buffers) {
            *slot = buffer;
        }
        let until = until.min(self.net.now() + TURN);
        let received = self.streamer.recv(&mut buffers[..channels], until)?;
        let now = self.net.now();
        self.take(&received)?;
        if let (Some(numbers), Some(samples)) = (&mut self.numbers, self.buffers.first()) {
            numbers.take(received.first, samples.get(..received.samples).unwrap_or_default());
        }
        if let (Some(tap), Some(samples)) = (&mut self.tap, self.buffers.first()) {
            tap.offer(samples.get(..received.samples).unwrap_or_default());
        }
        if received.samples > 0 {
            let behind = now.saturating_since(self.clocks.host_at(self.account.at));
            self.backlog.note(now, behind);
            if self.is_measuring() && !self.draining {
                self.delivery.note(behind);
            }
        }
        if received.samples > 0 || received.event.is_some() || self.draining {
            self.silent_since = None;
        } else {
            self.silent(now);
        }
        if self.done.is_none() && self.base.is_some() && self.account.is_complete() {
            self.done = Some(self.snapshot());
        }
        Ok(received.samples)
    }

    /// Accounts for what a call brought.
    fn take(&mut self, received: &Received) -> Result<(), RadioError> {
        if received.samples > 0 {
            let from = self.account.at;
            let unsent = self.account.deliver(received.first, received.samples as u64);
            self.note(Letter::L, from, received.first, unsent);
        }
        let from = self.account.at;
        match received.event {
            Some(RxEvent::Overflow { lost, .. }) => {
                let in_span = self.account.lose(lost, Place::Radio);
                self.counts.overflows += u64::from(in_span > 0);
                self.note(Letter::O, from, self.account.at, in_span);
            }
            Some(RxEvent::Dropped { lost, datagrams, .. }) => {
                let in_span = self.account.lose(lost, Place::Way);
                self.counts.gaps += u64::from(in_span > 0);
                self.counts.lost_datagrams += (datagrams * in_span).div_ceil(lost.max(1));
                self.note(Letter::D, from, self.account.at, in_span);
            }
            // The stream never began, or has come to its end: from now.
            Some(RxEvent::Late { .. }) => {
                self.counts.late += 1;
                if self.is_measuring() {
                    let (from_tick, to_tick) = (from.0, self.clocks.tick_at(self.net.now()).0);
                    self.faults.push(Fault { letter: Letter::L, from_tick, to_tick, samples: 0 });
                }
                self.streamer.start(None)?;
            }
            Some(RxEvent::Retimed) => self.counts.retimed += 1,
            Some(RxEvent::Unknown { .. }) => self.counts.unknown += 1,
            _ => {}
        }
        Ok(())
    }

    /// Keeps what was lost of the span, and when.
    fn note(&mut self, letter: Letter, from: Tick, to: Tick, samples: u64) {
        if samples > 0 {
            self.faults.push(Fault { letter, from_tick: from.0, to_tick: to.0, samples });
        }
    }

    /// Nothing came in this turn.
    fn silent(&mut self, now: MonoNs) {
        let since = *self.silent_since.get_or_insert(now);
        if now - since >= self.clocks.speed.patience(PATIENCE) {
            self.counts.timeouts += 1;
            if self.is_measuring() {
                let [from_tick, to_tick] = [since, now].map(|at| self.clocks.tick_at(at).0);
                self.faults.push(Fault { letter: Letter::T, from_tick, to_tick, samples: 0 });
            }
            self.silent_since = Some(now);
        }
    }

    fn snapshot(&self) -> RxCounts {
        RxCounts { stats: self.streamer.stats(), engine: self.streamer.engine_counters(), ..self.counts }
    }

    /// The warm-up is over by this host's clock: counts of what has no place on the radio's begin here.
    pub(super) fn begin_measuring(&mut self) {
        self.streamer.reset_longest_pause();
        self.base = Some(self.snapshot());
    }

    pub(super) fn is_measuring(&self) -> bool {
        self.base.is_some()
    }

    /// The counts of the measured part so far, all channels together; zeros before it begins.
    pub(super) fn so_far(&self) -> RxTally {
        let Some(base) = &self.base else { return RxTally::default() };
        let channels = self.streamer.channels() as u64;
        let (delivered, lost) = self.account.so_far();
        let RxCounts { overflows, gaps, late, timeouts, .. } = self.counts;
        [delivered * channels, lost * channels, overflows, gaps, late - base.late, timeouts - base.timeouts]
    }

    /// Reads what is left of the measured part, ends the stream, and adds up.
    pub(super) fn finish(mut self) -> Rx {
        let now = self.net.now();
        // Ended before its time. The two clocks may be apart by less than this.
        if now + self.clocks.speed.patience(EARLY) < self.clocks.host_at(self.span.to) {
            self.span = self.span.ending_by(self.clocks.tick_at(now).max(self.account.at));
            self.account.cut(self.span);
            self.numbers.iter_mut().for_each(|numbers| numbers.cut(self.span.samples()));
        }
        let end = self.clocks.host_at(self.span.to).min(now);
        let at_end = end.saturating_since(self.clocks.host_at(self.account.at));
        let pause = self.streamer.stats().longest_pause;
        self.draining = true;
        self.numbers.iter_mut().for_each(Numbers::end);
        // The radio still streams: its own clock may be behind, and the span is one of that clock.
        self.drain(now + self.clocks.speed.patience(DRAIN));
        let rest = self.net.now().saturating_since(now);
        // The radio may be gone; what was counted stands, and what is missing is missing.
        let _ = self.streamer.stop();
        let mut done = self.done.unwrap_or_else(|| self.snapshot());
        done.stats.longest_pause = pause; // waiting for the rest is no pause of the reader
        let closed = self.account.close();
        self.note(Letter::D, self.account.at, self.span.to, closed.lost.tail);
        self.add_up(closed, [at_end, rest], done)
    }

    /// Reads until the span is complete, or nothing comes any more.
    fn drain(&mut self, until: MonoNs) {
        let quiet_turns = self.clocks.speed.patience(QUIET_TURNS * TURN).as_nanos() / TURN.as_nanos();
        let mut empty = 0;
        while !self.account.is_complete() && empty < quiet_turns && self.net.now() < until {
            match self.turn(until) {
                Ok(0) => empty += 1,
                Ok(_) => empty = 0,
                Err(_) => return,
            }
        }
    }

    fn add_up(self, closed: Closed, [at_end, rest]: [Duration; 2], done: RxCounts) -> Rx {
        let base = self.base.unwrap_or(done);
        let channels = self.streamer.channels() as u64;
        let limits = self.streamer.engine_limits();
        let size = self.streamer.samples_per_datagram();
        let tail_datagrams = closed.lost.tail.div_ceil(size as u64) * channels;
        let lost_datagrams = done.lost_datagrams + tail_datagrams;
        let takt = done.stats.crowded_out_datagrams - base.stats.crowded_out_datagrams;
        // The socket's drops have no place on the radio's clock. Over the whole stream what was lost elsewhere is the rest.
        let all_lost = done.stats.missing_datagrams + tail_datagrams;
        let in_buffer = done.engine.receive_buffer_drops.map(|drops| {
            let elsewhere = all_lost.saturating_sub(drops);
            lost_datagrams.saturating_sub(elsewhere)
        });
        let places = RxPlaces {
            radio_samples: closed.lost.radio * channels,
            path_datagrams: lost_datagrams.saturating_sub(in_buffer.unwrap_or(0)).saturating_sub(takt),
            receive_buffer_datagrams: in_buffer,
            takt_datagrams: takt,
        };
        let buffer_datagrams = limits.recv_buffer_bytes as f64 / limits.max_payload_bytes as f64;
        let rate_sps = self.streamer.rate_sps() * self.clocks.speed.seconds();
        let recv_buffer_s = buffer_datagrams * size as f64 / rate_sps;
        Rx {
            samples: closed.delivered * channels,
            dropped: (closed.lost.all() - closed.lost.unsent) * channels,
            unsent_samples: closed.lost.unsent * channels,
            overflows: done.overflows,
            sequence_errors: done.gaps + u64::from(closed.lost.tail > 0),
            late: done.late - base.late,
            timeouts: done.timeouts.saturating_sub(base.timeouts),
            expected_samples: closed.samples * channels,
            tail_samples: closed.lost.tail * channels,
            retimed: done.retimed - base.retimed,
            span_ticks: [self.span.from.0, self.span.to.0],
            faults: self.faults,
            counted: self.numbers.map(Numbers::close),
            backlog: self.backlog.end(at_end, rest, recv_buffer_s),
            delivery: self.delivery.end(),
            lost_by_place: places,
            datagrams: done.stats.datagrams - base.stats.datagrams,
            lost_datagrams,
            bad_datagrams: done.stats.bad_datagrams - base.stats.bad_datagrams,
            reordered_datagrams: done.stats.reordered_datagrams - base.stats.reordered_datagrams,
            stale_datagrams: done.stats.stale_datagrams - base.stats.stale_datagrams,
            uncorroborated_gaps: done.stats.uncorroborated_gaps - base.stats.uncorroborated_gaps,
            unknown_messages: done.unknown - base.unknown,
            samples_per_datagram: size,
            recv_buffer_bytes: limits.recv_buffer_bytes,
            recv_buffer_s,
            longest_pause_ns: u64::try_from(done.stats.longest_pause.as_nanos()).unwrap_or(u64::MAX),
            receive_calls: done.engine.receive_calls - base.engine.receive_calls,
        }
    }
}
