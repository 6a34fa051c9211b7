//! Parts that radios have in common, whatever they speak: time, commands in their order, receivers and transmitters,
//! settings by tick, permitted destinations, and counts.
//!
//! Instants are [`Tick`](takt_base::Tick)s of the radio's free-running counter; device time is what its host set it to.

mod buffer;
mod command;
mod history;
mod hosts;
mod identity;
mod play_head;
mod queue;
mod report;
mod synthesiser;
mod time;

pub(crate) use buffer::{Buffer, Queued};
pub(crate) use command::{Action, Command, CommandEngine, Event, Item, Limits, Packet, Shape};
pub(crate) use history::{History, Piece};
pub(crate) use hosts::Permits;
pub use identity::OptionsError;
pub(crate) use play_head::PlayHead;
pub(crate) use queue::TimedQueue;
pub use report::{HostReport, RxReport, TxReport};
pub(crate) use synthesiser::Synthesiser;
pub(crate) use time::{Pps, Timekeeper};
