//! Counts of the messages to a node, since it began.

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
    /// As in the label `reason`, by the order of the variants.
    pub(crate) const NAMES: [&str; 16] = [
        "long",
        "version",
        "malformed",
        "unsigned",
        "certificate",
        "changed",
        "elsewhere",
        "late",
        "replayed",
        "many",
        "agent",
        "range",
        "quota",
        "tenant",
        "address",
        "unable",
    ];
}

/// Messages to a node. A kind that was never counted is 0, and not missing.
#[derive(Clone, Debug)]
pub(crate) struct Messages {
    questions: u64,
    orders: BTreeMap<&'static str, u64>,
    refused: [u64; Reason::NAMES.len()],
}

impl Default for Messages {
    fn default() -> Messages {
        let orders = Request::ORDERS.map(|name| (name, 0)).into();
        Messages { questions: 0, orders, refused: [0; Reason::NAMES.len()] }
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
        self.refused[reason as usize] += 1;
    }

    pub(crate) fn questions(&self) -> u64 {
        self.questions
    }

    /// Orders carried out, by name.
    pub(crate) fn orders(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.orders.iter().map(|(name, count)| (*name, *count))
    }

    /// Messages refused, by reason.
    pub(crate) fn refusals(&self) -> impl Iterator<Item = (&'static str, u64)> {
        Reason::NAMES.into_iter().zip(self.refused)
    }
}
