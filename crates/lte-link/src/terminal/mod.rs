//! A terminal: hears a downlink subframe, and says what it sends four subframes later.

mod access;
mod downlink;
mod downlink_harq;
mod uplink;
mod uplink_harq;

use std::collections::VecDeque;
use std::sync::Arc;

use takt_lte::Tti;

use self::access::Phase;
use self::downlink_harq::DownlinkHarq;
use self::uplink_harq::UplinkHarq;
use crate::clock::Clock;
use crate::mac::message::Setup;
use crate::random::Random;
use crate::rlc::Bearer;
use crate::{
    AHEAD, BearerMode, BlockSizes, ConfigError, DownlinkHeard, DownlinkPlan, LinkCounters, LinkState, LossReason,
    PacketRefused, Rnti, SystemInformation, TerminalConfig, UplinkOrders,
};

/// Subframes in which an attachment must be completed.
const COMPLETING: u64 = 400;
/// Subframes after which a terminal says again that it uses its configuration.
const COMPLETE_AGAIN: u64 = 40;
/// Requests to be scheduled without a grant.
const REQUESTS: u16 = 64;

/// The link layer of a terminal.
///
/// It is driven once a subframe by [`Self::subframe`]. Packets go in and out between the calls.
pub struct Terminal {
    config: TerminalConfig,
    sizes: Arc<dyn BlockSizes>,
    random: Random,
    clock: Clock,
    now: u64,
    /// Drawn at the start: the base station compares it.
    incarnation: u32,
    state: LinkState,
    since: u64,
    out_of_sync: u64,
    information: Option<SystemInformation>,
    /// The instance of the broadcast with which it attached.
    instance: Option<u32>,
    phase: Phase,
    attempts: u8,
    rnti: Option<Rnti>,
    setup: Option<Setup>,
    /// Identifies the base station's memory of this terminal.
    session: Option<u32>,
    bearer: Bearer,
    downlink: DownlinkHarq,
    uplink: UplinkHarq,
    /// The answer to the block of this subframe.
    ack: Option<bool>,
    complete_at: u64,
    heard_at: u64,
    granted_at: u64,
    requests: u16,
    timing_advance: u16,
    /// A command, and the subframe in which it holds.
    timing_command: Option<(u64, i16)>,
    power_db: i8,
    cqi: u8,
    delivered: VecDeque<Vec<u8>>,
    counters: LinkCounters,
    orders: UplinkOrders,
}

impl Terminal {
    /// # Errors
    /// If a setting is out of range.
    pub fn new(config: TerminalConfig, sizes: Arc<dyn BlockSizes>) -> Result<Terminal, ConfigError> {
        config.check()?;
        let mut random = Random::new(config.seed);
        Ok(Terminal {
            incarnation: random.next() as u32,
            bearer: Bearer::new(BearerMode::default(), config.rlc),
            config,
            sizes,
            random,
            clock: Clock::default(),
            now: 0,
            state: LinkState::OutOfSync,
            since: 0,
            out_of_sync: 0,
            information: None,
            instance: None,
            phase: Phase::Waiting { from: 0 },
            attempts: 0,
            rnti: None,
            setup: None,
            session: None,
            downlink: DownlinkHarq::default(),
            uplink: UplinkHarq::default(),
            ack: None,
            complete_at: 0,
            heard_at: 0,
            granted_at: 0,
            requests: 0,
            timing_advance: 0,
            timing_command: None,
            power_db: 0,
            cqi: 0,
            delivered: VecDeque::new(),
            counters: LinkCounters::default(),
            orders: UplinkOrders::default(),
        })
    }

    /// Takes what downlink subframe `tti` brought; says what to send in uplink subframe `tti` + 4.
    ///
    /// Calls are in the order of the subframes. Subframes may be left out: what was due in them counts as not heard.
    pub fn subframe(&mut self, tti: Tti, heard: &DownlinkHeard<'_>) -> &UplinkOrders {
        let now = self.clock.at(tti);
        self.now = now;
        self.begin_orders(now);
        self.follow(heard.in_sync, now);
        self.pass_time(now);
        if self.state > LinkState::OutOfSync {
            self.cqi = heard.cqi.min(15);
            self.hear_blocks(heard, now);
            self.hear_grants(heard, now);
            self.access(now);
            self.send_message3(now);
        }
        self.collect_delivered();
        self.order(now);
        &self.orders
    }

