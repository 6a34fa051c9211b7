//! A recording as a source: what it must have, and what of it a source does not follow.

use std::path::Path;

use takt_base::TickRate;
use takt_dsp::MAX_STEP;
use takt_dsp::sigmf::{Capture, Checksum, Reader};

use super::{SignalError, file_error};
use crate::source;

/// Opens a channel of a recording.
pub(super) fn open(spec: &source::Spec, path: &Path, channel: u64) -> Result<Reader, SignalError> {
    Reader::open_channel(path, channel).map_err(|source| file_error(spec, source))
}

/// Ticks from sample to sample of a recording that can be received: it has samples, those that it was made of, and a rate that the
/// clock makes.
pub(super) fn step(spec: &source::Spec, path: &Path, recording: &Reader, clock: TickRate) -> Result<u32, SignalError> {
    let rate_sps = recording.metadata().global.sample_rate_sps;
    let no_rate = || SignalError::NoRate { spec: spec.to_string(), path: path.to_owned() };
    let step = ticks_of(spec, rate_sps.ok_or_else(no_rate)?, clock)?;
    recording.require_samples().map_err(|source| file_error(spec, source))?;
    let checksum = recording.check().map_err(|source| file_error(spec, source))?;
    warn(path, recording, checksum);
    Ok(step)
}

fn ticks_of(spec: &source::Spec, rate_sps: f64, clock: TickRate) -> Result<u32, SignalError> {
    let clock_hz = clock.hz();
    let ticks = f64::from(clock_hz) / rate_sps;
    let step = ticks.round().clamp(1.0, f64::from(MAX_STEP));
    // A millionth: what a rate written with seven digits may be off.
    if (ticks / step - 1.0).abs() < 1e-6 {
        return Ok(step as u32);
    }
    let below = ticks.ceil().clamp(2.0, f64::from(MAX_STEP));
    let nearest_sps = [f64::from(clock_hz) / below, f64::from(clock_hz) / (below - 1.0)];
    Err(SignalError::Rate { spec: spec.to_string(), rate_sps, clock_hz, nearest_sps })
}

/// A source plays samples one after the other, around whatever frequency the host tunes to.
fn warn(path: &Path, recording: &Reader, checksum: Checksum) {
    let (path, captures) = (path.display(), &recording.metadata().captures);
    if checksum == Checksum::Unchecked {
        tracing::warn!("{path}: core:sha512 was not checked, since the data exceed 1 GiB");
    }
    if captures.windows(2).any(|pair| is_gap(&pair[0], &pair[1])) {
        tracing::warn!("{path} has gaps between its captures; a source plays the captures without them");
    }
    let mut named = captures.iter().filter_map(|capture| capture.frequency_hz);
    let first = named.next();
    if named.any(|hz| Some(hz) != first) {
        tracing::warn!("{path} changes its frequency; a source stays at the frequency to which the host tunes");
    }
}

fn is_gap(earlier: &Capture, later: &Capture) -> bool {
    let index = |capture: &Capture| capture.global_index.unwrap_or(capture.sample_start);
    index(later).saturating_sub(index(earlier)) != later.sample_start - earlier.sample_start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_what_the_index_of_the_stream_passes_over() {
        let at = |sample_start, global_index| Capture { sample_start, global_index, ..Capture::default() };
        assert!(!is_gap(&at(0, None), &at(10, None)));
        assert!(!is_gap(&at(0, Some(500)), &at(10, Some(510))));
        assert!(is_gap(&at(0, Some(500)), &at(10, Some(511))));
        assert!(is_gap(&at(0, Some(0)), &at(10, Some(0))), "it goes back");
    }
}
