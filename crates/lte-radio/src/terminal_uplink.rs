//! A terminal's uplink over the cells that it follows, and when its bursts leave.

use num_complex::Complex32;
use takt_lte::PrachConfig;
use takt_lte_link::{AHEAD, UplinkOrders};

use crate::allocation::TIMING_STEP;
use crate::{AirError, FollowedCell, TerminalSettings, TerminalTransmitter};

/// The transmitter for the cell that is followed now.
pub struct TerminalUplink {
    settings: TerminalSettings,
    /// With the ordinal of its cell.
    transmitter: Option<(u64, TerminalTransmitter)>,
}

impl TerminalUplink {
    /// For no cell yet.
    #[must_use]
    pub fn new(settings: &TerminalSettings) -> TerminalUplink {
        TerminalUplink { settings: *settings, transmitter: None }
    }

    /// Takes a subframe's orders. `next_begin` is the first sample after the downlink subframe that they answer. Returns the first
    /// sample at which `samples` are to be sent, or `None` if there is nothing to send. For a new cell it builds plans, and allocates.
    ///
    /// # Errors
    /// If the cell states settings that the standard lacks.
    ///
    /// # Panics
    /// If the samples are not a subframe.
    pub fn send(
        &mut self,
        next_begin: u64,
        followed: &FollowedCell,
        prach: Option<PrachConfig>,
        orders: &UplinkOrders,
        samples: &mut [Complex32],
    ) -> Result<Option<u64>, AirError> {
        let transmitter = match &mut self.transmitter {
            Some((ordinal, transmitter)) if *ordinal == followed.ordinal => transmitter,
            other => {
                let transmitter = TerminalTransmitter::new(&self.settings.of_cell(followed.cell))?;
                &mut other.insert((followed.ordinal, transmitter)).1
            }
        };
        if let Some(prach) = prach {
            transmitter.set_prach(prach)?;
        }
        let TerminalSettings { numerology, frequency_ratio, .. } = self.settings;
        let advance_s = f64::from(orders.timing_advance) * TIMING_STEP;
        let advance = (advance_s * numerology.rate_sps()).round() as u64;
        let frequency_hz = f64::from(followed.frequency_hz) * frequency_ratio;
        let is_sent = transmitter.send(orders, frequency_hz, samples);
        let begin = next_begin + u64::from(AHEAD - 1) * numerology.subframe_len() as u64;
        Ok(begin.checked_sub(advance).filter(|_| is_sent))
    }
}
