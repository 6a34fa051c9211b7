//! How often preambles are found, and noise is taken for one: TS 36.104 section 8.4, the preamble of TS 36.141 table A.6-1.
//!
//! SNR is power while the preamble lasts against noise in 1.08 MHz. `TAKT_LONG_TESTS=1` makes many more tries; with
//! `--nocapture` each test prints its figures.
#![allow(clippy::print_stdout, reason = "figures for who asks")]

use num_complex::{Complex32, Complex64};
use takt_base::Tick;
use takt_lte::{PrachDetector, PrachTransmitter, PreambleFound};

use crate::prach::air::{Air, config, ends, narrow, share};

/// The configuration of the test preambles: format 0 with N_CS = 13.
const ROOT: u16 = 22;
const PREAMBLE: u8 = 32;
/// TS 36.104 allows a delay to be wrong by this without fading.
const TOLERANCE_US: f64 = 1.04;

fn tries(short: u64, long: u64) -> u64 {
    if std::env::var_os("TAKT_LONG_TESTS").is_some() { long } else { short }
}

/// How many subframes of noise have a detection.
fn false_alarms(detector: &mut PrachDetector, tries: u64) -> usize {
    let mut air = Air::new(narrow());
    let alarm = |&seed: &u64| {
        air.clear();
        air.noise(1_000_000 + seed, 0.0);
        !detector.detect(&air.samples).is_empty()
    };
    (0..tries).filter(alarm).count()
}

#[test]
fn noise_is_hardly_ever_a_preamble() {
    // One root, some, and one for each preamble: at most 0.1 % of subframes.
    for (zone, short, long) in [(1, 4000, 200_000), (8, 1000, 50_000), (0, 300, 20_000)] {
        let tries = tries(short, long);
        let alarms = false_alarms(&mut ends(config(ROOT, zone)).1, tries);
        println!("zone {zone}: {alarms} false alarms in {tries} subframes of noise");
        // The mean at 0.1 %, and four of its standard deviations.
        let mean = tries as f64 * 1e-3;
        assert!(alarms as f64 <= if tries > 10_000 { mean } else { mean + 4.0 * mean.sqrt() });
    }
}

/// Outcomes of as many tries.
#[derive(Default)]
struct Tally {
    tries: u64,
    /// The preamble was found, and its delay is right to [`TOLERANCE_US`].
    right: u64,
    /// It was found with another delay.
    mistimed: u64,
    /// Others were found.
    others: u64,
    /// Errors of delays that are right, us.
    worst: f64,
    squares: f64,
}

impl Tally {
    fn add(&mut self, found: &[PreambleFound], delay_us: f64, tolerance_us: f64) {
        self.tries += 1;
        for one in found {
            let error = f64::from(one.timing_advance) * 16.0 / 30.72 - delay_us;
            if one.preamble != PREAMBLE {
                self.others += 1;
            } else if error.abs() > tolerance_us {
                self.mistimed += 1;
            } else {
                self.right += 1;
                self.worst = self.worst.max(error.abs());
                self.squares += error * error;
            }
        }
    }

    fn print(&self, case: &str) {
        let Tally { tries, right, mistimed, others, worst, squares } = self;
        let rms = (squares / *right.max(&1) as f64).sqrt();
        println!(
            "{case}: {right} of {tries}, {mistimed} mistimed, {others} others; error up to {worst:.2} us, rms {rms:.3} us"
        );
    }
}

/// One antenna without fading.
fn white(root: u16, zone: u8, snr_db: f64, offset_hz: f64, tries: u64) -> Tally {
    let (mut transmitter, mut detector) = ends(config(root, zone));
    let (mut air, mut tally) = (Air::new(narrow()), Tally::default());
    for number in 0..tries {
        // From half of the zone on, as TS 36.141 section 8.4.1.4.2 has it.
        let delay_us = 6.2 + share(number);
        let offset_hz = if number % 2 == 0 { offset_hz } else { -offset_hz };
        air.clear();
        air.add(&mut transmitter, PREAMBLE, delay_us, offset_hz, snr_db);
        air.noise(number, 0.0);
        tally.add(detector.detect(&air.samples), delay_us, TOLERANCE_US);
    }
    tally.print(&format!("root {root} zone {zone} {offset_hz:3} Hz {snr_db:5} dB"));
    tally
}

/// The standard's -14.2 dB is of two antennas. One has half of the energy: -11.2 dB.
#[test]
fn preambles_are_found_at_the_signal_to_noise_ratio_of_the_standard() {
    for offset_hz in [0.0, 270.0] {
        for (root, zone, short, long) in [(ROOT, 1, 500, 5000), (300, 1, 200, 5000), (ROOT, 0, 60, 1000)] {
            let tally = white(root, zone, -11.2, offset_hz, tries(short, long));
            assert!(tally.right as f64 >= 0.99 * tally.tries as f64);
            assert!(tally.others as f64 <= 0.01 * tally.tries as f64);
            assert!(tally.worst < 0.7);
        }
    }
}

