//! The turbo code's internal interleaver, TS 25.212 section 4.2.3.2.3.

use super::Error;

/// Block lengths of the turbo code, bits.
pub const TURBO_LENGTHS: std::ops::RangeInclusive<usize> = 40..=5114;

/// Fills `pi` for blocks of K = `pi.len()` bits: place k of the interleaved block holds bit `pi[k]` of the block
/// (TS 25.212 section 4.2.3.2.3, all 5075 lengths).
///
/// The bits are written row by row into R rows of C columns, every row is permuted by powers of a primitive root modulo the
/// prime p, the rows change places, and columns are read one after the other, without the places behind the last bit.
///
/// # Errors
/// [`Error::TurboLength`] if K is not 40 to 5114.
///
/// ```
/// let mut pi = [0; 40];
/// takt_dsp::umts::turbo_interleaver(&mut pi).unwrap();
/// assert_eq!(pi[0], 39);
/// ```
pub fn turbo_interleaver(pi: &mut [u16]) -> Result<(), Error> {
    let matrix = Matrix::new(pi.len())?;
    let powers = matrix.powers();
    let mut places = pi.iter_mut();
    for column in 0..matrix.columns {
        for &row in matrix.order {
            let bit = usize::from(row) * matrix.columns + matrix.within_row(usize::from(row), column, &powers);
            if bit < matrix.bits {
                let place = places.next().expect("as many bits as places");
                *place = bit as u16;
            }
        }
    }
    Ok(())
}

/// Steps 1 to 3 of the clause, and the exponents of steps 5 and 6.
struct Matrix {
    bits: usize,
    columns: usize,
    prime: usize,
    root: usize,
    /// T: which row stands at a place after the inter-row permutation.
    order: &'static [u8],
    /// r: the exponent of each row, before that permutation.
    exponents: [usize; 20],
}

/// Room for s(0) .. s(p - 2), the largest prime being 257.
type Powers = [u16; 256];

impl Matrix {
    fn new(bits: usize) -> Result<Matrix, Error> {
        if !TURBO_LENGTHS.contains(&bits) {
            return Err(Error::TurboLength { bits });
        }
        let order: &[u8] = match bits {
            40..=159 => &ROWS_5,
            160..=200 | 481..=530 => &ROWS_10,
            2281..=2480 | 3161..=3210 => &ROWS_20_A,
            _ => &ROWS_20_B,
        };
        let rows = order.len();
        let (prime, root) = if (481..=530).contains(&bits) {
            (53, 2)
        } else {
            let fits = |&&(p, _): &&(u16, u16)| bits <= rows * (usize::from(p) + 1);
            let &(p, v) = PRIMES.iter().find(fits).expect("the last prime fits the longest block");
            (usize::from(p), usize::from(v))
        };
        let columns = match bits {
            481..=530 => prime,
            _ if bits <= rows * (prime - 1) => prime - 1,
            _ if bits <= rows * prime => prime,
            _ => prime + 1,
        };
        let mut exponents = [0; 20];
        let mut exponent = 1;
        for (i, &row) in order.iter().enumerate() {
            if i > 0 {
                exponent = next_exponent(exponent, prime - 1);
            }
            exponents[usize::from(row)] = exponent;
        }
        Ok(Matrix { bits, columns, prime, root, order, exponents })
    }

    /// Step 4: s(j) = v s(j - 1) mod p, from s(0) = 1.
    fn powers(&self) -> Powers {
        let mut powers = [0; 256];
        let mut power = 1;
        for s in &mut powers[..self.prime - 1] {
            *s = power as u16;
            power = power * self.root % self.prime;
        }
        powers
    }

    /// Step 7, U: which column of a row has its bit at `place` after the row was permuted.
    fn within_row(&self, row: usize, place: usize, powers: &Powers) -> usize {
        let p = self.prime;
        let last_full =
            self.columns == p + 1 && row == self.order.len() - 1 && self.bits == self.order.len() * self.columns;
        let place = match place {
            0 if last_full => p,
            _ if last_full && place == p => 0,
            _ => place,
        };
        match place {
            _ if place == p => p,
            _ if place == p - 1 => 0,
            _ => usize::from(powers[place * self.exponents[row] % (p - 1)]) - usize::from(self.columns == p - 1),
        }
    }
}

/// Step 5: the least prime above 6 and above `last` that does not divide `order` (a prime: so coprime to it).
fn next_exponent(last: usize, order: usize) -> usize {
    let is_prime = |n: usize| (2..n).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
    (last.max(6) + 1..).find(|&q| is_prime(q) && !order.is_multiple_of(q)).expect("there are more primes")
}

/// Table 3 of the clause: the inter-row patterns.
const ROWS_5: [u8; 5] = [4, 3, 2, 1, 0];
const ROWS_10: [u8; 10] = [9, 8, 7, 6, 5, 4, 3, 2, 1, 0];
const ROWS_20_A: [u8; 20] = [19, 9, 14, 4, 0, 2, 5, 7, 12, 18, 16, 13, 17, 15, 3, 1, 6, 11, 8, 10];
const ROWS_20_B: [u8; 20] = [19, 9, 14, 4, 0, 2, 5, 7, 12, 18, 10, 8, 13, 17, 3, 1, 16, 6, 15, 11];

