//! How many symbols the control region has: TS 36.212 section 5.3.4, TS 36.211 section 6.7.

use num_complex::Complex32;
use takt_dsp::lte::{Modulation, modulate, scramble};

use crate::{CellId, Tti};

/// Symbols of the channel.
pub(super) const LEN: usize = 16;

/// c_init of the control format indicator and of the acknowledgements (TS 36.211 sections 6.7.1 and 6.9.1).
pub(super) fn c_init(id: CellId, tti: Tti) -> u32 {
    let id = u32::from(id.get());
    (((tti.subframe() as u32 + 1) * (2 * id + 1)) << 9) + id
}

/// The symbols for an indicator of 1 to 3.
pub(super) fn symbols(id: CellId, tti: Tti, cfi: u8) -> [Complex32; LEN] {
    // Code word n is 011 011 .. with its zero in place n - 1 of each three.
    let mut bits: [u8; 2 * LEN] = std::array::from_fn(|i| u8::from(i % 3 != usize::from(cfi) - 1));
    scramble(c_init(id, tti), &mut bits);
    let mut symbols = [Complex32::default(); LEN];
    modulate(Modulation::Qpsk, &bits, &mut symbols);
    symbols
}

/// The indicator whose symbols are likest to what was received, y h*.
pub(super) fn detect(id: CellId, tti: Tti, received: &[Complex32; LEN]) -> u8 {
    let likeness = |cfi: u8| {
        let sent = symbols(id, tti, cfi);
        received.iter().zip(&sent).map(|(received, sent)| (received * sent.conj()).re).sum::<f32>()
    };
    (1..=3).max_by(|&one, &other| likeness(one).total_cmp(&likeness(other))).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_indicator_is_detected() {
        for id in [0, 1, 77, 503] {
            let id = CellId::new(id).unwrap();
            for (subframe, cfi) in (0..10).flat_map(|subframe| (1..=3).map(move |cfi| (subframe, cfi))) {
                let tti = Tti::of(9, subframe);
                assert_eq!(detect(id, tti, &symbols(id, tti, cfi)), cfi);
            }
            detect(id, Tti::default(), &[Complex32::new(f32::NAN, f32::INFINITY); LEN]);
        }
    }
}
