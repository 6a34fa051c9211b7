//! Lines of `takt record` and `takt play`, whichever driver the radio has.

use std::path::Path;

use takt_base::words::capital;
use takt_dsp::sigmf::Checksum;
use takt_radio::Tuned;
use takt_radio::calibration::AppliedTable;

/// The first lines of a report: the recording, how much of it passed to or from which radio, and where that was tuned.
pub fn heading(file: &Path, samples: u64, rate_sps: f64, radio: &str, tuned: Option<Tuned>) -> Vec<String> {
    let (rate, seconds) = (rate_sps / 1e6, samples as f64 / rate_sps);
    let first = format!("{}: {samples} samples at {rate} MS/s ({seconds:.3} s) {radio}", file.display());
    let tuned = tuned
        .map(|tuned| format!("  tuned     {:.6} MHz (oscillator {:.6} MHz)", tuned.actual_hz / 1e6, tuned.lo_hz / 1e6));
    std::iter::once(first).chain(tuned).collect()
}

/// The channels of a recording of several.
pub fn interleaved(channels: usize) -> Option<String> {
    (channels > 1)
        .then(|| format!("  channels  {channels}, a sample of each in turn; counts are those of each channel"))
}

/// The files of corrections that were applied or could not be, each as a line.
pub fn calibrated(tables: &[AppliedTable]) -> impl Iterator<Item = String> {
    tables.iter().map(|table| format!("  calibration  {table}"))
}

/// The answer of a recording that was played, of which nothing was late.
pub fn in_time(radio_speed: Option<f64>, clipped: u64) -> String {
    let all = at_speed(radio_speed, "all of it left in time");
    match clipped {
        0 => format!("{all}."),
        1 => format!("{all}, but 1 sample was clipped. It exceeds full scale, 1.0."),
        _ => format!("{all}, but {clipped} samples were clipped. They exceed full scale, 1.0."),
    }
}

/// The parts of a recording that were not played or not checked, each as a line.
pub fn left_out(channel: u64, channels: u64, skipped_samples: u64, sha512: Checksum) -> Vec<String> {
    let all = [
        (channels > 1).then(|| format!("  channel   {channel} of 0 to {}", channels - 1)),
        (skipped_samples > 0).then(|| format!("  skipped   {skipped_samples} samples before the first capture")),
        (sha512 == Checksum::Unchecked).then(|| "  sha512    not checked: the data exceed 1 GiB".to_owned()),
    ];
    all.into_iter().flatten().collect()
}

/// `Yes: nothing is missing`, or of a radio whose time passes slower or faster, `Nothing is missing, at 0.1 of real time`: that
/// does not show what holds in real time.
pub fn at_speed(radio_speed: Option<f64>, what: &str) -> String {
    match radio_speed.filter(|speed| *speed != 1.0) {
        None => format!("Yes: {what}"),
        Some(speed) => format!("{}, at {speed} of real time", capital(what)),
    }
}
