//! The sub-block interleaver and bit collection, TS 36.212 sections 5.1.4.1.1 and 5.1.4.1.2, without NULLs.
//!
//! Each stream is written row by row into 32 columns, behind as many NULLs as fill the first row, and read column by column.
//! The third stream's clause is the same for the stream turned by one place: its y(0) comes last. NULLs before a stream, fillers
//! among them, only turn its columns: what is not NULL is the stream itself in rows of 32, the last one short, its columns
//! read in another order. So no NULL is ever written.
//!
//! The circular buffer w holds the first stream, then the second and the third in turn. Without NULLs their turns break where
//! the third stream's column begins earlier, by fillers or by the place it is turned, and at the very end.

use std::ops::Range;

use crate::bits::columns::{self, Layout};
use crate::bits::interlace;
use crate::simd::vectorised;

/// The permutation of three streams into the circular buffer w without its NULLs, and back.
#[derive(Clone, Debug)]
pub(super) struct SubBlocks {
    /// Bits of a stream: K + 4.
    stream: usize,
    fillers: usize,
    /// Starts of the columns of the first two streams, and those of the third.
    early: Layout<32>,
    late: Layout<32>,
    /// How the second and third stream take turns. The last bit of the second follows alone.
    runs: Box<[Run]>,
    /// The second and third stream, column by column.
    second: Box<[u8]>,
    third: Box<[u8]>,
}

/// Bits of the third stream alone, then pairs of the second and third.
#[derive(Clone, Copy, Debug)]
struct Run {
    alone: usize,
    pairs: usize,
}

impl SubBlocks {
    /// For streams of `stream` bits, of which the first `fillers` of the first two are NULL. Not a multiple of 32, which K + 4
    /// never is.
    pub(super) fn new(stream: usize, fillers: usize) -> SubBlocks {
        let shape = Shape { stream, fillers };
        let mut runs: Vec<Run> = Vec::new();
        for column in COLUMNS {
            let (alone, pairs) = (shape.second(column).start - shape.third(column).start, shape.pairs(column));
            match runs.last_mut() {
                Some(run) if alone == 0 => run.pairs += pairs,
                _ => runs.push(Run { alone, pairs }),
            }
        }
        SubBlocks {
            stream,
            fillers,
            early: Layout::new(stream - fillers, &turned(shape.nulls())),
            late: Layout::new(stream, &turned(shape.nulls_of_third())),
            runs: runs.into(),
            second: vec![0; stream - fillers].into(),
            third: vec![0; stream].into(),
        }
    }

    /// The rows of the matrix.
    pub(super) fn rows(&self) -> usize {
        self.shape().rows()
    }

    /// K_w, the length of the circular buffer with its NULLs.
    pub(super) fn places(&self) -> usize {
        3 * 32 * self.rows()
    }

    /// How many of the first `places` places of w are not NULL.
    pub(super) fn bits_before(&self, places: usize) -> usize {
        let (shape, rows) = (self.shape(), self.rows());
        let mut bits = 0;
        for (n, column) in COLUMNS.into_iter().enumerate() {
            let first = places.saturating_sub(n * rows).min(rows);
            let both = places.saturating_sub((32 + 2 * n) * rows).min(2 * rows);
            bits += below(shape.second(column), first);
            bits += below(shape.second(column), both.div_ceil(2)) + below(shape.third(column), both / 2);
        }
        bits
    }

    /// From the three streams, one after the other, to those `parts` of w that are asked for, and perhaps more.
    pub(super) fn collect(&mut self, coded: &[u8], parts: &[Range<usize>], w: &mut [u8]) {
        let [first, second, third] = self.streams(coded);
        let (alone, both) = w.split_at_mut(first.len());
        if parts.iter().any(|part| !part.is_empty() && part.start < first.len()) {
            columns::read(&self.early, first, alone);
        }
        if parts.iter().any(|part| part.end > first.len()) {
            columns::read(&self.early, second, &mut self.second);
            columns::read(&self.late, third, &mut self.third);
        }
        for part in parts {
            let within = |place: usize| place.saturating_sub(alone.len());
            self.mix(within(part.start)..within(part.end), both);
        }
    }

    /// Back from the first bits of w to the three streams, one after the other; 0 where w ends early, but not in the first
    /// stream. Fillers in `coded` stay as they are.
    pub(super) fn deal(&mut self, w: &[u8], coded: &mut [u8]) {
        let (alone, both) = w.split_at(self.second.len());
        self.unmix(both);
        let (first, rest) = coded.split_at_mut(self.stream);
        let (second, third) = rest.split_at_mut(self.stream);
        columns::write(&self.early, alone, &mut first[self.fillers..]);
        columns::write(&self.early, &self.second, &mut second[self.fillers..]);
        columns::write(&self.late, &self.third, third);
    }

