//! Impairments of the host side itself: hosts that are bad by a known amount.

use takt_load::Facts;
use takt_load::setting::{Setting, Settings, Takes, UnknownLevel};
use takt_testbed::impairment::ImpairmentOptions;

use super::domains::{Percent, SPAN_OF_PERIOD};

/// Impairments of a point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointImpairment {
    /// All but the quota, which is a share of what is not known yet.
    pub stops: ImpairmentOptions,
    /// Share of the CPU time that the same stream takes without a quota; may be above 1.
    pub quota_share: Option<f64>,
}

const HOG: Setting = Setting::new("hog", Takes::Domain(&SPAN_OF_PERIOD), "none")
    .about("a SCHED_FIFO thread takes that span of every period from each of the host side's cores");
const FREEZE: Setting = Setting::new("freeze", Takes::Domain(&SPAN_OF_PERIOD), "none")
    .about("SCHED_FIFO threads take that span of every period from all cores at once, the radio's too");
const STALL: Setting = Setting::new("stall", Takes::Domain(&SPAN_OF_PERIOD), "none")
    .about("the host side's process is stopped for that span of every period");
const CPU_QUOTA: Setting = Setting::new("cpu_quota", Takes::Domain(&Percent(1000)), "none")
    .about("what the host side may use of the CPU time that the same stream takes without a quota, per cent");

/// Settings of workloads that stops hurt: streams and answers.
pub(super) const STOPS: &[Setting] = &[HOG, FREEZE, STALL];

/// Settings of workloads that take a quota, streams alone: what they take without a quota is measured first.
pub(super) const QUOTA: &[Setting] = &[CPU_QUOTA];

/// The impairments of a point, as far as its workload has them.
pub(super) fn read(settings: &Settings, facts: &Facts) -> Result<PointImpairment, UnknownLevel> {
    let mut impairment = PointImpairment::default();
    if facts.is_hurt_by_stops {
        let stops = &mut impairment.stops;
        (stops.hog, stops.freeze) = (settings.read(&HOG)?, settings.read(&FREEZE)?);
        stops.stall = settings.read(&STALL)?;
    }
    if facts.takes_cpu_quota {
        impairment.quota_share = settings.read::<Option<f64>>(&CPU_QUOTA)?.map(|percent| percent / 100.0);
    }
    Ok(impairment)
}

/// The settings of a point with nothing done to the host side.
pub(crate) fn unimpaired(settings: Settings) -> Settings {
    settings.without(STOPS).without(QUOTA)
}
