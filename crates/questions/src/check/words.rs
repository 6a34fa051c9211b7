//! The sentences of an outcome: what it says, what it does not, what was left out.

use serde_json::Value;
use takt_base::shown::{percent, time};
use takt_base::words::{plural, sentence};
use takt_load::WorkloadKind;

use super::rate_words::{confidence_words, highest_words, limit_words, msps};
use super::stops;
use super::{
    CheckOutcome, ExcludedBy, Need, RadioSetup, RatePoint, RateRound, RoundState, RoundsSummary, Setup, UdpPoint,
    Verdict,
};
use takt_lab::experiment::{Depth, Experiment, Rounds, plain};

pub(super) fn summary(verdict: &Verdict) -> Vec<String> {
    limit_words(verdict).iter().map(|words| sentence(words)).collect()
}

/// Further findings beside the answer itself.
pub(super) fn also(verdict: &Verdict, udp: &[UdpPoint], needs: &[Need]) -> Vec<String> {
    let against = if verdict.rests_on_stops() { "against the emulator, which stops with this machine: " } else { "" };
    let mut also: Vec<String> = highest_words(verdict).iter().map(|words| format!("{against}{words}")).collect();
    also.extend(needs.first().and_then(|need| datagram_words(udp, need)));
    also.extend(verdict.waveform.as_ref().map(|waveform| waveform.why.clone()));
    also.iter().map(|words| sentence(words)).collect()
}

/// Cost of a datagram against what the need asks of a core.
fn datagram_words(udp: &[UdpPoint], need: &Need) -> Option<String> {
    let costs = udp.iter().filter_map(|point| Some((point.payload_bytes, point.cpu_ns_per_datagram?)));
    let (payload_bytes, cost) = costs.max_by_key(|(payload_bytes, _)| *payload_bytes)?;
    // The samples of a datagram: what fits into an Ethernet frame beside the VRT header (20 bytes) and trailer (4).
    let samples = ((1472.0 - 24.0) / need.format.bytes() as f64).floor();
    let per_s = need.rate_sps / samples;
    Some(format!(
        "a datagram of {payload_bytes} bytes costs {} of CPU time, both ends and the path together; {} MS/s take {:.0} thousand \
         datagrams/s, which is {} of a core each way",
        time(cost.point() * 1e-9),
        msps(need.rate_sps),
        per_s / 1e3,
        percent(per_s * cost.point() / 1e9),
    ))
}

/// The limits of what was measured.
pub(super) fn caveats(outcome: &CheckOutcome) -> Vec<String> {
    let mut words: Vec<String> = confidence_words(&outcome.verdict).into_iter().collect();
    match (&outcome.setup.radio, outcome.setup.path.as_str()) {
        (RadioSetup::Emulated { .. }, path) => {
            let software = "takt measured this host's software, but no network card, driver or cable; to include them, measure \
                            a real radio with --addr A";
            words.push(software.into());
            if path == "veth" {
                let shared = "over veth, the emulator's core does some of the receiver's kernel work; with a network card, this \
                              host would do it in interrupts";
                words.push(shared.into());
            }
        }
        (RadioSetup::Given { addr, .. }, "loopback") => {
            words.push(format!("the radio at {addr} is on this host, so the path had no network card"));
        }
        (RadioSetup::Given { addr, device: true, .. }, _) => {
            words.push(format!("takt measured this host together with SoapySDR and the driver of {addr}"));
        }
        (RadioSetup::Given { .. }, _) => {
            let between = "takt measured the host together with switches and cables, not each by itself";
            words.push(between.into());
        }
    }
    if let RadioSetup::Given { addr, emulator: false, device: false, .. } = &outcome.setup.radio {
        words.push(format!(
            "the radio at {addr} is not takt's emulator: it does not report on UDP port {} how late it was, so takt assumes \
             that it was on time",
            takt_wire::lag::PORT
        ));
    }
    words.extend(outcome.other_speed().map(|speed| {
        format!("the radio ran at {speed} of real time, so neither rates nor answers of this check hold in real time")
    }));
    words.extend(outcome.setup.notes.iter().cloned());
    if outcome.setup.shares_a_core() {
        let shared = "the host side and the emulator shared one core: clean rounds are clean, but the emulator may have caused \
                      faults in the others. To tell, run the emulator on a second machine and give --addr";
        words.push(shared.into());
    }
    words.extend(not_counted(&outcome.rounds));
    words.extend(excluded(&outcome.rates));
    words.extend(unlocked(&outcome.rates));
    words.extend(outcome.stops.iter().flat_map(stops::blind));
    if outcome.verdict.waveform.as_ref().is_some_and(|waveform| !waveform.real_time) {
        let normal = "the waveform's workers ran at normal priority, because takt may not use real-time priority here; with \
                      it, they may hold shorter slots";
        words.push(normal.into());
    }
    if !outcome.about.complete {
        words.push("the run was interrupted, so rounds are missing; to run them, give --resume".into());
    }
    words.iter().map(|words| sentence(words)).collect()
}

