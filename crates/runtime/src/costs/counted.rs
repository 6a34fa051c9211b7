//! Instructions that components execute: of those that were counted and come with takt, and of others of their types.

use std::time::{Duration, Instant};

use takt_graph::{Graph, Item, Params, PortId, Shape};
use takt_mapper::{Costs, Counted, Profile};

use crate::{Bench, Registry};

/// Calls by which two components are compared, and what that may take.
const CALLS: usize = 101;
const COMPARED: Duration = Duration::from_millis(100);

/// Adds what a component of a waveform executes in a slot, if its type was counted.
pub(super) fn add(costs: &mut Costs, graph: &Graph, index: usize, registry: &Registry) {
    let component = &graph.components()[index];
    let longest = |port| {
        let link = graph.link_to(PortId { component: index, port });
        link.map_or(0, |link| graph.links()[link].lengths.max)
    };
    let items: Vec<u64> = (0..component.declared().inputs.len()).map(longest).collect();
    insert(costs, &component.name, profile(&component.kind, &component.params, &items, registry));
}

/// Keeps what is known, if anything is.
pub(super) fn insert(costs: &mut Costs, name: &str, known: Option<(Profile, Option<f64>)>) {
    let Some((profile, times)) = known else { return };
    costs.profiles.insert(name.to_owned(), profile);
    costs.scaled.extend(times.map(|times| (name.to_owned(), times)));
}

/// Profile of a component in a call, with packets of so many items. If the type was counted with others: as many times
/// as much as it takes longer here, and how many times that is.
#[must_use]
pub fn profile(kind: &str, params: &Params, items: &[u64], registry: &Registry) -> Option<(Profile, Option<f64>)> {
    let counted = Counted::nearest(kind, params, items)?;
    if counted.is(params, items) {
        return Some((counted.profile(), None));
    }
    let mut this = Trial::open(kind, params, items, registry)?;
    let mut that = Trial::open(kind, &counted.params, &counted.items, registry)?;
    let start = Instant::now();
    // In turns, so that a disturbance meets both.
    while this.ns.len() < CALLS && (this.ns.is_empty() || start.elapsed() < COMPARED) {
        this.call()?;
        that.call()?;
    }
    let times = this.median() / that.median();
    Some((counted.profile().times(times), Some(times)))
}

struct Trial {
    bench: Bench,
    packets: Vec<Vec<u8>>,
    ns: Vec<u64>,
}

impl Trial {
    fn open(kind: &str, params: &Params, items: &[u64], registry: &Registry) -> Option<Trial> {
        let longest = items.iter().max().map_or(1, |&longest| usize::try_from(longest).unwrap_or(1));
        let bench = Bench::sized(registry, kind, params, longest.max(1)).ok()?;
        let packets = packets(bench.shape(), items);
        let mut trial = Trial { bench, packets, ns: Vec::new() };
        // Caches are filled first.
        (0..3).try_for_each(|_| trial.call())?;
        trial.ns.clear();
        Some(trial)
    }

    /// `None`: it does not take noise.
    fn call(&mut self) -> Option<()> {
        for (input, packet) in self.packets.iter().enumerate() {
            self.bench.feed_bytes(input, packet);
        }
        self.bench.try_tick().ok()?;
        self.ns.push(self.bench.ns());
        Some(())
    }

    fn median(&mut self) -> f64 {
        self.ns.sort_unstable();
        self.ns[self.ns.len() / 2].max(1) as f64
    }
}

/// Packets of noise, the same each time.
fn packets(shape: &Shape, items: &[u64]) -> Vec<Vec<u8>> {
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state
    };
    let mut packet = |item: Item, items: u64| -> Vec<u8> {
        let bytes = usize::try_from(items).unwrap_or(0) * item.bytes();
        match item {
            Item::Bit => (0..bytes).map(|_| (random() >> 63) as u8).collect(),
            Item::F32 | Item::C32 => {
                (0..bytes / 4).flat_map(|_| ((random() >> 40) as f32 / (1 << 24) as f32 - 0.5).to_le_bytes()).collect()
            }
            Item::Byte | Item::Llr | Item::I16 | Item::C16 => (0..bytes).map(|_| (random() >> 56) as u8).collect(),
        }
    };
    shape.inputs.iter().zip(items).map(|(port, &items)| packet(port.item, items)).collect()
}
