//! From records of the store to the rounds of an outcome.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use takt_base::parse_duration;
use takt_emulator::drive::wall::{HeldUpBy, LateSpan};
use takt_host::core_stop::Cause;
use takt_host::core_watch::{CoreStop, Watched};
use takt_load::{rate, round_trip};
use takt_stats::{Histogram, Ns, Quantiles};
use takt_testbed::Lateness;
use takt_udp::UdpReport;

use super::rates::{self, LEVEL};
use super::stops::{Looked, of_round};
use super::{
    ExcludedBy, Format, LostByPlace, Mode, RatePoint, RateRound, RoundState, RoundTripPoint, RoundTripRound, UdpPoint,
    UdpRound, device,
};
use takt_lab::experiment::Part;
use takt_lab::store::{PointRow, Record, RoundRow, StoreError};

/// Settings that the file fixes for the part of a point, and the point's factors.
pub(crate) type Levels = BTreeMap<String, Value>;

pub(crate) fn read<T: DeserializeOwned>(
    what: &'static str,
    round: &RoundRow,
    document: &Value,
) -> Result<T, StoreError> {
    T::deserialize(document).map_err(|source| StoreError::Document { what, round: round.id, source })
}

/// A level that is a word of takt (`duplex`, `sc16`).
fn word<T: DeserializeOwned>(levels: &Levels, name: &str) -> Option<T> {
    T::deserialize(levels.get(name)?).ok()
}

pub(crate) fn duration(levels: &Levels, name: &str) -> Option<Duration> {
    parse_duration(levels.get(name)?.as_str()?).ok()
}

pub(crate) fn rate_point(levels: &Levels, rounds: &[&RoundRow]) -> Result<Option<RatePoint>, StoreError> {
    let mode: Option<Mode> = word(levels, "mode");
    let rate_sps = levels.get("rate_sps").and_then(Value::as_f64);
    let (Some(mode), Some(rate_sps)) = (mode, rate_sps) else { return Ok(None) };
    let format: Format = word(levels, "format").unwrap_or(Format::Sc16);
    let measured = rounds.iter().filter_map(|round| rate_round(round).transpose()).collect::<Result<_, _>>()?;
    Ok(Some(rates::point(mode, format, rate_sps, measured, skipped(rounds))))
}

/// Why no round of a point was run, if none was.
pub(crate) fn skipped(rounds: &[&RoundRow]) -> Option<String> {
    let all = !rounds.is_empty() && rounds.iter().all(|round| round.state == RoundState::Skipped);
    rounds.first().filter(|_| all).and_then(|round| round.why.clone())
}

/// `None` for a round that was skipped, or could not be run at all.
fn rate_round(round: &RoundRow) -> Result<Option<RateRound>, StoreError> {
    let Some(record) = &round.record else { return Ok(None) };
    if rate::is_of_a_device(&record.result) {
        return device::rate_round(round, record).map(Some);
    }
    let outcome: rate::RateOutcome = read("rate result", round, &record.result)?;
    let emulator = Lateness::of(&record.emulator);
    let own = outcome.own(&emulator.as_ref().map(Lateness::excluded).unwrap_or_default());
    let lost = outcome.lost();
    let (rx, tx) = (&outcome.rx, &outcome.tx);
    let share = |seconds: f64| if outcome.wall_s > 0.0 { seconds / outcome.wall_s } else { 0.0 };
    let busiest = outcome.cpu.threads.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let machine = &outcome.cpu.machine;
    let events = [
        ("O", rx.overflows),
        ("U", tx.underflows),
        ("L", rx.late + tx.late),
        ("S", tx.sequence_errors),
        ("D", rx.sequence_errors),
        ("T", rx.timeouts + tx.timeouts),
    ];
    let received = outcome.options.rx_sps.is_some();
    let reads = |thread: &&rate::Thread| received && ["takt-rx", "takt-stream"].contains(&thread.name.as_str());
    let reader = outcome.cpu.threads.iter().find(reads);
    let watched = watched(record);
    let stops =
        emulator.as_ref().map(|lateness| of_round(&emulator_stops(lateness), &late_ns(lateness), watched.as_ref()));
    Ok(Some(RateRound {
        round_id: round.id,
        state: round.state,
        why: round.why.clone(),
        clean: outcome.clean,
        own_clean: own.clean,
        not_shown: None,
        excluded_share: own.excluded_share,
        excluded_by: ExcludedBy::of(own.excluded_share, &emulator.as_ref().map(Lateness::late_by).unwrap_or_default()),
        excluded_faults: own.excluded_faults,
        duration_s: outcome.wall_s,
        rx_lost_share: Some(lost.rx_share),
        tx_lost_share: Some(lost.tx_share),
        rx_samples: rx.samples,
        rx_lost_samples: Some(rx.dropped),
        tx_samples: tx.samples,
        tx_lost_samples: Some(lost.tx_samples),
        events: events.map(|(letter, count)| (letter.to_owned(), Some(count))).into(),
        lost_by_place: LostByPlace {
            sender: None,
            path: Some(rx.lost_by_place.path_datagrams),
            receive_buffer: rx.lost_by_place.receive_buffer_datagrams,
            application: Some(rx.lost_by_place.takt_datagrams),
            radio: Some(rx.lost_by_place.radio_samples.div_ceil(rx.samples_per_datagram.max(1) as u64)),
            unplaced: tx.sequence_errors,
        },
        cpu_host: share(outcome.cpu.host_seconds),
        busiest_thread: busiest.map(|thread| (thread.name.clone(), share(thread.seconds))),
        reader_pause_max_ms: received.then_some(rx.longest_pause_ns as f64 / 1e6),
        backlog: received.then(|| rx.backlog.clone()),
        reader_waits_share: reader.and_then(|thread| thread.run_delay_seconds).map(share),
        receive_buffer_bytes: received.then_some(rx.recv_buffer_bytes as u64),
        machine_busy_share: Some(machine.busy_ns() as f64 / machine.total_ns().max(1) as f64),
        emulator_lag_max_us: emulator.as_ref().map(|lateness| lateness.lag.max_us as f64),
        stops,
        watched: watched.map(|watched| Watched { stops: Vec::new(), ..watched }),
        rx_holds_ms: receive_holds_ms(&outcome),
        tx_holds_ms: transmit_holds_ms(&outcome),
        reference_locked: outcome.radio.reference_locked,
        // The speed at the end says so if it changed.
        radio_speed: outcome.radio_speed_at_end.filter(|speed| *speed != 1.0).or(outcome.radio_speed),
    }))
}

