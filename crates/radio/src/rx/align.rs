//! From datagrams to samples that are contiguous in time and alike on all channels.

use std::time::Duration;

use takt_base::{MonoNs, Tick, Ticks};
use takt_packet::Wait;

use super::RxStreamer;
use super::lane::Head;
use super::recovery::Restart;
use super::sink::Sink;
use super::source::Message;
use crate::{RadioError, Received, RxEvent};

/// A shorter sleep than this costs more than it saves.
const SHORTEST_NAP: Duration = Duration::from_micros(100);

/// How long after its end a run must have been seen to end; of a slow radio, longer.
const TAIL_OVERDUE: Duration = Duration::from_millis(200);

/// Next step that the lanes allow.
enum Step {
    /// So many samples, contiguous with what was delivered, on every channel.
    Run(u64),
    /// The next samples are at this tick, later than they should be.
    Gap(u64),
    /// Something to tell.
    Event(RxEvent),
    /// The radio stopped on this channel.
    Stopped(u8),
    /// Look again.
    Again,
    /// Nothing without more datagrams.
    Starved,
}

impl RxStreamer {
    pub(super) fn receive<T>(
        &mut self,
        sink: &mut Sink<'_, '_, T, impl Fn(&[u8], &mut [T]) -> usize>,
        until: MonoNs,
    ) -> Result<Received, RadioError> {
        if sink.channels() != self.lanes.len() {
            return Err(RadioError::Channels { have: self.lanes.len(), got: sink.channels() });
        }
        let room = sink.room();
        let mut filled = 0;
        // Position of the stream as the call begins, unless it has none yet: then its first sample tells.
        let mut first = self.at;
        let event = loop {
            if let Some(event) = self.pending.take() {
                break Some(event);
            }
            match self.step() {
                Step::Again => {}
                Step::Run(_) if filled == room => break None,
                Step::Run(samples) => {
                    first = first.or(self.at);
                    let (end, burst_ended) = self.deliver(sink, filled, samples);
                    filled = end;
                    if burst_ended {
                        self.end_run();
                        break Some(RxEvent::EndOfBurst);
                    }
                }
                Step::Gap(resume) => break Some(self.bridge(resume)),
                Step::Event(event) => break Some(event),
                Step::Stopped(channel) => {
                    self.tally.overflows += 1;
                    self.restart = Some(Restart::after_overflow_of(channel));
                    if let Some(event) = self.start_again(until)? {
                        break Some(event);
                    }
                }
                Step::Starved if filled == room && room > 0 => break None,
                Step::Starved => {
                    let now = self.net.now();
                    self.source.touch(now);
                    if now >= until {
                        self.source.check()?;
                        break self.tail_lost_by(now);
                    }
                    self.see_to_silence();
                    if let Some(event) = self.see_to_restart(now, until)? {
                        break Some(event);
                    }
                    self.pull(now, until, (room - filled) as u64)?;
                }
            }
        };
        Ok(Received { samples: filled, first: Tick(first.unwrap_or(self.reached)), event })
    }

    /// Looks at the heads of all lanes: messages before samples, since a channel that has none may have said why.
    fn step(&mut self) -> Step {
        let from = self.at.unwrap_or(0).max(self.floor);
        let jump = self.restart.is_some();
        let next_run = self.plan.queued().next().and_then(|run| run.first);
        let (mut latest, mut least) = (0, u64::MAX);
        let (mut starved, mut retimed) = (false, false);
        for channel in 0..self.lanes.len() {
            match self.lanes[channel].head(from, jump, next_run) {
                Head::Message { tick, message } => return self.message(channel as u8, tick, message),
                Head::Empty => starved = true,
                Head::Retimed => retimed = true,
                Head::Samples { tick, count } => {
                    latest = latest.max(tick);
                    least = least.min(count);
                }
            }
        }
        if starved {
            return Step::Starved;
        }
        if retimed {
            self.expect(None);
            return Step::Event(RxEvent::Retimed);
        }
        match self.at {
            Some(at) if latest > at => Step::Gap(latest),
            Some(_) => Step::Run(least),
            None => {
                self.at = Some(latest);
                self.reached = latest;
                self.plan.begin(latest);
                Step::Again
            }
        }
    }

    fn message(&mut self, channel: u8, tick: u64, message: Message) -> Step {
        match message {
            // One that stopped before the restart already under way has been dealt with.
            Message::Overflow if self.restart.is_some() && tick < self.floor => Step::Again,
            Message::Overflow => Step::Stopped(channel),
            Message::LateCommand if self.restart.is_some() => {
                self.tally.late_restarts += 1;
                self.restart_again();
                Step::Again
            }
            Message::LateCommand => {
                let planned = self.plan.current().and_then(|run| run.first).unwrap_or(tick);
                self.reported_by(channel, RxEvent::Late { channel, by: Ticks(tick.saturating_sub(planned)) })
            }
            Message::BrokenChain => self.reported_by(channel, RxEvent::BrokenChain { channel }),
            Message::StopWhileIdle => {
                self.tally.stops_while_idle += 1;
                Step::Again
            }
            Message::Other(code) => Step::Event(RxEvent::Unknown { channel, code }),
        }
    }

    /// The current run is over on this channel. The first channel ends it, the others say the same again.
    fn reported_by(&mut self, channel: u8, event: RxEvent) -> Step {
        let bit = 1 << channel;
        if self.reported != 0 && self.reported & bit == 0 {
            self.reported |= bit;
            return Step::Again;
        }
        self.end_run();
        self.reported = bit;
        Step::Event(event)
    }

