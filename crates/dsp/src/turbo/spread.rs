//! Received streams to rows: window after window in, step after step out. It is the transposition of a matrix.

use super::code::Code;
use super::exchange::Shape;
use super::lanes::{Lanes, Task};
use super::row::{LANES, Row};

/// Side of the tiles that are transposed at once.
pub(super) const TILE: usize = 16;

/// Puts step t of window w in lane w of row t, for each of the three streams of a coded block.
pub(super) struct Take<'a> {
    pub(super) code: Code,
    pub(super) shape: Shape,
    pub(super) coded: &'a [i8],
    /// Room for the streams, one window behind the other; zeros where the first window is not used.
    pub(super) room: &'a mut [i8],
    pub(super) rows: &'a mut [Box<[Row]>; 3],
}

impl Task for Take<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _l: L) {
        let Shape { windows, steps, unused } = self.shape;
        let bits = windows * steps - unused;
        let (starts, stride) = self.code.streams(bits);
        // Streams that take turns are spread together.
        for (n, &start) in starts.iter().enumerate().step_by(stride) {
            let (room, items) = (&mut self.room[..stride * windows * steps], stride * bits);
            room[stride * unused..].copy_from_slice(&self.coded[start..][..items]);
            let rows = &mut self.rows[n..n + stride];
            if windows < TILE || steps < TILE {
                one_by_one(room, stride * steps, rows);
            } else {
                in_tiles(room, stride * steps, rows);
            }
        }
    }
}

/// Windows of `steps` items to rows that take turns.
#[inline(always)]
fn one_by_one(items: &[i8], steps: usize, rows: &mut [Box<[Row]>]) {
    let turns = rows.len();
    for (w, window) in items.chunks(steps).enumerate() {
        for (t, &llr) in window.iter().enumerate() {
            rows[t % turns][t / turns].0[w] = i16::from(llr);
        }
    }
}

/// The same. Windows are a multiple of [`TILE`]; their items that many at least.
#[inline(always)]
fn in_tiles(items: &[i8], steps: usize, rows: &mut [Box<[Row]>]) {
    let turns = rows.len();
    for (n, windows) in items.chunks(TILE * steps).enumerate() {
        for t in (0..steps).step_by(TILE) {
            // The last tile overlaps its neighbour.
            let t = t.min(steps - TILE);
            let tile: [[i8; TILE]; TILE] = std::array::from_fn(|i| *windows[i * steps + t..].first_chunk().unwrap());
            for (t, llrs) in (t..).zip(transposed(tile)) {
                rows[t % turns][t / turns].0.as_chunks_mut::<TILE>().0[n % (LANES / TILE)] = llrs.map(i16::from);
            }
        }
    }
}

/// Item j of row i becomes item i of row j. A round moves the highest bit of a row's number to the lowest of the item's; after
/// four they have changed places.
#[inline(always)]
pub(super) fn transposed(tile: [[i8; TILE]; TILE]) -> [[i8; TILE]; TILE] {
    round(round(round(round(tile))))
}

#[inline(always)]
fn round(before: [[i8; TILE]; TILE]) -> [[i8; TILE]; TILE] {
    let mut tile = before;
    for i in 0..TILE / 2 {
        let (a, b) = (before[i], before[i + TILE / 2]);
        tile[2 * i] = std::array::from_fn(|j| if j % 2 == 0 { a[j / 2] } else { b[j / 2] });
        tile[2 * i + 1] = std::array::from_fn(|j| if j % 2 == 0 { a[8 + j / 2] } else { b[8 + j / 2] });
    }
    tile
}
