//! [`Entry`]: a component in a worker's table, with its ports and what is known of its executions.

use std::ops::{Deref, DerefMut};
use std::panic::{AssertUnwindSafe, catch_unwind};

use takt_graph::MissPolicy;

use crate::component::{Component, Instruction, Io, Message};
use crate::isolated::{Answer, Remote};
use crate::port::{InPort, OutPort};
use crate::stats::{EntryStats, Event};

pub(crate) struct Entry {
    /// Index of the graph's component.
    pub(crate) id: usize,
    /// Physical slot of its logical slot 0.
    pub(crate) depth: u64,
    pub(crate) next: u64,
    /// Logical slots end here.
    pub(crate) until: u64,
    pub(crate) policy: MissPolicy,
    pub(crate) component: Body,
    pub(crate) inputs: Box<[InPort]>,
    pub(crate) outputs: Box<[OutPort]>,
    /// How many of both the component declares; those behind carry messages.
    pub(crate) declared: (usize, usize),
    pub(crate) in_place: Box<[(usize, usize)]>,
    /// An input leaves the buffers of its packets to the next to write.
    pub(crate) leaves: bool,
    pub(crate) pending: Vec<Pending>,
    pub(crate) stats: EntryStats,
}

/// Settings and messages that can wait for a component.
pub(crate) const PENDING: usize = 64;

/// Instruction that waits for a logical slot of a component; it moves with the component.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pending {
    /// Before this logical slot, or as soon as can be.
    pub(crate) before: u64,
    pub(crate) what: Instruction,
}

/// Slots passed by whose messages are looked for: more than any ring holds without a change.
const LOOKED_AT: u64 = 2 * takt_graph::limits::DELAY_SLOTS as u64;

/// A packet of messages; none where it is something else.
pub(super) fn messages(bytes: &[u8]) -> &[Message] {
    bytemuck::try_cast_slice(bytes).unwrap_or_default()
}

/// A component in this process, or what stands for one in a process of its own.
pub(crate) enum Body {
    Here(Box<dyn Component>),
    Isolated(Box<Remote>),
}

impl Body {
    /// Stands in a new table until the component itself arrives.
    pub(crate) fn vacant() -> Body {
        struct Vacant;
        impl Component for Vacant {
            fn tick(&mut self, _: &mut Io<'_>) {}
        }
        // Without a size: nothing is allocated.
        Body::Here(Box::new(Vacant))
    }
}

impl Deref for Body {
    type Target = dyn Component;

    #[inline]
    fn deref(&self) -> &(dyn Component + 'static) {
        match self {
            Body::Here(component) => component.as_ref(),
            Body::Isolated(remote) => remote.as_ref(),
        }
    }
}

impl DerefMut for Body {
    #[inline]
    fn deref_mut(&mut self) -> &mut (dyn Component + 'static) {
        match self {
            Body::Here(component) => component.as_mut(),
            Body::Isolated(remote) => remote.as_mut(),
        }
    }
}

/// Work of an entry in a physical slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Due {
    /// Nothing: the pipeline fills or drains, or it is ahead after a change.
    Nothing,
    /// Its logical slot; so many before it were missed.
    Slot { slot: u64, missed: u64 },
}

impl Entry {
    #[inline]
    pub(crate) fn due(&self, physical: u64) -> Due {
        match physical.checked_sub(self.depth) {
            Some(slot) if slot >= self.next && slot < self.until => Due::Slot { slot, missed: slot - self.next },
            // The last slots were missed: only they are left to count.
            Some(slot) if slot >= self.until && self.next < self.until => {
                Due::Slot { slot: self.until, missed: self.until - self.next }
            }
            _ => Due::Nothing,
        }
    }

    /// Does what waits for the slot it executes in physical slot `physical`, or for one before.
    pub(crate) fn settle(&mut self, physical: u64) {
        let slot = self.next.max(physical.saturating_sub(self.depth));
        // In the order they came, so that of two settings of one variable the later holds.
        while let Some(index) = self.pending.iter().position(|pending| pending.before <= slot) {
            self.pending.remove(index).what.perform(&mut *self.component);
        }
    }

    /// The first logical slot from `self.next` on that it can't execute yet: a packet is not there, or no room for what it
    /// makes. For a component in this process.
    #[inline]
    pub(crate) fn ready_until(&self) -> u64 {
        let mut until = self.until;
        for input in &self.inputs {
            until = until.min(input.ready_until(self.next));
        }
        for output in &self.outputs {
            until = until.min(output.free_until(self.next));
        }
        until
    }

