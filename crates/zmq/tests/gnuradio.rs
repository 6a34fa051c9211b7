//! GNU Radio's blocks of ZeroMQ at the other end: what they send is what comes, and the other way round.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use takt_base::Stop;
use takt_graph::{Graph, Latency, Plan, Value, Waveform};
use takt_runtime::{Registry, Report, Session, SessionOptions};
use takt_testing::{loopback, skip};

/// Items of a stream: complex floats that tell their place.
const ITEMS: usize = 20_000;

/// The Python of the system, which has Debian's GNU Radio.
const PYTHON: &str = "/usr/bin/python3";

/// GNU Radio sends the items, or writes as many as come to a file.
const PROGRAM: &str = r#"
import struct, sys, time
from gnuradio import blocks, gr, zeromq
what, address, path, items = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
graph = gr.top_block()
size = gr.sizeof_gr_complex
if what in ("push", "pub"):
    source = blocks.file_source(size, path, False)
    sink = {"push": zeromq.push_sink, "pub": zeromq.pub_sink}[what](size, 1, address, 100, False)
    graph.connect(source, sink)
    graph.start()
    # The block has sent the last item, and its socket may not have: it is kept until takt has all.
    sys.stdin.read()
    graph.stop()
    graph.wait()
else:
    source = {"pull": zeromq.pull_source, "sub": zeromq.sub_source}[what](size, 1, address, 100, False)
    sink = blocks.vector_sink_c()
    graph.connect(source, sink)
    graph.start()
    # A flowgraph with such a source does not end by itself behind a head block (GNU Radio 3.10).
    while len(sink.data()) < items:
        time.sleep(0.02)
    graph.stop()
    graph.wait()
    with open(path, "wb") as file:
        file.write(b"".join(struct.pack("<ff", x.real, x.imag) for x in sink.data()))
"#;

/// GNU Radio at work, ended on drop.
struct GnuRadio(Child);

impl GnuRadio {
    /// `None`, on record, where it is not installed.
    fn start(what: &str, address: &str, path: &Path) -> Option<GnuRadio> {
        let there = Command::new(PYTHON).args(["-c", "from gnuradio import zeromq"]).stderr(Stdio::null()).status();
        if !there.is_ok_and(|status| status.success()) {
            skip("GNU Radio is not installed   (apt-get install gnuradio)");
            return None;
        }
        let mut command = Command::new(PYTHON);
        command.args(["-c", PROGRAM, what, address]).arg(path).arg(ITEMS.to_string());
        Some(GnuRadio(command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it starts")))
    }
}

impl Drop for GnuRadio {
    fn drop(&mut self) {
        let _ended_already = self.0.kill();
        let _ = self.0.wait();
    }
}

fn items() -> Vec<u8> {
    (0..ITEMS).flat_map(|n| [n as f32, -(n as f32)]).flat_map(f32::to_le_bytes).collect()
}

fn run(text: &str, slots: Option<u64>) -> Report {
    takt_phy::link();
    takt_zmq::link();
    let registry = Registry::of_program().expect("one name each");
    let waveform = Waveform::parse("test.toml", text).unwrap_or_else(|error| panic!("{error}"));
    let graph = Graph::check(&waveform, &registry).unwrap_or_else(|error| panic!("{error}"));
    let workers = vec![0; graph.components().len()];
    let plan = Plan::assign(&graph, &workers, Latency::Compact).expect("a plan");
    let options = SessionOptions { slots, ..SessionOptions::default() };
    Session::open(&graph, &plan, &registry, options).expect("it opens").run(&Stop::new()).expect("it runs")
}

fn result<'a>(report: &'a Report, component: &str, name: &str) -> Option<&'a Value> {
    report.components.iter().find(|one| one.name == component)?.results.get(name)
}

/// takt sends, GNU Radio receives.
fn sent(what: &str, pattern: &str, port: u16) {
    let folder = tempfile::tempdir().expect("a folder");
    let [from, to] = ["from.bin", "to.bin"].map(|name| folder.path().join(name));
    std::fs::write(&from, items()).expect("it is ours");
    let address = format!("tcp://{}:{port}", loopback(1));
    let Some(mut gnuradio) = GnuRadio::start(what, &address, &to) else { return };
    let text = format!(
        "name = \"to\"\nslot = \"1 ms\"\nchain = [\"file\", \"zmq\"]\n\
         [component.file]\ntype = \"file-source\"\npath = \"{}\"\nitems = 1000\n\
         [component.zmq]\ntype = \"zmq-sink\"\naddress = \"{address}\"\npattern = \"{pattern}\"\nkeep = \"data\"\npatience = 60\n",
        from.display()
    );
    let report = run(&text, Some(ITEMS as u64 / 1000));
    assert_eq!(result(&report, "zmq", "bytes"), Some(&((ITEMS * 8) as i64).into()), "{report:#?}");
    assert!(gnuradio.0.wait().expect("it ends").success());
    assert!(std::fs::read(&to).expect("a file") == items(), "each item, in order");
}

/// GNU Radio sends, takt receives.
fn received(what: &str, pattern: &str, port: u16) {
    let folder = tempfile::tempdir().expect("a folder");
    let [from, to] = ["from.bin", "to.bin"].map(|name| folder.path().join(name));
    std::fs::write(&from, items()).expect("it is ours");
    let address = format!("tcp://{}:{port}", loopback(2));
    let Some(_gnuradio) = GnuRadio::start(what, &address, &from) else { return };
    let text = format!(
        "name = \"from\"\nslot = \"1 ms\"\nchain = [\"zmq\", \"file\"]\n\
         [component.zmq]\ntype = \"zmq-source\"\naddress = \"{address}\"\npattern = \"{pattern}\"\nitems = 1000\nkeep = \"data\"\npatience = 60\n\
         [component.file]\ntype = \"file-sink\"\npath = \"{}\"\n",
        to.display()
    );
    let report = run(&text, Some(ITEMS as u64 / 1000));
    assert_eq!(result(&report, "zmq", "error"), None, "{report:#?}");
    assert!(std::fs::read(&to).expect("a file") == items(), "each item, in order");
}

#[test]
fn gnuradio_pulls_what_takt_pushes() {
    sent("pull", "pipeline", 5551);
}

#[test]
fn gnuradio_subscribes_to_what_takt_broadcasts() {
    sent("sub", "broadcast", 5552);
}

#[test]
fn takt_pulls_what_gnuradio_pushes() {
    received("push", "pipeline", 5553);
}
