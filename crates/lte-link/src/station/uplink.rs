//! The uplink at the base station: what PUSCH and PUCCH brought, repetitions, and grants.

use super::BaseStation;
use super::context::Context;
use super::uplink_harq::{Phase, UplinkProcess};
use crate::adaptation::highest_mcs;
use crate::grant::uplink_blocks_within;
use crate::mac::buffer_status::bytes_of;
use crate::mac::message::Message;
use crate::mac::pdu::{self, Part, Way, channel};
use crate::{
    Feedback, GrantOrder, PhichOrder, PuschExpected, PuschHeard, PuschShape, Rnti, SearchSpace, TRANSMISSIONS,
    TerminalState, UplinkGrant, UplinkHeard,
};

/// Elements of a resource block that PUSCH has: twelve symbols of twelve subcarriers.
const ELEMENTS: usize = 144;

/// The block to receive, if the process expects it in this subframe.
pub(super) fn expected(rnti: Rnti, process: &UplinkProcess, at: u64) -> Option<PuschExpected> {
    let is_due = process.phase == Phase::Due(at);
    is_due.then_some(PuschExpected {
        rnti,
        shape: process.shape,
        process: (at % 8) as u8,
        new_block: process.tries == 1,
    })
}

impl BaseStation {
    /// Answers to downlink blocks, requests and reports.
    pub(super) fn hear_feedback(&mut self, heard: &UplinkHeard<'_>, now: u64) {
        let adaptation = self.config.adaptation;
        for context in self.contexts.iter_mut().filter(|one| one.is_present()) {
            let answer = heard.acknowledgements.iter().find(|(rnti, _)| *rnti == context.rnti);
            let feedback = answer.map_or(Feedback::Dtx, |&(_, feedback)| feedback);
            let Some(outcome) = context.downlink.answer(now, feedback) else { continue };
            if outcome.answered && (outcome.is_first || !outcome.arrived) {
                context.downlink_loop.heard(outcome.arrived, &adaptation);
            }
            context.counters.blocks_given_up += u64::from(outcome.given_up);
        }
        for &rnti in heard.scheduling_requests {
            if let Some(context) = self.context_of(rnti) {
                context.request = true;
                context.counters.scheduling_requests += 1;
            }
        }
        for &(rnti, cqi) in heard.cqi {
            if let Some(context) = self.context_of(rnti).filter(|_| cqi <= 15) {
                context.cqi = cqi;
            }
        }
    }

    pub(super) fn hear_pusch(&mut self, heard: &UplinkHeard<'_>, now: u64) {
        self.hear_contenders(heard, now);
        for at in 0..self.contexts.len() {
            let context = &mut self.contexts[at];
            if !context.is_present() {
                continue;
            }
            for process in &mut context.uplink {
                // Its subframe was left out.
                if matches!(process.phase, Phase::Due(due) if due < now) {
                    process.phase = Phase::Parked { has_grant: false };
                }
            }
            match context.uplink[(now % 8) as usize].phase {
                Phase::Due(due) if due == now => self.hear_block(at, heard, now),
                Phase::Parked { has_grant } => self.repeat_elsewhere(at, has_grant, now),
                _ => {}
            }
        }
    }

    fn hear_block(&mut self, at: usize, heard: &UplinkHeard<'_>, now: u64) {
        let rnti = self.contexts[at].rnti;
        let pusch = heard.pusch.iter().find(|one| one.rnti == rnti);
        match pusch {
            Some(&PuschHeard { block: Some(block), snr_db, late, .. }) => {
                self.block_arrived(at, block, (snr_db, late), now);
            }
            Some(&PuschHeard { detected: true, snr_db, .. }) => self.block_failed(at, Some(snr_db), now),
            _ => self.block_failed(at, None, now),
        }
    }

