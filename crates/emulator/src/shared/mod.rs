//! What radios have in common, whatever they speak: time, commands in their order, what a receiver samples, what a
//! transmitter has been given, whom it may answer, and what it counts.
//!
//! Instants are [`Tick`](takt_base::Tick)s of the radio's free-running counter; device time is what its host set it to.

mod buffer;
mod command;
mod hosts;
mod identity;
mod queue;
mod report;
mod synthesiser;
mod time;

pub(crate) use buffer::{Buffer, Queued};
pub(crate) use command::{Action, Command, CommandEngine, Event, Item, Limits, Packet, Shape};
pub(crate) use hosts::Permits;
pub use identity::OptionsError;
pub(crate) use queue::TimedQueue;
pub use report::{HostReport, RxReport, TxReport};
pub(crate) use synthesiser::Synthesiser;
pub(crate) use time::{Pps, Timekeeper};

/// Full scale of a float on the wire: what hosts divide by.
pub(crate) const FULL_SCALE: f32 = 32_767.0;
