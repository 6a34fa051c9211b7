//! What is run at a point.

use serde::{Deserialize, Serialize};

/// What is run at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Datagram load.
    Udp,
    /// A sample stream at a rate.
    Rate,
    /// Answers timed after what they answer.
    RoundTrip,
    /// A waveform on the beat.
    Waveform,
    /// The longest packet that a waveform holds.
    LongestPacket,
    /// Packets handed from one component to the next.
    Interface,
    /// What the roles of an operating environment cost.
    Roles,
    /// The TD-SCDMA exchange: answers due 3.45 ms after the first downlink slot.
    Deadline,
    /// Threads that should wake up once a period.
    Wakeup,
}

impl Kind {
    /// All, by the names of a file.
    pub const ALL: [(&'static str, Kind); 9] = [
        ("udp", Kind::Udp),
        ("rate", Kind::Rate),
        ("round-trip", Kind::RoundTrip),
        ("waveform", Kind::Waveform),
        ("longest-packet", Kind::LongestPacket),
        ("interface", Kind::Interface),
        ("roles", Kind::Roles),
        ("deadline", Kind::Deadline),
        ("wakeup", Kind::Wakeup),
    ];

    /// Its name in a file.
    #[must_use]
    pub fn name(self) -> &'static str {
        Kind::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// The one of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    /// Whether it needs another side: a radio, or a server.
    #[must_use]
    pub fn has_path(self) -> bool {
        matches!(self, Kind::Udp | Kind::Rate | Kind::RoundTrip | Kind::Deadline)
    }
}
