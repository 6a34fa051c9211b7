//! Files as sources and sinks: nothing is lost where data is kept, and every refusal says what would be right.

use std::path::Path;
use std::time::Duration;

use takt_base::Stop;
use takt_graph::{Catalogue, ComponentSpec, Graph, Latency, Plan, Waveform};
use takt_runtime::{OpenError, Report, Session, SessionOptions};

use crate::waveform::registry;

fn spec(name: &str, kind: &str) -> ComponentSpec {
    ComponentSpec::new(name, kind)
}

fn file(name: &str, kind: &str, path: &Path) -> ComponentSpec {
    spec(name, kind).param("path", path.to_str().expect("text")).param("item", "byte").param("buffer", 4096)
}

fn waveform(components: [ComponentSpec; 2]) -> Waveform {
    let [from, to] = components;
    Waveform::new("files", Duration::from_millis(1)).with(from).with(to).chain(["a", "z"])
}

fn open(waveform: &Waveform, worker_of: [usize; 2], slots: u64) -> Result<Session, OpenError> {
    let graph = Graph::check(waveform, &registry()).unwrap_or_else(|error| panic!("{error}; {}", error.fix()));
    let plan = Plan::assign(&graph, &worker_of, Latency::Compact).expect("legal");
    Session::open(&graph, &plan, &registry(), SessionOptions { slots: Some(slots), ..SessionOptions::default() })
}

fn run(waveform: &Waveform, worker_of: [usize; 2], slots: u64) -> Report {
    open(waveform, worker_of, slots).unwrap_or_else(|error| panic!("{error:?}")).run(&Stop::new()).expect("starts")
}

#[test]
fn what_a_sink_wrote_a_source_reads_and_nothing_is_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("counted.bytes");
    // Far more than the buffer holds.
    let report = run(&waveform([spec("a", "counter"), file("z", "file-sink", &path)]), [0, 1], 500);
    let results = &report.components[1].results;
    for (name, count) in [("bytes", 500_000), ("dropped_packets", 0), ("missing_packets", 0)] {
        assert_eq!(results[name], count.into(), "{name}");
    }
    let written = std::fs::read(&path).expect("a file");
    assert!(written.iter().enumerate().all(|(n, &byte)| byte == n as u8) && written.len() == 500_000);
    let source = file("a", "file-source", &path).param("items", 999);
    let report = run(&waveform([source, spec("z", "counter-sink")]), [0, 1], 510);
    let (source, sink) = (&report.components[0].results, &report.components[1].results);
    assert_eq!((&source["bytes"], &source["starved_slots"]), (&500_000.into(), &0.into()));
    for name in ["wrong_bytes", "missing_packets", "gaps"] {
        assert_eq!(sink[name], 0.into(), "{name}");
    }
}

#[test]
fn at_its_end_a_file_is_short_or_zeros_or_begins_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    std::fs::write(&from, [1, 2, 3, 4, 5]).expect("written");
    let copied = |end: &str| {
        let source = file("a", "file-source", &from).param("items", 4).param("end", end);
        run(&waveform([source, file("z", "file-sink", &to)]), [0, 0], 3);
        std::fs::read(&to).expect("written")
    };
    assert_eq!(copied("short"), [1, 2, 3, 4, 5]);
    assert_eq!(copied("zeros"), [1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(copied("repeat"), [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2]);
}

#[test] // `takt map`, which tries a waveform, emptied the file
fn to_try_a_waveform_touches_no_file_that_it_writes() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kept");
    std::fs::write(&path, "kept").expect("written");
    let waveform = waveform([spec("a", "counter"), file("z", "file-sink", &path)]);
    let graph = Graph::check(&waveform, &registry()).expect("checked");
    let costs = takt_runtime::costs::known(&graph, &registry(), None).expect("tried");
    assert!(costs.components.contains_key("z"));
    assert_eq!(std::fs::read_to_string(&path).expect("read"), "kept");
}

