//! Symbols and chips: QPSK, the 16 codes of 16 chips, the scrambling code (TS 25.223 sections 5.2.1, 6.2 and 6.3).

use num_complex::Complex32;

/// Chips of a symbol, and codes that are orthogonal over them.
pub(super) const SPREADING: usize = 16;

/// The symbols of all codes at one place in a slot, by code.
pub(super) type Symbols = [Complex32; SPREADING];

/// The symbol of two bits: 0 0 is +j, 0 1 is +1, 1 0 is -1, 1 1 is -j.
pub(super) fn qpsk(first: u8, second: u8) -> Complex32 {
    match (first & 1, second & 1) {
        (0, 0) => Complex32::new(0.0, 1.0),
        (0, _) => Complex32::new(1.0, 0.0),
        (_, 0) => Complex32::new(-1.0, 0.0),
        _ => Complex32::new(0.0, -1.0),
    }
}

/// How far a symbol speaks for 0 in each of its bits. The points lie on the axes, their neighbours differ in one bit: turned by an
/// eighth these are the two components, and max-log is exact.
pub(super) fn soft(symbol: Complex32) -> [f32; 2] {
    [symbol.im + symbol.re, symbol.im - symbol.re]
}

/// Chips of `symbols`: each spread with its code, all added, and scrambled.
pub(super) fn spread(symbols: &Symbols, scrambling: &Symbols) -> Symbols {
    let mut chips: Symbols = std::array::from_fn(|h| symbols[code_of(h)]);
    hadamard(&mut chips);
    std::array::from_fn(|i| chips[i] * scrambling[i])
}

/// The symbols of chips: [`spread`] taken back, 16 times as large.
pub(super) fn despread(mut chips: Symbols, scrambling: &Symbols) -> Symbols {
    for (chip, code) in chips.iter_mut().zip(scrambling) {
        *chip *= code.conj();
    }
    hadamard(&mut chips);
    std::array::from_fn(|code| chips[code_of(code)])
}

/// The code that row `h` of the Hadamard matrix is: the tree of TS 25.223 section 6.2 counts its branches from the other end.
const fn code_of(h: usize) -> usize {
    (h as u8).reverse_bits() as usize >> 4
}

/// The Walsh-Hadamard transform in natural order.
#[inline]
fn hadamard(x: &mut Symbols) {
    for half in [1, 2, 4, 8] {
        for pair in x.chunks_exact_mut(2 * half) {
            let (a, b) = pair.split_at_mut(half);
            for (a, b) in a.iter_mut().zip(b) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code `k` of the tree, by its clause: two copies of the parent, the second negated for the lower branch.
    fn by_the_clause(length: usize, k: usize) -> Vec<f32> {
        if length == 1 {
            return vec![1.0];
        }
        let parent = by_the_clause(length / 2, k / 2);
        let sign = if k.is_multiple_of(2) { 1.0 } else { -1.0 };
        parent.iter().copied().chain(parent.iter().map(|chip| sign * chip)).collect()
    }

    #[test]
    fn a_code_alone_is_the_one_of_the_tree() {
        let ones = [Complex32::new(1.0, 0.0); SPREADING];
        for code in 0..SPREADING {
            let mut symbols = Symbols::default();
            symbols[code] = Complex32::new(1.0, 0.0);
            let chips = spread(&symbols, &ones);
            assert_eq!(chips.map(|chip| chip.re).to_vec(), by_the_clause(SPREADING, code), "code {code}");
        }
    }

    #[test]
    fn all_codes_together_come_back_each_as_it_was_sent() {
        let scrambling = super::super::Cell::default().scrambling();
        let symbols: Symbols = std::array::from_fn(|k| qpsk((k / 3) as u8, (k / 5) as u8));
        let back = despread(spread(&symbols, &scrambling), &scrambling);
        for (sent, got) in symbols.iter().zip(back) {
            assert!((got / 16.0 - sent).norm() < 1e-5);
        }
    }

    #[test]
    fn soft_values_are_the_bits_of_each_point() {
        for (first, second) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let signs = soft(qpsk(first, second)).map(|value| u8::from(value < 0.0));
            assert_eq!(signs, [first, second]);
        }
    }
}
