//! The settings of a point.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use takt_base::parse_duration;

use super::{Kind, all};

/// The settings of a point, all of them, checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Settings(BTreeMap<String, Value>);

impl Settings {
    /// From values that were accepted; the defaults of `kind` fill the rest.
    pub(in crate::experiment) fn complete(mut given: BTreeMap<String, Value>, kind: Kind) -> Settings {
        for setting in all().filter(|setting| setting.of.contains(&kind)) {
            if let (Some(default), false) = (setting.default_value(), given.contains_key(setting.name)) {
                given.insert(setting.name.into(), default);
            }
        }
        Settings(given)
    }

    #[cfg(test)]
    pub(crate) fn of(given: BTreeMap<String, Value>, kind: Kind) -> Settings {
        Settings::complete(given, kind)
    }

    /// A word; empty for a setting this workload does not have.
    #[must_use]
    pub fn word(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// A number; `None` for a setting this workload does not have, or one that is a word.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name).and_then(Value::as_f64)
    }

    /// A time; zero for a setting this workload does not have.
    #[must_use]
    pub fn span(&self, name: &str) -> Duration {
        parse_duration(self.word(name)).unwrap_or_default()
    }

    /// The same with one setting changed.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: Value) -> Settings {
        self.0.insert(name.to_owned(), value);
        self
    }

    /// Every setting by its name.
    #[must_use]
    pub fn all(&self) -> &BTreeMap<String, Value> {
        &self.0
    }
}
