//! The uplink at the terminal: grants, repetitions, requests, and what a block holds.

use super::uplink_harq::Asked;
use super::{COMPLETE_AGAIN, Terminal};
use crate::mac::buffer_status::report_of;
use crate::mac::message::Message;
use crate::mac::pdu::{Builder, channel};
use crate::{AHEAD, DownlinkHeard, LinkState, PucchOrder, PuschOrder, PuschShape, Rnti, TRANSMISSIONS, UplinkGrant};

/// Subframes without a grant after which a terminal with data asks for one.
const PATIENCE: u64 = 8;

impl Terminal {
    pub(super) fn hear_grants(&mut self, heard: &DownlinkHeard<'_>, now: u64) {
        let own = |&&(rnti, _): &&(Rnti, UplinkGrant)| Some(rnti) == self.rnti;
        let grant = heard.grants.iter().find(own).map(|&(_, grant)| grant);
        // A grant overrides what PHICH says.
        let sent = match grant.filter(|_| self.state >= LinkState::Completing) {
            Some(grant) => self.hear_grant(&grant, now),
            None => self.uplink.answered(now, heard.acknowledgement),
        };
        if sent && grant.is_none() {
            self.counters.blocks_sent_again += 1;
            self.prolong_contention(now);
        }
    }

    /// Whether a block is sent because of it.
    fn hear_grant(&mut self, grant: &UplinkGrant, now: u64) -> bool {
        let at = now + u64::from(AHEAD);
        self.heard_at = now;
        let end = usize::from(grant.first_block) + usize::from(grant.blocks);
        if !takt_lte::valid_uplink_blocks(grant.blocks.into()) || end > self.config.bandwidth.blocks() || grant.mcs > 31
        {
            self.counters.implausible += 1;
            return false;
        }
        (self.granted_at, self.requests) = (now, 0);
        self.power_db = self.power_db.saturating_add(grant.power_step_db()).clamp(-40, 40);
        let names_size = grant.mcs <= 28;
        let bytes = names_size.then(|| self.sizes.uplink_bits(grant.mcs, grant.blocks.into()) / 8);
        match self.uplink.asked(grant, at, bytes) {
            Asked::New(bytes) => {
                let (first_block, blocks, mcs) = (grant.first_block, grant.blocks, grant.mcs);
                let shape =
                    PuschShape { first_block, blocks, mcs, redundancy_version: 0, cyclic_shift: grant.cyclic_shift };
                let pdu = self.fill(bytes, now);
                self.uplink.begin(grant.new_data, shape, pdu, TRANSMISSIONS, at);
                self.counters.blocks_sent += 1;
            }
            Asked::Repetition => {
                self.uplink.repeat_at_grant(grant, at);
                self.counters.blocks_sent_again += 1;
            }
            Asked::Nothing => {
                self.counters.implausible += 1;
                return false;
            }
        }
        true
    }

    /// A new block: control first, then the bearer, and always what is left.
    fn fill(&mut self, bytes: usize, now: u64) -> Vec<u8> {
        let mut pdu = Builder::new(bytes);
        if let Some(message) = self.message_due(now)
            && pdu.data(channel::CONTROL, &message.bytes())
        {
            self.complete_at = now + COMPLETE_AGAIN;
        }
        // The report goes last into the block, since it says what is left.
        while self.state == LinkState::Attached && pdu.room() > 2 {
            let Some(part) = self.bearer.build(pdu.room() - 2, now, &mut self.counters) else { break };
            pdu.data(channel::BEARER, &part);
        }
        let report = report_of(self.waiting(now));
        pdu.element(channel::BUFFER_STATUS, &[report]);
        pdu.finish()
    }

    fn message_due(&self, now: u64) -> Option<Message> {
        let session = self.session.filter(|_| self.state == LinkState::Completing && now >= self.complete_at)?;
        Some(Message::Complete { session, incarnation: self.incarnation })
    }

    /// Bytes that wait to be sent.
    fn waiting(&self, now: u64) -> usize {
        let message = if self.message_due(now).is_some() { 11 } else { 0 };
        let bearer = if self.state == LinkState::Attached { self.bearer.waiting(now) } else { 0 };
        message + bearer
    }

    pub(super) fn order(&mut self, now: u64) {
        let at = now + u64::from(AHEAD);
        if self.orders.preamble.is_none() {
            self.order_pusch(at);
            if self.orders.pusch.is_none() {
                self.order_pucch(now, at);
            }
        }
        self.orders.timing_advance = self.timing_advance;
        self.orders.listen = self.plan();
    }

    fn order_pusch(&mut self, at: u64) {
        let Some(rnti) = self.rnti else { return };
        let Some((shape, bytes)) = self.uplink.sent_in(at) else { return };
        let (ack, power_db, bytes) = (self.ack, self.power_db, bytes.to_vec());
        self.orders.pusch = Some(PuschOrder { rnti, shape, ack, power_db, bytes });
    }

    fn order_pucch(&mut self, now: u64, at: u64) {
        let Some(setup) = self.setup.filter(|_| self.state >= LinkState::Completing) else { return };
        let is_turn = |(period, offset, _): (u8, u8, u16)| at % u64::from(period) == u64::from(offset);
        let wants = self.waiting(now) > 0 && now >= self.granted_at + PATIENCE;
        self.orders.pucch = if wants && is_turn(setup.request) {
            self.requests += 1;
            self.counters.scheduling_requests += 1;
            Some(PucchOrder::SchedulingRequest { ack: self.ack, resource: setup.request.2 })
        } else if let Some(ack) = self.ack {
            Some(PucchOrder::Acknowledgement { ack, resource: setup.acknowledgement })
        } else {
            let cqi = PucchOrder::Cqi { cqi: self.cqi, resource: setup.cqi.2 };
            is_turn(setup.cqi).then_some(cqi)
        };
    }
}
