//! Commands strictly in order: one with a time blocks all behind it until that time.

use std::collections::VecDeque;

use takt_base::Tick;

use super::time::Timekeeper;

pub(crate) struct TimedQueue<C> {
    waiting: VecDeque<Waiting<C>>,
    capacity: usize,
}

struct Waiting<C> {
    arrived: Tick,
    /// Device time; `None`: at once.
    time: Option<u64>,
    command: C,
}

impl<C> TimedQueue<C> {
    /// For so many commands; it never allocates again.
    pub(crate) fn new(capacity: usize) -> TimedQueue<C> {
        TimedQueue { waiting: VecDeque::with_capacity(capacity), capacity }
    }

    /// `false`: the queue is full, the command is lost (and so is its answer).
    pub(crate) fn push(&mut self, now: Tick, time: Option<u64>, command: C) -> bool {
        let fits = self.waiting.len() < self.capacity;
        if fits {
            self.waiting.push_back(Waiting { arrived: now, time, command });
        }
        fits
    }

    /// When the first command is due: at once, or when device time reaches its time; may be in the past.
    pub(crate) fn next_event(&self, now: Tick, time: &Timekeeper) -> Option<Tick> {
        let first = self.waiting.front()?;
        let wait = first.time.and_then(|at| time.when(now, at));
        Some(wait.unwrap_or(first.arrived).max(first.arrived))
    }

    /// The first command, if it is due.
    pub(crate) fn pop_due(&mut self, now: Tick, time: &Timekeeper) -> Option<C> {
        if self.next_event(now, time)? > now {
            return None;
        }
        self.waiting.pop_front().map(|first| first.command)
    }

    pub(crate) fn clear(&mut self) {
        self.waiting.clear();
    }
}
