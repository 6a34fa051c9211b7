//! Settings that can't be measured on a node of a cluster: it is another machine, and nothing of this one reaches into
//! it.

use takt_load::{Contradiction, Peer, Played};
use takt_testbed::impairment::ImpairmentOptions;

use super::Point;
use super::settings::{PointPath, PointPlace};

/// Setting that rules out measuring a point on its node; `None`: nothing does, or it is no node.
pub(super) fn contradiction(point: &Point) -> Option<Contradiction> {
    point.place.environment.node.as_ref()?;
    let environment = &point.place.environment.name();
    if let Some(setting) = acts_on_this_machine(&point.place) {
        let what = format!("{setting} acts on this machine, but {environment} is another one");
        return Some(Contradiction {
            setting,
            what,
            remedy: format!("set {setting} = \"none\", or use a part without nodes"),
        });
    }
    if point.kind.has_second_node() {
        let what = format!("{} makes two nodes of this machine, but {environment} is another one", point.kind.name());
        return Some(Contradiction { setting: "environment", what, remedy: "use a part without nodes".into() });
    }
    if matches!(point.workload.played(), Played::File(_)) {
        let kind = point.kind.name();
        let what = format!("a {kind} workload plays files of this machine, but {environment} is another one");
        return Some(Contradiction { setting: "environment", what, remedy: "use a part without nodes".into() });
    }
    path(point, point.place.path.as_ref()?, environment)
}

/// A setting that acts on processes, cores or cables of this machine.
fn acts_on_this_machine(place: &PointPlace) -> Option<&'static str> {
    let ImpairmentOptions { hog, freeze, stall, .. } = place.impairment.stops;
    let all = [
        ("disturbance", !place.disturbance.spec.is_none()),
        ("hog", hog.is_some()),
        ("freeze", freeze.is_some()),
        ("stall", stall.is_some()),
        ("cpu_quota", place.impairment.quota_share.is_some()),
    ];
    all.into_iter().find(|(_, is_set)| *is_set).map(|(setting, _)| setting)
}

/// A path is built in namespaces of this machine; a node has its loopback interface, and its own way to a radio that is there.
fn path(point: &Point, path: &PointPath, environment: &str) -> Option<Contradiction> {
    let peer = point.kind.workload().facts().peer;
    let is_its_own = path.is_loopback || (path.is_direct() && peer == Peer::Radio);
    let setting = if is_its_own { path.option_set()? } else { "path" };
    let remedy = match peer {
        Peer::Server => "set path = \"loopback\", or use a part without nodes",
        _ => "set path = \"loopback\", or omit path and give --addr with a radio that the node reaches",
    };
    let what = format!("a path is made of namespaces of this machine, but {environment} is another one");
    Some(Contradiction { setting, what, remedy: remedy.into() })
}

#[cfg(test)]
mod tests {
    use crate::experiment::{Depth, Experiment};

    fn parse(factors: &str, fixed: &str, workload: &str) -> Result<Vec<String>, String> {
        let text = format!(
            "question = \"?\"\n[factors]\n{factors}\n[fixed]\n{fixed}\nworkload = {{ {workload} }}\n[rounds]\ncount = {{ full = 1, quick = 1 }}\n\
             order = {{ seed = 1 }}\n"
        );
        let parsed =
            Experiment::parse("x", &text).map_err(|error| format!("{}: {error}; {}", error.place(), error.remedy()))?;
        Ok(parsed.points(Depth::Full).iter().map(super::super::Point::label).collect())
    }

    const WAKEUP: &str = "kind = \"wakeup\", duration = \"1s\"";
    const RATE: &str = "kind = \"rate\", mode = \"rx\", rate_sps = 1e6, duration = \"1s\"";
    const UDP: &str = "kind = \"udp\", payload_bytes = 64, direction = \"both\", duration = \"1s\"";
    const NODES: &str = "environment = [\"native\", \"node:a\", \"node:b\"]";

    #[test]
    fn nodes_are_levels_of_the_factor_environment() {
        assert_eq!(parse(NODES, "", WAKEUP).unwrap()[1], "x environment=node:a");
        assert_eq!(
            parse("replicate = [1]", "environment = \"node:a\"\nenvironment_cpus = 2", WAKEUP).unwrap().len(),
            1
        );
        assert!(parse("environment = [\"node:\"]", "", WAKEUP).unwrap_err().contains("node:NAME"));
        assert!(
            parse("environment = [\"contianer\"]", "", WAKEUP).unwrap_err().contains("did you mean \"container\"?")
        );
    }

    #[test]
    fn what_needs_this_machine_is_refused_at_its_place() {
        let refused = |factors: &str, fixed: &str, workload: &str, words: &[&str]| {
            let why = parse(factors, fixed, workload).unwrap_err();
            assert!(words.iter().all(|word| why.contains(word)), "{why}");
        };
        refused(
            NODES,
            "disturbance = \"busy:4\"",
            WAKEUP,
            &["x.toml:5", "acts on this machine", "disturbance = \"none\""],
        );
        refused(NODES, "path = \"router\"", RATE, &["x.toml:5", "node:a is another one", "--addr"]);
        refused(NODES, "path = \"loopback\"\npath_loss = 0.1", RATE, &["x.toml:6", "node:a is another one"]);
        refused(NODES, "hog = \"1ms every 5ms\"", RATE, &["hog acts on this machine"]);
        let two = "kind = \"waveform-two-nodes\", slot = \"1ms\", duration = \"1s\"";
        refused(NODES, "", two, &["makes two nodes of this machine"]);
        let plays = "kind = \"deadline\", duration = \"1s\"";
        refused(NODES, "", plays, &["a deadline workload plays files of this machine"]);
        refused(NODES, "", UDP, &["path = \"loopback\""]);
    }

    #[test]
    fn a_node_has_its_loopback_interface_and_its_own_way_to_a_radio() {
        parse(NODES, "path = \"loopback\"", UDP).unwrap();
        parse(NODES, "path = \"loopback\"", RATE).unwrap();
        parse(NODES, "", RATE).unwrap();
    }
}
