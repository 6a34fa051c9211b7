//! The downlink at the terminal: blocks for everybody, for those who sent a preamble, and its own.

use super::Terminal;
use crate::mac::message::Message;
use crate::mac::pdu::{self, Part, Way, channel};
use crate::{BlockHeard, DownlinkHeard, LinkState, LossReason, Rnti};

/// A command of timing advance holds from the sixth subframe on: TS 36.213 section 4.2.3.
const TIMING_DELAY: u64 = 6;

impl Terminal {
    pub(super) fn hear_blocks(&mut self, heard: &DownlinkHeard<'_>, now: u64) {
        for one in heard.blocks {
            match one.rnti {
                Rnti::SI => {
                    if let Some(block) = one.block {
                        self.hear_information(block, now);
                    }
                }
                rnti if Some(rnti) == self.rnti => self.hear_own(one, now),
                rnti => {
                    if let Some(block) = one.block.filter(|_| self.state == LinkState::NoResponse) {
                        self.hear_response(rnti, block, now);
                    }
                }
            }
        }
    }

    fn hear_own(&mut self, one: &BlockHeard<'_>, now: u64) {
        let heard = self.downlink.heard(&one.grant, one.block.is_some());
        match one.block {
            Some(_) => self.counters.blocks_received += 1,
            None => self.counters.blocks_failed += 1,
        }
        if let Some(block) = one.block.filter(|_| heard.take) {
            match pdu::parse(block, Way::Down) {
                Ok(parts) if self.state == LinkState::Contending => self.resolve(&parts, now),
                Ok(parts) => parts.into_iter().for_each(|part| self.take_part(part, now)),
                Err(_) => self.counters.malformed += 1,
            }
        }
        if self.state >= LinkState::Completing {
            self.heard_at = now;
            self.ack = Some(self.ack.unwrap_or(true) && heard.ack);
        }
    }

    /// Message 4, or that of somebody with the same preamble.
    fn resolve(&mut self, parts: &[Part<'_>], now: u64) {
        let echo = parts.iter().find(|part| part.id == channel::RESOLUTION);
        let Some(echo) = echo else { return };
        if echo.bytes != self.config.identity.bytes() {
            self.counters.contentions_lost += 1;
            let spread = self.information.as_ref().map_or(10, |information| information.response_window);
            self.try_again(2 * u64::from(spread), now);
            return;
        }
        let message = parts.iter().find(|part| part.id == channel::COMMON).map(|part| Message::parse(part.bytes));
        match message {
            Some(Ok(Message::Setup(setup))) => self.take_setup(setup, now),
            Some(Ok(Message::Refused { wait })) => self.take_refusal(wait, now),
            _ => self.counters.malformed += 1,
        }
    }

    fn take_part(&mut self, part: Part<'_>, now: u64) {
        match (part.id, part.bytes) {
            (channel::TIMING, &[command]) if command < 64 => {
                self.counters.timing_commands += 1;
                self.timing_command = Some((now + TIMING_DELAY, i16::from(command) - 31));
            }
            (channel::CONTROL, bytes) => self.take_message(bytes, now),
            (channel::BEARER, bytes) if self.state >= LinkState::Completing => {
                self.bearer.take(bytes, now, &mut self.counters);
            }
            _ => {}
        }
    }

    fn take_message(&mut self, bytes: &[u8], now: u64) {
        let own = |session, incarnation| self.session == Some(session) && self.incarnation == incarnation;
        match Message::parse(bytes) {
            Ok(Message::Accepted { session, incarnation }) if own(session, incarnation) => {
                if self.state == LinkState::Completing {
                    self.counters.attached += 1;
                    self.enter(LinkState::Attached, now);
                }
            }
            Ok(Message::Released) if self.state >= LinkState::Completing => self.lose(LossReason::Released, now),
            _ => self.counters.malformed += 1,
        }
    }
}
