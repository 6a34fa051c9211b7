//! Findings of one program, and of all of them together.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Look;
use crate::rate::RateOutcome;

/// Findings of one program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramOutcome {
    /// Its stream.
    pub rate: RateOutcome,
    /// Its band; `None`: it does not receive.
    pub look: Option<Look>,
}

/// Findings of all programs of a round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProgramsOutcome {
    /// Each program's, in order.
    pub programs: Vec<ProgramOutcome>,
    /// Seconds of the radios in a second of this host; `None`: hardware, which does not say.
    #[serde(default)] // records older than this key
    pub radio_speed: Option<f64>,
    /// Samples that all of them received, for each second of this host in the measured part.
    pub rx_sps: f64,
    /// Samples that all of them sent, for each second of this host in the measured part.
    pub tx_sps: f64,
    /// Share of the received samples that a program missed; the worst program's.
    pub rx_lost_share: f64,
    /// Share of the sent samples that a radio did without; the worst program's.
    pub tx_lost_share: f64,
    /// Programs in which nothing went wrong.
    pub clean_programs: usize,
    /// Cores that all programs together kept busy, by their own accounts, in the measured part.
    pub program_cores: f64,
    /// Power in the strongest band without a signal, dB below a full-scale tone; `None`: there is no such band.
    pub neighbour_below_full_scale_db: Option<f64>,
    /// Power in the band with the tone, dB against a full-scale tone.
    pub tone_dbfs: Option<f64>,
    /// Counts of the share; `None`: each program had a front end of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<ShareFigures>,
}

/// Counts of the share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShareFigures {
    /// Cores that the radios were expected to need, as takt measured before.
    pub expected_cores: f64,
    /// Cores that its process kept busy in the busiest half second.
    pub busiest_cores: f64,
    /// Share of the front end's samples that did not come.
    pub front_end_lost_share: f64,
    /// Bursts of samples that came to the front end too late, and times that it ran dry.
    pub front_end_tx_faults: u64,
    /// Datagrams that found no room in a send buffer.
    pub unsent_datagrams: u64,
    /// Samples that are muted: another program transmitted there, or the file does not allow it.
    pub muted_samples: u64,
    /// The summary of the share.
    pub report: Value,
}

impl ProgramsOutcome {
    /// Joins what the programs found, the first of which has the tone.
    pub(super) fn of(programs: Vec<ProgramOutcome>) -> ProgramsOutcome {
        let rates = || programs.iter().map(|program| &program.rate);
        let per_s = |samples: fn(&RateOutcome) -> u64| -> f64 {
            rates().filter(|rate| rate.wall_s > 0.0).map(|rate| samples(rate) as f64 / rate.wall_s).sum()
        };
        let worst = |share: fn(&RateOutcome) -> f64| rates().map(share).fold(0.0, f64::max);
        let power = |program: &ProgramOutcome| program.look.as_ref()?.power_dbfs;
        let neighbour = programs.iter().skip(1).filter_map(power).reduce(f64::max);
        let cores = rates().filter(|rate| rate.wall_s > 0.0).map(|rate| rate.cpu.host_seconds / rate.wall_s).sum();
        ProgramsOutcome {
            radio_speed: programs.first().and_then(|program| program.rate.radio_speed),
            rx_sps: per_s(|rate| rate.rx.samples),
            tx_sps: per_s(|rate| rate.tx.samples),
            rx_lost_share: worst(|rate| rate.lost().rx_share),
            tx_lost_share: worst(|rate| rate.lost().tx_share),
            clean_programs: rates().filter(|rate| rate.clean).count(),
            program_cores: cores,
            neighbour_below_full_scale_db: neighbour.map(|dbfs| -dbfs),
            tone_dbfs: programs.first().and_then(power),
            share: None,
            programs,
        }
    }

    /// Whether the radios' time passed as this host's did. Otherwise nothing is known of what this host holds.
    #[must_use]
    pub fn is_real_time(&self) -> bool {
        self.radio_speed.is_none_or(|speed| speed == 1.0)
    }

