//! Orders of a base station become samples.

use num_complex::Complex32;
use takt_lte::{
    BroadcastEncoder, ControlEncoder, Dci, Direction, Mib, Modulator, PdschTransmitter, ResourceGrid, Tti,
    map_cell_reference, map_synchronisation,
};
use takt_lte_link::{DownlinkBlock, DownlinkOrders};

use crate::allocation::downlink_allocation;
use crate::{AirSettings, CellSizes};

/// The plans and buffers of a base station's downlink. No call allocates.
pub struct StationTransmitter {
    settings: AirSettings,
    sizes: CellSizes,
    modulator: Modulator,
    grid: ResourceGrid,
    control: ControlEncoder,
    broadcast: BroadcastEncoder,
    pdsch: PdschTransmitter,
    /// Grants for which the control region had no room.
    crowded_out: u64,
}

impl StationTransmitter {
    /// Builds all plans.
    #[must_use]
    pub fn new(settings: &AirSettings) -> StationTransmitter {
        let AirSettings { cell, numerology, cfi, amplitude, .. } = *settings;
        StationTransmitter {
            settings: *settings,
            sizes: CellSizes { cell, cfi },
            modulator: Modulator::new(numerology, Direction::Downlink, amplitude),
            grid: ResourceGrid::new(cell.bandwidth),
            control: ControlEncoder::new(&cell),
            broadcast: BroadcastEncoder::new(cell.id),
            pdsch: PdschTransmitter::new(&cell),
            crowded_out: 0,
        }
    }

    /// Grants and blocks that were ordered and not sent, since the control region had no room.
    #[must_use]
    pub fn crowded_out(&self) -> u64 {
        self.crowded_out
    }

    /// Fills the samples of the downlink subframe that these orders are for.
    ///
    /// # Panics
    /// If the samples are not a subframe.
    pub fn send(&mut self, orders: &DownlinkOrders, samples: &mut [Complex32]) {
        let AirSettings { cell, cfi, .. } = self.settings;
        let tti = orders.tti;
        self.grid.clear();
        map_cell_reference(&cell, tti, &mut self.grid);
        map_synchronisation(cell.id, tti, &mut self.grid);
        let mib = Mib { bandwidth: cell.bandwidth, phich: cell.phich, frame: tti.frame() };
        self.broadcast.map(&mib, tti, &mut self.grid);
        self.control.begin(tti, cfi);
        for order in &orders.blocks {
            self.send_block(tti, order);
        }
        for order in &orders.grants {
            let added = self.control.add(&Dci::UplinkGrant(order.grant), order.rnti, order.space, order.aggregation);
            self.crowded_out += u64::from(!added);
        }
        for order in &orders.acknowledgements {
            self.control.acknowledge(order.first_block, order.cyclic_shift, order.ack);
        }
        self.control.map(&mut self.grid);
        self.modulator.modulate(&self.grid, samples);
    }

    /// A block without room for its assignment stays away: nobody would look for it.
    fn send_block(&mut self, tti: Tti, order: &DownlinkBlock) {
        let DownlinkBlock { rnti, grant, space, aggregation, bytes } = order;
        let allocation = downlink_allocation(&self.sizes, tti, *rnti, grant);
        let sent = allocation.is_some_and(|allocation| {
            allocation.block_bits == 8 * bytes.len()
                && self.control.add(&Dci::Compact(*grant), *rnti, *space, *aggregation)
                && self.pdsch.transmit(&allocation, bytes, &mut self.grid).is_ok()
        });
        self.crowded_out += u64::from(!sent);
    }
}