    /// The run in progress is over; the next one that was asked for begins where it was asked to.
    pub(super) fn end_run(&mut self) {
        self.plan.finish();
        self.restart = None;
        self.stopping = false;
        let next = self.plan.current().and_then(|run| run.first);
        self.expect(next);
        // Whatever repeats the past is no new run.
        self.floor = self.floor.max(self.reached);
    }

    /// Goes on after a gap, and says what it was.
    fn bridge(&mut self, resume: u64) -> RxEvent {
        // A gap that reaches beyond the end of its run took that end with it; what lies between two runs is not lost.
        let end = self.plan.current().and_then(|run| run.end(self.ticks_per_sample)).filter(|&end| resume >= end);
        let resume = end.unwrap_or(resume);
        let lost = resume.saturating_sub(self.reached) / self.ticks_per_sample;
        self.at = Some(resume);
        self.reached = resume;
        let event = match self.restart.take() {
            Some(restart) => RxEvent::Overflow { channel: restart.channel(), lost },
            None => {
                let (mut first, mut datagrams) = (None, 0);
                for (channel, lane) in self.lanes.iter_mut().enumerate() {
                    let missing = lane.miss(resume);
                    datagrams += missing;
                    first = first.or((missing > 0).then_some(channel as u8));
                }
                RxEvent::Dropped { channel: first.unwrap_or(0), datagrams, lost }
            }
        };
        if end.is_some() {
            self.end_run();
            self.pending = Some(RxEvent::EndOfBurst);
        }
        event
    }

    /// A run that should long be over and whose last datagrams have not come: there is none behind them to show the gap.
    fn tail_lost_by(&mut self, now: MonoNs) -> Option<RxEvent> {
        let end = self.plan.current()?.end(self.ticks_per_sample)?;
        self.at?;
        let overdue = self.source.host_at(Tick(end)) + self.speed.patience(TAIL_OVERDUE);
        (now >= overdue && self.restart.is_none()).then(|| self.bridge(end))
    }

    /// Converts `samples` of every channel, and what follows them in the lanes without a loss, into `sink` from `filled` on.
    /// Returns how far it is filled then, and whether a burst ended there.
    ///
    /// A run of datagrams in order is taken here as a whole: one [`RxStreamer::step`] for all of it.
    fn deliver<T>(
        &mut self,
        sink: &mut Sink<'_, '_, T, impl Fn(&[u8], &mut [T]) -> usize>,
        mut filled: usize,
        samples: u64,
    ) -> (usize, bool) {
        let (batch, room) = (self.engine.last_batch(), sink.room());
        let (mut next, mut burst_ended) = (samples, false);
        loop {
            let take = next.min(room.saturating_sub(filled) as u64);
            for (channel, lane) in self.lanes.iter_mut().enumerate() {
                let taken = lane.take(take, batch, |wire| sink.put(channel, filled, wire));
                self.last_arrival = taken.arrived;
                burst_ended |= taken.burst_ended;
            }
            filled += take as usize;
            self.reached = self.reached.saturating_add(take * self.ticks_per_sample);
            next = self.lanes.iter().map(|lane| lane.follows(self.reached)).min().unwrap_or(0);
            if burst_ended || next == 0 || filled >= room {
                break;
            }
        }
        self.at = Some(self.reached);
        (filled, burst_ended)
    }

    /// Fetches datagrams: at once if there are any, else after a nap in which a batch of them may gather.
    fn pull(&mut self, now: MonoNs, until: MonoNs, samples_wanted: u64) -> Result<(), RadioError> {
        let batch = self.engine.last_batch();
        self.lanes.iter_mut().for_each(|lane| lane.keep(batch));
        // After a full batch there may be more.
        if self.batch_was_full && self.fetch(Wait::Poll)? {
            return Ok(());
        }
        if let Some(wake) = self.nap_until(samples_wanted).filter(|&wake| wake > now) {
            self.net.sleep_until(wake.min(until));
        }
        let longest = self.source.read_until().unwrap_or(until);
        self.fetch(Wait::Until(until.min(longest))).map(drop)
    }

    /// When enough will have come to be worth a read; `None` when a nap would not pay.
    fn nap_until(&self, samples_wanted: u64) -> Option<MonoNs> {
        // Three quarters of a batch, so that one read empties the socket.
        let batch = (self.engine.limits().batch * 3 / 4 / self.lanes.len()) as u64;
        let datagrams = samples_wanted.div_ceil(self.samples_per_datagram).min(batch);
        let ticks = Ticks(datagrams * self.samples_per_datagram * self.ticks_per_sample);
        let gather = self.speed.duration_of(self.clock, ticks);
        let nap = gather.min(self.nap);
        self.last_read.filter(|_| nap >= SHORTEST_NAP).map(|last| last + nap)
    }

    /// Reads once; `true` if anything came.
    fn fetch(&mut self, wait: Wait) -> Result<bool, RadioError> {
        let batch = self.engine.recv(wait)?;
        for (index, datagram) in batch.iter().enumerate() {
            let channel = usize::from(datagram.port.0);
            if let Some(lane) = self.lanes.get_mut(channel) {
                lane.accept(index, &datagram, channel, &mut *self.source);
            }
        }
        let count = batch.len();
        let now = self.net.now();
        self.source.have_read(&mut *self.engine, now)?;
        self.batch_was_full = count == self.engine.limits().batch;
        if count > 0 {
            if let Some(last) = self.last_read {
                self.tally.longest_pause = self.tally.longest_pause.max(now - last);
            }
            self.last_read = Some(now);
        }
        Ok(count > 0)
    }
}
