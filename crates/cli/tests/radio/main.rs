//! Radios as a person uses them: find, probe, rate, record, play, and waveforms on their clock, each against `takt emulate`.

mod air;
mod bad_input;
mod cable;
mod calibrated;
mod check;
mod commands;
mod duplex;
mod faults;
mod full_scale;
mod garbage;
mod interface;
mod on_air;
mod queues;
mod recordings;
mod share;
mod software;
mod speed;
#[path = "../support/mod.rs"]
mod support;
#[path = "../../../../tests/support/tone.rs"]
mod tone;
#[path = "../support/watched.rs"]
mod watched;
mod waveform;
mod witness;
mod x310;
