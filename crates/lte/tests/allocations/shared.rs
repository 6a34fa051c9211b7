//! Once built, transmitter and receiver of the shared channel allocate nothing.

use num_complex::Complex32;
use takt_lte::{
    Bandwidth, BlockSet, Cell, CellId, Mcs, PdschAllocation, PdschReceiver, PdschTransmitter, PhichResource,
    ResourceGrid, SoftBuffer, Tti, transport_block_bits,
};

use crate::allocations;

#[test]
fn a_shared_channel_that_is_built_allocates_nothing() {
    let bandwidth = Bandwidth::Prb50;
    let cell = Cell { id: CellId::new(9).unwrap(), bandwidth, phich: PhichResource::default() };
    let (mut transmitter, mut receiver) = (PdschTransmitter::new(&cell), PdschReceiver::new(&cell, 8));
    let (mut process, mut grid) = (SoftBuffer::new(bandwidth), ResourceGrid::new(bandwidth));
    let mut gains = ResourceGrid::new(bandwidth);
    gains.elements_mut().fill(Complex32::new(1.0, 0.0));
    let bytes = vec![0x5a; transport_block_bits(26, 50) / 8];

    let before = allocations::count();
    let mut right = 0;
    for index in 0..Mcs::COUNT {
        for blocks in [1, 7, 50] {
            let (modulation, i_tbs) = Mcs::downlink(index).unwrap();
            let block_bits = transport_block_bits(i_tbs, blocks);
            let (tti, cfi, rnti, redundancy_version) = (Tti::new(index.into()), 1, 70, 0);
            let blocks = BlockSet::from_range(0, blocks);
            let allocation = PdschAllocation { tti, cfi, rnti, blocks, modulation, block_bits, redundancy_version };
            transmitter.transmit(&allocation, &bytes[..block_bits / 8], &mut grid).unwrap();
            for new_data in [true, false] {
                right +=
                    usize::from(receiver.receive(&mut process, &allocation, new_data, &grid, &gains, 0.01).is_some());
            }
        }
    }
    assert_eq!(allocations::count(), before);
    // But for I_TBS 6 in one block: 328 bits in 300.
    assert_eq!(right, 2 * (3 * usize::from(Mcs::COUNT) - 1));
}
