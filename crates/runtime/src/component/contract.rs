//! [`Component`]: the trait, what it sees of a slot, and why one is not made.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_graph::{Params, Shape, Value};

use super::value::{Message, Scalar};
use crate::port::{InPort, OutPort};
use crate::slot::Timer;

/// A value with [`tick`](Component::tick). It sees whole slots, in order, each once; it can neither wait nor fail, and
/// must not allocate. Its output may depend on its parameters and its packets, on nothing else.
#[allow(unused_variables, reason = "names for the documentation")]
pub trait Component: Send {
    /// Executes one slot: reads `io.inputs`, writes every item of `io.outputs` it publishes.
    fn tick(&mut self, io: &mut Io<'_>);

    /// Called once before the first slot, outside real time: the place to allocate for the longest packets.
    ///
    /// # Errors
    /// The unsuitable packets, in words.
    fn prepare(&mut self, ports: &Prepared<'_>) -> Result<(), String> {
        Ok(())
    }

    /// A variable was set, at a slot edge. `param` is its index among the type's parameters.
    fn set(&mut self, param: usize, value: Scalar) {}

    /// A variable's present value.
    fn get(&self, param: usize) -> Option<Scalar> {
        None
    }

    /// A message arrived, at a slot edge.
    fn message(&mut self, message: &Message) {}

    /// It missed slots and is to use its cheaper mode from now on.
    fn degrade(&mut self) {}

    /// Its results for the report, outside real time.
    fn results(&self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }
}

/// A component's view of one slot.
pub struct Io<'a> {
    /// In the order of the shape.
    pub inputs: &'a mut [InPort],
    /// In the order of the shape.
    pub outputs: &'a mut [OutPort],
    /// Logical slot: 0, 1, 2, ...
    pub slot: u64,
    /// Messages to the components that the waveform names.
    pub outbox: Outbox<'a>,
    pub(crate) timer: &'a mut Timer,
    pub(crate) lost: bool,
}

impl Io<'_> {
    /// Says that the samples of this slot were lost outside, by a radio: consumers find the packet missing, the slot counts as
    /// missed and as lost, and its culprit is [`Culprit::Radio`](crate::Culprit::Radio). The same holds in a process of its
    /// own.
    pub fn lose(&mut self) {
        self.lost = true;
    }

    /// Keeps the worker busy for a time, as a stall would. Under a virtual clock only the clock moves.
    pub fn occupy(&mut self, time: Duration) {
        self.timer.occupy(time);
    }
}

/// Takes the messages of one slot to the components that the waveform's `[[message]]` tables name, all of them; they
/// arrive a declared number of slots later.
#[derive(Debug)]
pub struct Outbox<'a> {
    pub(crate) room: &'a mut [Message],
    pub(crate) sent: usize,
}

impl Outbox<'_> {
    /// Sends a message. `false`: there is no room for more in this slot, or no component listens to this one.
    pub fn send(&mut self, message: Message) -> bool {
        let place = self.room.get_mut(self.sent);
        let sent = place.is_some();
        if let Some(place) = place {
            *place = message;
            self.sent += 1;
        }
        sent
    }
}

/// Facts known before the first slot.
#[derive(Clone, Copy, Debug)]
pub struct Prepared<'a> {
    /// The component's ports.
    pub shape: &'a Shape,
    /// Items of the longest packet of each input.
    pub input_items: &'a [usize],
    /// Items of the longest packet of each output.
    pub output_items: &'a [usize],
    /// Length of a slot, nanoseconds.
    pub slot_ns: u64,
}

impl Prepared<'_> {
    pub(crate) fn prepare(&self, component: &mut dyn Component) -> Result<(), MakeError> {
        let fix = || "change its parameters or what leads to it".to_owned();
        component.prepare(self).map_err(|what| MakeError { what, fix: fix() })
    }
}

/// Why a component was not made. From another process it comes as JSON.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[error("{what}")]
pub struct MakeError {
    /// The unsuitable parameter.
    pub what: String,
    /// A suitable value.
    pub fix: String,
}

impl MakeError {
    /// The refusal in this JSON; `silent` is what to say where there is none.
    pub(crate) fn read(json: &[u8], silent: &str) -> MakeError {
        let fix = || "see the documentation of the component".to_owned();
        serde_json::from_slice(json).unwrap_or_else(|_| MakeError { what: silent.to_owned(), fix: fix() })
    }
}

/// Makes a component of complete, checked parameters.
pub type Make = fn(&Params) -> Result<Box<dyn Component>, MakeError>;
