//! Addresses to which a node sends samples and requests for the time: only those that other nodes have stated
//! themselves. The node is real, and so is what travels.

mod node;

use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::{Arc, mpsc};

use node::{Ends, PATIENCE, at, begin_with, member, signer, tenant, why};
use serde_json::Value;
use takt_base::Stop;
use takt_cluster::certificates::Grant;
use takt_cluster::message::{Envelope, Opened, Order, PROTOCOL, Progress, Request, Start, WorkerOrder};
use takt_cluster::quorum::Heartbeat;
use takt_cluster::seal::Sealed;
use takt_cluster::statement::Statement;
use takt_cluster::tenant::Tenant;
use takt_cluster::{Control, Folder};
use takt_runtime::Registry;
use takt_testing::{loopback, wait_for};
use zenoh::Wait;

/// A source on node a and a sink on node b, which need not be there.
fn order() -> Box<Order> {
    let text = "name = 'x'\nslot = '1 ms'\nchain = ['source', 'sink']\n[component.source]\ntype = 'counter'\n\
                [component.sink]\ntype = 'counter-sink'\n";
    let worker = |node: &str, component: &str| WorkerOrder {
        node: node.to_owned(),
        cpu: 0,
        components: vec![component.to_owned()],
    };
    let workers = vec![worker("a", "source"), worker("b", "sink")];
    Box::new(Order { text: text.to_owned(), slots: None, workers, ..*node::order("r", "counter") })
}

fn registry() -> Registry {
    takt_phy::link();
    Registry::of_program().expect("one kind of a name")
}

/// A socket that counts what comes to it.
struct Receiver(UdpSocket);

impl Receiver {
    fn at(host: u8) -> Receiver {
        let socket = UdpSocket::bind((loopback(host), 0)).expect("a port");
        socket.set_nonblocking(true).expect("it is ours");
        Receiver(socket)
    }

    fn address(&self) -> SocketAddr {
        self.0.local_addr().expect("bound")
    }

    fn count(&self) -> usize {
        let mut room = [0; 2048];
        std::iter::from_fn(|| self.0.recv_from(&mut room).ok()).count()
    }
}

/// Publishes heartbeats of node b, which the node under test takes for what they say: any member can. Returns once it takes them.
fn play_b(place: &Path, of: &str) -> impl Sized {
    let file = |name: &str| serde_json::json!(place.join(of).join(name)).to_string();
    let mut config = zenoh::Config::default();
    for (key, value) in [
        ("mode", "\"client\"".to_owned()),
        ("connect/endpoints", serde_json::json!([at(1)]).to_string()),
        ("scouting/multicast/enabled", "false".to_owned()),
        ("transport/link/protocols", "[\"quic\"]".to_owned()),
        ("transport/link/tls/root_ca_certificate", file(Folder::AUTHORITY)),
        ("transport/link/tls/enable_mtls", "true".to_owned()),
        ("transport/link/tls/connect_certificate", file(Folder::CERTIFICATE)),
        ("transport/link/tls/connect_private_key", file(Folder::KEY)),
        ("transport/link/tls/verify_name_on_connect", "false".to_owned()),
    ] {
        config.insert_json5(key, &value).expect(key);
    }
    let session = Arc::new(zenoh::open(config).wait().expect("it joins"));
    let publishes = Arc::clone(&session);
    let (is_taken, taken) = mpsc::channel();
    let answer = move |sample: zenoh::sample::Sample| {
        let heard: Value = serde_json::from_slice(&sample.payload().to_bytes()).expect("JSON");
        let heard: Heartbeat = serde_json::from_value(heard["body"].clone()).expect("a heartbeat");
        if heard.received.contains_key("b") {
            // Nobody waits for it any more but once.
            let _ = is_taken.send(());
        }
        let received = BTreeMap::from([(heard.from, heard.sent_ns)]);
        let heartbeat = Heartbeat { from: "b".to_owned(), sent_ns: heard.sent_ns, received, supports: heard.supports };
        let document = serde_json::to_vec(&Envelope { protocol: PROTOCOL, body: heartbeat }).expect("JSON");
        publishes.put("takt/lab/run/r/heartbeat/b", document).wait().expect("it takes it");
    };
    let subscriber =
        session.declare_subscriber("takt/lab/run/r/heartbeat/a").callback(answer).wait().expect("a session");
    taken.recv_timeout(PATIENCE).expect("the node receives b");
    (session, subscriber)
}

/// A start of the run on node a, with what node b is said to have stated.
fn start(stated: Option<Sealed>) -> Request {
    Request::Start(Start {
        run: "r".to_owned(),
        reference: "a".to_owned(),
        in_ns: 0,
        epoch_ns: None,
        ptp: None,
        statements: stated.map(|stated| ("b".to_owned(), stated)).into_iter().collect(),
    })
}

