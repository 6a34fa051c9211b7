//! A study's page says one thing: the headline, the lines of claims and parts, and the word that is the exit status agree, whatever the
//! parts came out as.

use proptest::prelude::*;
use serde_json::{Value, json};
use takt_page::{Finding, Report, ReportAnswer, TextStyle};
use takt_questions::study::{Claim, ClaimPart, PartVerdict};
use takt_questions::sweep::SweepOutcome;

/// A run that measured nothing.
fn outcome(complete: bool) -> SweepOutcome {
    let host = json!({ "hostname": "lab", "kernel": "", "cpu_model": "", "cores": 4, "memory_bytes": 0, "more": {} });
    let rounds = ["planned", "valid", "disturbed", "emulator_late", "failed", "skipped", "repeated"];
    let rounds: Value = rounds.iter().map(|name| ((*name).to_owned(), json!(0))).collect();
    let paper = json!({ "cite": "", "setup": [], "numbers": {}, "figure": [], "claim": [] });
    serde_json::from_value(json!({
        "schema": 1, "study": "virtual-sdr", "run": "", "question": "", "started": "", "duration_s": 0.0, "depth": "quick",
        "complete": complete, "takt_version": "", "host": host, "claims": [], "answer": "unknown", "rounds": rounds,
        "says": [], "does_not_say": [], "left_out": [], "records": [], "sites": [], "paper": paper, "charts": [],
        "noise": [], "warnings": [],
    }))
    .expect("the keys of the document are stable")
}

const REASONS: [&str; 5] = ["without KVM", "no router", "no card", "no second node", "no namespaces"];

fn verdict() -> impl Strategy<Value = PartVerdict> {
    let not_judged = |why: &str, open| PartVerdict::NotJudged { why: why.to_owned(), open };
    prop_oneof![
        4 => Just(PartVerdict::Seen),
        1 => Just(PartVerdict::Fails),
        1 => Just(not_judged("intervals too wide to tell", true)),
        3 => (0..REASONS.len()).prop_map(move |n| not_judged(REASONS[n], false)),
    ]
}

/// Claims of some parts each; a few can't come out otherwise.
fn claims() -> impl Strategy<Value = Vec<Claim>> {
    let claim = (prop::collection::vec(verdict(), 0..5), prop::bool::weighted(0.2));
    prop::collection::vec(claim, 0..12).prop_map(|claims| {
        let parts = |verdicts: Vec<PartVerdict>| {
            let part = |(n, verdict)| ClaimPart { part: format!("part {n}"), verdict, measured: "a figure".into() };
            (1..).zip(verdicts).map(|(n, verdict): (usize, _)| part((n, verdict))).collect()
        };
        let of = |(number, (verdicts, made)): (u32, (Vec<PartVerdict>, bool))| {
            Claim::new(number, "so it is", made.then(|| "it was made so".into()), parts(verdicts))
        };
        (1..).zip(claims).map(of).collect()
    })
}

fn report(claims: Vec<Claim>, complete: bool) -> Report {
    let mut outcome = outcome(complete);
    outcome.of.conclude(claims);
    takt_questions::sweep::report(&outcome)
}

/// The whole numbers of a text, up to its first bracket or full stop.
fn numbers(text: &str) -> Vec<usize> {
    let text = text.split(['(', '.']).next().unwrap_or_default();
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect()
}

/// Lines that begin with this word.
fn count(lines: &[&Finding], answer: ReportAnswer) -> usize {
    lines.iter().filter(|line| line.answer == answer).count()
}

/// By what a reader counts: held, fails, not judged.
fn counts(lines: &[&Finding]) -> [usize; 3] {
    [ReportAnswer::Yes, ReportAnswer::No, ReportAnswer::Unknown].map(|answer| count(lines, answer))
}

