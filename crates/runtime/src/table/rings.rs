//! Which rings a plan needs, and how large.

use std::collections::BTreeMap;

use takt_graph::{Graph, Plan, PortId};

use crate::port::{Room, Sizes, longest};

/// One ring to be: an output, and the links that read it.
pub(super) struct RingSpec {
    pub(super) output: PortId,
    pub(super) links: Vec<usize>,
    pub(super) cells: u64,
    /// The worker inside which its packets are written and read once, and not changed in place; `None`: it is otherwise.
    pub(super) inside: Option<usize>,
}

/// Slots that a producer on another core may be ahead: the two look at each other's words once in so many.
const AHEAD: u64 = 16;
/// Bytes of the cells beyond need of a link between cores, at most: a share of a second-level cache.
const AHEAD_BYTES: u64 = 256 << 10;
/// The same inside a worker, where what one component writes the next is to find in the first-level cache.
const BURST_BYTES: u64 = 32 << 10;

/// Bytes of packets of one size inside a worker from which on their buffers change places: more do not stay in the first-level
/// cache from slot to slot.
const WARM_BYTES: u64 = 32 << 10;

/// Items of a packet from which on, bytes: less is copied as fast as two buffers change places.
const WARM_PACKET_BYTES: usize = 2 << 10;

/// Cells worth having in a ring of such cells beyond need, for workers that run ahead of each other; a power of two. `burst`:
/// slots that a worker executes of one component before the next one's turn.
fn spare_cells(burst: u64, crosses: bool, delay: u64, cell_bytes: u64) -> u64 {
    let (ahead, most) = if crosses { (burst.max(AHEAD), AHEAD_BYTES) } else { (burst, BURST_BYTES) };
    let cells = ahead.saturating_add(delay).min(most / cell_bytes.max(1)).max(1);
    1 << cells.ilog2()
}

/// Rings by output, and the room of each output's cells.
pub(super) struct Layout {
    pub(super) rings: Vec<RingSpec>,
    pub(super) rooms: BTreeMap<PortId, Room>,
    pub(super) histories: BTreeMap<PortId, usize>,
    /// Sizes of each worker.
    pub(super) warm: Vec<Sizes>,
}

/// `least`: cells that the ring of a link must have at least, for the packets that a change moves into it. Without
/// `burst` no ring has cells beyond need.
pub(super) fn layout(graph: &Graph, plan: &Plan, least: &dyn Fn(usize) -> u64, burst: Option<u64>) -> Layout {
    let mut histories: BTreeMap<PortId, usize> = BTreeMap::new();
    let mut rooms: BTreeMap<PortId, Room> = BTreeMap::new();
    let mut groups: BTreeMap<(PortId, usize, Option<usize>), Vec<usize>> = BTreeMap::new();
    for (index, link) in graph.links().iter().enumerate() {
        let history = graph.components()[link.to.component].shape.inputs[link.to.port].history as usize;
        let most = histories.entry(link.from).or_default();
        *most = (*most).max(history);
        let worker = plan.worker_of(link.to.component);
        // A component that changes packets in place needs a ring of its own.
        let own = changes_in_place(graph, link.to).then_some(index);
        groups.entry((link.from, worker, own)).or_default().push(index);
    }
    for (component, node) in graph.components().iter().enumerate() {
        let (_, items) = longest(graph, component);
        for (port, (shape, items)) in node.shape.outputs.iter().zip(items).enumerate() {
            let id = PortId { component, port };
            let margin_bytes = histories.get(&id).copied().unwrap_or(0) * shape.item.bytes();
            rooms.insert(id, Room { bytes: items * shape.item.bytes(), margin_bytes });
        }
    }
    same_room_in_place(graph, &mut rooms);
    let rings = groups.into_iter().map(|((output, worker, own), links)| {
        let crosses = plan.worker_of(output.component) != worker;
        let delay = links.iter().map(|&link| u64::from(plan.delay(link))).max().unwrap_or(0);
        let least = links.iter().map(|&link| least(link)).max().unwrap_or(0);
        // One being written, `delay` in flight, and between workers one being read.
        let needed = least.max(delay + 1 + u64::from(crosses));
        let spare = burst.map_or(0, |burst| spare_cells(burst, crosses, delay, cell_bytes(rooms[&output])));
        // A power of two finds its cells by a mask.
        let cells = needed.next_power_of_two().max(spare);
        let inside = (!crosses && links.len() == 1 && own.is_none()).then_some(worker);
        RingSpec { output, links, cells, inside }
    });
    let rings: Vec<RingSpec> = rings.collect();
    let sizes = |worker| if burst.is_some() { warm_sizes(&rings, &rooms, worker) } else { Sizes::default() };
    let warm = (0..plan.workers().len()).map(sizes).collect();
    Layout { rings, rooms, histories, warm }
}

