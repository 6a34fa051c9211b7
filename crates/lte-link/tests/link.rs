//! Both ends over an air without faults: attachment, packets both ways, several terminals.

mod support;

use support::sizes::tables;
use support::world::World;
use takt_lte::Bandwidth;
use takt_lte_link::{BearerMode, LinkState, Policy, StationConfig};

fn world(bandwidth: Bandwidth, terminals: usize, mode: BearerMode, seed: u64) -> World {
    let config = StationConfig { mode, ..StationConfig::new(bandwidth, seed) };
    World::new(config, terminals, seed % 10_240, seed, tables())
}

#[test]
fn terminals_attach_and_packets_pass() {
    for bandwidth in Bandwidth::ALL {
        for mode in [BearerMode::Acknowledged, BearerMode::Unacknowledged] {
            for terminals in 1..=4 {
                let mut world = world(bandwidth, terminals, mode, 7 + terminals as u64);
                world.run(200 * terminals as u64);
                assert!(
                    world.all_attached(),
                    "{bandwidth} {mode:?} {terminals}: {:?}",
                    world.nodes[0].terminal.counters()
                );
                for n in 0..terminals {
                    (0..20).for_each(|_| {
                        world.send(n, true);
                        world.send(n, false);
                    });
                }
                world.run(2000);
                for node in &world.nodes {
                    assert_eq!((node.up.delivered, node.down.delivered), (20, 20), "{bandwidth} {mode:?} {terminals}");
                    assert_eq!(node.terminal.counters().lost.total(), 0);
                }
            }
        }
    }
}

#[test]
fn terminals_with_the_same_preamble_resolve() {
    for seed in 0..40 {
        let mut config = StationConfig::new(Bandwidth::ALL[(seed % 6) as usize], seed);
        config.information.preambles = 1;
        let mut world = World::new(config, 4, 0, seed, tables());
        world.run(60);
        let lost: u64 = world.nodes.iter().map(|node| node.terminal.counters().contentions_lost).sum();
        world.run(1500);
        let states: Vec<_> = world.nodes.iter().map(|node| node.terminal.state()).collect();
        assert!(world.all_attached(), "{seed}: {states:?}");
        assert!(
            lost > 0 || world.nodes.iter().any(|node| node.terminal.counters().preambles > 1),
            "{seed}: no contention"
        );
        let mut places: Vec<_> = world.nodes.iter().map(|node| node.terminal.place()).collect();
        places.sort_unstable();
        assert_eq!(places, [Some(0), Some(1), Some(2), Some(3)]);
    }
}

#[test]
fn power_ramps_and_attempts_end() {
    let mut world = world(Bandwidth::Prb25, 1, BearerMode::Acknowledged, 3);
    world.air.preamble_lost = 1.0;
    world.run(2000);
    let counters = *world.nodes[0].terminal.counters();
    assert!(counters.preambles > 40 && counters.accesses_failed >= 2, "{counters:?}");
    assert_eq!(
        counters.responses_missed,
        counters.preambles - u64::from(counters.preambles > counters.responses_missed)
    );
    assert!(world.strongest_ramp_db() == 38, "20 attempts, 2 dB apart: {}", world.strongest_ramp_db());
}

#[test]
fn who_finds_no_place_is_told_and_comes_later() {
    let config = StationConfig { terminals: 2, ..StationConfig::new(Bandwidth::Prb25, 5) };
    let mut world = World::new(config, 3, 0, 5, tables());
    world.run(600);
    let states: Vec<_> = world.nodes.iter().map(|node| node.terminal.state()).collect();
    let count = |state| states.iter().filter(|&&one| one == state).count();
    assert_eq!((count(LinkState::Attached), count(LinkState::Refused)), (2, 1), "{states:?}");
    // One of the others goes for good: its place is free once the base station has missed it.
    let (gone, waiting) = (at(&states, LinkState::Attached), at(&states, LinkState::Refused));
    world.nodes[gone].outage = (u64::MAX, true);
    world.run(3500);
    assert_eq!(world.nodes[waiting].terminal.state(), LinkState::Attached);
}

fn at(states: &[LinkState], state: LinkState) -> usize {
    states.iter().position(|&one| one == state).unwrap()
}