#[test]
fn figures_over_the_signal_to_noise_ratio() {
    for root in [ROOT, 300] {
        for offset_hz in [0.0, 270.0, 625.0] {
            for snr_db in [-18.0, -17.0, -16.0, -15.0, -14.2, -13.0, -12.0, -8.0, 0.0, 20.0] {
                let tally = white(root, 1, snr_db, offset_hz, tries(50, 2000));
                assert!(snr_db < -8.0 || offset_hz > 300.0 || tally.right == tally.tries);
                assert!(offset_hz > 300.0 || tally.others <= tally.tries / 50);
            }
        }
    }
}

/// ETU of TS 36.104 table B.2-3: delay in us and power in dB of each path.
const PATHS: [(f64, f64); 9] = [
    (0.0, -1.0),
    (0.05, -1.0),
    (0.12, -1.0),
    (0.2, 0.0),
    (0.23, 0.0),
    (0.5, 0.0),
    (1.6, -3.0),
    (2.3, -5.0),
    (5.0, -7.0),
];

/// Adds the paths of a terminal. At 70 Hz no path changes within a preamble.
fn add_etu(air: &mut Air, sender: &mut PrachTransmitter, seed: u64, delay_us: f64, offset_hz: f64, snr_db: f64) {
    let total: f64 = PATHS.iter().map(|(_, db)| 10f64.powf(db / 10.0)).sum();
    let mut fading = [Complex32::default(); PATHS.len()];
    takt_dsp::noise(seed, 1.0, Tick(7_000_000), 1, &mut fading);
    for ((late_us, db), fading) in PATHS.into_iter().zip(fading) {
        let gain = (10f64.powf((db + snr_db) / 10.0) / total).sqrt();
        let gain = Complex64::new(fading.re.into(), fading.im.into()) * gain;
        air.add_path(sender, PREAMBLE, delay_us + late_us, offset_hz, gain);
    }
}

/// The strongest of the long-run paths is so late. The standard allows 1 us more with fading.
const ETU_LATE_US: f64 = 0.31;

#[test]
fn paths_of_a_terminal_are_one_preamble() {
    let (mut transmitter, mut detector) = ends(config(300, 1));
    let mut air = Air::new(narrow());
    for snr_db in [-8.0, -4.0, 0.0, 4.0, 10.0] {
        let mut tally = Tally::default();
        for number in 0..tries(60, 1000) {
            let delay_us = 3.0 + share(number);
            let offset_hz = if number % 2 == 0 { 270.0 } else { -270.0 };
            air.clear();
            add_etu(&mut air, &mut transmitter, number, delay_us, offset_hz, snr_db);
            air.noise(number, 0.0);
            tally.add(detector.detect(&air.samples), delay_us + ETU_LATE_US, TOLERANCE_US + 1.04);
        }
        tally.print(&format!("ETU, one antenna, 270 Hz {snr_db:5} dB"));
        assert!(tally.others as f64 <= 0.02 * tally.tries as f64);
        assert!(snr_db < 4.0 || (tally.right + tally.mistimed) as f64 > 0.9 * tally.tries as f64);
    }
}

/// The ratios of TS 36.104 table 8.4.2.1-1 for two antennas. Each has a detector of its own here, and one that is right is enough.
#[test]
fn either_of_two_antennas_finds_a_preamble_as_the_standard_asks() {
    let (mut transmitter, mut detector) = ends(config(ROOT, 1));
    let mut air = Air::new(narrow());
    for (is_fading, offset_hz, snr_db) in [(false, 0.0, -14.2), (false, 270.0, -14.2), (true, 270.0, -8.0)] {
        let tries = tries(60, 2000);
        let mut found = 0;
        for number in 0..tries {
            let delay_us = 3.0 + share(number);
            let offset_hz = if number % 2 == 0 { offset_hz } else { -offset_hz };
            let antennas = [0, 1_000_000].map(|antenna| {
                air.clear();
                let mut tally = Tally::default();
                if is_fading {
                    add_etu(&mut air, &mut transmitter, number + antenna, delay_us, offset_hz, snr_db);
                } else {
                    air.add(&mut transmitter, PREAMBLE, delay_us, offset_hz, snr_db);
                }
                air.noise(number + antenna, 0.0);
                let (late_us, more_us) = if is_fading { (ETU_LATE_US, 1.04) } else { (0.0, 0.0) };
                tally.add(detector.detect(&air.samples), delay_us + late_us, TOLERANCE_US + more_us);
                tally.right > 0
            });
            found += u64::from(antennas.contains(&true));
        }
        println!("either antenna, fading {is_fading}, {offset_hz:3} Hz {snr_db:5} dB: {found} of {tries}");
        // In few tries one may fail.
        assert!(found as f64 >= if tries > 1000 { 0.99 } else { 0.95 } * tries as f64);
    }
}
