//! The entries of a journal: a change that was about to be made, and why it needs no undoing any more.

use serde::{Deserialize, Serialize};

use crate::setting::Setting;

/// How long a change should stay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Until `takt doctor --undo` or a reboot.
    Host,
    /// During one proof, which undoes it at the end. If the proof was killed, its guard undoes it; if that was killed too,
    /// `takt doctor --undo` does. A change that the owner keeps stays like one of [`Scope::Host`].
    Run {
        /// Unique to this run.
        id: String,
    },
}

/// A setting that takt changed, or was about to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub number: u64,
    /// Time, milliseconds since 1970.
    pub unix_ms: u64,
    /// The boot; the next boot resets all settings.
    pub boot_id: Option<String>,
    pub rule: String,
    pub scope: Scope,
    pub setting: Setting,
    pub was: String,
    pub becomes: String,
    /// Settings that the kernel forgets with this change, such as a governor's tunables. Undo restores them after `was`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub along: Vec<Along>,
}

/// A setting that exists only while another one has its old value, and its own old value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Along {
    pub setting: Setting,
    pub was: String,
}

/// Why an entry needs no undoing any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    Restored,
    /// The old value was found: the change was never made, or another program took it back.
    AlreadyAsBefore,
    NotMade,
    /// The host was rebooted, which undid the change.
    Rebooted,
}
