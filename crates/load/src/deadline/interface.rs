//! The data interface: samples in, answers out.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

use num_complex::Complex;
use takt_base::{Clock, MonoNs, Stop, Tick, Ticks, WallClock};
use takt_dsp::tdscdma::{ANSWER_SAMPLES, FIRST_DOWNLINK_NS, SAMPLES};
use takt_host::thread_clock::ThreadClock;
use takt_host::timer::{self, Timer};
use takt_radio::n200::{CLOCK, RxStreamer, TxStreamer};
use takt_radio::{Burst, RxStream, TxStream};

use super::assembler::{Assembler, Placed};
use super::error::doing;
use super::exchange::Exchange;
use super::handing::Handing;
use super::memory::Cells;
use super::options::{DeadlineOptions, Handover, Wake};
use super::placement::ThreadPlacement;
use super::stages::{self, Row};
use super::{DeadlineError, SUBFRAME_NS, limit_tick, ns, subframe_ticks};
use crate::round_trip::{ClockModel, RxLosses, Verdict};

const PATIENCE: Duration = Duration::from_millis(100);
const LAST_REPORT: Duration = Duration::from_millis(200);

#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    start: Tick,
    clocks: ClockModel,
    /// Subframes before those that are kept.
    pub(super) warm_up: u64,
    pub(super) subframes: u64,
}

impl Plan {
    pub(super) fn new(options: &DeadlineOptions, start: Tick, clocks: ClockModel) -> Plan {
        let of = |span: Duration| (span.as_nanos() / u128::from(SUBFRAME_NS)) as u64;
        let warm_up = of(options.warm_up);
        Plan { start, clocks, warm_up, subframes: warm_up + of(options.duration) }
    }

    /// When a subframe begins, on the radio's clock.
    pub(super) fn begins(&self, number: u64) -> Tick {
        self.start + Ticks(number * subframe_ticks().0)
    }

    pub(super) fn first_downlink(&self, number: u64) -> Tick {
        self.begins(number) + CLOCK.ticks_in_ns(u128::from(FIRST_DOWNLINK_NS))
    }

    /// When its last sample is on the air, on this host's clock as far as that is known before.
    pub(super) fn ends(&self, number: u64) -> MonoNs {
        MonoNs(u64::try_from(self.clocks.host_ns(self.begins(number + 1))).unwrap_or(0))
    }

    /// When a round must have ended, whatever has gone wrong.
    pub(super) fn end_by(&self, now: MonoNs) -> MonoNs {
        now + Duration::from_nanos((self.subframes + 1) * SUBFRAME_NS) + Duration::from_secs(2)
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Received {
    /// When the last samples of each subframe were in this host's kernel, by its number.
    pub(super) arrived_ns: Vec<Option<i64>>,
    pub(super) losses: RxLosses,
    /// Subframes that were whole and found no free cell: the layers were that far behind.
    pub(super) not_taken: u64,
}

pub(super) struct Receiving {
    rx: RxStreamer,
    cells: Arc<Cells>,
    by: Handover,
    placement: ThreadPlacement,
    timer: Option<timer::TimerOptions>,
    plan: Plan,
    buffer: Vec<Complex<i16>>,
    received: Received,
}

impl Receiving {
    pub(super) fn new(
        mut rx: RxStreamer,
        exchange: &Exchange,
        options: &DeadlineOptions,
        plan: &Plan,
    ) -> Result<Receiving, DeadlineError> {
        let timer = match options.wake {
            Wake::Arrival => None,
            Wake::Timer(method) => {
                Some(timer::TimerOptions { method, ticks: timer::Ticks::of(options.tick_hz), slack_ns: None })
            }
        };
        rx.start(Some(plan.start))?;
        Ok(Receiving {
            rx,
            cells: Arc::clone(&exchange.cells),
            by: options.handover,
            placement: options.placement(0),
            timer,
            plan: *plan,
            buffer: vec![Complex::new(0, 0); SAMPLES],
            received: Received { arrived_ns: vec![None; plan.subframes as usize], ..Received::default() },
        })
    }

    pub(super) fn run(mut self, wake: File, stop: &Stop) -> Result<Received, DeadlineError> {
        self.placement.take("interface")?;
        let mut handing = Handing::new(Arc::clone(&self.cells), self.by, wake);
        let mut timer = self.timer.map(Timer::open).transpose()?;
        let mut assembler = Assembler::default();
        let mut waited = u64::MAX;
        while !stop.requested() {
            let gathering = assembler.subframe;
            if gathering >= self.plan.subframes {
                break;
            }
            if let Some(timer) = timer.as_mut().filter(|_| waited != gathering) {
                timer.wait_until(self.plan.ends(gathering), stop)?;
                waited = gathering;
            }
            let at = assembler.fill;
            let Some(room) = self.buffer.get_mut(at..handing.next(at)) else { break };
            let received = self.rx.recv_integers(&mut [room], WallClock.now() + PATIENCE)?;
            let complete = WallClock.now();
            self.received.losses.note(&received, &mut self.rx)?;
            let since_start = received.first.0.checked_sub(self.plan.start.0);
            let Some(ticks) = since_start.filter(|_| received.samples > 0) else { continue };
            let index = ticks / self.rx.ticks_per_sample().0;
            match assembler.place(index, received.samples, SAMPLES) {
                Placed::Part => {
                    if let Some(there) = self.buffer.get(..assembler.fill).filter(|_| assembler.is_intact()) {
                        handing.part(assembler.subframe, there)?;
                    }
                }
                Placed::Move { to, from } => {
                    handing.give_up();
                    self.buffer.copy_within(at + from..at + received.samples, to);
                }
                Placed::Whole(number) => self.whole(number, complete, &mut handing)?,
            }
        }
        Ok(self.received)
    }

    fn whole(&mut self, number: u64, complete: MonoNs, handing: &mut Handing) -> Result<(), DeadlineError> {
        let in_kernel_ns = ns(self.rx.last_arrival().unwrap_or(complete));
        if let Some(arrived) = self.received.arrived_ns.get_mut(number as usize) {
            *arrived = Some(in_kernel_ns);
        }
        let taken = handing.whole(number, &self.buffer, in_kernel_ns, complete)?;
        self.received.not_taken += u64::from(!taken);
        Ok(())
    }
}

/// An answer that was given.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Given {
    pub(super) number: u64,
    /// Instants of this host; the first two are filled in from the radio's clock afterwards.
    pub(super) row: Row,
    pub(super) acknowledged: bool,
    /// For how long the cores on which it was made stood still meanwhile.
    pub(super) halted: Duration,
    /// Its datagrams: the number of the first in the stream, and the number after the last.
    datagrams: (u32, u32),
    pub(super) verdict: Verdict,
}

/// Room for so many, whose pages were written before: none is touched for the first time while an answer leaves.
fn no_answers(room: usize) -> Vec<Given> {
    let given = Given { number: u64::MAX, ..Given::default() };
    let mut answers = vec![given; room];
    answers.clear();
    answers
}

pub(super) struct Sending {
    tx: TxStreamer,
    cells: Arc<Cells>,
    placement: ThreadPlacement,
    plan: Plan,
    burst: Vec<Complex<i16>>,
    answers: Vec<Given>,
}

impl Sending {
    pub(super) fn new(tx: TxStreamer, exchange: &Exchange, options: &DeadlineOptions, plan: &Plan) -> Sending {
        Sending {
            tx,
            cells: Arc::clone(&exchange.cells),
            placement: options.placement(0),
            plan: *plan,
            burst: vec![Complex::new(0, 0); ANSWER_SAMPLES],
            answers: no_answers(plan.subframes as usize),
        }
    }

