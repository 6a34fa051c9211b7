//! A subframe's control region and broadcast channel, sent and read, allocate nothing.

use num_complex::Complex32;
use takt_lte::{
    Bandwidth, BroadcastDecoder, BroadcastEncoder, Cell, CellId, ControlDecoder, ControlEncoder, Dci, Mib,
    PhichResource, ResourceGrid, Rnti, SearchSpace, Tti, UplinkGrant,
};

use crate::allocations;

#[test]
fn a_subframe_allocates_nothing() {
    let cell = Cell { id: CellId::new(3).unwrap(), bandwidth: Bandwidth::Prb50, phich: PhichResource::Sixth };
    let (mut sender, mut receiver) = (ControlEncoder::new(&cell), ControlDecoder::new(&cell));
    let (mut broadcast, mut listener) = (BroadcastEncoder::new(cell.id), BroadcastDecoder::new(cell.id));
    let (mut grid, mut gains) = (ResourceGrid::new(cell.bandwidth), ResourceGrid::new(cell.bandwidth));
    gains.elements_mut().fill(Complex32::new(1.0, 0.0));
    let mib = Mib { bandwidth: cell.bandwidth, phich: cell.phich, frame: 0 };
    let grant = UplinkGrant {
        first_block: 1,
        blocks: 2,
        mcs: 3,
        new_data: true,
        power: 1,
        cyclic_shift: 2,
        cqi_request: false,
    };
    let dci = Dci::UplinkGrant(grant);
    let before = allocations::count();
    for n in 0..30 {
        let (tti, cfi) = (Tti::new(n), 1 + (n % 3) as u8);
        grid.clear();
        sender.begin(tti, cfi);
        let added =
            sender.add(&dci, Rnti(99), SearchSpace::Own, 2) && sender.add(&dci, Rnti(99), SearchSpace::Common, 4);
        sender.acknowledge(1, 2, true);
        sender.map(&mut grid);
        broadcast.map(&mib, tti, &mut grid);
        let found = receiver.receive(tti, &grid, &gains, 0.01) == cfi
            && receiver.find(Rnti(99), SearchSpace::Own).count() == 1
            && receiver.find(Rnti(99), SearchSpace::Common).count() == 1;
        assert!(added && found && receiver.acknowledgement(1, 2) == Some(true));
        // Every other call finds nothing and keeps its frame.
        let heard = listener.decode(&grid, &gains, 0.01);
        assert_eq!(heard.is_some(), n % 10 == 0);
    }
    assert_eq!(allocations::count(), before);
}
