//! Counts of a node's messages, since it began.

use std::collections::BTreeMap;

use crate::message::Request;

/// Why a message changed nothing: the rows of "refused" in `docs/reference/cluster.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Reason {
    Long,
    Version,
    Malformed,
    Unsigned,
    Certificate,
    Changed,
    Elsewhere,
    Late,
    Replayed,
    Many,
    Agent,
    Range,
    Quota,
    Tenant,
    Address,
    Unable,
}

impl Reason {
    /// All there are.
    pub const ALL: [Reason; 16] = [
        Reason::Long,
        Reason::Version,
        Reason::Malformed,
        Reason::Unsigned,
        Reason::Certificate,
        Reason::Changed,
        Reason::Elsewhere,
        Reason::Late,
        Reason::Replayed,
        Reason::Many,
        Reason::Agent,
        Reason::Range,
        Reason::Quota,
        Reason::Tenant,
        Reason::Address,
        Reason::Unable,
    ];

    /// As in the label `reason`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Reason::Long => "long",
            Reason::Version => "version",
            Reason::Malformed => "malformed",
            Reason::Unsigned => "unsigned",
            Reason::Certificate => "certificate",
            Reason::Changed => "changed",
            Reason::Elsewhere => "elsewhere",
            Reason::Late => "late",
            Reason::Replayed => "replayed",
            Reason::Many => "many",
            Reason::Agent => "agent",
            Reason::Range => "range",
            Reason::Quota => "quota",
            Reason::Tenant => "tenant",
            Reason::Address => "address",
            Reason::Unable => "unable",
        }
    }
}

/// Messages to a node. A kind that was never counted is 0, and not missing.
#[derive(Debug)]
pub(crate) struct Messages {
    questions: u64,
    orders: BTreeMap<&'static str, u64>,
    refused: BTreeMap<Reason, u64>,
}

impl Default for Messages {
    fn default() -> Messages {
        let orders = Request::ORDERS.map(|name| (name, 0)).into();
        Messages { questions: 0, orders, refused: Reason::ALL.map(|reason| (reason, 0)).into() }
    }
}

impl Messages {
    /// A question that changes nothing has come.
    pub(crate) fn question(&mut self) {
        self.questions += 1;
    }

    /// An order of this name was carried out.
    pub(crate) fn order(&mut self, name: &'static str) {
        *self.orders.entry(name).or_default() += 1;
    }

    /// A message has changed nothing.
    pub(crate) fn refused(&mut self, reason: Reason) {
        *self.refused.entry(reason).or_default() += 1;
    }

    pub(super) fn questions(&self) -> u64 {
        self.questions
    }

    /// Orders carried out, by name.
    pub(super) fn orders(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.orders.iter().map(|(name, count)| (*name, *count))
    }

    /// Messages refused, by reason.
    pub(super) fn refusals(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.refused.iter().map(|(reason, count)| (reason.name(), *count))
    }
}

/// Why a heartbeat did not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Uncounted {
    /// It is no heartbeat.
    Malformed,
    /// It has another version of the protocol.
    Version,
    /// More bytes than any document has.
    Long,
    /// In the name of who received it.
    Own,
    /// Sent before one that has come.
    Replayed,
    /// It is from more members than are remembered.
    Crowded,
}

impl Uncounted {
    /// As in the label `reason`, by the order of the variants.
    pub(crate) const NAMES: [&str; 6] = ["malformed", "version", "long", "own", "replayed", "crowded"];
}

/// Heartbeats of a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Heartbeats {
    /// Handed to Zenoh.
    pub(crate) sent: u64,
    /// That Zenoh did not take.
    pub(crate) unsent: u64,
    /// That counted.
    pub(crate) received: u64,
    /// That did not, by reason.
    pub(crate) refused: [u64; Uncounted::NAMES.len()],
}