/// In virtual time: the sender is held up in slots 5, 7 and 9 until a little into the next, when their packets are of no use.
#[test]
fn packets_that_are_missing_are_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let stall = spec("s", "stall").param("slot", 5).param("every", 2).param("time_us", 1200.0);
    let path = folder.path().join("x");
    let sink = spec("z", "file-sink").param("path", path.to_str().expect("text")).param("item", "i16");
    let components = [spec("a", "bit-source").param("items", 100), spec("m", "bpsk-modulate"), stall, sink];
    let waveform = components.into_iter().fold(Waveform::new("files", Duration::from_millis(1)), Waveform::with);
    let graph = Graph::check(&waveform.chain(["a", "m", "s", "z"]), &registry()).expect("checked");
    let plan = Plan::assign(&graph, &[0, 0, 0, 1], Latency::Compact).expect("legal");
    let options = SessionOptions { slots: Some(10), ..SessionOptions::default() };
    let report = Session::open(&graph, &plan, &registry(), options).expect("opened").simulate();
    let sink = report.components.last().expect("the sink");
    assert_eq!((sink.executions, sink.missing_packets), (10, 3), "{report:#?}");
    assert_eq!((&sink.results["missing_packets"], &sink.results["bytes"]), (&3.into(), &(7 * 200).into()));
}

#[test]
fn the_hash_of_a_recording_is_the_same_in_every_plan() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("recording");
    std::fs::write(&path, (0..100_000_u32).flat_map(|n| (n as f32).to_le_bytes()).collect::<Vec<u8>>())
        .expect("written");
    let hash = |worker_of| {
        let source = file("a", "file-source", &path).param("item", "f32").param("items", 333);
        run(&waveform([source, spec("z", "null-sink")]), worker_of, 400).output_hash.expect("requested")
    };
    assert_eq!(hash([0, 0]), hash([0, 1]));
    assert_eq!(hash([0, 1]), hash([1, 0]));
}

fn refused(waveform: &Waveform) -> (String, String) {
    match open(waveform, [0, 0], 1).err().expect("refused") {
        OpenError::Component { source, .. } => (source.what, source.fix),
        other => panic!("{other}"),
    }
}

#[test]
fn a_file_that_is_not_there_or_may_not_be_written_is_refused() {
    let missing = Path::new("/nowhere/at.all");
    let (what, fix) = refused(&waveform([file("a", "file-source", missing), spec("z", "counter-sink")]));
    assert_eq!(what, "file `/nowhere/at.all`: No such file or directory (os error 2)");
    assert_eq!(fix, "give a file that exists and that you may read");
    let folder = tempfile::tempdir().expect("a folder");
    let cut = folder.path().join("cut");
    std::fs::write(&cut, [0; 7]).expect("written");
    let source = spec("a", "file-source").param("path", cut.to_str().expect("text")).param("item", "f32");
    let (what, fix) = refused(&waveform([source, spec("z", "null-sink")]));
    assert_eq!(what, format!("file `{}`: 7 bytes are not a whole number of f32 (4 bytes each)", cut.display()));
    assert_eq!(fix, format!("use another item type, or cut the rest off: truncate -s 4 {}", cut.display()));
    let (what, fix) = refused(&waveform([spec("a", "counter"), file("z", "file-sink", missing)]));
    assert!(what.contains("/nowhere/at.all") && fix.contains("folder"), "{what}");
}

#[test]
fn a_packet_longer_than_the_buffer_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let sink = file("z", "file-sink", &folder.path().join("x"));
    let (what, _) = refused(&waveform([spec("a", "counter").param("items", 5000), sink]));
    assert_eq!(what, "a packet of 5000 bytes does not fit into a buffer of 4096: buffer = 5000");
}

#[test]
fn a_disk_that_is_full_loses_what_comes_and_says_so() {
    let sink = file("z", "file-sink", Path::new("/dev/full"));
    let report = run(&waveform([spec("a", "counter"), sink]), [0, 0], 100);
    let results = &report.components[1].results;
    assert_eq!(results["bytes"], 0.into());
    assert!(results["error"].to_string().contains("No space left"), "{results:?}");
    assert_eq!((report.misses, report.slots), (0, 100));
}

#[test]
fn every_item_can_be_filed() {
    let registry = registry();
    for name in ["file-source", "file-sink"] {
        let kind = registry.kind(name).expect("registered");
        for item in takt_graph::Item::ALL {
            let params = takt_graph::Params::new().with("path", "x").with("item", item.name());
            let shape = registry.shape(kind, &kind.resolve(&params).expect("good")).expect("good");
            let mut ports = shape.inputs.iter().map(|p| p.item).chain(shape.outputs.iter().map(|p| p.item));
            assert!(ports.all(|port| port == item));
        }
    }
}
