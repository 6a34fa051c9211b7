//! Counts of events, and how far a link has got.

use std::fmt;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::Identity;

/// Events of a link since its end started. A base station keeps one for each terminal and one for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct LinkCounters {
    /// Packets taken from above.
    pub packets_accepted: u64,
    /// Packets refused since the queue was full.
    pub packets_refused_full: u64,
    /// Packets refused since they had no byte, or more than 1500.
    pub packets_refused_size: u64,
    /// Packets refused since no such terminal is known.
    pub packets_refused_unknown: u64,
    /// Packets given upwards.
    pub packets_delivered: u64,
    /// Packets that arrived while those above took none: dropped.
    pub packets_untaken: u64,
    /// Packets taken and perhaps not delivered: the other end has lost its memory, or the mode is unacknowledged.
    pub packets_lost: u64,
    /// Packets of which a part never came, in unacknowledged mode.
    pub packets_skipped: u64,
    /// RLC: data PDUs sent for the first time.
    pub rlc_sent: u64,
    /// RLC: data PDUs sent again.
    pub rlc_sent_again: u64,
    /// RLC: data PDUs received.
    pub rlc_received: u64,
    /// RLC: of these, those without anything new.
    pub rlc_duplicates: u64,
    /// RLC: status reports sent.
    pub rlc_statuses_sent: u64,
    /// RLC: status reports received.
    pub rlc_statuses_received: u64,
    /// Blocks sent for the first time.
    pub blocks_sent: u64,
    /// Blocks sent again by HARQ.
    pub blocks_sent_again: u64,
    /// Blocks sent that HARQ gave up.
    pub blocks_given_up: u64,
    /// Blocks received.
    pub blocks_received: u64,
    /// Transmissions whose check was wrong.
    pub blocks_failed: u64,
    /// Expected transmissions that were not there at all.
    pub blocks_missed: u64,
    /// Blocks granted to a terminal that never arrived, with all repetitions.
    pub blocks_unrecovered: u64,
    /// PDUs, messages and broadcasts that meant nothing.
    pub malformed: u64,
    /// Grants or assignments that no physical layer could have meant, such as an unknown size.
    pub implausible: u64,
    /// System information received.
    pub information_received: u64,
    /// Preambles sent or heard.
    pub preambles: u64,
    /// Answers to preambles, sent or received.
    pub responses: u64,
    /// Preambles that were not answered, or whose message 3 did not come.
    pub responses_missed: u64,
    /// Contentions that another terminal won, or nobody.
    pub contentions_lost: u64,
    /// Random accesses given up after the last attempt.
    pub accesses_failed: u64,
    /// Attachments completed.
    pub attached: u64,
    /// Attachments among them that went on where an earlier one stopped.
    pub resumed: u64,
    /// Attachments refused since there was no place.
    pub refused: u64,
    /// Requests to be scheduled, sent or heard.
    pub scheduling_requests: u64,
    /// Commands of timing advance, sent or received.
    pub timing_commands: u64,
    /// Links lost, by reason.
    pub lost: LossCounters,
}

/// Links lost, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct LossCounters {
    /// The receiver did not follow the cell any more.
    pub out_of_sync: u64,
    /// Nothing was heard from the other end.
    pub silence: u64,
    /// RLC repeated a packet too often.
    pub retransmissions: u64,
    /// Requests to be scheduled were not answered.
    pub unanswered_requests: u64,
    /// The other end said so.
    pub released: u64,
    /// The base station has started anew.
    pub restarted: u64,
    /// The attachment was not completed in time.
    pub incomplete: u64,
}

/// Why a link was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossReason {
    /// The receiver did not follow the cell any more.
    OutOfSync,
    /// Nothing was heard from the other end.
    Silence,
    /// RLC repeated a packet too often.
    Retransmissions,
    /// Requests to be scheduled were not answered.
    UnansweredRequests,
    /// The other end said so.
    Released,
    /// The base station has started anew.
    Restarted,
    /// The attachment was not completed in time.
    Incomplete,
}

impl LossCounters {
    pub(crate) fn count(&mut self, reason: LossReason) {
        let counter = match reason {
            LossReason::OutOfSync => &mut self.out_of_sync,
            LossReason::Silence => &mut self.silence,
            LossReason::Retransmissions => &mut self.retransmissions,
            LossReason::UnansweredRequests => &mut self.unanswered_requests,
            LossReason::Released => &mut self.released,
            LossReason::Restarted => &mut self.restarted,
            LossReason::Incomplete => &mut self.incomplete,
        };
        *counter += 1;
    }

    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        let LossCounters {
            out_of_sync,
            silence,
            retransmissions,
            unanswered_requests,
            released,
            restarted,
            incomplete,
        } = *self;
        out_of_sync + silence + retransmissions + unanswered_requests + released + restarted + incomplete
    }
}

