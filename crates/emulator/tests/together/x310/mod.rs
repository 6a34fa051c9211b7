//! An X310 on a virtual clock, in front of a scripted host that speaks CHDR by hand: what `docs/internals/x310.md` says, by
//! its clauses.

mod board;
mod claim;
mod control;
mod credits;
pub mod host;
mod hostile;
mod management;
mod receive;
mod releases;
mod time;
mod transmit;
mod traps;
