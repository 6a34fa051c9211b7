//! A row: one 16-bit value for each of 32 lanes. The meaning of the lanes is up to whoever fills the rows: the windows
//! of one block, or as many blocks.

/// Lanes of a row.
pub(super) const LANES: usize = 32;

/// One value a lane, as the processor likes to load them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub(super) struct Row(pub(super) [i16; LANES]);

impl Row {
    pub(super) const ZERO: Row = Row([0; LANES]);
}

/// A row for each state of the trellis.
pub(super) type States = [Row; 8];

/// `count` rows of zeros.
pub(super) fn rows(count: usize) -> Box<[Row]> {
    vec![Row::ZERO; count].into()
}
