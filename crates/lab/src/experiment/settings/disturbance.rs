//! Load that runs beside the host side, on its cores.

use std::time::Duration;

use takt_load::setting::{Setting, Settings, Takes, UnknownLevel};
use takt_testbed::disturbance::Spec;

use super::domains::{self, Percent};

/// The disturbance of a point.
#[derive(Clone, Debug, PartialEq)]
pub struct PointDisturbance {
    pub spec: Spec,
    /// Share of the host side's cores that it may use, 0 to 1.
    pub cap_share: Option<f64>,
    /// Period over which the kernel counts that share.
    pub cap_period: Duration,
}

const DISTURBANCE: Setting = Setting::new("disturbance", Takes::Domain(&domains::DISTURBANCE), "none")
    .about("processes that compete with the host side for its cores; 4x means four for each core of the machine");
const CAP: Setting = Setting::new("cap", Takes::Domain(&Percent(100)), "none")
    .about("what the disturbance may use of those cores, per cent (a control group's quota)");
const CAP_PERIOD: Setting =
    Setting::new("cap_period", Takes::Span, "100ms").about("the period over which the cap is counted");

pub(super) const ROWS: &[Setting] = &[DISTURBANCE, CAP, CAP_PERIOD];

pub(super) fn read(settings: &Settings) -> Result<PointDisturbance, UnknownLevel> {
    Ok(PointDisturbance {
        spec: settings.read_by(&DISTURBANCE, |level| level.as_str()?.parse().ok())?,
        cap_share: settings.read::<Option<f64>>(&CAP)?.map(|percent| percent / 100.0),
        cap_period: settings.read(&CAP_PERIOD)?,
    })
}
