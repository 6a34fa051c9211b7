//! Requests of a reader, and variables, which it may set.

use serde::{Deserialize, Serialize};

/// A line of a reader.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Request {
    /// The time between snapshots, ms: [`EVERY_MIN_MS`](crate::limits::EVERY_MIN_MS) to
    /// [`EVERY_MAX_MS`](crate::limits::EVERY_MAX_MS). The first line of a reader; it may be sent again.
    EveryMs(u32),
    /// Set a variable.
    Set(SetVariable),
    /// Outputs to show, of [`Snapshot::outputs`](crate::Snapshot::outputs), [`TAPS`](crate::limits::TAPS) at most. They replace
    /// those that the reader asked for before.
    Taps(Vec<String>),
}

/// A variable and the value that it is to have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetVariable {
    /// As in [`Variable::name`].
    pub name: String,
    /// The new value.
    pub value: VariableValue,
}

/// Answer to [`Request::Set`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetAnswer {
    /// The variable that was named.
    pub name: String,
    /// Why it was not set, for people; absent: the process sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// Something that can be read, and perhaps set, while the process runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variable {
    /// Name: `COMPONENT.VARIABLE`.
    pub name: String,
    /// Value; absent: not known at the moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<VariableValue>,
    /// Unit, as `dB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Smallest and largest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// Values that it accepts, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// Whether the process lets readers set it.
    pub settable: bool,
}

/// Value of a variable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum VariableValue {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A word.
    Text(String),
}

impl std::fmt::Display for VariableValue {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            VariableValue::Bool(yes) => write!(out, "{yes}"),
            VariableValue::Int(n) => write!(out, "{n}"),
            VariableValue::Float(x) => write!(out, "{x}"),
            VariableValue::Text(text) => write!(out, "{text}"),
        }
    }
}