    fn block_arrived(&mut self, at: usize, block: &[u8], (snr_db, late): (f32, i16), now: u64) {
        let adaptation = self.config.adaptation;
        let context = &mut self.contexts[at];
        let process = &mut context.uplink[(now % 8) as usize];
        let (shape, begun, is_first) = (process.shape, process.begun, process.tries == 1);
        process.end();
        context.counters.blocks_received += 1;
        context.heard_at = now;
        context.timing.measured(late);
        measure(context, snr_db);
        if is_first {
            context.uplink_loop.heard(true, &adaptation);
        }
        match pdu::parse(block, Way::Up) {
            Ok(parts) => parts.into_iter().for_each(|part| Self::take_part(context, part, begun, now)),
            Err(_) => context.counters.malformed += 1,
        }
        self.answer_pusch(&shape, true);
    }

    fn take_part(context: &mut Context, part: Part<'_>, begun: u64, now: u64) {
        let counters = &mut context.counters;
        match (part.id, part.bytes) {
            (channel::BUFFER_STATUS, &[report]) if begun >= context.reported.1 => {
                context.reported = (bytes_of(report), begun);
                context.request = false;
            }
            (channel::CONTROL, bytes) => match Message::parse(bytes) {
                Ok(Message::Complete { session, incarnation }) => Self::complete(context, session, incarnation, now),
                _ => counters.malformed += 1,
            },
            // Before it is complete, nobody knows whether it remembers the same numbers.
            (channel::BEARER, bytes) if context.state == TerminalState::Attached => {
                context.bearer.take(bytes, now, counters);
            }
            _ => {}
        }
    }

    fn block_failed(&mut self, at: usize, snr_db: Option<f32>, now: u64) {
        let adaptation = self.config.adaptation;
        let context = &mut self.contexts[at];
        let process = context.uplink[(now % 8) as usize];
        match snr_db {
            Some(snr_db) => {
                context.counters.blocks_failed += 1;
                measure(context, snr_db);
                context.uplink_loop.heard(false, &adaptation);
            }
            None => context.counters.blocks_missed += 1,
        }
        if process.tries >= TRANSMISSIONS {
            context.counters.blocks_unrecovered += 1;
            context.request = true;
            context.uplink[(now % 8) as usize].end();
            // A terminal that counts less than this end is told to stop.
            self.answer_pusch(&process.shape, true);
            return;
        }
        let PuschShape { first_block, blocks, .. } = process.shape;
        if snr_db.is_some() && self.calendar.take(now + 8, first_block, blocks) {
            self.answer_pusch(&process.shape, false);
            let context = &mut self.contexts[at];
            context.uplink[(now % 8) as usize].repeat(now + 8);
        } else {
            self.answer_pusch(&process.shape, true);
            self.repeat_elsewhere(at, snr_db.is_some(), now);
        }
    }

    /// Grants the block of a process once more; the process waits if there is no room.
    fn repeat_elsewhere(&mut self, at: usize, has_grant: bool, now: u64) {
        let context = &self.contexts[at];
        let process = context.uplink[(now % 8) as usize];
        let blocks = process.shape.blocks;
        let (first_block, free) = self.calendar.longest(now + 8);
        let aggregation = context.aggregation();
        let power = self.power_command(at);
        if free < blocks || !self.take_elements(aggregation) {
            self.contexts[at].uplink[(now % 8) as usize].phase = Phase::Parked { has_grant };
            return;
        }
        self.calendar.take(now + 8, first_block, blocks);
        let context = &mut self.contexts[at];
        let process = &mut context.uplink[(now % 8) as usize];
        let grant = process.repeat_elsewhere(first_block, has_grant, now + 8, power);
        self.order_grant(at, grant, now);
    }

    pub(super) fn answer_pusch(&mut self, shape: &PuschShape, ack: bool) {
        let PuschShape { first_block, cyclic_shift, .. } = *shape;
        self.orders.acknowledgements.push(PhichOrder { first_block, cyclic_shift, ack });
    }

