//! Load that runs beside the host side, on its cores.

use takt_load::setting::{Setting, Takes};

use super::domains::{DISTURBANCE, Percent};

pub(super) const ROWS: &[Setting] = &[
    Setting::new("disturbance", Takes::Domain(&DISTURBANCE), "none")
        .about("processes that compete with the host side for its cores; 4x means four for each core of the machine"),
    Setting::new("cap", Takes::Domain(&Percent(100)), "none")
        .about("what the disturbance may use of those cores, per cent (a control group's quota)"),
    Setting::new("cap_period", Takes::Span, "100ms").about("the period over which the cap is counted"),
];
