//! [`Share`]: one machine's part of a waveform that is placed on several.
//!
//! Every machine has the whole graph and the whole plan, and takes its own part of them by itself. Links to other machines are
//! cut: what they carry goes into a component that sends it, and comes out of one that receives it, slot by slot, in the
//! physical slots of the whole plan. So a packet from one machine to another has as many slots to travel as the plan gave its
//! link, less what the link itself delays, and what is computed is what one machine would compute.
//!
//! ```text
//!  whole plan    a ────> b ═══ 2 slots ═══> c ────> d
//!  share of 0    a ────> b ──> to c           of 1       from b ──> c ────> d
//!                depth 0, 0, 0                           depth 2,   2,     2
//! ```

use crate::graph::{Component, Graph, Link, PortId};
use crate::item::Item;
use crate::plan::Plan;
use crate::shape::{Length, Lengths, Shape};
use crate::value::Params;
use crate::waveform::MissPolicy;

/// A machine's part of a waveform.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// Its components, and those that send and receive.
    pub graph: Graph,
    /// Their plan, in the physical slots of the whole one.
    pub plan: Plan,
    /// Which worker of the whole plan each of its workers is.
    pub workers: Vec<usize>,
    /// Streams that it sends and receives.
    pub bridges: Vec<Bridge>,
}

/// A component of a share that sends to another machine, or receives from one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bridge {
    /// Its index in the share's graph.
    pub component: usize,
    /// Number of the stream, the same on both machines.
    pub stream: usize,
    /// Which end it is.
    pub direction: Direction,
    /// Worker of the whole plan at the other end.
    pub other: usize,
    /// Items that flow.
    pub item: Item,
    /// How much of it a slot.
    pub lengths: Lengths,
}

/// Which end of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The end at which packets are made.
    Send,
    /// The end at which packets are used.
    Receive,
}

/// Why a waveform can't be shared out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names say it")]
pub enum ShareError {
    #[error("`{from}` sends messages to `{to}`, which is on another machine")]
    Message { from: String, to: String },
}

impl ShareError {
    /// The fix.
    #[must_use]
    pub fn fix(&self) -> String {
        match self {
            ShareError::Message { from, to } => {
                format!("place `{from}` and `{to}` on one machine: messages do not cross machines")
            }
        }
    }
}

/// Stream from one output to one worker of another machine: the links that it stands for.
struct Stream {
    from: PortId,
    to_worker: usize,
    links: Vec<usize>,
}

impl Share {
    /// The component type that sends.
    pub const SEND: &str = "bridge-send";
    /// The component type that receives.
    pub const RECEIVE: &str = "bridge-receive";
    /// The parameter of both that holds the number of the stream.
    pub const STREAM: &str = "stream";

    /// The part of machine `node` of a waveform; `node_of` says on which machine each worker of the plan is. Streams between
    /// machines are numbered from `first` on.
    ///
    /// # Errors
    /// Messages would have to cross machines.
    pub fn of(graph: &Graph, plan: &Plan, node_of: &[usize], node: usize, first: usize) -> Result<Share, ShareError> {
        let streams = streams(graph, plan, node_of)?;
        let mut share = Cut::new(graph, plan, node_of, node);
        for (index, stream) in streams.iter().enumerate() {
            let number = first + index;
            if node_of[plan.worker_of(stream.from.component)] == node {
                share.send(number, stream);
            }
            if node_of[stream.to_worker] == node {
                share.receive(number, stream);
            }
        }
        Ok(share.done())
    }
}

/// All streams between machines, in the order of the links they stand for.
fn streams(graph: &Graph, plan: &Plan, node_of: &[usize]) -> Result<Vec<Stream>, ShareError> {
    let mut streams: Vec<Stream> = Vec::new();
    for (index, link) in graph.links.iter().enumerate() {
        let [from, to] = [link.from, link.to].map(|port| plan.worker_of(port.component));
        if node_of[from] == node_of[to] {
            continue;
        }
        if link.message {
            let name = |port: PortId| graph.components[port.component].name.clone();
            return Err(ShareError::Message { from: name(link.from), to: name(link.to) });
        }
        match streams.iter_mut().find(|stream| (stream.from, stream.to_worker) == (link.from, to)) {
            Some(stream) => stream.links.push(index),
            None => streams.push(Stream { from: link.from, to_worker: to, links: vec![index] }),
        }
    }
    Ok(streams)
}

/// A share in the making.
struct Cut<'a> {
    whole: &'a Graph,
    plan: &'a Plan,
    graph: Graph,
    /// For each component of the whole its index in the share.
    place: Vec<Option<usize>>,
    depth: Vec<u32>,
    /// Workers of the whole, and what each executes in the share.
    workers: Vec<usize>,
    orders: Vec<Vec<usize>>,
    bridges: Vec<Bridge>,
}

