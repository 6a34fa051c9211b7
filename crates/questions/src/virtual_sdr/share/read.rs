//! Readers of one number from a round of programs.

use serde::Deserialize;
use serde_json::Value;
use takt_lab::store::RoundRow;
use takt_load::programs::ProgramsOutcome;
use takt_testbed::Lateness;
use takt_testbed::environment::EnvironmentKind;
use takt_wire::n200::MASTER_CLOCK_HZ;

use crate::study::part::at;

/// `None` at another speed than real time, too: such a round says nothing about what this host holds.
fn outcome(round: &RoundRow) -> Option<ProgramsOutcome> {
    let outcome = ProgramsOutcome::deserialize(&round.record.as_ref()?.result).ok()?;
    outcome.is_real_time().then_some(outcome)
}

/// A number of such a result.
fn number(round: &RoundRow, pointer: &str) -> Option<f64> {
    outcome(round).and_then(|_| at(round, pointer))
}

/// Share of samples that the worst program missed, received or sent, wherever they were lost.
pub(super) fn worst_loss(round: &RoundRow) -> Option<f64> {
    Some(outcome(round)?.lost_share())
}

pub(super) fn received_sps(round: &RoundRow) -> Option<f64> {
    number(round, "/rx_sps")
}

pub(super) fn programs_cores(round: &RoundRow) -> Option<f64> {
    number(round, "/program_cores")
}

/// Cores of the share; nothing where each program has a radio of its own.
pub(super) fn share_cores(round: &RoundRow) -> Option<f64> {
    number(round, "/share/busiest_cores")
}

pub(super) fn cores(round: &RoundRow) -> Option<f64> {
    Some(programs_cores(round)? + share_cores(round).unwrap_or_default())
}

pub(super) fn front_end_lost(round: &RoundRow) -> Option<f64> {
    number(round, "/share/front_end_lost_share")
}

pub(super) fn neighbour_db(round: &RoundRow) -> Option<f64> {
    number(round, "/neighbour_below_full_scale_db")
}

/// Time from the air to the program that 99 % of datagrams do not exceed, of the worst program. A time stamp is related to this
/// host's clock by what the emulator says of its own clock, since a shared radio's present is later than its front end's, and by
/// what the share says of its radios' clocks. `None` in a guest, whose clock is another one, and where the share said nothing.
pub(super) fn delay_s(round: &RoundRow) -> Option<f64> {
    let record = round.record.as_ref()?;
    if record.in_force.get("environment")? == EnvironmentKind::Vm.name() {
        return None;
    }
    let outcome = outcome(round)?;
    let lateness = Lateness::of(&record.emulator)?;
    let delay_ns = |(number, program): (usize, &takt_load::programs::ProgramOutcome)| {
        let radio = lateness.devices.get(if outcome.share.is_some() { 0 } else { number })?;
        let offset_ns = ns_of(radio.clock_offset_ticks.cast_signed(), radio.clock_hz.get());
        let ahead_ns = outcome.share.as_ref().map_or(Some(0.0), |share| ahead_ns(&share.report, number))?;
        let look = program.look.as_ref()?;
        Some(look.least_ns? as f64 + look.later.p99_us? * 1e3 + offset_ns + ahead_ns)
    };
    outcome.programs.iter().enumerate().filter_map(delay_ns).reduce(f64::max).map(|ns| ns * 1e-9)
}

/// How far the clock of a shared radio is ahead of the front end's, by the share's report.
fn ahead_ns(report: &Value, radio: usize) -> Option<f64> {
    let ticks = report.pointer(&format!("/radios/{radio}/clock_ahead_ticks"))?.as_i64()?;
    Some(ns_of(ticks, MASTER_CLOCK_HZ))
}

