//! PDSCH of all resource blocks, as the reference channels of TS 36.101 annex A.3.3.1 have it: two control symbols
//! (four with six blocks), and no data in subframe 5.

use takt_lte::{
    Bandwidth, BlockSet, Cell, CellId, Mcs, PdschAllocation, PdschReceiver, PdschTransmitter, PhichResource,
    ResourceGrid, SoftBuffer, Tti, map_cell_reference, transport_block_bits,
};

use super::diversity::Diversity;
use super::throughput::{Block, Way};

/// A reference channel.
pub struct Downlink {
    pub bandwidth: Bandwidth,
    pub mcs: u8,
    /// In subframe 0, which also has the broadcast.
    pub mcs_of_first: u8,
}

pub struct Run {
    transmitter: PdschTransmitter,
    receiver: PdschReceiver,
    processes: Vec<SoftBuffer>,
    terminal: Diversity,
    sent: ResourceGrid,
}

impl Downlink {
    fn cell(&self) -> Cell {
        Cell { id: CellId::new(0).unwrap(), bandwidth: self.bandwidth, phich: PhichResource::One }
    }

    fn allocation(&self, began: u64, subframe: u64, version: u8) -> PdschAllocation {
        let mcs = if began.is_multiple_of(10) { self.mcs_of_first } else { self.mcs };
        let (modulation, i_tbs) = Mcs::downlink(mcs).unwrap();
        PdschAllocation {
            tti: Tti::new(subframe),
            // With 6 resource blocks, 3 means four symbols: TS 36.211 section 6.7.
            cfi: if self.bandwidth == Bandwidth::Prb6 { 3 } else { 2 },
            rnti: 0x1234,
            blocks: BlockSet::all(self.bandwidth),
            modulation,
            block_bits: transport_block_bits(i_tbs, self.bandwidth.blocks()),
            redundancy_version: version,
        }
    }
}

impl Way for Downlink {
    type Run = Run;
    const VERSIONS: [u8; 4] = [0, 1, 2, 3];

    fn begin(&self, model: &str, seed: u64) -> Run {
        let cell = self.cell();
        Run {
            transmitter: PdschTransmitter::new(&cell),
            receiver: PdschReceiver::new(&cell, 8),
            processes: (0..8).map(|_| SoftBuffer::new(self.bandwidth)).collect(),
            terminal: Diversity::new(model, cell.id, self.bandwidth, seed),
            sent: ResourceGrid::new(self.bandwidth),
        }
    }

    fn block_bits(&self, subframe: u64) -> usize {
        if subframe % 10 == 5 { 0 } else { self.allocation(subframe, subframe, 0).block_bits }
    }

    fn send(&self, run: &mut Run, subframe: u64, process: usize, block: &Block, snr_db: f32) -> bool {
        let allocation = self.allocation(block.began, subframe, block.version);
        run.sent.clear();
        map_cell_reference(&self.cell(), allocation.tti, &mut run.sent);
        run.transmitter.transmit(&allocation, &block.bytes, &mut run.sent).unwrap();
        run.terminal.receive(subframe, snr_db, &run.sent);
        let buffer = &mut run.processes[process];
        let Diversity { combined, gains, .. } = &run.terminal;
        run.receiver.receive(buffer, &allocation, block.sent == 0, combined, gains, 1.0).is_some()
    }
}
