//! Blocks that arrive as something else although their check is right: nothing of it makes an end panic or hang, what it holds
//! stays bounded, and both ends find each other again once they are restarted.

mod support;

use proptest::prelude::*;
use support::sizes::tables;
use support::world::World;
use takt_lte::Bandwidth;
use takt_lte_link::{BearerMode, StationConfig};

#[test]
fn garbled_blocks_are_counted_and_do_no_harm() {
    let count = if std::env::var_os("TAKT_LONG_TESTS").is_some() { 2000 } else { 60 };
    let mut malformed = 0;
    for seed in 0..count {
        let bandwidth = Bandwidth::ALL[(seed % 6) as usize];
        let mode = if seed % 3 == 0 { BearerMode::Unacknowledged } else { BearerMode::Acknowledged };
        let config = StationConfig { mode, ..StationConfig::new(bandwidth, seed) };
        let mut world = World::new(config, 1 + (seed % 3) as usize, seed, seed, tables());
        world.is_trusting = false;
        world.air.garbled = [0.01, 0.1, 0.5, 1.0][(seed / 6 % 4) as usize];
        world.air.false_control = 0.01;
        for n in 0..4000 {
            if n % 5 == 0 {
                for node in 0..world.nodes.len() {
                    world.send(node, n % 2 == 0);
                }
            }
            world.step();
        }
        malformed += world.nodes.iter().map(|node| node.terminal.counters().malformed).sum::<u64>();
        malformed += world.station.terminals().map(|report| report.counters.malformed).sum::<u64>();
        world.air = support::air::Air::default();
        world.restart_station();
        (0..world.nodes.len()).for_each(|n| world.restart_terminal(n));
        world.run(600);
        assert!(world.all_attached(), "scenario {seed}");
    }
    assert!(malformed > 1000, "{malformed} malformed");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn blocks_of_a_stranger_make_no_end_panic(bytes in prop::collection::vec(any::<u8>(), 0..1500)) {
        support::forged::forged(&bytes);
    }
}
