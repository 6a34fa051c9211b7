//! Management: what each node on a packet's way does with its hop (x310.md 6.3).
//!
//! ```text
//!   network ── transport ── crossbar ┬─ port 1: endpoint 0
//!                            port 0  ├─ port 2: endpoint 1   ...
//! ```

use std::net::SocketAddr;

use takt_wire::chdr::{Management, NodeInfo, NodeKind, Operation, Operations, StreamCommand};
use takt_wire::x310::registers::endpoint;

use super::graph::{CROSSBAR_PORTS, ENDPOINTS};
use super::{Endpoint, X310};

/// Type that a transport states: UDP over IPv4, as the vectors of x310.md 17 have it. Hosts do not look.
const TRANSPORT: u32 = 16;
/// One transport, on the lowest port.
const CROSSBAR: u32 = CROSSBAR_PORTS | 1 << 8;
/// Data, one input, one output, errors are reported; and of the first, control.
const ENDPOINT: u32 = 1 << 1 | 1 << 2 | 1 << 8 | 1 << 14;
const ENDPOINT_CONTROL: u32 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Node {
    Transport,
    Crossbar,
    Endpoint(usize),
}

/// Result of a packet.
pub(super) struct Answer {
    /// To whoever sent it; `None`: nobody on its way returned it.
    pub(super) reply: Option<Management>,
    /// Set-ups of streams that leave.
    pub(super) commands: [Option<StreamCommand>; ENDPOINTS],
}

impl X310 {
    pub(super) fn manage(&mut self, from: SocketAddr, request: &Management) -> Answer {
        let mut answer = Answer { reply: None, commands: [None; ENDPOINTS] };
        let mut responses = Operations::NONE;
        let mut node = Some(Node::Transport);
        let mut hops = request.operations.hops();
        while let (Some(here), Some(hop)) = (node, hops.next()) {
            // A crossbar leads where it is set to, and nowhere until then.
            node = (here == Node::Transport).then_some(Node::Crossbar);
            let mut returns = false;
            for operation in hop {
                match operation {
                    Operation::Return => returns = true,
                    Operation::Select { port } if here == Node::Crossbar => node = behind(port),
                    Operation::Advertise if here == Node::Transport => {
                        self.free_id(request.source);
                        self.routes.set(request.source, from);
                    }
                    Operation::InfoRequest => {
                        let _ = responses.push(Operation::InfoResponse(self.info(here)), false);
                    }
                    Operation::Write { address, data } => {
                        if let Node::Endpoint(n) = here {
                            answer.commands[n] = self.write_endpoint(n, address, data).or(answer.commands[n]);
                        }
                    }
                    Operation::Read { address } => {
                        let data = self.read_node(here, address);
                        let _ = responses.push(Operation::ReadResponse { address, data }, false);
                    }
                    _ => {}
                }
            }
            if returns {
                // Its own version, whatever the request had: a radio compares nothing.
                let reply = returned(request, hops, &responses);
                answer.reply = reply.map(|reply| Management { protocol: self.release.protocol(), ..reply });
                break;
            }
        }
        answer
    }

    fn info(&self, node: Node) -> NodeInfo {
        let device = self.board.device_id();
        match node {
            Node::Transport => NodeInfo { device, kind: NodeKind::Transport, instance: 0, extended: TRANSPORT },
            // Its instance is the port by which the packet came in, which is the network's.
            Node::Crossbar => NodeInfo { device, kind: NodeKind::Crossbar, instance: 0, extended: CROSSBAR },
            Node::Endpoint(n) => {
                let extended = ENDPOINT | if n == 0 { ENDPOINT_CONTROL } else { 0 };
                NodeInfo { device, kind: NodeKind::StreamEndpoint, instance: n as u16, extended }
            }
        }
    }

    fn write_endpoint(&mut self, n: usize, address: u16, data: u32) -> Option<StreamCommand> {
        let now = self.now;
        match address {
            endpoint::ID => {
                self.free_id(data as u16);
                self.endpoints.get_mut(n)?.id = data as u16;
            }
            endpoint::RESET => self.reset_endpoint(now, n, data),
            _ => {
                let Endpoint { id, output } = self.endpoints.get_mut(n)?;
                let command = output.write(address, data, *id)?;
                // No way leads from one of its endpoints to another: the one that should receive refuses.
                if self.is_for(command.destination).is_none() {
                    return Some(command);
                }
                self.endpoints.get_mut(n)?.output.refused();
            }
        }
        None
    }

    /// An id leads to one place: as in a crossbar's table the last word counts, since each session gives the same ids anew.
    fn free_id(&mut self, id: u16) {
        self.routes.remove(id);
        for endpoint in self.endpoints.iter_mut().filter(|endpoint| endpoint.id == id) {
            endpoint.id = 0;
        }
    }

    fn read_node(&self, node: Node, address: u16) -> u32 {
        let Node::Endpoint(n) = node else { return 0 };
        let Some(Endpoint { id, output }) = self.endpoints.get(n) else { return 0 };
        match address {
            endpoint::ID => u32::from(*id),
            _ => output.read(address).unwrap_or(0),
        }
    }
}

fn behind(port: u16) -> Option<Node> {
    let n = usize::from(port).checked_sub(1)?;
    (n < ENDPOINTS).then_some(Node::Endpoint(n))
}

/// The rest of the request, with all that was answered at the end of its last hop.
fn returned<H>(request: &Management, rest: impl Iterator<Item = H>, responses: &Operations) -> Option<Management>
where
    H: Iterator<Item = Operation>,
{
    let mut operations = Operations::NONE;
    let mut rest = rest.peekable();
    while let Some(hop) = rest.next() {
        let last_hop = rest.peek().is_none();
        let mut hop = hop.peekable();
        while let Some(operation) = hop.next() {
            operations.push(operation, hop.peek().is_none() && !last_hop).ok()?;
        }
    }
    for response in responses.hops().flatten() {
        operations.push(response, false).ok()?;
    }
    Some(Management { destination: request.source, operations, ..*request })
}
