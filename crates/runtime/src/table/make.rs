//! From a graph and a plan to components and tables.

use std::collections::{BTreeMap, BTreeSet};

use takt_graph::{Graph, MissPolicy, Plan, PortId};
use takt_host::memory::own_limit;
use takt_link::ring::{Reader, Writer, ring};

use super::caught_up::CaughtUp;
use super::entry::{Body, Entry, PENDING};
use super::rings::{Layout, layout};
use crate::component::{Component, MakeError, Prepared, Registry};
use crate::isolated::Remote;
use crate::options::SessionOptions;
use crate::port::{Cell, Grant, InPort, OutPort, Place, Sizes, Source, Warm, declared, in_place, longest};
use crate::slot::SlotClock;
use crate::stats::EntryStats;

/// Entries that a worker executes in each slot, in this order.
#[derive(Default)]
pub(crate) struct Table {
    pub(crate) entries: Vec<Entry>,
    /// First physical slot that is not executed.
    pub(crate) end: u64,
    /// Tells who has caught up after the change that the table came with. It is dropped with the table, outside real
    /// time.
    pub(crate) caught_up: Option<CaughtUp>,
    /// Settings and messages that wait in its entries.
    pub(crate) pending: usize,
    /// All physical slots from this one on are still to be executed, by all entries.
    pub(crate) reached: u64,
    pub(crate) warm: Warm,
}

impl Table {
    /// Does what waits for the slots that its entries execute next.
    pub(crate) fn settle(&mut self, number: u64) {
        self.entries.iter_mut().for_each(|entry| entry.settle(number));
        self.count_pending();
    }

    /// Whether it came with a change, and its worker has yet to catch up.
    pub(crate) fn is_behind(&self) -> bool {
        self.caught_up.as_ref().is_some_and(CaughtUp::is_behind)
    }

    pub(crate) fn count_pending(&mut self) {
        self.pending = self.entries.iter().map(|entry| entry.pending.len()).sum();
    }
}

/// Why a waveform was not opened.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names say it")]
pub enum OpenError {
    /// A component was not made; the cause says why.
    #[error("takt can't make component `{component}`")]
    Component { component: String, source: MakeError },
    #[error("the links take {needed_bytes} bytes; at most {allowed_bytes} are allowed")]
    Memory { needed_bytes: u64, allowed_bytes: u64 },
}

impl OpenError {
    /// The fix.
    #[must_use]
    pub fn fix(&self) -> String {
        match self {
            OpenError::Component { source, .. } => source.fix.clone(),
            OpenError::Memory { .. } => "give shorter packets, or smaller delays".to_owned(),
        }
    }
}

/// The components of a graph, ready for their first slot; in place of those that are not `wanted`, nothing.
pub(crate) fn make_components(
    graph: &Graph,
    registry: &Registry,
    options: &SessionOptions,
    wanted: &dyn Fn(usize) -> bool,
) -> Result<Vec<Body>, OpenError> {
    let make = |index: usize| {
        let node = &graph.components()[index];
        let refused = |source| OpenError::Component { component: node.name.clone(), source };
        if !wanted(index) {
            return Ok(Body::vacant());
        }
        if node.isolated {
            let remote = Remote::open(graph, index, registry, options).map_err(refused)?;
            return Ok(Body::Isolated(Box::new(remote)));
        }
        let mut component = registry.make(&node.kind, &node.params).map_err(refused)?;
        prepare(graph, index, component.as_mut()).map_err(refused)?;
        Ok(Body::Here(component))
    };
    (0..graph.components().len()).map(make).collect()
}

fn prepare(graph: &Graph, index: usize, component: &mut dyn Component) -> Result<(), MakeError> {
    let shape = graph.components()[index].declared();
    let (mut input_items, mut output_items) = longest(graph, index);
    input_items.truncate(shape.inputs.len());
    output_items.truncate(shape.outputs.len());
    let ports =
        Prepared { shape: &shape, input_items: &input_items, output_items: &output_items, slot_ns: graph.slot_ns() };
    ports.prepare(component)
}

