//! The control plane: a Zenoh session of the cluster's own, encrypted, and open only to who shows a certificate of its authority.
//!
//! | key | what |
//! | --- | --- |
//! | `takt/CLUSTER/node/NODE/alive` | liveliness token: there as long as the node is |
//! | `takt/CLUSTER/node/NODE/ask` | queryable: [`crate::message`] |
//! | `takt/CLUSTER/node/NODE/statistics` | published once a second: [`crate::message::NodeFacts`] |
//! | `takt/CLUSTER/run/RUN/heartbeat/MEMBER` | published ten times a second by the nodes and the manager of a run: [`crate::quorum::Heartbeat`] |

use std::time::{Duration, Instant};

use crate::ClusterError;
use serde::Serialize;
use serde::de::DeserializeOwned;
use takt_host::policy::{Policy, policy, set_policy};
use zenoh::Wait;
use zenoh::handlers::FifoChannelHandler;
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::Subscriber;
use zenoh::qos::CongestionControl;
use zenoh::query::{Query, Queryable, Reply};
use zenoh::sample::{Locality, Sample};
use zenoh::{Config, Session};

use crate::folder::Folder;
use crate::message::{
    Envelope, MOST_BYTES, Moment, NodeFacts, PROTOCOL, Request, RequestAnswer, Unread, WriteAgent, document, read,
    read_within,
};
use crate::quorum::{self, Heartbeat};
use crate::seal::Signer;
use crate::tenant::Tenant;
use crate::trust::member_of;

/// How long nodes are looked for.
const DISCOVERY: Duration = Duration::from_millis(1500);

/// How often one who waits for an answer looks whether it still can come.
const LOOK: Duration = Duration::from_millis(100);

/// How long a peer may take to prove who it is.
const HANDSHAKE: Duration = Duration::from_secs(2);

/// A member of the cluster.
pub struct Control {
    session: Session,
    cluster: String,
    node: String,
    signer: Signer,
    tenant: Tenant,
}

impl Control {
    /// Joins the cluster of a folder. `listens`: as a node does, reachable by others.
    ///
    /// # Errors
    /// Zenoh refuses: a certificate, an address.
    pub fn open(folder: &Folder, listens: bool) -> Result<Control, ClusterError> {
        let settings = folder.settings();
        let (signer, tenant) = folder.signer()?;
        let config = config(folder, listens)?;
        let session = before_ordinary_load(|| zenoh::open(config).wait()).map_err(ClusterError::zenoh)?;
        Ok(Control { session, cluster: settings.cluster.clone(), node: settings.node.clone(), signer, tenant })
    }

    /// Tenant whose orders this member's are.
    #[must_use]
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// The cluster.
    #[must_use]
    pub fn cluster(&self) -> &str {
        &self.cluster
    }

    /// This member's node, or the node whose folder it is.
    #[must_use]
    pub fn node(&self) -> &str {
        &self.node
    }

    fn key(&self, node: &str, what: &str) -> String {
        format!("takt/{}/node/{node}/{what}", self.cluster)
    }

    /// Nodes that are there now, by name. Waits for those that are found late.
    ///
    /// # Errors
    /// The session is gone.
    pub fn present(&self) -> Result<Vec<String>, ClusterError> {
        let key = self.key("*", "alive");
        let replies = self.session.liveliness().get(&key).timeout(DISCOVERY).wait().map_err(ClusterError::zenoh)?;
        let mut nodes = Vec::new();
        while let Ok(reply) = replies.recv() {
            if let Ok(sample) = reply.result()
                && let Some(node) = sample.key_expr().as_str().split('/').nth(3)
            {
                nodes.push(node.to_owned());
            }
        }
        nodes.sort();
        nodes.dedup();
        Ok(nodes)
    }

    /// Asks a node, or gives it an order, signed with this member's key.
    ///
    /// # Errors
    /// It does not answer in time, speaks another version, or refuses.
    pub fn ask<T: DeserializeOwned>(
        &self,
        node: &str,
        request: &Request,
        patience: Duration,
    ) -> Result<T, ClusterError> {
        self.ask_while(node, request, patience, || true)
    }

    /// The same; an answer is waited for as long as `is_there` says so.
    ///
    /// # Errors
    /// As [`Control::ask`].
    pub fn ask_while<T: DeserializeOwned>(
        &self,
        node: &str,
        request: &Request,
        patience: Duration,
        is_there: impl Fn() -> bool,
    ) -> Result<T, ClusterError> {
        let send = |message| self.send(node, message, patience, &is_there);
        if request.is_question() {
            return answer(node, &send(document(&Envelope { protocol: PROTOCOL, body: request }))?);
        }
        let question = document(&Envelope { protocol: PROTOCOL, body: Request::Moment });
        let moment: Moment = answer(node, &send(question)?)?;
        let order = self.signer.message(&self.cluster, node, moment, request);
        answer(node, &send(order.map_err(|source| ClusterError::Certificate { source })?)?)
    }

