//! The workloads there are; the page of this crate says what each one asks.

use serde::{Deserialize, Serialize};

use crate::quantity::Quantity;
use crate::setting::Setting;
use crate::workload::{Peer, Workload};

/// Names each workload once: its variant of [`WorkloadKind`], its name in a file, what it is.
macro_rules! workloads {
    ($($kind:ident = $name:literal: $workload:expr;)+) => {
        /// Workload that is run at a point.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum WorkloadKind {
            $(#[serde(rename = $name)] $kind,)+
        }

        impl WorkloadKind {
            pub const ALL: &[WorkloadKind] = &[$(WorkloadKind::$kind),+];

            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(WorkloadKind::$kind => $name,)+
                }
            }

            #[must_use]
            pub fn workload(self) -> &'static dyn Workload {
                match self {
                    $(WorkloadKind::$kind => &$workload,)+
                }
            }
        }
    };
}

workloads! {
    Udp = "udp": crate::udp::Udp;
    Rate = "rate": crate::rate::workload::Rate;
    RoundTrip = "round-trip": crate::round_trip::workload::RoundTrip;
    Waveform = "waveform": crate::waveform::workload::OnTheBeat;
    LongestPacket = "longest-packet": crate::longest_packet::workload::LongestPacket;
    // Kinds of their own: their other side is a node, at the end of a path. `aloe` runs both, and stored runs name them.
    WaveformTwoNodes = "waveform-two-nodes": crate::nodes::workload::OnTwoNodes;
    LongestPacketTwoNodes = "longest-packet-two-nodes": crate::nodes::workload::LongestOnTwoNodes;
    // A hand-over and a variable, timed alone: a running waveform can't tell them from its components. Rows of `aloe`.
    Interface = "interface": crate::interface::workload::Interface;
    Roles = "roles": crate::roles::workload::Roles;
    Calibration = "calibration": crate::calibration::workload::Calibration;
    // The exchange of `linux-rt`: three processes under policies of the kernel. The waveform `td-scdma` is threads of a runtime,
    // so its stages are not those that the study timed.
    Deadline = "deadline": crate::deadline::workload::Deadline;
    Wakeup = "wakeup": crate::wakeup::Wakeup;
    Link = "link": crate::link::Link;
    Programs = "programs": crate::programs::Programs;
}

impl WorkloadKind {
    #[must_use]
    pub fn named(name: &str) -> Option<WorkloadKind> {
        WorkloadKind::ALL.iter().copied().find(|kind| kind.name() == name)
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
        let all = || WorkloadKind::ALL.iter().flat_map(|kind| kind.settings());
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
        for setting in WorkloadKind::ALL.iter().flat_map(|kind| kind.settings()) {
            if let Some(default) = setting.default_value() {
                assert_eq!(setting.accept(&default), Ok(default.clone()), "{}", setting.name);
            }
        }
    }

    #[test]
    fn a_name_says_whether_its_quantity_ends_at_one() {
        for quantity in WorkloadKind::ALL.iter().flat_map(|kind| kind.quantities()) {
            // More than all of a slot can be used.
            let share =
                quantity.name != "used_share" && ["_share", "_ratio"].iter().any(|end| quantity.name.ends_with(end));
            assert_eq!(share, quantity.range == (0.0, 1.0), "{}", quantity.name);
        }
    }
}
