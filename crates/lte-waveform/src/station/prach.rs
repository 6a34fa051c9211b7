//! Random access, apart from the rest of the uplink: its detector takes most of a subframe, in few subframes.

use num_complex::Complex32;
use takt_lte::{PrachConfig, Tti};
use takt_lte_radio::PreambleReceiver;
use takt_runtime::{MakeError, component, graph::Value};

use crate::codec::{Coded, Writer, put_list};
use crate::settings::{counts, record_bytes, refused, station, subframe_len};

struct LtePrach {
    receiver: PreambleReceiver,
    config: PrachConfig,
    len: usize,
    opportunities: u64,
    preambles: u64,
}

/// Finds preambles of random access in the subframes that may have some (TS 36.211 section 5.7). The settings are those that
/// `lte-enb-stack` broadcasts.
#[component(name = "lte-prach")]
impl LtePrach {
    fn new(
        /// Resource blocks.
        #[param(range = 6..=100, default = 6)]
        prb: u32,
        /// Identity of the cell.
        #[param(range = 0..=503, default = 1)]
        cell: u16,
    ) -> Result<LtePrach, MakeError> {
        let settings = station(prb, cell)?;
        let receiver = PreambleReceiver::new(&settings).map_err(|error| refused(error, "change the settings"))?;
        let len = settings.numerology.subframe_len();
        Ok(LtePrach { receiver, config: settings.prach, len, opportunities: 0, preambles: 0 })
    }

    fn tick(
        &mut self,
        #[port(exactly = subframe_len(prb))] input: In<Complex32>,
        #[port(up_to = record_bytes(prb))] mut output: Out<u8>,
    ) {
        if input.len() != self.len {
            return output.truncate(0);
        }
        let number = input.first_item() / self.len as u64;
        let is_opportunity = self.config.is_opportunity(Tti::new(number));
        let found = if is_opportunity { self.receiver.detect(&input) } else { &[] };
        self.opportunities += u64::from(is_opportunity);
        self.preambles += found.len() as u64;
        let mut writer = Writer::new(&mut output);
        number.put(&mut writer);
        put_list(found, &mut writer);
        let bytes = writer.finish().unwrap_or_default();
        output.truncate(bytes);
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        counts([("opportunities", self.opportunities), ("preambles", self.preambles)])
    }
}
