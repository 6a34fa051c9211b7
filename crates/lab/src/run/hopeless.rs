//! When a level is not worth running any more.

use std::collections::BTreeMap;

use super::plan::level;
use crate::experiment::{Experiment, Point, Stop, plain};

/// Loss of each point's latest counted round.
#[derive(Debug, Default)]
pub(super) struct Losses(BTreeMap<usize, f64>);

impl Losses {
    /// A counted round of `point` lost this share by this host's own doing: what may be the radio's makes nothing hopeless.
    pub(super) fn note(&mut self, point: usize, own_share: f64) {
        self.0.insert(point, own_share);
    }

    /// Why `point` is not worth a round: enough lower levels of its series failed clearly when they were last measured.
    /// A series: points of one part whose other factors are the same.
    pub(super) fn hopeless(&self, experiment: &Experiment, points: &[Point], point: usize) -> Option<String> {
        let this = points.get(point)?;
        let stop = experiment.parts.get(this.part)?.stop.as_ref()?;
        let own_level = level(points, point, &stop.ascending)?;
        let mut failed: Vec<(f64, f64)> = points
            .iter()
            .enumerate()
            .filter(|(_, other)| same_series(this, other, stop))
            .filter_map(|(number, _)| Some((level(points, number, &stop.ascending)?, *self.0.get(&number)?)))
            .filter(|&(level, lost)| level < own_level && lost > stop.lost_share_above)
            .collect();
        failed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let enough = failed.get(..stop.levels)?;
        let losses: Vec<String> = enough
            .iter()
            .map(|(level, lost)| format!("{:.1} % at {}", lost * 100.0, plain(&(*level).into())))
            .collect();
        Some(format!("lower {} lost {}", stop.ascending, losses.join(" and ")))
    }
}

fn same_series(one: &Point, other: &Point, stop: &Stop) -> bool {
    let others = |point: &Point| {
        let mut factors = point.factors.clone();
        factors.remove(&stop.ascending);
        factors
    };
    one.part == other.part && others(one) == others(other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Depth;

    fn sweep() -> (Experiment, Vec<Point>) {
        let text = r#"
            question = "?"
            [factors]
            mode = ["rx", "duplex"]
            rate_sps = [1e6, 5e6, 10e6, 25e6]
            [fixed]
            workload = { kind = "rate", duration = "1s" }
            [stop]
            ascending = "rate_sps"
            lost_share_above = 0.05
            levels = 2
            [rounds]
            count = { full = 1, quick = 1 }
            order = { seed = 1 }
        "#;
        let experiment = Experiment::parse("sweep", text).unwrap();
        let points = experiment.points(Depth::Full);
        (experiment, points)
    }

    fn point(points: &[Point], mode: &str, rate_sps: f64) -> usize {
        let is = |p: &&Point| p.factors["mode"] == mode && p.factors["rate_sps"] == rate_sps;
        points.iter().position(|p| is(&p)).unwrap()
    }

    #[test]
    fn two_levels_that_failed_clearly_make_the_ones_above_hopeless() {
        let (experiment, points) = sweep();
        let mut losses = Losses::default();
        losses.note(point(&points, "rx", 1e6), 0.2);
        assert_eq!(losses.hopeless(&experiment, &points, point(&points, "rx", 25e6)), None, "one is not enough");
        losses.note(point(&points, "rx", 5e6), 0.3);
        let why = losses.hopeless(&experiment, &points, point(&points, "rx", 25e6));
        assert_eq!(why.as_deref(), Some("lower rate_sps lost 20.0 % at 1M and 30.0 % at 5M"));
        assert_eq!(losses.hopeless(&experiment, &points, point(&points, "rx", 5e6)), None, "only one lies below");
        assert_eq!(losses.hopeless(&experiment, &points, point(&points, "duplex", 25e6)), None, "another series");
    }

    #[test]
    fn a_level_that_later_held_is_forgiven() {
        let (experiment, points) = sweep();
        let mut losses = Losses::default();
        losses.note(point(&points, "rx", 1e6), 0.2);
        losses.note(point(&points, "rx", 5e6), 0.3);
        losses.note(point(&points, "rx", 1e6), 0.05);
        assert_eq!(losses.hopeless(&experiment, &points, point(&points, "rx", 25e6)), None);
    }
}
