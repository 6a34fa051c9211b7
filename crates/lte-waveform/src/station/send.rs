//! The downlink of a base station.

use num_complex::Complex32;
use takt_lte::Tti;
use takt_lte_link::DownlinkOrders;
use takt_lte_radio::StationTransmitter;
use takt_runtime::{MakeError, component, graph::Value};

use crate::codec::{Coded, Reader};
use crate::due::SubframeDue;
use crate::settings::{counts, station, subframe_len};

struct LteEnbSend {
    transmitter: StationTransmitter,
    ahead: u64,
    due: SubframeDue,
    misplaced: u64,
    sent: u64,
}

/// Makes the samples of a downlink subframe: broadcast, control region, PDSCH, OFDM (TS 36.211 section 6). In slot s it makes those
/// of subframe s + `ahead`. Orders for another subframe are counted as misplaced, and not sent.
#[component(name = "lte-enb-send")]
impl LteEnbSend {
    fn new(
        /// Resource blocks.
        #[param(range = 6..=100, default = 6)]
        prb: u32,
        /// Identity of the cell.
        #[param(range = 0..=503, default = 1)]
        cell: u16,
        /// Slots from the slot in which samples are made to the one in which they are on the air. Links from the receiver to here and
        /// `ahead` add up to 4.
        #[param(unit = "slots", range = 0..=4, default = 2)]
        ahead: u64,
    ) -> Result<LteEnbSend, MakeError> {
        let transmitter = StationTransmitter::new(&station(prb, cell)?);
        Ok(LteEnbSend { transmitter, ahead, due: SubframeDue::default(), misplaced: 0, sent: 0 })
    }

    fn tick(&mut self, input: In<u8>, #[port(up_to = subframe_len(prb))] mut output: Out<Complex32>, slot: u64) {
        let due = Tti::new(slot + self.ahead);
        let orders = DownlinkOrders::get(&mut Reader(&input));
        let orders = match orders {
            Some(orders) if orders.tti == due => orders,
            Some(_) => {
                self.misplaced += 1;
                return output.truncate(0);
            }
            // The cell stays on the air without orders, or terminals would lose it.
            None if self.due.in_slot(slot, None).is_some() => DownlinkOrders { tti: due, ..DownlinkOrders::default() },
            None => return output.truncate(0),
        };
        self.due.in_slot(slot, Some(slot));
        self.sent += 1;
        self.transmitter.send(&orders, &mut output);
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        let crowded_out = self.transmitter.crowded_out();
        counts([("subframes", self.sent), ("misplaced", self.misplaced), ("crowded_out", crowded_out)])
    }
}
