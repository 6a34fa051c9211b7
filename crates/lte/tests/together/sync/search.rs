//! The search finds the cells that are there, how late, how far off, and no others. `TAKT_LONG_TESTS=1` makes a thousand tries of
//! each thirty; with `--nocapture` the figures show.

#![allow(clippy::print_stderr, reason = "with --nocapture it is a measurement")]

use num_complex::Complex32;
use takt_lte::{Bandwidth, CellId, CellSearch, FoundCell, Numerology, Sampling};

use super::air::{Chance, Load, Received, add_noise};

/// Tries of each kind.
fn tries() -> u64 {
    if std::env::var_os("TAKT_LONG_TESTS").is_some() { 1000 } else { 30 }
}

fn numerology(bandwidth: Bandwidth) -> Numerology {
    Numerology::new(bandwidth, Sampling::Standard).unwrap()
}

/// A cell anywhere, with an offset of up to 5 kHz and 5 ppm either way, both ends more often than not.
fn any_cell(numerology: Numerology, chance: &mut Chance) -> Received {
    let mut extreme = |most: f64| chance.between(-1.5 * most, 1.5 * most).clamp(-most, most);
    let (frequency_hz, ppm) = (extreme(5e3), extreme(5.0));
    Received {
        id: CellId::new((chance.word() % 504) as u16).unwrap(),
        load: Load::Full,
        amplitude: 1.0,
        frame_begin: chance.between(0.0, numerology.frame_len() as f64),
        frequency_hz,
        ppm,
    }
}

/// How far the first place found is from that of a cell, samples, and how far the frequency.
fn errors(numerology: Numerology, cell: &Received, found: &FoundCell) -> (f64, f64) {
    let frame_len = numerology.frame_len() as f64;
    let late = (found.frame_begin as f64 - cell.frame_begin + 1.5 * frame_len) % frame_len - frame_len / 2.0;
    (late, f64::from(found.frequency_offset_hz) - cell.frequency_hz)
}

/// 2 % of a subcarrier: three and a half standard deviations at -3 dB.
const MOST_HZ: f64 = 300.0;
/// Without traffic there is hardly a prefix to go by, and below -6 dB all is noisier.
const MOST_HZ_OF_LITTLE: f64 = 500.0;

/// The outcome of tries.
#[derive(Debug, Default)]
struct Tally {
    /// How far off a right frequency may be.
    most_hz: f64,
    tries: u64,
    right: u64,
    /// Cells that were found and not there.
    ghosts: u64,
    late: Vec<f64>,
    hz: Vec<f64>,
    snr_db: Vec<f64>,
}

impl Tally {
    fn within(most_hz: f64) -> Tally {
        Tally { most_hz, ..Tally::default() }
    }

    /// Time within 1.5 samples at 1.92 MS/s, which is 0.8 us or a sixth of a prefix, and frequency within `most_hz`.
    fn add(&mut self, numerology: Numerology, cells: &[Received], found: &[FoundCell]) {
        self.tries += 1;
        let mut right = true;
        for cell in cells {
            let Some(one) = found.iter().find(|one| one.id == cell.id) else {
                right = false;
                continue;
            };
            let (late, hz) = errors(numerology, cell, one);
            right &= late.abs() <= 1.5 * numerology.fft_len as f64 / 128.0 && hz.abs() <= self.most_hz;
            self.late.push(late);
            self.hz.push(hz);
            self.snr_db.push(f64::from(one.snr_db));
        }
        right &= found.first().is_none_or(|strongest| strongest.id == cells[0].id);
        self.right += u64::from(right);
        self.ghosts += found.iter().filter(|one| cells.iter().all(|cell| cell.id != one.id)).count() as u64;
    }

    /// Asserts shares of the tries. In the short suite one try of thirty may fail, or one ghost may appear.
    fn assert(&self, name: &str) {
        let summary = self.summary(name);
        let few = (self.tries / 100).max(1);
        assert!(self.tries - self.right <= few && self.ghosts <= few, "{summary}");
    }

