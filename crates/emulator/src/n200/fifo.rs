//! The register command queue behind port 49159: strictly in order, one timed command blocks all behind it.

use std::collections::VecDeque;

use takt_base::Tick;
use takt_wire::n200::FifoCommand;

use super::time::Timekeeper;

/// Commands it holds; hosts keep at most 63 in flight.
const COMMANDS: usize = 64;

pub(super) struct CommandQueue(VecDeque<(Tick, FifoCommand)>);

impl CommandQueue {
    pub(super) fn new() -> CommandQueue {
        CommandQueue(VecDeque::with_capacity(COMMANDS))
    }

    /// `false`: the queue is full, the command is lost (and so is its ack).
    pub(super) fn push(&mut self, now: Tick, command: FifoCommand) -> bool {
        let fits = self.0.len() < COMMANDS;
        if fits {
            self.0.push_back((now, command));
        }
        fits
    }

    /// When the first command is due: at once, or when device time reaches its time; may be in the past.
    pub(super) fn next_event(&self, now: Tick, time: &Timekeeper) -> Option<Tick> {
        let (arrived, command) = self.0.front()?;
        let wait = command.tick.and_then(|tick| time.when(now, tick));
        Some(wait.unwrap_or(*arrived).max(*arrived))
    }

    /// The first command, if it is due.
    pub(super) fn pop_due(&mut self, now: Tick, time: &Timekeeper) -> Option<FifoCommand> {
        if self.next_event(now, time)? > now {
            return None;
        }
        self.0.pop_front().map(|(_, command)| command)
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
