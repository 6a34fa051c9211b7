//! The way of samples between antenna and DSP. All of it happens around the oscillator; a DSP shifts by its word behind
//! it. So samples go there and back.
//!
//! Effects around the oscillator only count if it is inside the band of the DSP. Outside of it, the constant and the
//! images of the band are filtered away, and the images of what a source never gave are not known.

use takt_base::{Complex32, Tick, Ticks};
use takt_dsp::{Rotation, mix};

use super::gateware::{Core, IqCorrection, clip24, to_float, to_word};
use super::imbalance::Imbalance;
use super::offset::TrackedOffset;

/// From the antenna to the DDC.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RxChain {
    pub(crate) core: Core,
    /// `None`: it is perfect.
    pub(crate) board: Option<Imbalance>,
    pub(crate) swapped: bool,
    /// Offsets of I and Q.
    pub(crate) offset: [TrackedOffset; 2],
    pub(crate) correction: IqCorrection,
}

/// From the DUC to the antenna.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TxChain {
    pub(crate) core: Core,
    pub(crate) correction: IqCorrection,
    /// Offsets of I and Q, 24 bits.
    pub(crate) offset: [i32; 2],
    /// Inputs of the board's I and Q: 0 for I, 1 for Q, else nothing.
    pub(crate) crossed: (u32, u32),
    /// `None`: it is perfect.
    pub(crate) board: Option<Imbalance>,
}

impl Default for TxChain {
    fn default() -> TxChain {
        TxChain {
            core: Core::default(),
            correction: IqCorrection::default(),
            offset: [0; 2],
            crossed: (0, 1),
            board: None,
        }
    }
}

impl RxChain {
    /// A board gives this constant to the offset of I and of Q.
    pub(crate) fn constants(board: Option<Imbalance>, swapped: bool) -> [f64; 2] {
        let constant = board.map_or(Complex32::default(), |board| board.constant());
        let [i, q] = [constant.re, constant.im].map(f64::from);
        if swapped { [q, i] } else { [i, q] }
    }

    /// Distorts samples that a DSP with this frequency word takes from the converter.
    pub(crate) fn receive(&self, first: Tick, step: u32, word: u32, samples: &mut [Complex32]) {
        let near = is_in_band(word, step);
        let board = self.board.filter(|_| near);
        let corrects = near && (self.correction.is_on() || self.offset.iter().any(TrackedOffset::is_on));
        if board.is_none() && !corrects && !self.swapped {
            return;
        }
        let shift = Rotation::from_word(word);
        mix(-shift, 1.0, first, step, samples);
        if let Some(board) = board {
            samples.iter_mut().for_each(|x| *x = converted(board.distorted(*x)));
        }
        if self.swapped {
            swap(samples);
        }
        if corrects {
            self.correct(first, step, samples);
        }
        mix(shift, 1.0, first, step, samples);
    }

    fn correct(&self, first: Tick, step: u32, samples: &mut [Complex32]) {
        let [i, q] = self.offset;
        let bits = self.core.rx_bits();
        let mut tick = first;
        for x in samples {
            let words = [(x.re, i), (x.im, q)].map(|(x, offset)| to_word(f64::from(x) - offset.at(tick), bits));
            let [re, im] = self.correction.corrected(self.core, words).map(to_float);
            *x = Complex32::new(re, im);
            tick += Ticks(step.into());
        }
    }
}

impl TxChain {
    /// Distorts samples that a DSP with this frequency word gives to the converter.
    pub(crate) fn transmit(&self, first: Tick, step: u32, word: u32, samples: &mut [Complex32]) {
        let near = is_in_band(word, step);
        let board = self.board.filter(|_| near);
        let corrects = near && (self.correction.is_on() || self.offset != [0; 2]);
        if board.is_none() && !corrects && self.crossed == (0, 1) {
            return;
        }
        let shift = Rotation::from_word(word);
        mix(shift, 1.0, first, step, samples);
        if corrects {
            samples.iter_mut().for_each(|x| *x = self.corrected(*x));
        }
        match self.crossed {
            (0, 1) => {}
            (1, 0) => swap(samples),
            (i, q) => samples.iter_mut().for_each(|x| *x = picked(*x, i, q)),
        }
        if let Some(board) = board {
            samples.iter_mut().for_each(|x| *x = board.distorted(*x));
        }
        mix(-shift, 1.0, first, step, samples);
    }

    fn corrected(&self, x: Complex32) -> Complex32 {
        let words = [x.re, x.im].map(|x| to_word(x.into(), self.core.tx_bits()));
        let [i, q] = self.correction.corrected(self.core, words);
        let added = |x: i32, offset: i32| to_float(clip24(i64::from(x) + i64::from(offset)));
        Complex32::new(added(i, self.offset[0]), added(q, self.offset[1]))
    }
}

/// Whether the oscillator is in the band of a DSP: nearer to its middle than 48 % of the rate. At the edge a DSP's filters have fallen
/// off. A host that means the edge misses it by half a step of its synthesiser, at least by that of the frequency word: which side it
/// falls on must not matter.
fn is_in_band(word: u32, step: u32) -> bool {
    u128::from(word.cast_signed().unsigned_abs()) * u128::from(step) * 25 < 12 << 32
}

