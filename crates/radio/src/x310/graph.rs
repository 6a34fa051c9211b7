//! Structure of the radio: endpoints behind a crossbar, blocks, and how they are joined (x310.md 6.3, 7).
//!
//! A host learns it from the radio, so that another graph than the usual one works as well. The driver looks in it for
//! the way of samples: a radio block, its converters, and the endpoint that the network reaches them by.

use takt_wire::chdr::{NodeInfo, NodeKind, Operation};
use takt_wire::x310::RadioLayout;
use takt_wire::x310::registers::{client_zero, endpoint, noc_id, radio};

use super::line::{Line, Node, Registers};
use crate::RadioError;

/// More ports than a crossbar of an X310 has; a count beyond is no graph.
const MAX_PORTS: u16 = 64;
/// The highest control port that a request can name (x310.md 6.5).
const MAX_CONTROL_PORT: u32 = 0x3FF;
/// More edges than there can be between its blocks.
const MAX_EDGES: u32 = 256;

/// A stream endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Endpoint {
    /// Its number.
    pub(super) instance: u16,
    /// The crossbar's port it is behind.
    pub(super) crossbar_port: u16,
    has_control: bool,
}

/// The crossbar and what is behind it.
#[derive(Clone, Debug)]
pub(super) struct Network {
    /// The port by which packets of this host enter, and leave to it.
    pub(super) entry_port: u16,
    pub(super) endpoints: Vec<Endpoint>,
}

/// A channel's way through the blocks, both directions. Ports are control ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Channel {
    pub(super) radio: u16,
    /// The layout of the radio block's registers.
    layout: RadioLayout,
    pub(super) ddc: u16,
    pub(super) duc: u16,
    /// Instances of endpoints: where received samples leave, and where those to transmit arrive.
    pub(super) rx: u16,
    pub(super) tx: u16,
}

impl Channel {
    /// The address of a register of its radio block's first channel, which is named as `registers::radio` names it.
    pub(super) fn at(&self, register: u32) -> u32 {
        self.layout.address_of(0, register)
    }
}

/// Finds the crossbar and the endpoints; tells both where this host is.
pub(super) fn discover(line: &mut Line<'_>) -> Result<Network, RadioError> {
    info(&line.manage(Node::Transport, &[Operation::InfoRequest])?, line, NodeKind::Transport)?;
    line.manage(Node::Transport, &[Operation::Advertise])?;
    let crossbar = info(&line.manage(Node::Crossbar, &[Operation::InfoRequest])?, line, NodeKind::Crossbar)?;
    let (ports, transports) = (crossbar.extended as u16 & 0xFF, (crossbar.extended >> 8) as u16 & 0xFF);
    let entry_port = crossbar.instance;
    line.advertise(entry_port)?;
    let mut endpoints = Vec::new();
    for crossbar_port in transports..ports.min(MAX_PORTS) {
        let answers = line.manage(Node::Behind(crossbar_port), &[Operation::InfoRequest])?;
        let node = answers.iter().find_map(info_of);
        if let Some(node) = node.filter(|node| node.kind == NodeKind::StreamEndpoint) {
            endpoints.push(Endpoint { instance: node.instance, crossbar_port, has_control: node.extended & 1 == 1 });
        }
    }
    Ok(Network { entry_port, endpoints })
}

impl Network {
    /// Resets the endpoint that carries control, names it, and tells the crossbar the way to it; says which it is.
    pub(super) fn name_control(&self, line: &mut Line<'_>, id: u16) -> Result<u16, RadioError> {
        let control = self.endpoints.iter().find(|endpoint| endpoint.has_control);
        let control = control.ok_or(RadioError::Answer { addr: line.peer, what: "what endpoints it has" })?;
        self.name(line, *control, id, 7)?;
        Ok(control.instance)
    }

    /// An endpoint by its number.
    pub(super) fn endpoint(&self, instance: u16) -> Option<Endpoint> {
        self.endpoints.iter().find(|endpoint| endpoint.instance == instance).copied()
    }

    /// Names an endpoint. `reset`: bit 0 what leaves, bit 1 what arrives, bit 2 control.
    pub(super) fn name(&self, line: &mut Line<'_>, of: Endpoint, id: u16, reset: u32) -> Result<(), RadioError> {
        let write = |address, data| Operation::Write { address, data };
        line.manage(Node::Behind(of.crossbar_port), &[write(endpoint::RESET, reset), write(endpoint::ID, id.into())])?;
        line.manage(Node::Crossbar, &[write(id, of.crossbar_port.into())])?;
        Ok(())
    }
}

fn info_of(operation: &Operation) -> Option<NodeInfo> {
    match operation {
        Operation::InfoResponse(info) => Some(*info),
        _ => None,
    }
}

fn info(answers: &[Operation], line: &Line<'_>, kind: NodeKind) -> Result<NodeInfo, RadioError> {
    let info = answers.iter().find_map(info_of).filter(|info| info.kind == kind);
    info.ok_or(RadioError::Answer { addr: line.peer, what: "what node it is" })
}

/// One end of an edge: a node of the graph and its port.
type End = (u32, u32);

/// The blocks by what client zero says of them.
struct Blocks {
    endpoints: u32,
    /// NoC ids.
    ids: Vec<u32>,
    edges: Vec<(End, End)>,
    control_endpoints: u32,
}

