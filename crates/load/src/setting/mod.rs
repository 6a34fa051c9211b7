//! A setting of a workload: its name, what it can be set to, its default, what it means.
//!
//! A workload lists its settings in its own folder, each with its type, by the macro `settings!`. Checking an experiment's file,
//! `takt experiment factors`, the reference page and the struct that the workload runs by come from this list, so a new setting
//! is a new row.

mod domain;
pub mod former;
mod level;
mod shared;
mod values;

pub use domain::{Domain, Takes, word_or, word_remedy};
pub(crate) use level::words;
pub use level::{ByteCount, Level};
pub use shared::PolicyName;
pub(crate) use shared::{DURATION, ENGINE, IDLE, POLICY, TICK_HZ, WARM_UP};
pub use values::{Settings, UnknownLevel};

use serde_json::{Value, json};

/// One thing that can be set.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name in a file.
    pub name: &'static str,
    /// Values that it takes.
    pub takes: Takes,
    /// Its default, as in a file; `None`: it must be set.
    pub default: Option<&'static str>,
    pub about: &'static str,
}

impl Setting {
    /// A setting that has no default; [`Setting::about()`] says what it means.
    #[must_use]
    pub const fn required(name: &'static str, takes: Takes) -> Setting {
        Setting { name, takes, default: None, about: "" }
    }

    /// A setting with its default, as in a file; [`Setting::about()`] says what it means.
    #[must_use]
    pub const fn new(name: &'static str, takes: Takes, default: &'static str) -> Setting {
        Setting { name, takes, default: Some(default), about: "" }
    }

    /// The same setting with its meaning.
    #[must_use]
    pub const fn about(self, about: &'static str) -> Setting {
        Setting { about, ..self }
    }

    /// Its default, as it goes into the record.
    #[must_use]
    pub fn default_value(&self) -> Option<Value> {
        let text = self.default?;
        Some(match (self.takes, text.parse::<i64>()) {
            (Takes::Whole(..), Ok(number)) => json!(number),
            _ => json!(text),
        })
    }

    /// The value as it goes into the record.
    ///
    /// # Errors
    /// The fault and what could stand there, as `(complaint, remedy)`.
    pub fn accept(&self, value: &Value) -> Result<Value, (String, String)> {
        let refuse = |remedy| match former::present_level(self.name, value) {
            Some(present) => {
                (format!("{} can't be {value}", self.name), format!("write \"{present}\", its present name"))
            }
            None => (format!("{} can't be {value}", self.name), remedy),
        };
        self.takes.accept(value).map_err(refuse)
    }
}

/// A struct of settings: each field with its type and its [`Setting`].
///
/// ```text
/// settings! {
///     /// A point of `roles`.
///     struct RolesSettings {
///         duration: Duration = DURATION,
///         components: usize = COMPONENTS,
///     }
/// }
/// ```
///
/// It has the rows as `SETTINGS`, and `read` for the [`Settings`] of a point.
macro_rules! settings {
    ($(#[$attribute:meta])* $visibility:vis struct $name:ident { $($field:ident: $type:ty = $setting:expr,)+ }) => {
        $(#[$attribute])*
        #[derive(Clone, Debug, PartialEq)]
        $visibility struct $name {
            $($visibility $field: $type,)+
        }

        impl $name {
            $visibility const SETTINGS: &'static [$crate::setting::Setting] = &[$($setting),+];

            $visibility fn read(
                settings: &$crate::setting::Settings,
            ) -> Result<$name, $crate::setting::UnknownLevel> {
                Ok($name {
                    $($field: {
                        const SETTING: $crate::setting::Setting = $setting;
                        settings.read(&SETTING)?
                    },)+
                })
            }
        }
    };
}
pub(crate) use settings;