    pub(super) fn run(mut self, mut ready: File) -> Result<Vec<Given>, DeadlineError> {
        self.placement.take("interface")?;
        let clock = ThreadClock::of_this_thread();
        let mut number = [0; 8];
        loop {
            match ready.read_exact(&mut number) {
                Ok(()) => self.answer(u64::from_le_bytes(number), &clock)?,
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
                Err(error) => return Err(doing("waiting for an answer")(error)),
            }
        }
        self.collect(WallClock.now() + LAST_REPORT)?;
        Ok(self.answers)
    }

    fn answer(&mut self, number: u64, clock: &ThreadClock) -> Result<(), DeadlineError> {
        let begun = clock.now();
        let woke = ns(WallClock.now());
        let cells = Arc::clone(&self.cells);
        let cell = cells.of(number);
        if !cell.holds(number) {
            return Ok(());
        }
        let decided = cell.decided();
        cell.burst(decided, &mut self.burst);
        let before = self.tx.stats().datagrams;
        let due = limit_tick(self.plan.begins(number));
        self.tx.send_integers(&[&self.burst], Burst::at(due).ending(), WallClock.now() + PATIENCE)?;
        let sent = ns(WallClock.now());
        let halted = cell.halted() + clock.halted_since(&begun);
        let mut row = [0; stages::STAGES.len() + 1];
        let noted = cell.stamps().into_iter().chain([woke, sent]);
        row.iter_mut().skip(2).zip(noted).for_each(|(place, at)| *place = at);
        cell.free();
        let datagrams = (before as u32, self.tx.stats().datagrams as u32);
        let acknowledged = decided == takt_dsp::tdscdma::BlockAnswer::Ack;
        if self.answers.len() < self.answers.capacity() {
            self.answers.push(Given { number, row, acknowledged, halted, datagrams, verdict: Verdict::Unknown });
        }
        self.collect(WallClock.now())
    }

    /// Takes in what the radio says of the answers.
    fn collect(&mut self, until: MonoNs) -> Result<(), DeadlineError> {
        while let Some(event) = self.tx.event(until)? {
            let Some(verdict) = Verdict::of(event.kind) else { continue };
            let of = |given: &&mut Given| {
                event.sequence.is_some_and(|n| (given.datagrams.0..given.datagrams.1).contains(&n))
            };
            // The newest are at the end. An answer that has been called late stays so: the rest of its burst says the
            // same again.
            if let Some(given) = self.answers.iter_mut().rev().take(64).find(of)
                && given.verdict != Verdict::Late
            {
                given.verdict = verdict;
            }
            if self.answers.last().is_none_or(|last| last.verdict != Verdict::Unknown) && until > WallClock.now() {
                break;
            }
        }
        Ok(())
    }
}
