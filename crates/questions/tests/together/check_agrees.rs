//! No line of a check's page contradicts its first line, whatever was measured.

use proptest::prelude::*;
use takt_host::core_stop::Cause;
use takt_lab::About;
use takt_page::{Report, ReportAnswer, TextStyle};
use takt_questions::check::{self, *};

use crate::support;

const RATES: [f64; 3] = [5e6, 12.5e6, 25e6];
const MODES: [Mode; 3] = [Mode::Rx, Mode::Tx, Mode::Duplex];

/// A round of a stream: whether it counts, whether something went wrong, and how long this machine stood still meanwhile.
fn round(mode: Mode) -> impl Strategy<Value = RateRound> {
    let states = prop_oneof![
        8 => Just(RoundState::Valid),
        1 => Just(RoundState::EmulatorLate),
        1 => Just(RoundState::Disturbed),
        1 => Just(RoundState::Failed),
    ];
    let stop = (
        prop_oneof![4 => 1.0..4.0, 1 => 4.0..60.0],
        prop_oneof![Just(Cause::Machine), Just(Cause::NotKnown), Just(Cause::Thread)],
    );
    let stops = prop_oneof![3 => Just(Vec::new()), 1 => prop::collection::vec(stop, 0..3)];
    (states, prop_oneof![9 => Just(0.0), 1 => 0.001..0.5], stops, any::<bool>(), 0.0..0.4).prop_map(
        move |(state, lost, stops, excused, excluded_share): (RoundState, f64, Vec<(f64, Cause)>, bool, f64)| {
            RateRound {
                state,
                clean: lost == 0.0,
                own_clean: lost == 0.0 || excused,
                excluded_share,
                duration_s: 0.8,
                rx_lost_share: Some(if mode == Mode::Tx { 0.0 } else { lost }),
                tx_lost_share: Some(if mode == Mode::Tx { lost } else { 0.0 }),
                cpu_host: 0.3,
                rx_holds_ms: (mode != Mode::Tx).then_some(42.0),
                tx_holds_ms: (mode != Mode::Rx).then_some(10.3),
                stops: Some(stops.into_iter().map(|(ms, by)| StopSeen { ms, by, radio_too: excused }).collect()),
                ..RateRound::default()
            }
        },
    )
}

fn points() -> impl Strategy<Value = Vec<RatePoint>> {
    let streams: Vec<(Mode, f64)> = MODES.into_iter().flat_map(|mode| RATES.map(|rate| (mode, rate))).collect();
    let point = |(mode, rate)| {
        prop::collection::vec(round(mode), 0..4)
            .prop_map(move |rounds| check::rates::point(mode, Format::Sc16, rate, rounds, None))
    };
    streams.into_iter().map(point).collect::<Vec<_>>()
}

fn replies() -> impl Strategy<Value = Vec<RoundTripPoint>> {
    let late = prop_oneof![3 => Just(0_u64), 1 => 1..40_u64];
    let point = |delay_us: f64| {
        (late.clone(), any::<bool>()).prop_map(move |(late, excused)| RoundTripPoint {
            delay_us,
            rate_sps: 5e6,
            late_share: None,
            rounds: vec![RoundTripRound {
                round_id: 1,
                state: RoundState::Valid,
                why: None,
                answers: 459,
                late,
                lost: 0,
                excluded_share: 0.0,
                excluded_late: if excused { late } else { 0 },
                p50_us: 300.0,
                p99_us: 500.0,
                p99_9_us: 900.0,
                max_us: 2000.0,
            }],
            ecdf_us: Vec::new(),
            skipped: None,
        })
    };
    prop_oneof![Just(Vec::new()), (point(1000.0), point(3450.0)).prop_map(|(a, b)| vec![a, b])]
}

fn needs() -> impl Strategy<Value = Vec<Need>> {
    let need = (prop::sample::select(MODES.to_vec()), prop::sample::select(RATES.to_vec()))
        .prop_map(|(mode, rate_sps)| Need { model: Model::N200, mode, rate_sps, format: Format::Sc16 });
    prop::collection::vec(need, 0..3)
}

fn outcome() -> impl Strategy<Value = CheckOutcome> {
    let busy = prop::option::weighted(0.1, Just("this host is too busy for a radio: it is".to_owned()));
    (needs(), points(), replies(), busy, any::<bool>()).prop_map(|(needs, rates, round_trips, busy, complete)| {
        let quick = support::quick_fails();
        conclude(Measured {
            about: About { complete, ..quick.about },
            needs,
            setup: quick.setup,
            radio_speed: Some(1.0),
            doctor: Vec::new(),
            udp: Vec::new(),
            stops: stops_of(&rates),
            rates,
            engines: Vec::new(),
            round_trips,
            waveforms: Vec::new(),
            loaded: None,
            rounds: RoundsSummary::default(),
            planned: 3,
            busy,
            left_out: Vec::new(),
        })
    })
}

fn agree(outcome: &CheckOutcome, report: &Report) -> Result<(), TestCaseError> {
    let answer = outcome.verdict.answer;
    prop_assert_eq!(report.verdict.answer, ReportAnswer::from(answer));
    let (of_needs, beside) = report.findings.split_at(outcome.verdict.needs.len());
    let any = |shown: ReportAnswer| of_needs.iter().any(|finding| finding.answer == shown);
    match answer {
        check::CheckAnswer::Holds => {
            prop_assert!(!of_needs.is_empty() && !any(ReportAnswer::No) && !any(ReportAnswer::Unknown));
        }
        check::CheckAnswer::Fails => prop_assert!(any(ReportAnswer::No)),
        check::CheckAnswer::Unknown => prop_assert!(!any(ReportAnswer::No)),
    }
    let headline = &report.verdict.headline;
    for finding in
        beside.iter().filter(|finding| finding.answer == ReportAnswer::No && answer == check::CheckAnswer::Holds)
    {
        prop_assert!(headline.contains(&finding.subject), "{headline} leaves out {}", finding.subject);
    }
    for held in outcome.verdict.needs.iter().filter(|need| need.answer == check::CheckAnswer::Holds) {
        let need = &held.need;
        let part = |mode, rate_sps| (need.mode == Mode::Duplex || mode == need.mode) && rate_sps <= need.rate_sps;
        let limit = outcome.verdict.limits.iter().find(|limit| part(limit.mode, limit.rate_sps));
        prop_assert!(limit.is_none(), "{need:?} holds, and {limit:?}");
        let failing = outcome.verdict.highest.iter().find(|h| h.first_failing_sps.is_some_and(|sps| part(h.mode, sps)));
        prop_assert!(failing.is_none(), "{need:?} holds, and {failing:?}");
        if let Some(at) = outcome.stops.as_ref().and_then(|stops| stops.at(need)) {
            prop_assert!(at.fits(), "{need:?} holds, and {at:?}");
        }
    }
    let text = report.to_text(&TextStyle { width: 400, ..TextStyle::default() });
    let first = text.lines().next().unwrap_or_default();
    prop_assert!(first.starts_with(report.verdict.answer.verdict_word()), "{first}");
    if answer == check::CheckAnswer::Holds {
        for word in ["would cost", "plus a margin", "too busy", "does not keep up"] {
            prop_assert!(!text.contains(word), "{word}: {text}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn no_line_of_a_page_contradicts_its_first_line(outcome in outcome()) {
        agree(&outcome, &takt_questions::check::report(&outcome))?;
    }
}