    /// A message to a node, and what it answers.
    fn send(
        &self,
        node: &str,
        message: Vec<u8>,
        patience: Duration,
        is_there: impl Fn() -> bool,
    ) -> Result<Reply, ClusterError> {
        let until = Instant::now() + patience + LOOK;
        let replies = self.begin_to_send(node, message, patience)?;
        reply_of(&replies, until, is_there).ok_or_else(|| ClusterError::Silent { node: node.to_owned() })
    }

    /// The answer's channel is for [`answer`]; nothing if it does not come in time.
    fn begin_to_send(
        &self,
        node: &str,
        question: Vec<u8>,
        patience: Duration,
    ) -> Result<FifoChannelHandler<Reply>, ClusterError> {
        let get = self.session.get(self.key(node, "ask")).payload(question).timeout(patience);
        // A loss here would be a word less to an agent: it waits for room.
        get.congestion_control(CongestionControl::Block).wait().map_err(ClusterError::zenoh)
    }

    /// Shows that this node is there, for as long as the token is kept.
    ///
    /// # Errors
    /// Another one has its name; the session is gone.
    pub fn appear(&self) -> Result<LivelinessToken, ClusterError> {
        if self.present()?.contains(&self.node) {
            return Err(ClusterError::Twice { node: self.node.clone() });
        }
        self.session.liveliness().declare_token(self.key(&self.node, "alive")).wait().map_err(ClusterError::zenoh)
    }

    /// Questions to this node.
    ///
    /// # Errors
    /// The session is gone.
    pub fn questions(&self) -> Result<Queryable<FifoChannelHandler<Query>>, ClusterError> {
        self.session.declare_queryable(self.key(&self.node, "ask")).wait().map_err(ClusterError::zenoh)
    }

    /// Publishes what this node is and does.
    ///
    /// # Errors
    /// The session is gone.
    pub fn publish(&self, what: &impl Serialize) -> Result<(), ClusterError> {
        self.session.put(self.key(&self.node, "statistics"), document(what)).wait().map_err(ClusterError::zenoh)
    }
}

impl Control {
    /// Has `each` take what nodes publish of themselves, as long as the answer is kept. A node that publishes as another is not
    /// heard, nor what is no statement of a node.
    pub(crate) fn statistics(
        &self,
        each: impl Fn(NodeFacts) + Send + Sync + 'static,
    ) -> Result<Subscriber<()>, ClusterError> {
        let take = move |sample: Sample| {
            let bytes = sample.payload().to_bytes();
            let named = sample.key_expr().as_str().split('/').nth(3);
            let facts = Some(bytes).filter(|bytes| bytes.len() <= MOST_BYTES);
            let facts = facts.and_then(|bytes| serde_json::from_slice::<NodeFacts>(&bytes).ok());
            facts.filter(|facts| Some(facts.node.as_str()) == named).into_iter().for_each(&each);
        };
        let subscriber = self.session.declare_subscriber(self.key("*", "statistics"));
        subscriber.callback(take).wait().map_err(ClusterError::zenoh)
    }

    /// Writes to an agent on a node, as its `number`th message; what comes back is for [`answer`].
    pub(crate) fn write_agent(
        &self,
        node: &str,
        (life, number): (u64, u64),
        write: WriteAgent,
        patience: Duration,
    ) -> Result<FifoChannelHandler<Reply>, ClusterError> {
        let moment = (Moment { life, at_ns: 0 }, number);
        let message = self.signer.numbered(&self.cluster, node, moment, &Request::WriteAgent(write));
        self.begin_to_send(node, message.map_err(|source| ClusterError::Certificate { source })?, patience)
    }

    /// Sends the heartbeat of a member of a run.
    pub(crate) fn send_heartbeat(&self, run: &str, heartbeat: &Heartbeat) -> Result<(), ClusterError> {
        let key = format!("takt/{}/run/{run}/heartbeat/{}", self.cluster, heartbeat.from);
        let put = self.session.put(key, document(&Envelope { protocol: PROTOCOL, body: heartbeat }));
        // A late one is of no use: none waits for another. It is for others: its sender takes them too, and would read its own.
        let put = put.congestion_control(CongestionControl::Drop).express(true);
        put.allowed_destination(Locality::Remote).wait().map_err(ClusterError::zenoh)
    }