    /// The worst share of samples that were lost, wherever: what the front end missed is silence for every program.
    #[must_use]
    pub fn lost_share(&self) -> f64 {
        let front_end = self.share.as_ref().map_or(0.0, |share| share.front_end_lost_share);
        let received = 1.0 - (1.0 - self.rx_lost_share) * (1.0 - front_end);
        received.max(self.tx_lost_share)
    }
}

impl ShareFigures {
    /// From the summary of a share's agent: `{ expected_cores, busiest_cores, report }`. `None`: something is not there.
    pub(super) fn of(summary: &Value) -> Option<ShareFigures> {
        let number = |pointer: &str| summary.pointer(pointer).and_then(Value::as_f64);
        let count = |pointer: &str| summary.pointer(pointer).and_then(Value::as_u64);
        let (samples, lost) = (number("/report/front_end/samples")?, number("/report/front_end/lost_samples")?);
        let radios = summary.pointer("/report/radios")?.as_array()?;
        let of_radios = |key: &str| radios.iter().filter_map(|radio| radio.get(key)?.as_u64()).sum::<u64>();
        Some(ShareFigures {
            expected_cores: number("/expected_cores")?,
            busiest_cores: number("/busiest_cores")?,
            front_end_lost_share: lost / (samples + lost).max(1.0),
            front_end_tx_faults: count("/report/front_end/late")? + count("/report/front_end/underflows")?,
            unsent_datagrams: of_radios("unsent_datagrams"),
            muted_samples: of_radios("tx_overlapping_samples") + of_radios("tx_forbidden_samples"),
            report: summary.get("report")?.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn program(dropped: u64, dbfs: f64) -> ProgramOutcome {
        let mut rate = RateOutcome { wall_s: 2.0, ..RateOutcome::default() };
        (rate.rx.samples, rate.rx.dropped) = (1_000_000 - dropped, dropped);
        rate.cpu.host_seconds = 0.5;
        let look = Look { power_dbfs: Some(dbfs), ..Look::default() };
        ProgramOutcome { rate, look: Some(look) }
    }

    #[test]
    fn the_worst_program_and_the_strongest_neighbour_count() {
        let joined = ProgramsOutcome::of(vec![program(0, -1.0), program(10_000, -90.0), program(0, -85.0)]);
        assert_eq!((joined.rx_lost_share, joined.program_cores), (0.01, 0.75));
        assert_eq!((joined.tone_dbfs, joined.neighbour_below_full_scale_db), (Some(-1.0), Some(85.0)));
        assert!((joined.rx_sps - 1_495_000.0).abs() < 1e-6);
        let alone = ProgramsOutcome::of(vec![program(0, -1.0)]);
        assert_eq!(alone.neighbour_below_full_scale_db, None, "there is no neighbour");
    }

    #[test]
    fn a_loss_of_the_front_end_is_one_of_every_program() {
        let radio = json!({ "unsent_datagrams": 2, "tx_overlapping_samples": 3, "tx_forbidden_samples": 4 });
        let front_end = json!({ "samples": 900, "lost_samples": 100, "late": 5, "underflows": 6 });
        let report = json!({ "front_end": front_end, "radios": [radio.clone(), radio] });
        let summary = json!({ "expected_cores": 0.3, "busiest_cores": 0.4, "report": report });
        let share = ShareFigures::of(&summary).expect("all is there");
        assert_eq!((share.front_end_lost_share, share.front_end_tx_faults), (0.1, 11));
        assert_eq!((share.unsent_datagrams, share.muted_samples), (4, 14));
        let mut joined = ProgramsOutcome::of(vec![program(500_000, -1.0)]);
        joined.share = Some(share);
        assert!((joined.lost_share() - 0.55).abs() < 1e-12, "{}", joined.lost_share());
        assert_eq!(ShareFigures::of(&json!({ "report": {} })), None);
    }
}