/// Rounds that were run and say nothing about the host, and why.
fn not_counted(rounds: &RoundsSummary) -> Option<String> {
    let ran = rounds.valid + rounds.disturbed + rounds.emulator_late + rounds.failed;
    let causes = [
        (rounds.emulator_late, "the emulator itself was late for too long"),
        (rounds.disturbed, "other programs or the hypervisor took too much CPU time"),
        (rounds.failed, "takt could not run the workload"),
    ];
    let not = ran - rounds.valid;
    let causes: Vec<(usize, &str)> = causes.into_iter().filter(|(count, _)| *count > 0).collect();
    match causes.as_slice() {
        [] => None,
        [(_, why)] => Some(format!("{not} of {ran} rounds do not count, because {why}")),
        several => {
            let each: Vec<String> = several.iter().map(|(count, why)| format!("in {count} {why}")).collect();
            Some(format!("{not} of {ran} rounds do not count: {}", each.join(", ")))
        }
    }
}

/// How much of the streaming is excluded, and what went wrong in it.
fn excluded(rates: &[RatePoint]) -> Option<String> {
    let rounds = || rates.iter().flat_map(|point| &point.rounds).filter(|round| round.state == RoundState::Valid);
    let all_s: f64 = rounds().map(|round| round.duration_s).sum();
    let excluded_s: f64 = rounds().map(|round| round.duration_s * round.excluded_share).sum();
    let faults: u64 = rounds().map(|round| round.excluded_faults).sum();
    let faults = match faults {
        0 => "nothing went wrong".to_owned(),
        _ => format!("{} occurred", plural(faults as usize, "fault")),
    };
    (excluded_s > 0.0).then(|| {
        let share = percent(excluded_s / all_s.max(excluded_s));
        let by = held_up_by(rounds(), all_s.max(excluded_s));
        format!(
            "{share} of the streaming time is excluded, because the emulator itself was late{by}; in that time {faults}"
        )
    })
}

/// Causes that held the emulator up, each with its share of the streaming.
fn held_up_by<'a>(rounds: impl Iterator<Item = &'a RateRound> + Clone, all_s: f64) -> String {
    let share = |of: fn(&ExcludedBy) -> f64| {
        rounds.clone().map(|round| round.duration_s * of(&round.excluded_by)).sum::<f64>() / all_s
    };
    let parts = [
        (share(|by| by.machine), "because the machine stood still"),
        (share(|by| by.host), "because another thread had its core"),
        (share(|by| by.own), "because it had too much work"),
        (share(|by| by.not_known), "for an unknown cause"),
    ];
    let words = parts.iter().filter(|(share, _)| *share > 0.0).map(|(share, why)| format!("{} {why}", percent(*share)));
    let words: Vec<String> = words.collect();
    if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
}

/// Rounds in which the radio's clock was not locked, so that its rate is not known.
fn unlocked(rates: &[RatePoint]) -> Option<String> {
    let rounds = || rates.iter().flat_map(|point| &point.rounds);
    let unlocked = rounds().filter(|round| round.reference_locked == Some(false)).count();
    let of = plural(rounds().count(), "round");
    (unlocked > 0).then(|| {
        format!("in {unlocked} of {of} the radio's clock was not locked to its reference, so its rate is not known")
    })
}

/// Signals that were not sent to a radio that is not takt's own.
pub(super) fn not_sent(setup: &Setup) -> Option<String> {
    let why = setup.receive_only.as_ref()?;
    let what = if setup.is_behind_a_driver() { "transmitting" } else { "transmitting and answers" };
    Some(sentence(&format!("takt did not measure {what}: {why}; to measure it, give --transmit")))
}

/// The parts of a check that are about takt's own driver, where another one streams.
pub(super) fn not_through_a_device(setup: &Setup) -> Option<String> {
    let why = "another driver streams, which takt can neither give an engine nor call slot by slot";
    setup.is_behind_a_driver().then(|| sentence(&format!("takt did not measure packet engines and answers: {why}")))
}

/// Omissions of a quick look, and what the setup did not allow.
pub(super) fn left_out(experiment: &Experiment, depth: Depth, without_udp: bool) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    if without_udp {
        words.push("datagram sizes were not measured: a radio does not answer datagram load".into());
    }
    if depth == Depth::Quick {
        words.extend(only_in_full(experiment, without_udp));
    }
    words.iter().map(|words| sentence(words)).collect()
}

