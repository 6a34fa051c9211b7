//! [`Value`] and [`Params`]: what a component is set to.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize, Serializer};

/// A parameter's value.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A finite number.
    Float(f64),
    /// A text.
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

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Bool(value) => value.serialize(to),
            Value::Int(value) => value.serialize(to),
            Value::Float(value) => value.serialize(to),
            Value::Text(value) => value.serialize(to),
            Value::Floats(values) => values.serialize(to),
        }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}
impl From<i32> for Value {
    fn from(value: i32) -> Value {
        Value::Int(value.into())
    }
}
impl From<u32> for Value {
    fn from(value: u32) -> Value {
        Value::Int(value.into())
    }
}
impl From<i64> for Value {
    fn from(value: i64) -> Value {
        Value::Int(value)
    }
}
impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Float(value)
    }
}
impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::Text(value.to_owned())
    }
}
impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::Text(value)
    }
}
impl From<Vec<f64>> for Value {
    fn from(value: Vec<f64>) -> Value {
        Value::Floats(value)
    }
}

/// Parameters by name. What the checks hand to a component is complete and in range.
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
        match self.get(name)? {
            Value::Int(value) => Some(*value),
            _ => None,
        }
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
        match self.get(name)? {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// A text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)? {
            Value::Text(value) => Some(value),
            _ => None,
        }
    }

    /// Numbers.
    #[must_use]
    pub fn floats(&self, name: &str) -> Option<&[f64]> {
        match self.get(name)? {
            Value::Floats(values) => Some(values),
            _ => None,
        }
    }

    /// All, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }
}
