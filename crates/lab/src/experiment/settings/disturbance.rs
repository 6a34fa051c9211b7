//! What else is made to run on the host side's cores.

use super::site::EVERY;
use super::{Setting, Takes};

pub(super) const ROWS: &[Setting] = &[
    Setting {
        name: "disturbance",
        takes: Takes::Disturbance,
        of: EVERY,
        default: Some("none"),
        about: "processes that compete with the host side for its cores; 4x means four for each core of the machine",
    },
    Setting {
        name: "cap",
        takes: Takes::Percent(100),
        of: EVERY,
        default: Some("none"),
        about: "what the disturbance may use of those cores, per cent (a control group's quota)",
    },
    Setting {
        name: "cap_period",
        takes: Takes::Span,
        of: EVERY,
        default: Some("100ms"),
        about: "the period over which the cap is counted",
    },
];
