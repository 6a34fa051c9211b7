//! Sites of rounds, and whether the path or the machine set their results.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use takt_lab::nodes::{NodeFigures, by_node};
use takt_lab::store::{RoundRow, RoundState};
use takt_testbed::environment::EnvironmentKind;
use takt_testbed::net::{PathName, PathSpec};

use super::FULL;
use super::read::busy;
use crate::study::figure::{Figure, RoundValue};

/// An environment and a path in which rounds ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SiteFacts {
    pub environment: String,
    pub path: String,
    /// Its first round's account of what was in force: limits, accelerator, kernel, placement, topology.
    pub in_force: Value,
    /// Facts that a reader must know about it.
    pub notes: Vec<String>,
    /// Rounds of datagram load that count, by what set their result: `load` (all that was offered arrived), `path` (its
    /// stated rate was reached, or datagrams were lost on it), `machine` (a core was full, or datagrams were lost in a
    /// socket), `unclear`.
    pub set_by: BTreeMap<String, usize>,
    /// Figures of the nodes between the ends for frames, in all rounds that count.
    #[serde(default)]
    pub nodes: Vec<NodeFigures>,
}

/// Sites, the least separated and the shortest path first, whatever order the rounds had.
pub(crate) fn sites(rounds: &[RoundRow]) -> Vec<SiteFacts> {
    let mut sites: Vec<SiteFacts> = Vec::new();
    for round in rounds {
        let Some(record) = &round.record else { continue };
        let place = sites.iter().position(|site| site.is(&record.in_force));
        let place = place.unwrap_or_else(|| {
            let [environment, path] = ["environment", "path"].map(|name| text(&record.in_force, name).to_owned());
            let notes = record.in_force.get("notes").and_then(Value::as_array).into_iter().flatten();
            let notes = notes.filter_map(Value::as_str).map(str::to_owned).collect();
            let in_force = record.in_force.clone();
            sites.push(SiteFacts { environment, path, in_force, notes, ..SiteFacts::default() });
            sites.len() - 1
        });
        if let (RoundState::Valid, Some(who), Some(site)) = (round.state, set_by(round), sites.get_mut(place)) {
            *site.set_by.entry(who.to_owned()).or_default() += 1;
        }
    }
    sites.sort_by_key(|site| {
        let environment = EnvironmentKind::ALL.iter().position(|kind| kind.name() == site.environment);
        (environment, PathSpec::NAMES.iter().position(|name| *name == site.path))
    });
    for site in &mut sites {
        let here = |round: &&RoundRow| round.record.as_ref().is_some_and(|record| site.is(&record.in_force));
        site.nodes = by_node(rounds.iter().filter(here));
    }
    sites
}

impl SiteFacts {
    /// `native over switch`; of `router-small` also what it may use, since a study may have two.
    #[must_use]
    pub fn name(&self) -> String {
        let share = self.in_force.pointer("/path_spec/cpu_share").and_then(Value::as_f64);
        let share = share.filter(|_| self.path == PathName::RouterSmall.as_str());
        let share = share.map(|share| format!(" ({share} of a core)")).unwrap_or_default();
        format!("{} over {}{share}", self.environment, self.path)
    }

    fn is(&self, in_force: &Value) -> bool {
        let spec = |in_force: &Value| in_force.get("path_spec").cloned().unwrap_or_default();
        let same = text(in_force, "environment") == self.environment && text(in_force, "path") == self.path;
        same && spec(in_force) == spec(&self.in_force)
    }
}

fn text<'a>(in_force: &'a Value, name: &str) -> &'a str {
    in_force.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Limit that set the result of a round of datagram load; `None` for other workloads.
fn set_by(round: &RoundRow) -> Option<&'static str> {
    let record = round.record.as_ref()?;
    let number = |pointer: &str| record.result.pointer(pointer).and_then(Value::as_f64);
    let (received, lost) = (number("/datagrams_per_s")?, number("/lost/share")?);
    let offered = number("/options/datagrams_per_s");
    if offered.is_some_and(|offered| received >= 0.99 * offered) {
        return Some("load");
    }
    let ceiling = record.in_force.pointer("/path_ceiling_datagrams_per_s").and_then(Value::as_f64);
    let at = |place: &str| number(&format!("/lost/by_place/{place}")).unwrap_or(0.0);
    let (on_path, in_hosts) = (at("path"), at("sender") + at("receiver_buffer") + at("application"));
    if ceiling.is_some_and(|ceiling| received >= 0.95 * ceiling) || (lost > 0.01 && on_path > in_hosts) {
        return Some("path");
    }
    let full = [("client", ""), ("server", ""), ("server", "/from_server")];
    let full = full.iter().any(|(end, way)| busy(&record.result, end, way).is_some_and(|share| share > FULL));
    Some(if full || (lost > 0.01 && in_hosts > on_path) { "machine" } else { "unclear" })
}

/// The rounds of a figure that count, in the order in which they were run.
pub(super) fn in_order(figure: &Figure) -> Vec<f64> {
    let mut rounds: Vec<&RoundValue> = figure.rounds.iter().filter(|round| round.counts).collect();
    rounds.sort_by_key(|round| round.round_id);
    rounds.iter().map(|round| round.value).collect()
}
