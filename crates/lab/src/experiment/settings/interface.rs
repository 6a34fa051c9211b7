//! Links of the runtime: `interface`.

use takt_load::Kind::Interface;

use super::{Setting, Takes};

pub(super) const ROWS: &[Setting] = &[
    Setting {
        name: "packet_bytes",
        takes: Takes::Whole(1, 134_217_728),
        of: &[Interface],
        default: None,
        about: "bytes of a packet",
    },
    Setting {
        name: "count",
        takes: Takes::Whole(1, 100_000_000),
        of: &[Interface],
        default: Some("100000"),
        about: "packets measured",
    },
    Setting {
        name: "reader",
        takes: Takes::Word(&["same-core", "other-core"]),
        of: &[Interface],
        default: Some("same-core"),
        about: "where the reader of the packets is",
    },
];
