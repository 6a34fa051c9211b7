//! The waveform's deadline: which slot this host holds, with what margin, and who takes most of it.

use std::collections::BTreeMap;

use serde_json::Value;
use takt_base::shown::{self, percent};
use takt_load::waveform::WaveformOutcome;

use super::collect::{Levels, duration, read, skipped};
use super::rates::{LEVEL, unclean_share_upper};
use super::{RoundState, WaveformPoint, WaveformRound, WaveformVerdict};
use takt_lab::store::{RoundRow, StoreError};

pub(super) fn waveform_point(levels: &Levels, rounds: &[&RoundRow]) -> Result<Option<WaveformPoint>, StoreError> {
    let Some(slot) = duration(levels, "slot") else { return Ok(None) };
    let text = |name: &str, usual: &str| match levels.get(name) {
        Some(Value::String(word)) => word.clone(),
        Some(other) => other.to_string(),
        None => usual.to_owned(),
    };
    let measured = rounds.iter().filter_map(|round| waveform_round(round).transpose());
    Ok(Some(estimated(WaveformPoint {
        waveform: text("waveform", "bpsk"),
        packet: text("packet", "as-written"),
        slot_us: slot.as_secs_f64() * 1e6,
        workers: levels.get("workers").and_then(Value::as_u64).unwrap_or(1) as usize,
        rounds: measured.collect::<Result<_, _>>()?,
        skipped: skipped(rounds),
        ..WaveformPoint::default()
    })))
}

/// The same with what its rounds say.
fn estimated(point: WaveformPoint) -> WaveformPoint {
    let (counted, held) = (counting(&point).count(), counting(&point).filter(|round| holds(round)).count());
    let used: Vec<f64> = counting(&point).filter_map(|round| round.used_share).collect();
    WaveformPoint {
        counted,
        held,
        missed_share_upper: unclean_share_upper(counted, held),
        used_share: takt_stats::mean(&used, LEVEL),
        ..point
    }
}

fn counting(point: &WaveformPoint) -> impl Iterator<Item = &WaveformRound> {
    point.rounds.iter().filter(|round| round.state == RoundState::Valid)
}

/// No slot was missed, and no packet lost.
fn holds(round: &WaveformRound) -> bool {
    round.misses == 0 && round.lost_packets == 0
}

fn waveform_round(round: &RoundRow) -> Result<Option<WaveformRound>, StoreError> {
    let Some(record) = &round.record else { return Ok(None) };
    let outcome: WaveformOutcome = read("waveform result", round, &record.result)?;
    let us = |ns: u64| ns as f64 / 1e3;
    let busy = outcome.workers.iter().filter_map(|worker| worker.busy).map(|busy| busy.tail_ns()).max();
    Ok(Some(WaveformRound {
        round_id: round.id,
        state: round.state,
        why: round.why.clone(),
        slots: outcome.slots,
        misses: outcome.misses,
        lost_packets: outcome.lost_packets(),
        used_share: outcome.used_share,
        busy_p99_9_us: busy.map(us),
        lateness_p99_9_us: outcome.lateness.map(|lateness| us(lateness.tail_ns())),
        lateness_max_us: outcome.lateness.map(|lateness| us(lateness.max_ns)),
        slowest: outcome.slowest.as_ref().map(|one| name(one.component.as_deref()).to_owned()),
        slowest_us: outcome.slowest.as_ref().map(|one| us(one.p99_9_ns)),
        blamed: outcome.blamed.iter().map(|one| (name(one.component.as_deref()).to_owned(), one.misses)).collect(),
        real_time: outcome.fifo,
    }))
}

/// Name that stands for the host in place of a component.
pub const HOST: &str = "release";

fn name(component: Option<&str>) -> &str {
    component.unwrap_or(HOST)
}

