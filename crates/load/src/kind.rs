//! The workloads there are; the page of this crate says what each one asks.

use serde::{Deserialize, Serialize};

use crate::calibration::workload::Calibration;
use crate::deadline::workload::Deadline;
use crate::interface::workload::Interface;
use crate::longest_packet::workload::LongestPacket;
use crate::nodes::workload::{LongestOnTwoNodes, OnTwoNodes};
use crate::quantity::Quantity;
use crate::rate::workload::Rate;
use crate::roles::workload::Roles;
use crate::round_trip::workload::RoundTrip;
use crate::setting::Setting;
use crate::udp::Udp;
use crate::wakeup::workload::Wakeup;
use crate::waveform::workload::OnTheBeat;
use crate::workload::{Peer, Workload};

/// Names each workload once: its variant of [`Kind`], its name in a file, what it is.
macro_rules! workloads {
    ($($kind:ident = $name:literal: $workload:expr;)+) => {
        /// What is run at a point.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Kind {
            $(#[serde(rename = $name)] $kind,)+
        }

        impl Kind {
            pub const ALL: &[Kind] = &[$(Kind::$kind),+];

            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Kind::$kind => $name,)+
                }
            }

            #[must_use]
            pub fn workload(self) -> &'static dyn Workload {
                match self {
                    $(Kind::$kind => &$workload,)+
                }
            }
        }
    };
}

workloads! {
    Udp = "udp": Udp;
    Rate = "rate": Rate;
    RoundTrip = "round-trip": RoundTrip;
    Waveform = "waveform": OnTheBeat;
    LongestPacket = "longest-packet": LongestPacket;
    WaveformTwoNodes = "waveform-two-nodes": OnTwoNodes;
    LongestPacketTwoNodes = "longest-packet-two-nodes": LongestOnTwoNodes;
    Interface = "interface": Interface;
    Roles = "roles": Roles;
    Calibration = "calibration": Calibration;
    Deadline = "deadline": Deadline;
    Wakeup = "wakeup": Wakeup;
}

impl Kind {
    #[must_use]
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Whether it needs another side: a radio, or a server.
    #[must_use]
    pub fn has_path(self) -> bool {
        self.workload().facts().peer != Peer::None
    }

    /// Whether the other side is a node that executes a part of the waveform.
    #[must_use]
    pub fn has_second_node(self) -> bool {
        self.workload().facts().peer == Peer::Node
    }

    #[must_use]
    pub fn settings(self) -> &'static [Setting] {
        self.workload().facts().settings
    }

    #[must_use]
    pub fn quantities(self) -> &'static [Quantity] {
        self.workload().facts().quantities
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::Takes;

    /// A name means one thing, whichever workload has it; of its words a workload may know only some.
    #[test]
    fn settings_of_one_name_are_one() {
        let all = || Kind::ALL.iter().flat_map(|kind| kind.settings());
        for (one, other) in all().flat_map(|one| all().filter(|other| other.name == one.name).map(move |it| (one, it)))
        {
            let alike = match (one.takes, other.takes) {
                (Takes::Word(some), Takes::Word(others)) => some.iter().any(|word| others.contains(word)),
                _ => format!("{one:?}") == format!("{other:?}"),
            };
            assert!(alike, "{one:?} {other:?}");
        }
    }

    #[test]
    fn every_default_is_a_value_its_setting_accepts() {
        for setting in Kind::ALL.iter().flat_map(|kind| kind.settings()) {
            if let Some(default) = setting.default_value() {
                assert_eq!(setting.accept(&default), Ok(default.clone()), "{}", setting.name);
            }
        }
    }

    #[test]
    fn a_name_says_whether_its_quantity_ends_at_one() {
        for quantity in Kind::ALL.iter().flat_map(|kind| kind.quantities()) {
            // Of a slot more than all can be used.
            let share =
                quantity.name != "used_share" && ["_share", "_ratio"].iter().any(|end| quantity.name.ends_with(end));
            assert_eq!(share, quantity.range == (0.0, 1.0), "{}", quantity.name);
        }
    }
}
