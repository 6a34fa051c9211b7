//! Advice by the layer that limits: a table. None of it was tried here, and each row says so.

use takt_base::words::{plural, sentence};
use takt_host::call;

use super::rate_words::msps;
use super::{DoctorFinding, Fix, FixKind, HighestClean, Layer, Limit, RoundsSummary};

/// A layer, the doctor's rules that bear on it, and what to do where none of them stands.
struct Row {
    layer: Layer,
    rules: &'static [&'static str],
    what: &'static str,
    how: &'static str,
}

/// Rules that bear on a thread that is not there in time.
const READER: &[&str] = &[
    "load",
    "rt-permission",
    "cpu-quota",
    "cpu-weight",
    "cpuset",
    "rt-throttling",
    "governor",
    "idle-states",
    "frequency-limit",
    "virtualisation",
    "memory-pressure",
    "swap",
    "memlock-limit",
];

const PRIORITY: &str =
    "Give your application's streaming threads real-time priority (SCHED_FIFO) and keep other work off their cores.";

const TABLE: &[Row] = &[
    Row {
        layer: Layer::ReceiveBuffer,
        rules: &["socket-buffer-small", "load"],
        what: "The receive buffer holds less than the reader's pauses.",
        how: "Raise net.core.rmem_max: sysctl -w net.core.rmem_max=50000000 (to undo it, set the old value).",
    },
    Row { layer: Layer::ReaderThread, rules: READER, what: "The receiving thread runs too late.", how: PRIORITY },
    Row { layer: Layer::Sender, rules: READER, what: "The sending thread runs too late.", how: PRIORITY },
    Row {
        layer: Layer::Cpu,
        rules: &["load", "few-cores", "cpu-quota", "governor", "frequency-limit", "thermal-throttle", "clock-source"],
        what: "A core, or the whole machine, is full.",
        how: "End other programs, use a faster CPU, or lower the rate.",
    },
    Row {
        layer: Layer::KernelPath,
        rules: &["backlog", "receive-budget", "irq-spread", "connection-tracking"],
        what: "The kernel drops datagrams between the two sockets.",
        how: "Find where (ip -s link, /proc/net/softnet_stat). If a backlog is full, raise net.core.netdev_max_backlog.",
    },
    Row {
        layer: Layer::Radio,
        rules: &["nic-speed", "nic-mtu", "nic-flow-control", "nic-drops", "nic-ring"],
        what: "The radio could not send in time.",
        how: "Check the cable and the switch, and that the link runs at 1 Gb/s with flow control.",
    },
];

/// The changes that the limits ask for, each once, the one that frees the highest rate first; then what the doctor found
/// beside them.
#[must_use]
pub fn fixes(limits: &[Limit], highest: &[HighestClean], doctor: &[DoctorFinding], rounds: &RoundsSummary) -> Vec<Fix> {
    let mut fixes: Vec<Fix> = Vec::new();
    for limit in limits {
        let Some(row) = TABLE.iter().find(|row| row.layer == limit.layer) else { continue };
        let of_mode = |one: &&HighestClean| (one.mode, one.format) == (limit.mode, limit.format);
        let clean_sps = highest.iter().find(of_mode).and_then(|one| one.rate_sps).unwrap_or(0.0);
        let gain_sps = (limit.rate_sps - clean_sps).max(0.0);
        let gain = format!("This may allow at least {} MS/s more; takt has not tried it.", msps(gain_sps));
        let standing = row.rules.iter().filter_map(|id| doctor.iter().find(|one| one.id == *id && one.is_problem()));
        let mut prescriptions: Vec<Fix> = standing.filter_map(|finding| prescribed(finding, &gain, gain_sps)).collect();
        // The rule of the buffer says the same as the row.
        if !prescriptions.iter().any(|fix| fix.id.as_deref() == Some("socket-buffer-small")) {
            let (what, how) = (row.what.into(), row.how.into());
            prescriptions.push(Fix { id: None, what, how, kind: FixKind::Advice, gain: gain.clone(), gain_sps });
        }
        for fix in prescriptions {
            match fixes.iter_mut().find(|other| (&other.id, &other.what) == (&fix.id, &fix.what)) {
                Some(other) if other.gain_sps >= gain_sps => {}
                Some(other) => *other = fix,
                None => fixes.push(fix),
            }
        }
    }
    fixes.sort_by(|a, b| b.gain_sps.total_cmp(&a.gain_sps));
    let beside = doctor.iter().filter(|finding| finding.is_problem() && !fixes.iter().any(|fix| is(fix, finding)));
    let mut beside: Vec<Fix> =
        beside.filter_map(|finding| prescribed(finding, &gain_beside(finding, rounds), 0.0)).collect();
    // Fixes that can be made at once come before mere advice; the order of the rules within.
    beside.sort_by_key(|fix| fix.kind == FixKind::Advice);
    let more = beside.len().saturating_sub(MOST_BESIDE);
    beside.truncate(MOST_BESIDE);
    fixes.extend(beside);
    if more > 0 {
        let what = format!("The doctor found {}.", plural(more, "more problem"));
        let gain = "None of them limited any rate in the rounds that count.".into();
        fixes.push(Fix { id: None, what, how: call::takt("doctor"), kind: FixKind::Advice, gain, gain_sps: 0.0 });
    }
    fixes
}

/// Fixes without a limit are named up to here, and counted beyond: the doctor's own page has it all.
const MOST_BESIDE: usize = 3;

fn is(fix: &Fix, finding: &DoctorFinding) -> bool {
    fix.id.as_ref() == Some(&finding.id)
}

