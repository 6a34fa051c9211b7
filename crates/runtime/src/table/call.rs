//! A call of a component: its ports are opened, it computes, its packets are completed, and all that is handed over.
//!
//! Between two executions a worker reads its timer once: the end of one is the start of the next. So an execution is what the
//! component took together with the opening of its ports and the completing of the packets of the one before. In a burst of
//! several slots, which only a free clock has, it reads the timer at both ends, and each execution is the same part of it;
//! unless every execution is logged.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::entry::{Body, Entry, messages};
use crate::component::{Io, Message, Outbox};
use crate::port::{InPort, OutPort, Warm};
use crate::slot::Timer;
use crate::stats::{Event, MissKind, WorkerStats};

/// One execution, in units of the timer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Executed {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) fault: bool,
    /// The data it was to bring were lost outside.
    pub(crate) lost: bool,
}

impl Executed {
    pub(crate) fn ticks(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

/// Timer and records of a burst of slots.
pub(crate) struct Recorder<'a> {
    pub(crate) timer: &'a mut Timer,
    /// The timer where the last execution ended.
    pub(crate) now: &'a mut u64,
    pub(crate) stats: &'a mut WorkerStats,
    pub(crate) warm: &'a mut Warm,
    /// The timer at the release of the burst's first slot.
    pub(crate) edge: u64,
}

/// Point at which a burst was left early.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Broken {
    pub(crate) slot: u64,
    pub(crate) kind: MissKind,
    pub(crate) ns: u64,
}

fn messages_mut(bytes: &mut [u8]) -> &mut [Message] {
    bytemuck::try_cast_slice_mut(bytes).unwrap_or_default()
}

impl Entry {
    /// Executes logical slot `slot`, from `start` on; [`Entry::publish`] hands over what it made. `stats`: of a worker, which
    /// samples how long the opening of ports takes.
    #[inline]
    pub(crate) fn execute(
        &mut self,
        slot: u64,
        start: u64,
        timer: &mut Timer,
        stats: Option<&mut WorkerStats>,
    ) -> Executed {
        let empty = self.open_inputs(slot);
        if let Body::Isolated(remote) = &mut self.component {
            remote.post(slot, &self.inputs, &mut self.outputs, self.declared);
            return Executed { start, end: timer.read(), fault: false, lost: false };
        }
        self.open_outputs(slot, empty, &mut Warm::default());
        if let Some(stats) = stats {
            stats.sample_interface(start, timer);
        }
        let result = catch_unwind(AssertUnwindSafe(|| self.tick(slot, timer)));
        Executed { start, end: timer.read(), fault: result.is_err(), lost: result.unwrap_or(false) }
    }

    /// Hands over what logical slot `slot` made, and lets go of what it read.
    #[inline]
    pub(crate) fn publish(&mut self, slot: u64, executed: Executed, ns: u64) {
        if matches!(self.component, Body::Here(_)) {
            self.complete(executed.fault || executed.lost);
            self.outputs.iter_mut().for_each(OutPort::hand_over);
            self.stats.live.record(ns, 1);
        }
        self.let_go(slot);
        if executed.fault {
            self.fault();
        }
        if executed.lost {
            self.lost();
        }
    }

    /// Executes these logical slots, whose packets and room are there, and hands over all they made at once. `Some`: it ends
    /// with a slot that was not made.
    #[inline]
    pub(crate) fn burst(&mut self, slots: Range<u64>, recorder: &mut Recorder<'_>) -> Option<Broken> {
        let mut slot = slots.start;
        let apart = slots.end - slots.start == 1 || recorder.stats.log.is_some();
        // Caught once for all: the slot it was in is known.
        let lost = catch_unwind(AssertUnwindSafe(|| {
            while slot < slots.end {
                if self.call(slot, apart, recorder) {
                    return true;
                }
                slot += 1;
            }
            false
        }));
        let broken = match lost {
            Ok(false) => None,
            Ok(true) => Some(MissKind::Lost),
            Err(_) => Some(MissKind::Fault),
        };
        let ended = slot - slots.start + u64::from(broken.is_some());
        let last = slots.start + ended - 1;
        let unrecorded = if apart { u64::from(broken.is_some()) } else { ended };
        let ns = if unrecorded > 0 { self.record(last, unrecorded, recorder) } else { 0 };
        let broken = broken.map(|kind| self.broken(last, kind, ns));
        self.outputs.iter_mut().for_each(OutPort::hand_over);
        self.let_go(last);
        broken
    }

