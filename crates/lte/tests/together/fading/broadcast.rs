//! The broadcast channel: how many master information blocks a terminal misses, of those that a cell sends in four frames each.

use takt_lte::{
    Bandwidth, BroadcastDecoder, BroadcastEncoder, Cell, CellId, Mib, PhichResource, ResourceGrid, Tti,
    map_cell_reference,
};

use super::diversity::Diversity;

/// Frames that send one block, and subframes from one to the next.
const FRAMES: u64 = 4;
const FRAME: u64 = 10;

/// The share of `blocks` that is missed at an SNR, and how often a block was read that nobody sent: a parity of 16 bits holds by
/// chance now and then.
pub fn missed(model: &str, snr_db: f32, blocks: u64) -> (f64, u64) {
    let bandwidth = Bandwidth::Prb6;
    let cell = Cell { id: CellId::new(0).unwrap(), bandwidth, phich: PhichResource::One };
    let mib = |tti: Tti| Mib { bandwidth, phich: cell.phich, frame: tti.frame() };
    let (mut encoder, mut decoder) = (BroadcastEncoder::new(cell.id), BroadcastDecoder::new(cell.id));
    let (mut terminal, mut sent) = (Diversity::new(model, cell.id, bandwidth, 7), ResourceGrid::new(bandwidth));
    let mut wrong = 0;
    let is_read = |block: &u64| {
        let mut is_read = false;
        for frame in FRAMES * block..FRAMES * (block + 1) {
            let tti = Tti::new(FRAME * frame);
            sent.clear();
            map_cell_reference(&cell, tti, &mut sent);
            encoder.map(&mib(tti), tti, &mut sent);
            terminal.receive(FRAME * frame, snr_db, &sent);
            if let Some(found) = decoder.decode(&terminal.combined, &terminal.gains, 1.0) {
                is_read |= found == mib(tti);
                wrong += u64::from(found != mib(tti));
            }
        }
        is_read
    };
    let read = (0..blocks).filter(is_read).count() as u64;
    ((blocks - read) as f64 / blocks as f64, wrong)
}