/// The watch of the host side's cores in a round, if there was one.
pub(super) fn watched(record: &Record) -> Option<Watched> {
    Watched::deserialize(record.machine.get("stops")?).ok()
}

/// How much of what is received this host's buffer holds, ms; `None`: nothing is.
pub(crate) fn receive_holds_ms(outcome: &rate::RateOutcome) -> Option<f64> {
    outcome.options.rx_sps.map(|_| outcome.rx.recv_buffer_s * 1e3)
}

/// How much of what is sent the radio's own buffer holds, ms; `None`: nothing is.
pub(crate) fn transmit_holds_ms(outcome: &rate::RateOutcome) -> Option<f64> {
    let samples = f64::from(outcome.tx.window_datagrams) * outcome.tx.samples_per_datagram as f64;
    let speed = outcome.radio_speed.unwrap_or(1.0);
    outcome.options.tx_sps.map(|rate_sps| samples / (rate_sps * speed) * 1e3)
}

/// When the machine stopped the emulator's core, as far as its lateness shows it. Its own work, or another thread of
/// its core, would have held up no radio.
pub(crate) fn emulator_stops(lateness: &Lateness) -> Vec<CoreStop> {
    let stop = |span: &LateSpan| {
        let by = match span.by.most() {
            HeldUpBy::Machine => Cause::Machine,
            HeldUpBy::NotKnown => Cause::NotKnown,
            HeldUpBy::Host | HeldUpBy::Own => return None,
        };
        Some(CoreStop { cpu: EMULATOR_CORE, from_ns: span.from_ns, to_ns: span.from_ns + span.held_ns(), by })
    };
    lateness.lag.late_spans.iter().filter_map(stop).collect()
}

/// When the emulator was late, for whatever reason.
fn late_ns(lateness: &Lateness) -> Vec<[u64; 2]> {
    lateness.lag.late_spans.iter().map(|span| [span.from_ns, span.to_ns]).collect()
}

/// The core of an emulator is not in its summary.
const EMULATOR_CORE: usize = usize::MAX;

/// The stops that rounds saw which are about something else than a rate.
pub(super) fn looked<'a>(rounds: impl IntoIterator<Item = &'a RoundRow>) -> Looked {
    let mut all = Looked::default();
    for record in rounds.into_iter().filter_map(|round| round.record.as_ref()) {
        let Some(watched) = watched(record) else { continue };
        let emulator = Lateness::of(&record.emulator).unwrap_or_default();
        all.seconds += watched.looked_ns as f64 / 1e9;
        all.stops.extend(of_round(&emulator_stops(&emulator), &late_ns(&emulator), Some(&watched)));
    }
    all
}

