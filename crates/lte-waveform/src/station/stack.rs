//! The link layer of a base station.
#![allow(clippy::too_many_arguments, reason = "each port of a component is an argument")]

use std::sync::Arc;

use takt_lte::{Tti, control_elements};
use takt_lte_link::{BaseStation, LinkCounters, Policy, StationConfig, TerminalState, UplinkHeard};
use takt_runtime::{MakeError, component, graph::Value};

use crate::codec::{Coded, Reader, Writer};
use crate::due::SubframeDue;
use crate::packets::{PacketList, PacketsOf};
use crate::records::{Preambles, UplinkFound};
use crate::settings::{bandwidth, counts, record_bytes, refused, sizes};

struct LteEnbStack {
    link: BaseStation,
    due: SubframeDue,
    refused: u64,
}

/// Is the link layer of a base station: random access, scheduler, HARQ, RLC. It takes what uplink subframe n brought, and orders
/// downlink subframe n + 4. Packets go to the terminal that attached first. Calls allocate lists and packets.
#[component(name = "lte-enb-stack")]
impl LteEnbStack {
    fn new(
        /// Resource blocks.
        #[param(range = 6..=100, default = 6)]
        prb: u32,
        /// Order in which terminals are served.
        #[param(choice = ["round-robin", "best-quality", "proportional-fair"], default = "round-robin")]
        scheduler: String,
        /// Which random numbers.
        #[param(default = 1)]
        seed: u64,
    ) -> Result<LteEnbStack, MakeError> {
        let sizes = sizes(prb)?;
        let policy = match scheduler.as_str() {
            "best-quality" => Policy::BestQuality,
            "proportional-fair" => Policy::ProportionalFair,
            _ => Policy::RoundRobin,
        };
        let elements = control_elements(&sizes.cell, sizes.cfi) as u8;
        let config = StationConfig { policy, control_elements: elements, ..StationConfig::new(bandwidth(prb)?, seed) };
        let link = BaseStation::new(config, Arc::new(sizes)).map_err(|error| refused(error, "change the settings"))?;
        Ok(LteEnbStack { link, due: SubframeDue::default(), refused: 0 })
    }

    fn tick(
        &mut self,
        heard: In<u8>,
        preambles: In<u8>,
        packets: In<u8>,
        #[port(up_to = record_bytes(prb))] mut orders: Out<u8>,
        #[port(up_to = record_bytes(prb))] mut plan: Out<u8>,
        #[port(up_to = record_bytes(prb))] mut delivered: Out<u8>,
        slot: u64,
    ) {
        let found = UplinkFound::get(&mut Reader(&heard));
        let preambles = Preambles::get(&mut Reader(&preambles));
        let number = found.as_ref().map(|found| found.number);
        match self.due.in_slot(slot, number) {
            Some(number) => {
                let preambles = preambles.filter(|preambles| preambles.number == number);
                let preambles = preambles.map(|preambles| preambles.found).unwrap_or_default();
                let heard = found.as_ref().map_or_else(UplinkHeard::default, |found| found.heard(&preambles));
                let ordered = self.link.subframe(Tti::new(number), &heard);
                let (mut to_send, mut to_plan) = (Writer::new(&mut orders), Writer::new(&mut plan));
                ordered.put(&mut to_send);
                ordered.listen.put(&mut to_plan);
                let (sent, planned) = (to_send.finish(), to_plan.finish());
                orders.truncate(sent.unwrap_or_default());
                plan.truncate(planned.unwrap_or_default());
            }
            None => {
                orders.truncate(0);
                plan.truncate(0);
            }
        }
        let to = self.link.terminals().next().map(|terminal| terminal.identity);
        for packet in PacketsOf(&packets) {
            let sent = to.is_some_and(|to| self.link.send(to, packet).is_ok());
            self.refused += u64::from(!sent);
        }
        let mut list = PacketList::new(&mut delivered);
        while list.has_room() {
            let Some((_, packet)) = self.link.receive() else { break };
            list.add(&packet);
        }
        let bytes = list.finish();
        delivered.truncate(bytes);
        // A lost input costs what it brought, and no packet of other subframes.
        if bytes == 0 {
            delivered.withhold();
        }
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        let attached = self.link.terminals().filter(|terminal| terminal.state == TerminalState::Attached).count();
        let mut all = LinkCounters::default();
        self.link.terminals().for_each(|terminal| all += terminal.counters);
        counts([
            ("attached", attached as u64),
            ("packets_refused", self.refused),
            ("packets_delivered", all.packets_delivered),
            ("blocks_sent", all.blocks_sent),
            ("blocks_sent_again", all.blocks_sent_again),
            ("links_lost", all.lost.total()),
        ])
    }
}
