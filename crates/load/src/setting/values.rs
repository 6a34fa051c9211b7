//! The settings of a point, as documents have them.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use takt_agent::Failure;

use super::{Level, Setting};

/// The settings of a point as its file has them and its record keeps them: all of them, checked.
///
/// They are read once, when the file is: into the struct of the workload ([`Workload::at`](crate::Workload::at)) and into the
/// lab's own. Everything later has those.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Settings(BTreeMap<String, Value>);

/// A level that a setting accepts and that can't be read: a fault of takt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("files may have {name} = {level}, but nothing reads it")]
pub struct UnknownLevel {
    pub name: &'static str,
    /// As in a file; `nothing` for a setting that is not there.
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

    /// Meaning of a setting's level.
    ///
    /// # Errors
    /// A level that `T` does not know: nothing is measured as something else.
    pub fn read<T: Level>(&self, setting: &Setting) -> Result<T, UnknownLevel> {
        self.read_by(setting, |level| T::read(setting, level))
    }

    /// The same, by a function.
    ///
    /// # Errors
    /// A level that the function does not know.
    pub fn read_by<T>(&self, setting: &Setting, read: impl FnOnce(&Value) -> Option<T>) -> Result<T, UnknownLevel> {
        let level = self.0.get(setting.name);
        level.and_then(read).ok_or_else(|| UnknownLevel {
            name: setting.name,
            level: level.map_or_else(|| "nothing".to_owned(), Value::to_string),
        })
    }

    /// The same with these settings at their defaults.
    #[must_use]
    pub fn without(mut self, settings: &[Setting]) -> Settings {
        for setting in settings {
            if let (Some(level), Some(default)) = (self.0.get_mut(setting.name), setting.default_value()) {
                *level = default;
            }
        }
        self
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
