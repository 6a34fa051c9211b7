//! A plan made executable: for each worker a table of entries, with the rings of all links between them.

use std::collections::{BTreeMap, BTreeSet};

use takt_graph::{Graph, Length, MissPolicy, Plan, PortId};
use takt_link::ring::{Reader, Writer, ring};

use crate::component::{Component, MakeError, Prepared};
use crate::control::PENDING;
use crate::entry::{Body, Entry};
use crate::isolated::{Opening, Remote};
use crate::packet::{Cell, Room};
use crate::port::{Grant, InPort, OutPort, Source};
use crate::registry::Registry;
use crate::run::Options;
use crate::stats::EntryStats;

/// What a worker executes in each slot, in this order.
#[derive(Default)]
pub(crate) struct Table {
    pub(crate) entries: Vec<Entry>,
    /// First physical slot that is not executed.
    pub(crate) end: u64,
    /// Settings and messages that wait in its entries.
    pub(crate) pending: usize,
    /// All physical slots from this one on are still to be executed, by all entries.
    pub(crate) reached: u64,
}

impl Table {
    pub(crate) fn count_pending(&mut self) {
        self.pending = self.entries.iter().map(|entry| entry.pending.len()).sum();
    }
}

/// Why a waveform was not opened.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// A component was not made; the cause says why.
    #[error("component `{component}`")]
    Component {
        /// The component.
        component: String,
        /// Why.
        #[source]
        source: MakeError,
    },
    /// The links take too much memory.
    #[error("the links take {needed_bytes} bytes, and {allowed_bytes} are allowed")]
    Memory {
        /// So many.
        needed_bytes: u64,
        /// At most.
        allowed_bytes: u64,
    },
}

/// One ring to be: an output, and the links that read it.
struct RingSpec {
    output: PortId,
    links: Vec<usize>,
    cells: u64,
}

/// How tables are made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Making {
    pub(crate) hash_sinks: bool,
    pub(crate) memory_max_bytes: u64,
    /// Logical slots each component executes.
    pub(crate) slots: u64,
    /// Cells that rings have beyond need; none under a clock, where a packet that is late is missing.
    pub(crate) spare: Option<Spare>,
}

/// Cells beyond need, for workers that run ahead of each other: as many as there is room for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spare {
    /// Slots that a worker executes of one component before the next one's turn.
    pub(crate) burst: u64,
}

/// Slots that a producer on another core may be ahead: the two look at each other's words once in so many.
const AHEAD: u64 = 16;
/// Bytes of the cells beyond need of a link between cores, at most: a share of a second-level cache.
const AHEAD_BYTES: u64 = 256 << 10;
/// The same inside a worker, where what one component writes the next is to find in the first-level cache.
const BURST_BYTES: u64 = 32 << 10;

impl Spare {
    /// Cells worth having in a ring of such cells; a power of two.
    fn cells(self, crosses: bool, delay: u64, cell_bytes: u64) -> u64 {
        let (ahead, most) = if crosses { (self.burst.max(AHEAD), AHEAD_BYTES) } else { (self.burst, BURST_BYTES) };
        let cells = ahead.saturating_add(delay).min(most / cell_bytes.max(1)).max(1);
        1 << cells.ilog2()
    }
}

/// The components of a graph, ready for their first slot; in place of those that are not `wanted`, nothing.
pub(crate) fn make_components(
    graph: &Graph,
    registry: &Registry,
    options: &Options,
    wanted: &dyn Fn(usize) -> bool,
) -> Result<Vec<Body>, OpenError> {
    let make = |index: usize| {
        let node = &graph.components()[index];
        let refused = |source| OpenError::Component { component: node.name.clone(), source };
        if !wanted(index) {
            return Ok(Body::vacant());
        }
        if node.isolated {
            let remote = Remote::open(Opening { graph, index, registry, options }).map_err(refused)?;
            return Ok(Body::Isolated(Box::new(remote)));
        }
        let mut component = registry.make(&node.kind, &node.params).map_err(refused)?;
        prepare(graph, index, component.as_mut()).map_err(refused)?;
        Ok(Body::Here(component))
    };
    (0..graph.components().len()).map(make).collect()
}

fn prepare(graph: &Graph, index: usize, component: &mut dyn Component) -> Result<(), MakeError> {
    let node = &graph.components()[index];
    let longest = |lengths: Option<u64>| lengths.and_then(|max| usize::try_from(max).ok()).unwrap_or(0);
    let input = |port| graph.link_to(PortId { component: index, port }).map(|link| graph.links()[link].lengths.max);
    let shape = node.declared();
    let input_items: Vec<usize> = (0..shape.inputs.len()).map(|port| longest(input(port))).collect();
    let output = |length: Length| match length {
        Length::Fixed(items) | Length::UpTo(items) => Some(u64::from(items)),
        Length::Ratio { num, den, of } => input(of).map(|max| max * u64::from(num) / u64::from(den)),
    };
    let output_items: Vec<usize> = shape.outputs.iter().map(|port| longest(output(port.length))).collect();
    let ports =
        Prepared { shape: &shape, input_items: &input_items, output_items: &output_items, slot_ns: graph.slot_ns() };
    let fix = "change its parameters or what leads to it".to_owned();
    component.prepare(&ports).map_err(|what| MakeError { what, fix })
}

