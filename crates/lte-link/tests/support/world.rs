//! A base station, its terminals and the air between them, a subframe at a time.

use std::collections::VecDeque;
use std::sync::Arc;
use takt_lte::{Bandwidth, Tti};
use takt_lte_link::{
    BaseStation, BlockHeard, BlockSizes, DownlinkBlock, DownlinkGrant, DownlinkHeard, DownlinkOrders, Feedback,
    Identity, LinkState, PreambleHeard, PucchOrder, PuschExpected, PuschHeard, Rnti, SearchSpace, StationConfig,
    Terminal, TerminalConfig, TerminalState, UplinkGrant, UplinkHeard, UplinkOrders, UplinkPlan,
};

use super::air::{Air, acknowledgement, check_orders, fails, garble};
use super::chance::Chance;
use super::forged::Forgery;
use super::traffic::Flow;

pub struct Node {
    pub terminal: Terminal,
    pub config: TerminalConfig,
    pub down: Flow,
    pub up: Flow,
    /// Until then nothing gets through, and whether the receiver notices.
    pub outage: (u64, bool),
    /// Units of 16 T_s.
    pub delay: u16,
    pub cqi: u8,
    /// The SNR that decides whether blocks arrive, besides [`Air`].
    pub snr_db: Option<f64>,
    orders: [UplinkOrders; 8],
    /// Attachments after which both ends know of a restart.
    settled_with: u64,
    /// Times that it was restarted.
    pub restarts: u64,
}

impl Node {
    pub fn is_attached(&self) -> bool {
        self.terminal.state() == LinkState::Attached
    }
}

pub struct World {
    pub now: u64,
    pub station: BaseStation,
    pub station_config: StationConfig,
    pub nodes: Vec<Node>,
    pub air: Air,
    pub chance: Chance,
    /// Whether packets are compared with what was sent.
    pub is_trusting: bool,
    /// Times that the base station was restarted.
    pub restarts: u64,
    bytes_delivered: (u64, u64),
    strongest_ramp_db: u16,
    /// Blocks that arrive in place of real ones, in turn.
    pub forged: VecDeque<Forgery>,
    sizes: Arc<dyn BlockSizes>,
    downlink: [DownlinkOrders; 8],
    plans: [UplinkPlan; 16],
}

const UP: u8 = 1;
const DOWN: u8 = 2;

fn at(subframe: u64) -> usize {
    (subframe % 8) as usize
}

impl World {
    pub fn new(config: StationConfig, terminals: usize, first: u64, seed: u64, sizes: Arc<dyn BlockSizes>) -> World {
        let mut chance = Chance::new(seed);
        let station = BaseStation::new(config.clone(), sizes.clone()).unwrap();
        let node = |n: usize| {
            let identity = Identity::new(0xabc0 + n as u64).unwrap();
            let config = TerminalConfig::new(config.bandwidth, identity, chance.next());
            Node {
                terminal: Terminal::new(config.clone(), sizes.clone()).unwrap(),
                config,
                down: Flow::default(),
                up: Flow::default(),
                outage: (0, false),
                delay: chance.below(100) as u16,
                cqi: 15,
                snr_db: None,
                orders: Default::default(),
                settled_with: 0,
                restarts: 0,
            }
        };
        let nodes = (0..terminals).map(node).collect();
        World {
            now: first,
            station,
            station_config: config,
            nodes,
            air: Air::default(),
            chance,
            is_trusting: true,
            restarts: 0,
            bytes_delivered: (0, 0),
            strongest_ramp_db: 0,
            forged: VecDeque::new(),
            sizes,
            downlink: Default::default(),
            plans: Default::default(),
        }
    }

    pub fn bandwidth(&self) -> Bandwidth {
        self.station_config.bandwidth
    }

    pub fn run(&mut self, subframes: u64) {
        for _ in 0..subframes {
            self.step();
        }
    }

    /// One subframe of both directions.
    pub fn step(&mut self) {
        for n in 0..self.nodes.len() {
            self.hear_downlink(n);
        }
        self.hear_uplink();
        self.take_delivered();
        self.now += 1;
    }

