//! Values that one constituent decoder passes to the other, carried through the interleaver.
//!
//! With W windows of T steps, bit i stands in row i mod T, lane i / T. An LTE interleaver moves whole rows if W divides K:
//! with pi(i) = f1 i + f2 i^2 mod K, pi(i + T) = pi(i) mod T, so the bits of a row come from one row and only the lanes change
//! places. Any other goes cell by cell.

use super::lanes::{Lanes, Task};
use super::pass::MAX_EXTRINSIC;
use super::row::{LANES, Row, rows};

/// Share of the findings that is passed on, 3/4 (times 2^15).
const PASSED_ON: i16 = 3 << 13;

/// How a block lies in rows: windows, steps of each, and how many places at the start of the first window are not used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) windows: usize,
    pub(super) steps: usize,
    pub(super) unused: usize,
}

impl Shape {
    /// Row and lane of bit i.
    pub(super) fn place(self, i: usize) -> (usize, usize) {
        ((i + self.unused) % self.steps, (i + self.unused) / self.steps)
    }
}

/// Destination of each row.
#[derive(Clone, Debug)]
pub(super) enum Route {
    Rows(WholeRows),
    Cells(SingleCells),
}

impl Route {
    /// There, and back, of the interleaver that puts bit `pi[i]` in place i.
    pub(super) fn both(pi: &[u16], shape: Shape) -> [Route; 2] {
        let mut places = vec![0; pi.len()];
        for (to, &from) in pi.iter().enumerate() {
            places[usize::from(from)] = to as u16;
        }
        [Route::new(&places, shape), Route::new(pi, shape)]
    }

    /// Bit i goes to `places[i]`.
    fn new(places: &[u16], shape: Shape) -> Route {
        let Shape { steps, unused, windows } = shape;
        let row = |i: usize| usize::from(places[i]) % steps;
        if unused == 0 && windows > 1 && (0..places.len()).all(|i| row(i) == row(i % steps)) {
            let itself = Row(std::array::from_fn(|lane| lane as i16));
            let mut from = vec![itself; steps];
            for (i, &to) in places.iter().enumerate() {
                let (_, to_lane) = shape.place(usize::from(to));
                let (t, lane) = shape.place(i);
                from[t].0[to_lane] = lane as i16;
            }
            return Route::Rows(WholeRows { to: (0..steps).map(|t| row(t) as u16).collect(), from: from.into() });
        }
        let nowhere = (steps * LANES) as u16;
        let mut to = vec![[nowhere; LANES]; steps];
        for (i, &place) in places.iter().enumerate() {
            let ((t, lane), (to_row, to_lane)) = (shape.place(i), shape.place(usize::from(place)));
            to[t][lane] = (to_row * LANES + to_lane) as u16;
        }
        Route::Cells(SingleCells(to.into()))
    }
}

impl Route {
    /// Rows of what it carries `steps` rows to.
    pub(super) fn room(&self, steps: usize) -> Box<[Row]> {
        match self {
            Route::Rows(_) => rows(steps),
            Route::Cells(_) => rows(CELLS / LANES),
        }
    }
}

/// Room for all cells that a place can name: none needs to be checked.
const CELLS: usize = 1 << 16;

/// Takes rows to where they are needed.
pub(super) trait Carry: Copy {
    fn carry<L: Lanes>(self, l: L, t: usize, row: &Row, out: &mut [Row]);
}

/// Row t goes to row `to[t]`, and there, lane w comes from lane `from[t]` w.
#[derive(Clone, Debug)]
pub(super) struct WholeRows {
    to: Box<[u16]>,
    from: Box<[Row]>,
}

impl Carry for &WholeRows {
    #[inline(always)]
    fn carry<L: Lanes>(self, l: L, t: usize, row: &Row, out: &mut [Row]) {
        out[usize::from(self.to[t])] = l.permute(row, &self.from[t]);
    }
}

/// Destination of each cell of a row, in rows laid out one after the other. Those that hold no bit go behind the last
/// row.
#[derive(Clone, Debug)]
pub(super) struct SingleCells(Box<[[u16; LANES]]>);

impl Carry for &SingleCells {
    #[inline(always)]
    fn carry<L: Lanes>(self, _l: L, t: usize, row: &Row, out: &mut [Row]) {
        let out: &mut [i16; CELLS] = bytemuck::cast_slice_mut(out).try_into().expect("room for all cells");
        // Four values with one load: the loads would be what it waits for.
        let fours: &[u64; LANES / 4] = bytemuck::cast_ref(&row.0);
        for (&four, places) in fours.iter().zip(self.0[t].as_chunks::<4>().0) {
            for (i, &place) in places.iter().enumerate() {
                out[usize::from(place)] = (four >> (16 * i)) as i16;
            }
        }
    }
}

/// The form in which a constituent decoder passes on what it found.
pub(super) trait Form: Copy {
    fn form<L: Lanes>(self, l: L, g: usize, t: usize, found: L::Group) -> L::Group;
}

/// The systematic LLRs with what was found.
#[derive(Clone, Copy)]
pub(super) struct With<'a>(pub(super) &'a [Row]);

impl Form for With<'_> {
    #[inline(always)]
    fn form<L: Lanes>(self, l: L, g: usize, t: usize, found: L::Group) -> L::Group {
        l.add(l.load(&self.0[t], g), limited(l, found))
    }
}

/// Passes on what was found, unchanged.
#[derive(Clone, Copy)]
pub(super) struct Found;

impl Form for Found {
    #[inline(always)]
    fn form<L: Lanes>(self, _l: L, _g: usize, _t: usize, found: L::Group) -> L::Group {
        found
    }
}

/// 3/4 of what is found, within bounds.
#[inline(always)]
fn limited<L: Lanes>(l: L, found: L::Group) -> L::Group {
    l.max(l.min(l.scale(found, l.all(PASSED_ON)), l.all(MAX_EXTRINSIC)), l.all(-MAX_EXTRINSIC))
}

/// The systematic LLRs with what the second decoder found, for the first.
pub(super) struct Again<'a> {
    pub(super) systematic: &'a [Row],
    pub(super) found: &'a [Row],
    pub(super) x: &'a mut [Row],
}

impl Task for Again<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        for ((x, systematic), found) in self.x.iter_mut().zip(self.systematic).zip(self.found) {
            for g in 0..L::GROUPS {
                l.store(x, g, l.add(l.load(systematic, g), limited(l, l.load(found, g))));
            }
        }
    }
}

/// The bits that both decoders decide on: the sign of the systematic LLR with what the first passed on, and what the second found.
pub(super) struct Decide<'a> {
    pub(super) shape: Shape,
    pub(super) with_first: &'a [Row],
    pub(super) found: &'a [Row],
    /// A word a row, a bit a lane.
    pub(super) words: &'a mut [u32],
    pub(super) decided: &'a mut [u8],
}

impl Task for Decide<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let lanes = LANES / L::GROUPS;
        for ((word, with), found) in self.words.iter_mut().zip(self.with_first).zip(self.found) {
            *word = (0..L::GROUPS)
                .fold(0, |word, g| word | l.negative(l.add(l.load(with, g), l.load(found, g))) << (g * lanes));
        }
        let Shape { steps, unused, .. } = self.shape;
        let (first, rest) = self.decided.split_at_mut(steps - unused);
        let windows = std::iter::once(first).chain(rest.chunks_mut(steps));
        for (w, bits) in windows.enumerate() {
            let words = &self.words[steps - bits.len()..];
            for (bit, word) in bits.iter_mut().zip(words) {
                *bit = (word >> w & 1) as u8;
            }
        }
    }
}
