//! The radio, and what the doctor saw.

use serde::{Deserialize, Serialize};
use takt_load::Model;

use super::FixKind;

/// Place of the radio and the way to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    pub radio: RadioSetup,
    /// `veth` (two network namespaces), `loopback`, `network` (`--addr`), or `device` (`--device`).
    pub path: String,
    /// Environment of the host side: `native`.
    pub environment: String,
    /// Packet engine of the host side: `mmsg`, `socket`; `soapy`: a device's own driver.
    pub engine: String,
    pub host_cores: Vec<usize>,
    /// Cores of the emulator; empty with a real radio.
    pub radio_cores: Vec<usize>,
    /// Facts that a reader needs to read the figures right: "the path was loopback instead of a veth pair: ...".
    pub notes: Vec<String>,
    /// Why nothing was sent to the radio, if nothing was.
    #[serde(default)] // outcomes older than this key
    pub receive_only: Option<String>,
}

impl Setup {
    /// Whether samples pass through a driver that is not takt's own.
    pub(crate) fn is_behind_a_driver(&self) -> bool {
        matches!(self.radio, RadioSetup::Given { device: true, .. })
    }

    /// Whether the emulator had to run on a core of the host side.
    pub(crate) fn shares_a_core(&self) -> bool {
        self.radio_cores.iter().any(|cpu| self.host_cores.contains(cpu))
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum RadioSetup {
    /// A software radio that this check started on this machine.
    Emulated { model: Model },
    /// A radio, real or software, at an address given with `--addr`, or a device given with `--device`.
    Given {
        model: Model,
        addr: String,
        /// `addr` is a device of SoapySDR given with `--device`, as the user named it.
        #[serde(default)] // outcomes older than this key
        device: bool,
        /// Its serial number, if it has one.
        serial: Option<String>,
        /// Whether it is takt's emulator, which says how late it was itself.
        #[serde(default)] // outcomes older than this key
        emulator: bool,
    },
}

/// One doctor rule and what it saw.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DoctorFinding {
    /// The rule: `socket-buffer-small`.
    pub id: String,
    /// Its subject, in a few words.
    #[serde(default)]
    pub title: String,
    /// `fine`, `problem`, `notice` (not in takt's way, but in that of other programs), `not_visible`.
    pub finding: String,
    /// The observation, or why there is none.
    pub observed: String,
    /// The right value, if it stands in the way.
    pub wanted: Option<String>,
    /// Why it matters, one sentence.
    pub mechanism: String,
    /// Its cost, as measured on this host just before the first round.
    #[serde(default)]
    pub cost: Option<String>,
    /// The command that mends it, or where only a person can, what to do.
    pub fix: Option<String>,
    #[serde(default)]
    pub fix_kind: Option<FixKind>,
}