/// Sizes of packets of which a worker has more than its cache keeps.
fn warm_sizes(rings: &[RingSpec], rooms: &BTreeMap<PortId, Room>, worker: usize) -> Sizes {
    let mut sums: Vec<(Room, u64)> = Vec::new();
    for ring in rings.iter().filter(|ring| ring.inside == Some(worker)) {
        let room = rooms[&ring.output];
        if room.bytes < WARM_PACKET_BYTES {
            continue;
        }
        let bytes = ring.cells.saturating_mul(cell_bytes(room));
        match sums.iter_mut().find(|(size, _)| *size == room) {
            Some((_, sum)) => *sum = sum.saturating_add(bytes),
            None => sums.push((room, bytes)),
        }
    }
    Sizes(sums.into_iter().filter(|&(_, bytes)| bytes > WARM_BYTES).map(|(room, _)| room).collect())
}

impl Layout {
    pub(super) fn bytes(&self) -> u64 {
        let bytes = |spec: &RingSpec| spec.cells.saturating_mul(cell_bytes(self.rooms[&spec.output]));
        let warm = self.warm.iter().flat_map(|sizes| &sizes.0).map(|&room| cell_bytes(room));
        self.rings.iter().map(bytes).chain(warm).fold(0, u64::saturating_add)
    }
}

/// Memory of a cell, with what keeps it.
fn cell_bytes(room: Room) -> u64 {
    room.lines() as u64 * 128 + 192
}

fn changes_in_place(graph: &Graph, input: PortId) -> bool {
    graph.components()[input.component].shape.outputs.iter().any(|output| output.in_place == Some(input.port))
}

/// Buffers are swapped through in-place components, so all buffers of such a path must have one size.
fn same_room_in_place(graph: &Graph, rooms: &mut BTreeMap<PortId, Room>) {
    let mut pairs = Vec::new();
    for (component, node) in graph.components().iter().enumerate() {
        for (port, shape) in node.shape.outputs.iter().enumerate() {
            let link = shape.in_place.and_then(|of| graph.link_to(PortId { component, port: of }));
            pairs.extend(link.map(|link| (graph.links()[link].from, PortId { component, port })));
        }
    }
    loop {
        let mut grown = false;
        for (a, b) in &pairs {
            let room = rooms[a].or(rooms[b]);
            for end in [a, b] {
                grown |= rooms.insert(*end, room) != Some(room);
            }
        }
        if !grown {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_between_cores_have_sixteen_cells_or_as_many_as_256_kib_hold() {
        let bytes = |items: u64| cell_bytes(Room { bytes: items as usize * 8, margin_bytes: 0 });
        let cells = |items: u64| spare_cells(1, true, 1, bytes(items));
        assert_eq!([1, 128, 1024, 2048, 4096, 1 << 20].map(cells), [16, 16, 16, 8, 4, 1]);
        assert_eq!(spare_cells(1, false, 0, 1000), 1, "inside a worker there is nothing to run ahead of");
        assert_eq!(spare_cells(16, false, 0, 1000), 16);
        assert_eq!(spare_cells(64, true, 1, 1000), 64);
        assert_eq!(spare_cells(u64::MAX, false, 7, 1 << 14), 2, "no more than 32 KiB");
    }
}
