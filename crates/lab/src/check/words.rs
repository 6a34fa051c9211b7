//! The sentences of an outcome: what it says, what it does not, what was left out.

use super::limit::{bytes_per_sample, percent};
use super::verdict::{confidence_words, highest_words, limit_words, msps};
use super::{Need, Outcome, RadioSetup, UdpPoint, Verdict};
use crate::experiment::settings::Kind;
use crate::experiment::{Depth, Experiment, plain};

/// What the figures say beside the answer itself.
pub(super) fn says(verdict: &Verdict, udp: &[UdpPoint], needs: &[Need]) -> Vec<String> {
    let mut says = highest_words(verdict);
    says.extend(limit_words(verdict));
    says.extend(needs.first().and_then(|need| datagram_words(udp, need)));
    says.iter().map(|words| sentence(words)).collect()
}

/// What a datagram costs against what the need asks of a core.
fn datagram_words(udp: &[UdpPoint], need: &Need) -> Option<String> {
    let largest =
        udp.iter().filter(|point| point.cpu_ns_per_datagram.is_some()).max_by_key(|point| point.payload_bytes)?;
    let cost = largest.cpu_ns_per_datagram?;
    // The samples of a datagram: what fits into an Ethernet frame beside the VRT header (20 bytes) and trailer (4).
    let samples = ((1472.0 - 24.0) / bytes_per_sample(need.format)).floor();
    let per_s = need.rate_sps / samples;
    Some(format!(
        "a datagram of {} bytes costs {:.1} µs of CPU, both ends and the path between them together; {} MS/s are {:.0} \
         thousand of them a second, {} of a core each way",
        largest.payload_bytes,
        cost.point() / 1e3,
        msps(need.rate_sps),
        per_s / 1e3,
        percent(per_s * cost.point() / 1e9),
    ))
}

/// The limits of what was measured.
pub(super) fn does_not_say(outcome: &Outcome) -> Vec<String> {
    let mut words: Vec<String> = confidence_words(&outcome.verdict).into_iter().collect();
    match (&outcome.setup.radio, outcome.setup.path.as_str()) {
        (RadioSetup::Emulated { .. }, path) => {
            words.push("host software was measured; network card, driver and cable were not (--addr A does)".into());
            if path == "veth" {
                let shared = "between the two namespaces the sender's core does the receiver's kernel work: the emulator's \
                              core bears part of what a network card's interrupts would cost this host";
                words.push(shared.into());
            }
        }
        (RadioSetup::Given { addr, .. }, "loopback") => {
            words.push(format!("the radio at {addr} is on this machine: no network card was on the path"));
        }
        (RadioSetup::Given { .. }, _) => {
            words.push(
                "what lies between host and radio (switches, cables) is measured with the host, not apart".into(),
            );
        }
    }
    if !outcome.complete {
        words.push("the run was interrupted: rounds are missing (--resume runs them)".into());
    }
    words.iter().map(|words| sentence(words)).collect()
}

/// With a capital and a full stop.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

/// What a quick look leaves out, and what the setup did not allow.
pub(super) fn left_out(experiment: &Experiment, depth: Depth, without_udp: bool) -> Vec<String> {
    let mut words = Vec::new();
    if without_udp {
        words.push("datagram sizes: a radio takes no datagram load".into());
    }
    if depth == Depth::Full {
        return words.iter().map(|words: &String| sentence(words)).collect();
    }
    if experiment.rounds.quick < experiment.rounds.full {
        let count = experiment.rounds.quick;
        words.push(format!("{count} rounds of each point were planned, {} in a full run", experiment.rounds.full));
    }
    for part in experiment.parts.iter().filter(|part| !(without_udp && part.kind == Kind::Udp)) {
        for factor in &part.factors {
            let missing: Vec<String> =
                factor.full.iter().filter(|level| !factor.quick.contains(level)).map(plain).collect();
            if !missing.is_empty() {
                words.push(format!("not run in part {}: {} {}", part.name, factor.name, missing.join(", ")));
            }
        }
    }
    words.iter().map(|words| sentence(words)).collect()
}
