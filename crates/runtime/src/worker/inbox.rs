//! Inputs of a running waveform: variables, messages, readings and changes, all at slot edges, through bounded queues
//! that neither side waits for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use rtrb::{Consumer, Producer, RingBuffer};

use super::change::Change;
use crate::component::Scalar;
use crate::table::{PENDING, Pending, Table};

/// Commands that can wait for a worker.
const COMMANDS: usize = 1024;

/// Command to a worker at an edge.
pub(crate) enum Command {
    /// Set a variable, or hand a message over.
    Hand {
        component: usize,
        pending: Pending,
    },
    Get {
        component: usize,
        param: usize,
    },
    Change(Box<Change>),
}

/// Answer of a worker: component, index of the parameter, value.
type Reading = (usize, usize, Option<Scalar>);

pub(crate) struct Inbox {
    commands: Consumer<Command>,
    readings: Producer<Reading>,
    /// Changes that are done: memory is given back outside real time.
    spent: Producer<Box<Change>>,
    /// Taken from the queue, and to be done at a later edge.
    waiting: Vec<Command>,
}

/// The controlling end.
pub(crate) struct Outbox {
    pub(crate) commands: Producer<Command>,
    pub(crate) readings: Consumer<Reading>,
    pub(crate) spent: Consumer<Box<Change>>,
}

pub(crate) fn mailbox() -> (Outbox, Inbox) {
    let (commands, inbox) = RingBuffer::new(COMMANDS);
    let (readings, outbox) = RingBuffer::new(COMMANDS);
    let (spent, changes) = RingBuffer::new(COMMANDS);
    let waiting = Vec::with_capacity(COMMANDS);
    (Outbox { commands, readings: outbox, spent: changes }, Inbox { commands: inbox, readings, spent, waiting })
}

impl Inbox {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.commands.is_empty()
    }

    /// Whether something has come since the last edge, and there is room to look at it.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        !self.commands.is_empty() && self.waiting.len() < self.waiting.capacity()
    }

    /// The next command that is due at the edge of physical slot `number`; a worker that is `leaving` takes part in all changes
    /// it was sent.
    #[cold]
    pub(crate) fn next(&mut self, number: u64, leaving: bool, table: &Table) -> Option<Command> {
        while self.waiting.len() < self.waiting.capacity() {
            let Ok(command) = self.commands.pop() else { break };
            self.waiting.push(command);
        }
        let index = self.waiting.iter().position(|command| due(command, number, leaving, table))?;
        Some(self.waiting.remove(index))
    }

    /// Answers the slot to go on with; `None`: another worker died. `may_go_on`: as in [`Change::perform`].
    #[cold]
    pub(crate) fn perform(
        &mut self,
        command: Command,
        number: u64,
        table: &mut Table,
        may_go_on: &dyn Fn() -> bool,
    ) -> Option<u64> {
        match command {
            Command::Hand { component, pending } => {
                if let Some(entry) = table.entries.iter_mut().find(|entry| entry.id == component) {
                    entry.pending.push(pending);
                }
            }
            Command::Get { component, param } => {
                let entry = table.entries.iter().find(|entry| entry.id == component);
                let value = entry.and_then(|entry| entry.component.get(param));
                // Full: the other side reads too little of what it asks for.
                let _ = self.readings.push((component, param, value));
            }
            Command::Change(mut change) => {
                let goes_on = change.perform(number, table, may_go_on);
                if let Err(rtrb::PushError::Full(change)) = self.spent.push(change) {
                    // A thousand changes were not cleared away: memory is lost rather than time.
                    std::mem::forget(change);
                }
                return goes_on;
            }
        }
        Some(number)
    }
}

/// Keeps two things apart: that a change is sent to the workers, and that a worker ends. So all workers take part in a
/// change, or none does.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ending(Arc<AtomicU8>);

const SENDING: u8 = 1;
const ENDED: u8 = 2;

impl Ending {
    /// A worker ends: no change begins after this. Waits for as long as the other side takes to fill its queues.
    pub(crate) fn end(&self) {
        // Acquire: the changes sent before are in the queues. Release: the side that reads ENDED sends no more.
        while self.0.fetch_or(ENDED, Ordering::AcqRel) & SENDING != 0 {
            std::hint::spin_loop();
        }
    }

    /// Begins to send a change; `false` if a worker has ended.
    pub(crate) fn begin(&self) -> bool {
        self.0.compare_exchange(0, SENDING, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// All workers have the change.
    pub(crate) fn sent(&self) {
        self.0.fetch_and(!SENDING, Ordering::AcqRel);
    }
}

/// Whether a command can be performed. One for a component that is still on its way here waits for it.
fn due(command: &Command, number: u64, leaving: bool, table: &Table) -> bool {
    let has_room = |component: usize| {
        let entry = table.entries.iter().find(|entry| entry.id == component);
        entry.is_some_and(|entry| entry.pending.len() < PENDING)
    };
    match command {
        Command::Hand { component, .. } => has_room(*component),
        Command::Get { component, .. } => leaving || has_room(*component),
        Command::Change(change) => leaving || number >= change.at,
    }
}