    /// Prints and returns it.
    fn summary(&self, name: &str) -> String {
        let spread = |errors: &[f64]| {
            let square = errors.iter().map(|error| error * error).sum::<f64>() / errors.len().max(1) as f64;
            let most = errors.iter().fold(0.0f64, |most, error| most.max(error.abs()));
            format!("root mean square {:.2}, at most {most:.2}", square.sqrt())
        };
        let snr_db = self.snr_db.iter().sum::<f64>() / self.snr_db.len().max(1) as f64;
        let summary = format!(
            "{name}: {} of {} right, {} ghosts; samples late: {}; Hz: {}; SNR found on average: {snr_db:.1} dB",
            self.right,
            self.tries,
            self.ghosts,
            spread(&self.late),
            spread(&self.hz)
        );
        eprintln!("{summary}");
        summary
    }
}

/// Tries one cell at an SNR.
fn try_one_cell(bandwidth: Bandwidth, load: Load, snr_db: f64, tries: u64) -> Tally {
    let numerology = numerology(bandwidth);
    let mut search = CellSearch::new(numerology);
    let mut tally = Tally::within(if load == Load::Idle { MOST_HZ_OF_LITTLE } else { MOST_HZ });
    for seed in 0..tries {
        let mut chance = Chance(seed);
        let cell = Received { load, ..any_cell(numerology, &mut chance) };
        let mut samples = vec![Complex32::default(); search.samples_wanted()];
        cell.add_to(numerology, &mut chance, &mut samples);
        add_noise(numerology, snr_db, seed, &mut samples);
        tally.add(numerology, &[cell], &search.search(&samples));
    }
    tally
}

#[test]
fn a_cell_of_6_blocks_is_found_at_minus_3_db() {
    try_one_cell(Bandwidth::Prb6, Load::Full, -3.0, tries()).assert("6 PRB, -3 dB");
}

#[test]
fn a_cell_too_weak_is_missed_and_taken_for_no_other() {
    for snr_db in [-6.0, -8.0, -10.0, -12.0] {
        let tally = try_one_cell(Bandwidth::Prb6, Load::Full, snr_db, tries() / 3);
        let summary = tally.summary(&format!("6 PRB, {snr_db} dB"));
        assert_eq!(tally.ghosts, 0, "{summary}");
    }
}

#[test]
fn a_cell_of_25_blocks_is_found_at_minus_3_db() {
    try_one_cell(Bandwidth::Prb25, Load::Full, -3.0, tries()).assert("25 PRB, -3 dB");
}

#[test]
fn a_cell_without_traffic_is_found_and_no_other() {
    try_one_cell(Bandwidth::Prb6, Load::Idle, -3.0, tries()).assert("idle, -3 dB");
    try_one_cell(Bandwidth::Prb6, Load::Idle, 40.0, tries()).assert("idle, 40 dB");
}

#[test]
fn a_loud_cell_is_found_once() {
    try_one_cell(Bandwidth::Prb6, Load::Full, 40.0, tries()).assert("full, 40 dB");
}

/// The second cell is 6 dB weaker, and its frames begin within a prefix of the first's or anywhere: its signals are then among the
/// first's traffic, at -6.4 dB.
fn try_two_cells(name: &str, bandwidth: Bandwidth, snr_db: f64, together: bool) {
    let numerology = numerology(bandwidth);
    let mut search = CellSearch::new(numerology);
    let mut tally = Tally::within(if together { MOST_HZ } else { MOST_HZ_OF_LITTLE });
    for seed in 0..tries() {
        let mut chance = Chance(seed ^ 0xCE11);
        let strong = any_cell(numerology, &mut chance);
        // A network's cells follow one clock within 0.05 ppm. Cells of one family at one place and time are one primary signal.
        let id = (strong.id.get() + 1 + (chance.word() % 168) as u16 * 3) % 504;
        let late = chance.between(0.0, numerology.prefix as f64 / 3.0);
        let anywhere = chance.between(0.0, numerology.frame_len() as f64);
        let weak = Received {
            id: CellId::new(id).unwrap(),
            amplitude: 0.5,
            frame_begin: if together { strong.frame_begin + late } else { anywhere },
            frequency_hz: strong.frequency_hz + chance.between(-100.0, 100.0),
            ..strong
        };
        let mut samples = vec![Complex32::default(); search.samples_wanted()];
        strong.add_to(numerology, &mut chance, &mut samples);
        weak.add_to(numerology, &mut chance, &mut samples);
        add_noise(numerology, snr_db, seed, &mut samples);
        tally.add(numerology, &[strong, weak], &search.search(&samples));
    }
    tally.assert(name);
}

