//! Random access at the base station: preambles, their answers, message 3, and who gets a place.

use takt_lte::Tti;

use super::context::Context;
use super::uplink_harq::{Phase, UplinkProcess};
use super::{BaseStation, uplink};
use crate::mac::message::Message;
use crate::mac::pdu::{Builder, channel};
use crate::mac::response::{Response, answer_len, compose};
use crate::random::Random;
use crate::{
    BlockSizes, ConfigError, DownlinkBlock, DownlinkGrant, Identity, LinkCounters, PreambleHeard, PuschExpected,
    PuschShape, Rnti, SearchSpace, StationConfig, SystemInformation, TerminalState, UplinkGrant, UplinkHeard,
};

/// Bits of message 3: a sub-header and an identity.
const MESSAGE3_BITS: usize = 56;
/// Terminals between preamble and message 3 at most.
const CONTENDERS: usize = 16;
/// Terminals that are refused or released and still to be told.
const DISMISSED: usize = 8;
/// The process of the block that tells them.
pub(super) const FAREWELL: u8 = 7;
/// Answers in one block.
const ANSWERS: usize = 4;
/// Those that are not answered wait up to 20 subframes: TS 36.321 table 7.2-1.
const BACK_OFF: u8 = 2;
/// Times 100 subframes that a terminal waits without a place.
const REFUSED_WAIT: u8 = 10;
/// The share of a common block's coded bits that are information.
const COMMON_RATE: f32 = 0.25;

/// A preamble without an answer.
#[derive(Clone, Copy, Debug)]
struct Pending {
    heard_at: u64,
    preamble: PreambleHeard,
}

/// Somebody with a temporary identifier, before message 3.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contender {
    pub(super) rnti: Rnti,
    pub(super) process: UplinkProcess,
}

/// Somebody who is told to go.
#[derive(Clone, Copy, Debug)]
struct Dismissed {
    rnti: Rnti,
    /// For whom there was no place; without, it is one who was attached.
    refused: Option<Identity>,
    /// The new data indicator of the block that says so.
    new_data: bool,
}

/// A block that everybody can read.
#[derive(Clone, Copy, Debug)]
struct CommonShape {
    mcs: u8,
    column: u8,
    bits: usize,
}

/// State of random access.
#[derive(Debug)]
pub(super) struct Access {
    pending: Vec<Pending>,
    pub(super) contenders: Vec<Contender>,
    dismissed: Vec<Dismissed>,
    next_rnti: Rnti,
    information: (CommonShape, Vec<u8>),
    message3_blocks: u8,
}

/// The smallest common block of this many bytes.
fn common_shape(bytes: usize, sizes: &dyn BlockSizes) -> Option<CommonShape> {
    let shapes = (0..=26).flat_map(|mcs| [2, 3].map(|column| (mcs, column)));
    let shapes = shapes.map(|(mcs, column)| CommonShape { mcs, column, bits: sizes.common_bits(mcs, column) });
    shapes.filter(|shape| shape.bits >= 8 * bytes && shape.bits.is_multiple_of(8)).min_by_key(|shape| shape.bits)
}

impl Access {
    pub(super) fn new(
        config: &StationConfig,
        sizes: &dyn BlockSizes,
        random: &mut Random,
    ) -> Result<Access, ConfigError> {
        let missing = |key, expected| ConfigError { key, value: "the tables of block sizes".to_owned(), expected };
        let mut bytes = config.information.bytes();
        let shape =
            common_shape(bytes.len(), sizes).ok_or_else(|| missing("information", "a common block that holds it"))?;
        bytes.resize(shape.bits / 8, 0);
        let fits = |&blocks: &u8| {
            takt_lte::valid_uplink_blocks(blocks.into()) && sizes.uplink_bits(0, blocks.into()) >= MESSAGE3_BITS
        };
        let message3_blocks =
            (1..=4).find(fits).ok_or_else(|| missing("uplink", "56 bits on at most 4 blocks with MCS 0"))?;
        if common_shape(answer_len(ANSWERS, true), sizes).is_none() {
            return Err(missing("common blocks", "one of at least 29 bytes"));
        }
        let span = u64::from(Rnti::LAST.0 - Rnti::FIRST.0) + 1;
        Ok(Access {
            pending: Vec::new(),
            contenders: Vec::new(),
            dismissed: Vec::new(),
            // Not always the first: a terminal of an earlier start may still listen to it.
            next_rnti: Rnti(Rnti::FIRST.0 + random.below(span) as u16),
            information: (shape, bytes),
            message3_blocks,
        })
    }

    /// Message 3 that is due in a subframe.
    pub(super) fn plan(&self, at: u64, pusch: &mut Vec<PuschExpected>) {
        pusch.extend(self.contenders.iter().filter_map(|one| uplink::expected(one.rnti, &one.process, at)));
    }

    /// The terminal with this identifier is told to attach anew, in a new block of process [`FAREWELL`].
    pub(super) fn release(&mut self, rnti: Rnti, new_data: bool) {
        self.dismiss(Dismissed { rnti, refused: None, new_data });
    }

