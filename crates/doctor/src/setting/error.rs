//! Errors of reading and writing a setting.

use std::io;

use takt_host::ReadError;
use takt_host::call::WITH_SUDO;

use super::Setting;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettingError {
    /// The name leads out of the tree of settings; only a forged journal has such a name.
    #[error("`{name}` is not the name of a setting")]
    Name { name: String },
    /// Only a forged journal has such a value.
    #[error("`{value}` is not a valid value of {setting}; expected: {expected}")]
    Value {
        setting: Setting,
        /// Its beginning, without control characters.
        value: String,
        expected: &'static str,
    },
    #[error("takt can't read setting {setting}")]
    Read {
        setting: Setting,
        #[source]
        source: ReadError,
    },
    #[error("changing {setting} needs root")]
    NotPermitted { setting: Setting },
    #[error(
        "the kernel refuses to change {setting} even for root: a container, a locked-down kernel, or disabled at boot"
    )]
    RefusedToRoot { setting: Setting },
    /// `/proc/sys` or `/sys` is read-only, as in most containers.
    #[error("{setting} is read-only here, as in a container or an inner network namespace")]
    ReadOnly { setting: Setting },
    /// The kernel places it itself, such as an interrupt of a disk's queue.
    #[error("the kernel lets nobody move interrupt {number}")]
    Kept { number: u32 },
    #[error("takt can't write `{value}` to {setting}")]
    Write {
        setting: Setting,
        value: String,
        #[source]
        source: io::Error,
    },
    /// The kernel took the value and made another of it.
    #[error("takt set {setting} to `{requested}`, but it became `{got}`")]
    NotTaken { setting: Setting, requested: String, got: String },
}

impl SettingError {
    #[must_use]
    pub fn fix(&self) -> Option<&'static str> {
        match self {
            SettingError::NotPermitted { .. } => Some(WITH_SUDO),
            SettingError::Name { .. } | SettingError::Value { .. } => Some(
                "look at the journal: takt did not write that entry; if the setting has to be restored, set it by hand",
            ),
            SettingError::ReadOnly { .. } => Some("run it on the host itself, outside the container"),
            SettingError::RefusedToRoot { .. } => Some(
                "run it on the host itself, outside a container; there, boot the kernel so that it allows the change",
            ),
            _ => None,
        }
    }

    /// Whether the setting's CPU or interface is gone: offline or removed.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        let SettingError::Read { source: ReadError::Io { source, .. }, .. } = self else { return false };
        source.kind() == io::ErrorKind::NotFound || source.raw_os_error() == Some(libc::ENODEV)
    }
}
