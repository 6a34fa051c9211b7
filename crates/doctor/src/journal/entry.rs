//! What a journal tells of: a change that was about to be made, and why it needs no more undoing.

use serde::{Deserialize, Serialize};

use crate::setting::Setting;

/// How long a change is meant to stay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Until `takt doctor --undo` or a reboot.
    Host,
    /// Of one run, a proof, which gives back what is not to stay; if it was killed, its guard does, and if that was killed too,
    /// `takt doctor --undo`. What is to stay stays as [`Scope::Host`] does.
    Run {
        /// No other run has it.
        id: String,
    },
}

/// A setting that takt changed, or was about to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub number: u64,
    /// When, milliseconds since 1970.
    pub unix_ms: u64,
    /// Which start of the machine; a later one has all settings anew.
    pub boot_id: Option<String>,
    pub rule: String,
    pub scope: Scope,
    pub setting: Setting,
    pub was: String,
    pub becomes: String,
    /// What the kernel forgets where the setting changes, as a frequency governor's tunables: given back behind `was`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub along: Vec<Along>,
}

/// A setting that exists only while another one has its old value, and what it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Along {
    pub setting: Setting,
    pub was: String,
}

/// Why an entry needs no more undoing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    Restored,
    /// The old value was found: the change was never made, or another program took it back.
    AlreadyAsBefore,
    NotMade,
    /// The machine was started anew, and with it went the change.
    Rebooted,
}
