//! The uplink of a base station: PUSCH and PUCCH.

use num_complex::Complex32;
use takt_lte::Tti;
use takt_lte_link::UplinkPlan;
use takt_lte_radio::StationReceiver;
use takt_runtime::{MakeError, component, graph::Value};

use crate::codec::{Coded, Reader, Writer};
use crate::records::put_uplink;
use crate::settings::{counts, record_bytes, refused, station, subframe_len};

/// Plans of subframes that were ordered and have not come.
const PLANS: usize = 16;

struct LteEnbReceive {
    receiver: StationReceiver,
    plans: [UplinkPlan; PLANS],
    len: usize,
    unplanned: u64,
    blocks: u64,
    wrong_blocks: u64,
}

/// Receives an uplink subframe as planned: demodulates, equalises and decodes PUSCH and PUCCH (TS 36.211 section 5). The plan comes
/// from `lte-enb-stack` over a link with a delay.
#[component(name = "lte-enb-receive")]
impl LteEnbReceive {
    fn new(
        /// Resource blocks.
        #[param(range = 6..=100, default = 6)]
        prb: u32,
        /// Identity of the cell.
        #[param(range = 0..=503, default = 1)]
        cell: u16,
    ) -> Result<LteEnbReceive, MakeError> {
        let settings = station(prb, cell)?;
        Ok(LteEnbReceive {
            receiver: StationReceiver::new(&settings).map_err(|error| refused(error, "change the settings"))?,
            plans: std::array::from_fn(|_| UplinkPlan::default()),
            len: settings.numerology.subframe_len(),
            unplanned: 0,
            blocks: 0,
            wrong_blocks: 0,
        })
    }

    fn tick(
        &mut self,
        #[port(exactly = subframe_len(prb))] input: In<Complex32>,
        plan: In<u8>,
        #[port(up_to = record_bytes(prb))] mut output: Out<u8>,
    ) {
        if let Some(plan) = UplinkPlan::get(&mut Reader(&plan)) {
            let place = place(plan.tti);
            self.plans[place] = plan;
        }
        if input.len() != self.len {
            return output.truncate(0);
        }
        let number = input.first_item() / self.len as u64;
        let tti = Tti::new(number);
        let nothing = UplinkPlan { tti, ..UplinkPlan::default() };
        let planned = Some(&self.plans[place(tti)]).filter(|plan| plan.tti == tti);
        self.unplanned += u64::from(planned.is_none());
        let mut writer = Writer::new(&mut output);
        let (blocks, wrong) = self.receiver.receive(
            planned.unwrap_or(&nothing),
            &input,
            || &[],
            |heard| {
                put_uplink(number, heard, &mut writer);
                (heard.pusch.len(), heard.pusch.iter().filter(|pusch| pusch.detected && pusch.block.is_none()).count())
            },
        );
        self.blocks += blocks as u64;
        self.wrong_blocks += wrong as u64;
        let bytes = writer.finish().unwrap_or_default();
        output.truncate(bytes);
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        counts([("blocks", self.blocks), ("wrong_blocks", self.wrong_blocks), ("unplanned", self.unplanned)])
    }
}

fn place(tti: Tti) -> usize {
    tti.get() as usize % PLANS
}
