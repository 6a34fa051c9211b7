//! A base station or a terminal on the streams of a radio: subframe after subframe by the radio's time stamps.

use std::time::Duration;

use num_complex::Complex32;
use takt_base::{Clock, Stop};
use takt_host::thread_clock::ThreadClock;
use takt_radio::{Burst, RadioError, RxStream, TxEventKind, TxStream};

use crate::{AirError, SampleClock, SubframeReader, TerminalCore};

/// How long a call waits for samples before it looks whether the run shall end.
pub(crate) const PATIENCE: Duration = Duration::from_millis(100);

/// A wait for a subframe that shows that none before it waits.
const WAITED: Duration = Duration::from_micros(250);
/// Subframes after a search in which a terminal works off what came meanwhile, and sends nothing: it would come too late.
const MOST_BACKLOG: u64 = 300;

/// Passes packets between a link and its user, once a subframe.
pub trait PacketPort<Link> {
    /// Hands packets to the link and takes what arrived. `subframe` counts from the first of this end. `false` ends the run.
    ///
    /// # Errors
    /// The other side of the port is gone.
    fn exchange(&mut self, subframe: u64, link: &mut Link) -> Result<bool, AirError>;
}

/// The streams of one end, and when its first sample is.
pub struct EndStreams<'a> {
    /// The receive stream. It was started at `clock.origin`.
    pub rx: &'a mut (dyn RxStream + Send),
    /// The transmit stream.
    pub tx: &'a mut (dyn TxStream + Send),
    /// Places samples on the radio's clock.
    pub clock: SampleClock,
    /// The host's.
    pub host: &'a dyn Clock,
    /// The threads that ran, once they have ended.
    pub threads: Vec<ThreadUse>,
}

/// The time that a thread has run.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct ThreadUse {
    /// Its name, after its role, as `/proc/PID/task/TID/comm` shows it.
    pub thread: String,
    /// Seconds of a core.
    pub cpu_s: f64,
}

/// Counts of an end's samples, as its radio reports them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct EndCounts {
    /// Subframes that were received, or are missing.
    pub subframes: u64,
    /// Those of which samples are missing.
    pub lost_subframes: u64,
    /// Samples missing.
    pub lost_samples: u64,
    /// Subframes that were sent.
    pub sent_subframes: u64,
    /// `L`: bursts whose time had passed.
    pub late: u64,
    /// `U`: the radio ran dry within a burst.
    pub underflows: u64,
    /// Samples that the radio did not take in time.
    pub unsent_samples: u64,
}

impl EndCounts {
    /// Whether the radio's samples came and went in time, all of them.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.lost_samples == 0 && self.late == 0 && self.underflows == 0 && self.unsent_samples == 0
    }
}

impl EndStreams<'_> {
    /// Runs a terminal until `stop` is requested, or its port ends it.
    ///
    /// # Errors
    /// A stream or the port is gone.
    pub fn run_terminal(
        &mut self,
        terminal: &mut TerminalCore,
        port: &mut dyn PacketPort<TerminalCore>,
        stop: &Stop,
    ) -> Result<EndCounts, AirError> {
        let len = terminal.subframe_len();
        let clock = ThreadClock::of_this_thread();
        let ran_before = clock.ran();
        let mut sender = BurstSender { tx: &mut *self.tx, clock: self.clock, host: self.host };
        let (mut reader, mut samples) = (SubframeReader::new(len), vec![Complex32::default(); len]);
        let (mut counts, mut sent_upto) = (EndCounts::default(), 0);
        let (mut backlog, mut waited) = (0, self.host.now());
        while !stop.requested() && !reader.has_ended() {
            let Some(read) = reader.step(self.rx, &mut samples, self.host.now() + PATIENCE)? else { continue };
            counts.read(read.lost_samples);
            // Whoever had to wait for samples has none behind.
            let has_waited = self.host.now() - waited > self.rx.speed().host_time(WAITED);
            backlog = if has_waited { 0 } else { u64::saturating_sub(backlog, 1) };
            let step = terminal.subframe(read.begin, (read.lost_samples == 0).then_some(&mut samples))?;
            // The window moves by less than a subframe, or far ahead after a search.
            reader.begin_at(step.next_begin.max(reader.earliest()));
            if step.next_begin > read.begin + 2 * len as u64 {
                backlog = MOST_BACKLOG;
            }
            if let Some(at) = step.send_at.filter(|_| backlog == 0) {
                // A burst begins after the one before it, even if the advance grew between them.
                let late = sent_upto.max(at) - at;
                let out = &terminal.samples()[(late as usize).min(len)..];
                sender.send(&mut counts, out, at + late, true)?;
                sent_upto = at + len as u64;
            }
            if !port.exchange(counts.subframes - 1, terminal)? {
                break;
            }
            waited = self.host.now();
        }
        sender.take_events(&mut counts)?;
        self.threads = vec![ThreadUse::of_this("ue-worker", clock.ran() - ran_before)];
        Ok(counts)
    }
}

/// The sending side of an end.
pub(crate) struct BurstSender<'a> {
    pub(crate) tx: &'a mut (dyn TxStream + Send),
    pub(crate) clock: SampleClock,
    pub(crate) host: &'a dyn Clock,
}

impl BurstSender<'_> {
    /// Sends a burst whose first sample is number `at`.
    pub(crate) fn send(
        &mut self,
        counts: &mut EndCounts,
        out: &[Complex32],
        at: u64,
        ends: bool,
    ) -> Result<(), RadioError> {
        let burst = Burst { at: Some(self.clock.tick(at)), ends };
        let until = self.host.now() + PATIENCE;
        let taken = self.tx.send(&[out], burst, until)?;
        counts.sent_subframes += 1;
        counts.unsent_samples += (out.len() - taken) as u64;
        self.take_events(counts)
    }

    pub(crate) fn take_events(&mut self, counts: &mut EndCounts) -> Result<(), RadioError> {
        let now = self.host.now();
        while let Some(event) = self.tx.event(now)? {
            match event.kind {
                TxEventKind::Late => counts.late += 1,
                TxEventKind::Underflow => counts.underflows += 1,
                _ => {}
            }
        }
        Ok(())
    }

    pub(crate) fn finish(&mut self, counts: &mut EndCounts) -> Result<(), RadioError> {
        self.take_events(counts)?;
        let _ = self.tx.send(&[&[]], Burst::END, self.host.now() + PATIENCE)?;
        Ok(())
    }
}

impl ThreadUse {
    /// CPU time of the calling thread; `role` names a thread without a name of its own.
    pub(crate) fn of_this(role: &str, ran: Duration) -> ThreadUse {
        let thread = std::thread::current().name().filter(|name| *name != "main").unwrap_or(role).to_owned();
        ThreadUse { thread, cpu_s: ran.as_secs_f64() }
    }
}

impl EndCounts {
    pub(crate) fn read(&mut self, lost_samples: u64) {
        self.subframes += 1;
        self.lost_subframes += u64::from(lost_samples > 0);
        self.lost_samples += lost_samples;
    }
}
