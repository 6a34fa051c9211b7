//! The filter of a channel, in time and in frequency: a sinc under Kaiser's window, in units of the channel.
//!
//! Both ways of a splitter and a combiner take their values from here, so they agree. The window makes a transition of a
//! tenth of the rate in 2 x 27 samples, 85 dB down. The half-amplitude point lies at 45 % of the rate, so the transition ends
//! at the edge of the band and nothing of a neighbour folds.

use std::f64::consts::{PI, TAU};
use std::sync::LazyLock;

use crate::signal::{HALF_SPAN, TRANSITION, WINDOW_POINTS, interpolate, kaiser_half};

/// Samples of the channel that the filter reaches to either side.
pub(super) const REACH: i64 = HALF_SPAN as i64;

/// Width of the filter at half amplitude, in units of the channel's rate.
const WIDTH: f64 = 1.0 - TRANSITION;

/// Points of the impulse response in a sample, from which the response in frequency is summed.
const FINE: usize = 4;

static WINDOW: LazyLock<Box<[f64]>> = LazyLock::new(kaiser_half);

static RESPONSE: LazyLock<Box<[f64]>> = LazyLock::new(|| {
    let last = HALF_SPAN as usize * FINE;
    let taps: Vec<f64> = (0..=last).map(|i| impulse(i as f64 / FINE as f64) / FINE as f64).collect();
    // Points from -1 to WINDOW_POINTS + 2, as the interpolation wants; the last but two is half the rate.
    let at = |point: i32| {
        let turn = TAU * 0.5 * f64::from(point) / WINDOW_POINTS as f64 / FINE as f64;
        taps[0] + 2.0 * taps.iter().enumerate().skip(1).map(|(i, tap)| tap * (turn * i as f64).cos()).sum::<f64>()
    };
    (-1..=WINDOW_POINTS as i32 + 2).map(at).collect()
});

/// The impulse response `x` samples of the channel from its middle, for a sum over as many points a sample as samples.
pub(super) fn impulse(x: f64) -> f64 {
    let x = x.abs();
    if x >= f64::from(HALF_SPAN) {
        return 0.0;
    }
    let angle = PI * WIDTH * x;
    let sinc = if x < 1e-9 { 1.0 } else { angle.sin() / angle };
    WIDTH * sinc * interpolate(&WINDOW, x / f64::from(HALF_SPAN))
}

/// The response at a frequency in units of the channel's rate; nothing beyond half the rate.
pub(super) fn response(frequency: f64) -> f64 {
    let x = 2.0 * frequency.abs();
    if x > 1.0 { 0.0 } else { interpolate(&RESPONSE, x) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pass_band_is_flat_and_the_band_ends_at_half_the_rate() {
        for k in 0..=4000 {
            let ripple_db = 20.0 * response(f64::from(k) * 1e-4).log10();
            assert!(ripple_db.abs() < 0.002, "{ripple_db} dB at {k}");
        }
        assert!((response(0.45) - 0.5).abs() < 1e-3);
        assert!(response(0.5).abs() < 1e-4 && response(0.51) == 0.0);
    }

    /// By the definition, at frequencies between the points of the table and for another density of points in time. Between
    /// their points, both tables are right within 100 dB below the pass band.
    #[test]
    fn the_response_is_the_transform_of_the_impulse_response() {
        for frequency in [0.0, 0.1234, 0.3999, 0.4321, 0.45, 0.4777, 0.4999] {
            let sum = (-270..=270)
                .map(|i| impulse(f64::from(i) / 10.0) / 10.0 * (TAU * frequency * f64::from(i) / 10.0).cos())
                .sum::<f64>();
            assert!((response(frequency) - sum).abs() < 1e-5, "{frequency}: {} or {sum}", response(frequency));
        }
    }
}
