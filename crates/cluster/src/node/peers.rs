//! Other nodes of a run, as far as this node sends them datagrams: samples to each that executes the other end of a link, and
//! requests for the time to the reference. All go where the other node itself says that it takes them.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::SystemTime;

use super::place::{Placed, Refusal};
use crate::counts::Reason;
use crate::destination::{Destinations, Forbidden};
use crate::message::Order;
use crate::seal::{Sealed, Signer};
use crate::statement::{Placing, Statement, Unstated};
use crate::trust::Trust;

/// How this node and others tell each other where they are.
pub(super) struct Peers {
    /// This node's own key.
    pub(super) signer: Signer,
    /// Authority that vouches for the keys of others.
    pub(super) trust: Trust,
    pub(super) destinations: Destinations,
    /// Address at which this node answers what time it is.
    pub(super) clock: SocketAddr,
}

impl Peers {
    /// States that this node takes samples of a placing there.
    pub(super) fn state(&self, node: &str, placing: Placing<'_>, samples: SocketAddr) -> Result<Sealed, Refusal> {
        let statement = Statement {
            cluster: self.trust.cluster().to_owned(),
            node: node.to_owned(),
            tenant: placing.tenant.clone(),
            run: placing.run.to_owned(),
            ballot: placing.ballot.clone(),
            samples,
            clock: self.clock,
        };
        self.signer.state(&statement).map_err(|error| Refusal::new(error, "use another node"))
    }
}

/// Statements of a placing's nodes, as an order passes them on.
pub(super) struct Stated<'a> {
    /// This node.
    pub(super) node: &'a str,
    pub(super) own: &'a Peers,
    pub(super) placing: Placing<'a>,
    pub(super) statements: &'a BTreeMap<String, Sealed>,
}

impl Stated<'_> {
    /// Addresses of the workers at the other ends of this node's links.
    pub(super) fn peers(&self, order: &Order, placed: &Placed) -> Result<BTreeMap<usize, SocketAddr>, Refusal> {
        let mut peers = BTreeMap::new();
        for bridge in &placed.share.bridges {
            let Some(worker) = order.workers.get(bridge.other) else { continue };
            if peers.contains_key(&bridge.other) {
                continue;
            }
            let samples = self.read(&worker.node)?.samples;
            self.permit(&worker.node, samples)?;
            peers.insert(bridge.other, samples);
        }
        Ok(peers)
    }

    /// Address at which the reference answers what time it is.
    pub(super) fn clock(&self, reference: &str) -> Result<SocketAddr, Refusal> {
        if reference == self.node {
            return Ok(self.own.clock);
        }
        let clock = self.read(reference)?.clock;
        self.permit(reference, clock)?;
        Ok(clock)
    }

    fn read(&self, node: &str) -> Result<Statement, Refusal> {
        let sealed = self.statements.get(node);
        Ok(self.own.trust.statement(node, sealed, self.placing, SystemTime::now())?)
    }

    fn permit(&self, node: &str, at: SocketAddr) -> Result<(), Refusal> {
        Ok(self.own.destinations.check(node, at)?)
    }
}

impl From<Unstated> for Refusal {
    fn from(why: Unstated) -> Refusal {
        let fix = "pass on what that node itself answered to `open` or `prepare` of this placing";
        Refusal::new(why, fix).because(Reason::Address)
    }
}

impl From<Forbidden> for Refusal {
    fn from(why: Forbidden) -> Refusal {
        Refusal::new(&why, why.fix()).because(Reason::Address)
    }
}
