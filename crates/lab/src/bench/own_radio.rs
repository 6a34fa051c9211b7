//! Settings that can't be measured with a radio that is there already: takt builds paths and environments only around
//! one that it emulates.

use std::net::Ipv4Addr;

use takt_load::{Peer, Played};

use super::sites::SiteKey;
use crate::experiment::Point;

/// A point that needs an emulated radio, in a run with one that is there already.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{label} can't be measured with the radio at {addr}: {}", self.because())]
pub struct OwnRadioError {
    pub label: String,
    pub addr: Ipv4Addr,
    pub needs: Needs,
    /// A word for `--only` that leaves points which can be measured, if there are some.
    pub rest: Option<String>,
}

/// Features that only an emulated radio has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Needs {
    Environment(&'static str),
    Path(String),
    /// A receiver of datagram load.
    Load,
    /// A radio whose samples are numbers.
    Counter,
}

impl OwnRadioError {
    fn because(&self) -> String {
        match &self.needs {
            Needs::Environment(name) => format!(
                "{name} has a network of its own that leads only to an emulated radio, because takt changes no interface of \
                 this machine"
            ),
            Needs::Path(name) => {
                format!("takt builds path {name} only to an emulated radio; your radio has its own cable")
            }
            Needs::Load => "a radio does not answer datagram load".to_owned(),
            Needs::Counter => "only an emulated radio sends samples that are numbers (source = \"counter\")".to_owned(),
        }
    }

    #[must_use]
    pub fn fix(&self) -> String {
        let rest = self.rest.iter().map(|word| format!("give --only {word}, to measure what this radio supports"));
        let other = match self.needs {
            Needs::Load => "run `takt udp serve` on a second machine and `takt udp send` here",
            Needs::Environment(_) | Needs::Path(_) | Needs::Counter => "omit --addr, so that takt emulates the radio",
        };
        rest.chain([other.to_owned()]).collect::<Vec<_>>().join("\n")
    }
}

pub(crate) fn answers_to(addr: Ipv4Addr, points: &[Point]) -> Result<(), OwnRadioError> {
    let Some((point, needs)) = points.iter().find_map(|point| Some((point, needs(point)?))) else { return Ok(()) };
    let rest = points.iter().find(|point| self::needs(point).is_none()).map(|good| apart(good, point, &needs));
    Err(OwnRadioError { label: point.label(), addr, needs, rest: rest.flatten() })
}

fn needs(point: &Point) -> Option<Needs> {
    if !point.kind.has_path() || point.kind.has_second_node() {
        return None;
    }
    if point.kind.workload().facts().peer == Peer::Server {
        return Some(Needs::Load);
    }
    if matches!(point.workload.played(), Played::Counter) {
        return Some(Needs::Counter);
    }
    // Without the radio in the way: what the point would have built.
    let wanted = SiteKey::of(point, None);
    match wanted.own_network() {
        Some(environment) => Some(Needs::Environment(environment)),
        None => wanted.built_path().map(Needs::Path),
    }
}

/// How a point that can be measured differs from one that can't: by the factor, or the part.
fn apart(good: &Point, bad: &Point, needs: &Needs) -> Option<String> {
    let factor = match needs {
        Needs::Environment(_) => "environment",
        Needs::Path(_) => "path",
        Needs::Counter => "source",
        Needs::Load => "",
    };
    match good.factors.get(factor) {
        Some(level) => Some(format!("{factor}={}", crate::experiment::plain(level))),
        None => (good.part != bad.part).then(|| format!("part={}", good.part_name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Depth, Experiment, named};

    const RADIO: Ipv4Addr = Ipv4Addr::new(192, 168, 10, 2);

    fn with_radio(name: &str, only: &[&str]) -> Result<(), OwnRadioError> {
        let mut file = Experiment::parse(name, &named(name).unwrap()).unwrap();
        only.iter().for_each(|word| file.only(word).unwrap());
        answers_to(RADIO, &file.points(Depth::Quick))
    }

    #[test]
    fn what_needs_an_emulated_radio_is_refused_with_what_can_be_measured() {
        let load = with_radio("check", &[]).unwrap_err();
        assert_eq!((&load.needs, load.rest.as_deref()), (&Needs::Load, Some("part=sc16")), "{load}");
        with_radio("check", &["part=sc16"]).unwrap();
        with_radio("aloe", &[]).expect("no other side at all");
        let error = with_radio("routers", &[]).unwrap_err();
        assert_eq!((&error.needs, &error.rest), (&Needs::Load, &None));
        assert!(error.fix().contains("takt udp serve") && !error.fix().contains("--only"), "{}", error.fix());
    }

    #[test]
    fn a_container_and_a_router_are_refused_by_name() {
        let of = |fixed: &str, factors: &str| {
            let workload = "workload = { kind = \"rate\", mode = \"rx\", rate_sps = 1e6, duration = \"1s\" }";
            let rounds = "[rounds]\ncount = { full = 1, quick = 1 }\norder = { seed = 1 }";
            let text = format!("question = \"?\"\n[factors]\n{factors}\n[fixed]\n{fixed}\n{workload}\n{rounds}\n");
            answers_to(RADIO, &Experiment::parse("x", &text).unwrap().points(Depth::Full))
        };
        let error = of("", "environment = [\"native\", \"vm\"]").unwrap_err();
        assert_eq!((&error.needs, error.rest.as_deref()), (&Needs::Environment("vm"), Some("environment=native")));
        assert!(error.to_string().contains("192.168.10.2") && error.to_string().contains("network of its own"));
        assert!(of("environment = \"container\"", "replicate = [1, 2]").unwrap_err().rest.is_none());
        let error = of("", "path = [\"router\", \"direct\"]").unwrap_err();
        assert_eq!((error.needs, error.rest.as_deref()), (Needs::Path("router".into()), Some("path=direct")));
        // An option of a cable is one of a path that takt builds, too.
        assert_eq!(of("path_loss = \"1%\"", "replicate = [1, 2]").unwrap_err().needs, Needs::Path("direct".into()));
        assert_eq!(of("path = \"loopback\"", "replicate = [1, 2]").unwrap_err().needs, Needs::Path("loopback".into()));
        of("", "replicate = [1, 2]").unwrap();
        let error = of("", "source = [\"counter\", \"tone\"]").unwrap_err();
        assert_eq!((error.needs, error.rest.as_deref()), (Needs::Counter, Some("source=tone")));
    }
}
