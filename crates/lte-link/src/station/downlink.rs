//! The downlink at the base station: repetitions first, then new blocks in the order of the policy.

use takt_lte::Tti;

use super::BaseStation;
use super::context::Context;
use crate::adaptation::highest_mcs;
use crate::mac::message::Message;
use crate::mac::pdu::{Builder, channel};
use crate::{DownlinkBlock, DownlinkGrant, Rnti, SearchSpace, TerminalState};

/// Bytes of message 4: an echo and a configuration, with their sub-headers.
const OPENING: usize = 7 + 19;

impl BaseStation {
    /// The first free block of the downlink subframe, and how many are free from there on.
    pub(super) fn free_downlink(&self) -> (u8, u8) {
        let last = self.orders.blocks.last().map_or(0, |block| block.grant.first_block + block.grant.blocks);
        (last, self.config.bandwidth.blocks() as u8 - last)
    }

    pub(super) fn send_downlink(&mut self, now: u64) {
        let mut served = vec![0; self.contexts.len()];
        let order = self.downlink_order();
        let repeated: Vec<usize> = order.iter().copied().filter(|&at| self.repeat_block(at, now)).collect();
        self.send_dismissals();
        for at in order.into_iter().filter(|at| !repeated.contains(at)) {
            served[at] = self.send_block(at, now).unwrap_or(0);
        }
        for (context, bits) in self.contexts.iter_mut().zip(served) {
            context.downlink_share.served(now, bits);
        }
    }

    fn downlink_order(&self) -> Vec<usize> {
        let present = |&at: &usize| self.contexts[at].is_present();
        let mut order: Vec<usize> = (0..self.contexts.len()).filter(present).collect();
        let rank = |at: usize| {
            let context = &self.contexts[at];
            // Terminals that wait for message 4 go first.
            let urgent = context.opening || !context.messages.is_empty();
            (!urgent, context.downlink_share.rank(self.config.policy, context.downlink_quality()))
        };
        order.sort_by(|&a, &b| rank(a).0.cmp(&rank(b).0).then(rank(a).1.total_cmp(&rank(b).1)));
        order
    }

    /// Whether the terminal had a block to be sent again: it takes the terminal's turn, with or without room.
    fn repeat_block(&mut self, at: usize, now: u64) -> bool {
        let Some((process, blocks)) = self.contexts[at].downlink.repetition() else { return false };
        let (first_block, left) = self.free_downlink();
        let aggregation = self.contexts[at].aggregation();
        if blocks <= left && self.take_elements(aggregation) {
            let context = &mut self.contexts[at];
            let (grant, bytes) = context.downlink.repeat(process, first_block, now + 4);
            context.counters.blocks_sent_again += 1;
            let rnti = context.rnti;
            self.order_block(rnti, aggregation, grant, bytes);
        }
        true
    }

    fn order_block(&mut self, rnti: Rnti, aggregation: u8, grant: DownlinkGrant, bytes: Vec<u8>) {
        self.orders.blocks.push(DownlinkBlock { rnti, grant, space: SearchSpace::Own, aggregation, bytes });
    }

    /// A new block for a terminal: its bits.
    fn send_block(&mut self, at: usize, now: u64) -> Option<usize> {
        let context = &self.contexts[at];
        let process = context.downlink.idle()?;
        let need = self.downlink_need(context, now);
        let (first_block, left) = self.free_downlink();
        if need == 0 || left == 0 {
            return None;
        }
        let (blocks, mcs) = if context.opening {
            self.opening_size(first_block, left, need, now)?
        } else {
            self.downlink_size(context, first_block, left, need, now)
        };
        let bits = self.sizes.downlink_bits(mcs, blocks.into());
        let aggregation = context.aggregation();
        if bits < 8 || !self.take_elements(aggregation) {
            return None;
        }
        let pdu = self.fill(at, bits / 8, now)?;
        let context = &mut self.contexts[at];
        let grant = DownlinkGrant { first_block, blocks, mcs, power: 1, ..DownlinkGrant::default() };
        let grant = context.downlink.begin(process, grant, &pdu, now + 4);
        context.counters.blocks_sent += 1;
        let rnti = context.rnti;
        self.order_block(rnti, aggregation, grant, pdu);
        Some(bits)
    }

    /// Bytes that wait for a terminal, with headers.
    fn downlink_need(&self, context: &Context, now: u64) -> usize {
        let opening = if context.opening { OPENING } else { 0 };
        let messages: usize = context.messages.iter().map(|message| message.bytes().len() + 2).sum();
        let bearer = if context.state == TerminalState::Attached { context.bearer.waiting(now) } else { 0 };
        let timing = usize::from(context.timing.is_due(now)) * 2;
        opening + messages + timing + bearer
    }

    /// The fewest blocks that hold `need` bytes, at most `left`, and their modulation and coding.
    fn downlink_size(&self, context: &Context, first: u8, left: u8, need: usize, now: u64) -> (u8, u8) {
        let (quality, tti) = (context.downlink_quality(), Tti::new(now + 4));
        let highest = self.config.adaptation.most_downlink_mcs;
        let mcs_of = |blocks: u8| {
            let elements = self.sizes.downlink_elements(tti, first, blocks);
            highest_mcs(highest, quality, elements, false, |mcs| self.sizes.downlink_bits(mcs, blocks.into()))
        };
        let holds = |blocks: u8| self.sizes.downlink_bits(mcs_of(blocks), blocks.into()) / 8 >= need;
        let (mut low, mut high) = (1, left);
        while low < high {
            let middle = low.midpoint(high);
            if holds(middle) { high = middle } else { low = middle + 1 }
        }
        (low, mcs_of(low))
    }

    /// Message 4 is one block, slow enough for a channel that nobody knows: `None` if this subframe has no room for it.
    fn opening_size(&self, first: u8, left: u8, need: usize, now: u64) -> Option<(u8, u8)> {
        // A rate of a half at most.
        let elements = self.sizes.downlink_elements(Tti::new(now + 4), first, left);
        let holds = |&mcs: &u8| self.sizes.downlink_bits(mcs, left.into()) >= 8 * need;
        let mcs = (0..=9).find(holds).filter(|&mcs| self.sizes.downlink_bits(mcs, left.into()) + 24 <= elements)?;
        let blocks = (1..=left).find(|&blocks| self.sizes.downlink_bits(mcs, blocks.into()) >= 8 * need)?;
        Some((blocks, mcs))
    }

    /// The PDU of a new block; `None` if nothing fits.
    fn fill(&mut self, at: usize, bytes: usize, now: u64) -> Option<Vec<u8>> {
        let config = &self.config;
        let context = &mut self.contexts[at];
        let mut pdu = Builder::new(bytes);
        if context.opening {
            let setup = Message::Setup(context.setup(config)).bytes();
            pdu.element(channel::RESOLUTION, &context.identity.bytes());
            context.opening = !pdu.data(channel::COMMON, &setup);
        }
        if context.timing.is_due(now) && pdu.room() > 2 {
            let command = context.timing.command(now);
            pdu.element(channel::TIMING, &[command]);
            context.counters.timing_commands += 1;
        }
        while context.messages.front().is_some_and(|message| pdu.data(channel::CONTROL, &message.bytes())) {
            context.messages.pop_front();
        }
        if context.state == TerminalState::Attached {
            while let Some(part) = context.bearer.build(pdu.room(), now, &mut context.counters) {
                pdu.data(channel::BEARER, &part);
            }
        }
        (!pdu.is_empty()).then(|| pdu.finish())
    }
}
