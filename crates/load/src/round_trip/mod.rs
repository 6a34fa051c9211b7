//! How soon can this host answer what it received?
//!
//! ```text
//! radio   ──────[block]─────────────────────────────────────────────[answer]──>
//!                     E                                                 E + k      (ticks of the radio)
//! host            kernel has it · reader has it · answer sent · margin · due
//! ```
//!
//! The host receives a stream. It answers every n-th block: it knows the tick E of that block's last sample, and sends
//! a burst timed k later. The radio says of each answer whether it left at its time or came too late. The host writes
//! down when the block was in the kernel, when the reader had it, and when the answer was sent; the two clocks are read
//! together before and after, so each step is known on either.
//!
//! Answers are spaced so widely that none waits behind another: what is measured is the host, not a queue.

mod clocks;
mod options;
mod outcome;
mod reports;
pub(crate) mod workload;

use std::sync::Arc;
use std::time::Duration;

use takt_base::{Clock, Complex32, MonoNs, Progress, Speed, Stop, Tick, TickRate, Ticks};
use takt_host::placement::Placement;
use takt_radio::n200::OpenOptions;
use takt_radio::x310::MasterClock;
use takt_radio::{
    AnyOptions, Burst, Radio, RadioError, RxOptions, RxStream, RxStreamer, TxEvent, TxEventKind, TxOptions, TxStream,
    TxStreamer, WallNet,
};

use crate::rate::{RateError, check_model};
pub(crate) use clocks::ClockModel;
pub use options::RoundTripOptions;
pub use outcome::{DelayOutcome, RoundTripOutcome, Stages};
pub(crate) use outcome::{nanoseconds, record};
pub(crate) use reports::{RxLosses, Verdict};

const START_AHEAD: Duration = Duration::from_millis(50);
/// A stream that brings nothing for so long is a timeout.
const PATIENCE: Duration = Duration::from_millis(100);
/// How long after the last answer its report may come.
const LAST_REPORT: Duration = Duration::from_millis(200);
const CLOCK_TRIES: u32 = 32;
/// Radio time between two answers at least, beyond what the delays need.
const SPACING: Duration = Duration::from_millis(1);

#[derive(Clone, Copy, Debug)]
struct Answer {
    delay: usize,
    /// Tick of the last sample of the block that is answered.
    block_end: Tick,
    due: Tick,
    in_kernel: Option<MonoNs>,
    with_reader: MonoNs,
    sent: MonoNs,
    verdict: Verdict,
}

/// Runs a round. On the calling thread, which is tied to the CPU and given the priority that `options` name.
pub fn run(
    options: &RoundTripOptions,
    progress: &mut dyn FnMut(Progress),
    stop: &Stop,
) -> Result<RoundTripOutcome, RateError> {
    options.check()?;
    let net = Arc::new(WallNet::new(options.engine));
    let open = OpenOptions { force: options.force, transmit: options.transmit, ..OpenOptions::default() };
    let clock = MasterClock::for_rates([options.rate_sps]);
    let open = AnyOptions { n200: open, frame_bytes: None, clock };
    let mut radio = Radio::open(net.clone(), options.addr, &open)?;
    check_model(options.model, radio.model(), options.addr)?;
    let rx_options =
        RxOptions { coalesce: Duration::ZERO, stamps: true, force_buffer: false, ..RxOptions::new(options.rate_sps) };
    let rx = radio.rx_streamer(&rx_options)?;
    let tx = radio.tx_streamer(&TxOptions::new(options.rate_sps))?;
    let cpus = options.cpus.first().copied().into_iter().collect();
    Placement { cpus, priority: options.priority }.place_self()?;
    let before = radio.read_clocks(CLOCK_TRIES)?;
    let mut round = Round::new(&net, (before.clock, before.speed), rx, tx, options);
    round.run(&mut radio, progress, stop)?;
    let after = radio.read_clocks(CLOCK_TRIES)?;
    let clocks = ClockModel::through(before, after);
    round.tally.complete = !stop.requested();
    let serial = radio.about().serial.to_owned();
    let of = outcome::of(options, serial, &round.answers, &clocks, &round.tally);
    Ok(RoundTripOutcome { radio_speed: radio.speed().map(Speed::seconds), ..of })
}

