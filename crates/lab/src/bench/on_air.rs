//! Whether samples may be sent to a radio that is there already: to takt's own always, to another one if that is allowed.

use std::net::Ipv4Addr;
use std::sync::Arc;

use serde_json::Value;
use takt_load::{Peer, WorkloadKind};
use takt_packet::EngineKind;
use takt_radio::n200::{ALLOW_TRANSMIT, Emission};
use takt_radio::{AnyIdentity, Model, Net, RadioError, WallNet, find, model_at};

use crate::experiment::{Experiment, Part, Point};

/// Why a run that sends samples was not begun.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OnAirError {
    /// The radio is not takt's own, and it was not allowed to transmit.
    #[error("{label} sends samples, but {} is not takt's emulator: it would transmit {emission}", .emission.radio)]
    NotAllowed {
        /// The first point that sends.
        label: String,
        emission: Box<Emission>,
        receives: bool,
    },
    /// The network can't be searched for the radio.
    #[error("takt can't identify the radio")]
    Radio(#[source] Box<RadioError>),
}

impl OnAirError {
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            OnAirError::NotAllowed { receives: true, .. } => {
                Some(format!("{ALLOW_TRANSMIT}\ngive --only mode=rx, to measure only reception"))
            }
            OnAirError::NotAllowed { receives: false, .. } => Some(ALLOW_TRANSMIT.to_owned()),
            OnAirError::Radio(error) => error.fix().map(str::to_owned),
        }
    }
}

/// Whether samples go to the radio at this point.
#[must_use]
pub fn sends(point: &Point) -> bool {
    has_radio(point.kind) && !point.workload.needs().only_receives
}

/// Emission with which the radio at `addr` would transmit. `None`: it is takt's own, or it does not answer, or it is of
/// another kind. In the last two cases the driver sends nothing, and the first round reports what is wrong.
///
/// # Errors
/// `Radio` if the network can't be searched.
pub fn on_air(addr: Ipv4Addr) -> Result<Option<Emission>, OnAirError> {
    let net: Arc<dyn Net> = Arc::new(WallNet::new(EngineKind::Socket));
    let found = find(&net, Some(addr.into())).map_err(|error| OnAirError::Radio(Box::new(error)))?;
    let identity = found.into_iter().find_map(|found| found.identity);
    Ok(match identity {
        Some(AnyIdentity::N200(identity)) if !identity.software => Some(Emission::as_opened(addr.into(), &identity)),
        // An X310 that is not takt's own is not opened.
        _ => None,
    })
}

/// Which radio is at `addr`; `None`: none that takt knows has answered.
///
/// # Errors
/// `Radio` if it does not answer.
pub fn model(addr: Ipv4Addr) -> Result<Option<Model>, OnAirError> {
    let net: Arc<dyn Net> = Arc::new(WallNet::new(EngineKind::Socket));
    model_at(&net, addr.into()).map_err(|error| OnAirError::Radio(Box::new(error)))
}

/// Emission with which the radio at `addr` will transmit at these points, those on nodes aside. This host does not see
/// what is at that address there, and the driver there sends nothing to a real one. `None`: nothing.
///
/// # Errors
/// `NotAllowed` without `transmit`.
pub(crate) fn permitted(addr: Ipv4Addr, points: &[Point], transmit: bool) -> Result<Option<Emission>, OnAirError> {
    let is_here = |point: &&Point| point.place.environment.node.is_none();
    let points: Vec<&Point> = points.iter().filter(is_here).collect();
    let Some(sender) = points.iter().find(|point| sends(point)) else { return Ok(None) };
    let Some(emission) = on_air(addr)? else { return Ok(None) };
    if transmit {
        return Ok(Some(emission));
    }
    let receives = points.iter().any(|point| has_radio(point.kind) && !sends(point));
    Err(OnAirError::NotAllowed { label: sender.label(), emission: Box::new(emission), receives })
}

/// Removes the points of an experiment that send.
pub fn receive_only(experiment: &mut Experiment) {
    let modes = experiment.parts.iter_mut().flat_map(|part| &mut part.factors).filter(|factor| factor.name == MODE);
    modes.for_each(|factor| factor.retain(is_receive));
    experiment.parts.retain(only_receives);
}

fn only_receives(part: &Part) -> bool {
    let mut fixed = part.fixed.get(MODE).into_iter().chain(part.fixed_quick.get(MODE));
    if part.kind.settings().iter().any(|setting| setting.name == MODE) {
        fixed.all(is_receive) && part.factors.iter().all(|factor| !factor.full.is_empty())
    } else {
        !has_radio(part.kind)
    }
}

pub(super) fn has_radio(kind: WorkloadKind) -> bool {
    kind.workload().facts().peer == Peer::Radio
}

fn is_receive(level: &Value) -> bool {
    level == "rx"
}

/// The setting that says which way samples flow.
const MODE: &str = "mode";

#[cfg(test)]
mod tests {
    use takt_load::rate::Mode;

    use super::*;
    use crate::experiment::{Depth, named};

    fn file(text: &str) -> Experiment {
        let rest = "question = \"?\"\n[rounds]\ncount = { full = 1, quick = 1 }\norder = { seed = 1 }\n";
        Experiment::parse("x", &format!("{rest}{text}")).unwrap_or_else(|error| panic!("{error}: {}", error.remedy()))
    }

    #[test]
    fn of_the_check_reception_is_left_and_nothing_that_is_sent() {
        for depth in [Depth::Quick, Depth::Full] {
            let mut check = Experiment::parse("check", &named("check").unwrap()).unwrap();
            let all = check.points(depth);
            assert!(all.iter().any(sends) && all.iter().any(|point| point.kind == WorkloadKind::RoundTrip));
            let receives = |point: &&Point| point.workload.needs().stream.is_some_and(|stream| stream.mode == Mode::Rx);
            let received = |points: &[Point]| points.iter().filter(receives).count();
            receive_only(&mut check);
            let left = check.points(depth);
            assert!(!left.iter().any(sends), "{:?}", left.iter().map(Point::label).collect::<Vec<_>>());
            assert_eq!(received(&left), received(&all), "every rate that is only received");
            assert!(left.iter().any(|point| point.kind == WorkloadKind::Waveform), "what has no radio stays");
        }
    }

    #[test]
    fn a_mode_that_is_fixed_or_only_of_a_full_run_is_seen_too() {
        let part = |name: &str, factors: &str, fixed: &str| {
            format!(
                "[[part]]\nname = \"{name}\"\nfactors = {{ {factors} }}\nfixed = {{ rate_sps = 1e6, {fixed} workload = {{ \
                 kind = \"rate\", duration = \"1s\" }} }}\n"
            )
        };
        let mut all = file(
            &[
                part("receives", "replicate = [1, 2]", "mode = \"rx\","),
                part("sends", "replicate = [1, 2]", "mode = \"tx\","),
                part("full", "mode = { full = [\"rx\", \"duplex\"], quick = [\"duplex\"] }", ""),
                part("both", "mode = [\"tx\", \"duplex\"]", ""),
            ]
            .concat(),
        );
        receive_only(&mut all);
        let labels: Vec<String> = all.points(Depth::Quick).iter().map(Point::label).collect();
        assert_eq!(labels, ["receives replicate=1", "receives replicate=2", "full mode=rx"]);
    }
}
