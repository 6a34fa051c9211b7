//! PUSCH of reference channel A3-2, TS 36.104 annex A.3: six resource blocks, QPSK, rate 1/3, 600 bits.

use takt_dsp::lte::Modulation;
use takt_lte::{
    Bandwidth, Cell, CellId, Numerology, PhichResource, PuschAllocation, PuschReceiver, PuschTransmitter, ResourceGrid,
    Sampling, SharedChannelDecoder, SharedChannelEncoder, SoftBuffer, Tti, UplinkConfig,
};

use super::air::Antenna;
use super::throughput::{Block, Way};

const BANDWIDTH: Bandwidth = Bandwidth::Prb6;
const RNTI: u16 = 0x1234;
const BITS: usize = 600;

/// The reference channel.
pub struct Uplink;

pub struct Run {
    encoder: SharedChannelEncoder,
    transmitter: PuschTransmitter,
    antennas: [(Antenna, PuschReceiver); 2],
    decoder: SharedChannelDecoder,
    processes: Vec<SoftBuffer>,
    coded: Vec<u8>,
    llrs: Vec<i8>,
    sums: Vec<i8>,
    sent: ResourceGrid,
    received: ResourceGrid,
}

fn allocation() -> PuschAllocation {
    let modulation = Modulation::Qpsk;
    PuschAllocation { first_block: 0, blocks: 6, modulation, cyclic_shift: 0, block_bits: BITS as u32 }
}

impl Way for Uplink {
    type Run = Run;
    const VERSIONS: [u8; 4] = [0, 2, 3, 1];

    fn begin(&self, model: &str, seed: u64) -> Run {
        let id = CellId::new(0).unwrap();
        let config = UplinkConfig::new(Cell { id, bandwidth: BANDWIDTH, phich: PhichResource::One });
        let numerology = Numerology::new(BANDWIDTH, Sampling::Standard).unwrap();
        let antenna = |n| {
            let receiver = PuschReceiver::new(&config, &numerology).unwrap();
            (Antenna::new(model, BANDWIDTH, seed + n), receiver)
        };
        let coded = allocation().coded_bits();
        Run {
            encoder: SharedChannelEncoder::new(BANDWIDTH),
            transmitter: PuschTransmitter::new(&config).unwrap(),
            antennas: [antenna(0), antenna(1000)],
            decoder: SharedChannelDecoder::new(BANDWIDTH, 8),
            processes: (0..8).map(|_| SoftBuffer::new(BANDWIDTH)).collect(),
            coded: vec![0; coded],
            llrs: vec![0; coded],
            sums: vec![0; coded],
            sent: ResourceGrid::new(BANDWIDTH),
            received: ResourceGrid::new(BANDWIDTH),
        }
    }

    fn block_bits(&self, _subframe: u64) -> usize {
        BITS
    }

    fn send(&self, run: &mut Run, subframe: u64, process: usize, block: &Block, snr_db: f32) -> bool {
        let (tti, allocation) = (Tti::new(subframe), allocation());
        run.encoder.encode(&block.bytes, block.version, allocation.modulation, &mut run.coded).unwrap();
        run.sent.clear();
        run.transmitter.map(tti, RNTI, &allocation, &run.coded, None, &mut run.sent).unwrap();
        run.sums.fill(0);
        for (antenna, receiver) in &mut run.antennas {
            antenna.receive(subframe, snr_db, &run.sent, &mut run.received);
            receiver.receive(tti, RNTI, &allocation, false, &run.received, &mut run.llrs);
            run.sums.iter_mut().zip(&run.llrs).for_each(|(sum, llr)| *sum = sum.saturating_add(*llr));
        }
        let (buffer, is_new) = (&mut run.processes[process], block.sent == 0);
        run.decoder.decode(buffer, &run.sums, block.version, allocation.modulation, BITS, is_new).is_some()
    }
}