/// A converter ends at full scale.
fn converted(x: Complex32) -> Complex32 {
    Complex32::new(x.re.clamp(-1.0, 1.0), x.im.clamp(-1.0, 1.0))
}

fn picked(x: Complex32, i: u32, q: u32) -> Complex32 {
    let of = |source| match source {
        0 => x.re,
        1 => x.im,
        _ => 0.0,
    };
    Complex32::new(of(i), of(q))
}

fn swap(samples: &mut [Complex32]) {
    for x in samples {
        *x = Complex32::new(x.im, x.re);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::front_end::ImbalanceSpec;

    const FIXED: u32 = 3 << 30;
    const CORES: [Core; 2] = [Core::N200, Core::X310];

    fn imbalance() -> impl Strategy<Value = ImbalanceSpec> {
        (-0.1..0.1f64, -0.1..0.1f64, -2.0..2.0f64, -10.0..10.0f64).prop_map(|(i, q, gain, phase)| ImbalanceSpec {
            dc_offset_i: i,
            dc_offset_q: q,
            iq_gain_db: gain,
            iq_phase_deg: phase,
        })
    }

    /// Shares of Q in Q and of I in Q, by the formula of `docs/reference/air.md`.
    fn shares(of: &ImbalanceSpec) -> [f64; 2] {
        let (gain, phase) = (10f64.powf(of.iq_gain_db / 20.0), of.iq_phase_deg.to_radians());
        [gain * phase.cos(), gain * phase.sin()]
    }

    /// The registers that undo shares of Q in Q and of I in Q, whichever comes first.
    fn undoing(core: Core, [a, b]: [f64; 2]) -> IqCorrection {
        let one = if core == Core::N200 { 262_144.0 } else { 131_072.0 };
        IqCorrection { magnitude: ((a - 1.0) * one).round() as i32, phase: (-b * one).round() as i32 }
    }

    /// 37 turns in 1000 samples at one step, amplitude 0.5.
    fn tone() -> Vec<Complex32> {
        let turn = |n: usize| Complex32::from_polar(0.5, std::f32::consts::TAU * (37 * n % 1000) as f32 / 1000.0);
        (0..1000).map(turn).collect()
    }

    /// Levels of tone, image and constant.
    fn levels(samples: &[Complex32]) -> [f64; 3] {
        [37, -37, 0].map(|turns: i64| {
            let sum = samples.iter().enumerate().fold((0.0f64, 0.0f64), |(re, im), (n, x)| {
                let (sin, cos) = (-std::f64::consts::TAU * (turns * n as i64) as f64 / 1000.0).sin_cos();
                let [x, y] = [x.re, x.im].map(f64::from);
                (re + x * cos - y * sin, im + x * sin + y * cos)
            });
            sum.0.hypot(sum.1) / samples.len() as f64
        })
    }

    fn db(level: f64, to: f64) -> f64 {
        20.0 * (level / to).log10()
    }

    proptest! {
        #[test]
        fn perfect_boards_without_corrections_pass_every_bit(
            bits in prop::collection::vec(any::<[u32; 2]>(), 1..50), word in any::<u32>(), step in 1u32..600,
        ) {
            let samples: Vec<Complex32> =
                bits.iter().map(|x| Complex32::new(f32::from_bits(x[0]), f32::from_bits(x[1]))).collect();
            for core in CORES {
                let mut chained = samples.clone();
                let mut offset = TrackedOffset::default();
                offset.write(Tick(3), 0); // as UHD switches tracking on
                RxChain { core, offset: [offset; 2], ..RxChain::default() }.receive(Tick(9), step, word, &mut chained);
                TxChain { core, ..TxChain::default() }.transmit(Tick(9), step, word, &mut chained);
                let bits = |samples: &[Complex32]| -> Vec<[u32; 2]> {
                    samples.iter().map(|x| [x.re.to_bits(), x.im.to_bits()]).collect()
                };
                prop_assert_eq!(bits(&chained), bits(&samples));
            }
        }

        #[test]
        fn receive_registers_change_samples_by_the_stated_arithmetic(
            i in any::<i16>(), q in any::<i16>(), m in 0u32..1 << 18, p in 0u32..1 << 18, o in 0u32..1 << 30,
        ) {
            for (core, bits, shift) in [(Core::N200, 18, 12), (Core::X310, 24, 11)] {
                let mut offset = TrackedOffset::default();
                offset.write(Tick(0), FIXED | o);
                let correction = IqCorrection { magnitude: IqCorrection::word(m), phase: IqCorrection::word(p) };
                let chain = RxChain { core, offset: [offset, TrackedOffset::default()], correction, ..RxChain::default() };
                let mut samples = [Complex32::new(f32::from(i) / 32768.0, f32::from(q) / 32768.0)];
                chain.receive(Tick(0), 1, 0, &mut samples);
                // In integers of 2^-45, rounded to the core's word with ties away from 0.
                let signed = |x: u32, n: u32| i128::from((x << (32 - n)).cast_signed() >> (32 - n));
                let rounded = |x: i128| {
                    let unit = 1i128 << (46 - bits);
                    let up = if x < 0 { -((-x + unit / 2) / unit) } else { (x + unit / 2) / unit };
                    up.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1) << (24 - bits)
                };
                let exact = |x: i16| i128::from(x) << 30;
                let [a, b] = [rounded(exact(i) - (signed(o, 30) << 16)), rounded(exact(q))];
                let added = |x: i128, f: u32| (x + (((a >> 6) * signed(f, 18)) >> shift)).clamp(-(1 << 23), (1 << 23) - 1);
                let corrects = m | p != 0 || o != 0;
                let want = if corrects { [added(a, m), added(b, p)] } else { [exact(i), exact(q)].map(|x| x >> 22) };
                let got = [samples[0].re, samples[0].im].map(|x| (f64::from(x) * 8_388_608.0) as i128);
                prop_assert_eq!(got, want, "{:?}", core);
            }
        }

        #[test]
        fn corrections_of_a_known_imbalance_leave_no_image_and_no_carrier(of in imbalance()) {
            let (board, [a, b]) = (Imbalance::of(of), shares(&of));
            for core in CORES {
                let correction = undoing(core, [a, b]);
                let register = |x: f64| FIXED | ((x * 536_870_912.0).round() as i32).cast_unsigned() & 0x3FFF_FFFF;
                let offset = [of.dc_offset_i, of.dc_offset_q].map(|constant| {
                    let mut offset = TrackedOffset::default();
                    offset.write(Tick(0), register(constant));
                    offset
                });
                let mut received = tone();
                RxChain { core, board, offset, correction, ..RxChain::default() }.receive(Tick(0), 4, 0, &mut received);
                let carrier = [-of.dc_offset_i, (b * of.dc_offset_i - of.dc_offset_q) / a];
                let offset = carrier.map(|x| (x * 8_388_608.0).round() as i32);
                let mut sent = tone();
                TxChain { core, board, offset, correction, ..TxChain::default() }.transmit(Tick(0), 4, 0, &mut sent);
                for samples in [received, sent] {
                    let [tone, image, constant] = levels(&samples);
                    prop_assert!(db(image, tone) < -85.0, "image {} dB, {core:?}", db(image, tone));
                    prop_assert!(db(constant, tone) < -85.0, "carrier {} dB, {core:?}", db(constant, tone));
                }
            }
        }
    }

    #[test]
    fn without_correction_the_imbalance_is_there_and_a_swap_comes_before_the_correction() {
        let of = ImbalanceSpec { dc_offset_i: 0.02, iq_phase_deg: 2.0, ..ImbalanceSpec::default() };
        let mut samples = tone();
        RxChain { board: Imbalance::of(of), ..RxChain::default() }.receive(Tick(0), 4, 0, &mut samples);
        let [tone, image, constant] = levels(&samples);
        assert!((db(image, tone) + 35.2).abs() < 0.2 && (constant - 0.02).abs() < 1e-4, "{}", db(image, tone));
        let mut samples = [Complex32::new(0.5, 0.25)];
        let correction = IqCorrection { magnitude: 1 << 16, phase: 0 };
        RxChain { swapped: true, correction, ..RxChain::default() }.receive(Tick(0), 4, 0, &mut samples);
        assert_eq!(samples, [Complex32::new(0.3125, 0.5)]);
    }

    /// takt puts an SBX's oscillator there up to 20 MS/s, 3 kHz too far or not far enough.
    #[test]
    fn an_oscillator_at_the_edge_of_the_band_does_nothing_whichever_way_it_is_rounded() {
        for step in [4, 50, 80, 100, 400, 512] {
            let edge_hz = 50e6 / f64::from(step);
            for hz in [edge_hz - 3e3, edge_hz, edge_hz + 3e3, 3e3 - edge_hz, -edge_hz] {
                let word = takt_wire::n200::frequency::word_of(hz).cast_unsigned();
                assert!(!is_in_band(word, step), "{hz} Hz, every {step} ticks");
            }
            assert!(is_in_band(takt_wire::n200::frequency::word_of(0.9 * edge_hz).cast_unsigned(), step));
        }
    }

    #[test]
    fn a_tracked_offset_fades_within_a_packet() {
        let mut offset = [TrackedOffset::default(); 2];
        offset[0].follow(Tick(0), 0.02);
        let of = ImbalanceSpec { dc_offset_i: 0.02, ..ImbalanceSpec::default() };
        let mut samples = [Complex32::default(); 3];
        let chain = RxChain { board: Imbalance::of(of), offset, ..RxChain::default() };
        chain.receive(Tick(0), 1 << 20, 0, &mut samples);
        for (n, x) in samples.iter().enumerate() {
            assert!((x.re - 0.02 * (-(n as f32)).exp()).abs() < 1e-5, "{n}: {x}");
        }
    }
}
