//! Several tenants on one node: each has what its quota leaves and rules over its own runs alone, and what comes from others,
//! old or broken, changes nothing. A run on one node needs nobody's heartbeats, so a busy machine ends none.
#![cfg(feature = "cluster")]

mod support;

use std::io::{BufRead, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use serde_json::Value;
use support::cluster::{PORT, certificates, metrics_at, stock};
use support::{Ended, Place, has, json, refusal, report, text};
use takt_cluster::certificates::{Grant, issue};
use takt_cluster::message::{Order, Request};
use takt_cluster::quorum::Ballot;
use takt_cluster::{ClusterError, Control, Folder, Settings};
use takt_testing::{loopback, wait_for};

const WAVEFORM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../waveforms/bpsk.toml");

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Each test has nodes on the same two cores, with workers of real-time priority: one at a time.
static CORES: Mutex<()> = Mutex::new(());

/// One node with two cores, its quotas, and folders of tenants.
struct World {
    place: Place,
    listens: String,
    metrics_at: String,
    _node: Ended,
    _cores: MutexGuard<'static, ()>,
}

impl World {
    /// `first` tells the addresses of one test from those of others; `quotas` goes into the node's settings.
    fn start(first: u8, quotas: &str, tenants: &[&str]) -> World {
        // A test that failed leaves nothing that would hold up another.
        let cores_of_all = CORES.lock().unwrap_or_else(PoisonError::into_inner);
        let place = Place::with("here", "");
        let listens = format!("quic/{}:{PORT}", loopback(first));
        assert!(certificates(&place, "cluster", "a", &listens, &[&listens]).status.success());
        let settings = place.path("cluster/a/cluster.toml");
        let given = std::fs::read_to_string(&settings).expect("settings");
        std::fs::write(&settings, format!("{given}{quotas}")).expect("it is ours");
        for tenant in tenants {
            let args =
                ["--out", "cluster", "--cluster", "lab", "--connect", &listens, "--tenant", tenant, "--days", "1"];
            let made = place.takt(&[&["node", "certificates"], &args[..], &[tenant]].concat());
            assert!(made.status.success(), "{}", report(&made));
        }
        let cores: Vec<String> = takt_host::affinity::own_cpus().iter().take(2).map(ToString::to_string).collect();
        let options = ["--cores", &cores.join(","), "--metrics", "0"];
        let mut command = place.command(&[&["node", "--folder", "cluster/a"], &options[..]].concat());
        command.stdin(Stdio::null()).stderr(std::fs::File::create(place.path("a.log")).expect("a log"));
        let (node, mut more, mut said) = Ended::ready(&mut command);
        assert_eq!(said.trim(), "ready node a");
        more.read_line(&mut said).expect("text");
        let metrics_at = metrics_at(&said).expect("where metrics are");
        World { place, listens, metrics_at, _node: node, _cores: cores_of_all }
    }

    /// A waveform that a tenant has the node run. Slots are long, so that a busy machine misses none.
    fn run(&self, tenant: &str, slots: &str) -> Command {
        let folder = format!("cluster/{tenant}");
        let options = ["--slot", "50ms", "--slots", slots, "--json"];
        let mut command = self.place.command(&[&["run", WAVEFORM, "--cluster", &folder], &options[..]].concat());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Results that one machine computes, and nobody disturbs.
    fn alone(&self, slots: &str) -> Value {
        let run = self.place.takt(&["run", WAVEFORM, "--slot", "50ms", "--slots", slots, "--clock", "free", "--json"]);
        json(&run)["output_hash"].clone()
    }

    fn control(&self, name: &str) -> Control {
        let folder = Folder::read(&self.place.path(&format!("cluster/{name}"))).expect("a folder");
        Control::open(&folder, false).expect("a session")
    }

    /// The page of the node's metrics.
    fn metrics(&self) -> String {
        let (at, path) = self.metrics_at.strip_prefix("http://").and_then(|at| at.split_once('/')).expect("an address");
        let mut stream = TcpStream::connect(at).expect("it listens");
        write!(stream, "GET /{path} HTTP/1.1\r\nHost: {at}\r\n\r\n").expect("it reads");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("text");
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
        text
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.place.path("a.log")).expect("a log")
    }
}

/// The node's facts once a run of this tenant is in this slot; the run's name.
fn running(control: &Control, tenant: &str, slot: u64) -> (Value, String) {
    wait_for("a run", || {
        let facts: Value = control.ask("a", &Request::Describe, PATIENCE).ok()?;
        let runs = facts["runs"].as_array()?.clone();
        let run = runs.iter().find(|run| run["tenant"] == tenant && run["slot"].as_u64() >= Some(slot))?;
        let name = run["run"].as_str()?.to_owned();
        Some((facts, name))
    })
}

/// Why the node does not do what it is ordered to.
fn refused(control: &Control, order: &Request) -> String {
    match control.ask::<Value>("a", order, PATIENCE) {
        Err(error @ ClusterError::Refused { .. }) => format!("{error}\n{}", error.fix().expect("a fix")),
        other => panic!("{other:?}"),
    }
}

fn ended(child: Child, alone: &Value) {
    let done = child.wait_with_output().expect("takt runs");
    let ended = json(&done);
    if ended["misses"] != 0 {
        return takt_testing::not_judged(format!("{} slots were missed: the machine was too busy", ended["misses"]));
    }
    assert_eq!(done.status.code(), Some(0), "{}", report(&done));
    assert_eq!(&ended["output_hash"], alone, "{}", report(&done));
}

#[test]
fn tenants_share_a_node_and_each_rules_over_its_own_runs_alone() {
    if takt_host::affinity::own_cpus().len() < 2 {
        return takt_testing::skip("two waveforms at once need two cores");
    }
    let quotas = "[quota.blue]\ncores = 1\nruns = 1\n[quota.default]\ncores = 1\n";
    let world = World::start(60, quotas, &["blue", "red"]);
    let alone = world.alone("500");
    let (blue, red, operator) = (world.control("blue"), world.control("red"), world.control("a"));
    let first = world.run("blue", "500").spawn().expect("takt starts");
    running(&red, "blue", 1);
    let more = refusal(&world.run("blue", "10").output().expect("takt runs"));
    has(&more, &["tenant `blue` may have 1 runs here, has 1 and asks for 1 more", "set runs = 2 in [quota.blue]"]);
    let second = world.run("red", "500").spawn().expect("takt starts");
    let (facts, of_red) = running(&blue, "red", 1);
    assert_eq!(facts["busy"].as_array().map(Vec::len), Some(2), "each has a core of its own: {facts}");
    has(
        &refusal(&world.run("a", "10").output().expect("takt runs")),
        &["no core is free on any node", "whose runs they are"],
    );
    let why = refused(&blue, &Request::Stop { run: of_red.clone(), manager: None });
    has(&why, &[&format!("run `{of_red}` belongs to `red`"), "give the order as `red`, or as the operator"]);
    has(
        &refused(&blue, &Request::Prepare { after: Ballot::new(1, "m"), order: Box::new(order(&of_red, &[0])) }),
        &["belongs to `red`"],
    );
    wait_for("words of the refusals", || {
        let log = world.log();
        let said = |words: &str| log.contains(words);
        let quota = said("refused   order `open` of `blue`: tenant `blue` may have 1 runs here");
        (quota && said(&format!("refused   order `stop` of `blue`: run `{of_red}` belongs to `red`"))).then_some(())
    });
    let listed = world.place.takt(&["node", "list", "--folder", "cluster/red"]);
    has(&text(&listed.stdout), &["blue 1 of 1, red 1 of 1", "bpsk-blue-", "bpsk-red-"]);

    ended(first, &alone);
    let stopped: Value =
        operator.ask("a", &Request::Stop { run: of_red, manager: None }, PATIENCE).expect("it rules over all");
    assert!(stopped["slot"].as_u64() > Some(0), "{stopped}");
    let _it_says_that_its_run_is_gone = second.wait_with_output().expect("takt runs");
}

/// An order that does not ask the mapper: of a run on these cores.
fn order(run: &str, cores: &[u32]) -> Order {
    let text = std::fs::read_to_string(WAVEFORM).expect("a waveform");
    let names: [&[&str]; 2] = [&["source", "modulator"], &["channel", "demodulator", "sink"]];
    let all = names.concat();
    let workers = cores.iter().enumerate().map(|(at, cpu)| {
        let components = if cores.len() == 1 { &all[..] } else { names[at] };
        serde_json::json!({ "node": "a", "cpu": cpu, "components": components })
    });
    serde_json::from_value(serde_json::json!({
        "run": run, "placing": 1, "file": "bpsk.toml", "text": text, "slot_ns": 10_000_000, "set": [], "latency": "fixed",
        "hop_slots": 2, "slots": 10, "fifo_priority": 0, "manager": "manager-1", "first_stream": 16,
        "workers": workers.collect::<Vec<_>>(),
    }))
    .expect("an order")
}

#[test]
fn a_quota_is_the_nodes_to_keep_and_what_an_order_names_has_to_be_there() {
    let world = World::start(62, "[quota.default]\ncores = 1\n", &["blue"]);
    let (blue, operator) = (world.control("blue"), world.control("a"));
    let open = |order: Order| Request::Open(Box::new(order));
    let why = refused(&blue, &open(order("mine", &[0, 1])));
    has(&why, &["tenant `blue` may have 1 cores here, has 0 and asks for 2 more", "set cores = 2 in [quota.default]"]);
    has(&refused(&blue, &open(order("mine", &[77]))), &["core 77 is not free"]);
    let mut other = order("mine", &[0]);
    other.workers[0].components[0] = "nobody".to_owned();
    has(&refused(&blue, &open(other)), &["no component is called `nobody`"]);
    has(
        &refused(&blue, &open(Order { hop_slots: 0, ..order("mine", &[0]) })),
        &["hop_slots is 0, but must be 1 to 64"],
    );
    has(&refused(&blue, &Request::Stop { run: "nothing".to_owned(), manager: None }), &["no run is called `nothing`"]);
    let counts = ["quota\"} 1", "unable\"} 3", "range\"} 1", "tenant\"} 0"];
    has(
        &world.metrics(),
        &counts.map(|count| format!("takt_messages_refused_total{{reason=\"{count}\n")).each_ref().map(String::as_str),
    );
    has(&world.metrics(), &["takt_tenant_quota_cores{tenant=\"default\"} 1\n"]);
    let facts: Value = operator.ask("a", &Request::Describe, PATIENCE).expect("there");
    assert_eq!(
        (&facts["runs"], &facts["busy"]),
        (&serde_json::json!([]), &serde_json::json!([])),
        "nothing is left of it"
    );
    // Folders are for one thing.
    has(
        &refusal(&world.place.takt(&["node", "--folder", "cluster/blue"])),
        &["cluster/blue belongs to tenant `blue`, who may give orders but can't be a node"],
    );
    let made = |tenant: &str| {
        refusal(&world.place.takt(&["node", "certificates", "--out", "cluster", "--tenant", tenant, "x"]))
    };
    has(&made("operator"), &["not `operator` or `default`"]);
}

#[test]
fn a_certificate_that_is_not_valid_now_lets_nobody_in() {
    let world = World::start(64, "", &[]);
    let (now, day) = (SystemTime::now(), Duration::from_secs(86_400));
    let own = Folder::read(&world.place.path("cluster/a")).expect("a folder");
    let settings = Settings { listen: Vec::new(), ..own.settings().clone() };
    for (name, from, until, why) in
        [("old", now - 2 * day, now - day, "expired"), ("early", now + day, now + 2 * day, "not valid yet")]
    {
        let grant = Grant { tenant: None, from: Some(from), until: Some(until) };
        issue(&world.place.path("cluster"), "lab", &[name.to_owned()], &settings, &grant).expect("a folder");
        let listed = world.place.takt(&["node", "list", "--folder", &format!("cluster/{name}")]);
        has(&refusal(&listed), &["can't join the cluster"]);
        wait_for("a word of the refusal", || {
            let log = world.log();
            let line = |line: &str| line.starts_with("refused   a peer") && line.contains(why);
            log.lines().any(line).then_some(())
        });
    }
    let facts: Value = world.control("a").ask("a", &Request::Describe, PATIENCE).expect("there");
    assert_eq!(facts["node"], "a", "others are answered");
}

#[test]
fn orders_that_a_stock_client_read_along_and_sends_again_change_nothing() {
    let world = World::start(66, "", &["blue"]);
    let spy = stock(&["hostile", &world.listens, "cluster/spy", "takt/lab/node/a/ask"]);
    let Some(mut spy) = spy else { return };
    let made = certificates(&world.place, "cluster", "spy", "quic/127.0.0.1:0", &[&world.listens]);
    assert!(made.status.success(), "{}", report(&made));
    let alone = world.alone("500");
    let (_spy, mut said, ready) = Ended::ready(spy.current_dir(world.place.folder()));
    assert_eq!(ready.trim(), "ready");
    let child = world.run("blue", "500").spawn().expect("takt starts");

    let mut answers = String::new();
    said.read_to_string(&mut answers).expect("text");
    let answers: Vec<Value> = answers.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let why = |name: &str| {
        let one = answers.iter().find(|one| one["message"] == name);
        one.unwrap_or_else(|| panic!("no answer to {name}: {answers:#?}"))["answer"]["refused"]["why"].clone()
    };
    for name in ["open", "start"] {
        assert_eq!(why(&format!("{name} again")), "an order of `blue` arrived a second time");
        assert_eq!(why(&format!("{name} unsigned")), format!("order `{name}` has no signature"));
        assert_eq!(why(&format!("{name} made a stop")), "an order differs from what `blue` signed");
    }
    let taken: Vec<&Value> = answers.iter().filter(|one| !one["answer"]["refused"]["why"].is_string()).collect();
    assert!(taken.iter().all(|one| one["message"] == "long"), "Zenoh itself may drop what is long: {taken:#?}");
    assert!(answers.len() >= 2 * 9 + 4 + 300, "{}", answers.len());
    // Each is counted, by its reason.
    let metrics = world.metrics();
    let counted = |reason: &str| -> u64 {
        let sample = format!("takt_messages_refused_total{{reason=\"{reason}");
        let lines = metrics.lines().filter(|line| line.starts_with(&sample));
        lines.map(|line| line.rsplit(' ').next().expect("a count").parse::<u64>().expect("a count")).sum()
    };
    let answered = |words: &str| {
        let why = |one: &&Value| one["answer"]["refused"]["why"].as_str().is_some_and(|why| why.contains(words));
        answers.iter().filter(why).count() as u64
    };
    for (reason, words) in [
        ("replayed", "arrived a second time"),
        ("unsigned", "has no signature"),
        ("changed", "differs from what"),
        ("version", "version 4 of the protocol"),
        ("certificate", "the certificate of an order"),
        ("", ""),
    ] {
        assert_eq!(counted(reason), answered(words), "{reason}\n{metrics}");
        assert!(counted(reason) >= 2, "{reason}");
    }
    let log = world.log();
    has(&log, &["refused   an order of `blue` arrived a second time"]);
    let lines = log.lines().filter(|line| line.starts_with("refused ")).count();
    assert!(lines <= 40, "{} messages, {lines} lines\n{log}", answers.len());
    ended(child, &alone);
}