    fn dismiss(&mut self, one: Dismissed) {
        if self.dismissed.len() < DISMISSED {
            self.dismissed.push(one);
        }
    }

    fn take_rnti(&mut self, is_taken: impl Fn(Rnti) -> bool) -> Rnti {
        loop {
            let rnti = self.next_rnti;
            self.next_rnti = if rnti == Rnti::LAST { Rnti::FIRST } else { Rnti(rnti.0 + 1) };
            if !is_taken(rnti) && self.contenders.iter().all(|one| one.rnti != rnti) {
                return rnti;
            }
        }
    }
}

impl BaseStation {
    pub(super) fn hear_preambles(&mut self, heard: &UplinkHeard<'_>, now: u64) {
        for &preamble in heard.preambles {
            if preamble.preamble >= self.config.information.preambles || preamble.timing_advance > 1282 {
                self.counters.implausible += 1;
                continue;
            }
            self.counters.preambles += 1;
            if self.access.pending.len() < 64 {
                self.access.pending.push(Pending { heard_at: now, preamble });
            }
        }
        let last = u64::from(self.config.information.response_window) + 2;
        let (kept, before) = (|one: &Pending| one.heard_at + last >= now + 4, self.access.pending.len());
        self.access.pending.retain(kept);
        self.counters.responses_missed += (before - self.access.pending.len()) as u64;
    }

    /// The broadcast, and who takes its place in the band.
    pub(super) fn send_information(&mut self, now: u64) {
        let tti = Tti::new(now + 4);
        if SystemInformation::is_sent_in(tti) {
            let (shape, bytes) = self.access.information.clone();
            let version = SystemInformation::redundancy_version(tti);
            if self.send_common(Rnti::SI, shape, version, bytes, now) {
                self.counters.blocks_sent += 1;
            }
        }
    }

    /// A block in the common search space; false if there is no room.
    fn send_common(&mut self, rnti: Rnti, shape: CommonShape, version: u8, bytes: Vec<u8>, now: u64) -> bool {
        let (first_block, left) = self.free_downlink();
        let coded = |blocks: u8| 2 * self.sizes.downlink_elements(Tti::new(now + 4), first_block, blocks);
        let slow_enough = |&blocks: &u8| (shape.bits + 24) as f32 <= COMMON_RATE * coded(blocks) as f32;
        let blocks = (1..=left).find(slow_enough).unwrap_or(left);
        if blocks == 0 || coded(blocks) < shape.bits + 24 || !self.take_elements(4) {
            return false;
        }
        let (mcs, power) = (shape.mcs, shape.column - 2);
        let grant =
            DownlinkGrant { first_block, blocks, mcs, process: 0, new_data: false, redundancy_version: version, power };
        self.orders.blocks.push(DownlinkBlock { rnti, grant, space: SearchSpace::Common, aggregation: 4, bytes });
        true
    }

    /// Answers to the preambles of one subframe, as many as there is room for message 3.
    pub(super) fn send_responses(&mut self, now: u64) {
        let Some(heard_at) = self.access.pending.iter().map(|one| one.heard_at).filter(|at| at + 3 <= now + 4).min()
        else {
            return;
        };
        let group: Vec<Pending> = self.access.pending.iter().filter(|one| one.heard_at == heard_at).copied().collect();
        let mut responses = Vec::new();
        for one in group.iter().take(ANSWERS) {
            let Some(response) = self.offer(one.preamble, now) else { break };
            responses.push(response);
        }
        let unanswered = responses.len() < group.len();
        let back_off = unanswered.then_some(BACK_OFF);
        if responses.is_empty() {
            return;
        }
        let rnti = Rnti::of_random_access(Tti::new(heard_at).subframe());
        let sent = common_shape(answer_len(responses.len(), unanswered), &*self.sizes).is_some_and(|shape| {
            let bytes = compose(back_off, &responses, self.config.bandwidth, shape.bits / 8);
            self.send_common(rnti, shape, 0, bytes, now)
        });
        if sent {
            self.counters.responses += responses.len() as u64;
            let answered = |one: &Pending| responses.iter().any(|response| response.preamble == one.preamble.preamble);
            self.access.pending.retain(|one| one.heard_at != heard_at || !answered(one));
        } else {
            let offered = |one: &Contender| responses.iter().any(|response| response.temporary == one.rnti);
            self.access.contenders.retain(|one| !offered(one));
        }
    }

    /// Blocks for message 3 six subframes after the answer, and a temporary identifier.
    fn offer(&mut self, preamble: PreambleHeard, now: u64) -> Option<Response> {
        let (at, blocks) = (now + 10, self.access.message3_blocks);
        let (first_block, free) = self.calendar.longest(at);
        if free < blocks || self.access.contenders.len() >= CONTENDERS {
            return None;
        }
        self.calendar.take(at, first_block, blocks);
        let contexts = &self.contexts;
        let temporary = self.access.take_rnti(|rnti| contexts.iter().any(|one| one.rnti == rnti));
        let shape = PuschShape { first_block, blocks, ..PuschShape::default() };
        let mut process = UplinkProcess::default();
        process.begin_message3(shape, at);
        self.access.contenders.push(Contender { rnti: temporary, process });
        let grant = UplinkGrant { first_block, blocks, power: 1, ..UplinkGrant::default() };
        Some(Response { preamble: preamble.preamble, timing_advance: preamble.timing_advance, grant, temporary })
    }

