//! The link layer of a terminal.

use std::sync::Arc;

use takt_lte_link::{Identity, LinkState, Terminal, TerminalConfig};
use takt_runtime::{MakeError, component, graph::Value};

use crate::codec::{Coded, Reader, Writer};
use crate::packets::{PacketList, PacketsOf};
use crate::records::{DownlinkFound, Listening, SubframeEnd};
use crate::settings::{bandwidth, counts, record_bytes, refused, sizes};

struct LteUeStack {
    link: Terminal,
    slots: u64,
    /// The slot in which the link came up first.
    attached_slot: Option<u64>,
    refused: u64,
}

/// Is the link layer of a terminal: random access, HARQ, RLC. It takes what downlink subframe n brought, and orders uplink
/// subframe n + 4. Calls allocate packets.
#[component(name = "lte-ue-stack")]
impl LteUeStack {
    fn new(
        /// Resource blocks.
        #[param(range = 6..=100, default = 6)]
        prb: u32,
        /// Identity of the terminal.
        #[param(range = 0..=281_474_976_710_655_i64, default = 1)]
        identity: u64,
        /// Which random numbers.
        #[param(default = 2)]
        seed: u64,
    ) -> Result<LteUeStack, MakeError> {
        let identity = Identity::new(identity).map_err(|error| refused(error, "give another `identity`"))?;
        let config = TerminalConfig::new(bandwidth(prb)?, identity, seed);
        let link =
            Terminal::new(config, Arc::new(sizes(prb)?)).map_err(|error| refused(error, "change the settings"))?;
        Ok(LteUeStack { link, slots: 0, attached_slot: None, refused: 0 })
    }

    fn tick(
        &mut self,
        heard: In<u8>,
        packets: In<u8>,
        #[port(up_to = record_bytes(prb))] mut orders: Out<u8>,
        #[port(up_to = record_bytes(prb))] mut plan: Out<u8>,
        #[port(up_to = record_bytes(prb))] mut delivered: Out<u8>,
        slot: u64,
    ) {
        self.slots = slot + 1;
        let (mut to_send, mut to_plan) = (Writer::new(&mut orders), Writer::new(&mut plan));
        let mut heard = Reader(&heard);
        while !heard.is_empty() {
            let Some((found, end)) = DownlinkFound::get(&mut heard).zip(SubframeEnd::get(&mut heard)) else { break };
            end.put(&mut to_send);
            self.link.information().map(|information| information.prach).put(&mut to_send);
            let ordered = self.link.subframe(found.tti, &found.heard());
            ordered.put(&mut to_send);
            Listening { ordered: ordered.tti, plan: ordered.listen }.put(&mut to_plan);
        }
        let (sent, planned) = (to_send.finish(), to_plan.finish());
        orders.truncate(sent.unwrap_or_default());
        plan.truncate(planned.unwrap_or_default());
        if self.link.state() == LinkState::Attached {
            self.attached_slot.get_or_insert(slot);
        }
        for packet in PacketsOf(&packets) {
            self.refused += u64::from(self.link.send(packet).is_err());
        }
        let mut list = PacketList::new(&mut delivered);
        while list.has_room() {
            let Some(packet) = self.link.receive() else { break };
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
        let counters = self.link.counters();
        let mut results = counts([
            ("packets_refused", self.refused),
            ("packets_delivered", counters.packets_delivered),
            ("blocks_sent", counters.blocks_sent),
            ("blocks_sent_again", counters.blocks_sent_again),
            ("links_lost", counters.lost.total()),
        ]);
        results.push(("state", Value::Text(format!("{:?}", self.link.state()))));
        if let Some(slot) = self.attached_slot {
            results.push(("attached_slot", Value::Int(i64::try_from(slot).unwrap_or(i64::MAX))));
        }
        results
    }
}
