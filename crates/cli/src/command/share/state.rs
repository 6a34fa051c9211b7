//! Text of `takt share status`.

use std::fmt::Write;

use takt_base::shown::{count, duration, percent, scaled, time};
use takt_share::{FrontEndStatus, RadioStatus, ShareStatus};

use super::summary::edges;

pub fn text(status: &ShareStatus) -> String {
    let FrontEndStatus { radio, band, gain_db, policy, moves, .. } = &status.front_end;
    let front_end = &status.front_end;
    let mut out = String::new();
    let _ = writeln!(
        out,
        "process {} shares {radio}, {}, for {}",
        status.process,
        edges(*band),
        duration(status.duration_s)
    );
    let _ = writeln!(
        out,
        "  letters     O {}  U {}  L {}  S {}  lost {}  clipped {}",
        front_end.overflows,
        front_end.underflows,
        front_end.late,
        front_end.sequence_errors,
        front_end.lost_samples,
        front_end.sum.clipped_samples
    );
    let _ = writeln!(out, "  policy      {}, moved {moves} times; gain {}", policy.name(), gain(*gain_db));
    let _ = writeln!(
        out,
        "  CPU         {} busy; front end and radios need {} of a core at their highest rates, and {} is allowed",
        percent(status.busy),
        percent(status.cores_needed),
        percent(status.cores_allowed)
    );
    let _ = writeln!(out, "  latency     {} from a radio to the front end", time(status.latency_us * 1e-6));
    status.radios.iter().for_each(|radio| describe(&mut out, radio));
    out
}

fn describe(out: &mut String, radio: &RadioStatus) {
    let host = radio.host.map_or_else(|| "not in use".to_owned(), |host| format!("used by {host}"));
    let _ = writeln!(out, "{} {}, serial {}, {host}", radio.name, radio.addr, radio.serial);
    let _ = writeln!(out, "  receive     {}", received(radio));
    let _ = writeln!(
        out,
        "  gain        receive {} asked, transmit {} asked; the front end has {}",
        gain(radio.rx_gain_db),
        gain(radio.tx_gain_db),
        gain(radio.front_end_gain_db)
    );
    let _ = writeln!(
        out,
        "  samples     received {}, O {}  L {}; sent {}, U {}  L {}  S {}",
        count(radio.samples),
        radio.overflows,
        radio.rx_late,
        count(radio.tx_samples),
        radio.underflows,
        radio.tx_late,
        radio.sequence_errors
    );
    if radio.tx_samples > 0 {
        let _ = writeln!(
            out,
            "  transmit    {:.6} MHz; not sent: outside the band {}, not allowed {}, beside another radio {}",
            radio.tx_hz / 1e6,
            count(radio.tx_outside_samples),
            count(radio.tx_forbidden_samples),
            count(radio.tx_overlapping_samples)
        );
    }
    let _ = writeln!(
        out,
        "  cost        {} of a core at its highest rate; its samples wait {} for their filter",
        percent(radio.cores),
        time(radio.receive_delay_us * 1e-6)
    );
}

/// The band that a program asked for, and what it gets of it.
fn received(radio: &RadioStatus) -> String {
    let Some(band) = radio.band else { return "nothing yet".to_owned() };
    let what = match radio.received_share {
        Some(share) if share >= 1.0 => "all of it".to_owned(),
        Some(share) if share > 0.0 => format!("{} of it, and silence beside", percent(share)),
        _ => "silence alone".to_owned(),
    };
    let streams = if radio.streams { "" } else { ", at present stopped" };
    let part = radio.band_share.map_or_else(String::new, |share| format!(", {} of the band", percent(share)));
    format!("{:.6} MHz at {}{part}: {what}{streams}", band.centre_hz / 1e6, scaled(band.width_hz, "S/s"))
}

fn gain(gain_db: Option<f64>) -> String {
    gain_db.map_or_else(|| "as it was".to_owned(), |gain_db| format!("{gain_db} dB"))
}
