//! Targets of workloads.

use takt_agent::Failure;
use takt_load::Target;
use takt_testbed::environment::InForce;

use crate::experiment::Point;

pub(super) fn target<'a>(site: &'a InForce, point: &Point) -> Target<'a> {
    Target {
        cable_bps: point.place.path.as_ref().and_then(|path| path.cable_bps),
        addr: site.radio_addr,
        device: site.device.as_deref(),
        transmit: site.transmit,
        host_cpus: &site.placement.host,
    }
}

pub(super) fn no_server() -> Failure {
    let fix = "omit the udp part with --addr, or run `takt udp serve` there and `takt udp send` by hand";
    Failure { chain: vec!["a radio does not answer datagram load".into()], fix: Some(fix.into()), lasting: false }
}

/// Two nodes on one loopback interface would have no cable between them.
pub(super) fn no_second_node() -> Failure {
    let fix = "run it as root, or where user namespaces are permitted, and with a path other than loopback";
    Failure {
        chain: vec!["a second node needs a network namespace of its own".into()],
        fix: Some(fix.into()),
        lasting: true,
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::{Value, json};
    use takt_load::WorkloadKind;

    use super::*;
    use crate::experiment::settings::{self, Setting, Takes};
    use crate::experiment::{Depth, Experiment};

    fn site() -> InForce {
        let in_force = json!({
            "environment": "native", "path": "loopback", "radio_addr": "127.0.0.1", "emulated": true,
            "placement": { "host": [0], "radio": [1], "how": "" }, "emulator_priority": null, "notes": [], "accelerator": null,
        });
        InForce::deserialize(in_force).expect("a site")
    }

    /// The value of a setting without a default, as a file has it.
    fn some_value(setting: &Setting) -> String {
        match setting.takes {
            Takes::Word(words) => format!("\"{}\"", words[words.len() - 1]),
            Takes::Whole(low, high) => 64_i64.clamp(low, high).to_string(),
            Takes::Span | Takes::SpanOrNone => "\"1ms\"".into(),
            Takes::Domain(_) => "1e6".into(),
        }
    }

    /// The options of a workload of that kind with one setting at that level.
    fn options(kind: WorkloadKind, setting: &str, level: &str) -> Value {
        let needed = settings::of(kind).filter(|row| row.default.is_none() && row.name != setting);
        let needed: String = needed.map(|row| format!("{} = {}\n", row.name, some_value(row))).collect();
        let text = format!(
            "question = \"?\"\n[fixed]\n{needed}{setting} = \"{level}\"\nworkload = {{ kind = \"{}\" }}\n\
             [factors]\nreplicate = [1, 2]\n[rounds]\ncount = {{ full = 1, quick = 1 }}\norder = {{ seed = 1 }}\n",
            kind.name()
        );
        let experiment = Experiment::parse("test", &text).unwrap_or_else(|error| panic!("{text}{error:?}"));
        let point = &experiment.points(Depth::Full)[0];
        let options = point.workload.options(&target(&site(), point));
        options.unwrap_or_else(|failure| panic!("{failure}"))
    }

    /// Settings of where and beside what a workload runs are no options of its own.
    const ELSEWHERE: [&str; 5] = ["cores", "model", "path", "process", "second_node"];

    #[test]
    fn every_level_of_every_setting_reaches_the_options_of_its_workload() {
        let mut tried = 0;
        for row in settings::all().filter(|row| !ELSEWHERE.contains(&row.name)) {
            let Takes::Word(levels) = row.takes else { continue };
            // Settings that all kinds know are of the site.
            let kinds: Vec<WorkloadKind> = settings::kinds(row).collect();
            for &kind in kinds.iter().filter(|_| kinds.len() < 6) {
                let documents: Vec<Value> = levels.iter().map(|level| options(kind, row.name, level)).collect();
                for (n, one) in documents.iter().enumerate() {
                    let alike = documents.iter().skip(n + 1).any(|other| other == one);
                    assert!(!alike, "{} of {}: `{}` is measured as another level", row.name, kind.name(), levels[n]);
                }
                tried += levels.len();
            }
        }
        assert!(tried > 40, "{tried} levels");
    }
}
