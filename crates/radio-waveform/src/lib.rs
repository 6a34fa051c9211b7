//! A waveform on a radio: slots locked to the time stamps of what it receives, bursts timed on its own clock.
//!
//! ```text
//!  radio ══> Pump, a thread ── cells ──> radio-receive ─> .. components .. ─> radio-transmit ══> radio
//!                 └── RadioSlotClock: slot k is over ──> workers              burst at end of slot k + advance
//! ```
//!
//! Slot k begins at sample k times the samples of a slot, and is released when its samples are there. An overflow, or a
//! loss on the way, costs the slots it lies in, with the radio as the culprit, and moves no later one. Samples that the
//! radio calls late are counted once an answer, with its slot.
//!
//! [`RadioClock::open`] opens what a checked waveform wants; [`RadioClock::equip`] lets a registry make its components;
//! [`RadioClock::start`] begins. [`WaveformRadio`] does all that for a run, and starts a software radio where none is named.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod answers;
mod beat;
mod budget;
mod clock;
mod device;
mod grid;
mod params;
mod pump;
mod receive;
mod slicer;
mod software;
mod transmit;
mod wiring;

pub use answers::ReplyBursts;
pub use beat::RadioSlotClock;
pub use clock::{RadioClock, RadioEnd};
pub use device::DeviceReport;
pub use grid::SlotGrid;
pub use params::{RadioRequirements, RadioRequirementsError, wants_a_radio};
pub use slicer::{Slicer, SlotEnd};
pub use software::SoftwareError;
pub use wiring::{Notice, RadioChoice, RadioReport, WaveformRadio, WaveformRadioError, late_answers};
