//! Gain of another packet engine on this host: the same stream received by each in turn, in the same blocks.
//!
//! The comparison is of the time of the host side's process and of the machine's interrupts. An engine that leaves the
//! kernel's sockets moves work between the two. The emulated radio sends by the same sockets beside each of them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use takt_base::words::list;
use takt_load::rate;
use takt_stats::{Estimate, mean};

use super::collect::{Levels, read};
use super::rates::LEVEL;
use takt_lab::store::{RoundRow, RoundState, StoreError};

/// One engine beside the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EnginePoint {
    /// `mmsg`, `uring`, `xdp`.
    pub engine: String,
    /// How datagrams passed: `kernel sockets`, `native XDP, copied`; empty where none did.
    pub path: String,
    /// Samples a second that were received.
    pub rate_sps: f64,
    pub counted: usize,
    /// Rounds among them in which nothing went wrong.
    pub clean: usize,
    /// Time of the host side's process and of interrupts for a million samples, ms.
    pub cpu_ms_per_msample: Option<Estimate>,
    /// The same over what the first engine took in the same block; `None` for the first.
    pub over_first: Option<Estimate>,
    /// Why no round could be run, if none could.
    pub missing: Option<String>,
    pub rounds: Vec<EngineRound>,
}

/// One round of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EngineRound {
    pub round_id: i64,
    pub state: RoundState,
    pub why: Option<String>,
    /// Blocks are what ratios are taken in.
    pub block: u32,
    pub clean: bool,
    pub cpu_ms_per_msample: Option<f64>,
    /// Samples lost.
    pub lost_samples: u64,
}

/// A point of engines, as the file has it: its levels and its rounds.
pub(super) type Measured<'a> = (Levels, Vec<&'a RoundRow>);

/// Whether a point is about engines: they are what varies.
pub(super) fn is_about_engines(factors: &Levels) -> bool {
    factors.contains_key("engine")
}

/// In the order of the file, the first being what others are compared with.
pub(super) fn engines(points: &[Measured<'_>]) -> Result<Vec<EnginePoint>, StoreError> {
    let mut all = Vec::new();
    let mut first: Vec<(u32, f64)> = Vec::new();
    for (n, (levels, rows)) in points.iter().enumerate() {
        let outcomes = outcomes(rows)?;
        let rounds: Vec<EngineRound> = outcomes.iter().map(|(row, of)| round(row, of)).collect();
        let counted = || rounds.iter().filter(|round| round.state == RoundState::Valid);
        let costs: Vec<(u32, f64)> =
            counted().filter_map(|round| Some((round.block, round.cpu_ms_per_msample?))).collect();
        let ratios: Vec<f64> = costs.iter().filter_map(|(block, ms)| Some(ms / in_block(&first, *block)?)).collect();
        all.push(EnginePoint {
            engine: levels.get("engine").and_then(Value::as_str).unwrap_or_default().to_owned(),
            path: outcomes.first().map(|(_, of)| of.engine.path.clone()).unwrap_or_default(),
            rate_sps: levels.get("rate_sps").and_then(Value::as_f64).unwrap_or_default(),
            counted: counted().count(),
            clean: counted().filter(|round| round.clean).count(),
            cpu_ms_per_msample: mean(&costs.iter().map(|(_, ms)| *ms).collect::<Vec<_>>(), LEVEL),
            over_first: mean(&ratios, LEVEL),
            missing: missing(rows).filter(|_| rounds.is_empty()),
            rounds,
        });
        if n == 0 {
            first = costs;
        }
    }
    Ok(all)
}

fn in_block(costs: &[(u32, f64)], block: u32) -> Option<f64> {
    costs.iter().find(|(other, _)| *other == block).map(|(_, ms)| *ms)
}

/// Rounds that were run, each with what it brought.
fn outcomes<'a>(rows: &[&'a RoundRow]) -> Result<Vec<(&'a RoundRow, rate::RateOutcome)>, StoreError> {
    let with_record = rows.iter().filter_map(|row| Some((*row, row.record.as_ref()?)));
    with_record.map(|(row, record)| Ok((row, read("rate result", row, &record.result)?))).collect()
}

