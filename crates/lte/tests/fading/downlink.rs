//! PDSCH of all resource blocks, as the reference channels of TS 36.101 annex A.3.3.1 have it: two control symbols
//! (four with six blocks), and no data in subframe 5.

use takt_lte::{
    Bandwidth, BlockSet, Cell, CellId, ChannelEstimator, Mcs, PdschAllocation, PdschReceiver, PdschTransmitter,
    PhichResource, ResourceGrid, SoftBuffer, Tti, map_cell_reference, transport_block_bits,
};

use super::air::Antenna;
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
    antennas: [(Antenna, ChannelEstimator); 2],
    sent: ResourceGrid,
    received: ResourceGrid,
    combined: ResourceGrid,
    gains: ResourceGrid,
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
        let (cell, grid) = (self.cell(), ResourceGrid::new(self.bandwidth));
        let antenna =
            |n| (Antenna::new(model, self.bandwidth, seed + n), ChannelEstimator::new(cell.id, self.bandwidth));
        Run {
            transmitter: PdschTransmitter::new(&cell),
            receiver: PdschReceiver::new(&cell, 8),
            processes: (0..8).map(|_| SoftBuffer::new(self.bandwidth)).collect(),
            antennas: [antenna(0), antenna(1000)],
            sent: grid.clone(),
            received: grid.clone(),
            combined: grid.clone(),
            gains: grid,
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
        run.combined.clear();
        run.gains.clear();
        for (antenna, estimator) in &mut run.antennas {
            antenna.receive(subframe, snr_db, &run.sent, &mut run.received);
            let estimate = estimator.estimate(allocation.tti, &run.received);
            let over = 1.0 / estimate.noise_power;
            let elements = run.received.elements().iter().zip(estimate.gains.elements());
            let sums = run.combined.elements_mut().iter_mut().zip(run.gains.elements_mut());
            for ((element, gain), (sum, power)) in elements.zip(sums) {
                *sum += element * gain.conj() * over;
                power.re += gain.norm_sqr() * over;
            }
        }
        // The sum as one channel with noise of power 1.
        for (sum, power) in run.combined.elements_mut().iter_mut().zip(run.gains.elements_mut()) {
            let gain = power.re.max(1e-12).sqrt();
            *sum /= gain;
            power.re = gain;
        }
        let buffer = &mut run.processes[process];
        run.receiver.receive(buffer, &allocation, block.sent == 0, &run.combined, &run.gains, 1.0).is_some()
    }
}
