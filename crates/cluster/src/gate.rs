//! Gate of a node: every control message passes here before anything else looks at it, and nothing here knows Zenoh.
//!
//! In this order, each step cheaper than the next, so that who is not let in costs little: the size, the version, the form, the
//! certificate, the signature, for whom the order is, whether it is new, and whether its values are in range. The
//! memory of orders that were taken is bounded by tenant, so none of them can fill it for the others.
//!
//! An order is new if it was signed for this life of the node (a number drawn when it starts), at most [`WINDOW`] before by the
//! node's clock, and with a number that no order of its tenant had since. Signatures themselves would not do to tell orders
//! apart: of one of ECDSA anybody can make a second that holds as well.
//!
//! A write to an agent of the lab ([`Request::WriteAgent`]) is an order as well, and there are many. They count up, for
//! one agent of one tenant in one life of the node, and only the next is let in. So nothing has to be kept of them.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, SystemTime};

use serde::Deserialize;

use crate::check::{OutOfRange, check};
use crate::counts::Reason;
use crate::message::{AGENT_LEASE, Moment, PROTOCOL, Request, WriteAgent};
use crate::seal::{Given, number};
use crate::sealed::{Context, Sealed};
use crate::tenant::Tenant;
use crate::trust::{Trust, Untrusted};

/// Bytes of a message to a node at most: a waveform's file, twice escaped, and what goes with it.
pub const MOST_BYTES: usize = 4 << 20;

/// Bytes of one without a signature: who has shown no certificate gets nothing large parsed.
pub const MOST_BYTES_UNSIGNED: usize = 16 << 10;

/// How long after it was signed an order may come. A node that goes over to a large waveform answers others after that.
pub const WINDOW: Duration = Duration::from_secs(60);

/// Orders of a tenant in such a time; a run takes four.
const MOST_ORDERS: usize = 1024;

/// A message that was let in.
#[derive(Clone, Debug, PartialEq)]
pub enum Admitted {
    /// A question that changes nothing, of any member.
    Question(Request),
    /// An order, and who gave it.
    Order(Tenant, Request),
}

