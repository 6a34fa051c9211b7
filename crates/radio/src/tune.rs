//! Tuning: where the local oscillator goes, and what the DSP makes up for.
//!
//! The oscillator leaks and has a coarse grid, so it is put beside the wanted band, and the digital mixer shifts by the
//! difference: exactly, to 0.023 Hz at a 100 MHz clock.

/// Tuning that the caller wants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TuneRequest {
    /// The frequency that shall appear at 0 Hz of the samples.
    pub target_hz: f64,
    /// How far above it the oscillator is put.
    pub offset: LoOffset,
}

impl TuneRequest {
    /// `target_hz` with the oscillator where the policy puts it.
    #[must_use]
    pub fn new(target_hz: f64) -> TuneRequest {
        TuneRequest { target_hz, offset: LoOffset::Auto }
    }
}

/// Distance of the oscillator from the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoOffset {
    /// Half the sample rate, so that the leakage falls on the band's edge, as far as the analogue filter reaches.
    Auto,
    /// This many Hz; 0 puts it in the middle of the band.
    Hz(f64),
}

/// Tuning in fact.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Tuned {
    /// The frequency now at 0 Hz of the samples.
    pub actual_hz: f64,
    /// The oscillator.
    pub lo_hz: f64,
    /// Shift of the samples by the DSP: the oscillator minus the target on receive, the reverse on transmit.
    pub dsp_hz: f64,
}

/// Frequency that `request` gives the oscillator of a front end `bandwidth_hz` wide, at `rate_sps`.
#[must_use]
pub fn lo_target_hz(request: TuneRequest, bandwidth_hz: f64, rate_sps: f64) -> f64 {
    let offset_hz = match request.offset {
        LoOffset::Hz(hz) => hz,
        LoOffset::Auto => ((bandwidth_hz - rate_sps) / 2.0).clamp(0.0, rate_sps / 2.0),
    };
    request.target_hz + offset_hz
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leakage_leaves_the_band_where_the_filter_is_wide_enough() {
        let at = |rate| lo_target_hz(TuneRequest::new(1e9), 40e6, rate) - 1e9;
        assert_eq!(at(1e6), 0.5e6);
        assert_eq!(at(25e6), 7.5e6);
        assert_eq!(at(50e6), 0.0);
        let fixed = TuneRequest { target_hz: 1e9, offset: LoOffset::Hz(-3e6) };
        assert_eq!(lo_target_hz(fixed, 40e6, 1e6), 997e6);
    }
}