/// The shortest slot that was held in every round that counts, together with all longer ones. `None` without a point.
pub(super) fn verdict(points: &[WaveformPoint]) -> Option<WaveformVerdict> {
    let mut points: Vec<&WaveformPoint> = points.iter().filter(|point| point.workers == 1).collect();
    points.sort_by(|a, b| b.slot_us.total_cmp(&a.slot_us));
    let first = points.first()?;
    let judged = || points.iter().filter(|point| point.counted > 0);
    let failing = judged().find(|point| point.held < point.counted);
    let shortest = judged().take_while(|point| point.held == point.counted).last();
    let mut verdict = WaveformVerdict {
        waveform: first.waveform.clone(),
        packet: first.packet.clone(),
        shortest_held_us: shortest.map(|point| point.slot_us),
        counted: shortest.map_or(0, |point| point.counted),
        missed_share_upper: shortest.map_or(1.0, |point| point.missed_share_upper),
        margin: shortest.and_then(|point| point.used_share?.map(|used| 1.0 - used)),
        first_failing_us: failing.map(|point| point.slot_us),
        slowest: shortest.or(failing).and_then(|point| slowest(point)),
        blamed: failing.and_then(|point| blamed(point)),
        real_time: points.iter().flat_map(|point| &point.rounds).all(|round| round.real_time),
        why: String::new(),
    };
    verdict.why = why(&verdict, shortest.copied(), failing.copied());
    Some(verdict)
}

/// The component that most of the rounds that count name, and the most it took.
fn slowest(point: &WaveformPoint) -> Option<(String, f64)> {
    let naming = |who: &str| -> Vec<&WaveformRound> {
        counting(point).filter(|round| round.slowest.as_deref() == Some(who)).collect()
    };
    let who = counting(point).filter_map(|round| round.slowest.as_deref()).max_by_key(|who| naming(who).len())?;
    let most = naming(who).into_iter().filter_map(|round| round.slowest_us);
    Some((who.to_owned(), most.fold(0.0, f64::max)))
}

/// The cause of most of the misses that count.
fn blamed(point: &WaveformPoint) -> Option<(String, u64)> {
    let mut all: BTreeMap<&str, u64> = BTreeMap::new();
    for (who, misses) in counting(point).flat_map(|round| &round.blamed) {
        *all.entry(who).or_default() += misses;
    }
    all.into_iter().max_by_key(|(_, misses)| *misses).map(|(who, misses)| (who.to_owned(), misses))
}

fn why(verdict: &WaveformVerdict, shortest: Option<&WaveformPoint>, failing: Option<&WaveformPoint>) -> String {
    let what = match verdict.packet.as_str() {
        "as-written" => format!("waveform {}", verdict.waveform),
        packet => format!("waveform {} with {} samples a second", verdict.waveform, packet.trim_end_matches("/s")),
    };
    let held = match shortest {
        None if failing.is_none() => return format!("{what}: no round counts, so no slot could be judged"),
        None => format!("{what} holds no slot that was tried"),
        Some(point) => {
            let rounds = match point.counted {
                1 => "one round that counts".to_owned(),
                more => format!("{more} rounds that count"),
            };
            let sure = percent(point.missed_share_upper);
            let used = point.used_share.map(|used| used.point()).or_else(|| counting(point).next()?.used_share);
            let used = used.map(|used| format!("; 99.9 % of slots use at most {} of the slot", percent(used)));
            let used = used.unwrap_or_default();
            let slowest =
                verdict.slowest.as_ref().map(|(who, us)| format!(", most of it by {}", slowest_part(who, *us)));
            format!(
                "{what}: slots of {} and longer are held (no slot missed in the {rounds}; with 95 % confidence, at most \
                 {sure} of rounds miss one){used}{}",
                time(point.slot_us),
                slowest.unwrap_or_default()
            )
        }
    };
    match failing {
        None => held,
        Some(point) => {
            let sum = |of: fn(&WaveformRound) -> u64| counting(point).map(of).sum::<u64>();
            let (misses, slots, packets) = (sum(|r| r.misses), sum(|r| r.slots), sum(|r| r.lost_packets));
            let lost = if packets > 0 { format!(" and {packets} packets broken or dropped") } else { String::new() };
            let whom = verdict.blamed.as_ref().map(|(who, _)| format!(", most of them caused by {}", culprit(who)));
            format!(
                "{held}; at {} there were {misses} misses{lost} in {slots} slots{}",
                time(point.slot_us),
                whom.unwrap_or_default()
            )
        }
    }
}

