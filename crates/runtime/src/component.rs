//! What a component is to the runtime.

use std::time::Duration;

use takt_graph::{Params, Shape, Value};

use crate::port::{InPort, OutPort};

/// A value with [`tick`](Component::tick). It sees whole slots, in order, each once; it can neither wait nor fail, and
/// must not allocate. What it computes may depend on its parameters and its packets, on nothing else.
pub trait Component: Send {
    /// Executes one slot: reads `io.inputs`, writes every item of `io.outputs` it publishes.
    fn tick(&mut self, io: &mut Io<'_>);

    /// Called once before the first slot, outside real time: the place to allocate for the longest packets.
    ///
    /// # Errors
    /// What does not suit it, in words.
    fn prepare(&mut self, ports: &Prepared<'_>) -> Result<(), String> {
        let _ = ports;
        Ok(())
    }

    /// A variable was set, at a slot edge. `param` is its index among the type's parameters.
    fn set(&mut self, param: usize, value: Scalar) {
        let _ = (param, value);
    }

    /// A variable's present value.
    fn get(&self, param: usize) -> Option<Scalar> {
        let _ = param;
        None
    }

    /// A message arrived, at a slot edge.
    fn message(&mut self, message: &Message) {
        let _ = message;
    }

    /// It missed slots and is to use its cheaper mode from now on.
    fn degrade(&mut self) {}

    /// What it found out, for the report, outside real time.
    fn results(&self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }
}

/// What a component sees of one slot.
pub struct Io<'a> {
    /// In the order of the shape.
    pub inputs: &'a mut [InPort],
    /// In the order of the shape.
    pub outputs: &'a mut [OutPort],
    /// Logical slot: 0, 1, 2, ...
    pub slot: u64,
    /// Messages to the components that the waveform names.
    pub outbox: Outbox<'a>,
    pub(crate) timer: &'a mut crate::timer::Timer,
    pub(crate) lost: bool,
}

impl Io<'_> {
    /// What the slot was to bring from outside, from a radio, was lost there: whatever hears this component finds the packet
    /// missing, the slot counts as missed and as lost, and its culprit is [`Culprit::Radio`](crate::Culprit::Radio). So it is
    /// wherever the component runs: here, in a process of its own, or out of a library.
    pub fn lose(&mut self) {
        self.lost = true;
    }

    /// Keeps the worker busy for a time: what a stall looks like to everybody else. Under a virtual clock only the clock
    /// moves.
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
    /// Sends a message. `false`: there is no room for more in this slot, or nobody hears this component.
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

/// What is known before the first slot.
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

/// A value that fits into a word: what variables carry into a running waveform.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number.
    Float(f64),
}

impl Scalar {
    /// As a number; yes is 1.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        match self {
            Scalar::Bool(yes) => f64::from(u8::from(yes)),
            Scalar::Int(n) => n as f64,
            Scalar::Float(x) => x,
        }
    }

    /// As a whole number; a float is truncated, yes is 1.
    #[must_use]
    pub fn as_i64(self) -> i64 {
        match self {
            Scalar::Bool(yes) => i64::from(yes),
            Scalar::Int(n) => n,
            Scalar::Float(x) => x as i64,
        }
    }

    /// The scalar a parameter's value is, if it is one.
    #[must_use]
    pub fn of(value: &Value) -> Option<Scalar> {
        match value {
            Value::Bool(yes) => Some(Scalar::Bool(*yes)),
            Value::Int(n) => Some(Scalar::Int(*n)),
            Value::Float(x) => Some(Scalar::Float(*x)),
            Value::Text(_) | Value::Floats(_) => None,
        }
    }
}

/// A message to a component: a cache line, by value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Message {
    /// What it is about; the component's own numbering.
    pub tag: u64,
    /// What it says.
    pub words: [u64; 7],
}

/// Why a component was not made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{what}")]
pub struct MakeError {
    /// What does not suit.
    pub what: String,
    /// What would.
    pub fix: String,
}

/// Makes a component of complete, checked parameters.
pub type Make = fn(&Params) -> Result<Box<dyn Component>, MakeError>;
