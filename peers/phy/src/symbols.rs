//! Modulation and soft demodulation.

use std::hint::black_box;

use takt_base::Complex32;
use takt_dsp::lte::{Modulation, demodulate, modulate};

use crate::measure::{Case, some_bits};

/// Symbols: the subcarriers of 20 MHz.
const COUNT: usize = 1200;

pub fn cases() -> Vec<Case> {
    [Modulation::Qpsk, Modulation::Qam16, Modulation::Qam64].into_iter().map(soft).collect()
}

fn soft(modulation: Modulation) -> Case {
    let bits = some_bits(COUNT * modulation.bits());
    let (mut symbols, mut llrs) = (vec![Complex32::default(); COUNT], vec![0; bits.len()]);
    modulate(modulation, &bits, &mut symbols);
    demodulate(modulation, 40.0, &symbols, None, &mut llrs);
    assert!(llrs.iter().zip(&bits).all(|(llr, bit)| (*llr < 0) == (*bit == 1)), "takt demodulates it");
    let same = symbols.clone();
    let case = Case::new(format!("{modulation:?}, soft values of {COUNT} symbols")).with("takt, max-log", move || {
        demodulate(modulation, 40.0, black_box(&symbols), None, black_box(&mut llrs));
    });
    #[cfg(feature = "liquid")]
    let case = {
        let modem = crate::native::Modem::new(modulation.bits());
        modem.check();
        let mut soft = vec![0; bits.len()];
        case.with("liquid-dsp, approximate", move || modem.demodulate(black_box(&same), black_box(&mut soft)))
    };
    #[cfg(not(feature = "liquid"))]
    drop(same);
    case
}