    /// Whether every terminal and the base station call each other attached.
    pub fn all_attached(&self) -> bool {
        self.nodes.iter().all(|node| {
            let same = |report: &takt_lte_link::TerminalReport| report.identity == node.config.identity;
            let report = self.station.terminals().find(same);
            node.is_attached() && report.is_some_and(|report| report.state == TerminalState::Attached)
        })
    }

    pub fn send(&mut self, n: usize, is_down: bool) {
        let (node, station, chance) = (&mut self.nodes[n], &mut self.station, &mut self.chance);
        if is_down {
            let identity = node.config.identity;
            node.down.send(DOWN, chance, |packet| station.send(identity, packet).is_ok());
        } else {
            node.up.send(UP, chance, |packet| node.terminal.send(packet).is_ok());
        }
    }

    pub fn restart_station(&mut self) {
        self.restarts += 1;
        self.station_config.seed = self.chance.next();
        self.station = BaseStation::new(self.station_config.clone(), self.sizes.clone()).unwrap();
        self.nodes.iter_mut().for_each(|node| {
            node.down.excuse();
            node.up.excuse();
            node.settled_with = node.terminal.counters().attached + 1;
        });
        (self.downlink, self.plans) = Default::default();
    }

    pub fn restart_terminal(&mut self, n: usize) {
        let node = &mut self.nodes[n];
        node.config.seed = self.chance.next();
        node.terminal = Terminal::new(node.config.clone(), self.sizes.clone()).unwrap();
        node.down.excuse();
        node.up.excuse();
        node.settled_with = 1;
        node.restarts += 1;
        node.orders = Default::default();
    }

    /// The timing advance that a terminal uses.
    pub fn timing_advance(&self, n: usize) -> u16 {
        self.nodes[n].orders[at(self.now + 3)].timing_advance
    }

    /// How far the power of a preamble went.
    pub fn strongest_ramp_db(&self) -> u16 {
        self.strongest_ramp_db
    }

    /// Keeps all queues full; bytes delivered down and up.
    pub fn saturate(&mut self, subframes: u64) -> (u64, u64) {
        let packet = [0x55; 1500];
        let (was_trusting, mut bytes) = (std::mem::replace(&mut self.is_trusting, false), (0, 0));
        for _ in 0..subframes {
            for node in &mut self.nodes {
                while self.station.send(node.config.identity, &packet).is_ok() {}
                while node.terminal.send(&packet).is_ok() {}
            }
            let before = self.bytes_delivered;
            self.step();
            bytes.0 += self.bytes_delivered.0 - before.0;
            bytes.1 += self.bytes_delivered.1 - before.1;
        }
        self.is_trusting = was_trusting;
        bytes
    }

    fn take_delivered(&mut self) {
        while let Some((from, packet)) = self.station.receive() {
            self.bytes_delivered.1 += packet.len() as u64;
            if !self.is_trusting {
                continue;
            }
            let node = self.nodes.iter_mut().find(|node| node.config.identity == from).expect("a terminal that exists");
            node.up.delivered(UP, &packet);
        }
        for node in &mut self.nodes {
            let is_unsettled = node.terminal.counters().attached < node.settled_with;
            (node.up.is_unsettled, node.down.is_unsettled) = (is_unsettled, is_unsettled);
            while let Some(packet) = node.terminal.receive() {
                self.bytes_delivered.0 += packet.len() as u64;
                if self.is_trusting {
                    node.down.delivered(DOWN, &packet);
                }
            }
        }
    }