impl Blocks {
    fn read(registers: &mut Registers) -> Result<Blocks, RadioError> {
        let counts = registers.peek(0, client_zero::COUNTS)?;
        let (endpoints, blocks) = (counts & 0x3FF, counts >> 10 & 0x3FF);
        let control_endpoints = registers.peek(0, client_zero::CONTROL_ENDPOINTS)?;
        let ids = (0..blocks.min(MAX_PORTS.into()))
            .map(|block| registers.peek(0, client_zero::STRIDE * (1 + endpoints + block) + 4))
            .collect::<Result<_, _>>()?;
        let edges = registers.peek(0, client_zero::ADJACENCY)?.min(MAX_EDGES);
        let edges = (0..edges)
            .map(|n| registers.peek(0, client_zero::ADJACENCY + 4 * (n + 1)))
            .map(|word| word.map(|word| ((word >> 22, word >> 16 & 63), (word >> 6 & 0x3FF, word & 63))))
            .collect::<Result<_, _>>()?;
        Ok(Blocks { endpoints, ids, edges, control_endpoints })
    }

    /// The node of a block in the graph, counted behind client zero and the endpoints.
    fn node(&self, block: usize) -> u32 {
        1 + self.endpoints + block as u32
    }

    /// The control port of a node that is a block of this kind.
    fn port(&self, node: u32, id: u32) -> Option<u16> {
        let block = node.checked_sub(1 + self.endpoints)?;
        let port = self.control_endpoints.checked_add(1 + block)?;
        (self.ids.get(block as usize) == Some(&id) && port <= MAX_CONTROL_PORT).then_some(port as u16)
    }

    fn after(&self, from: End) -> Option<End> {
        self.edges.iter().find(|edge| edge.0 == from).map(|edge| edge.1)
    }

    fn before(&self, to: End) -> Option<End> {
        self.edges.iter().find(|edge| edge.1 == to).map(|edge| edge.0)
    }

    /// The way through a radio block's first channel. The block itself says which layout it has.
    fn channel(&self, block: usize) -> Option<Channel> {
        let radio = self.port(self.node(block), noc_id::RADIO)?;
        let ddc = self.after((self.node(block), 0))?;
        let rx = self.after(ddc)?.0;
        let duc = self.before((self.node(block), 0))?;
        let tx = self.before(duc)?.0;
        Some(Channel {
            radio,
            layout: RadioLayout::default(),
            ddc: self.port(ddc.0, noc_id::DDC)?,
            duc: self.port(duc.0, noc_id::DUC)?,
            rx: self.endpoint(rx)?,
            tx: self.endpoint(tx)?,
        })
    }

    /// The instance of an endpoint.
    fn endpoint(&self, node: u32) -> Option<u16> {
        (1..=self.endpoints).contains(&node).then(|| (node - 1) as u16)
    }
}

/// The channels of all radio blocks, slot A first.
///
/// # Errors
/// The radio does not answer, its blocks are joined in no way that samples can take, or `Version` for a radio block that takt does
/// not know.
pub(super) fn channels(registers: &mut Registers) -> Result<Vec<Channel>, RadioError> {
    let blocks = Blocks::read(registers)?;
    let mut channels: Vec<_> = (0..blocks.ids.len()).filter_map(|block| blocks.channel(block)).collect();
    if channels.is_empty() {
        return Err(RadioError::Answer { addr: registers.peer, what: "how its blocks are joined" });
    }
    for channel in &mut channels {
        channel.layout = layout(registers, channel.radio)?;
    }
    Ok(channels)
}

/// The layout of the registers of the radio block at a control port.
fn layout(registers: &mut Registers, port: u16) -> Result<RadioLayout, RadioError> {
    let (addr, version) = (registers.peer, registers.peek(port, radio::COMPAT)?);
    let unknown = RadioError::Version { addr, part: "the radio block", version, known: "0 and 1" };
    RadioLayout::of_compat(version).ok_or(unknown)
}

/// Flushes and resets every block: what an earlier host left in them is gone.
pub(super) fn reset_blocks(registers: &mut Registers) -> Result<(), RadioError> {
    const FLUSH: u32 = 1;
    const RESET_CONTROL: u32 = 2;
    const RESET_DATA: u32 = 4;
    const FLUSH_DONE: u32 = 2;
    let counts = registers.peek(0, client_zero::COUNTS)?;
    let (endpoints, blocks) = (counts & 0x3FF, counts >> 10 & 0x3FF);
    for block in 0..blocks.min(MAX_PORTS.into()) {
        let at = client_zero::STRIDE * (1 + endpoints + block);
        registers.poke(0, at + 4, FLUSH)?;
        if registers.peek(0, at + 8)? & FLUSH_DONE == 0 {
            return Err(RadioError::Answer { addr: registers.peer, what: "whether a block is flushed" });
        }
        for word in [0, RESET_DATA, 0, RESET_CONTROL, 0] {
            registers.poke(0, at + 4, word)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_behind_more_ports_than_a_request_can_name_has_none() {
        let port = |control_endpoints| {
            let blocks = Blocks { endpoints: 4, ids: vec![noc_id::RADIO], edges: vec![], control_endpoints };
            blocks.port(5, noc_id::RADIO)
        };
        assert_eq!((port(1), port(0x3FE)), (Some(2), Some(0x3FF)));
        assert_eq!([0x3FF, 0xFFFF, u32::MAX - 1, u32::MAX].map(port), [None; 4]);
    }
}
