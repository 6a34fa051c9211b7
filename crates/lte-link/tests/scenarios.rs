//! Random scenarios: an air that loses and falsifies, outages, restarts of either end. Whatever happens, nothing is delivered
//! twice, out of order or changed. Once the air is clear, every link is back within a stated time. In acknowledged mode nothing
//! is lost, except what an end took with it when it was restarted.
//!
//! A few hundred scenarios run always, 10,000 with `TAKT_LONG_TESTS=1`. `TAKT_SCENARIO=N` runs one and prints what it was.

mod support;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use support::air::Air;
use support::chance::Chance;
use support::sizes::tables;
use support::world::{Node, World};
use takt_lte::Bandwidth;
use takt_lte_link::{BearerMode, BlockSizes, Policy, StationConfig, TerminalReport};

/// Subframes within which every link is back on a clear air.
const BACK_WITHIN: u64 = 2500;
/// Subframes within which every queue is empty then, without new packets. The narrowest band has to carry 6 Mbit for four
/// terminals, beginning with margins that bad times have left.
const EMPTY_WITHIN: u64 = 20_000;

/// The events of a scenario, in the order of the subframes.
struct Scenario {
    world: World,
    chance: Chance,
    subframes: u64,
    /// Probability of a packet in a subframe, down and up, of each terminal.
    packets: (f64, f64),
    outages: f64,
    restarts: f64,
}

impl Scenario {
    fn new(seed: u64, sizes: Arc<dyn BlockSizes>) -> Scenario {
        let mut chance = Chance::new(seed ^ 0x5eed);
        let bandwidth = Bandwidth::ALL[chance.below(6) as usize];
        let mode = if chance.happens(0.7) { BearerMode::Acknowledged } else { BearerMode::Unacknowledged };
        let policy = [Policy::RoundRobin, Policy::BestQuality, Policy::ProportionalFair][chance.below(3) as usize];
        let mut config = StationConfig { mode, policy, ..StationConfig::new(bandwidth, chance.next()) };
        config.rlc.queue_packets = 32 + chance.below(200) as u32;
        let terminals = 1 + chance.below(4) as usize;
        // Two terminals or more often choose the same preamble.
        config.information.preambles = if chance.happens(0.5) { 64 } else { 1 + chance.below(4) as u8 };
        let mut world = World::new(config, terminals, chance.below(10_240), chance.next(), sizes);
        world.nodes.iter_mut().for_each(|node| node.cqi = 1 + chance.below(15) as u8);
        world.air = Air {
            control_lost: chance.rate(0.4),
            downlink_lost: chance.rate(0.7),
            uplink_lost: chance.rate(0.7),
            uplink_unseen: chance.rate(0.2),
            answer_lost: chance.rate(0.3),
            answer_wrong: chance.rate(0.1),
            phich_wrong: chance.rate(0.1),
            preamble_lost: chance.rate(0.8),
            request_lost: chance.rate(0.5),
            false_control: chance.rate(0.02),
            false_alarm: chance.rate(0.02),
            garbled: 0.0,
        };
        let packets = (chance.rate(0.5), chance.rate(0.3));
        let (outages, restarts) = (chance.rate(0.01), chance.rate(0.003));
        let subframes = 500 + chance.below(5500);
        Scenario { world, chance, subframes, packets, outages, restarts }
    }

    fn disturb(&mut self) {
        for _ in 0..self.subframes {
            for n in 0..self.world.nodes.len() {
                if self.chance.happens(self.packets.0) {
                    self.world.send(n, true);
                }
                if self.chance.happens(self.packets.1) {
                    self.world.send(n, false);
                }
            }
            if self.chance.happens(self.outages) {
                self.begin_outage();
            }
            if self.chance.happens(self.restarts) {
                match self.chance.below(self.world.nodes.len() as u64 + 1) {
                    0 => self.world.restart_station(),
                    n => self.world.restart_terminal(n as usize - 1),
                }
            }
            self.world.step();
        }
    }

    fn begin_outage(&mut self) {
        let most = [20, 300, 3000][self.chance.below(3) as usize];
        let until = self.world.now + 1 + self.chance.below(most);
        let (noticed, all) = (self.chance.happens(0.5), self.chance.happens(0.3));
        let one = self.chance.below(self.world.nodes.len() as u64) as usize;
        for (n, node) in self.world.nodes.iter_mut().enumerate() {
            if all || n == one {
                node.outage = (until, noticed);
            }
        }
    }

    fn clear(&mut self) {
        self.world.air = Air::default();
        self.world.nodes.iter_mut().for_each(|node| (node.outage, node.cqi) = ((0, false), 15));
    }

