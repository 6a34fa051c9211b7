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
    /// Room for the streams, in windows; zeros where the first window is not used.
    pub(super) room: &'a mut [i8],
    pub(super) rows: &'a mut [Box<[Row]>; 3],
}

impl Task for Take<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Shape { windows, steps, unused } = self.shape;
        let (x, parities) = self.room.split_at_mut(windows * steps);
        let (first, second) = parities.split_at_mut(windows * steps);
        self.code.sort(self.coded, [&mut x[unused..], &mut first[unused..], &mut second[unused..]]);
        for (items, rows) in [&*x, first, second].into_iter().zip(self.rows) {
            if windows < TILE || steps < TILE {
                one_by_one(items, steps, rows);
            } else {
                in_tiles(l, items, steps, rows);
            }
        }
    }
}

/// Windows of `steps` items to rows.
#[inline(always)]
fn one_by_one(items: &[i8], steps: usize, rows: &mut [Row]) {
    for (w, window) in items.chunks_exact(steps).enumerate() {
        for (row, &llr) in rows.iter_mut().zip(window) {
            row.0[w] = i16::from(llr);
        }
    }
}

/// The same. Windows are a multiple of [`TILE`]; their items that many at least.
#[inline(always)]
fn in_tiles<L: Lanes>(l: L, items: &[i8], steps: usize, rows: &mut [Row]) {
    for (n, windows) in items.chunks_exact(TILE * steps).enumerate() {
        for t in (0..steps).step_by(TILE) {
            // The last tile overlaps its neighbour.
            let t = t.min(steps - TILE);
            let lines = windows.chunks_exact(steps).map(|window| window[t..].first_chunk().unwrap());
            for (row, line) in rows[t..].iter_mut().zip(transposed(l, lines)) {
                let llrs: [i8; TILE] = bytemuck::cast(line);
                row.0.as_chunks_mut::<TILE>().0[n % (LANES / TILE)] = llrs.map(i16::from);
            }
        }
    }
}

/// Item j of line i becomes item i of line j. A round moves the highest bit of a line's number to the lowest of the item's; after
/// four they have changed places.
#[inline(always)]
pub(super) fn transposed<'a, L: Lanes>(l: L, lines: impl Iterator<Item = &'a [i8; TILE]>) -> [L::Line; TILE] {
    let mut tile: [L::Line; TILE] = [bytemuck::Zeroable::zeroed(); TILE];
    for (to, line) in tile.iter_mut().zip(lines) {
        *to = bytemuck::cast(*line);
    }
    for _ in 0..4 {
        let before = tile;
        for i in 0..TILE / 2 {
            [tile[2 * i], tile[2 * i + 1]] = l.in_turn(before[i], before[i + TILE / 2]);
        }
    }
    tile
}