/// Tables of a plan. Components are taken from `components`, by index; `ids` are what they are called in the tables: a
/// component keeps its id through all changes. `least`: cells that the ring of a link must have at least.
pub(crate) fn make(
    graph: &Graph,
    plan: &Plan,
    components: Vec<Body>,
    ids: &[usize],
    options: &SessionOptions,
    least: &dyn Fn(usize) -> u64,
) -> Result<Vec<Table>, OpenError> {
    // Beyond its own limit the process would end where memory runs out.
    let allowed_bytes = options.memory_max_bytes.min(own_limit().unwrap_or(u64::MAX));
    // Under a clock a ring has no cells beyond need: a packet that is late is missing.
    let burst = matches!(options.clock, SlotClock::Free).then_some(options.burst.max(1));
    let roomy = layout(graph, plan, least, burst);
    let layout = if roomy.bytes() <= allowed_bytes { roomy } else { layout(graph, plan, least, None) };
    let needed_bytes = layout.bytes();
    if needed_bytes > allowed_bytes {
        return Err(OpenError::Memory { needed_bytes, allowed_bytes });
    }
    let mut writers = Writers::new();
    let mut readers = Readers::new();
    for spec in &layout.rings {
        let room = layout.rooms[&spec.output];
        let (writer, ends) = ring((0..spec.cells).map(|_| Cell::new(room)), spec.links.len());
        let rings = writers.entry(spec.output).or_default();
        let output = PortId { component: ids[spec.output.component], port: spec.output.port };
        let source = Source { output, ring: rings.len() };
        let place = spec.inside.map_or(Place::NONE, |worker| layout.warm[worker].place(room));
        rings.push((writer, place));
        readers.extend(spec.links.iter().copied().zip(ends.into_iter().map(|end| (source, end, place))));
    }
    let sinks: BTreeSet<usize> = if options.hash { graph.sinks().collect() } else { BTreeSet::new() };
    let mut components: Vec<Option<Body>> = components.into_iter().map(Some).collect();
    let slots = options.slots.unwrap_or(u64::MAX);
    let end = slots.saturating_add(plan.latency_slots().into());
    let mut table = |(order, sizes): (&Vec<usize>, &Sizes)| {
        let entries = order.iter().filter_map(|&id| {
            let component = components.get_mut(id)?.take()?;
            let inputs = inputs(graph, id, &mut readers, &layout, sinks.contains(&id));
            let outputs = outputs(graph, id, &mut writers, &layout);
            let node = &graph.components()[id];
            Some(Entry {
                id: ids[id],
                depth: plan.depth(id).into(),
                next: 0,
                until: slots,
                policy: node.on_miss,
                component,
                outputs,
                leaves: inputs.iter().any(|input| input.warm != Place::NONE),
                inputs,
                declared: declared(node),
                // A process of its own does that there.
                in_place: if node.isolated { Box::default() } else { in_place(&node.shape) },
                pending: Vec::with_capacity(PENDING),
                stats: EntryStats::default(),
            })
        });
        Table { entries: entries.collect(), end, warm: Warm::of(&sizes.0), ..Table::default() }
    };
    Ok(plan.workers().iter().zip(&layout.warm).map(&mut table).collect())
}

type Readers = BTreeMap<usize, (Source, Reader<Cell>, Place)>;
type Writers = BTreeMap<PortId, Vec<(Writer<Cell>, Place)>>;

fn inputs(graph: &Graph, id: usize, readers: &mut Readers, layout: &Layout, hash: bool) -> Box<[InPort]> {
    let shape = &graph.components()[id].shape;
    let port = |(port, input): (usize, &takt_graph::InputShape)| {
        let index = graph.link_to(PortId { component: id, port })?;
        let link = &graph.links()[index];
        let (source, reader, place) = readers.remove(&index)?;
        let mut made = InPort::new(input.item, source, link.delay, input.history as usize, reader);
        (made.room, made.warm) = (layout.rooms[&link.from], place);
        if link.message {
            return Some(made);
        }
        if graph.components()[link.from.component].on_miss == MissPolicy::Repeat {
            made.keep_last(made.room);
        }
        made.hash = hash.then_some(0);
        Some(made)
    };
    shape.inputs.iter().enumerate().filter_map(port).collect()
}

fn outputs(graph: &Graph, id: usize, writers: &mut Writers, layout: &Layout) -> Box<[OutPort]> {
    let shape = &graph.components()[id].shape;
    let port = |(port, output): (usize, &takt_graph::OutputShape)| {
        let output_id = PortId { component: id, port };
        let grant = Grant::of(output.length);
        let history = layout.histories.get(&output_id).copied().unwrap_or(0);
        let (rings, places): (Vec<_>, Vec<_>) = writers.remove(&output_id).unwrap_or_default().into_iter().unzip();
        let mut made = OutPort::new(output.item, grant, rings, layout.rooms[&output_id], history);
        // The packet is filled in the first ring; one that is changed in place comes with its buffer.
        let first = places.first().filter(|_| output.in_place.is_none());
        made.warm = first.copied().unwrap_or(Place::NONE);
        made
    };
    shape.outputs.iter().enumerate().map(port).collect()
}
