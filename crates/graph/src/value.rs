//! [`Value`] and [`Params`]: what a component is set to.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A parameter's value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Value {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    /// Numbers, such as the taps of a filter.
    Floats(Vec<f64>),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(value) => value.fmt(f),
            Value::Int(value) => value.fmt(f),
            Value::Float(value) => write!(f, "{value:?}"),
            Value::Text(value) => write!(f, "\"{}\"", value.escape_debug()),
            Value::Floats(values) => write!(f, "{values:?}"),
        }
    }
}

/// Values of which Rust has a type.
macro_rules! values {
    ($($from:ty => $kind:ident),*) => { $(
        impl From<$from> for Value {
            fn from(value: $from) -> Value {
                Value::$kind(value.into())
            }
        }
    )* };
}

values!(bool => Bool, i32 => Int, u32 => Int, i64 => Int, f64 => Float, &str => Text, String => Text, Vec<f64> => Floats);

/// Parameters by name. The checks hand complete parameters within their range to a component.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Params(BTreeMap<String, Value>);

impl Params {
    /// None.
    #[must_use]
    pub fn new() -> Params {
        Params::default()
    }

    /// With one set.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Params {
        self.set(name, value.into());
        self
    }

    /// Sets one.
    pub fn set(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }

    /// The one of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// A whole number.
    #[must_use]
    pub fn int(&self, name: &str) -> Option<i64> {
        if let Value::Int(value) = self.get(name)? { Some(*value) } else { None }
    }

    /// A number; whole ones count.
    #[must_use]
    pub fn float(&self, name: &str) -> Option<f64> {
        match self.get(name)? {
            Value::Float(value) => Some(*value),
            Value::Int(value) => Some(*value as f64),
            _ => None,
        }
    }

    /// Yes or no.
    #[must_use]
    pub fn bool(&self, name: &str) -> Option<bool> {
        if let Value::Bool(value) = self.get(name)? { Some(*value) } else { None }
    }

    /// A text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        if let Value::Text(value) = self.get(name)? { Some(value) } else { None }
    }

    /// Numbers.
    #[must_use]
    pub fn floats(&self, name: &str) -> Option<&[f64]> {
        if let Value::Floats(values) = self.get(name)? { Some(values) } else { None }
    }

    /// All, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}
