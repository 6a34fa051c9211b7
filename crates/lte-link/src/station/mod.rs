//! The base station: hears an uplink subframe, and says what it sends four subframes later.

mod access;
mod calendar;
mod context;
mod downlink;
mod downlink_harq;
pub(crate) mod policy;
mod uplink;
mod uplink_harq;

use std::collections::VecDeque;
use std::sync::Arc;

use takt_lte::Tti;

use self::access::Access;
use self::calendar::Calendar;
use self::context::Context;
use crate::clock::Clock;
use crate::mac::message::Message;
use crate::random::Random;
use crate::{
    AHEAD, BlockSizes, ConfigError, DownlinkOrders, Identity, LinkCounters, LossReason, PacketRefused, Rnti,
    StationConfig, SystemInformation, TerminalReport, TerminalState, UplinkHeard, UplinkPlan,
};

/// Subframes in which an attachment must be completed.
const COMPLETING: u64 = 400;

/// The link layer of a base station.
///
/// It is driven once a subframe by [`Self::subframe`]. Packets go in and out between the calls.
pub struct BaseStation {
    config: StationConfig,
    sizes: Arc<dyn BlockSizes>,
    random: Random,
    clock: Clock,
    now: u64,
    access: Access,
    contexts: Vec<Context>,
    calendar: Calendar,
    elements_left: u8,
    delivered: VecDeque<(Identity, Vec<u8>)>,
    counters: LinkCounters,
    orders: DownlinkOrders,
}

impl BaseStation {
    /// # Errors
    /// If a setting is out of range, or no block of the tables holds the broadcast.
    pub fn new(config: StationConfig, sizes: Arc<dyn BlockSizes>) -> Result<BaseStation, ConfigError> {
        config.check()?;
        let mut config = config;
        let mut random = Random::new(config.seed);
        config.information.instance = random.next() as u32;
        let access = Access::new(&config, &*sizes, &mut random)?;
        Ok(BaseStation {
            calendar: Calendar::new(config.bandwidth, &config.information),
            config,
            sizes,
            random,
            clock: Clock::default(),
            now: 0,
            access,
            contexts: Vec::new(),
            elements_left: 0,
            delivered: VecDeque::new(),
            counters: LinkCounters::default(),
            orders: DownlinkOrders::default(),
        })
    }

    /// Takes what uplink subframe `tti` brought; says what to send in downlink subframe `tti` + 4.
    ///
    /// Calls are in the order of the subframes. Subframes may be left out: what was due in them counts as not heard.
    pub fn subframe(&mut self, tti: Tti, heard: &UplinkHeard<'_>) -> &DownlinkOrders {
        let now = self.clock.at(tti);
        self.now = now;
        self.begin_orders(now);
        self.pass_time(now);
        self.hear_feedback(heard, now);
        self.hear_pusch(heard, now);
        self.hear_preambles(heard, now);
        self.collect_delivered();
        self.send_information(now);
        self.send_responses(now);
        self.send_downlink(now);
        self.send_grants(now);
        self.plan_uplink(now);
        &self.orders
    }

    fn begin_orders(&mut self, now: u64) {
        let orders = &mut self.orders;
        orders.tti = Tti::new(now + u64::from(AHEAD));
        orders.blocks.clear();
        orders.grants.clear();
        orders.acknowledgements.clear();
        self.elements_left = self.config.control_elements;
        self.calendar.open(now + 10, &self.config.information);
    }

    /// Takes control channel elements; false if too few are left.
    fn take_elements(&mut self, aggregation: u8) -> bool {
        let enough = aggregation <= self.elements_left;
        if enough {
            self.elements_left -= aggregation;
        }
        enough
    }

    /// Bytes of an uplink block.
    fn uplink_bytes(&self, mcs: u8, blocks: u8) -> usize {
        self.sizes.uplink_bits(mcs, blocks.into()) / 8
    }

    fn pass_time(&mut self, now: u64) {
        let (silence, keep_alive) = (u64::from(self.config.silence), u64::from(self.config.keep_alive));
        for context in &mut self.contexts {
            let is_attached = context.state == TerminalState::Attached;
            context.bearer.tick(is_attached, now, &mut context.counters);
            if !context.is_present() {
                continue;
            }
            let quiet = now - context.heard_at;
            // The base station awaits the message that completes the attachment; later, a sign of life now and then.
            let asked = if is_attached { keep_alive } else { 8 };
            context.request |= quiet >= asked && now >= context.granted_at + asked && !context.opening;
            if is_attached && context.bearer.has_failed() {
                context.lose(LossReason::Retransmissions, now);
                self.access.release(context.rnti, context.downlink.next_indicator(access::FAREWELL));
            } else if quiet >= silence {
                context.lose(LossReason::Silence, now);
            } else if !is_attached && now - context.since >= COMPLETING {
                context.lose(LossReason::Incomplete, now);
            }
        }
    }