    /// Message 3 of a contender who is thereby known.
    pub(super) fn hear_message3(&mut self, rnti: Rnti, identity: Identity, snr_db: f32, now: u64) {
        let Some(at) = self.place(identity) else {
            self.counters.refused += 1;
            self.access.dismiss(Dismissed { rnti, refused: Some(identity), new_data: true });
            return;
        };
        self.contexts[at].rebind(rnti, snr_db, now);
    }

    /// The place of the terminal's memory; makes room for a new one if nobody who is present must go.
    fn place(&mut self, identity: Identity) -> Option<usize> {
        if let Some(at) = self.contexts.iter().position(|one| one.identity == identity) {
            return Some(at);
        }
        let session = self.random.next() as u32;
        let taken = self.contexts.len();
        if taken < usize::from(self.config.terminals) {
            self.contexts.push(Context::new(identity, taken as u8, session, &self.config));
            return Some(taken);
        }
        let lost = self.contexts.iter().enumerate().filter(|(_, one)| one.state == TerminalState::Lost);
        let (at, old) = lost.min_by_key(|(_, one)| one.since)?;
        let (place, packets) = (old.place, old.bearer.packets() as u64);
        self.counters.packets_lost += packets;
        self.counters += old.counters;
        self.contexts[at] = Context::new(identity, place, session, &self.config);
        Some(at)
    }

    /// Message 4 of those who are refused, and the farewell of those who are released: once each.
    pub(super) fn send_dismissals(&mut self) {
        while let Some(one) = self.access.dismissed.pop() {
            let message = match one.refused {
                Some(_) => Message::Refused { wait: REFUSED_WAIT },
                None => Message::Released,
            };
            let (first_block, left) = self.free_downlink();
            let sizes = &self.sizes;
            let Some(blocks) = (1..=left).find(|&blocks| sizes.downlink_bits(0, blocks.into()) >= 8 * 16) else {
                self.access.dismissed.push(one);
                return;
            };
            if !self.take_elements(4) {
                self.access.dismissed.push(one);
                return;
            }
            let mut pdu = Builder::new(self.sizes.downlink_bits(0, blocks.into()) / 8);
            if let Some(identity) = one.refused {
                pdu.element(channel::RESOLUTION, &identity.bytes());
            }
            let id = if one.refused.is_some() { channel::COMMON } else { channel::CONTROL };
            pdu.data(id, &message.bytes());
            let new_data = one.new_data;
            let grant = DownlinkGrant { first_block, blocks, process: FAREWELL, new_data, ..DownlinkGrant::default() };
            let bytes = pdu.finish();
            self.orders.blocks.push(DownlinkBlock {
                rnti: one.rnti,
                grant,
                space: SearchSpace::Own,
                aggregation: 4,
                bytes,
            });
        }
    }

    /// Message 3 that came, did not come, or comes again.
    pub(super) fn hear_contenders(&mut self, heard: &UplinkHeard<'_>, now: u64) {
        let most = self.config.information.message3_transmissions;
        let mut contenders = std::mem::take(&mut self.access.contenders);
        let mut known = Vec::new();
        contenders.retain_mut(|one| {
            match one.process.phase {
                Phase::Due(due) if due > now => return true,
                Phase::Due(due) if due == now => {}
                _ => return self.miss_message3(),
            }
            let pusch = heard.pusch.iter().find(|pusch| pusch.rnti == one.rnti);
            let block = pusch.and_then(|pusch| pusch.block);
            if let Some(identity) = block.and_then(|block| identity_of(block, &mut self.counters)) {
                self.answer_pusch(&one.process.shape, true);
                known.push((one.rnti, identity, pusch.map_or(0.0, |pusch| pusch.snr_db)));
                return false;
            }
            let PuschShape { first_block, blocks, .. } = one.process.shape;
            let again = one.process.tries < most && self.calendar.take(now + 8, first_block, blocks);
            self.answer_pusch(&one.process.shape, !again);
            if again {
                one.process.repeat(now + 8);
                return true;
            }
            self.miss_message3()
        });
        self.access.contenders = contenders;
        for (rnti, identity, snr_db) in known {
            self.hear_message3(rnti, identity, snr_db, now);
        }
    }

    fn miss_message3(&mut self) -> bool {
        self.counters.responses_missed += 1;
        false
    }
}

/// The identity in message 3.
fn identity_of(block: &[u8], counters: &mut LinkCounters) -> Option<Identity> {
    let parts = crate::mac::pdu::parse(block, crate::mac::pdu::Way::Up).unwrap_or_default();
    let sdu = parts.iter().find(|part| part.id == channel::COMMON).and_then(|part| part.bytes.first_chunk::<6>());
    counters.malformed += u64::from(sdu.is_none());
    sdu.map(|bytes| Identity::of_bytes(*bytes))
}
