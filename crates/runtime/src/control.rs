//! What reaches a running waveform: variables, messages, questions and changes, all at slot edges, through bounded queues
//! that neither side waits for.

use rtrb::{Consumer, Producer, RingBuffer};

use crate::change::Change;
use crate::component::{Message, Scalar};
use crate::table::Table;

/// Commands that can wait for a worker.
const COMMANDS: usize = 1024;

/// What a worker is told.
pub(crate) enum Command {
    /// Set a variable.
    Set {
        component: usize,
        param: usize,
        value: Scalar,
        /// Before this logical slot of the component, or as soon as can be.
        before: u64,
    },
    /// Hand a message over.
    Tell { component: usize, message: Message, before: u64 },
    /// Ask for a variable.
    Get { component: usize, param: usize },
    /// Go over to another plan.
    Change(Box<Change>),
}

/// What a worker answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Reading {
    pub(crate) component: usize,
    pub(crate) param: usize,
    pub(crate) value: Option<Scalar>,
}

/// A worker's end.
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

    /// Does what is due at the edge of physical slot `number`. `false`: the worker has no table any more.
    #[cold]
    pub(crate) fn apply(&mut self, number: u64, table: &mut Table) -> bool {
        while self.waiting.len() < self.waiting.capacity() {
            let Ok(command) = self.commands.pop() else { break };
            self.waiting.push(command);
        }
        let mut index = 0;
        while let Some(command) = self.waiting.get(index) {
            if !due(command, number, table) {
                index += 1;
                continue;
            }
            // In the order they came, so that of two settings of one variable the later holds.
            let command = self.waiting.remove(index);
            if !self.perform(command, table) {
                return false;
            }
        }
        true
    }

    fn perform(&mut self, command: Command, table: &mut Table) -> bool {
        match command {
            Command::Set { component, param, value, .. } => {
                if let Some(entry) = table.entries.iter_mut().find(|entry| entry.id == component) {
                    entry.component.set(param, value);
                }
            }
            Command::Tell { component, message, .. } => {
                if let Some(entry) = table.entries.iter_mut().find(|entry| entry.id == component) {
                    entry.component.message(&message);
                }
            }
            Command::Get { component, param } => {
                let entry = table.entries.iter().find(|entry| entry.id == component);
                let value = entry.and_then(|entry| entry.component.get(param));
                // Full: who asks so much does not listen.
                let _ = self.readings.push(Reading { component, param, value });
            }
            Command::Change(mut change) => {
                let goes_on = change.perform(table);
                if let Err(rtrb::PushError::Full(change)) = self.spent.push(change) {
                    // A thousand changes that nobody cleared away: memory is lost rather than time.
                    std::mem::forget(change);
                }
                return goes_on;
            }
        }
        true
    }
}

fn due(command: &Command, number: u64, table: &Table) -> bool {
    let next = |component: usize| {
        let entry = table.entries.iter().find(|entry| entry.id == component);
        // The slot it is about to execute; before its first, the first.
        entry.map_or(u64::MAX, |entry| entry.next.max(number.saturating_sub(entry.depth)))
    };
    match command {
        Command::Set { component, before, .. } | Command::Tell { component, before, .. } => next(*component) >= *before,
        Command::Get { .. } => true,
        Command::Change(change) => number >= change.at(),
    }
}
