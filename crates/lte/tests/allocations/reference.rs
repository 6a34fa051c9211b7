//! Once built, nothing of a receiver's estimation allocates.

use num_complex::Complex32;
use takt_lte::{
    Bandwidth, Cell, CellId, ChannelEstimator, Numerology, PhichResource, ResourceGrid, Sampling, Tracker, Tti,
    equalise, map_cell_reference, match_filter,
};

use crate::allocations;

#[test]
fn a_subframe_allocates_nothing() {
    let cell = Cell { id: CellId::new(7).unwrap(), bandwidth: Bandwidth::Prb25, phich: PhichResource::One };
    let numerology = Numerology::new(cell.bandwidth, Sampling::ThreeQuarters).unwrap();
    let mut grid = ResourceGrid::new(cell.bandwidth);
    let mut estimator = ChannelEstimator::with_numerology(cell.id, cell.bandwidth, &numerology);
    let mut tracker = Tracker::new(&numerology, 0.0);
    let len = grid.elements().len();
    let (mut symbols, mut weights) = (vec![Complex32::default(); len], vec![0.0; len]);

    let before = allocations::count();
    map_cell_reference(&cell, Tti::new(3), &mut grid);
    let estimate = estimator.estimate(Tti::new(3), &grid);
    tracker.update(estimate);
    tracker.gap(4);
    equalise(grid.elements(), estimate.gains.elements(), &mut symbols, &mut weights);
    match_filter(grid.elements(), estimate.gains.elements(), &mut symbols, &mut weights);
    assert_eq!(allocations::count(), before);
    assert!((estimate.signal_power - 1.0).abs() < 1e-3);
}
