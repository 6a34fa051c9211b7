//! The impairment of the host side in a round, from its settings.

use serde_json::Value;
use takt_agent::Failure;
use takt_host::leftovers::Run;
use takt_testbed::environment::{Native, Site};
use takt_testbed::impairment::{Impairment, ImpairmentOptions};

use crate::experiment::Point;
use crate::experiment::settings::{PointImpairment, PointPlace, Settings, unimpaired};

/// CPUs' worth of time that streams took with nothing done to the host side, by their settings.
#[derive(Default)]
pub(super) struct FreeCpus(Vec<(Settings, f64)>);

impl FreeCpus {
    /// `None` if that was not measured.
    pub(super) fn of(&self, free: &Point) -> Option<f64> {
        self.0.iter().find(|(settings, _)| *settings == free.settings).map(|(_, cpus)| *cpus)
    }

    /// Keeps what a stream took, by the result of its round.
    pub(super) fn note(&mut self, free: &Point, result: &Value) -> Result<f64, Failure> {
        let seconds = |pointer| result.pointer(pointer).and_then(Value::as_f64);
        let cpus = seconds("/cpu/host_seconds").zip(seconds("/wall_s")).map(|(used, wall)| used / wall);
        let cpus = cpus.filter(|cpus| cpus.is_finite() && *cpus > 0.0);
        let cpus = cpus.ok_or_else(|| Failure::saying("the round without a quota does not say what it took"))?;
        self.0.push((free.settings.clone(), cpus));
        Ok(cpus)
    }
}

pub(super) fn start(
    wanted: &ImpairmentOptions,
    site: &Site,
    native: &Native,
    run: &Run,
) -> Result<Impairment, Failure> {
    Impairment::start(wanted, site.host.pid(), &site.in_force.placement, native, run).map_err(|error| error.failure())
}

/// The same point with nothing done to the host side.
pub(super) fn free_of_impairment(point: &Point) -> Point {
    let place = PointPlace { impairment: PointImpairment::default(), ..point.place.clone() };
    Point { settings: unimpaired(point.settings.clone()), place, ..point.clone() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::experiment::{Depth, Experiment};

    fn points() -> Vec<Point> {
        let text = "question = \"?\"\n[factors]\ncpu_quota = [50, 80]\n[fixed]\nhog = \"1ms every 4ms\"\nmode = \"rx\"\n\
                    rate_sps = 1e6\nworkload = { kind = \"rate\", duration = \"1s\" }\n\
                    [rounds]\ncount = { full = 1, quick = 1 }\norder = { seed = 1 }\n";
        Experiment::parse("x", text).unwrap_or_else(|error| panic!("{}", error.place())).points(Depth::Full)
    }

    #[test]
    fn what_a_stream_takes_is_measured_once_for_all_its_quotas() {
        let points = points();
        let [half, more] = [&points[0], &points[1]].map(free_of_impairment);
        assert_eq!(half.settings, more.settings);
        assert_eq!(half.place.impairment, PointImpairment::default());
        assert!(points[0].place.impairment.stops.hog.is_some());
        assert_eq!(points[1].place.impairment.quota_share, Some(0.8));
    }

    #[test]
    fn a_round_that_does_not_say_what_it_took_is_no_reference() {
        let mut cpus = FreeCpus::default();
        let free = free_of_impairment(&points()[0]);
        assert!(cpus.note(&free, &json!({ "wall_s": 0.0, "cpu": { "host_seconds": 0.0 } })).is_err());
        assert!(cpus.note(&free, &json!({})).is_err() && cpus.of(&free).is_none());
        let used = json!({ "wall_s": 0.5, "cpu": { "host_seconds": 0.2 } });
        assert_eq!(cpus.note(&free, &used).unwrap(), 0.4);
        assert_eq!(cpus.of(&free_of_impairment(&points()[1])), Some(0.4));
    }
}
