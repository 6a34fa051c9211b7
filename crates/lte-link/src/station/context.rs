//! A base station's memory of a terminal.

use std::collections::VecDeque;

use super::downlink_harq::DownlinkHarq;
use super::policy::Share;
use super::uplink_harq::{Phase, UplinkProcess};
use crate::adaptation::{OuterLoop, bits_of_element, snr_of_cqi};
use crate::mac::message::{Message, Setup};
use crate::rlc::Bearer;
use crate::{Identity, LinkCounters, LossReason, Rnti, StationConfig, TerminalReport, TerminalState};

/// Subframes between two commands of timing advance.
const TIMING_PERIOD: u64 = 40;
/// Period of requests to be scheduled and of reports of quality, subframes.
const REQUEST_PERIOD: u8 = 10;
const CQI_PERIOD: u8 = 20;

/// A terminal that has sent message 3 once.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) identity: Identity,
    pub(crate) place: u8,
    /// Identifies this memory; the terminal compares it.
    pub(crate) session: u32,
    /// Identifies the terminal's memory; the terminal draws it when it starts.
    pub(crate) incarnation: Option<u32>,
    pub(crate) state: TerminalState,
    /// Since when.
    pub(crate) since: u64,
    pub(crate) rnti: Rnti,
    pub(crate) bearer: Bearer,
    pub(crate) downlink: DownlinkHarq,
    pub(crate) uplink: [UplinkProcess; 8],
    /// Message 4, until it is sent.
    pub(crate) opening: bool,
    pub(crate) messages: VecDeque<Message>,
    pub(crate) cqi: u8,
    pub(crate) downlink_loop: OuterLoop,
    pub(crate) uplink_snr_db: f32,
    pub(crate) uplink_loop: OuterLoop,
    /// Bytes that the terminal said it has, and the first transmission of the block that said so.
    pub(crate) reported: (u32, u64),
    /// Whether it needs a grant whatever it has said.
    pub(crate) request: bool,
    pub(crate) heard_at: u64,
    pub(crate) granted_at: u64,
    pub(crate) timing: Timing,
    pub(crate) downlink_share: Share,
    pub(crate) uplink_share: Share,
    pub(crate) counters: LinkCounters,
}

impl Context {
    pub(crate) fn new(identity: Identity, place: u8, session: u32, config: &StationConfig) -> Context {
        Context {
            identity,
            place,
            session,
            incarnation: None,
            state: TerminalState::Lost,
            since: 0,
            rnti: Rnti::default(),
            bearer: Bearer::new(config.mode, config.rlc),
            downlink: DownlinkHarq::default(),
            uplink: Default::default(),
            opening: false,
            messages: VecDeque::new(),
            cqi: 0,
            downlink_loop: OuterLoop::default(),
            uplink_snr_db: 0.0,
            uplink_loop: OuterLoop::default(),
            reported: (0, 0),
            request: false,
            heard_at: 0,
            granted_at: 0,
            timing: Timing::default(),
            downlink_share: Share::default(),
            uplink_share: Share::default(),
            counters: LinkCounters::default(),
        }
    }

    /// Message 3 was heard: all that belongs to the air starts anew. The bearer stays, and half of
    /// what was learnt of the terminal's reports: it may have moved.
    pub(crate) fn rebind(&mut self, rnti: Rnti, snr_db: f32, now: u64) {
        self.rnti = rnti;
        (self.state, self.since, self.heard_at) = (TerminalState::Completing, now, now);
        self.downlink = DownlinkHarq::default();
        self.uplink = Default::default();
        self.opening = true;
        self.messages.clear();
        self.cqi = 3;
        self.downlink_loop.forget_half();
        self.uplink_loop.forget_half();
        self.uplink_snr_db = snr_db;
        self.reported = (0, now);
        self.request = false;
        self.timing = Timing { commanded_at: now, ..Timing::default() };
    }

    /// The terminal is gone; its packets stay.
    pub(crate) fn lose(&mut self, reason: LossReason, now: u64) {
        self.counters.lost.count(reason);
        (self.state, self.since) = (TerminalState::Lost, now);
        self.opening = false;
    }

    /// Whether it has an identifier on the air.
    pub(crate) fn is_present(&self) -> bool {
        self.state > TerminalState::Lost
    }

    /// The contents of message 4.
    pub(crate) fn setup(&self, config: &StationConfig) -> Setup {
        Setup {
            session: self.session,
            place: self.place,
            mode: config.mode,
            request: (REQUEST_PERIOD, self.place, self.place.into()),
            // Never in a subframe of a request: half a period later.
            cqi: (CQI_PERIOD, self.place + 5, self.place.into()),
            acknowledgement: u16::from(config.terminals + self.place),
        }
    }

    /// Whether it may ask to be scheduled, and whether it reports its channel, in a subframe.
    pub(crate) fn reports_in(&self, subframe: u64) -> (bool, bool) {
        let request = subframe % u64::from(REQUEST_PERIOD) == u64::from(self.place);
        let cqi = subframe % u64::from(CQI_PERIOD) == u64::from(self.place + 5);
        (request, cqi)
    }

    pub(crate) fn downlink_quality(&self) -> f32 {
        bits_of_element(snr_of_cqi(self.cqi) + self.downlink_loop.margin_db())
    }

    pub(crate) fn uplink_quality(&self) -> f32 {
        bits_of_element(self.uplink_snr_db + self.uplink_loop.margin_db())
    }

    /// Control channel elements that a grant needs to be found.
    pub(crate) fn aggregation(&self) -> u8 {
        match self.cqi {
            0..=3 => 4,
            _ => 2,
        }
    }

    /// Bytes that it wants to send and has no grant for.
    pub(crate) fn uplink_need(&self, bytes_of: impl Fn(&UplinkProcess) -> usize) -> usize {
        let granted: usize = self.uplink.iter().filter(|one| one.phase != Phase::Idle).map(bytes_of).sum();
        let reported = (self.reported.0 as usize).saturating_sub(granted);
        // Room for a report, and for a message.
        if self.request && granted == 0 { reported.max(24) } else { reported }
    }

    pub(crate) fn report(&self, now: u64) -> TerminalReport {
        TerminalReport {
            identity: self.identity,
            place: self.place,
            state: self.state,
            rnti: self.rnti.0,
            cqi: self.cqi,
            uplink_snr_db: self.uplink_snr_db,
            margins_db: (self.downlink_loop.margin_db(), self.uplink_loop.margin_db()),
            waiting_bytes: self.bearer.waiting(now) as u64,
            counters: self.counters,
        }
    }
}

/// How late a terminal's blocks come, and what it is told.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timing {
    late: f32,
    measured: u32,
    commanded_at: u64,
}

impl Timing {
    pub(crate) fn measured(&mut self, late: i16) {
        self.measured += 1;
        let weight = 1.0 / self.measured.min(8) as f32;
        self.late += weight * (f32::from(late) - self.late);
    }

    /// Whether a command is due.
    pub(crate) fn is_due(&self, now: u64) -> bool {
        self.measured >= 4 && self.late.abs() >= 1.0 && now >= self.commanded_at + TIMING_PERIOD
    }

    /// The command, 0 to 63: TS 36.213 section 4.2.3. Measuring begins anew.
    pub(crate) fn command(&mut self, now: u64) -> u8 {
        let steps = self.late.round().clamp(-31.0, 32.0);
        *self = Timing { commanded_at: now, ..Timing::default() };
        (31.0 + steps) as u8
    }
}