    fn begin_orders(&mut self, now: u64) {
        self.orders.tti = Tti::new(now + u64::from(AHEAD));
        self.orders.preamble = None;
        self.orders.pusch = None;
        self.orders.pucch = None;
        self.ack = None;
        if let Some((at, steps)) = self.timing_command.filter(|&(at, _)| now + u64::from(AHEAD) >= at) {
            let _ = at;
            self.timing_advance = self.timing_advance.saturating_add_signed(steps).min(1282);
            self.timing_command = None;
        }
    }

    fn follow(&mut self, in_sync: bool, now: u64) {
        if in_sync {
            self.out_of_sync = 0;
            if self.state == LinkState::OutOfSync {
                self.enter(LinkState::NoSystemInformation, now);
            }
            return;
        }
        self.out_of_sync += 1;
        if self.state > LinkState::OutOfSync && self.out_of_sync >= u64::from(self.config.out_of_sync) {
            if self.state >= LinkState::Completing {
                self.counters.lost.count(LossReason::OutOfSync);
            }
            self.leave(now);
            self.enter(LinkState::OutOfSync, now);
        }
    }

    fn enter(&mut self, state: LinkState, now: u64) {
        (self.state, self.since) = (state, now);
    }

    /// The link is lost: all that belongs to the air starts anew, and what belongs to the bearer stays.
    fn lose(&mut self, reason: LossReason, now: u64) {
        self.counters.lost.count(reason);
        self.leave(now);
    }

    fn leave(&mut self, now: u64) {
        self.information = None;
        self.forget_air();
        self.attempts = 0;
        self.phase = Phase::Waiting { from: now };
        self.enter(LinkState::NoSystemInformation, now);
    }

    fn forget_air(&mut self) {
        (self.rnti, self.setup, self.ack) = (None, None, None);
        self.downlink = DownlinkHarq::default();
        self.uplink.clear();
        (self.requests, self.power_db) = (0, 0);
        (self.timing_advance, self.timing_command) = (0, None);
    }

    fn pass_time(&mut self, now: u64) {
        let is_attached = self.state == LinkState::Attached;
        self.bearer.tick(is_attached, now, &mut self.counters);
        if self.state < LinkState::Completing {
            return;
        }
        let silence = u64::from(self.config.silence);
        if is_attached && self.bearer.has_failed() {
            self.lose(LossReason::Retransmissions, now);
        } else if now - self.heard_at >= silence {
            self.lose(LossReason::Silence, now);
        } else if self.requests >= REQUESTS {
            self.lose(LossReason::UnansweredRequests, now);
        } else if !is_attached && now - self.since >= COMPLETING {
            self.lose(LossReason::Incomplete, now);
        }
    }

    fn collect_delivered(&mut self) {
        for packet in self.bearer.delivered() {
            if self.delivered.len() < self.config.delivered_packets as usize {
                self.counters.packets_delivered += 1;
                self.delivered.push_back(packet);
            } else {
                self.counters.packets_untaken += 1;
            }
        }
    }

    /// Takes a packet; it waits if there is no link.
    ///
    /// # Errors
    /// If it is refused; that is counted.
    pub fn send(&mut self, packet: &[u8]) -> Result<(), PacketRefused> {
        self.bearer.push(packet, &mut self.counters)
    }

    /// The next packet that arrived.
    pub fn receive(&mut self) -> Option<Vec<u8>> {
        self.delivered.pop_front()
    }

    /// How far it has got.
    #[must_use]
    pub fn state(&self) -> LinkState {
        self.state
    }

    /// Counts of events.
    #[must_use]
    pub fn counters(&self) -> &LinkCounters {
        &self.counters
    }

    /// The broadcast, once it was received.
    #[must_use]
    pub fn information(&self) -> Option<&SystemInformation> {
        self.information.as_ref()
    }

    /// Its identifier on the air.
    #[must_use]
    pub fn rnti(&self) -> Option<Rnti> {
        self.rnti
    }

    /// Its place at the base station, from 0, once it has one.
    #[must_use]
    pub fn place(&self) -> Option<u8> {
        self.setup.map(|setup| setup.place)
    }

    /// Packets that it took and that are not known to have arrived.
    #[must_use]
    pub fn packets(&self) -> usize {
        self.bearer.packets()
    }

    fn plan(&self) -> DownlinkPlan {
        let random_access = match self.phase {
            Phase::Window { rnti, .. } if self.state == LinkState::NoResponse => Some(rnti),
            _ => None,
        };
        let phich = self.orders.pusch.as_ref().map(|pusch| (pusch.shape.first_block, pusch.shape.cyclic_shift));
        DownlinkPlan { system_information: true, random_access, own: self.rnti, phich }
    }
}