    /// Has `each` take the heartbeats of a run's members, or why they are none, as long as the answer is kept.
    pub(crate) fn heartbeats(
        &self,
        run: &str,
        each: impl Fn(Result<Heartbeat, Unread>) + Send + Sync + 'static,
    ) -> Result<Subscriber<()>, ClusterError> {
        let take = move |sample: Sample| each(read_within(quorum::MOST_BYTES, &sample.payload().to_bytes()));
        let key = format!("takt/{}/run/{run}/heartbeat/*", self.cluster);
        self.session.declare_subscriber(key).callback(take).wait().map_err(ClusterError::zenoh)
    }
}

/// The reply to a message. Zenoh closes the channel when the patience has run out; where its own threads stand still, a manager
/// must not wait for them.
fn reply_of(replies: &FifoChannelHandler<Reply>, until: Instant, is_there: impl Fn() -> bool) -> Option<Reply> {
    loop {
        match replies.recv_timeout(LOOK) {
            Ok(Some(reply)) => return Some(reply),
            Ok(None) if Instant::now() < until && is_there() => {}
            Ok(None) | Err(_) => return None,
        }
    }
}

/// Answer of a node.
pub(crate) fn answer<T: DeserializeOwned>(node: &str, reply: &Reply) -> Result<T, ClusterError> {
    let sample = reply.result().map_err(|_| ClusterError::Silent { node: node.to_owned() })?;
    let bytes = sample.payload().to_bytes();
    let refused = |why: String| ClusterError::Refused {
        node: node.to_owned(),
        why,
        fix: "run the same version of takt on all nodes".to_owned(),
    };
    match read(&bytes).map_err(|problem| problem.of_node(node))? {
        RequestAnswer::Good(json) => serde_json::from_value(json).map_err(|error| refused(error.to_string())),
        RequestAnswer::Refused { why, fix } => Err(ClusterError::Refused { node: node.to_owned(), why, fix }),
    }
}

/// Does something with a real-time policy, which the threads that it starts inherit: heartbeats pass through Zenoh's, and late
/// ones end a run. If that is not permitted, ordinary load may delay them.
fn before_ordinary_load<T>(what: impl FnOnce() -> T) -> T {
    let before = policy(0);
    let _ = set_policy(0, Policy::Fifo { priority: 1 });
    let done = what();
    if let Ok(before) = before {
        // From a policy of more rights to one of fewer: never refused.
        let _ = set_policy(0, before);
    }
    done
}

/// Payload that came to a node.
pub(crate) fn payload(query: &Query) -> Vec<u8> {
    query.payload().map(|payload| payload.to_bytes().into_owned()).unwrap_or_default()
}

/// Answers it.
pub(crate) fn reply(query: &Query, answer: RequestAnswer) {
    let document = document(&Envelope { protocol: PROTOCOL, body: answer });
    // A caller that has gone does not want to know.
    let _ = query.reply(query.key_expr(), document).wait();
}

impl Unread {
    fn of_node(self, node: &str) -> ClusterError {
        let node = node.to_owned();
        match self {
            Unread::Version { theirs } => ClusterError::Version { node, theirs, ours: PROTOCOL },
            other => ClusterError::Refused {
                node,
                why: other.to_string(),
                fix: "run the same version of takt on all nodes".to_owned(),
            },
        }
    }
}

/// Zenoh's rules for messages: those that members of the cluster send or are sent, and no others.
fn members_alone(cluster: &str) -> serde_json::Value {
    let every = [
        "put",
        "delete",
        "declare_subscriber",
        "query",
        "reply",
        "declare_queryable",
        "liveliness_token",
        "liveliness_query",
        "declare_liveliness_subscriber",
    ];
    serde_json::json!({
        "enabled": true,
        "default_permission": "deny",
        "rules": [{
            "id": "members",
            "permission": "allow",
            "flows": ["ingress", "egress"],
            "messages": every,
            "key_exprs": ["takt/**"],
        }],
        "subjects": [{ "id": "members", "cert_common_names": [member_of(cluster)] }],
        "policies": [{ "rules": ["members"], "subjects": ["members"] }],
    })
}