/// How many answers a radio that names no datagram may be behind with.
const BEHIND: usize = 16;

/// The answer that a radio speaks of: each is one datagram, so its number names it. If there is none, the time does:
/// answers are due one after the other, and an event is not before its answer was due.
fn concerned<'a>(answers: &'a mut [Answer], unkept: u32, event: &TxEvent) -> Option<&'a mut Answer> {
    match event.sequence {
        Some(number) => answers.get_mut(number.checked_sub(unkept)? as usize),
        None => {
            let latest = answers.iter_mut().rev().take(BEHIND);
            let mut open = latest.filter(|answer| answer.verdict == Verdict::Unknown);
            open.find(|answer| answer.due <= event.tick)
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Tally {
    span_ticks: [u64; 2],
    /// For each answer that was due and could not be given: when what it would have answered was on the air.
    unanswered_ticks: Vec<u64>,
    losses: RxLosses,
    underflows: u64,
    sequence_errors: u64,
    complete: bool,
    spacing_s: f64,
}

struct Round<'a> {
    net: &'a WallNet,
    clock: TickRate,
    /// How fast the radio's time passes.
    speed: Speed,
    rx: RxStreamer,
    tx: TxStreamer,
    options: &'a RoundTripOptions,
    delays: Vec<Ticks>,
    /// From one answered block to the next, on the radio's clock: answers are due whatever is lost.
    spacing: Ticks,
    block: Vec<Complex32>,
    burst: Vec<Complex32>,
    answers: Vec<Answer>,
    /// Answers sent during the warm-up, which are not kept.
    unkept: u32,
    tally: Tally,
}

impl<'a> Round<'a> {
    fn new(
        net: &'a WallNet,
        (clock, speed): (TickRate, Speed),
        rx: RxStreamer,
        tx: TxStreamer,
        options: &'a RoundTripOptions,
    ) -> Round<'a> {
        let block_samples = options.block_samples.unwrap_or(rx.samples_per_datagram());
        let burst_samples = tx.samples_per_datagram().min(block_samples);
        let delays: Vec<Ticks> = options.delays.iter().map(|delay| clock.ticks_in(*delay)).collect();
        let block_ticks = block_samples as u64 * rx.ticks_per_sample().0;
        let burst_ticks = burst_samples as u64 * tx.ticks_per_sample().0;
        // The next answer, at its shortest delay, must be due after this one, at its longest, has left.
        let longest = delays.iter().map(|delay| delay.0).max().unwrap_or(0);
        let spacing = longest + burst_ticks + clock.ticks_in(SPACING).0;
        let spacing = Ticks(spacing.next_multiple_of(block_ticks));
        let spacing_s = clock.duration_of(spacing).as_secs_f64();
        let planned = options.duration.as_secs_f64() / spacing_s;
        Round {
            net,
            clock,
            speed,
            rx,
            tx,
            options,
            delays,
            spacing,
            block: vec![Complex32::default(); block_samples],
            burst: vec![Complex32::new(0.5, 0.0); burst_samples],
            answers: Vec::with_capacity(planned as usize + 16),
            unkept: 0,
            tally: Tally { spacing_s, unanswered_ticks: Vec::with_capacity(planned as usize + 16), ..Tally::default() },
        }
    }

    fn run(&mut self, radio: &mut Radio, progress: &mut dyn FnMut(Progress), stop: &Stop) -> Result<(), RateError> {
        let (clock, speed) = (self.clock, self.speed);
        let start = radio.time()? + speed.ticks_in(clock, START_AHEAD);
        self.rx.start(Some(start))?;
        let begun = self.net.now() + START_AHEAD;
        // Both spans are the radio's time.
        let measure = begun + speed.host_time(self.options.warm_up);
        let end = measure + speed.host_time(self.options.duration);
        let ticks = |span: Duration| start.0 + clock.ticks_in(span).0;
        self.tally.span_ticks = [ticks(self.options.warm_up), ticks(self.options.warm_up + self.options.duration)];
        let mut next = start + self.spacing;
        loop {
            let received = self.rx.recv(&mut [&mut self.block], self.net.now() + speed.patience(PATIENCE))?;
            let now = self.net.now();
            self.tally.losses.note(&received, &mut self.rx)?;
            if received.samples < self.block.len() {
                continue;
            }
            let last = received.first + Ticks((self.block.len() as u64 - 1) * self.rx.ticks_per_sample().0);
            if last >= next {
                let missed = (last - next).0 / self.spacing.0;
                if now >= measure {
                    self.tally.unanswered_ticks.extend((0..missed).map(|n| next.0 + n * self.spacing.0));
                }
                next += Ticks((missed + 1) * self.spacing.0);
                self.answer(last, now, now >= measure)?;
                let (elapsed, planned) = (now - begun, end - begun);
                progress(Progress { elapsed, planned, warm_up: now < measure });
                self.collect(self.net.now())?;
            }
            if now >= end || stop.requested() {
                return Ok(self.collect(self.net.now() + speed.patience(LAST_REPORT))?);
            }
        }
    }

    /// Answers the block whose last sample was at tick `block_end`.
    fn answer(&mut self, block_end: Tick, with_reader: MonoNs, keep: bool) -> Result<(), RadioError> {
        let delay = self.answers.len() % self.delays.len();
        let due = block_end + self.delays[delay];
        self.tx.send(&[&self.burst], Burst::at(due).ending(), with_reader + self.speed.patience(PATIENCE))?;
        let sent = self.net.now();
        if keep {
            let in_kernel = self.rx.last_arrival();
            self.answers.push(Answer {
                delay,
                block_end,
                due,
                in_kernel,
                with_reader,
                sent,
                verdict: Verdict::Unknown,
            });
        } else {
            self.unkept += 1;
        }
        Ok(())
    }

    /// Takes in what the radio says of the answers.
    fn collect(&mut self, until: MonoNs) -> Result<(), RadioError> {
        while let Some(event) = self.tx.event(until)? {
            let Some(verdict) = Verdict::of(event.kind) else { continue };
            self.tally.underflows += u64::from(event.kind == TxEventKind::Underflow);
            self.tally.sequence_errors += u64::from(event.kind == TxEventKind::SequenceError);
            if let Some(answer) = concerned(&mut self.answers, self.unkept, &event) {
                answer.verdict = verdict;
            }
            let complete = self.answers.last().is_none_or(|answer| answer.verdict != Verdict::Unknown);
            let last = self.unkept.wrapping_add(self.answers.len() as u32);
            if complete && event.sequence.is_none_or(|n| n.wrapping_add(1) == last) {
                break; // the last one that was sent
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers() -> Vec<Answer> {
        let at = |due| Answer {
            delay: 0,
            block_end: Tick(due - 50),
            due: Tick(due),
            in_kernel: None,
            with_reader: MonoNs(0),
            sent: MonoNs(0),
            verdict: Verdict::Unknown,
        };
        [100, 200, 300].map(at).to_vec()
    }

    fn event(sequence: Option<u32>, tick: u64) -> TxEvent {
        TxEvent { kind: TxEventKind::BurstAck, channel: 0, tick: Tick(tick), sequence }
    }

    fn due(answers: &mut [Answer], event: &TxEvent) -> Option<u64> {
        concerned(answers, 4, event).map(|answer| answer.due.0)
    }

    #[test]
    fn an_answer_is_named_by_its_datagram_or_by_the_time() {
        let mut answers = answers();
        assert_eq!(due(&mut answers, &event(Some(5), 0)), Some(200), "four were sent before those that are kept");
        assert_eq!(due(&mut answers, &event(Some(3), 0)), None);
        assert_eq!(due(&mut answers, &event(None, 110)), Some(100));
        assert_eq!(due(&mut answers, &event(None, 299)), Some(200));
        assert_eq!(due(&mut answers, &event(None, 99)), None, "of one that is not kept");
    }

    /// One whose report was lost stays open, and takes nobody else's.
    #[test]
    fn a_lost_report_shifts_no_other() {
        let mut answers = answers();
        concerned(&mut answers, 0, &event(None, 210)).unwrap().verdict = Verdict::OnTime;
        concerned(&mut answers, 0, &event(None, 310)).unwrap().verdict = Verdict::Late;
        let verdicts: Vec<Verdict> = answers.iter().map(|answer| answer.verdict).collect();
        assert_eq!(verdicts, [Verdict::Unknown, Verdict::OnTime, Verdict::Late]);
    }
}
