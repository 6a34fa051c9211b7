//! The receiver of a terminal that follows a cell.

use num_complex::Complex32;
use takt_lte::{
    BroadcastDecoder, ChannelEstimator, ControlDecoder, Correction, Dci, Demodulator, Direction, PdschReceiver,
    ResourceGrid, SearchSpace, SoftBuffer, Tracker, Tti, UplinkGrant, cqi_of_snr_db,
};
use takt_lte_link::{BlockHeard, DownlinkGrant, DownlinkHeard, DownlinkPlan, Rnti};

use crate::allocation::downlink_allocation;
use crate::oscillator::Oscillator;
use crate::processes::PROCESSES;
use crate::{AirSettings, CellSizes};

/// Subframes without a usable reference signal after which the cell is lost: TS 36.331 has N310 of 10 to 2000 ms.
const LOST_AFTER: u32 = 50;
/// Below it, on average, there is no signal to follow: noise alone reads as -10 to -14 dB.
const LEAST_SNR_DB: f32 = -8.0;
/// A subframe that is so far below the average says nothing of time and frequency.
const DIP_DB: f32 = 12.0;
/// Weight of a subframe in the mean SNR that the quality is reported from.
const SNR_WEIGHT: f32 = 0.1;
/// Frames without master information after which the cell is lost: a receiver that has locked to a wrong frequency sees
/// reference signals and reads nothing.
const SILENT_FRAMES: u32 = 32;

/// The state of the receiver after a subframe.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Followed {
    /// How the window and the oscillator move before the next subframe.
    pub correction: Correction,
    /// Mean ratio of signal to noise.
    pub snr_db: f32,
    /// Whether the receiver follows the cell.
    pub in_sync: bool,
}

/// The plans and buffers of a terminal's downlink.
pub struct TerminalReceiver {
    sizes: CellSizes,
    oscillator: Oscillator,
    demodulator: Demodulator,
    received: ResourceGrid,
    estimator: ChannelEstimator,
    tracker: Tracker,
    frequency_hz: f32,
    control: ControlDecoder,
    broadcast: BroadcastDecoder,
    pdsch: PdschReceiver,
    /// For assignments to all: no process.
    common: SoftBuffer,
    processes: [(Option<bool>, SoftBuffer); PROCESSES],
    own: Option<Rnti>,
    blocks: Vec<u8>,
    snr_db: Option<f32>,
    unusable: u32,
    silent_frames: u32,
    is_other_cell: bool,
}

impl TerminalReceiver {
    /// Builds all plans. The cell is `frequency_hz` above the receiver's nominal frequency.
    #[must_use]
    pub fn new(settings: &AirSettings, frequency_hz: f32) -> TerminalReceiver {
        let AirSettings { cell, numerology, cfi, iterations, .. } = *settings;
        TerminalReceiver {
            sizes: CellSizes { cell, cfi },
            oscillator: Oscillator::new(numerology.rate_sps()),
            demodulator: Demodulator::new(numerology, Direction::Downlink, numerology.prefix / 2),
            received: ResourceGrid::new(cell.bandwidth),
            estimator: ChannelEstimator::with_numerology(cell.id, cell.bandwidth, &numerology),
            tracker: Tracker::new(&numerology, frequency_hz),
            frequency_hz,
            control: ControlDecoder::new(&cell),
            broadcast: BroadcastDecoder::new(cell.id),
            pdsch: PdschReceiver::new(&cell, iterations),
            common: SoftBuffer::new(cell.bandwidth),
            processes: std::array::from_fn(|_| (None, SoftBuffer::new(cell.bandwidth))),
            own: None,
            blocks: Vec::with_capacity(takt_lte::SYMBOLS * cell.bandwidth.subcarriers()),
            snr_db: None,
            unusable: 0,
            silent_frames: 0,
            is_other_cell: false,
        }
    }

    /// The offset of the cell's frequency, as it is followed.
    #[must_use]
    pub fn frequency_hz(&self) -> f32 {
        self.frequency_hz
    }

    /// Goes on over a subframe that is missing.
    pub fn miss(&mut self) -> Followed {
        self.unusable += 1;
        let correction = self.tracker.gap(1);
        self.broadcast.forget();
        self.followed(correction)
    }

