//! Samples of the uplink become what a base station heard.

use num_complex::Complex32;
use takt_lte::{
    Demodulator, Direction, PrachDetector, PreambleFound, PucchReceiver, PuschReceiver, ResourceGrid,
    SharedChannelDecoder, Tti,
};
use takt_lte_link::{Feedback, PreambleHeard, PuschExpected, PuschHeard, Rnti, UplinkHeard, UplinkPlan};

use crate::allocation::{TIMING_STEP, uplink_allocation};
use crate::processes::ProcessSets;
use crate::{AirError, AirSettings, CellSizes};

/// Terminals whose soft values are kept at once: those with a place, and some on their way to one.
const TERMINALS: usize = 8;
/// Below it a PUSCH was not sent: its terminal has missed the grant.
const LEAST_SNR_DB: f32 = -5.0;

/// Finds preambles of random access.
pub struct PreambleReceiver {
    detector: PrachDetector,
    found: Vec<PreambleHeard>,
}

impl PreambleReceiver {
    /// Builds all plans.
    ///
    /// # Errors
    /// If a setting is beyond the standard's.
    pub fn new(settings: &AirSettings) -> Result<PreambleReceiver, AirError> {
        let AirSettings { cell, numerology, prach, .. } = *settings;
        let detector = PrachDetector::new(numerology, cell.bandwidth, prach)?;
        Ok(PreambleReceiver { detector, found: Vec::with_capacity(64) })
    }

    /// The preambles in the samples of a subframe in which terminals may send them.
    ///
    /// # Panics
    /// If the samples are not a subframe.
    pub fn detect(&mut self, samples: &[Complex32]) -> &[PreambleHeard] {
        let found = self.detector.detect(samples).iter();
        let heard =
            |found: &PreambleFound| PreambleHeard { preamble: found.preamble, timing_advance: found.timing_advance };
        self.found.clear();
        self.found.extend(found.map(heard));
        &self.found
    }
}

/// The plans and buffers of a base station's uplink. No call allocates but for the lists that it hands over.
pub struct StationReceiver {
    settings: AirSettings,
    sizes: CellSizes,
    demodulator: Demodulator,
    received: ResourceGrid,
    pusch: PuschReceiver,
    pucch: PucchReceiver,
    decoder: SharedChannelDecoder,
    processes: ProcessSets,
    llrs: Vec<i8>,
    /// The blocks of a subframe, one after the other.
    blocks: Vec<u8>,
}

impl StationReceiver {
    /// Builds all plans.
    ///
    /// # Errors
    /// If a setting is beyond the standard's.
    pub fn new(settings: &AirSettings) -> Result<StationReceiver, AirError> {
        let AirSettings { cell, numerology, cfi, uplink, iterations, .. } = *settings;
        let elements = takt_lte::SYMBOLS * cell.bandwidth.subcarriers();
        Ok(StationReceiver {
            settings: *settings,
            sizes: CellSizes { cell, cfi },
            demodulator: Demodulator::new(numerology, Direction::Uplink, numerology.prefix / 2),
            received: ResourceGrid::new(cell.bandwidth),
            pusch: PuschReceiver::new(&uplink, &numerology)?,
            pucch: PucchReceiver::new(&uplink)?,
            decoder: SharedChannelDecoder::new(cell.bandwidth, iterations),
            processes: ProcessSets::new(cell.bandwidth, TERMINALS),
            llrs: vec![0; 6 * elements],
            blocks: Vec::with_capacity(elements),
        })
    }

