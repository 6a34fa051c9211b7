//! Workers: what the threads of a waveform do, slot after slot.
//!
//! A worker shares nothing with the others but the rings of links and queues that neither side waits for. So the slot loop
//! takes no lock, and a worker that is late harms those alone that want its packets.
//!
//! [`Worker::run_free`] and [`Worker::run_timed`] execute a table to its end. [`Outbox`] brings a worker commands; a change
//! of plan or waveform is made of [`changes`], one for each worker.

mod change;
mod inbox;
mod slots;

pub(crate) use change::changes;
pub(crate) use inbox::{Command, Ending, Inbox, Outbox, mailbox};
pub(crate) use slots::{Slot, Worker};