/// Lines of one claim that count, without the claim's own where it has several parts.
fn part_lines<'a>(report: &'a Report, claim: &Claim) -> Vec<&'a Finding> {
    let lead = format!("({}) ", claim.number);
    let lines: Vec<&Finding> = report.findings.iter().filter(|line| line.subject.starts_with(&lead)).collect();
    match claim.parts.len() {
        0 => Vec::new(),
        1 => lines,
        _ => lines.into_iter().skip(1).collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]
    #[test]
    fn headline_lines_and_status_agree(claims in claims(), complete in prop::bool::weighted(0.9)) {
        let report = report(claims.clone(), complete);
        let counted: Vec<&Claim> = claims.iter().filter(|claim| claim.counts()).collect();
        let lines: Vec<&Finding> = counted.iter().flat_map(|claim| part_lines(&report, claim)).collect();

        // The headline counts the lines of parts.
        let headline = &report.verdict.headline;
        let [held, fails, open] = counts(&lines);
        prop_assert_eq!(numbers(headline), [held, lines.len(), fails, open], "{}", headline);
        prop_assert_eq!(headline.ends_with("The run was interrupted."), !complete);

        // Each reason is counted as often as lines give it.
        for reason in REASONS {
            let given = lines.iter().filter(|line| line.measured.starts_with(&format!("not judged: {reason};"))).count();
            let alone = headline.contains(&format!("({reason})"));
            let told = alone || headline.contains(&format!("{given}: {reason}")) || headline.contains(": other reasons");
            prop_assert!(given == 0 || told, "{reason} {given} times: {headline}");
            prop_assert!(given > 0 || !headline.contains(reason), "{reason}: {headline}");
        }

        // A claim follows from its lines.
        for claim in &counted {
            let lead = format!("({}) ", claim.number);
            let whole = report.findings.iter().find(|line| line.subject.starts_with(&lead)).expect("a line");
            let [held, fails, _] = counts(&part_lines(&report, claim));
            let left_open = claim.parts.iter().any(|part| matches!(part.verdict, PartVerdict::NotJudged { open: true, .. }));
            let wanted = match (fails > 0, held > 0 && !left_open) {
                (true, _) => ReportAnswer::No,
                (false, true) => ReportAnswer::Yes,
                (false, false) => ReportAnswer::Unknown,
            };
            prop_assert_eq!(whole.answer, wanted, "{:?}", claim);
        }

        // The status is the word before the headline, and no line speaks against it.
        let claim_fails = counted.iter().any(|claim| claim.answer == takt_questions::check::CheckAnswer::Fails);
        match report.verdict.answer {
            ReportAnswer::Yes => {
                prop_assert!(complete && fails == 0 && held > 0 && !headline.contains("too wide"), "{}", headline);
            }
            ReportAnswer::No => prop_assert!(fails > 0 && claim_fails, "{}", headline),
            ReportAnswer::Unknown => {
                prop_assert!(fails == 0 && !claim_fails);
                prop_assert!(held == 0 || !complete || headline.contains("too wide") || headline.contains("other reasons"));
            }
        }

        // A claim that can't come out otherwise has no answer.
        for claim in claims.iter().filter(|claim| !claim.counts()) {
            let lead = format!("({}) ", claim.number);
            let line = report.findings.iter().filter(|line| line.subject.starts_with(&lead));
            let line: Vec<&Finding> = line.collect();
            prop_assert_eq!(counts(&line), [0, 0, 1]);
            prop_assert!(line[0].measured.starts_with("by construction: "));
        }
    }
}

fn part(name: &str, verdict: PartVerdict, measured: &str) -> ClaimPart {
    ClaimPart { part: name.into(), verdict, measured: measured.into() }
}

fn guest() -> PartVerdict {
    PartVerdict::NotJudged { why: "guest in software, without KVM".into(), open: false }
}

/// Two claims of `takt paper virtual-sdr` on a machine without KVM.
fn without_kvm() -> Vec<Claim> {
    let over_native = "vm over native";
    let alike = vec![
        part("container over native", PartVerdict::Seen, "it has at least 99.9 % of native's samples"),
        part(over_native, guest(), "it has at least 28.6 % of native's samples"),
    ];
    let cpu = vec![part(over_native, guest(), "CPU over native's: 2.06 [2.00, 2.13] at 64 B")];
    vec![Claim::new(6, "the three are alike", None, alike), Claim::new(5, "the guest needs a multiple", None, cpu)]
}

#[test]
fn what_a_machine_cannot_judge_stands_apart_and_the_rest_is_judged() {
    let text = report(without_kvm(), true).to_text(&TextStyle { width: 120, ..TextStyle::default() });
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "Yes: 1 of the 3 parts of the paper's claims holds, 0 fail, 2 could not be judged (guest in software, without KVM)."
    );
    let wanted = [
        "  holds    (6) the three are alike",
        "           1 of 2 parts holds, 0 fail, 1 could not be judged (guest in software, without KVM)",
        "  holds    (6) container over native",
        "           it has at least 99.9 % of native's samples",
        "  unknown  (6) vm over native",
        "           not judged: guest in software, without KVM; it has at least 28.6 % of native's samples",
        "  unknown  (5) the guest needs a multiple",
        "           not judged: guest in software, without KVM; CPU over native's: 2.06 [2.00, 2.13] at 64 B",
    ];
    assert_eq!(lines[2..10], wanted, "{text}");
}

#[test]
fn where_nothing_was_judged_it_is_not_known() {
    let only = without_kvm().remove(1);
    let report = report(vec![only], true);
    assert_eq!(report.verdict.answer, ReportAnswer::Unknown);
    assert!(
        report.verdict.headline.starts_with("0 of the 1\u{a0}part of the paper's claims hold"),
        "{}",
        report.verdict.headline
    );
}

#[test]
fn the_document_names_each_part_with_its_verdict() {
    let mut outcome = outcome(true);
    outcome.of.conclude(without_kvm());
    let document = serde_json::to_value(&outcome).expect("JSON");
    let guest = json!({
        "part": "vm over native", "verdict": "not_judged", "why": "guest in software, without KVM", "open": false,
        "measured": "it has at least 28.6 % of native's samples",
    });
    assert_eq!(document["claims"][0]["parts"][1], guest);
    assert_eq!(document["claims"][0]["parts"][0]["verdict"], "seen");
    let tally = json!({
        "counted": 3, "seen": 1, "fails": 0, "not_judged": 2, "open": 0, "by_construction": 0,
        "reasons": [{ "why": "guest in software, without KVM", "parts": 2 }],
    });
    assert_eq!((&document["parts"], &document["answer"]), (&tally, &json!("holds")));
    let read: SweepOutcome = serde_json::from_value(document).expect("read again");
    assert_eq!(read, outcome);
}