/// Why a message was not let in.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say it")]
pub enum Refused {
    #[error("the message has {bytes} bytes; a message {kind} signature may have at most {most}")]
    Long { bytes: usize, most: usize, kind: &'static str },
    #[error("it speaks version {theirs} of the protocol; this takt speaks version {PROTOCOL}")]
    Version { theirs: u32 },
    #[error("the message can't be read: {0}")]
    Form(#[from] serde_json::Error),
    #[error("the message must have exactly one of `body` and `order`")]
    Both,
    #[error("order `{order}` has no signature")]
    Unsigned { order: &'static str },
    #[error("this node does not trust the certificate of an order: {why}")]
    Certificate { why: String },
    #[error("an order differs from what `{tenant}` signed")]
    Signature { tenant: Tenant },
    #[error("an order of `{tenant}` was meant for node `{node}` of cluster `{cluster}`")]
    Elsewhere { tenant: Tenant, cluster: String, node: String },
    #[error("an order of `{tenant}` was meant for this node before its restart")]
    Earlier { tenant: Tenant },
    #[error("an order of `{tenant}` was signed {late_s} s ago; at most {} s are allowed", WINDOW.as_secs())]
    Late { tenant: Tenant, late_s: u64 },
    #[error("an order of `{tenant}` has a time that is in the future on this node")]
    Ahead { tenant: Tenant },
    #[error("an order of `{tenant}` arrived a second time")]
    Replayed { tenant: Tenant },
    #[error("`{tenant}` gave more than {MOST_ORDERS} orders in {} s", WINDOW.as_secs())]
    Many { tenant: Tenant },
    #[error("`{tenant}` has no agent of that number here; an agent ends after {} s without a message of its \
             lab", AGENT_LEASE.as_secs())]
    NoAgent { tenant: Tenant },
    #[error("message {number} to an agent of `{tenant}` is out of order: {next} was expected")]
    OutOfOrder { tenant: Tenant, number: u64, next: u64 },
    #[error("`{tenant}` signed a query as if it were an order")]
    NoOrder { tenant: Tenant },
    #[error("order `{order}` of `{tenant}`: {why}")]
    Range { tenant: Tenant, order: &'static str, why: OutOfRange },
}

impl Refused {
    /// Reason by which it is counted.
    #[must_use]
    pub fn reason(&self) -> Reason {
        match self {
            Refused::Long { .. } => Reason::Long,
            Refused::Version { .. } => Reason::Version,
            Refused::Form(_) | Refused::Both | Refused::NoOrder { .. } => Reason::Malformed,
            Refused::Unsigned { .. } => Reason::Unsigned,
            Refused::Certificate { .. } => Reason::Certificate,
            Refused::Signature { .. } => Reason::Changed,
            Refused::Elsewhere { .. } | Refused::Earlier { .. } => Reason::Elsewhere,
            Refused::Late { .. } | Refused::Ahead { .. } => Reason::Late,
            Refused::Replayed { .. } => Reason::Replayed,
            Refused::Many { .. } => Reason::Many,
            Refused::NoAgent { .. } | Refused::OutOfOrder { .. } => Reason::Agent,
            Refused::Range { .. } => Reason::Range,
        }
    }

    /// The fix.
    #[must_use]
    pub fn fix(&self) -> &'static str {
        match self {
            Refused::Long { .. } => "give a waveform file of at most 1 MiB",
            Refused::Version { .. } | Refused::Form(_) | Refused::Both | Refused::NoOrder { .. } => {
                "run the same version of takt on all nodes"
            }
            Refused::Unsigned { .. } | Refused::Signature { .. } => {
                "give orders with takt, and a folder that takt node certificates made"
            }
            Refused::Certificate { .. } => {
                "give a valid folder of this cluster's authority (takt node certificates makes them), and check the \
                 time of day"
            }
            Refused::Elsewhere { .. } | Refused::Earlier { .. } => "repeat the command",
            Refused::Late { .. } | Refused::Ahead { .. } => {
                "check the time of day on both machines, and repeat the command"
            }
            Refused::Replayed { .. } => "ignore this if you gave the order: the node accepted it the first time",
            Refused::Many { .. } => "give fewer orders, or wait",
            Refused::NoAgent { .. } | Refused::OutOfOrder { .. } => {
                "wait for the next round: the lab then asks for another agent"
            }
            Refused::Range { .. } => "give values in the ranges of docs/reference/cluster.md",
        }
    }
}

impl From<Untrusted> for Refused {
    fn from(why: Untrusted) -> Refused {
        match why {
            Untrusted::Certificate { why } => Refused::Certificate { why },
            Untrusted::Signature { tenant } => Refused::Signature { tenant },
        }
    }
}

/// Lets in what comes to one node, in one life of it.
pub struct Gate {
    node: String,
    trust: Trust,
    life: u64,
    taken: BTreeMap<Tenant, VecDeque<Taken>>,
    agents: BTreeMap<u64, Lab>,
}

/// Writer to an agent, and the number of the next message.
struct Lab {
    tenant: Tenant,
    next: u64,
}

/// An order that was taken.
struct Taken {
    at_ns: u64,
    number: u64,
}

impl Gate {
    /// For a node that begins to live; `authority`: who vouches for tenants, PEM.
    ///
    /// # Errors
    /// The authority is none; the kernel gives no random numbers.
    pub fn new(cluster: &str, node: &str, authority: &str) -> Result<Gate, Refused> {
        let trust = Trust::new(cluster, authority)?;
        let life = number().map_err(|error| Refused::Certificate { why: error.to_string() })?;
        Ok(Gate { node: node.to_owned(), trust, life, taken: BTreeMap::new(), agents: BTreeMap::new() })
    }

    /// Moment for which orders have to be signed; `now_ns` by the node's clock.
    #[must_use]
    pub fn moment(&self, now_ns: u64) -> Moment {
        Moment { life: self.life, at_ns: now_ns }
    }

    /// Lets a tenant write to an agent from now on; the agent's number.
    ///
    /// # Errors
    /// The kernel gives no random numbers.
    pub fn add_agent(&mut self, tenant: &Tenant) -> Result<u64, Refused> {
        let drawn = number().map_err(|error| Refused::Certificate { why: error.to_string() })?;
        self.agents.insert(drawn, Lab { tenant: tenant.clone(), next: 0 });
        Ok(drawn)
    }

    /// Nobody speaks to it any more.
    pub fn remove_agent(&mut self, agent: u64) {
        self.agents.remove(&agent);
    }

    /// Reads a message that came at `now_ns` by the node's clock; `today` is for the certificate.
    ///
    /// # Errors
    /// It is not let in, and has changed nothing.
    pub fn admit(&mut self, bytes: &[u8], now_ns: u64, today: SystemTime) -> Result<Admitted, Refused> {
        let sealed = match read(bytes)? {
            Message::Question(question) if question.is_question() => return Ok(Admitted::Question(question)),
            Message::Question(order) => return Err(Refused::Unsigned { order: order.name() }),
            Message::Order(sealed) => sealed,
        };
        let tenant = self.trust.signatory(&sealed, Context::Order, today)?.tenant;
        // Whoever wrote this has a certificate: what follows is reported of it by name.
        let given: Given = serde_json::from_str(&sealed.text)?;
        if (given.cluster.as_str(), given.node.as_str()) != (self.trust.cluster(), &self.node) {
            let short = takt_graph::limits::shortened;
            return Err(Refused::Elsewhere { tenant, cluster: short(&given.cluster), node: short(&given.node) });
        }
        if let Request::WriteAgent(write) = &given.order {
            self.next_message(&tenant, write, &given)?;
            return Ok(Admitted::Order(tenant, given.order));
        }
        self.new_one(&tenant, &given, now_ns)?;
        let order = given.order;
        if order.is_question() {
            return Err(Refused::NoOrder { tenant });
        }
        if let Err(why) = check(&order) {
            return Err(Refused::Range { tenant, order: order.name(), why });
        }
        self.taken
            .entry(tenant.clone())
            .or_default()
            .push_back(Taken { at_ns: given.moment.at_ns, number: given.number });
        Ok(Admitted::Order(tenant, order))
    }

    /// Whether it is the next one that a tenant writes to its agent.
    fn next_message(&mut self, tenant: &Tenant, write: &WriteAgent, given: &Given) -> Result<(), Refused> {
        let tenant = tenant.clone();
        if given.moment.life != self.life {
            return Err(Refused::Earlier { tenant });
        }
        let Some(lab) = self.agents.get_mut(&write.agent).filter(|lab| lab.tenant == tenant) else {
            return Err(Refused::NoAgent { tenant });
        };
        if given.number < lab.next {
            return Err(Refused::Replayed { tenant });
        }
        if given.number > lab.next {
            return Err(Refused::OutOfOrder { tenant, number: given.number, next: lab.next });
        }
        if let Err(why) = check(&given.order) {
            return Err(Refused::Range { tenant, order: given.order.name(), why });
        }
        lab.next += 1;
        Ok(())
    }

    /// Whether an order was not there before. Forgets those that would be too late by now.
    fn new_one(&mut self, tenant: &Tenant, given: &Given, now_ns: u64) -> Result<(), Refused> {
        let tenant = tenant.clone();
        if given.moment.life != self.life {
            return Err(Refused::Earlier { tenant });
        }
        let Some(age_ns) = now_ns.checked_sub(given.moment.at_ns) else { return Err(Refused::Ahead { tenant }) };
        let window_ns = u64::try_from(WINDOW.as_nanos()).unwrap_or(u64::MAX);
        if age_ns > window_ns {
            return Err(Refused::Late { tenant, late_s: age_ns / 1_000_000_000 });
        }
        self.taken.retain(|_, taken| {
            taken.retain(|one| now_ns.saturating_sub(one.at_ns) <= window_ns);
            !taken.is_empty()
        });
        match self.taken.get(&tenant) {
            Some(taken) if taken.iter().any(|one| one.number == given.number) => Err(Refused::Replayed { tenant }),
            Some(taken) if taken.len() >= MOST_ORDERS => Err(Refused::Many { tenant }),
            _ => Ok(()),
        }
    }
}

/// A message by its form.
enum Message {
    Question(Request),
    Order(Sealed),
}

/// A message's version; what else another version has is not ours to say.
#[derive(Deserialize)]
struct Version {
    protocol: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "the version is read before")]
struct Small {
    protocol: u32,
    body: Option<Request>,
    order: Option<Sealed>,
}

/// A large message has texts alone, which take no more room than they came in.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "the version is read before")]
struct Large {
    protocol: u32,
    order: Sealed,
}

fn read(bytes: &[u8]) -> Result<Message, Refused> {
    if bytes.len() > MOST_BYTES {
        return Err(Refused::Long { bytes: bytes.len(), most: MOST_BYTES, kind: "with a" });
    }
    let Version { protocol } = serde_json::from_slice(bytes)?;
    if protocol != PROTOCOL {
        return Err(Refused::Version { theirs: protocol });
    }
    if bytes.len() > MOST_BYTES_UNSIGNED {
        return match serde_json::from_slice::<Large>(bytes) {
            Ok(large) => Ok(Message::Order(large.order)),
            Err(_) => Err(Refused::Long { bytes: bytes.len(), most: MOST_BYTES_UNSIGNED, kind: "without a" }),
        };
    }
    match serde_json::from_slice(bytes)? {
        Small { body: Some(question), order: None, .. } => Ok(Message::Question(question)),
        Small { body: None, order: Some(sealed), .. } => Ok(Message::Order(sealed)),
        Small { .. } => Err(Refused::Both),
    }
}