#[test]
fn timing_advance_follows_a_terminal_that_moves() {
    let mut world = world(Bandwidth::Prb25, 1, BearerMode::Acknowledged, 9);
    world.run(300);
    let begin = world.nodes[0].delay;
    assert_eq!(world.timing_advance(0), begin);
    for _ in 0..40 {
        world.nodes[0].delay += 1;
        for _ in 0..30 {
            world.send(0, false);
            world.run(10);
        }
    }
    let (is, should) = (world.timing_advance(0), world.nodes[0].delay);
    assert!(is.abs_diff(should) <= 2 && should == begin + 40, "{is} for {should}");
    assert!(world.nodes[0].terminal.counters().timing_commands >= 10);
}

#[test]
fn a_wide_cell_carries_what_its_blocks_hold() {
    for (bandwidth, down, up) in
        [(Bandwidth::Prb6, 3.5, 1.5), (Bandwidth::Prb25, 15.0, 11.0), (Bandwidth::Prb100, 63.0, 55.0)]
    {
        let mut world = world(bandwidth, 1, BearerMode::Acknowledged, 11);
        world.run(200);
        let bytes = world.saturate(2000);
        // Bits a subframe are kb/s.
        let (is_down, is_up) = (bytes.0 as f64 * 8.0 / 2e6, bytes.1 as f64 * 8.0 / 2e6);
        assert!(is_down >= down && is_up >= up, "{bandwidth}: {is_down} and {is_up} Mb/s of {down} and {up}");
    }
}

#[test]
fn policies_share_as_they_say() {
    let share = |policy| {
        let config = StationConfig { policy, ..StationConfig::new(Bandwidth::Prb25, 13) };
        let mut world = World::new(config, 2, 0, 13, tables());
        (world.nodes[0].cqi, world.nodes[1].cqi) = (15, 5);
        world.run(300);
        world.saturate(3000);
        [0, 1].map(|n| world.nodes[n].terminal.counters().blocks_received as f64)
    };
    let turns = share(Policy::RoundRobin);
    assert!((turns[0] / turns[1] - 1.0).abs() < 0.1, "{turns:?}");
    let best = share(Policy::BestQuality);
    assert!(best[0] > 20.0 * best[1], "{best:?}");
    let fair = share(Policy::ProportionalFair);
    assert!((fair[0] / fair[1] - 1.0).abs() < 0.3, "{fair:?}");
}

#[test]
fn the_outer_loop_corrects_a_wrong_report() {
    // The terminal reports the best channel and has another.
    for snr_db in [4.0, 8.0, 14.0] {
        let mut world = world(Bandwidth::Prb25, 1, BearerMode::Acknowledged, 17);
        world.run(200);
        world.nodes[0].snr_db = Some(snr_db);
        world.saturate(4000);
        let before = world.station.terminals().next().unwrap().counters;
        world.saturate(8000);
        let after = world.station.terminals().next().unwrap().counters;
        let first = (after.blocks_sent - before.blocks_sent) as f64;
        let failed = world.nodes[0].terminal.counters().blocks_failed;
        let repeated = (after.blocks_sent_again - before.blocks_sent_again) as f64;
        assert!((0.05..0.15).contains(&(repeated / first)), "{snr_db} dB: {repeated} of {first}, {failed} failed");
        assert_eq!(after.lost.total(), 0, "{snr_db} dB: {:?}", after.lost);
    }
}

#[test]
fn equal_calls_give_equal_answers() {
    let play = || {
        let mut world = world(Bandwidth::Prb25, 3, BearerMode::Acknowledged, 21);
        (world.air.downlink_lost, world.air.uplink_lost, world.air.control_lost) = (0.1, 0.1, 0.05);
        for n in 0..3000 {
            world.send(n % 3, n % 2 == 0);
            world.step();
        }
        let terminals = world.nodes.iter().map(|node| *node.terminal.counters());
        (terminals.collect::<Vec<_>>(), world.station.terminals().collect::<Vec<_>>())
    };
    assert_eq!(play(), play());
}

#[test]
fn subframes_that_are_left_out_cost_only_themselves() {
    let mut world = world(Bandwidth::Prb25, 2, BearerMode::Acknowledged, 23);
    world.run(300);
    for n in 0..400 {
        world.send(n % 2, n % 3 == 0);
        // Neither end hears or says anything for a while; its clock jumps.
        world.now += u64::from(n % 20 == 0) * (n as u64 % 7);
        world.step();
    }
    world.run(2000);
    assert!(world.all_attached());
    for node in &world.nodes {
        assert_eq!((node.up.missing(), node.down.missing(), node.terminal.counters().lost.total()), (0, 0, 0));
    }
}