fn slowest_part(who: &str, us: f64) -> String {
    let figure = format!("{} in 99.9 % of slots", time(us));
    if who == HOST { format!("the host, which starts workers late ({figure})") } else { format!("{who} ({figure})") }
}

fn culprit(who: &str) -> String {
    if who == HOST { "the host, which started a worker late or took its core away".into() } else { who.into() }
}

fn time(us: f64) -> String {
    shown::time(us * 1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(misses: u64, used: f64) -> WaveformRound {
        WaveformRound {
            slots: 1000,
            misses,
            used_share: Some(used),
            slowest: Some("source".into()),
            slowest_us: Some(40.0),
            blamed: if misses > 0 { vec![(HOST.into(), misses)] } else { Vec::new() },
            real_time: true,
            ..WaveformRound::default()
        }
    }

    fn point(slot_us: f64, rounds: Vec<WaveformRound>) -> WaveformPoint {
        let (waveform, packet) = ("bpsk".into(), "5M/s".into());
        estimated(WaveformPoint { waveform, packet, slot_us, workers: 1, rounds, ..WaveformPoint::default() })
    }

    #[test]
    fn the_shortest_slot_is_the_last_before_the_first_that_fails() {
        let points = [
            point(100.0, vec![round(0, 0.9), round(0, 0.9)]),
            point(250.0, vec![round(3, 0.8), round(0, 0.6)]),
            point(1000.0, vec![round(0, 0.2), round(0, 0.22)]),
            point(500.0, vec![round(0, 0.3), round(0, 0.34)]),
        ];
        let verdict = verdict(&points).expect("points");
        assert_eq!((verdict.shortest_held_us, verdict.first_failing_us), (Some(500.0), Some(250.0)));
        assert!((verdict.margin.expect("two rounds").point() - 0.68).abs() < 1e-9);
        assert_eq!(
            verdict.why,
            "waveform bpsk with 5M samples a second: slots of 500 µs and longer are held (no slot missed in the 2 rounds that \
             count; with 95 % confidence, at most 78 % of rounds miss one); 99.9 % of slots use at most 32 % of the slot, most \
             of it by source (40 µs in 99.9 % of slots); at 250 µs there were 3 misses in 2000 slots, most of them caused by \
             the host, which started a worker late or took its core away"
        );
    }

    #[test]
    fn what_was_disturbed_judges_nothing() {
        let disturbed = WaveformRound { state: RoundState::Disturbed, ..round(9, 1.5) };
        let none = verdict(&[point(250.0, vec![disturbed.clone()])]).expect("a point");
        assert_eq!((none.shortest_held_us, none.first_failing_us, none.counted), (None, None, 0));
        assert!(none.why.ends_with("no round counts, so no slot could be judged"));
        let held = verdict(&[point(250.0, vec![disturbed, round(0, 0.4)])]).expect("a point");
        assert_eq!((held.shortest_held_us, held.counted), (Some(250.0), 1));
        assert!(held.why.contains(" at most 40 % of the slot"), "{}", held.why);
        assert_eq!(verdict(&[]), None);
    }

    #[test]
    fn a_round_that_lost_packets_is_not_held_though_no_slot_was_missed() {
        let lost = WaveformRound { lost_packets: 7, ..round(0, 0.4) };
        let none = verdict(&[point(250.0, vec![lost])]).expect("a point");
        assert_eq!((none.shortest_held_us, none.first_failing_us), (None, Some(250.0)));
        assert!(none.why.ends_with("at 250 µs there were 0 misses and 7 packets broken or dropped in 1000 slots"));
    }

    #[test]
    fn a_host_that_holds_nothing_says_so() {
        let none = verdict(&[point(1000.0, vec![round(5, 1.2)])]).expect("a point");
        assert!(none.why.contains("holds no slot that was tried; at 1 ms there were 5 misses"), "{}", none.why);
    }
}
