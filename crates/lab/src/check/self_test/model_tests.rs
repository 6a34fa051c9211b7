//! Thousands of hosts, made by arithmetic: how often does the verdict err?

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use takt_load::Every;
use takt_load::rate::model::{self, Host};

use super::{Answer, ErrorRates, GOALS, Goals, TRIAL_ROUNDS, TableRow, of_one_trial};
use crate::check::testing::{need, point, round as clean_round};
use crate::check::{Mode, Need, RateRound, judge};

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

/// What is on a knife's edge is neither: a reader that lacks, or has to spare, less than this of the stream.
const EDGE: f64 = 0.02;

/// Whether a host loses: it did, or it lacks more than a trial of three rounds can hide. `None`: on the edge.
fn loses(host: &Host, truths: &[model::Truth]) -> Option<bool> {
    let margin = host.left() / host.load - 1.0;
    if truths.iter().any(|truth| truth.dropped > 0) || margin < -EDGE {
        return Some(true);
    }
    (margin > EDGE).then_some(false)
}

fn as_round(outcome: &takt_load::rate::Outcome) -> RateRound {
    let rx = &outcome.rx;
    RateRound {
        clean: outcome.clean,
        own_clean: outcome.clean,
        rx_lost_share: rx.dropped as f64 / rx.expected_samples as f64,
        rx_lost_samples: rx.dropped,
        backlog: Some(rx.backlog.clone()),
        ..clean_round()
    }
}

fn answer(rounds: Vec<RateRound>, rate_sps: f64) -> Answer {
    let need = Need { mode: Mode::Rx, rate_sps, ..need() };
    judge(&[need], &of_one_trial(&[point(Mode::Rx, rate_sps, rounds)])).answer
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
    assert_eq!(rates.answer(&Goals { not_known_max: 0.0, ..GOALS }, 0), Answer::Holds, "{row:?}");
}