/// Zenoh's settings: TLS with certificates on both sides, and nothing else.
fn config(folder: &Folder, listens: bool) -> Result<Config, ClusterError> {
    let settings = folder.settings();
    let listen: &[String] = if listens { &settings.listen } else { &[] };
    // A node may be in the list of all: it does not ask itself.
    let connect: Vec<&String> = settings.connect.iter().filter(|endpoint| !listen.contains(endpoint)).collect();
    // A member that listens nowhere can be reached through a router alone, and says so: then the router carries what is
    // for it.
    let mode = if settings.listen.is_empty() && !settings.multicast { "client" } else { "peer" };
    let mut config = Config::default();
    let certificate = folder.file(Folder::CERTIFICATE);
    let key = folder.file(Folder::KEY);
    for (place, value) in [
        ("mode", serde_json::json!(mode)),
        ("listen/endpoints", serde_json::json!(listen)),
        ("connect/endpoints", serde_json::json!(connect)),
        ("scouting/multicast/enabled", serde_json::json!(settings.multicast)),
        ("transport/link/protocols", serde_json::json!(["quic"])),
        ("transport/link/tls/root_ca_certificate", serde_json::json!(folder.file(Folder::AUTHORITY))),
        ("transport/link/tls/enable_mtls", serde_json::json!(true)),
        ("transport/link/tls/listen_certificate", serde_json::json!(certificate)),
        ("transport/link/tls/listen_private_key", serde_json::json!(key)),
        ("transport/link/tls/connect_certificate", serde_json::json!(certificate)),
        ("transport/link/tls/connect_private_key", serde_json::json!(key)),
        // Certificates name nodes, not addresses: who has one of this authority is a member, wherever it is.
        ("transport/link/tls/verify_name_on_connect", serde_json::json!(false)),
        ("transport/link/tls/close_link_on_expiration", serde_json::json!(true)),
        // A frozen peer accepts and says nothing more: nobody waits for it any longer than this.
        ("transport/unicast/open_timeout", serde_json::json!(HANDSHAKE.as_millis() as u64)),
        ("transport/unicast/accept_timeout", serde_json::json!(HANDSHAKE.as_millis() as u64)),
        ("access_control", members_alone(&settings.cluster)),
        ("transport/link/rx/max_message_size", serde_json::json!(MOST_BYTES)),
    ] {
        config.insert_json5(place, &value.to_string()).map_err(|why| ClusterError::zenoh(format!("{place}: {why}")))?;
    }
    Ok(config)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use zenoh::handlers::{FifoChannel, IntoHandler};

    use super::*;
    use crate::certificates::{Grant, issue};
    use crate::folder::Settings;
    use crate::quorum::Ballot;

    #[test]
    fn a_reply_that_never_comes_is_waited_for_no_longer_than_the_patience() {
        // The sending end is kept: the channel does not close by itself.
        let (_open, replies) = IntoHandler::<Reply>::into_handler(FifoChannel::new(1));
        assert!(reply_of(&replies, Instant::now(), || true).is_none());
    }

    #[test]
    fn heartbeats_go_to_others_and_not_to_their_sender() {
        let place = tempfile::tempdir().unwrap();
        let [first, second] = [1, 2].map(|host| format!("quic/{}:7447", takt_testing::loopback(host)));
        let open = |node: &str, listen: &String, connect: Vec<String>| {
            let settings = Settings {
                cluster: "lab".to_owned(),
                node: node.to_owned(),
                listen: vec![listen.clone()],
                connect,
                multicast: false,
                samples: None,
                samples_bits_per_s: 1e9,
                samples_to: Vec::new(),
                quota: crate::tenant::Quotas::default(),
                ptp: crate::folder::PtpSettings::default(),
            };
            issue(place.path(), "lab", &[node.to_owned()], &settings, &Grant::default()).unwrap();
            Control::open(&Folder::read(&place.path().join(node)).unwrap(), true).unwrap()
        };
        let members = [open("a", &first, Vec::new()), open("b", &second, vec![first.clone()])];
        let counts = [0, 1].map(|_| Arc::new(AtomicU64::new(0)));
        let _subscribers = [0, 1].map(|member: usize| {
            let count = Arc::clone(&counts[member]);
            members[member].heartbeats("run", move |_| _ = count.fetch_add(1, Ordering::SeqCst)).unwrap()
        });
        let (from, supports) = ("a".to_owned(), Ballot::new(1, "m"));
        let heartbeat = Heartbeat { from, sent_ns: 1, received: Default::default(), supports };
        takt_testing::wait_for("the other has one", || {
            members[0].send_heartbeat("run", &heartbeat).unwrap();
            (counts[1].load(Ordering::SeqCst) > 0).then_some(())
        });
        // A message to oneself is there once it is sent.
        assert_eq!(counts[0].load(Ordering::SeqCst), 0);
    }
}
