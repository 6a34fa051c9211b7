//! Datagram load: `udp`.

use takt_load::Kind::Udp;

use super::{Setting, Takes};

pub(super) const ROWS: &[Setting] = &[
    Setting {
        name: "payload_bytes",
        takes: Takes::Whole(16, 8972),
        of: &[Udp],
        default: None,
        about: "payload of a datagram",
    },
    Setting {
        name: "direction",
        takes: Takes::Word(&["to-host", "from-host", "both"]),
        of: &[Udp],
        default: None,
        about: "which way datagrams flow",
    },
    Setting {
        name: "offered",
        takes: Takes::Offered,
        of: &[Udp],
        default: Some("flat-out"),
        about: "load: as much as goes, datagrams a second, or as many as an Ethernet of that rate carries",
    },
];
