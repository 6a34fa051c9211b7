//! The settings of a point.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use takt_agent::Failure;
use takt_base::parse_duration;

use super::Setting;

/// The settings of a point, all of them, checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Settings(BTreeMap<String, Value>);

/// A level that a setting accepts and its workload can't read: a fault of takt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("files may have {name} = \"{level}\", but no workload knows it")]
pub struct UnknownLevel {
    pub name: String,
    pub level: String,
}

impl Settings {
    /// From values that were accepted; defaults fill the rest.
    pub fn complete<'a>(mut given: BTreeMap<String, Value>, known: impl Iterator<Item = &'a Setting>) -> Settings {
        for setting in known {
            if let (Some(default), false) = (setting.default_value(), given.contains_key(setting.name)) {
                given.insert(setting.name.into(), default);
            }
        }
        Settings(given)
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

    /// A whole number; zero for a setting this workload does not have, or one that is a word.
    #[must_use]
    pub fn whole(&self, name: &str) -> usize {
        self.0.get(name).and_then(Value::as_u64).map_or(0, |number| number as usize)
    }

    /// A time; zero for a setting this workload does not have.
    #[must_use]
    pub fn span(&self, name: &str) -> Duration {
        parse_duration(self.word(name)).unwrap_or_default()
    }

    /// Meaning of a word; for a setting that this workload does not have, the first choice.
    ///
    /// # Errors
    /// A word that the setting accepts and this list does not have: nothing is measured as something else.
    pub fn choice<T: Copy>(&self, name: &str, choices: &[(&str, T)]) -> Result<T, UnknownLevel> {
        let word = self.word(name);
        let found = choices.iter().find(|(known, _)| *known == word || word.is_empty());
        found.map(|(_, choice)| *choice).ok_or_else(|| self.unknown(name))
    }

    /// Parses a word by itself.
    pub fn parsed<T: FromStr>(&self, name: &str) -> Result<T, UnknownLevel> {
        self.word(name).parse().map_err(|_| self.unknown(name))
    }

    /// The same with one setting changed.
    #[must_use]
    pub fn with(mut self, name: &str, value: Value) -> Settings {
        self.0.insert(name.to_owned(), value);
        self
    }

    #[must_use]
    pub fn all(&self) -> &BTreeMap<String, Value> {
        &self.0
    }

    fn unknown(&self, name: &str) -> UnknownLevel {
        UnknownLevel { name: name.to_owned(), level: self.word(name).to_owned() }
    }
}

impl From<UnknownLevel> for Failure {
    fn from(unknown: UnknownLevel) -> Failure {
        Failure {
            chain: vec![unknown.to_string()],
            fix: Some("report it: this is a bug in takt".into()),
            lasting: true,
        }
    }
}