    /// The streams without fillers.
    fn streams<'a>(&self, coded: &'a [u8]) -> [&'a [u8]; 3] {
        let skipped = [self.fillers, self.fillers, 0];
        std::array::from_fn(|n| &coded[n * self.stream..][..self.stream][skipped[n]..])
    }

    /// Fills a part of what follows the first stream, whole pairs.
    fn mix(&self, part: Range<usize>, both: &mut [u8]) {
        let (mut second, mut third, mut at) = (&self.second[..], &self.third[..], 0);
        for run in &self.runs {
            both[at..][..run.alone].copy_from_slice(take(&mut third, run.alone));
            at += run.alone;
            let pair = |place: usize| place.saturating_sub(at).div_ceil(2).min(run.pairs);
            let (from, to) = (pair((part.start).saturating_sub(1)), pair(part.end));
            let (seconds, thirds) = (take(&mut second, run.pairs), take(&mut third, run.pairs));
            if from < to {
                join(&seconds[from..to], &thirds[from..to], &mut both[at..][2 * from..2 * to]);
            }
            at += 2 * run.pairs;
        }
        both[at..].copy_from_slice(second);
    }

    /// The second and third stream out of as much of what follows the first as there is.
    fn unmix(&mut self, both: &[u8]) {
        let (mut second, mut third, mut rest) = (&mut self.second[..], &mut self.third[..], both);
        for run in &self.runs {
            let alone = run.alone.min(rest.len());
            take_mut(&mut third, alone).copy_from_slice(take(&mut rest, alone));
            let pairs = run.pairs.min(rest.len() / 2);
            let (seconds, thirds) = (take_mut(&mut second, pairs), take_mut(&mut third, pairs));
            split(take(&mut rest, 2 * pairs), seconds, thirds);
            if pairs < run.pairs {
                break;
            }
        }
        // Half a pair, or the very last.
        let last = rest.len().min(1);
        take_mut(&mut second, last).copy_from_slice(&rest[..last]);
        second.fill(0);
        third.fill(0);
    }

    fn shape(&self) -> Shape {
        Shape { stream: self.stream, fillers: self.fillers }
    }
}

/// The first `count` items, which are taken off.
fn take<'a>(items: &mut &'a [u8], count: usize) -> &'a [u8] {
    items.split_off(..count).expect("items of a stream")
}

/// The same to write to.
fn take_mut<'a>(items: &mut &'a mut [u8], count: usize) -> &'a mut [u8] {
    items.split_off_mut(..count).expect("items of a stream")
}

/// Places of the NULLs.
#[derive(Clone, Copy)]
struct Shape {
    stream: usize,
    fillers: usize,
}

impl Shape {
    fn rows(self) -> usize {
        self.stream.div_ceil(32)
    }

    /// Before the first two streams: N_D, and fillers.
    fn nulls(self) -> usize {
        32 * self.rows() - self.stream + self.fillers
    }

    /// Before the third, whose first NULL comes last.
    fn nulls_of_third(self) -> usize {
        32 * self.rows() - self.stream - 1
    }

    /// The rows of a column that are not NULL in the first two streams.
    fn second(self, column: u8) -> Range<usize> {
        rows_above(self.nulls(), column)..self.rows()
    }

    /// The same for the third.
    fn third(self, column: u8) -> Range<usize> {
        rows_above(self.nulls_of_third(), column)..self.rows() - usize::from(column == 31)
    }

    /// The rows of a column that are NULL in neither.
    fn pairs(self, column: u8) -> usize {
        self.third(column).end - self.second(column).start
    }
}

/// How many of a column's items are among the first `items` of a matrix with rows of 32.
fn rows_above(items: usize, column: u8) -> usize {
    items.saturating_sub(column.into()).div_ceil(32)
}

/// How many of `rows` are below `end`.
fn below(rows: Range<usize>, end: usize) -> usize {
    end.min(rows.end).saturating_sub(rows.start)
}

/// The order in which the columns of a stream are read that has `nulls` NULLs before it.
fn turned(nulls: usize) -> [u8; 32] {
    COLUMNS.map(|column| column.wrapping_sub((nulls % 32) as u8) % 32)
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
pub(super) const COLUMNS: [u8; 32] = {
    let (mut columns, mut i) = ([0; 32], 0);
    while i < 32 {
        columns[i] = (i as u8).reverse_bits() >> 3;
        i += 1;
    }
    columns
};
