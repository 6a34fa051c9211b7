//! Thousands of hosts, made by arithmetic: how often does the verdict err?

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use takt_load::Every;
use takt_load::rate::model::{self, Host};

use takt_host::core_stop::Cause;

use super::judge::of_one_trial;
use super::{ErrorRates, GOALS, Goals, TRIAL_ROUNDS, TableRow};
use crate::check::testing::{need, point, round as clean_round};
use crate::check::{CheckAnswer, Evidence, Mode, Need, RateRound, StopSeen, judge, stops_of};

/// Any of many hosts: a core with more or less room, taken away for long or short, and buffers of all sizes.
fn any_host(random: &mut ChaCha8Rng) -> Host {
    let step = [4, 8, 20][random.random_range(0..3)];
    let load = random.random_range(0.05..1.1);
    let period_us = random.random_range(1_000..300_000_u64);
    let taken_us = (period_us as f64 * random.random_range(0.0..0.97_f64).powi(2)) as u64;
    let away = (taken_us > 0).then(|| Every {
        taken: std::time::Duration::from_micros(taken_us),
        period: std::time::Duration::from_micros(period_us),
    });
    let buffer_ms = 2.0 * 500.0_f64.powf(random.random_range(0.0..1.0));
    let buffer_datagrams = (buffer_ms * 1e6 / (362 * step * 10) as f64) as u64;
    Host { step, load, away, phase: 0.0, buffer_datagrams }
}

/// A reader on a knife's edge counts as neither: one that lacks, or has to spare, less than this of the stream.
const EDGE: f64 = 0.02;

/// Whether a host loses: it did, or it lacks more than a trial of three rounds can hide. `None`: on the edge.
fn loses(host: &Host, truths: &[model::Truth]) -> Option<bool> {
    let margin = host.left() / host.load - 1.0;
    if truths.iter().any(|truth| truth.dropped > 0) || margin < -EDGE {
        return Some(true);
    }
    (margin > EDGE).then_some(false)
}

fn as_round(outcome: &takt_load::rate::RateOutcome) -> RateRound {
    let rx = &outcome.rx;
    RateRound {
        clean: outcome.clean,
        own_clean: outcome.clean,
        rx_lost_share: Some(rx.dropped as f64 / rx.expected_samples as f64),
        rx_lost_samples: Some(rx.dropped),
        backlog: Some(rx.backlog.clone()),
        ..clean_round()
    }
}

fn answer(rounds: Vec<RateRound>, rate_sps: f64) -> CheckAnswer {
    let need = Need { mode: Mode::Rx, rate_sps, ..need() };
    let points = [point(Mode::Rx, rate_sps, rounds)];
    let stops = stops_of(&points);
    judge(&[need], &Evidence { stops: stops.as_ref(), ..of_one_trial(&points) }).answer
}

/// A host that is stopped together with its radio, for 1 to 100 ms at a time.
fn any_frozen_host(random: &mut ChaCha8Rng) -> Host {
    let taken_us = (1000.0 * 100.0_f64.powf(random.random_range(0.0..1.0))) as u64;
    let period_us = taken_us * random.random_range(4..20_u64);
    let frozen = Every {
        taken: std::time::Duration::from_micros(taken_us),
        period: std::time::Duration::from_micros(period_us),
    };
    // A reader that has room: what is lost is lost by the stops.
    Host { load: random.random_range(0.05..0.5), away: Some(frozen), ..any_host(random) }
}

/// A round as the check sees it on a frozen host: a clean stream, since the radio stood still too, and each stop.
fn frozen_round(host: &Host, phase: f64) -> RateRound {
    const ROUND_MS: f64 = 800.0;
    let frozen = host.away.expect("a frozen host");
    let (ms, period_ms) = (frozen.taken.as_secs_f64() * 1e3, frozen.period.as_secs_f64() * 1e3);
    let count = ((ROUND_MS + phase * period_ms) / period_ms) as usize;
    let (outcome, _) = model::round(&Host { away: None, phase, ..*host });
    RateRound {
        stops: Some(vec![StopSeen { ms, by: Cause::Machine, radio_too: true }; count.max(1)]),
        rx_holds_ms: Some(outcome.rx.recv_buffer_s * 1e3),
        ..as_round(&outcome)
    }
}

/// The table of confusion over so many frozen hosts. The truth is that of a radio that goes on: the same stops of the reader alone.
fn try_frozen_hosts(count: u32, seed: u64) -> TableRow {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut row = TableRow { part: "frozen".into(), ..TableRow::default() };
    for _ in 0..count {
        let host = any_frozen_host(&mut random);
        let phases: Vec<f64> = (0..TRIAL_ROUNDS).map(|_| random.random_range(0.0..1.0)).collect();
        let truths: Vec<model::Truth> = phases.iter().map(|&phase| model::round(&Host { phase, ..host }).1).collect();
        let rounds = phases.iter().map(|&phase| frozen_round(&host, phase)).collect();
        let lost = truths.iter().any(|truth| truth.dropped > 0);
        row.note(lost, answer(rounds, 1e8 / host.step as f64));
    }
    row
}

/// The table of confusion over so many hosts.
fn try_hosts(count: u32, seed: u64) -> TableRow {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut row = TableRow::default();
    for _ in 0..count {
        let host = any_host(&mut random);
        let phases: Vec<f64> = (0..TRIAL_ROUNDS).map(|_| random.random_range(0.0..1.0)).collect();
        let rounds = phases.into_iter().map(|phase| model::round(&Host { phase, ..host }));
        let (outcomes, truths): (Vec<_>, Vec<_>) = rounds.unzip();
        let Some(loses) = loses(&host, &truths) else { continue };
        row.note(loses, answer(outcomes.iter().map(as_round).collect(), 1e8 / host.step as f64));
    }
    row
}

#[test]
fn of_ten_thousand_hosts_the_verdict_errs_within_its_goals() {
    let row = try_hosts(10_000, 20_261_123);
    assert!(row.loses.all() > 2_500 && row.keeps_up.all() > 2_500, "both kinds: {row:?}");
    let rates = ErrorRates::of(std::slice::from_ref(&row));
    assert_eq!(rates.answer(&Goals { not_known_max: 0.0, ..GOALS }, 0), CheckAnswer::Holds, "{row:?}");
}

/// Nothing was lost in any of their rounds, and a radio would have lost samples in half of them.
#[test]
fn of_ten_thousand_hosts_frozen_with_their_radio_the_verdict_errs_within_its_goals() {
    let row = try_frozen_hosts(10_000, 20_261_128);
    assert!(row.loses.all() > 2_000 && row.keeps_up.all() > 2_000, "both kinds: {row:?}");
    let rates = ErrorRates::of(std::slice::from_ref(&row));
    assert_eq!(rates.answer(&Goals { not_known_max: 0.0, ..GOALS }, 0), CheckAnswer::Holds, "{row:?}");
}