/// Rings by output, and the room of each output's cells.
struct Layout {
    rings: Vec<RingSpec>,
    rooms: BTreeMap<PortId, Room>,
    histories: BTreeMap<PortId, usize>,
}

/// `least`: cells that the ring of a link must have at least, for the packets that a change moves into it.
fn layout(graph: &Graph, plan: &Plan, least: &dyn Fn(usize) -> u64, spare: Option<Spare>) -> Layout {
    let mut histories: BTreeMap<PortId, usize> = BTreeMap::new();
    let mut rooms: BTreeMap<PortId, Room> = BTreeMap::new();
    let mut groups: BTreeMap<(PortId, usize, Option<usize>), Vec<usize>> = BTreeMap::new();
    for (index, link) in graph.links().iter().enumerate() {
        let history = graph.components()[link.to.component].shape.inputs[link.to.port].history as usize;
        let longest = histories.entry(link.from).or_default();
        *longest = (*longest).max(history);
        let worker = plan.worker_of(link.to.component);
        // Who changes packets in place needs a ring of its own.
        let own = changes_in_place(graph, link.to).then_some(index);
        groups.entry((link.from, worker, own)).or_default().push(index);
    }
    for (component, node) in graph.components().iter().enumerate() {
        for (port, shape) in node.shape.outputs.iter().enumerate() {
            let id = PortId { component, port };
            let bytes = output_bytes(graph, id);
            let margin_bytes = histories.get(&id).copied().unwrap_or(0) * shape.item.bytes();
            rooms.insert(id, Room { bytes, margin_bytes });
        }
    }
    same_room_in_place(graph, &mut rooms);
    let rings = groups.into_iter().map(|((output, worker, _), links)| {
        let crosses = plan.worker_of(output.component) != worker;
        let delay = links.iter().map(|&link| u64::from(plan.delay(link))).max().unwrap_or(0);
        let least = links.iter().map(|&link| least(link)).max().unwrap_or(0);
        // One being written, `delay` in flight, and between workers one being read.
        let needed = least.max(delay + 1 + u64::from(crosses));
        let spare = spare.map_or(0, |spare| spare.cells(crosses, delay, cell_bytes(rooms[&output])));
        // A power of two finds its cells by a mask.
        RingSpec { output, links, cells: needed.next_power_of_two().max(spare) }
    });
    let rings = rings.collect();
    Layout { rings, rooms, histories }
}

impl Layout {
    fn bytes(&self) -> u64 {
        let bytes = |spec: &RingSpec| spec.cells.saturating_mul(cell_bytes(self.rooms[&spec.output]));
        self.rings.iter().map(bytes).fold(0, u64::saturating_add)
    }
}

/// Memory of a cell, with what keeps it.
fn cell_bytes(room: Room) -> u64 {
    room.lines() as u64 * 128 + 192
}

fn changes_in_place(graph: &Graph, input: PortId) -> bool {
    graph.components()[input.component].shape.outputs.iter().any(|output| output.in_place == Some(input.port))
}

/// Bytes of the longest packet of an output.
pub(crate) fn output_bytes(graph: &Graph, output: PortId) -> usize {
    let shape = &graph.components()[output.component].shape;
    let length = shape.outputs[output.port].length;
    let items = match length {
        Length::Fixed(items) | Length::UpTo(items) => u64::from(items),
        Length::Ratio { num, den, of } => {
            let link = graph.link_to(PortId { component: output.component, port: of });
            link.map_or(0, |link| graph.links()[link].lengths.max * u64::from(num) / u64::from(den))
        }
    };
    // At most 16 Mi items of 8 bytes.
    usize::try_from(items).unwrap_or(0) * shape.outputs[output.port].item.bytes()
}

/// Buffers are swapped through in-place components, so all along such a path must have one size.
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