impl<'a> Cut<'a> {
    /// Its own components, and the links between them.
    fn new(whole: &'a Graph, plan: &'a Plan, node_of: &[usize], node: usize) -> Cut<'a> {
        let workers: Vec<usize> = (0..plan.workers().len()).filter(|&worker| node_of[worker] == node).collect();
        let mut place = vec![None; whole.components.len()];
        let mut graph = Graph { components: Vec::new(), links: Vec::new(), ..whole.clone() };
        let mut depth = Vec::new();
        for (index, component) in whole.components.iter().enumerate() {
            if node_of[plan.worker_of(index)] == node {
                place[index] = Some(graph.components.len());
                graph.components.push(component.clone());
                depth.push(plan.depth(index));
            }
        }
        for link in &whole.links {
            if let (Some(from), Some(to)) = (place[link.from.component], place[link.to.component]) {
                let from = PortId { component: from, ..link.from };
                let to = PortId { component: to, ..link.to };
                graph.links.push(Link { from, to, ..link.clone() });
            }
        }
        let order = |&worker: &usize| plan.workers()[worker].iter().filter_map(|&index| place[index]).collect();
        let orders = workers.iter().map(order).collect();
        Cut { whole, plan, graph, place, depth, workers, orders, bridges: Vec::new() }
    }

    /// A component behind the producer, on its worker, in the slot in which its packets are there.
    fn send(&mut self, number: usize, stream: &Stream) {
        let link = &self.whole.links[stream.links[0]];
        let Some(producer) = self.place[stream.from.component] else { return };
        let worker = self.plan.worker_of(stream.from.component);
        let shape = Shape::new().input("in", link.item);
        let name = format!("{}>{}", self.whole.output_name(stream.from), stream.to_worker);
        let lag = u32::from(self.whole.components[stream.from.component].isolated);
        let depth = self.plan.depth(stream.from.component) + lag;
        let added = self.add(name, Share::SEND, shape, depth, number);
        self.graph.links.push(Link {
            from: PortId { component: producer, ..stream.from },
            to: PortId { component: added, port: 0 },
            delay: 0,
            in_cycle: false,
            ..link.clone()
        });
        if let Some(order) = self.order(worker) {
            let behind = order.iter().position(|&at| at == producer).map_or(order.len(), |at| at + 1);
            order.insert(behind, added);
        }
        self.bridge(added, number, Direction::Send, stream.to_worker, link);
    }

    /// A component before the consumers, on their worker, in the first slot in which one of them needs a packet.
    fn receive(&mut self, number: usize, stream: &Stream) {
        let link = &self.whole.links[stream.links[0]];
        let most = u32::try_from(link.lengths.max).unwrap_or(u32::MAX);
        let length = if link.lengths.exact { Length::Fixed(most) } else { Length::UpTo(most) };
        let shape = Shape::new().output("out", link.item, length);
        let name = format!("{}<{}", self.whole.output_name(stream.from), self.plan.worker_of(stream.from.component));
        let consumed = stream.links.iter().map(|&index| &self.whole.links[index]);
        let needed = consumed.map(|link| self.plan.depth(link.to.component) + link.delay).min();
        let added = self.add(name, Share::RECEIVE, shape, needed.unwrap_or(0), number);
        for &index in &stream.links {
            let link = &self.whole.links[index];
            let Some(consumer) = self.place[link.to.component] else { continue };
            let (from, to) = (PortId { component: added, port: 0 }, PortId { component: consumer, ..link.to });
            self.graph.links.push(Link { from, to, in_cycle: false, ..link.clone() });
        }
        if let Some(order) = self.order(stream.to_worker) {
            order.insert(0, added);
        }
        self.bridge(added, number, Direction::Receive, self.plan.worker_of(stream.from.component), link);
    }

    fn add(&mut self, name: String, kind: &str, shape: Shape, depth: u32, stream: usize) -> usize {
        let mut params = Params::new();
        params.set(Share::STREAM, i64::try_from(stream).unwrap_or(i64::MAX).into());
        self.graph.components.push(Component {
            name,
            kind: kind.to_owned(),
            params,
            shape,
            on_miss: MissPolicy::Skip,
            budget_ns: None,
            stateless: false,
            isolated: false,
            message_inputs: 0,
            message_output: false,
        });
        self.depth.push(depth);
        self.graph.components.len() - 1
    }

    fn order(&mut self, worker: usize) -> Option<&mut Vec<usize>> {
        let at = self.workers.iter().position(|&own| own == worker)?;
        self.orders.get_mut(at)
    }

    fn bridge(&mut self, component: usize, stream: usize, direction: Direction, other: usize, link: &Link) {
        let (item, lengths) = (link.item, link.lengths);
        self.bridges.push(Bridge { component, stream, direction, other, item, lengths });
    }

    fn done(self) -> Share {
        let mut worker_of = vec![0; self.graph.components.len()];
        for (worker, order) in self.orders.iter().enumerate() {
            order.iter().for_each(|&component| worker_of[component] = worker);
        }
        let plan = Plan::of_depths(&self.graph, self.orders, worker_of, self.depth, self.plan.latency());
        Share { graph: self.graph, plan, workers: self.workers, bridges: self.bridges }
    }
}
