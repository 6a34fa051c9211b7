//! Which peaks of a root's correlation are preambles, and which come from others.
//!
//! The strongest point of each window is a candidate if it is above the threshold. A terminal makes further peaks:
//!
//! - beside its own, since its delay is no whole number of points: side lobes, at most 1 / (839 sin(pi d / 839)) of its
//!   amplitude at a distance of d points;
//! - where an offset of its frequency moves the sequence: an offset of a fraction x of 1.25 kHz leaves sinc(x - i) of the
//!   amplitude at i times the inverse of u. Against its own peak, this is x / (|i| - x) at most.
//!
//! So a candidate must exceed the threshold by the amplitudes that stronger peaks can leave there. Amplitudes add, since noise may
//! have the phase of what was left. x is taken to be a third, 417 Hz. Beyond, a terminal may seem to be two.

use std::f32::consts::PI;

use super::SEQUENCE_LEN;
use super::windows::{CIRCLE, POINTS_OF_CHIP, Window};

/// The largest frequency offset whose images are told from preambles, in subcarriers of 1.25 kHz.
const OFFSET: f32 = 1.0 / 3.0;
/// How many images to each side: the last is 46 dB down.
const IMAGES: usize = 64;
/// Points of the circle around an image in which its origin is looked for: a point of the sequence to each side.
const AROUND: usize = 3;

/// The strongest point of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peak {
    /// Points of the circle, interpolated.
    pub(super) at: f32,
    /// Interpolated.
    pub(super) power: f32,
    /// Which window.
    pub(super) window: usize,
}

/// The strongest local maximum of each window that is above `threshold`.
pub(super) fn find(profile: &[f32], windows: &[Window], threshold: f32, peaks: &mut Vec<Peak>) {
    peaks.clear();
    let power = |at: usize| profile[at % CIRCLE];
    for (index, window) in windows.iter().enumerate() {
        let mut best = (threshold, None);
        for at in window.begin..window.begin + window.len {
            let here = power(at);
            if here > best.0 && here >= power(at + CIRCLE - 1) && here >= power(at + 1) {
                best = (here, Some(at));
            }
        }
        let (Some(at), true) = (best.1, best.0.is_finite()) else { continue };
        let (before, here, after) = (power(at + CIRCLE - 1), best.0, power(at + 1));
        let bend = before - 2.0 * here + after;
        let offset = if bend < 0.0 { (0.5 * (before - after) / bend).clamp(-0.5, 0.5) } else { 0.0 };
        peaks.push(Peak { at: at as f32 + offset, power: here - 0.25 * (before - after) * offset, window: index });
    }
}

/// The amplitude that peaks stronger than this one may have left where it is.
pub(super) fn left_by_others(peak: &Peak, peaks: &[Peak], profile: &[f32], doppler_shift: usize) -> f32 {
    let lobes = peaks.iter().filter(|other| other.power > peak.power).map(|other| {
        let points = (other.at - peak.at).abs();
        let chips = points.min((points - CIRCLE as f32).abs()) / POINTS_OF_CHIP;
        let share = if chips < 1.0 { 1.0 } else { 1.0 / dirichlet(chips) };
        share * other.power.sqrt()
    });
    lobes.sum::<f32>() + image(peak, profile, doppler_shift)
}

/// 839 sin(pi d / 839).
fn dirichlet(chips: f32) -> f32 {
    SEQUENCE_LEN as f32 * (PI * chips / SEQUENCE_LEN as f32).sin()
}

/// The amplitude of the strongest image that another peak's frequency offset may have put there.
fn image(peak: &Peak, profile: &[f32], doppler_shift: usize) -> f32 {
    let mut most = 0.0f32;
    for image in 1..=IMAGES {
        let share = OFFSET / (image as f32 - OFFSET);
        let moved = (image * doppler_shift % SEQUENCE_LEN) as f32 * POINTS_OF_CHIP;
        for origin in [peak.at + moved, peak.at + CIRCLE as f32 - moved] {
            let begin = origin.round() as usize + CIRCLE - AROUND;
            let near = (begin..=begin + 2 * AROUND).map(|at| profile[at % CIRCLE]).fold(0.0, f32::max);
            if near > peak.power {
                most = most.max(share * near.sqrt());
            }
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ideal peak of power 1 at a point, all round the circle.
    fn profile(at: f32) -> Vec<f32> {
        let lobe = |point: usize| {
            let chips = (point as f32 - at) / POINTS_OF_CHIP;
            if chips == 0.0 { 1.0 } else { ((PI * chips).sin() / dirichlet(chips)).powi(2) }
        };
        (0..CIRCLE).map(lobe).collect()
    }

    #[test]
    fn a_peak_between_points_is_found_to_a_tenth_of_one() {
        let windows = [Window { begin: 2000, len: CIRCLE, origin: 0.0, preamble: Some(0) }];
        let mut peaks = Vec::new();
        for tenth in 0..10 {
            let at = 100.0 + tenth as f32 / 10.0;
            find(&profile(at), &windows, 0.1, &mut peaks);
            assert!((peaks[0].at - at - CIRCLE as f32).abs() < 0.1, "{at} {peaks:?}");
            assert!((peaks[0].power - 1.0).abs() < 0.06, "{peaks:?}");
        }
    }

    #[test]
    fn side_lobes_and_images_do_not_exceed_what_is_allowed_for_them() {
        let windows: Vec<Window> =
            (0..32).map(|at| Window { begin: at * 64, len: 64, origin: 0.0, preamble: Some(at as u8) }).collect();
        let mut peaks = Vec::new();
        for at in [63.4, 64.9, 700.3] {
            let profile = profile(at);
            find(&profile, &windows, 1e-7, &mut peaks);
            assert!(peaks.len() > 20);
            for peak in peaks.iter().filter(|peak| peak.power < 0.9) {
                let left = left_by_others(peak, &peaks, &profile, 5);
                assert!(peak.power.sqrt() < left * 1.05, "{peak:?} {left}");
            }
        }
    }
}