#[test]
fn a_second_cell_6_db_below_is_found_too() {
    try_two_cells("two, 6 PRB, together, 10 dB", Bandwidth::Prb6, 10.0, true);
    try_two_cells("two, 6 PRB, apart, 10 dB", Bandwidth::Prb6, 10.0, false);
    try_two_cells("two, 25 PRB, together, 10 dB", Bandwidth::Prb25, 10.0, true);
}

#[test]
fn a_leaking_oscillator_hides_no_cell() {
    let numerology = numerology(Bandwidth::Prb6);
    let mut search = CellSearch::new(numerology);
    let mut tally = Tally::within(MOST_HZ);
    for seed in 0..tries() {
        let mut chance = Chance(seed ^ 0xDC);
        let cell = any_cell(numerology, &mut chance);
        // Ten times the carrier's power, in the middle of what is received.
        let mut samples = vec![Complex32::new(3.0, 1.0); search.samples_wanted()];
        cell.add_to(numerology, &mut chance, &mut samples);
        add_noise(numerology, 3.0, seed, &mut samples);
        tally.add(numerology, &[cell], &search.search(&samples));
    }
    tally.assert("6 PRB, 3 dB, oscillator 10 dB above");
}

#[test]
fn an_echo_is_no_second_cell() {
    let numerology = numerology(Bandwidth::Prb25);
    let mut search = CellSearch::new(numerology);
    for seed in 0..5 {
        let mut chance = Chance(seed ^ 0xEC40);
        let cell = any_cell(numerology, &mut chance);
        // A microsecond later at half of the power, and another that cancels a part of both.
        let echo = Received { amplitude: 0.7, frame_begin: cell.frame_begin + 7.7, ..cell };
        let other = Received { amplitude: -0.4, frame_begin: cell.frame_begin + 11.0, ..cell };
        let mut samples = vec![Complex32::default(); search.samples_wanted()];
        [cell, echo, other].iter().for_each(|path| path.add_to(numerology, &mut chance.clone(), &mut samples));
        add_noise(numerology, 6.0, seed, &mut samples);
        let found = search.search(&samples);
        let [one] = found[..] else { panic!("{found:?}") };
        let (late, hz) = errors(numerology, &cell, &one);
        assert!(
            one.id == cell.id && (-3.0..=12.0).contains(&late) && hz.abs() < 100.0,
            "{late} late, {hz} Hz, {one:?}"
        );
    }
}

#[test]
fn every_rate_is_searched() {
    for bandwidth in Bandwidth::ALL {
        for sampling in [Sampling::Standard, Sampling::ThreeQuarters] {
            let Ok(numerology) = Numerology::new(bandwidth, sampling) else { continue };
            let mut search = CellSearch::new(numerology);
            let mut chance = Chance(numerology.fft_len as u64);
            let cell = Received { amplitude: 0.02, frequency_hz: -7.4e3, ..any_cell(numerology, &mut chance) };
            let mut samples = vec![Complex32::default(); search.samples_wanted()];
            cell.add_to(numerology, &mut chance, &mut samples);
            let found = search.search(&samples);
            let [one] = found[..] else { panic!("{bandwidth} {sampling:?}: {found:?}") };
            let (late, hz) = errors(numerology, &cell, &one);
            assert_eq!(one.id, cell.id, "{bandwidth} {sampling:?}");
            assert!(late.abs() < 4.0 && hz.abs() < 60.0, "{bandwidth} {sampling:?}: {late} samples late, {hz} Hz");
            assert!((one.power / 4e-4 - 1.0).abs() < 0.1 && one.snr_db > 20.0, "{bandwidth} {sampling:?}: {one:?}");
        }
    }
}

#[test]
fn offsets_of_half_a_subcarrier_are_found() {
    let numerology = numerology(Bandwidth::Prb6);
    let mut search = CellSearch::new(numerology);
    let mut tally = Tally::within(MOST_HZ);
    for seed in 0..tries() {
        let mut chance = Chance(seed ^ 0x0FF5E7);
        let frequency_hz = chance.between(5e3, 7.5e3) * if seed % 2 == 0 { 1.0 } else { -1.0 };
        let cell = Received { frequency_hz, ..any_cell(numerology, &mut chance) };
        let mut samples = vec![Complex32::default(); search.samples_wanted()];
        cell.add_to(numerology, &mut chance, &mut samples);
        add_noise(numerology, -3.0, seed, &mut samples);
        tally.add(numerology, &[cell], &search.search(&samples));
    }
    tally.assert("6 PRB, 5 to 7.5 kHz, -3 dB");
}
