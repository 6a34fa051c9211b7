//! Why a setting could not be read or written.

use std::io;

use takt_host::ReadError;
use takt_host::call::WITH_SUDO;

use super::Setting;

/// Why a setting could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingError {
    /// The name leads out of the tree of settings; only a forged journal holds such a thing.
    #[error("`{name}` is no name of a setting")]
    Name {
        /// The name.
        name: String,
    },
    /// It cannot be read.
    #[error("reading setting {setting}")]
    Read {
        /// The setting.
        setting: Setting,
        /// The cause.
        #[source]
        source: ReadError,
    },
    /// Only root may.
    #[error("changing {setting} needs root")]
    NotPermitted {
        /// The setting.
        setting: Setting,
    },
    /// `/proc/sys` or `/sys` is read-only, as in most containers.
    #[error("{setting} is read-only here, as in a container or an inner network namespace")]
    ReadOnly {
        /// The setting.
        setting: Setting,
    },
    /// The kernel refuses the value.
    #[error("writing `{value}` to {setting}")]
    Write {
        /// The setting.
        setting: Setting,
        /// The value.
        value: String,
        /// What the kernel answered.
        #[source]
        source: io::Error,
    },
    /// The kernel took the value and made another of it.
    #[error("{setting} was set to `{asked}` and became `{got}`")]
    NotTaken {
        /// The setting.
        setting: Setting,
        /// The value written.
        asked: String,
        /// The value read back.
        got: String,
    },
}

impl SettingError {
    /// What mends it, if anything does.
    #[must_use]
    pub fn fix(&self) -> Option<&'static str> {
        match self {
            SettingError::NotPermitted { .. } => Some(WITH_SUDO),
            SettingError::ReadOnly { .. } => Some("run it on the host itself, outside the container"),
            _ => None,
        }
    }
}