pub(crate) fn udp_point(levels: &Levels, rounds: &[&RoundRow]) -> Result<Option<UdpPoint>, StoreError> {
    let direction = levels.get("direction").and_then(Value::as_str);
    let (Some(payload_bytes), Some(direction)) = (word(levels, "payload_bytes"), direction) else { return Ok(None) };
    let measured: Vec<UdpRound> =
        rounds.iter().filter_map(|round| udp_round(round).transpose()).collect::<Result<_, _>>()?;
    let of = |figure: fn(&UdpRound) -> Option<f64>| {
        let counted = measured.iter().filter(|round| round.state == RoundState::Valid);
        takt_stats::mean(&counted.filter_map(figure).collect::<Vec<_>>(), LEVEL)
    };
    Ok(Some(UdpPoint {
        payload_bytes,
        direction: direction.replace('-', "_"),
        datagrams_per_s: of(|round| Some(round.datagrams_per_s)),
        throughput_bps: of(|round| Some(round.throughput_bps)),
        lost_share: of(|round| Some(round.lost_datagrams as f64 / round.sent_datagrams.max(1) as f64)),
        cpu_ns_per_datagram: of(|round| round.cpu_ns_per_datagram),
        rounds: measured,
        skipped: skipped(rounds),
    }))
}

fn udp_round(round: &RoundRow) -> Result<Option<UdpRound>, StoreError> {
    let Some(record) = &round.record else { return Ok(None) };
    let report: UdpReport = read("udp result", round, &record.result)?;
    let way = &report.way;
    let received = way.received.datagrams;
    let cpu_s = [report.cpu.client, report.cpu.server].map(|end| end.thread_s.unwrap_or(end.process_s));
    let places = &way.lost.by_place;
    Ok(Some(UdpRound {
        round_id: round.id,
        state: round.state,
        why: round.why.clone(),
        datagrams_per_s: way.datagrams_per_s,
        throughput_bps: way.throughput_bps,
        sent_datagrams: way.sent.datagrams,
        lost_datagrams: way.lost.total,
        lost_by_place: LostByPlace {
            sender: Some(places.sender),
            path: Some(places.path),
            receive_buffer: Some(places.receiver_buffer),
            application: Some(places.application),
            radio: None,
            unplaced: way.lost.unplaced,
        },
        cpu_ns_per_datagram: (received > 0).then(|| cpu_s.iter().sum::<f64>() * 1e9 / received as f64),
        jitter_us: way.jitter_us,
        latency_p50_us: way.latency_us.p50_us,
        latency_p99_9_us: way.latency_us.p99_9_us,
    }))
}

pub(crate) fn round_trip_point(levels: &Levels, rounds: &[&RoundRow]) -> Result<Option<RoundTripPoint>, StoreError> {
    let rate_sps = levels.get("rate_sps").and_then(Value::as_f64);
    let (Some(delay), Some(rate_sps)) = (duration(levels, "delay"), rate_sps) else { return Ok(None) };
    let mut measured = Vec::new();
    let mut all = Histogram::<Ns>::default();
    for round in rounds {
        let Some(record) = &round.record else { continue };
        let outcome: round_trip::RoundTripOutcome = read("round trip result", round, &record.result)?;
        if round.state == RoundState::Valid {
            // Unlike bounds would be another version's; then its rounds are in the table and not in the curve.
            let _ = all.merge(&outcome.air_to_answer_ns);
        }
        measured.push(round_trip_round(round, &outcome, Lateness::of(&record.emulator).as_ref(), delay));
    }
    let counted = measured.iter().filter(|round| round.state == RoundState::Valid);
    let late: Vec<f64> = counted.map(RoundTripRound::late_share).collect();
    Ok(Some(RoundTripPoint {
        delay_us: delay.as_secs_f64() * 1e6,
        rate_sps,
        late_share: takt_stats::mean(&late, LEVEL),
        rounds: measured,
        ecdf_us: all.ecdf(ECDF_POINTS).iter().map(|point| (point.value / 1e3, point.share)).collect(),
        skipped: skipped(rounds),
    }))
}

/// Points of a curve: more than a page can show.
const ECDF_POINTS: usize = 300;

fn round_trip_round(
    round: &RoundRow,
    outcome: &round_trip::RoundTripOutcome,
    emulator: Option<&Lateness>,
    delay: Duration,
) -> RoundTripRound {
    // In time or not, an answer is excluded if the radio was late at any time from the samples to when it was due.
    let excluded = emulator.map(|radio| radio.excluded_before(delay)).unwrap_or_default();
    let quantiles = Quantiles::of(&outcome.air_to_answer_ns);
    RoundTripRound {
        round_id: round.id,
        state: round.state,
        why: round.why.clone(),
        answers: outcome.due(),
        late: outcome.late + outcome.lost(),
        lost: outcome.lost(),
        excluded_share: excluded.share_of(outcome.span_ticks),
        excluded_late: outcome.failed_ticks.iter().filter(|tick| excluded.holds(**tick)).count() as u64,
        p50_us: quantiles.p50_us.unwrap_or_default(),
        p99_us: quantiles.p99_us.unwrap_or_default(),
        p99_9_us: quantiles.p99_9_us.unwrap_or_default(),
        max_us: quantiles.max_us.unwrap_or_default(),
    }
}

pub(crate) fn levels(part: &Part, point: &PointRow) -> Levels {
    let mut all = part.fixed.clone();
    all.extend(point.factors.clone());
    all
}