    fn collect_delivered(&mut self) {
        for context in &mut self.contexts {
            for packet in context.bearer.delivered() {
                if self.delivered.len() < self.config.delivered_packets as usize {
                    context.counters.packets_delivered += 1;
                    self.delivered.push_back((context.identity, packet));
                } else {
                    context.counters.packets_untaken += 1;
                }
            }
        }
    }

    fn plan_uplink(&mut self, now: u64) {
        let at = now + 2 * u64::from(AHEAD);
        let plan = &mut self.orders.listen;
        let UplinkPlan { pusch, acknowledgements, scheduling_requests, cqi, .. } = plan;
        pusch.clear();
        acknowledgements.clear();
        scheduling_requests.clear();
        cqi.clear();
        plan.tti = Tti::new(at);
        plan.preambles = self.config.information.prach.is_opportunity(plan.tti);
        self.access.plan(at, &mut plan.pusch);
        for context in self.contexts.iter().filter(|one| one.is_present()) {
            let setup = context.setup(&self.config);
            let rnti = context.rnti;
            let process = &context.uplink[(at % 8) as usize];
            plan.pusch.extend(uplink::expected(rnti, process, at));
            if context.downlink.is_answered_in(at) {
                plan.acknowledgements.push((rnti, setup.acknowledgement));
            }
            let (may_request, reports) = context.reports_in(at);
            if may_request {
                plan.scheduling_requests.push((rnti, setup.request.2));
            }
            if reports {
                plan.cqi.push((rnti, setup.cqi.2));
            }
        }
    }

    /// Takes a packet for a terminal that was attached once; it waits if the terminal is lost.
    ///
    /// # Errors
    /// If it is refused; that is counted.
    pub fn send(&mut self, to: Identity, packet: &[u8]) -> Result<(), PacketRefused> {
        match self.contexts.iter_mut().find(|one| one.identity == to) {
            Some(context) => context.bearer.push(packet, &mut context.counters),
            None => {
                self.counters.packets_refused_unknown += 1;
                Err(PacketRefused::UnknownTerminal)
            }
        }
    }

    /// The next packet that arrived, and from whom.
    pub fn receive(&mut self) -> Option<(Identity, Vec<u8>)> {
        self.delivered.pop_front()
    }

    /// The terminals that it remembers.
    pub fn terminals(&self) -> impl Iterator<Item = TerminalReport> + '_ {
        self.contexts.iter().map(|context| context.report(self.now))
    }

    /// Packets that it took for a terminal and that are not known to have arrived.
    #[must_use]
    pub fn packets_for(&self, terminal: Identity) -> usize {
        self.contexts.iter().find(|one| one.identity == terminal).map_or(0, |one| one.bearer.packets())
    }

    /// Events that belong to no terminal.
    #[must_use]
    pub fn counters(&self) -> &LinkCounters {
        &self.counters
    }

    /// The broadcast.
    #[must_use]
    pub fn information(&self) -> &SystemInformation {
        &self.config.information
    }

    fn context_of(&mut self, rnti: Rnti) -> Option<&mut Context> {
        self.contexts.iter_mut().find(|one| one.is_present() && one.rnti == rnti)
    }

    /// Takes the message of a terminal that uses its configuration.
    fn complete(context: &mut Context, session: u32, incarnation: u32, now: u64) {
        if session != context.session {
            return;
        }
        if context.state == TerminalState::Completing {
            let same = context.incarnation == Some(incarnation);
            let counters = &mut context.counters;
            counters.attached += 1;
            if same {
                counters.resumed += 1;
                context.bearer.resume(counters);
            } else {
                let mode = context.bearer.mode();
                context.bearer.restart(mode, counters);
            }
            context.incarnation = Some(incarnation);
            (context.state, context.since) = (TerminalState::Attached, now);
        }
        context.messages.retain(|message| !matches!(message, Message::Accepted { .. }));
        context.messages.push_back(Message::Accepted { session, incarnation });
    }
}
