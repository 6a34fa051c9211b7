//! Values of variables, and of messages between components.

use takt_graph::Value;

use super::Component;

/// A value that fits into a word: what variables carry into a running waveform.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Scalar {
    Bool(bool),
    Int(i64),
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

/// A variable's value in two words, as it crosses to another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// 0: none, 1: bool, 2: int, 3: float.
    pub(crate) kind: u64,
    pub(crate) bits: u64,
}

impl Word {
    pub(crate) fn of(value: Option<Scalar>) -> Word {
        let (kind, bits) = match value {
            None => (0, 0),
            Some(Scalar::Bool(yes)) => (1, yes.into()),
            Some(Scalar::Int(n)) => (2, n as u64),
            Some(Scalar::Float(x)) => (3, x.to_bits()),
        };
        Word { kind, bits }
    }

    pub(crate) fn scalar(self) -> Option<Scalar> {
        match self.kind {
            1 => Some(Scalar::Bool(self.bits != 0)),
            2 => Some(Scalar::Int(self.bits as i64)),
            3 => Some(Scalar::Float(f64::from_bits(self.bits))),
            _ => None,
        }
    }
}

/// A message to a component: a cache line, by value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Message {
    /// Its subject; the component's own numbering.
    pub tag: u64,
    /// Its contents.
    pub words: [u64; 7],
}

/// Instruction to a component between its slots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Instruction {
    Set { param: usize, value: Scalar },
    Message(Message),
    Degrade,
}

impl Instruction {
    pub(crate) fn perform(&self, component: &mut dyn Component) {
        match self {
            Instruction::Set { param, value } => component.set(*param, *value),
            Instruction::Message(message) => component.message(message),
            Instruction::Degrade => component.degrade(),
        }
    }
}