/// A standing rule as a change; `None` if there is nothing to be done about it on this host.
fn prescribed(finding: &DoctorFinding, gain: &str, gain_sps: f64) -> Option<Fix> {
    Some(Fix {
        id: Some(finding.id.clone()),
        what: format!("{}: {}.", finding.title, finding.observed),
        how: match (finding.fix_kind, finding.fix.as_ref()?) {
            (Some(FixKind::Safe | FixKind::Consent), command) => command.clone(),
            (Some(FixKind::Advice) | None, advice) => sentence(advice),
        },
        kind: finding.fix_kind.unwrap_or(FixKind::Advice),
        gain: gain.into(),
        gain_sps,
    })
}

/// The gain of a fix that no limit points at.
fn gain_beside(finding: &DoctorFinding, rounds: &RoundsSummary) -> String {
    match finding.id.as_str() {
        "load" if rounds.disturbed > 0 => {
            format!("Other programs or the hypervisor disturbed {}.", plural(rounds.disturbed, "round"))
        }
        // Only the emulator asks for priority by itself.
        "rt-permission" if rounds.emulator_late > 0 => {
            format!("Without it, the emulator itself was late in {}.", plural(rounds.emulator_late, "round"))
        }
        _ => "It did not limit any rate in the rounds that count.".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Format, Mode};
    use super::*;

    fn limit(mode: Mode, rate_sps: f64, layer: Layer) -> Limit {
        Limit { mode, format: Format::Sc16, rate_sps, layer, evidence: String::new() }
    }

    fn finding(id: &str, finding: &str) -> DoctorFinding {
        DoctorFinding {
            id: id.into(),
            title: format!("title of {id}"),
            finding: finding.into(),
            observed: "observed".into(),
            fix: Some(format!("takt doctor --fix --only {id}")),
            fix_kind: Some(FixKind::Safe),
            ..DoctorFinding::default()
        }
    }

    fn gains(fixes: &[Fix]) -> Vec<(&str, f64)> {
        fixes.iter().map(|fix| (fix.id.as_deref().unwrap_or(&fix.what), fix.gain_sps)).collect()
    }

    #[test]
    fn each_change_is_named_once_and_the_largest_gain_first() {
        let limits = [
            limit(Mode::Rx, 10e6, Layer::ReceiveBuffer),
            limit(Mode::Tx, 5e6, Layer::Sender),
            limit(Mode::Duplex, 25e6, Layer::ReceiveBuffer),
        ];
        let (buffer, sender) =
            ("The receive buffer holds less than the reader's pauses.", "The sending thread runs too late.");
        assert_eq!(gains(&fixes(&limits, &[], &[], &RoundsSummary::default())), [(buffer, 25e6), (sender, 5e6)]);
    }

    #[test]
    fn a_rule_of_the_doctor_that_stands_is_named_with_its_command_where_it_bears_on_the_limit() {
        let limits = [limit(Mode::Tx, 5e6, Layer::Sender), limit(Mode::Duplex, 25e6, Layer::ReceiveBuffer)];
        let doctor = [
            finding("swap", "fine"),
            finding("clock-source", "problem"),
            finding("rt-permission", "problem"),
            finding("socket-buffer-small", "problem"),
        ];
        let fixes = fixes(&limits, &[], &doctor, &RoundsSummary::default());
        let sender = "The sending thread runs too late.";
        let expected = [("socket-buffer-small", 25e6), ("rt-permission", 5e6), (sender, 5e6), ("clock-source", 0.0)];
        assert_eq!(gains(&fixes), expected);
        assert_eq!(fixes[0].how, "takt doctor --fix --only socket-buffer-small");
        assert_eq!(fixes[0].gain, "This may allow at least 25 MS/s more; takt has not tried it.");
        assert_eq!(fixes[3].gain, "It did not limit any rate in the rounds that count.");
    }

    #[test]
    fn of_many_rules_that_no_limit_points_at_three_are_named_and_the_rest_counted() {
        let advice = DoctorFinding { fix_kind: Some(FixKind::Advice), ..finding("load", "problem") };
        let mut doctor = vec![advice];
        doctor.extend(["zone-reclaim", "pcie-power", "nic-mtu", "backlog"].map(|id| finding(id, "problem")));
        let fixes = fixes(&[], &[], &doctor, &RoundsSummary::default());
        let expected =
            [("zone-reclaim", 0.0), ("pcie-power", 0.0), ("nic-mtu", 0.0), ("The doctor found 2 more problems.", 0.0)];
        assert_eq!(gains(&fixes), expected);
    }

    #[test]
    fn every_rule_named_here_is_one_of_the_doctors() {
        for id in TABLE.iter().flat_map(|row| row.rules) {
            assert!(takt_doctor::rule(id).is_some(), "{id}");
        }
    }

    #[test]
    fn other_programs_are_named_with_the_rounds_they_cost() {
        let rounds = RoundsSummary { disturbed: 13, ..RoundsSummary::default() };
        let fixes = fixes(&[], &[], &[finding("load", "problem")], &rounds);
        assert_eq!(fixes[0].gain, "Other programs or the hypervisor disturbed 13 rounds.");
    }

    #[test]
    fn a_layer_without_a_fix_has_no_advice() {
        let limits = [limit(Mode::Rx, 1e6, Layer::Unknown), limit(Mode::Rx, 1e6, Layer::Emulator)];
        assert!(fixes(&limits, &[], &[], &RoundsSummary::default()).is_empty());
    }
}
