//! A round through a device of SoapySDR, as one of the outcome: what its driver can't tell is not known there either.

use takt_load::rate::{DeviceOutcome, Thread};
use takt_soapy::{RxCounts, TxCounts};
use takt_testbed::Lateness;

use super::collect::{read, watched};
use super::{ExcludedBy, LostByPlace, RateRound};
use takt_lab::store::{Record, RoundRow, StoreError};

/// The thread of a round that reads samples.
const READER: &str = "takt-soapy-rx";

pub(super) fn rate_round(round: &RoundRow, record: &Record) -> Result<RateRound, StoreError> {
    let outcome: DeviceOutcome = read("rate result", round, &record.result)?;
    let emulator = Lateness::of(&record.emulator);
    let own = outcome.own(&emulator.as_ref().map(Lateness::excluded).unwrap_or_default());
    let (rx, tx, cpu) = (outcome.round.rx.as_ref(), outcome.round.tx.as_ref(), &outcome.cpu);
    let share = |seconds: f64| if outcome.wall_s > 0.0 { seconds / outcome.wall_s } else { 0.0 };
    let busiest = cpu.threads.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let reads = |thread: &&Thread| rx.is_some() && thread.name == READER;
    Ok(RateRound {
        round_id: round.id,
        state: round.state,
        why: round.why.clone(),
        clean: outcome.round.clean == Some(true),
        own_clean: own.clean,
        not_shown: outcome.not_shown().map(str::to_owned),
        excluded_share: own.excluded_share,
        excluded_by: ExcludedBy::of(own.excluded_share, &emulator.as_ref().map(Lateness::late_by).unwrap_or_default()),
        excluded_faults: own.excluded_faults,
        duration_s: outcome.wall_s,
        rx_lost_share: outcome.rx_lost_share(),
        tx_lost_share: outcome.tx_lost_share(),
        rx_samples: rx.map_or(0, |rx| rx.samples),
        rx_lost_samples: rx.map_or(Some(0), |rx| rx.dropped),
        tx_samples: tx.map_or(0, |tx| tx.samples),
        tx_lost_samples: outcome.tx_lost_samples(),
        events: events(rx, tx).map(|(letter, count)| (letter.to_owned(), count)).into(),
        lost_by_place: LostByPlace::default(),
        cpu_host: share(cpu.host_seconds),
        busiest_thread: busiest.map(|thread| (thread.name.clone(), share(thread.seconds))),
        reader_waits_share: cpu.threads.iter().find(reads).and_then(|thread| thread.run_delay_seconds).map(share),
        machine_busy_share: Some(cpu.machine.busy_ns() as f64 / cpu.machine.total_ns().max(1) as f64),
        emulator_lag_max_us: emulator.as_ref().map(|lateness| lateness.lag.max_us as f64),
        watched: watched(record).map(|watched| takt_host::core_watch::Watched { stops: Vec::new(), ..watched }),
        radio_speed: emulator.as_ref().and_then(|lateness| Some(lateness.devices.first()?.speed)),
        ..RateRound::default()
    })
}

/// UHD's letters. A driver reports gaps on the way (`D`) as overflows, if it reports any.
fn events(rx: Option<&RxCounts>, tx: Option<&TxCounts>) -> [(&'static str, Option<u64>); 6] {
    let timeouts = rx.map_or(0, |rx| rx.timeouts) + tx.map_or(0, |tx| tx.timeouts);
    [
        ("O", rx.map_or(Some(0), |rx| rx.overflows)),
        ("U", tx.map_or(Some(0), |tx| tx.underflows)),
        ("L", tx.map_or(Some(0), |tx| tx.late)),
        ("S", tx.map_or(Some(0), |tx| tx.sequence_errors)),
        ("D", rx.map_or(Some(0), |_| None)),
        ("T", Some(timeouts)),
    ]
}
