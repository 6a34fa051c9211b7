//! Once built, nothing of the uplink allocates.

use takt_dsp::lte::Modulation;
use takt_lte::{
    Bandwidth, Cell, CellId, Numerology, PucchReceiver, PucchTransmitter, PuschAllocation, PuschReceiver,
    PuschTransmitter, ResourceGrid, Sampling, Tti, UplinkConfig,
};

use crate::allocations;

#[test]
fn an_uplink_that_is_built_allocates_nothing() {
    let bandwidth = Bandwidth::Prb25;
    let config = UplinkConfig::new(Cell { id: CellId::new(4).unwrap(), bandwidth, phich: Default::default() });
    let numerology = Numerology::new(bandwidth, Sampling::Standard).unwrap();
    let mut transmitter = PuschTransmitter::new(&config).unwrap();
    let mut receiver = PuschReceiver::new(&config, &numerology).unwrap();
    let (pucch_transmitter, pucch_receiver) =
        (PucchTransmitter::new(&config).unwrap(), PucchReceiver::new(&config).unwrap());
    let mut grid = ResourceGrid::new(bandwidth);
    let (bits, mut llrs) = (vec![1; 25 * 144 * 6], vec![0; 25 * 144 * 6]);

    let before = allocations::count();
    for (subframe, blocks) in [1, 2, 3, 5, 8, 12, 20, 25].into_iter().enumerate() {
        for modulation in [Modulation::Qpsk, Modulation::Qam16, Modulation::Qam64] {
            let tti = Tti::new(subframe as u64);
            let allocation = PuschAllocation { first_block: 0, blocks, modulation, cyclic_shift: 1, block_bits: 400 };
            let count = allocation.coded_bits();
            transmitter.map(tti, 1, &allocation, &bits[..count], Some(true), &mut grid).unwrap();
            receiver.receive(tti, 1, &allocation, true, &grid, &mut llrs[..count]);
            pucch_transmitter.request(tti, 3, &mut grid);
            pucch_transmitter.acknowledge(tti, 4, false, &mut grid);
            pucch_transmitter.report(tti, 1, 5, 9, &mut grid);
            let _ = pucch_receiver.request(tti, 3, &grid);
            let _ = pucch_receiver.acknowledgement(tti, 4, &grid);
            let _ = pucch_receiver.report(tti, 1, 5, &grid);
        }
    }
    assert_eq!(allocations::count() - before, 0);
}
