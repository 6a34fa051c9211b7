//! A terminal with all of a carrier of 25 blocks, white Gaussian noise, and a known channel.

use num_complex::Complex32;
use takt_base::Tick;
use takt_lte::{
    Bandwidth, BlockSet, Cell, CellId, Mcs, PdschAllocation, PdschReceiver, PdschTransmitter, PhichResource,
    ResourceGrid, SoftBuffer, Tti, transport_block_bits,
};

/// Wrong blocks after which a rate is known well enough.
const ENOUGH_WRONG: usize = 100;

pub struct Link {
    cell: Cell,
    transmitter: PdschTransmitter,
    receiver: PdschReceiver,
    process: SoftBuffer,
    sent: ResourceGrid,
    received: ResourceGrid,
    gains: ResourceGrid,
    noise: Vec<Complex32>,
    ticks: u64,
    /// How many times the noise that there is the receiver believes in.
    pub belief: f32,
}

/// A transport block and its transmissions.
#[derive(Clone, Copy, Debug)]
pub struct Scheme {
    pub index: u8,
    /// Symbols of control channels.
    pub cfi: u8,
    /// Redundancy versions of the transmissions, in order; a block is wrong if it is after the last.
    pub versions: &'static [u8],
}

impl Scheme {
    /// One transmission where [`Mcs::threshold_db`] was measured.
    pub fn first(index: u8) -> Scheme {
        Scheme { index, cfi: 2, versions: &[0] }
    }

    fn allocation(self) -> PdschAllocation {
        let (modulation, i_tbs) = Mcs::downlink(self.index).unwrap();
        let blocks = BlockSet::all(Bandwidth::Prb25);
        let block_bits = transport_block_bits(i_tbs, 25);
        PdschAllocation {
            tti: Tti::new(1),
            cfi: self.cfi,
            rnti: 70,
            blocks,
            modulation,
            block_bits,
            redundancy_version: 0,
        }
    }
}

impl Link {
    pub fn new(iterations: usize) -> Link {
        let bandwidth = Bandwidth::Prb25;
        let cell = Cell { id: CellId::new(1).unwrap(), bandwidth, phich: PhichResource::default() };
        let grid = ResourceGrid::new(bandwidth);
        let mut gains = grid.clone();
        gains.elements_mut().fill(Complex32::new(1.0, 0.0));
        Link {
            cell,
            transmitter: PdschTransmitter::new(&cell),
            receiver: PdschReceiver::new(&cell, iterations),
            process: SoftBuffer::new(bandwidth),
            noise: grid.elements().to_vec(),
            sent: grid.clone(),
            received: grid,
            gains,
            ticks: 0,
            belief: 1.0,
        }
    }

    /// How many of `blocks` are sent, and how many of them are wrong. It stops at a hundred wrong ones.
    pub fn wrong_blocks(&mut self, scheme: Scheme, snr_db: f32, blocks: usize) -> (usize, usize) {
        let mut wrong = 0;
        for sent in 1..=blocks {
            wrong += usize::from(!self.passes(scheme, snr_db));
            if wrong == ENOUGH_WRONG {
                return (sent, wrong);
            }
        }
        (blocks, wrong)
    }

    /// Whether a block is right after all transmissions.
    fn passes(&mut self, scheme: Scheme, snr_db: f32) -> bool {
        let noise_power = 10f32.powf(-snr_db / 10.0);
        let first = scheme.allocation();
        let turn = self.ticks as usize;
        let block: Vec<u8> =
            (0..first.block_bits / 8).map(|at| ((at + turn).wrapping_mul(at + 7 * turn) >> 3) as u8).collect();
        let mut right = false;
        for (n, &redundancy_version) in scheme.versions.iter().enumerate() {
            let allocation = PdschAllocation { redundancy_version, tti: Tti::new(1 + 8 * n as u64), ..first };
            self.transmitter.transmit(&allocation, &block, &mut self.sent).unwrap();
            takt_dsp::noise(5, noise_power, Tick(self.ticks), 1, &mut self.noise);
            self.ticks += self.noise.len() as u64;
            let received = self.received.elements_mut().iter_mut().zip(self.sent.elements()).zip(&self.noise);
            received.for_each(|((received, sent), noise)| *received = sent + noise);
            let Link { receiver, process, received, gains, .. } = self;
            let believed = noise_power * self.belief;
            right = receiver.receive(process, &allocation, n == 0, received, gains, believed) == Some(&block[..]);
        }
        right
    }

    /// The ratio in dB at which a tenth of the blocks is wrong, between two of a grid of `step` dB by the logarithm of the rate.
    /// `near` is where the search begins, `blocks` the most for a ratio.
    pub fn threshold_db(&mut self, scheme: Scheme, near: f32, step: f32, blocks: usize) -> f32 {
        let mut rate = |at: f32| {
            let (sent, wrong) = self.wrong_blocks(scheme, at, blocks);
            (wrong as f32).max(0.5) / sent as f32
        };
        let (mut at, mut rate_here) = (near, rate(near));
        loop {
            let next = if rate_here > 0.1 { at + step } else { at - step };
            let rate_there = rate(next);
            if (rate_here > 0.1) != (rate_there > 0.1) {
                let part = (rate_here / 0.1).ln() / (rate_here / rate_there).ln();
                return at + part * (next - at);
            }
            (at, rate_here) = (next, rate_there);
        }
    }

    pub fn elements(&self, scheme: Scheme) -> usize {
        scheme.allocation().elements(&self.cell)
    }

    pub fn block_bits(&self, scheme: Scheme) -> usize {
        scheme.allocation().block_bits
    }
}