    /// Subframes until every link is back.
    fn recover(&mut self) -> u64 {
        let begin = self.world.now;
        while !self.world.all_attached() {
            let states: Vec<_> = self.world.nodes.iter().map(|node| node.terminal.state()).collect();
            let reports: Vec<TerminalReport> = self.world.station.terminals().collect();
            let counters: Vec<_> = self.world.nodes.iter().map(|node| *node.terminal.counters()).collect();
            assert!(
                self.world.now - begin < BACK_WITHIN,
                "not back: {states:?} {} {reports:#?} {counters:#?}",
                self.world.bandwidth()
            );
            self.world.step();
        }
        self.world.now - begin
    }

    fn empty(&mut self) -> u64 {
        let begin = self.world.now;
        let waiting = |world: &World| {
            let of = |node: &Node| node.terminal.packets() + world.station.packets_for(node.config.identity);
            world.nodes.iter().map(of).sum::<usize>()
        };
        while waiting(&self.world) > 0 {
            assert!(
                self.world.now - begin < EMPTY_WITHIN,
                "{} packets wait: {:#?}",
                waiting(&self.world),
                self.reports()
            );
            self.world.step();
        }
        // The last reports are under way, or the last segments of a mode without any.
        self.world.run(100);
        self.world.now - begin
    }

    fn reports(&self) -> Vec<TerminalReport> {
        self.world.station.terminals().collect()
    }

    fn check_losses(&self) {
        for (n, node) in self.world.nodes.iter().enumerate() {
            let counters = node.terminal.counters();
            if self.world.station_config.mode == BearerMode::Acknowledged {
                let (down, up) = (node.down.lost(), node.up.lost());
                assert!(down.is_empty() && up.is_empty(), "terminal {n} lost {down:?} down, {up:?} up: {counters:?}");
                self.check_counted(node);
            }
        }
    }
}

impl Scenario {
    /// An end that was never restarted has counted what the other one took with it.
    fn check_counted(&self, node: &Node) {
        let same = |report: &TerminalReport| report.identity == node.config.identity;
        let counted = self.world.station.terminals().find(same).map_or(0, |report| report.counters.packets_lost);
        let (down, up) = (node.down.missing() as u64, node.up.missing() as u64);
        assert!(self.world.restarts > 0 || down <= counted, "{down} are missing down, {counted} counted");
        let counted = node.terminal.counters().packets_lost;
        assert!(node.restarts > 0 || up <= counted, "{up} are missing up, {counted} counted");
    }
}

/// The figures of a scenario.
#[derive(Debug, Default)]
struct Seen {
    back: u64,
    empty: u64,
    delivered: u64,
    missing: u64,
    lost_links: u64,
    resumed: u64,
}

fn play(seed: u64, sizes: Arc<dyn BlockSizes>) -> Seen {
    let mut scenario = Scenario::new(seed, sizes);
    scenario.disturb();
    scenario.clear();
    let back = scenario.recover();
    let empty = scenario.empty();
    assert!(scenario.world.all_attached(), "a link was lost on a clear air");
    scenario.check_losses();
    let nodes = &scenario.world.nodes;
    Seen {
        back,
        empty,
        delivered: nodes.iter().map(|node| node.up.delivered + node.down.delivered).sum(),
        missing: nodes.iter().map(|node| (node.up.missing() + node.down.missing()) as u64).sum(),
        lost_links: nodes.iter().map(|node| node.terminal.counters().lost.total()).sum(),
        resumed: nodes.iter().map(|node| node.terminal.counters().resumed).sum(),
    }
}

#[test]
fn links_come_back_and_packets_arrive_once_whole_and_in_order() {
    let sizes = tables();
    if let Ok(seed) = std::env::var("TAKT_SCENARIO") {
        panic!("{:#?}", play(seed.parse().unwrap(), sizes));
    }
    let count = if std::env::var_os("TAKT_LONG_TESTS").is_some() { 10_000 } else { 300 };
    let (mut all, mut failed) = (Seen::default(), Vec::new());
    for seed in 0..count {
        let sizes = sizes.clone();
        match std::panic::catch_unwind(AssertUnwindSafe(|| play(seed, sizes))) {
            Ok(seen) => {
                all.back = all.back.max(seen.back);
                all.empty = all.empty.max(seen.empty);
                all.delivered += seen.delivered;
                all.missing += seen.missing;
                all.lost_links += seen.lost_links;
                all.resumed += seen.resumed;
            }
            Err(_) => failed.push(seed),
        }
    }
    assert!(failed.is_empty(), "{} of {count} scenarios, TAKT_SCENARIO= one of {failed:?}; {all:?}", failed.len());
    assert!(
        all.delivered > 100 * count && all.lost_links > count / 2 && all.resumed > count / 4,
        "too little happened: {all:?}"
    );
}