fn round(row: &RoundRow, outcome: &rate::RateOutcome) -> EngineRound {
    EngineRound {
        round_id: row.id,
        state: row.state,
        why: row.why.clone(),
        block: row.block,
        clean: outcome.clean,
        cpu_ms_per_msample: cost_ms(outcome),
        lost_samples: outcome.rx.dropped,
    }
}

fn cost_ms(outcome: &rate::RateOutcome) -> Option<f64> {
    let samples = outcome.rx.samples + outcome.tx.samples;
    let interrupts_ns = outcome.cpu.machine.irq_ns + outcome.cpu.machine.softirq_ns;
    let ns = outcome.cpu.host_seconds * 1e9 + interrupts_ns as f64;
    (samples > 0).then(|| ns / samples as f64)
}

fn missing(rows: &[&RoundRow]) -> Option<String> {
    let not_run =
        rows.iter().filter(|row| matches!(row.state, RoundState::Failed | RoundState::HostBusy | RoundState::Skipped));
    not_run.filter_map(|row| row.why.clone()).next_back()
}

/// Their message, a sentence without a full stop; `None` if there is nothing to compare.
pub(super) fn words(engines: &[EnginePoint]) -> Option<String> {
    let (first, others) = engines.split_first()?;
    let ratios: Vec<String> = others.iter().filter_map(one).collect();
    (!ratios.is_empty()).then(|| {
        let rate_msps = (first.rate_sps / 1e4).round() / 100.0;
        format!(
            "CPU time per sample (process and interrupts, receiving {rate_msps} MS/s), relative to engine {}: {}",
            first.engine,
            list(&ratios)
        )
    })
}

fn one(point: &EnginePoint) -> Option<String> {
    let ratio = point.over_first?;
    let span = format!("{:.2} ({:.2} to {:.2})", ratio.point(), ratio.low(), ratio.high());
    let lost = point.counted - point.clean;
    let lost = if lost == 0 { String::new() } else { format!(", not clean in {lost} of {} rounds", point.counted) };
    Some(format!("{} takes {span} of it{lost}", point.engine))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use takt_lab::store::Record;

    fn row(block: u32, cpu_s: f64, state: RoundState) -> RoundRow {
        let outcome = rate::RateOutcome {
            rx: rate::Rx { samples: 1_000_000, ..rate::Rx::default() },
            cpu: rate::Cpu { host_seconds: cpu_s, ..rate::Cpu::default() },
            clean: true,
            ..rate::RateOutcome::default()
        };
        let record = Record { result: serde_json::to_value(outcome).unwrap(), ..Record::default() };
        RoundRow { block, state, record: Some(record), ..RoundRow::default() }
    }

    fn levels(engine: &str) -> Levels {
        [("engine".to_owned(), json!(engine)), ("rate_sps".to_owned(), json!(12.5e6))].into()
    }

    #[test]
    fn an_engine_is_compared_with_the_first_block_by_block() {
        let valid = RoundState::Valid;
        let of_first = [row(0, 0.010, valid), row(1, 0.020, valid), row(2, 0.5, RoundState::Disturbed)];
        let of_other = [row(1, 0.010, valid), row(0, 0.005, valid), row(3, 0.001, valid)];
        let failed = RoundRow { record: None, why: Some("it needs root".into()), ..row(0, 0.0, RoundState::Failed) };
        let points: [Measured<'_>; 3] = [
            (levels("mmsg"), of_first.iter().collect()),
            (levels("uring"), of_other.iter().collect()),
            (levels("xdp"), vec![&failed]),
        ];
        let engines = engines(&points).unwrap();
        assert_eq!(engines[0].cpu_ms_per_msample.unwrap().point(), 15.0);
        assert_eq!(
            (engines[0].over_first, engines[1].over_first.unwrap().point()),
            (None, 0.5),
            "a half in either block"
        );
        assert_eq!((engines[2].counted, engines[2].missing.as_deref()), (0, Some("it needs root")));
        let said = words(&engines).unwrap();
        assert!(said.ends_with("relative to engine mmsg: uring takes 0.50 (0.50 to 0.50) of it"), "{said}");
        assert_eq!(words(&engines[..1]), None);
    }
}