/// Table 2 of the clause: primes p with their primitive root v.
#[rustfmt::skip]
const PRIMES: [(u16, u16); 52] = [
    (7, 3), (11, 2), (13, 2), (17, 3), (19, 2), (23, 5), (29, 2), (31, 3), (37, 2), (41, 6), (43, 3), (47, 5), (53, 2),
    (59, 2), (61, 2), (67, 2), (71, 7), (73, 5), (79, 3), (83, 2), (89, 3), (97, 5), (101, 2), (103, 5), (107, 2), (109, 6),
    (113, 3), (127, 3), (131, 2), (137, 3), (139, 2), (149, 2), (151, 6), (157, 5), (163, 2), (167, 5), (173, 2), (179, 2),
    (181, 2), (191, 19), (193, 5), (197, 2), (199, 3), (211, 2), (223, 3), (227, 2), (229, 6), (233, 3), (239, 7), (241, 7),
    (251, 6), (257, 3),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_gives_a_permutation() {
        let mut pi = [0; 5114];
        for bits in TURBO_LENGTHS {
            turbo_interleaver(&mut pi[..bits]).unwrap();
            let mut taken = [false; 5114];
            for &bit in &pi[..bits] {
                assert!(!std::mem::replace(&mut taken[usize::from(bit)], true), "K = {bits}: bit {bit} twice");
            }
            assert!(taken[..bits].iter().all(|&s| s), "K = {bits}");
        }
    }

    #[test]
    fn every_root_is_primitive() {
        for (p, v) in PRIMES {
            let (mut power, mut order) = (u32::from(v), 1);
            while power != 1 {
                power = power * u32::from(v) % u32::from(p);
                order += 1;
            }
            assert_eq!(order, p - 1, "p = {p}, v = {v}");
        }
    }

    /// The clause once more, with matrices in full, pads and all, and with primes and their least primitive roots found instead
    /// of listed.
    fn by_the_clause(bits: usize) -> Vec<u16> {
        let is_prime = |n: usize| n > 1 && (2..n).all(|d| !n.is_multiple_of(d));
        let gcd = |mut a: usize, mut b: usize| {
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        // 1. Rows.
        let pattern: Vec<usize> = match bits {
            40..=159 => vec![4, 3, 2, 1, 0],
            160..=200 | 481..=530 => (0..10).rev().collect(),
            2281..=2480 | 3161..=3210 => vec![19, 9, 14, 4, 0, 2, 5, 7, 12, 18, 16, 13, 17, 15, 3, 1, 6, 11, 8, 10],
            _ => vec![19, 9, 14, 4, 0, 2, 5, 7, 12, 18, 10, 8, 13, 17, 3, 1, 16, 6, 15, 11],
        };
        let rows = pattern.len();
        // 2. Prime and columns.
        let special = (481..=530).contains(&bits);
        let p = if special { 53 } else { (7..).find(|&p| is_prime(p) && bits <= rows * (p + 1)).unwrap() };
        let columns = match bits {
            _ if special => p,
            _ if bits <= rows * (p - 1) => p - 1,
            _ if bits <= rows * p => p,
            _ => p + 1,
        };
        // 4. Powers of the least primitive root.
        let powers_of =
            |v: usize| (0..p - 1).scan(1, |s, _| Some(std::mem::replace(s, *s * v % p))).collect::<Vec<_>>();
        let is_root = |v: &usize| powers_of(*v).iter().collect::<std::collections::HashSet<_>>().len() == p - 1;
        let s = powers_of((2..).find(is_root).unwrap());
        // 5. and 6. The least primes above 6 that are coprime to p - 1.
        let mut q = vec![1];
        while q.len() < rows {
            let last = (*q.last().unwrap()).max(6);
            q.push((last + 1..).find(|&n| is_prime(n) && gcd(n, p - 1) == 1).unwrap());
        }
        let mut r = vec![0; rows];
        (0..rows).for_each(|i| r[pattern[i]] = q[i]);
        // 3. and 7. The bits' numbers row by row, each row permuted.
        let matrix: Vec<Vec<usize>> = (0..rows)
            .map(|i| {
                let mut u: Vec<usize> = (0..p - 1).map(|j| s[j * r[i] % (p - 1)]).collect();
                if columns == p - 1 {
                    u.iter_mut().for_each(|u| *u -= 1);
                }
                if columns >= p {
                    u.push(0);
                }
                if columns == p + 1 {
                    u.push(p);
                    if bits == rows * columns && i == rows - 1 {
                        u.swap(p, 0);
                    }
                }
                u.iter().map(|column| i * columns + column).collect()
            })
            .collect();
        // 8. Rows change places, columns are read, pads are left out.
        let places = (0..columns).flat_map(|j| pattern.iter().map(move |&i| (i, j)));
        places.map(|(i, j)| matrix[i][j]).filter(|&bit| bit < bits).map(|bit| bit as u16).collect()
    }

    #[test]
    fn every_length_is_permuted_as_the_clause_says() {
        let mut pi = [0; 5114];
        for bits in TURBO_LENGTHS {
            turbo_interleaver(&mut pi[..bits]).unwrap();
            assert!(pi[..bits] == by_the_clause(bits), "K = {bits}");
        }
    }

    #[test]
    fn other_lengths_are_refused() {
        for bits in [0, 39, 5115, 70_000] {
            assert_eq!(turbo_interleaver(&mut vec![0; bits]), Err(Error::TurboLength { bits }));
        }
    }
}
