//! What else is made to run on the host side's cores.

use takt_load::setting::{Setting, Takes};

use super::domains::{Disturbance, Percent};

pub(super) const ROWS: &[Setting] = &[
    Setting {
        name: "disturbance",
        takes: Takes::Domain(&Disturbance),
        default: Some("none"),
        about: "processes that compete with the host side for its cores; 4x means four for each core of the machine",
    },
    Setting {
        name: "cap",
        takes: Takes::Domain(&Percent(100)),
        default: Some("none"),
        about: "what the disturbance may use of those cores, per cent (a control group's quota)",
    },
    Setting {
        name: "cap_period",
        takes: Takes::Span,
        default: Some("100ms"),
        about: "the period over which the cap is counted",
    },
];
