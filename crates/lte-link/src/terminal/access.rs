//! Random access at the terminal: TS 36.321 section 5.1.

use takt_lte::Tti;

use super::Terminal;
use crate::mac::message::Setup;
use crate::mac::pdu::{Builder, channel};
use crate::mac::response;
use crate::{AHEAD, LinkState, PreambleOrder, PuschShape, Rnti, SystemInformation};

/// Subframes of rest after the last attempt: up to this many.
const LONG_WAIT: u64 = 200;

/// How far an access has got.
#[derive(Clone, Copy, Debug)]
pub(super) enum Phase {
    /// The next preamble is sent from this subframe on.
    Waiting { from: u64 },
    /// A preamble is sent; the answer comes in these subframes, the last one included.
    Window { preamble: u8, rnti: Rnti, begin: u64, end: u64 },
    /// Message 3 is or will be sent in this subframe; it must be answered before the other.
    Contending { message3: Option<(u64, PuschShape)>, until: u64 },
}

impl Terminal {
    pub(super) fn access(&mut self, now: u64) {
        if self.state >= LinkState::Completing {
            return;
        }
        let Some(information) = &self.information else { return };
        match self.phase {
            Phase::Waiting { from } if now >= from => {
                if self.state != LinkState::BackOff {
                    self.enter(LinkState::BackOff, now);
                }
                self.send_preamble(now);
            }
            Phase::Window { end, .. } if now >= end => {
                self.counters.responses_missed += 1;
                self.try_again(0, now);
            }
            Phase::Contending { until, .. } if now >= until => {
                self.counters.contentions_lost += 1;
                self.try_again(u64::from(information.response_window), now);
            }
            _ => {}
        }
    }

    fn send_preamble(&mut self, now: u64) {
        let at = now + u64::from(AHEAD);
        let Some(information) = self.information.as_ref().filter(|one| one.prach.is_opportunity(Tti::new(at))) else {
            return;
        };
        let preamble = self.random.below(information.preambles.into()) as u8;
        let ramp_db = u16::from(information.ramp_step_db) * u16::from(self.attempts);
        self.orders.preamble = Some(PreambleOrder { preamble, ramp_db });
        let rnti = Rnti::of_random_access(Tti::new(at).subframe());
        let end = at + 2 + u64::from(information.response_window);
        self.phase = Phase::Window { preamble, rnti, begin: at + 3, end };
        self.attempts += 1;
        self.counters.preambles += 1;
        self.enter(LinkState::NoResponse, now);
    }

    /// The attempt has failed: the next one comes within `spread` subframes, or after a long wait.
    pub(super) fn try_again(&mut self, spread: u64, now: u64) {
        self.forget_air();
        let most = self.information.as_ref().map_or(1, |information| information.attempts);
        let spread = if self.attempts >= most {
            self.counters.accesses_failed += 1;
            self.attempts = 0;
            LONG_WAIT
        } else {
            spread
        };
        self.phase = Phase::Waiting { from: now + self.random.below(spread + 1) };
        self.enter(LinkState::BackOff, now);
    }

    /// An answer for those who sent a preamble in the same subframe.
    pub(super) fn hear_response(&mut self, rnti: Rnti, block: &[u8], now: u64) {
        let Phase::Window { preamble, rnti: expected, begin, end } = self.phase else { return };
        if rnti != expected || !(begin..=end).contains(&now) {
            return;
        }
        let Ok(answer) = response::parse(block, self.config.bandwidth) else {
            self.counters.malformed += 1;
            return;
        };
        let Some(own) = answer.responses.iter().find(|one| one.preamble == preamble) else {
            if let Some(subframes) = answer.back_off {
                self.counters.responses_missed += 1;
                self.try_again(subframes.into(), now);
            }
            return;
        };
        if !takt_lte::valid_uplink_blocks(own.grant.blocks.into()) {
            self.counters.implausible += 1;
            return;
        }
        self.counters.responses += 1;
        self.forget_air();
        self.rnti = Some(own.temporary);
        self.timing_advance = own.timing_advance;
        let (first_block, blocks, mcs) = (own.grant.first_block, own.grant.blocks, own.grant.mcs);
        let shape = PuschShape { first_block, blocks, mcs, ..PuschShape::default() };
        // TS 36.213 section 6.1.1.
        let at = now + 6;
        self.phase = Phase::Contending { message3: Some((at, shape)), until: at + self.contention_window() };
        self.enter(LinkState::Contending, now);
    }

    fn contention_window(&self) -> u64 {
        self.information.as_ref().map_or(64, |information| information.contention_window.into())
    }

    /// The identity, where the answer has granted it.
    pub(super) fn send_message3(&mut self, now: u64) {
        let Phase::Contending { message3: Some((at, shape)), until } = self.phase else { return };
        if now + u64::from(AHEAD) < at {
            return;
        }
        self.phase = Phase::Contending { message3: None, until };
        let mut pdu = Builder::new(self.sizes.uplink_bits(shape.mcs, shape.blocks.into()) / 8);
        let most = self.information.as_ref().map_or(4, |information| information.message3_transmissions);
        if now + u64::from(AHEAD) == at && self.add_identity(&mut pdu) {
            self.uplink.begin(false, shape, pdu.finish(), most, at);
        } else {
            self.counters.implausible += 1;
        }
    }

    fn add_identity(&self, pdu: &mut Builder) -> bool {
        pdu.data_to_end(channel::COMMON, &self.config.identity.bytes())
    }

    /// Message 3 is sent once more: so message 4 has its time anew.
    pub(super) fn prolong_contention(&mut self, now: u64) {
        let window = self.contention_window();
        if let Phase::Contending { until, .. } = &mut self.phase {
            *until = now + u64::from(AHEAD) + window;
        }
    }

    /// Message 4 with this terminal's identity.
    pub(super) fn take_setup(&mut self, setup: Setup, now: u64) {
        if self.session == Some(setup.session) {
            self.bearer.resume(&mut self.counters);
            self.counters.resumed += 1;
        } else {
            self.bearer.restart(setup.mode, &mut self.counters);
        }
        self.uplink.clear();
        self.session = Some(setup.session);
        self.setup = Some(setup);
        self.instance = self.information.as_ref().map(|information| information.instance);
        self.attempts = 0;
        self.phase = Phase::Waiting { from: now };
        (self.heard_at, self.granted_at, self.complete_at) = (now, now, now);
        self.enter(LinkState::Completing, now);
    }

    /// No place at the base station.
    pub(super) fn take_refusal(&mut self, wait: u8, now: u64) {
        self.counters.refused += 1;
        self.forget_air();
        self.attempts = 0;
        self.phase = Phase::Waiting { from: now + 100 * u64::from(wait) };
        self.enter(LinkState::Refused, now);
    }

    pub(super) fn hear_information(&mut self, block: &[u8], now: u64) {
        let Ok(information) = SystemInformation::parse(block, self.config.bandwidth) else {
            self.counters.malformed += 1;
            return;
        };
        self.counters.information_received += 1;
        let has_restarted = self.state >= LinkState::Completing && self.instance != Some(information.instance);
        if has_restarted {
            self.lose(crate::LossReason::Restarted, now);
        }
        self.information = Some(information);
        if self.state == LinkState::NoSystemInformation {
            self.phase = Phase::Waiting { from: now };
            self.enter(LinkState::BackOff, now);
        }
    }
}