    /// Listens to a downlink subframe as planned, and hands over what it heard. The samples are turned by the offset of
    /// frequency in place.
    ///
    /// # Panics
    /// If the samples are not a subframe.
    pub fn receive<R>(
        &mut self,
        tti: Tti,
        plan: &DownlinkPlan,
        phich: Option<(u8, u8)>,
        samples: &mut [Complex32],
        then: impl FnOnce(&DownlinkHeard<'_>) -> R,
    ) -> (Followed, R) {
        if self.own != plan.own {
            self.own = plan.own;
            self.processes.iter_mut().for_each(|(toggle, _)| *toggle = None);
        }
        self.oscillator.shift(-f64::from(self.frequency_hz), samples);
        self.demodulator.demodulate(samples, &mut self.received);
        let estimate = self.estimator.estimate(tti, &self.received);
        let snr_db = estimate.snr_db();
        let mean_db = self.snr_db.map_or(snr_db, |mean| mean + SNR_WEIGHT * (snr_db - mean));
        self.snr_db = Some(mean_db);
        let is_usable = snr_db > LEAST_SNR_DB.max(mean_db - DIP_DB) && mean_db > LEAST_SNR_DB;
        let correction = if is_usable { self.tracker.update(estimate) } else { self.tracker.gap(1) };
        self.frequency_hz = correction.frequency_hz;
        self.unusable = if is_usable { 0 } else { self.unusable + 1 };
        let (gains, noise_power) = (&estimate.gains, estimate.noise_power);
        let is_first = tti.subframe() == 0;
        let master = is_first.then(|| self.broadcast.decode(&self.received, gains, noise_power)).flatten();
        self.silent_frames = if master.is_some() { 0 } else { self.silent_frames + u32::from(is_first) };
        // A base station that started again counts its frames anew.
        self.is_other_cell |= master.is_some_and(|mib| mib.frame != tti.frame());
        self.sizes.cfi = self.control.receive(tti, &self.received, gains, noise_power);
        let acknowledgement = phich.and_then(|(block, shift)| self.control.acknowledgement(block, shift));
        let (found, grants) = self.look(tti, plan);
        let heard = |found: &BlockFound| found.heard(&self.blocks);
        let blocks: Vec<BlockHeard<'_>> = found.iter().map(heard).collect();
        let in_sync = self.is_in_sync();
        let cqi = cqi_of_snr_db(self.snr_db.unwrap_or_default());
        let answer = then(&DownlinkHeard { in_sync, cqi, blocks: &blocks, grants: &grants, acknowledgement });
        (self.followed(correction), answer)
    }

    fn is_in_sync(&self) -> bool {
        self.unusable < LOST_AFTER && self.silent_frames < SILENT_FRAMES && !self.is_other_cell
    }

    fn followed(&self, correction: Correction) -> Followed {
        let in_sync = self.is_in_sync();
        Followed { correction, snr_db: self.snr_db.unwrap_or_default(), in_sync }
    }

    /// Looks for all that the plan names.
    fn look(&mut self, tti: Tti, plan: &DownlinkPlan) -> (Vec<BlockFound>, Vec<(Rnti, UplinkGrant)>) {
        self.blocks.clear();
        let (mut found, mut grants) = (Vec::new(), Vec::new());
        let information = plan.system_information.then_some((Rnti::SI, SearchSpace::Common));
        let answers = plan.random_access.map(|rnti| (rnti, SearchSpace::Common));
        let own = plan.own.map(|rnti| (rnti, SearchSpace::Common));
        let own_space = plan.own.map(|rnti| (rnti, SearchSpace::Own));
        for (rnti, space) in [information, answers, own, own_space].into_iter().flatten() {
            let dcis: Vec<Dci> = self.control.find(rnti, space).collect();
            for dci in dcis {
                match dci {
                    Dci::UplinkGrant(grant) if !grants.contains(&(rnti, grant)) => grants.push((rnti, grant)),
                    Dci::Compact(grant) if !found.iter().any(|other: &BlockFound| other.is(rnti, &grant)) => {
                        found.extend(self.receive_block(tti, rnti, &grant));
                    }
                    _ => {}
                }
            }
        }
        (found, grants)
    }

    fn receive_block(&mut self, tti: Tti, rnti: Rnti, grant: &DownlinkGrant) -> Option<BlockFound> {
        let allocation = downlink_allocation(&self.sizes, tti, rnti, grant)?;
        let (new_data, buffer) = if rnti.is_common() {
            (true, &mut self.common)
        } else {
            let (toggle, buffer) = &mut self.processes[usize::from(grant.process) % PROCESSES];
            let new_data = *toggle != Some(grant.new_data);
            *toggle = Some(grant.new_data);
            (new_data, buffer)
        };
        let estimate = self.estimator.latest();
        let block =
            self.pdsch.receive(buffer, &allocation, new_data, &self.received, &estimate.gains, estimate.noise_power);
        let begin = self.blocks.len();
        let right = block.is_some();
        self.blocks.extend_from_slice(block.unwrap_or_default());
        Some(BlockFound { rnti, grant: *grant, block: right.then_some((begin, self.blocks.len())) })
    }
}

/// An assignment, with its block as a range of bytes.
struct BlockFound {
    rnti: Rnti,
    grant: DownlinkGrant,
    block: Option<(usize, usize)>,
}

impl BlockFound {
    fn is(&self, rnti: Rnti, grant: &DownlinkGrant) -> bool {
        self.rnti == rnti && self.grant == *grant
    }

    fn heard<'a>(&self, blocks: &'a [u8]) -> BlockHeard<'a> {
        let block = self.block.and_then(|(from, upto)| blocks.get(from..upto));
        BlockHeard { rnti: self.rnti, grant: self.grant, block }
    }
}