    /// One slot of a burst, but for the handing over. Answers whether what it was to bring was lost; then it is not completed.
    /// `apart`: it is timed apart from the others.
    #[inline(always)]
    fn call(&mut self, slot: u64, apart: bool, recorder: &mut Recorder<'_>) -> bool {
        let empty = self.open_inputs(slot);
        self.open_outputs(slot, empty, recorder.warm);
        if apart {
            recorder.stats.sample_interface(*recorder.now, recorder.timer);
        }
        if self.tick(slot, recorder.timer) {
            return true;
        }
        if apart {
            self.record(slot, 1, recorder);
        }
        self.complete(false);
        if self.leaves {
            self.inputs.iter_mut().for_each(|input| input.leave(recorder.warm));
        }
        false
    }

    /// Reads the timer, and records the executions that end now with `slot`, so many in a row. Answers how long each took.
    #[inline(always)]
    fn record(&mut self, slot: u64, executions: u64, recorder: &mut Recorder<'_>) -> u64 {
        let end = recorder.timer.read();
        let (start, all) = (recorder.now.saturating_sub(recorder.edge), end.saturating_sub(*recorder.now));
        *recorder.now = end;
        let ticks = if executions == 1 { all } else { recorder.stats.part_of_burst(all, executions) };
        let ns = recorder.timer.ns_of(ticks);
        self.stats.live.record(ns, executions);
        let event = Event { slot: slot + self.depth, component: self.id, start, ticks };
        recorder.stats.trace(event);
        if recorder.stats.log.is_some() {
            recorder.stats.log(event.in_ns(recorder.timer));
        }
        ns
    }

    #[cold]
    fn broken(&mut self, slot: u64, kind: MissKind, ns: u64) -> Broken {
        self.complete(true);
        if kind == MissKind::Lost {
            self.lost();
        } else {
            self.fault();
        }
        Broken { slot, kind, ns }
    }

    /// Answers whether an input that the component declares has an empty packet.
    #[inline(always)]
    fn open_inputs(&mut self, slot: u64) -> bool {
        let mut empty = false;
        for (port, input) in self.inputs.iter_mut().enumerate() {
            input.begin(slot);
            empty |= input.items() == 0 && port < self.declared.0;
        }
        empty
    }

    #[inline(always)]
    fn open_outputs(&mut self, slot: u64, empty: bool, warm: &mut Warm) {
        for output in &mut self.outputs {
            output.begin(slot, &self.inputs, warm);
        }
        if empty {
            self.open_without_packets();
        }
        for &(input, output) in &self.in_place {
            self.outputs[output].take(&mut self.inputs[input]);
        }
    }

    /// Opens a slot with an empty packet.
    #[cold]
    fn open_without_packets(&mut self) {
        let inputs = self.inputs.get(..self.declared.0).unwrap_or_default();
        for output in self.outputs.iter_mut().take(self.declared.1) {
            output.blank();
            output.follow_losses(inputs);
        }
    }

    /// Lets the component compute. Answers whether it says that what it was to bring was lost outside.
    #[inline(always)]
    fn tick(&mut self, slot: u64, timer: &mut Timer) -> bool {
        let Body::Here(component) = &mut self.component else { return false };
        let (inputs, inbox) = self.inputs.split_at_mut(self.declared.0);
        let (outputs, outbox) = self.outputs.split_at_mut(self.declared.1);
        for port in inbox {
            messages(port.bytes()).iter().for_each(|message| component.message(message));
        }
        let room = outbox.first_mut().map_or_else(Default::default, |port| messages_mut(port.bytes_mut()));
        let mut io = Io { inputs, outputs, slot, outbox: Outbox { room, sent: 0 }, timer, lost: false };
        component.tick(&mut io);
        let (sent, lost) = (io.outbox.sent, io.lost);
        if let Some(port) = outbox.first_mut() {
            port.truncate(sent * size_of::<Message>());
        }
        lost
    }

    #[inline(always)]
    fn complete(&mut self, missing: bool) {
        self.outputs.iter_mut().for_each(|output| output.finish(missing));
    }

    /// Lets go of the packets that were read up to logical slot `slot`.
    #[inline]
    fn let_go(&mut self, slot: u64) {
        self.inputs.iter_mut().for_each(|input: &mut InPort| input.finish(slot));
        self.advance(slot + 1);
    }
}