impl AddAssign for LinkCounters {
    fn add_assign(&mut self, other: LinkCounters) {
        self.packets_accepted += other.packets_accepted;
        self.packets_refused_full += other.packets_refused_full;
        self.packets_refused_size += other.packets_refused_size;
        self.packets_refused_unknown += other.packets_refused_unknown;
        self.packets_delivered += other.packets_delivered;
        self.packets_untaken += other.packets_untaken;
        self.packets_lost += other.packets_lost;
        self.packets_skipped += other.packets_skipped;
        self.rlc_sent += other.rlc_sent;
        self.rlc_sent_again += other.rlc_sent_again;
        self.rlc_received += other.rlc_received;
        self.rlc_duplicates += other.rlc_duplicates;
        self.rlc_statuses_sent += other.rlc_statuses_sent;
        self.rlc_statuses_received += other.rlc_statuses_received;
        self.blocks_sent += other.blocks_sent;
        self.blocks_sent_again += other.blocks_sent_again;
        self.blocks_given_up += other.blocks_given_up;
        self.blocks_received += other.blocks_received;
        self.blocks_failed += other.blocks_failed;
        self.blocks_missed += other.blocks_missed;
        self.blocks_unrecovered += other.blocks_unrecovered;
        self.malformed += other.malformed;
        self.implausible += other.implausible;
        self.information_received += other.information_received;
        self.preambles += other.preambles;
        self.responses += other.responses;
        self.responses_missed += other.responses_missed;
        self.contentions_lost += other.contentions_lost;
        self.accesses_failed += other.accesses_failed;
        self.attached += other.attached;
        self.resumed += other.resumed;
        self.refused += other.refused;
        self.scheduling_requests += other.scheduling_requests;
        self.timing_commands += other.timing_commands;
        self.lost += other.lost;
    }
}

impl AddAssign for LossCounters {
    fn add_assign(&mut self, other: LossCounters) {
        self.out_of_sync += other.out_of_sync;
        self.silence += other.silence;
        self.retransmissions += other.retransmissions;
        self.unanswered_requests += other.unanswered_requests;
        self.released += other.released;
        self.restarted += other.restarted;
        self.incomplete += other.incomplete;
    }
}

/// How far a terminal has got. The order is the way from nothing to a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LinkState {
    /// The receiver follows no cell.
    #[default]
    OutOfSync,
    /// It follows a cell, whose system information has not arrived.
    NoSystemInformation,
    /// No place at the base station: waits before it asks again.
    Refused,
    /// Waits for a chance to send a preamble.
    BackOff,
    /// A preamble is sent; its answer has not come.
    NoResponse,
    /// Message 3 is sent; message 4 has not come.
    Contending,
    /// Knows its configuration, and has told the base station.
    Completing,
    /// The bearer carries packets.
    Attached,
}

impl fmt::Display for LinkState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LinkState::OutOfSync => "no signal",
            LinkState::NoSystemInformation => "no system information yet",
            LinkState::Refused => "refused, waits",
            LinkState::BackOff => "waits to send a preamble",
            LinkState::NoResponse => "no answer to the preamble yet",
            LinkState::Contending => "contention not resolved yet",
            LinkState::Completing => "configured, not confirmed yet",
            LinkState::Attached => "attached",
        })
    }
}

/// How far a terminal has got, as the base station sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TerminalState {
    /// It was attached; its packets wait until it comes back.
    Lost,
    /// It has its configuration, or will have it.
    Completing,
    /// The bearer carries packets.
    Attached,
}

impl fmt::Display for TerminalState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TerminalState::Lost => "lost",
            TerminalState::Completing => "not confirmed yet",
            TerminalState::Attached => "attached",
        })
    }
}

/// A terminal, as the base station sees it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TerminalReport {
    /// The terminal.
    pub identity: Identity,
    /// Its place, from 0. It keeps it as long as the base station remembers it.
    pub place: u8,
    /// How far it has got.
    pub state: TerminalState,
    /// Its identifier on the air.
    pub rnti: u16,
    /// The last channel quality that it reported, 0 to 15.
    pub cqi: u8,
    /// SNR of its last PUSCH.
    pub uplink_snr_db: f32,
    /// Decibels that the outer loops add to the reported quality and to the measured SNR, downlink and uplink.
    pub margins_db: (f32, f32),
    /// Bytes that wait for it.
    pub waiting_bytes: u64,
    /// Counts of events.
    pub counters: LinkCounters,
}
