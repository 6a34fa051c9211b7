//! Orders of a terminal become samples.

use num_complex::Complex32;
use takt_dsp::lte::Modulation;
use takt_lte::{
    Direction, Modulator, PrachConfig, PrachTransmitter, PucchTransmitter, PuschTransmitter, ResourceGrid,
    SharedChannelEncoder, Tti,
};
use takt_lte_link::{PucchOrder, PuschOrder, Rnti, UplinkOrders};

use crate::allocation::uplink_allocation;
use crate::oscillator::Oscillator;
use crate::{AirError, AirSettings, CellSizes};

/// A preamble's power above that of a full carrier.
const PREAMBLE_GAIN: f32 = 1.0;

/// The plans and buffers of a terminal's uplink.
pub struct TerminalTransmitter {
    settings: AirSettings,
    sizes: CellSizes,
    modulator: Modulator,
    oscillator: Oscillator,
    grid: ResourceGrid,
    pusch: PuschTransmitter,
    pucch: PucchTransmitter,
    prach: PrachTransmitter,
    encoder: SharedChannelEncoder,
    coded: Vec<u8>,
}

impl TerminalTransmitter {
    /// Builds all plans.
    ///
    /// # Errors
    /// If a setting is beyond the standard's.
    pub fn new(settings: &AirSettings) -> Result<TerminalTransmitter, AirError> {
        let AirSettings { cell, numerology, cfi, uplink, prach, amplitude, .. } = *settings;
        Ok(TerminalTransmitter {
            settings: *settings,
            sizes: CellSizes { cell, cfi },
            modulator: Modulator::new(numerology, Direction::Uplink, amplitude),
            oscillator: Oscillator::new(numerology.rate_sps()),
            grid: ResourceGrid::new(cell.bandwidth),
            pusch: PuschTransmitter::new(&uplink)?,
            pucch: PucchTransmitter::new(&uplink)?,
            prach: PrachTransmitter::new(numerology, cell.bandwidth, prach)?,
            encoder: SharedChannelEncoder::new(cell.bandwidth),
            coded: vec![0; 12 * cell.bandwidth.subcarriers() * 6],
        })
    }

    /// Takes the settings of random access that system information states.
    ///
    /// # Errors
    /// If one is beyond the standard's; the old ones hold then.
    pub fn set_prach(&mut self, prach: PrachConfig) -> Result<(), AirError> {
        if self.settings.prach != prach {
            self.prach = PrachTransmitter::new(self.settings.numerology, self.settings.cell.bandwidth, prach)?;
            self.settings.prach = prach;
        }
        Ok(())
    }

    /// Fills the samples of an uplink subframe, `frequency_hz` above the nominal frequency; `false`: there is nothing to send.
    ///
    /// # Panics
    /// If the samples are not a subframe.
    pub fn send(&mut self, orders: &UplinkOrders, frequency_hz: f64, samples: &mut [Complex32]) -> bool {
        self.grid.clear();
        let sent = if let Some(order) = orders.preamble {
            self.prach.samples(order.preamble, samples);
            let gain = PREAMBLE_GAIN * self.settings.amplitude * amplitude_of_db(f32::from(order.ramp_db).min(6.0));
            samples.iter_mut().for_each(|sample| *sample *= gain);
            true
        } else {
            let pusch = orders.pusch.as_ref().is_some_and(|order| self.send_pusch(orders.tti, order));
            if let (false, Some(order)) = (pusch, &orders.pucch) {
                self.send_pucch(orders.tti, orders.listen.own, order);
            }
            self.modulator.modulate(&self.grid, samples);
            pusch || orders.pucch.is_some()
        };
        if sent {
            self.oscillator.shift(frequency_hz, samples);
        }
        sent
    }

    fn send_pusch(&mut self, tti: Tti, order: &PuschOrder) -> bool {
        let Some(allocation) = uplink_allocation(&self.sizes, &order.shape) else { return false };
        if allocation.block_bits as usize != 8 * order.bytes.len() || allocation.modulation == Modulation::Bpsk {
            return false;
        }
        let coded = &mut self.coded[..allocation.coded_bits()];
        let version = order.shape.redundancy_version;
        self.encoder.encode(&order.bytes, version, allocation.modulation, coded).is_ok()
            && self.pusch.map(tti, order.rnti.0, &allocation, coded, order.ack, &mut self.grid).is_ok()
    }

    fn send_pucch(&mut self, tti: Tti, own: Option<Rnti>, order: &PucchOrder) {
        let rnti = own.map_or(0, |rnti| rnti.0);
        match *order {
            PucchOrder::Acknowledgement { ack, resource } => self.pucch.acknowledge(tti, resource, ack, &mut self.grid),
            PucchOrder::SchedulingRequest { ack: Some(ack), resource } => {
                self.pucch.acknowledge(tti, resource, ack, &mut self.grid);
            }
            PucchOrder::SchedulingRequest { ack: None, resource } => self.pucch.request(tti, resource, &mut self.grid),
            PucchOrder::Cqi { cqi, resource } => self.pucch.report(tti, rnti, resource, cqi, &mut self.grid),
        }
    }
}

fn amplitude_of_db(db: f32) -> f32 {
    10f32.powf(db / 20.0)
}