    fn hear_downlink(&mut self, n: usize) {
        let (now, air, chance) = (self.now, self.air, &mut self.chance);
        let node = &mut self.nodes[n];
        let orders = &self.downlink[at(now)];
        let listen = node.orders[at(now + 3)].listen;
        let is_out = now < node.outage.0;
        let (mut blocks, mut grants) = (Vec::new(), Vec::new());
        let forged = &mut self.forged;
        let garbled = |block: &DownlinkBlock| {
            Forgery::of(now, forged).unwrap_or_else(|| garble(&block.bytes, air.garbled, chance))
        };
        let garbled: Vec<Vec<u8>> = orders.blocks.iter().map(garbled).collect();
        if !is_out && orders.tti == Tti::new(now) {
            for (block, bytes) in orders.blocks.iter().zip(&garbled) {
                let listens = match block.rnti {
                    Rnti::SI => listen.system_information,
                    rnti => Some(rnti) == listen.random_access || Some(rnti) == listen.own,
                };
                if listens && !chance.happens(air.control_lost) {
                    let snr = node.snr_db.filter(|_| block.space == SearchSpace::Own);
                    let bits = 8 * block.bytes.len();
                    let fails = snr.is_some_and(|snr| fails(&block.grant, bits, snr, chance));
                    let arrives = !fails && !chance.happens(air.downlink_lost);
                    let bytes = arrives.then_some(&bytes[..]);
                    blocks.push(BlockHeard { rnti: block.rnti, grant: block.grant, block: bytes });
                }
            }
            let own = orders.grants.iter().filter(|order| Some(order.rnti) == listen.own);
            grants.extend(own.filter(|_| !chance.happens(air.control_lost)).map(|order| (order.rnti, order.grant)));
        }
        if let Some(rnti) = listen.own.filter(|_| chance.happens(air.false_control)) {
            let blocks_of_band = self.station_config.bandwidth.blocks() as u64;
            let first_block = chance.below(blocks_of_band) as u8;
            let len = 1 + chance.below(blocks_of_band - u64::from(first_block)) as u8;
            let (mcs, new_data) = (chance.below(32) as u8, chance.happens(0.5));
            if chance.happens(0.5) {
                grants.insert(
                    0,
                    (rnti, UplinkGrant { first_block, blocks: len, mcs, new_data, ..UplinkGrant::default() }),
                );
            } else {
                let process = chance.below(8) as u8;
                let grant =
                    DownlinkGrant { first_block, blocks: len, mcs, process, new_data, ..DownlinkGrant::default() };
                blocks.push(BlockHeard { rnti, grant, block: None });
            }
        }
        let acknowledgement = acknowledgement(&node.orders[at(now + 4)], orders, now, is_out, &air, chance);
        let in_sync = !(is_out && node.outage.1);
        let heard = DownlinkHeard { in_sync, cqi: node.cqi, blocks: &blocks, grants: &grants, acknowledgement };
        // Called with n, it orders for n + 4; the place of n + 4 held n - 4, which PHICH has just answered.
        let orders = node.terminal.subframe(Tti::new(now), &heard);
        assert!(orders.preamble.is_none() || (orders.pusch.is_none() && orders.pucch.is_none()));
        assert!(orders.pusch.is_none() || orders.pucch.is_none());
        let orders = orders.clone();
        self.arrive_uplink(n, now + 4, orders);
    }

    fn arrive_uplink(&mut self, n: usize, subframe: u64, orders: UplinkOrders) {
        assert_eq!(orders.tti, Tti::new(subframe));
        self.nodes[n].orders[at(subframe)] = orders;
    }

    fn hear_uplink(&mut self) {
        let now = self.now;
        let plan = std::mem::take(&mut self.plans[(now % 16) as usize]);
        let mut sent: Vec<UplinkOrders> = self
            .nodes
            .iter()
            .map(|node| if now < node.outage.0 { UplinkOrders::default() } else { node.orders[at(now)].clone() })
            .collect();
        for pusch in sent.iter_mut().filter_map(|one| one.pusch.as_mut()) {
            let garbled = || garble(&pusch.bytes, self.air.garbled, &mut self.chance);
            pusch.bytes = Forgery::of(now, &mut self.forged).unwrap_or_else(garbled);
        }
        let is_planned = plan.tti == Tti::new(now);
        let preambles = if is_planned && plan.preambles { self.hear_preambles(&sent) } else { Vec::new() };
        let (mut pusch, mut acknowledgements, mut requests, mut cqi) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        if is_planned {
            for expected in &plan.pusch {
                pusch.push(self.hear_pusch(expected, &sent));
            }
            for &(rnti, resource) in &plan.acknowledgements {
                acknowledgements.push((rnti, self.hear_answer(resource, rnti, &sent)));
            }
            for &(rnti, resource) in &plan.scheduling_requests {
                let asks = sent.iter().any(
                    |one| matches!(one.pucch, Some(PucchOrder::SchedulingRequest { resource: own, .. }) if own == resource),
                );
                if (asks && !self.chance.happens(self.air.request_lost)) || self.chance.happens(self.air.false_alarm) {
                    requests.push(rnti);
                }
            }
            for &(rnti, resource) in &plan.cqi {
                let heard = sent.iter().find_map(|one| match one.pucch {
                    Some(PucchOrder::Cqi { cqi, resource: own }) if own == resource => Some(cqi),
                    _ => None,
                });
                cqi.extend(heard.filter(|_| !self.chance.happens(self.air.request_lost)).map(|cqi| (rnti, cqi)));
            }
        }
        let heard = UplinkHeard {
            preambles: &preambles,
            pusch: &pusch,
            acknowledgements: &acknowledgements,
            scheduling_requests: &requests,
            cqi: &cqi,
        };
        let orders = self.station.subframe(Tti::new(now), &heard);
        check_orders(orders, self.station_config.bandwidth);
        self.plans[((now + 8) % 16) as usize] = orders.listen.clone();
        self.downlink[at(now + 4)] = orders.clone();
    }

