//! Modulation, TS 36.211 section 7.1.

use num_complex::Complex32;

/// A constellation. All have a mean power of 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Modulation {
    /// 1 bit a symbol (section 7.1.1).
    Bpsk,
    /// 2 bits (section 7.1.2).
    Qpsk,
    /// 4 bits (section 7.1.3).
    Qam16,
    /// 6 bits (section 7.1.4).
    Qam64,
}

impl Modulation {
    /// All of them.
    pub const ALL: [Modulation; 4] = [Modulation::Bpsk, Modulation::Qpsk, Modulation::Qam16, Modulation::Qam64];

    /// Q_m, bits a symbol.
    pub const fn bits(self) -> usize {
        match self {
            Modulation::Bpsk => 1,
            Modulation::Qpsk => 2,
            Modulation::Qam16 => 4,
            Modulation::Qam64 => 6,
        }
    }

    /// Number of which the values of an axis are odd multiples.
    pub const fn amplitude(self) -> f32 {
        match self {
            Modulation::Bpsk | Modulation::Qpsk => std::f32::consts::FRAC_1_SQRT_2,
            Modulation::Qam16 => 0.316_227_77, // 1 / sqrt(10)
            Modulation::Qam64 => 0.154_303_35, // 1 / sqrt(42)
        }
    }

    /// The symbols by their bits, b(0) lowest.
    fn symbols(self) -> &'static [Complex32; 64] {
        static TABLES: [[Complex32; 64]; 4] =
            [table(Modulation::Bpsk), table(Modulation::Qpsk), table(Modulation::Qam16), table(Modulation::Qam64)];
        &TABLES[self as usize]
    }
}

/// Maps Q_m bits to a symbol each (TS 36.211 section 7.1).
///
/// # Panics
/// If there are not Q_m bits for each symbol.
///
/// ```
/// use takt_base::Complex32;
/// use takt_dsp::lte::{Modulation, modulate};
/// let mut symbols = [Complex32::default(); 2];
/// modulate(Modulation::Qpsk, &[0, 0, 1, 0], &mut symbols);
/// assert_eq!(symbols[1], Complex32::new(-symbols[0].re, symbols[0].im));
/// ```
pub fn modulate(modulation: Modulation, bits: &[u8], symbols: &mut [Complex32]) {
    assert_eq!(bits.len(), modulation.bits() * symbols.len(), "bits of the symbols");
    let table = modulation.symbols();
    match modulation {
        Modulation::Bpsk => map::<1>(table, bits, symbols),
        Modulation::Qpsk => map::<2>(table, bits, symbols),
        Modulation::Qam16 => map::<4>(table, bits, symbols),
        Modulation::Qam64 => map::<6>(table, bits, symbols),
    }
}

fn map<const BITS: usize>(table: &[Complex32; 64], bits: &[u8], symbols: &mut [Complex32]) {
    for (symbol, bits) in symbols.iter_mut().zip(bits.as_chunks::<BITS>().0) {
        let number = bits.iter().rev().fold(0, |number, bit| number << 1 | usize::from(bit & 1));
        *symbol = table[number % 64];
    }
}

const fn table(modulation: Modulation) -> [Complex32; 64] {
    let (mut table, mut bits) = ([Complex32::new(0.0, 0.0); 64], 0);
    while bits < 64 {
        let first = axis(modulation, bits);
        // The second axis has the bits between; BPSK has none and lies on the diagonal.
        let second = if matches!(modulation, Modulation::Bpsk) { first } else { axis(modulation, bits >> 1) };
        table[bits] = Complex32::new(first, second);
        bits += 1;
    }
    table
}

/// The value of an axis, whose bits are 0, 2 and 4 of `bits`.
const fn axis(modulation: Modulation, bits: usize) -> f32 {
    let odd = match modulation {
        Modulation::Bpsk | Modulation::Qpsk => sign(bits, 0),
        Modulation::Qam16 => sign(bits, 0) * (2.0 - sign(bits, 2)),
        Modulation::Qam64 => sign(bits, 0) * (4.0 - sign(bits, 2) * (2.0 - sign(bits, 4))),
    };
    odd * modulation.amplitude()
}

/// 1 for a bit 0, -1 for 1.
const fn sign(bits: usize, bit: usize) -> f32 {
    1.0 - 2.0 * ((bits >> bit) & 1) as f32
}
