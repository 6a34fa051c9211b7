//! The component that sends a waveform's samples to a radio, each packet as a burst at its time.
//!
//! The worker itself hands the burst to the kernel, by one call of a batch engine. A thread of its own would have to be
//! woken, by a system call as well, and to be let run before the radio needs the samples.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use takt_base::{Complex32, MonoNs, Speed, Tick, TickRate};
use takt_graph::{Domain, Item, Kind, ParamSpec, Params, Shape, Value};
use takt_radio::Net;
use takt_runtime::{Component, Io, Registration};

use crate::beat::RadioSlotClock;
use crate::budget::{Budget, ReplyTrace, Timeline};
use crate::params::radio;
use crate::{ReplyBursts, SlotGrid};

/// Its name in waveforms.
pub(crate) const KIND: &str = "radio-transmit";

/// After its time, how long the radio may take to say that a burst was late; a slow one takes longer.
const REPORT: Duration = Duration::from_millis(50);

/// When bursts leave, from the end of the slot they belong to, and since when what they answer is on the air: in the radio's
/// time, which passes so fast.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    advance: Duration,
    since: Duration,
    speed: Speed,
}

impl Timing {
    pub(crate) fn of(params: &Params, speed: Speed) -> Timing {
        let us = |name| Duration::from_nanos((params.float(name).unwrap_or(0.0) * 1e3).round() as u64);
        Timing { advance: us("advance_us"), since: us("since_us"), speed }
    }
}

/// Sends the packet of each slot.
pub(crate) struct Transmit {
    timing: Timing,
    /// An empty packet is silence that was meant.
    pauses: bool,
    silent: u64,
    /// The clock of the radio's times.
    tick_rate: TickRate,
    net: Arc<dyn Net>,
    grid: Arc<OnceLock<SlotGrid>>,
    beat: Arc<RadioSlotClock>,
    timeline: Arc<Timeline>,
    /// The last reports are fetched when results are requested.
    answers: RefCell<ReplyBursts>,
    /// Told in the end whether the radio's reports are open.
    hides_faults: Arc<AtomicBool>,
    budget: Budget,
    late: u64,
    /// One beyond the last slot.
    slots: u64,
    last: MonoNs,
}

impl Transmit {
    pub(crate) fn new(
        timing: Timing,
        net: Arc<dyn Net>,
        (grid, beat, timeline): (Arc<OnceLock<SlotGrid>>, Arc<RadioSlotClock>, Arc<Timeline>),
        answers: ReplyBursts,
    ) -> Transmit {
        let tick_rate = answers.tick_rate();
        let (budget, answers) = (Budget::new(), RefCell::new(answers));
        Transmit {
            timing,
            pauses: false,
            silent: 0,
            tick_rate,
            net,
            grid,
            beat,
            timeline,
            answers,
            hides_faults: Arc::default(),
            budget,
            late: 0,
            slots: 0,
            last: MonoNs(0),
        }
    }

    /// Whether an empty packet is silence that was meant, and no missed answer.
    pub(crate) fn pausing(self, pauses: bool) -> Transmit {
        Transmit { pauses, ..self }
    }

    /// Tells there in the end whether the radio's reports are open.
    pub(crate) fn telling(self, hides_faults: Arc<AtomicBool>) -> Transmit {
        Transmit { hides_faults, ..self }
    }

    /// When the first sample of a slot's burst is to leave, on the radio's clock.
    fn at(&self, grid: &SlotGrid, slot: u64) -> Tick {
        grid.begin(slot + 1) + self.tick_rate.ticks_in(self.timing.advance)
    }

    fn send(&mut self, slot: u64, samples: &[Complex32]) {
        let Some(grid) = self.grid.get() else { return };
        let (ready, at) = (self.net.now(), self.at(grid, slot));
        let answers = self.answers.get_mut();
        // A radio that is gone is the receiver's to tell.
        let went = answers.send(slot, at, samples, ready).unwrap_or(false);
        let sent = self.net.now();
        let ended = self.beat.begins(slot + 1);
        let Timing { advance, since, speed } = self.timing;
        let due = ended + speed.host_time(advance);
        if !went {
            return;
        }
        self.late += u64::from(sent > due);
        self.last = due;
        self.budget.sent(sent, due);
        if let Some(observed) = self.timeline.observed(slot) {
            let since = MonoNs(ended.0.saturating_sub(speed.host_time(since).as_nanos() as u64));
            let course = ReplyTrace { since, ended, arrived: observed.arrived, taken: observed.taken, ready, sent };
            self.budget.record(&course);
        }
    }
}

impl Component for Transmit {
    fn tick(&mut self, io: &mut Io<'_>) {
        self.slots = io.slot + 1;
        let input = io.inputs[0].read::<Complex32>();
        if !input.missing() && !input.is_empty() {
            self.send(io.slot, &input);
        } else if self.pauses && !input.missing() {
            self.silent += 1;
        }
        // Behind the answer, so that it need not wait.
        let _ = self.answers.get_mut().receive(MonoNs(0));
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        let mut answers = self.answers.borrow_mut();
        if answers.bursts() > 0 {
            // The radio reports the last bursts; one that is gone says nothing.
            let _ = answers.receive(self.last.max(self.net.now()) + self.timing.speed.patience(REPORT));
        }
        self.hides_faults.store(!answers.reports_faults(), Ordering::Relaxed);
        let count = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
        // A burst that a device's driver did not take in time has gone nowhere either.
        let sent = answers.bursts().saturating_sub(answers.lost());
        let missed = self.slots.saturating_sub(sent + self.silent);
        let slots: Vec<String> = answers.late_slots().iter().map(ToString::to_string).collect();
        let mut results = vec![
            ("answers", count(answers.bursts())),
            ("late", count(self.late)),
            ("missed", count(missed)),
            ("failures", count(self.late + missed)),
            ("radio_late", if answers.reports_faults() { count(answers.late()) } else { "unknown".into() }),
        ];
        if !slots.is_empty() {
            results.push(("radio_late_slots", slots.join(" ").into()));
        }
        results.extend(self.budget.results());
        results
    }
}

/// In its place where there is no radio: when a waveform is tried to learn what its components cost.
struct Nowhere;

impl Component for Nowhere {
    fn tick(&mut self, _: &mut Io<'_>) {}
}

fn kind() -> Kind {
    let us = |name, doc| ParamSpec::new(name, Domain::Float { min: 0.0, max: 60e6 }, doc).unit("us").default(0.0);
    radio(Kind::new(KIND, "Sends each packet to a radio as a burst, at a time on the radio's own clock."))
        .param(us(
            "advance_us",
            "From the end of the slot that a packet belongs to until its first sample leaves: what \
            transfer, execution and the way back may take, and a slot more for each that the plan holds it back.",
        ))
        .param(us(
            "since_us",
            "How long before the end of the slot that began which is answered; for the budget alone.",
        ))
        .param(
            ParamSpec::new("pauses", Domain::Bool, "An empty packet is silence that was meant, and no missed answer.")
                .default(false),
        )
}

takt_runtime::inventory::submit! {
    Registration {
        kind,
        shape: |_| Ok(Shape::new().input("in", Item::C32)),
        make: |_| Ok(Box::new(Nowhere)),
    }
}
