//! Counts that software radios show while they run.

use serde::Serialize;
use takt_emulator::emulate::{AirDevice, AirSummary, DeviceSummary, ModelDevice, Summary};
use takt_live::{Direction, Letters, Radio, Snapshot};

use super::{Described, Snapshots};
use crate::live::OpenBoard;

/// Keeps the counts for who looks. A radio that has ended by itself ends the run as well, which says why.
pub fn keep<S>(board: Option<&OpenBoard>, now: Snapshots<'_, S>, snapshot: impl FnOnce(&S) -> Snapshot) {
    if let Some(board) = board.filter(|board| board.is_watched())
        && let Ok(summary) = now()
    {
        board.keep(snapshot(&summary));
    }
}

pub fn of_model<R: Described + Serialize>(summary: &Summary<R>) -> Snapshot {
    let radios = summary.devices.iter().flat_map(|device| radios(&summary.model, device)).collect();
    let spectra = summary.devices.iter().flat_map(|device| device.spectra.clone()).collect();
    Snapshot { speed: Some(summary.speed), radios, spectra, ..Snapshot::default() }
}

pub fn in_air(summary: &AirSummary) -> Snapshot {
    let of = |AirDevice { name, device }: &AirDevice| match device {
        ModelDevice::N200(device) => radios(name, device),
        ModelDevice::X310(device) => radios(name, device),
    };
    let spectra = |AirDevice { device, .. }: &AirDevice| match device {
        ModelDevice::N200(device) => device.spectra.clone(),
        ModelDevice::X310(device) => device.spectra.clone(),
    };
    Snapshot {
        speed: Some(summary.speed),
        radios: summary.devices.iter().flat_map(of).collect(),
        spectra: summary.devices.iter().flat_map(spectra).collect(),
        ..Snapshot::default()
    }
}

/// Receivers and transmitters of a radio. Directions are those of its host.
fn radios<R: Described>(name: &str, device: &DeviceSummary<R>) -> Vec<Radio> {
    let one = |part: &str, direction, samples, letters| Radio {
        name: format!("{name} {} {part}", device.addr),
        direction,
        rate_sps: None,
        freq_hz: None,
        channels: Some(1),
        samples: Some(samples),
        lost_samples: None,
        letters,
    };
    let receivers = device.radio.receivers().into_iter().map(|(part, rx)| {
        let letters = Letters { overflows: Some(rx.overflows), late: Some(rx.late), ..Letters::default() };
        one(&part, Direction::Rx, rx.samples, letters)
    });
    let transmitters = device.radio.transmitters().into_iter().map(|(part, tx)| {
        let letters = Letters {
            underflows: Some(tx.underflows),
            late: Some(tx.late),
            sent_lost: Some(tx.sequence_errors),
            ..Letters::default()
        };
        one(&part, Direction::Tx, tx.samples, letters)
    });
    receivers.chain(transmitters).collect()
}
