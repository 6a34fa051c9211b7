//! An X310 on a virtual clock, in front of a scripted host that speaks CHDR by hand: what `docs/internals/x310.md` says, by
//! its clauses.

#[path = "../support/signals.rs"]
#[allow(dead_code, reason = "the N200's tests use the rest")]
mod signals;

mod board;
mod claim;
mod control;
mod credits;
mod host;
mod hostile;
mod management;
mod receive;
mod releases;
mod time;
mod transmit;
mod traps;