    /// New blocks for those who have something to say.
    pub(super) fn send_grants(&mut self, now: u64) {
        let at = now + 8;
        let mut served = vec![0; self.contexts.len()];
        for index in self.uplink_order(now) {
            let (first_block, free) = self.calendar.longest(at);
            let most = uplink_blocks_within(free);
            let context = &self.contexts[index];
            let need = context.uplink_need(|process| self.uplink_bytes(process.shape.mcs, process.shape.blocks));
            if most == 0 || !self.take_elements(self.contexts[index].aggregation()) {
                break;
            }
            let (blocks, mcs) = self.uplink_size(index, most, need);
            served[index] = self.sizes.uplink_bits(mcs, blocks.into());
            self.calendar.take(at, first_block, blocks);
            let power = self.power_command(index);
            let context = &mut self.contexts[index];
            let shape = PuschShape { first_block, blocks, mcs, redundancy_version: 0, cyclic_shift: 0 };
            let grant = context.uplink[(at % 8) as usize].begin(shape, at, power);
            context.request = false;
            self.order_grant(index, grant, now);
        }
        for (context, bits) in self.contexts.iter_mut().zip(served) {
            context.uplink_share.served(now, bits);
        }
    }

    /// Those who need a grant and can have one, the first to be served first.
    fn uplink_order(&self, now: u64) -> Vec<usize> {
        let wants = |context: &Context| {
            let bytes = |process: &UplinkProcess| self.uplink_bytes(process.shape.mcs, process.shape.blocks);
            let is_idle = context.uplink[(now % 8) as usize].phase == Phase::Idle;
            context.is_present() && !context.opening && is_idle && context.uplink_need(bytes) > 0
        };
        let mut order: Vec<usize> = (0..self.contexts.len()).filter(|&at| wants(&self.contexts[at])).collect();
        let rank =
            |at: usize| self.contexts[at].uplink_share.rank(self.config.policy, self.contexts[at].uplink_quality());
        order.sort_by(|&a, &b| rank(a).total_cmp(&rank(b)));
        order
    }

    /// Blocks up to `most`, and modulation and coding, for `need` bytes.
    fn uplink_size(&self, index: usize, most: u8, need: usize) -> (u8, u8) {
        let quality = self.contexts[index].uplink_quality();
        let highest = self.config.adaptation.most_uplink_mcs;
        let mcs_of = |blocks: u8| {
            highest_mcs(highest, quality, ELEMENTS * usize::from(blocks), true, |mcs| {
                self.sizes.uplink_bits(mcs, blocks.into())
            })
        };
        // Four bytes more than said: headers.
        let enough = |&blocks: &u8| self.uplink_bytes(mcs_of(blocks), blocks) >= need + 4;
        let blocks =
            (1..=most).filter(|&blocks| takt_lte::valid_uplink_blocks(blocks.into())).find(enough).unwrap_or(most);
        (blocks, mcs_of(blocks))
    }

    fn order_grant(&mut self, at: usize, grant: UplinkGrant, now: u64) {
        let context = &mut self.contexts[at];
        context.granted_at = now;
        let (rnti, aggregation) = (context.rnti, context.aggregation());
        self.orders.grants.push(GrantOrder { rnti, grant, space: SearchSpace::Own, aggregation });
    }

    /// The command that brings the uplink's SNR nearer to its target.
    fn power_command(&self, at: usize) -> u8 {
        let Some(target) = self.config.adaptation.uplink_snr_db else { return 1 };
        match target - self.contexts[at].uplink_snr_db {
            missing if missing > 4.0 => 3,
            missing if missing > 1.5 => 2,
            missing if missing < -1.5 => 0,
            _ => 1,
        }
    }
}

fn measure(context: &mut Context, snr_db: f32) {
    if snr_db.is_finite() {
        context.uplink_snr_db += 0.25 * (snr_db.clamp(-30.0, 60.0) - context.uplink_snr_db);
    }
}