fn only_in_full(experiment: &Experiment, without_udp: bool) -> Vec<String> {
    let mut words = Vec::new();
    let Rounds { quick, full, .. } = experiment.rounds;
    if quick < full {
        words.push(format!("{} of each point (full run: {full})", plural(quick, "round")));
    }
    for part in experiment.parts.iter().filter(|part| !(without_udp && part.kind == WorkloadKind::Udp)) {
        for (name, quick) in &part.fixed_quick {
            let full = part.fixed.get(name).map(plain).unwrap_or_default();
            words.push(less(&part.name, name, &plain(quick), &full));
        }
        for factor in &part.factors {
            let missing: Vec<String> =
                factor.full.iter().filter(|level| !factor.quick.contains(level)).map(bare).collect();
            if !missing.is_empty() {
                words.push(format!("not run: {}", levels_words(&part.name, &factor.name, &missing.join(", "))));
            }
        }
    }
    words
}

/// A level without the unit that its factor has.
fn bare(level: &Value) -> String {
    plain(level).trim_end_matches('M').to_owned()
}

/// A setting of a part that a quick look makes smaller.
#[must_use]
pub fn less(part: &str, setting: &str, quick: &str, full: &str) -> String {
    let quick = match setting {
        "slots" => format!("{quick} slots a round"),
        "slot" => format!("slots of {quick}"),
        "duration" => format!("{quick} a round"),
        "count" => format!("{quick} times a round"),
        other => format!("{other} {quick}"),
    };
    format!("{part}: {quick} (full run: {full})")
}

/// Levels of a factor as a radio person says them.
fn levels_words(part: &str, factor: &str, levels: &str) -> String {
    match factor {
        "rate_sps" => format!("{part} at {levels} MS/s"),
        "payload_bytes" => format!("datagrams of {levels} bytes"),
        "delay" => format!("answers after {levels}"),
        "slot" => format!("slots of {levels}"),
        other => format!("{part} with {other} {levels}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use takt_lab::experiment::named;

    #[test]
    fn a_quick_look_names_what_it_leaves_out() {
        let check = Experiment::parse("check", &named("check").unwrap()).unwrap();
        let quick = left_out(&check, Depth::Quick, false);
        assert!(quick[0].ends_with("rounds of each point (full run: 10)."), "{quick:?}");
        for part in ["Not run: datagrams of 16, 256", "Not run: sc16 at 1, 2, 4, 6.25", "Not run: answers after 500us"]
        {
            assert!(quick.iter().any(|sentence| sentence.starts_with(part)), "{part}: {quick:?}");
        }
        assert_eq!(left_out(&check, Depth::Full, false), [""; 0]);
        let sizes = "Datagram sizes were not measured: a radio does not answer datagram load.";
        assert_eq!(left_out(&check, Depth::Full, true), [sizes]);
    }

    #[test]
    fn what_is_smaller_than_in_a_full_run_is_stated_in_words() {
        let slots = less("overhead", "slots", "20000", "100000");
        assert_eq!(sentence(&slots), "Overhead: 20000 slots a round (full run: 100000).");
        assert_eq!(less("udp", "duration", "1s", "10s"), "udp: 1s a round (full run: 10s)");
    }

    #[test]
    fn what_is_excluded_is_reported_with_why_the_emulator_was_late() {
        use takt_emulator::drive::wall::{Spans, SpansBy};
        let spans = |ns| Spans { spans: 1, ns };
        let by = SpansBy { machine: spans(29), host: spans(2), ..SpansBy::default() };
        let round = |excluded_share, excluded_by| RateRound {
            duration_s: 1.0,
            excluded_share,
            excluded_by,
            ..RateRound::default()
        };
        let point = |rounds| {
            let mode = crate::check::Mode::Rx;
            super::super::rates::point(mode, crate::check::Format::Sc16, 25e6, rounds, None)
        };
        let said = |rounds| excluded(&[point(rounds)]).unwrap_or_default();
        let one = said(vec![round(0.62, ExcludedBy::of(0.62, &by)), round(0.0, ExcludedBy::default())]);
        assert_eq!(
            one,
            "31 % of the streaming time is excluded, because the emulator itself was late (29 % because the machine stood \
             still, 2 % because another thread had its core); in that time nothing went wrong"
        );
        let old = said(vec![round(0.5, ExcludedBy::of(0.5, &SpansBy::default()))]);
        assert!(old.contains("(50 % for an unknown cause)"), "{old}");
    }

    #[test]
    fn rounds_that_do_not_count_are_listed_with_their_reasons() {
        let rounds = RoundsSummary { valid: 30, disturbed: 1, emulator_late: 4, ..RoundsSummary::default() };
        let why = "5 of 35 rounds do not count: in 4 the emulator itself was late for too long, in 1 other programs or the \
                   hypervisor took too much CPU time";
        assert_eq!(not_counted(&rounds).as_deref(), Some(why));
        let late = RoundsSummary { valid: 30, emulator_late: 4, ..RoundsSummary::default() };
        let why = "4 of 34 rounds do not count, because the emulator itself was late for too long";
        assert_eq!(not_counted(&late).as_deref(), Some(why));
        assert_eq!(not_counted(&RoundsSummary { valid: 30, skipped: 2, ..RoundsSummary::default() }), None);
    }
}
