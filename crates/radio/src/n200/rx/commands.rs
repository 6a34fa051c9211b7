//! Stream commands: what the receive DSPs have been told and have not finished.
//!
//! They go by the slow path, each streamer over a control socket of its own: there every write is acknowledged, and none
//! waits behind a timed command in the register FIFO, least of all the one that restarts a stream.

use std::collections::VecDeque;
use std::time::Duration;

use takt_base::{MonoNs, Tick};
use takt_wire::n200::registers::{RX_VRT_HEADER, readback, rx_control, settings};
use takt_wire::n200::{StreamAction, StreamCommand};

use super::super::anchor::Anchor;
use super::super::control::{Control, Patience};
use crate::{Net, RadioError};

/// Commands a DSP queues; one more would be lost.
pub(super) const QUEUE: usize = 16;

/// A run of samples that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Planned {
    /// Tick of its first sample; `None` = as soon as possible.
    pub(super) first: Option<u64>,
    /// Samples; `None` = until stopped.
    pub(super) samples: Option<u64>,
    /// A chained command: another is expected to go on from it.
    pub(super) more: bool,
}

/// What was asked for, oldest first. The front is what streams now.
#[derive(Debug)]
pub(super) struct Plan(VecDeque<Planned>);

impl Plan {
    pub(super) fn new() -> Plan {
        Plan(VecDeque::with_capacity(QUEUE))
    }

    pub(super) fn current(&self) -> Option<Planned> {
        self.0.front().copied()
    }

    /// What comes after the current run.
    pub(super) fn queued(&self) -> impl Iterator<Item = Planned> {
        self.0.iter().skip(1).copied()
    }

    /// The current run began at `tick`.
    pub(super) fn begin(&mut self, tick: u64) {
        if let Some(run) = self.0.front_mut() {
            run.first = Some(tick);
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.0.is_empty()
    }

    /// # Errors
    /// `Range` if the DSPs can't queue another command.
    pub(super) fn push(&mut self, run: Planned) -> Result<(), RadioError> {
        if self.0.len() >= QUEUE {
            let got = (self.0.len() + 1) as f64;
            return Err(RadioError::Range { what: "queued stream commands", got, low: 0.0, high: QUEUE as f64 });
        }
        match self.0.back_mut() {
            // A chained command goes on where the one before ends; its time is ignored.
            Some(last) if last.more => {
                last.samples = last.samples.zip(run.samples).map(|(a, b)| a + b);
                last.more = run.more;
            }
            _ => self.0.push_back(run),
        }
        Ok(())
    }

    /// The run in progress is over.
    pub(super) fn finish(&mut self) {
        self.0.pop_front();
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The control socket of a streamer to one device.
pub(super) struct Commander {
    pub(super) control: Control,
}

impl Commander {
    /// The device's time now.
    pub(super) fn device_time(&mut self, net: &dyn Net, anchor: &Anchor) -> Result<Tick, RadioError> {
        let low = self.control.peek(readback::TIME_LOW)?;
        Ok(anchor.complete(low, net.now()))
    }

    /// Gives a command to a DSP. `idle`: nothing is queued or running there, so that a command whose reply was lost can be
    /// taken back by a clear and given again; otherwise repeating it could act twice.
    pub(super) fn issue(&mut self, dsp: usize, command: StreamCommand, idle: bool) -> Result<(), RadioError> {
        let [word, high, low] = command.words()?;
        let base = settings::RX_CONTROL[dsp];
        let trigger = base + rx_control::TIME_LOW;
        // Starting or stopping twice comes to the same as once.
        let repeatable = matches!(command.action, StreamAction::Start | StreamAction::Stop);
        for _ in 0..Patience::USUAL.tries {
            self.control.poke(base + rx_control::COMMAND, word)?;
            self.control.poke(base + rx_control::TIME_HIGH, high)?;
            if repeatable {
                return self.control.poke(trigger, low);
            }
            self.control.set_patience(Patience { tries: 1, ..Patience::USUAL });
            let given = self.control.poke(trigger, low);
            self.control.set_patience(Patience::USUAL);
            match given {
                Err(RadioError::Silent { .. }) if idle => self.clear(dsp)?,
                Err(RadioError::Silent { .. }) => return Err(RadioError::Unsure { register: trigger }),
                given => return given,
            }
        }
        Err(RadioError::Silent { addr: self.control.peer(), what: "a stream command", tries: Patience::USUAL.tries })
    }

    /// Drops what the DSP has queued and is doing; the packet counter starts again.
    pub(super) fn clear(&mut self, dsp: usize) -> Result<(), RadioError> {
        let base = settings::RX_CONTROL[dsp];
        self.control.poke(base + rx_control::CLEAR, 0)?;
        self.control.poke(base + rx_control::VRT_HEADER, RX_VRT_HEADER)?;
        self.control.poke(base + rx_control::STREAM_ID, takt_wire::n200::registers::RX_STREAM_IDS[dsp])?;
        self.control.poke(base + rx_control::VRT_TRAILER, 0)
    }

    /// For a restart in the middle of a receive call: shorter than the caller's deadline, if that can be.
    pub(super) fn hurry(&mut self, now: MonoNs, until: MonoNs) {
        let each = (until - now).clamp(Duration::from_millis(20), Patience::USUAL.each);
        self.control.set_patience(Patience { tries: 2, each });
    }

    pub(super) fn take_time(&mut self) {
        self.control.set_patience(Patience::USUAL);
    }
}