    /// Whether an isolated component can do what it has to do in physical slot `physical`: its packets are there, its
    /// answer, and room for that.
    pub(crate) fn ready(&self, physical: u64) -> bool {
        let Body::Isolated(remote) = &self.component else { return true };
        let room = |slot| self.outputs.iter().all(|output| output.free_until(slot) > slot);
        let fed = match self.due(physical) {
            Due::Slot { slot, .. } => self.inputs.iter().all(|input| input.ready_until(slot) > slot),
            Due::Nothing => true,
        };
        fed && self.collectable(physical).is_none_or(|slot| remote.settled() && room(slot))
    }

    #[inline]
    pub(crate) fn is_isolated(&self) -> bool {
        matches!(self.component, Body::Isolated(_))
    }

    /// Logical slots whose packets were handed over, or passed by.
    pub(crate) fn made(&self) -> u64 {
        self.remote().and_then(Remote::pending).unwrap_or(self.next)
    }

    /// The logical slot whose answer an isolated component is to give in physical slot `physical`.
    #[inline]
    pub(crate) fn collectable(&self, physical: u64) -> Option<u64> {
        self.remote()?.pending().filter(|slot| slot + self.depth < physical)
    }

    /// Takes an isolated component's answer, if one is due in physical slot `physical`, and hands over what was made;
    /// `patient`: waits for it a slot at most. Answers the logical slot, and what became of it.
    #[inline]
    pub(crate) fn collect(&mut self, physical: u64, patient: bool) -> Option<(u64, Answer)> {
        let slot = self.collectable(physical)?;
        Some((slot, self.take_answer(patient)))
    }

    #[cold]
    fn take_answer(&mut self, patient: bool) -> Answer {
        let Body::Isolated(remote) = &mut self.component else { return Answer::None };
        let answer = remote.collect(&mut self.outputs, patient);
        match answer {
            Answer::Done { ns } => self.stats.live.record(ns, 1),
            Answer::Lost { ns } => {
                self.stats.live.record(ns, 1);
                self.lost();
            }
            Answer::Fault { ns } => {
                self.stats.live.record(ns, 1);
                self.fault();
            }
            Answer::None => {
                self.stats.live.missed.add(1);
                self.degrade();
            }
        }
        answer
    }

    /// A component in a process of its own.
    #[inline]
    pub(crate) fn remote(&self) -> Option<&Remote> {
        match &self.component {
            Body::Here(_) => None,
            Body::Isolated(remote) => Some(remote),
        }
    }

    /// Remembers the request to an isolated component; `false` of one that is none.
    #[inline]
    pub(crate) fn requested(&mut self, event: Event) -> bool {
        match &mut self.component {
            Body::Here(_) => false,
            Body::Isolated(remote) => {
                remote.requested = event;
                true
            }
        }
    }

    /// Passes by all logical slots below `slot`.
    #[cold]
    pub(crate) fn pass_by(&mut self, slot: u64) {
        self.stats.live.missed.add(slot.saturating_sub(self.next));
        self.hand_over_messages(slot);
        if let Some(last) = slot.checked_sub(1) {
            self.inputs.iter_mut().for_each(|input| input.finish(last));
        }
        self.advance(self.next.max(slot));
        self.degrade();
    }

    /// Hands over the messages of slots that are passed by: those below `slot`, as far as they are still there.
    #[cold]
    fn hand_over_messages(&mut self, slot: u64) {
        let component = &mut self.component;
        for input in self.inputs.get(self.declared.0..).unwrap_or_default() {
            for missed in self.next.max(slot.saturating_sub(LOOKED_AT))..slot {
                let packet = missed.checked_sub(input.delay).and_then(|made| input.peek(made));
                for message in packet.map_or(&[][..], |cell| messages(cell.buffer.bytes(cell.header.items))) {
                    let fault = catch_unwind(AssertUnwindSafe(|| component.message(message))).is_err();
                    self.stats.live.faults.add(fault.into());
                }
            }
        }
    }

    /// Behind its last slot it lets go of its inputs for good: over a delayed link producers have slots left to make that
    /// none reads.
    #[inline]
    pub(super) fn advance(&mut self, next: u64) {
        self.next = next;
        if next >= self.until {
            self.release_all();
        }
    }

    #[cold]
    pub(crate) fn release_all(&mut self) {
        self.inputs.iter_mut().for_each(|input| input.release(u64::MAX));
    }

    #[cold]
    pub(super) fn lost(&mut self) {
        self.stats.live.missed.add(1);
        self.stats.live.lost.add(1);
    }

    #[cold]
    pub(super) fn fault(&mut self) {
        self.stats.live.faults.add(1);
        self.degrade();
    }

    #[cold]
    pub(crate) fn degrade(&mut self) {
        if self.policy == MissPolicy::Degrade && !self.stats.degraded {
            self.stats.degraded = true;
            let component = &mut self.component;
            // A component that panics here as well stays as it is.
            let fault = catch_unwind(AssertUnwindSafe(|| component.degrade())).is_err();
            self.stats.live.faults.add(fault.into());
        }
    }
}