/// Tables of a plan. Components are taken from `components`, by index; `ids` are what they are called in the tables: a
/// component keeps its id through all changes.
pub(crate) fn make(
    graph: &Graph,
    plan: &Plan,
    components: Vec<Body>,
    ids: &[usize],
    making: &Making,
    least: &dyn Fn(usize) -> u64,
) -> Result<Vec<Table>, OpenError> {
    let roomy = layout(graph, plan, least, making.spare);
    let layout = if roomy.bytes() <= making.memory_max_bytes { roomy } else { layout(graph, plan, least, None) };
    let needed_bytes = layout.bytes();
    if needed_bytes > making.memory_max_bytes {
        return Err(OpenError::Memory { needed_bytes, allowed_bytes: making.memory_max_bytes });
    }
    let mut writers: BTreeMap<PortId, Vec<Writer<Cell>>> = BTreeMap::new();
    let mut readers: BTreeMap<usize, (Source, Reader<Cell>)> = BTreeMap::new();
    for spec in &layout.rings {
        let room = layout.rooms[&spec.output];
        let (writer, ends) = ring((0..spec.cells).map(|_| Cell::new(room)), spec.links.len());
        let rings = writers.entry(spec.output).or_default();
        let output = PortId { component: ids[spec.output.component], port: spec.output.port };
        let source = Source { output, ring: rings.len() };
        rings.push(writer);
        readers.extend(spec.links.iter().copied().zip(ends.into_iter().map(|end| (source, end))));
    }
    let sinks: BTreeSet<usize> = if making.hash_sinks { graph.sinks().collect() } else { BTreeSet::new() };
    let mut components: Vec<Option<Body>> = components.into_iter().map(Some).collect();
    let end = making.slots.saturating_add(plan.latency_slots().into());
    let mut table = |order: &Vec<usize>| {
        let entries = order.iter().filter_map(|&id| {
            let component = components.get_mut(id)?.take()?;
            let inputs = inputs(graph, id, &mut readers, &layout, sinks.contains(&id));
            let outputs = outputs(graph, id, &mut writers, &layout);
            let node = &graph.components()[id];
            let shape = &node.shape;
            let messages = (node.message_inputs, usize::from(node.message_output));
            let pairs = shape.outputs.iter().enumerate().filter_map(|(port, output)| Some((output.in_place?, port)));
            Some(Entry {
                id: ids[id],
                depth: plan.depth(id).into(),
                next: 0,
                until: making.slots,
                policy: graph.components()[id].on_miss,
                component,
                inputs,
                outputs,
                declared: (shape.inputs.len() - messages.0, shape.outputs.len() - messages.1),
                // A process of its own does that there.
                in_place: pairs.filter(|_| !node.isolated).collect(),
                pending: Vec::with_capacity(PENDING),
                stats: EntryStats::new(),
            })
        });
        Table { entries: entries.collect(), end, pending: 0, reached: 0 }
    };
    Ok(plan.workers().iter().map(&mut table).collect())
}

fn inputs(
    graph: &Graph,
    id: usize,
    readers: &mut BTreeMap<usize, (Source, Reader<Cell>)>,
    layout: &Layout,
    hash: bool,
) -> Box<[InPort]> {
    let shape = &graph.components()[id].shape;
    let port = |(port, input): (usize, &takt_graph::InputShape)| {
        let index = graph.link_to(PortId { component: id, port })?;
        let link = &graph.links()[index];
        let (source, reader) = readers.remove(&index)?;
        let mut made = InPort::new(input.item, source, link.delay, input.history as usize, reader);
        made.set_room(layout.rooms[&link.from]);
        if link.message {
            return Some(made);
        }
        if graph.components()[link.from.component].on_miss == MissPolicy::Repeat {
            made.keep_last(layout.rooms[&link.from]);
        }
        if hash {
            made.hash_all();
        }
        Some(made)
    };
    shape.inputs.iter().enumerate().filter_map(port).collect()
}

fn outputs(
    graph: &Graph,
    id: usize,
    writers: &mut BTreeMap<PortId, Vec<Writer<Cell>>>,
    layout: &Layout,
) -> Box<[OutPort]> {
    let shape = &graph.components()[id].shape;
    let port = |(port, output): (usize, &takt_graph::OutputShape)| {
        let output_id = PortId { component: id, port };
        let grant = Grant::of(output.length);
        let history = layout.histories.get(&output_id).copied().unwrap_or(0);
        let rings = writers.remove(&output_id).unwrap_or_default();
        OutPort::new(output.item, grant, rings, layout.rooms[&output_id], history)
    };
    shape.outputs.iter().enumerate().map(port).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_between_cores_have_sixteen_cells_or_as_many_as_256_kib_hold() {
        let spare = Spare { burst: 1 };
        let cells = |items: u64| spare.cells(true, 1, cell_bytes(Room { bytes: items as usize * 8, margin_bytes: 0 }));
        assert_eq!([1, 128, 1024, 2048, 4096, 1 << 20].map(cells), [16, 16, 16, 8, 4, 1]);
        assert_eq!(spare.cells(false, 0, 1000), 1, "inside a worker there is nothing to run ahead of");
        assert_eq!(Spare { burst: 16 }.cells(false, 0, 1000), 16);
        assert_eq!(Spare { burst: 64 }.cells(true, 1, 1000), 64);
        assert_eq!(Spare { burst: u64::MAX }.cells(false, 7, 1 << 14), 2, "no more than 32 KiB");
    }
}