fn ns_of(ticks: i64, clock_hz: u32) -> f64 {
    ticks as f64 * 1e9 / f64::from(clock_hz)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use takt_lab::store::{Record, RoundState};

    use super::*;

    /// Two programs whose stamps were 3 and 4 ms old, of clocks that are 10 and 20 ms ahead of this host's. Those of shared radios
    /// are 2 s behind their front end's, and 5 ms ahead of it.
    fn round(environment: &str, share: Option<Value>) -> RoundRow {
        let look = |way_ms: i64, ahead_ms: i64| {
            let later = json!({ "min_us": 0.0, "p50_us": 0.0, "p99_us": 500.0, "p99_9_us": 0.0, "max_us": 0.0 });
            json!({ "samples": 1, "power_dbfs": -90.0, "least_ns": (way_ms - ahead_ms) * 1_000_000, "later": later })
        };
        let rate = serde_json::to_value(takt_load::rate::RateOutcome::default()).expect("a document");
        let program = |look| json!({ "rate": rate, "look": look });
        let looks = if share.is_some() { [look(3, 10 - 2000), look(4, 10 + 5)] } else { [look(3, 10), look(4, 20)] };
        let mut result = json!({
            "programs": looks.map(program), "rx_sps": 0.0, "tx_sps": 0.0, "rx_lost_share": 0.1,
            "tx_lost_share": 0.0, "clean_programs": 0, "program_cores": 0.5, "neighbour_below_full_scale_db": 90.0,
            "tone_dbfs": -1.0,
        });
        let report = json!({
            "expected_cores": 0.2, "busiest_cores": 0.25, "front_end_lost_share": 0.5, "front_end_tx_faults": 0,
            "unsent_datagrams": 0, "muted_samples": 0, "report": share,
        });
        if share.is_some() {
            result["share"] = report;
        }
        let lag = json!({ "limit_us": 1000, "over_limit": 0, "max_us": 0 });
        let device = |ahead_ms: u64| json!({ "lag": lag, "clock_offset_ticks": ahead_ms * 100_000, "datagrams": {} });
        let emulator = json!({ "lag": lag, "devices": [device(10), device(20)] });
        let nothing = || Value::Null;
        let record = Record {
            settings: nothing(),
            result,
            before: nothing(),
            after: nothing(),
            in_force: json!({ "environment": environment }),
            emulator,
            machine: nothing(),
        };
        RoundRow {
            id: 1,
            point: 0,
            part: "native".into(),
            factors: std::collections::BTreeMap::new(),
            block: 0,
            attempt: 0,
            state: RoundState::Valid,
            why: None,
            started: String::new(),
            took_s: 0.0,
            record: Some(record),
        }
    }

    /// What a share says of its two radios' clocks.
    fn clocks() -> Value {
        json!({ "radios": [{ "clock_ahead_ticks": -200_000_000 }, { "clock_ahead_ticks": 500_000 }] })
    }

    fn near(value: Option<f64>, wanted: f64) {
        assert!(value.is_some_and(|value| (value - wanted).abs() < 1e-9), "{value:?}");
    }

    #[test]
    fn a_delay_is_by_the_clock_of_the_radio_that_stamped() {
        near(delay_s(&round("native", None)), 4.5e-3);
        near(delay_s(&round("container", Some(clocks()))), 4.5e-3);
        assert_eq!(
            delay_s(&round("container", Some(json!({})))),
            None,
            "an older share said nothing of its radios' clocks"
        );
        assert_eq!(delay_s(&round("vm", None)), None, "a guest has another clock");
    }

    #[test]
    fn a_round_at_another_speed_says_nothing_and_an_older_record_is_of_real_time() {
        let readers =
            [worst_loss, received_sps, programs_cores, share_cores, cores, front_end_lost, neighbour_db, delay_s];
        let read = |speed: Option<f64>| {
            let mut round = round("native", Some(clocks()));
            if let (Some(speed), Some(record)) = (speed, &mut round.record) {
                record.result["radio_speed"] = json!(speed);
            }
            readers.map(|read| read(&round).is_some())
        };
        assert_eq!([read(None), read(Some(1.0)), read(Some(0.1))], [[true; 8], [true; 8], [false; 8]]);
    }

    #[test]
    fn a_loss_is_the_programs_and_the_front_ends_and_cores_are_both_sides() {
        let (own, shared) = (round("native", None), round("native", Some(json!({}))));
        near(worst_loss(&own), 0.1);
        near(worst_loss(&shared), 0.55);
        near(cores(&own), 0.5);
        near(cores(&shared), 0.75);
    }
}
