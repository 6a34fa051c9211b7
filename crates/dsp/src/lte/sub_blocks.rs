//! The sub-block interleaver and bit collection, TS 36.212 sections 5.1.4.1.1 and 5.1.4.1.2.
//!
//! Each stream is written row by row into 32 columns, behind as many NULLs as fill the first row, and read column by column.
//! The third stream's clause is the same for the stream turned by one place: its y(0) comes last.

use crate::bits::columns::{self, Layout};
use crate::bits::interlace;
use crate::simd::vectorised;

/// The permutation of three streams into the circular buffer w, NULLs included, and back.
#[derive(Clone, Debug)]
pub(super) struct SubBlocks {
    /// Bits of a stream: K + 4.
    stream: usize,
    /// N_D, NULLs before a stream.
    nulls: usize,
    layout: Layout<32>,
    /// A stream with its NULLs; what the second and third stream become.
    padded: Box<[u8]>,
    second: Box<[u8]>,
    third: Box<[u8]>,
}

impl SubBlocks {
    /// For streams of `stream` bits. Not a multiple of 32, which K + 4 never is.
    pub(super) fn new(stream: usize) -> SubBlocks {
        let padded = stream.next_multiple_of(32);
        let room = || vec![0; padded].into();
        SubBlocks {
            stream,
            nulls: padded - stream,
            layout: Layout::new(padded, &COLUMNS),
            padded: room(),
            second: room(),
            third: room(),
        }
    }

    /// The rows of the matrix.
    pub(super) fn rows(&self) -> usize {
        self.padded.len() / 32
    }

    /// K_w, the length of the circular buffer.
    pub(super) fn buffer_len(&self) -> usize {
        3 * self.padded.len()
    }

    /// From the three streams, one after the other, to the circular buffer; NULLs are 0.
    pub(super) fn collect(&mut self, coded: &[u8], buffer: &mut [u8]) {
        let (first, rest) = buffer.split_at_mut(self.padded.len());
        for (n, stream) in coded.chunks_exact(self.stream).enumerate() {
            let before = self.nulls_before(n);
            self.padded[..before].fill(0);
            self.padded[before..][..self.stream].copy_from_slice(stream);
            self.padded[before + self.stream..].fill(0);
            let out = [&mut *first, &mut self.second, &mut self.third].into_iter().nth(n).expect("three streams");
            columns::read(&self.layout, &self.padded, out);
        }
        join(&self.second, &self.third, rest);
    }

    /// Back from the circular buffer to the three streams, one after the other.
    pub(super) fn deal(&mut self, buffer: &[u8], coded: &mut [u8]) {
        let (first, rest) = buffer.split_at(self.padded.len());
        split(rest, &mut self.second, &mut self.third);
        for (n, stream) in coded.chunks_exact_mut(self.stream).enumerate() {
            let from = [first, &self.second, &self.third][n];
            columns::write(&self.layout, from, &mut self.padded);
            let before = self.nulls_before(n);
            stream.copy_from_slice(&self.padded[before..][..self.stream]);
        }
    }

    /// The third stream is turned by one: its first NULL comes last.
    fn nulls_before(&self, stream: usize) -> usize {
        if stream == 2 { self.nulls - 1 } else { self.nulls }
    }
}

vectorised!(fn join(second: &[u8], third: &[u8], out: &mut [u8]) = join_scalar);
vectorised!(fn split(input: &[u8], second: &mut [u8], third: &mut [u8]) = split_scalar);

#[inline(always)]
fn join_scalar(second: &[u8], third: &[u8], out: &mut [u8]) {
    interlace::join(&[second, third], out);
}

#[inline(always)]
fn split_scalar(input: &[u8], second: &mut [u8], third: &mut [u8]) {
    interlace::split(input, [second, third]);
}

/// P, Table 5.1.4-1: bit reversal of 0 to 31.
const COLUMNS: [u8; 32] = {
    let (mut columns, mut i) = ([0; 32], 0);
    while i < 32 {
        columns[i] = (i as u8).reverse_bits() >> 3;
        i += 1;
    }
    columns
};