    fn hear_preambles(&mut self, sent: &[UplinkOrders]) -> Vec<PreambleHeard> {
        let mut heard: Vec<PreambleHeard> = Vec::new();
        for (one, node) in sent.iter().zip(&self.nodes) {
            let Some(order) = one.preamble else { continue };
            self.strongest_ramp_db = self.strongest_ramp_db.max(order.ramp_db);
            let is_there = heard.iter().any(|other| other.preamble == order.preamble);
            if !is_there && !self.chance.happens(self.air.preamble_lost) {
                heard.push(PreambleHeard { preamble: order.preamble, timing_advance: node.delay });
            }
        }
        if self.chance.happens(self.air.false_alarm) {
            heard.push(PreambleHeard { preamble: self.chance.below(64) as u8, timing_advance: 3 });
        }
        heard
    }

    fn hear_pusch<'a>(&mut self, expected: &PuschExpected, sent: &'a [UplinkOrders]) -> PuschHeard<'a> {
        let (air, chance) = (self.air, &mut self.chance);
        let (from, to) = (expected.shape.first_block, expected.shape.first_block + expected.shape.blocks);
        let others = sent.iter().enumerate().filter_map(|(n, one)| one.pusch.as_ref().map(|pusch| (n, pusch)));
        let there: Vec<_> = others
            .filter(|(_, pusch)| pusch.shape.first_block < to && from < pusch.shape.first_block + pusch.shape.blocks)
            .collect();
        let own: Vec<_> =
            there.iter().filter(|(_, pusch)| pusch.rnti == expected.rnti && pusch.shape == expected.shape).collect();
        let missed = PuschHeard { rnti: expected.rnti, block: None, detected: false, snr_db: -20.0, late: 0 };
        if there.is_empty() || chance.happens(air.uplink_unseen) {
            return missed;
        }
        // If two send at once, the stronger one is heard in half of the cases.
        let captured =
            own.get(chance.below(own.len() as u64) as usize).filter(|_| there.len() == 1 || chance.happens(0.5));
        let Some(&&(n, pusch)) = captured else { return PuschHeard { detected: true, ..missed } };
        let arrives = !chance.happens(air.uplink_lost);
        let late = self.nodes[n].delay as i16 - sent[n].timing_advance as i16;
        let block = arrives.then_some(&pusch.bytes[..]);
        PuschHeard { rnti: expected.rnti, block, detected: true, snr_db: 20.0, late }
    }

    fn hear_answer(&mut self, resource: u16, rnti: Rnti, sent: &[UplinkOrders]) -> Feedback {
        let places = u16::from(self.station_config.terminals);
        let (air, chance) = (self.air, &mut self.chance);
        let on_pusch = sent.iter().filter_map(|one| one.pusch.as_ref()).find(|pusch| pusch.rnti == rnti);
        let on_pucch = sent.iter().find_map(|one| match one.pucch {
            Some(PucchOrder::Acknowledgement { ack, resource: own }) if own == resource => Some(ack),
            Some(PucchOrder::SchedulingRequest { ack, resource: own }) if own + places == resource => ack,
            _ => None,
        });
        let answer = on_pusch.and_then(|pusch| pusch.ack).or(on_pucch).filter(|_| !chance.happens(air.answer_lost));
        match answer {
            Some(ack) if ack != chance.happens(air.answer_wrong) => Feedback::Ack,
            Some(_) => Feedback::Nack,
            None if chance.happens(air.answer_wrong) => Feedback::Ack,
            None => Feedback::Dtx,
        }
    }
}