#[test] // 3948 datagrams reached one who had agreed to nothing
fn a_tenant_who_invents_a_node_has_nothing_sent_anywhere() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = member(place.path(), "a", 1, &[]);
    let blue = tenant(place.path(), "blue", 2, &[at(1)]);
    // Node b exists, as does c, but neither runs; b's key is not blue's.
    for (name, host) in [("b", 3), ("c", 4)] {
        member(place.path(), name, host, &[]);
    }
    let stop = Stop::new();
    std::thread::scope(|scope| {
        let _ends = Ends(&stop);
        begin_with(scope, &folder, &stop, registry());
        let control = Control::open(&blue, false).expect("it joins");
        wait_for("the node", || control.present().ok()?.contains(&"a".to_owned()).then_some(()));
        let ask = |request: &Request| control.ask::<Value>("a", request, PATIENCE);
        let opened: Opened = control.ask("a", &Request::Open(order()), PATIENCE).expect("opened");
        let _heartbeats = play_b(place.path(), "blue");

        let victim = Receiver::at(9);
        let aimed = Statement {
            tenant: Tenant::named("blue").expect("a name"),
            ..node::statement("b", "r", 1, [victim.address(); 2])
        };
        let signed =
            |by: &str, statement: &Statement| signer(place.path(), by).state(statement).expect("random numbers");
        let changed = |sealed: Sealed| {
            let text = sealed.text.replace(r#""node":"a""#, r#""node":"b""#);
            let own = opened_at(&sealed).to_string();
            Sealed { text: text.replace(&own, &victim.address().to_string()), ..sealed }
        };
        let other_run = Statement { run: "s".to_owned(), ..aimed.clone() };
        let multicast = Statement { samples: "224.0.0.251:5353".parse().expect("an address"), ..aimed.clone() };
        for (stated, says) in [
            (None, "node `b` has not stated where it takes datagrams of run `r`"),
            (Some(signed("blue", &aimed)), "tenant `blue` signed the statement of node `b`"),
            (Some(signed("c", &aimed)), "node `c` signed the statement of node `b`"),
            (Some(changed(opened.statement)), "it differs from what `operator` signed"),
            (Some(signed("b", &other_run)), "is not for placing 1 of run `r`"),
            (Some(signed("b", &multicast)), "takes datagrams at 224.0.0.251:5353, a multicast address"),
        ] {
            let started = ask(&start(stated));
            if started.is_ok() {
                // It sends as long as it may: the count below says so.
                let slot = || control.ask::<Progress>("a", &Request::Progress { run: "r".to_owned() }, PATIENCE);
                wait_for("slots", || slot().ok().filter(|progress| progress.slot > 100));
            }
            assert_eq!(victim.count(), 0, "datagrams that nobody has agreed to");
            assert!(why(started).contains(says), "{says}");
        }

        // The same order with what node b itself has stated: this is what was kept from the victim.
        let honest = Receiver::at(3);
        let stated = Statement { samples: honest.address(), ..aimed };
        ask(&start(Some(signed("b", &stated)))).expect("it starts");
        let progress = || control.ask::<Progress>("a", &Request::Progress { run: "r".to_owned() }, PATIENCE);
        let came = wait_for("samples", || {
            let ended = progress().ok()?.end;
            (honest.count() > 0).then_some(true).or(ended.map(|_| false))
        });
        assert_eq!(victim.count(), 0);
        if !came {
            takt_testing::not_judged("the lease was over before a sample: the machine stood still for 2 s");
        }
    });
}

/// Address at which a node says that it takes samples.
fn opened_at(sealed: &Sealed) -> SocketAddr {
    let statement: Statement = serde_json::from_str(&sealed.text).expect("JSON");
    statement.samples
}

#[test]
fn a_node_asks_nobody_for_the_time_but_who_has_stated_that_he_answers() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = node::member_with(place.path(), "a", 11, &[], &Grant::default(), "samples_to = ['127.0.0.0/9']");
    let blue = tenant(place.path(), "blue", 12, &[at(11)]);
    member(place.path(), "b", 13, &[]);
    let stop = Stop::new();
    std::thread::scope(|scope| {
        let _ends = Ends(&stop);
        begin_with(scope, &folder, &stop, registry());
        let control = Control::open(&blue, false).expect("it joins");
        wait_for("the node", || control.present().ok()?.contains(&"a".to_owned()).then_some(()));
        control.ask::<Opened>("a", &Request::Open(order()), PATIENCE).expect("opened");
        let victim = Receiver::at(19);
        let start = |clock: SocketAddr, by: &str| {
            let samples = format!("{}:7000", loopback(13)).parse().expect("an address");
            let tenant = Tenant::named("blue").expect("a name");
            let stated = Statement { tenant, ..node::statement("b", "r", 1, [samples, clock]) };
            let stated = signer(place.path(), by).state(&stated).expect("random numbers");
            let Request::Start(start) = start(Some(stated)) else { unreachable!() };
            let start = Start { reference: "b".to_owned(), epoch_ns: Some(1), ..start };
            why(control.ask::<Value>("a", &Request::Start(start), PATIENCE))
        };
        assert!(start(victim.address(), "blue").contains("tenant `blue` signed the statement of node `b`"));
        let elsewhere = "192.0.2.1:123".parse().expect("an address");
        let says =
            "node `b` takes datagrams at 192.0.2.1:123, outside the networks that `samples_to` of this node permits";
        assert!(start(elsewhere, "b").contains(says));
        assert_eq!(victim.count(), 0);
    });
}
