//! Blocks of a stranger's bytes, which arrive in place of real ones with their check right. Shared by `tests/hostile.rs` and the fuzz
//! target `lte_link`.

use std::collections::VecDeque;

use takt_lte::Bandwidth;
use takt_lte_link::{BearerMode, StationConfig};

use super::sizes::tables;
use super::world::World;

/// Subframes that a link runs, and after it those that it may take to attach again.
const SUBFRAMES: u64 = 1500;
const RETURN: u64 = 600;

/// A block that nobody sent.
pub struct Forgery {
    /// From this subframe on it takes the place of the next block.
    from: u64,
    bytes: Vec<u8>,
}

impl Forgery {
    /// The next one, if its time has come.
    pub fn of(now: u64, forged: &mut VecDeque<Forgery>) -> Option<Vec<u8>> {
        forged.front().filter(|next| next.from <= now)?;
        forged.pop_front().map(|next| next.bytes)
    }
}

/// A base station and a terminal that carry packets while these bytes arrive as blocks. Neither panics. Both are restarted, and
/// attach again.
///
/// The bytes are a bandwidth, a mode, and for each block: subframes since the last one, a length, its bytes.
pub fn forged(bytes: &[u8]) {
    let mut rest = bytes;
    let mut byte = || rest.split_off_first().copied();
    let bandwidth = Bandwidth::ALL[usize::from(byte().unwrap_or(0)) % Bandwidth::ALL.len()];
    let is_acknowledged = byte().unwrap_or(0) % 2 == 0;
    let mode = if is_acknowledged { BearerMode::Acknowledged } else { BearerMode::Unacknowledged };
    let config = StationConfig { mode, ..StationConfig::new(bandwidth, 7) };
    let mut world = World::new(config, 1, 0, 7, tables());
    world.is_trusting = false;
    let mut from = 0;
    while let (Some(gap), Some(len)) = (byte(), byte()) {
        from += u64::from(gap);
        let block = (0..len).map_while(|_| byte()).collect();
        world.forged.push_back(Forgery { from, bytes: block });
    }
    for n in 0..SUBFRAMES {
        if n % 10 == 0 {
            world.send(0, n % 20 == 0);
        }
        world.step();
    }
    world.forged.clear();
    world.restart_station();
    world.restart_terminal(0);
    world.run(RETURN);
    assert!(world.all_attached(), "{:?}", world.nodes[0].terminal.state());
}
