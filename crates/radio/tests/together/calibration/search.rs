//! The search for a correction, on a front end that is an equation.

use num_complex::Complex64;
use proptest::prelude::*;
use takt_radio::calibration::{CorrectionSearch, SearchStep, dc_offset_word, iq_balance_word};

/// A correction as a register holds it.
fn held(word: fn(f64) -> u32, bits: u32, value: Complex64) -> Complex64 {
    let one = f64::from(1 << (bits - 1));
    let part = |x| f64::from(word(x).cast_signed()) / one;
    Complex64::new(part(value.re), part(value.im))
}

/// A mixer: amplitude and phase between I and Q as the image of a tone beside the tone.
fn image(gain_db: f64, phase_deg: f64) -> Complex64 {
    let q = Complex64::from_polar(10f64.powf(gain_db / 20.0), phase_deg.to_radians());
    (1.0 - q) / (1.0 + q)
}

/// Runs a search on a line; returns the search.
fn find(probe: f64, mut line: impl FnMut(Complex64) -> Complex64) -> CorrectionSearch {
    let mut search = CorrectionSearch::new(probe);
    while let SearchStep::Set(correction) = search.step() {
        search.saw(line(correction));
    }
    search
}

proptest! {
    /// I' = I (1 + s re), Q' = Q + s im I behind the receiver's mixer, whatever the scale s of the registers is.
    #[test]
    fn a_receivers_image_is_50_db_down(
        gain_db in -2.0..2.0f64, phase_deg in -10.0..10.0f64, scale in prop::sample::select(vec![0.5, 1.0]),
        noise in -1e-5..1e-5f64,
    ) {
        let b = image(gain_db, phase_deg);
        let search = find(0.03125, |c| {
            let z = held(iq_balance_word, 18, c) * scale / 2.0;
            let (tone, image) = (1.0 + z * (1.0 + b.conj()), b + z * (1.0 + b));
            image / tone.conj() + noise
        });
        prop_assert!(search.left_db() > 50.0, "{} dB in {} settings", search.left_db(), search.settings());
        prop_assert!(search.left_db() >= search.before_db());
    }

    /// The same before the transmitter's mixer, whose image and carrier arrive with unknown phases.
    #[test]
    fn a_transmitters_image_and_carrier_are_50_db_down(
        gain_db in -2.0..2.0f64, phase_deg in -10.0..10.0f64, turns in 0.0..1.0f64, delay in 0.0..1.0f64,
        scale in prop::sample::select(vec![0.5, 1.0]), dc in (-0.1..0.1f64, -0.1..0.1f64),
        leak in 0.001..1.0f64, noise in -1e-5..1e-5f64,
    ) {
        let b = image(gain_db, phase_deg);
        let turn = |turns: f64| Complex64::from_polar(1.0, std::f64::consts::TAU * turns);
        let (path, start) = (leak * turn(turns), turn(delay));
        let tone = |z: Complex64| path * start * (1.0 + z + b * z.conj());
        let balance = find(0.03125, |c| {
            let z = held(iq_balance_word, 18, c) * scale / 2.0;
            path * start.conj() * (z + b * (1.0 + z.conj())) / tone(z) + noise
        });
        prop_assert!(balance.left_db() > 50.0, "image {} dB in {}", balance.left_db(), balance.settings());
        let offset = Complex64::new(dc.0, dc.1);
        let carrier = find(0.0078125, |c| {
            let d = held(dc_offset_word, 24, c);
            path * (d + b * d.conj() + offset) / (0.5 * tone(Complex64::default())) + noise
        });
        prop_assert!(carrier.left_db() > 50.0, "carrier {} dB in {}", carrier.left_db(), carrier.settings());
    }
}

#[test]
fn a_perfect_front_end_keeps_no_correction_and_a_dead_one_ends_the_search() {
    let search = find(0.03125, |c| c / 2.0);
    assert_eq!(search.best().0, Complex64::default());
    let dead = find(0.03125, |_| Complex64::new(0.1, 0.0));
    assert_eq!((dead.best().0, dead.settings()), (Complex64::default(), 3));
    let broken = find(0.03125, |_| Complex64::new(f64::NAN, 0.0));
    assert_eq!(broken.best().0, Complex64::default());
}