    /// Listens to an uplink subframe as planned. Hands over what it heard, with the preambles that a [`PreambleReceiver`] found: it
    /// asks for them last.
    ///
    /// # Panics
    /// If the samples are not a subframe.
    pub fn receive<'p, R>(
        &mut self,
        plan: &UplinkPlan,
        samples: &[Complex32],
        preambles: impl FnOnce() -> &'p [PreambleHeard],
        then: impl FnOnce(&UplinkHeard<'_>) -> R,
    ) -> R {
        self.demodulator.demodulate(samples, &mut self.received);
        self.blocks.clear();
        let (mut found, mut acknowledgements) = (Vec::new(), Vec::new());
        for expected in &plan.pusch {
            let with_ack = plan.acknowledgements.iter().any(|(rnti, _)| *rnti == expected.rnti);
            let Some((pusch, ack)) = self.receive_pusch(plan.tti, expected, with_ack) else { continue };
            found.push(pusch);
            acknowledgements.extend(with_ack.then_some((expected.rnti, feedback(ack))));
        }
        let on_pusch = |rnti: Rnti| plan.pusch.iter().any(|expected| expected.rnti == rnti);
        for &(rnti, resource) in plan.acknowledgements.iter().filter(|(rnti, _)| !on_pusch(*rnti)) {
            acknowledgements.push((rnti, feedback(self.acknowledgement(plan, rnti, resource))));
        }
        let requests = plan.scheduling_requests.iter().filter(|(rnti, _)| !on_pusch(*rnti));
        let requests =
            requests.filter(|(_, resource)| self.pucch.request(plan.tti, *resource, &self.received).is_some());
        let scheduling_requests: Vec<Rnti> = requests.map(|(rnti, _)| *rnti).collect();
        let reports = plan.cqi.iter().filter(|(rnti, _)| !on_pusch(*rnti));
        let report = |&(rnti, resource): &(Rnti, u16)| {
            self.pucch.report(plan.tti, rnti.0, resource, &self.received).map(|(cqi, _)| (rnti, cqi))
        };
        let cqi: Vec<(Rnti, u8)> = reports.filter_map(report).collect();
        let pusch: Vec<PuschHeard<'_>> = found.iter().map(|found| found.heard(&self.blocks)).collect();
        then(&UplinkHeard {
            preambles: preambles(),
            pusch: &pusch,
            acknowledgements: &acknowledgements,
            scheduling_requests: &scheduling_requests,
            cqi: &cqi,
        })
    }

    /// The acknowledgement of a terminal without PUSCH: on its own resource, or on that of its request if it made one.
    fn acknowledgement(&self, plan: &UplinkPlan, rnti: Rnti, resource: u16) -> Option<bool> {
        let request = plan.scheduling_requests.iter().find(|(of, _)| *of == rnti).map(|(_, resource)| *resource);
        let places = [Some(resource), request].into_iter().flatten();
        let heard = places.filter_map(|resource| self.pucch.acknowledgement(plan.tti, resource, &self.received));
        heard.max_by(|a, b| a.1.power.total_cmp(&b.1.power)).map(|(ack, _)| ack)
    }

    /// `None` if no cell has such a transmission.
    fn receive_pusch(
        &mut self,
        tti: Tti,
        expected: &PuschExpected,
        with_ack: bool,
    ) -> Option<(PuschFound, Option<bool>)> {
        let PuschExpected { rnti, shape, process, new_block } = *expected;
        let allocation = uplink_allocation(&self.sizes, &shape)?;
        let llrs = &mut self.llrs[..allocation.coded_bits()];
        let quality = self.pusch.receive(tti, rnti.0, &allocation, with_ack, &self.received, llrs);
        let buffer = self.processes.of(rnti, process);
        let detected = quality.snr_db > LEAST_SNR_DB;
        let begin = self.blocks.len();
        let bits = allocation.block_bits as usize;
        let block = if detected {
            self.decoder.decode(buffer, llrs, shape.redundancy_version, allocation.modulation, bits, new_block)
        } else {
            if new_block {
                buffer.clear();
            }
            None
        };
        let right = block.is_some();
        self.blocks.extend_from_slice(block.unwrap_or_default());
        let late_s = f64::from(quality.timing_samples) / self.settings.numerology.rate_sps();
        let late = (late_s / TIMING_STEP).round().clamp(-2048.0, 2048.0) as i16;
        let block = right.then_some((begin, self.blocks.len()));
        Some((PuschFound { rnti, block, detected, snr_db: quality.snr_db, late }, quality.ack))
    }
}

/// A PUSCH, with its block as a range of bytes.
struct PuschFound {
    rnti: Rnti,
    block: Option<(usize, usize)>,
    detected: bool,
    snr_db: f32,
    late: i16,
}

impl PuschFound {
    fn heard<'a>(&self, blocks: &'a [u8]) -> PuschHeard<'a> {
        let PuschFound { rnti, block, detected, snr_db, late } = *self;
        let block = block.and_then(|(from, upto)| blocks.get(from..upto));
        PuschHeard { rnti, block, detected, snr_db, late }
    }
}

fn feedback(ack: Option<bool>) -> Feedback {
    match ack {
        Some(true) => Feedback::Ack,
        Some(false) => Feedback::Nack,
        None => Feedback::Dtx,
    }
}
