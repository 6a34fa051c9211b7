//! Effects of a hop on frames, as a pure function of virtual time.
//!
//! ```text
//!   frame in --> lost? --> ring --> processor --> delay --> queue --> cable --> frame out
//!                twice?    full?    (both          held back?  full?    rate
//!                                    directions)
//! ```
//!
//! Frames arrive with an instant and a length; they leave, or are dropped at a named place, at instants that follow from
//! nothing else but those, the [`HopSpec`] and its seed. The k-th frame of a direction meets the same fate whatever
//! crosses the other way. Memory is taken once, for as many frames as may be inside at a time.
//!
//! ```
//! use takt_path::model::{Direction, Event, HopSpec, Model};
//! let cable = HopSpec { rate_bps: Some(100_000_000), ..HopSpec::default() };
//! let mut model = Model::new(&cable, 16);
//! model.arrive(0, Direction::Forth, 1514, 7, true);
//! assert_eq!(model.step(123_039), None);
//! assert!(matches!(model.step(123_040), Some(Event::Leaves { slot: 7, .. }))); // 1538 bytes on the wire
//! ```

mod chance;
mod counters;
mod line;
mod processor;
mod spec;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use chance::Chance;
pub use counters::{Counters, Flow};
use line::Line;
use processor::Work;
pub use spec::{HopSpec, Impairments, Processor};

use crate::ethernet::wire_bytes;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// From the first port to the second.
    Forth,
    /// From the second port to the first.
    Back,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Chance,
    /// The processor's ring of received frames was full.
    Ring,
    /// The queue before the cable was full.
    Queue,
    /// No memory was left for it: the hop's own limit, not the model's.
    Memory,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Its last bit was on the wire at `at_ns`. `last`: no copy of it is inside any more, and its slot is free.
    Leaves { slot: u32, direction: Direction, at_ns: u64, last: bool },
    /// It was dropped inside; `last` as above.
    Drops { slot: u32, last: bool },
}

/// A frame that becomes ready for the queue at an instant; ordered by it, then by arrival.
type Pending = Reverse<(u64, u64, u32, Direction, usize)>;

#[derive(Debug)]
pub struct Model {
    spec: Impairments,
    work: Option<Work>,
    lines: [Line; 2],
    chances: [Chance; 2],
    pending: BinaryHeap<Pending>,
    copies: Box<[u8]>,
    arrivals: u64,
    counters: Counters,
}

impl Model {
    /// A hop with room for `slots` frames, numbered from 0.
    #[must_use]
    pub fn new(spec: &HopSpec, slots: u32) -> Model {
        let room = slots as usize;
        // A frame may be inside twice.
        let line = || Line::new(spec.rate_bps, spec.buffer_bytes, 2 * room);
        Model {
            spec: spec.impairments,
            work: spec.processor.map(|processor| Work::new(processor, spec.seed)),
            lines: [line(), line()],
            chances: [Chance::new(spec.seed, 0), Chance::new(spec.seed, 1)],
            pending: BinaryHeap::with_capacity(2 * room),
            copies: vec![0; room].into(),
            arrivals: 0,
            counters: Counters::default(),
        }
    }

    /// A frame of `frame_bytes` (header and payload) arrives at `now_ns`, not before the last one of its direction. If that
    /// is before an instant that was stepped to already, the frame leaves late and changes nothing else. It lies in `slot`
    /// until an event says that it is free. `chance`: whether it may be lost, doubled or held back.
    ///
    /// Returns where it ended, if it ended at once: then its slot is free.
    pub fn arrive(
        &mut self,
        now_ns: u64,
        direction: Direction,
        frame_bytes: usize,
        slot: u32,
        chance: bool,
    ) -> Option<Place> {
        let way = direction as usize;
        let flow = &mut self.counters.flows[way];
        flow.arrives(frame_bytes);
        let fate = self.chances[way].draw(&self.spec, chance);
        let Some(copies) = self.copies.get_mut(slot as usize) else {
            return Some(flow.drops(Place::Memory));
        };
        if fate.lost {
            return Some(flow.drops(Place::Chance));
        }
        let done_ns = match &mut self.work {
            None => now_ns,
            Some(work) => match work.take(now_ns, frame_bytes) {
                Some(done_ns) => done_ns,
                None => return Some(flow.drops(Place::Ring)),
            },
        };
        let ready_ns = self.lines[way].in_order(done_ns + fate.delay_ns, fate.hold_ns);
        *copies = 1 + u8::from(fate.twice);
        for _ in 0..*copies {
            self.arrivals += 1;
            self.pending.push(Reverse((ready_ns, self.arrivals, slot, direction, frame_bytes)));
        }
        flow.doubled += u64::from(fate.twice);
        flow.held_back += u64::from(fate.hold_ns > 0);
        None
    }

    /// A frame arrived for which the caller had no slot.
    pub fn no_memory(&mut self, direction: Direction, frame_bytes: usize) {
        let flow = &mut self.counters.flows[direction as usize];
        flow.arrives(frame_bytes);
        flow.drops(Place::Memory);
    }

    /// When something happens next, if nothing arrives before.
    #[must_use]
    pub fn next_ns(&self) -> Option<u64> {
        let pending = self.pending.peek().map(|Reverse((ready_ns, ..))| *ready_ns);
        self.lines.iter().filter_map(Line::next_ns).chain(pending).min()
    }

    /// The next thing that has happened by `now_ns`, if any.
    pub fn step(&mut self, now_ns: u64) -> Option<Event> {
        while let Some(&Reverse((ready_ns, _, slot, direction, frame_bytes))) = self.pending.peek()
            && ready_ns <= now_ns
        {
            self.pending.pop();
            if !self.lines[direction as usize].enter(ready_ns, wire_bytes(frame_bytes), frame_bytes, slot) {
                self.counters.flows[direction as usize].drops(Place::Queue);
                return Some(Event::Drops { slot, last: self.copy_gone(slot) });
            }
        }
        let first = |line: &Line| line.next_ns().filter(|&at_ns| at_ns <= now_ns).unwrap_or(u64::MAX);
        let direction = if first(&self.lines[0]) <= first(&self.lines[1]) { Direction::Forth } else { Direction::Back };
        let (at_ns, frame_bytes, slot) = self.lines[direction as usize].leave(now_ns)?;
        self.counters.flows[direction as usize].leaves(frame_bytes);
        Some(Event::Leaves { slot, direction, at_ns, last: self.copy_gone(slot) })
    }

    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    fn copy_gone(&mut self, slot: u32) -> bool {
        self.copies.get_mut(slot as usize).is_none_or(|copies| {
            *copies = copies.saturating_sub(1);
            *copies == 0
        })
    }
}

#[cfg(test)]
mod tests;
