//! A process and its readers, over a real socket: what each gets, and what a hostile one does not.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use takt_host::sockets::SocketFolder;
use takt_host::trusted::{Trust, TrustedDir};
use takt_live::limits::READERS;
use takt_live::{
    Hello, Kind, Line, LiveError, Publisher, SetAnswer, SetVariable, Snapshot, Source, Variable, VariableValue, Watch,
    hello, running_in,
};
use takt_testing::wait_for;

struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn folder(&self) -> SocketFolder {
        SocketFolder::of(TrustedDir::open(self.0.path(), Trust::Own).unwrap())
    }

    fn publish(&self, source: impl Source) -> Publisher {
        Publisher::start_in(self.folder(), hello(Kind::Rate, "N200 at 127.0.0.1", "takt rate --rx 25M"), source)
            .unwrap()
    }

    fn watch(&self) -> Result<Watch, LiveError> {
        let all = running_in(&self.folder()).unwrap();
        Watch::open_in(&self.folder(), &all[0], 16)
    }

    fn raw(&self) -> UnixStream {
        let name = self.folder().names().unwrap().remove(0);
        self.folder().connect(&name).unwrap()
    }
}

fn snapshot(watch: &mut Watch) -> Snapshot {
    match watch.lines.next_line().unwrap() {
        Some(Line::Snapshot(snapshot)) => *snapshot,
        other => panic!("{other:?}"),
    }
}

/// Lines of a connection until it is closed.
fn rest(stream: UnixStream) -> Vec<String> {
    BufReader::new(stream).lines().map_while(Result::ok).collect()
}

#[test]
fn a_reader_gets_who_it_is_then_snapshots_then_the_end() {
    let place = Place::new();
    let counter = Arc::new(AtomicU64::new(0));
    let counts = Arc::clone(&counter);
    let publisher =
        place.publish(move || Snapshot { left_out: counts.fetch_add(1, Ordering::Relaxed), ..Snapshot::default() });
    assert_eq!(counter.load(Ordering::Relaxed), 0, "nobody looks, nobody counts");
    let mut watch = place.watch().unwrap();
    let Hello { pid, kind, title, command, .. } = &watch.hello;
    assert_eq!((*pid, *kind), (std::process::id(), Kind::Rate));
    assert_eq!((title.as_str(), command.as_str()), ("N200 at 127.0.0.1", "takt rate --rx 25M"));
    let (first, second) = (snapshot(&mut watch), snapshot(&mut watch));
    assert!(second.t_ns > first.t_ns && second.left_out > first.left_out, "{first:?} {second:?}");
    drop(publisher);
    let last = wait_for("the end", || match watch.lines.next_line().unwrap() {
        Some(Line::Snapshot(_)) => None,
        last => Some(last),
    });
    assert!(matches!(last, Some(Line::End(end)) if end.why == "the process has ended"));
    assert_eq!(watch.lines.next_line().unwrap(), None);
    assert!(running_in(&place.folder()).unwrap().is_empty(), "its socket has gone");
}

struct Gain(Arc<Mutex<f64>>);

impl Source for Gain {
    fn snapshot(&mut self) -> Snapshot {
        let variable = Variable {
            name: "rx.gain_db".into(),
            value: Some(VariableValue::Float(*self.0.lock().unwrap())),
            unit: Some("dB".into()),
            range: Some([0.0, 38.0]),
            expected: None,
            settable: true,
        };
        Snapshot { variables: vec![variable], ..Snapshot::default() }
    }

    fn set(&mut self, variable: &SetVariable) -> Result<(), String> {
        let VariableValue::Float(gain) = variable.value else { return Err("expected: a number".into()) };
        *self.0.lock().unwrap() = gain;
        Ok(())
    }
}

#[test]
fn a_variable_is_set_or_refused_and_the_reader_hears_which() {
    let place = Place::new();
    let gain = Arc::new(Mutex::new(3.5));
    let _publisher = place.publish(Gain(Arc::clone(&gain)));
    let mut watch = place.watch().unwrap();
    let mut set = |name: &str, value| -> SetAnswer {
        watch.asker.set(SetVariable { name: name.into(), value }).unwrap();
        wait_for("the answer", || match watch.lines.next_line().unwrap() {
            Some(Line::Set(answer)) => Some(answer),
            _ => None,
        })
    };
    assert_eq!(set("rx.gain_db", VariableValue::Float(20.5)).refused, None);
    assert_eq!(*gain.lock().unwrap(), 20.5);
    assert!(set("rx.gain_db", VariableValue::Float(40.0)).refused.unwrap().contains("expected: 0 to 38"));
    assert_eq!(set("rx.gain_db", VariableValue::Text("full".into())).refused.unwrap(), "expected: a number");
    assert_eq!(set("tx.gain_db", VariableValue::Float(1.0)).refused.unwrap(), "there is no variable tx.gain_db");
    assert_eq!(*gain.lock().unwrap(), 20.5);
}

#[test]
fn one_reader_too_many_is_told_so_and_takes_no_place() {
    let place = Place::new();
    let _publisher = place.publish(Snapshot::default);
    let mut readers: Vec<Watch> = (0..READERS).map(|_| place.watch().unwrap()).collect();
    // Its hello comes first, and the reason behind it.
    let mut late = place.raw();
    let _ = late.write_all(b"{\"every_ms\":50}\n");
    let last = rest(late).pop().unwrap();
    assert_eq!(last, r#"{"end":{"why":"16 readers watch already"}}"#);
    readers.iter_mut().for_each(|watch| drop(snapshot(watch)));
    readers.pop();
    wait_for("a place that is free again", || {
        let mut watch = place.watch().ok()?;
        matches!(watch.lines.next_line(), Ok(Some(Line::Snapshot(_)))).then_some(())
    });
}

#[test]
fn a_hostile_reader_ends_only_its_own_connection() {
    let place = Place::new();
    let _publisher = place.publish(Snapshot::default);
    let mut good = place.watch().unwrap();
    for bad in
        [&b"\n"[..], b"{\"every_ms\":0}\n", b"{\"every_ms\":1e9}\n", b"{\"drop\":1}\n", &[b'x'; 5000], &[0xff; 100_000]]
    {
        let mut reader = place.raw();
        // It may be dropped before all of it is written.
        let _ = reader.write_all(bad);
        let _ = reader.shutdown(std::net::Shutdown::Write);
        let said = rest(reader);
        assert!(said.iter().all(|line| !line.contains("snapshot")), "{said:?}");
    }
    snapshot(&mut good);
    let mut silent = place.raw();
    silent.write_all(b"{\"every_ms\":16}").unwrap();
    drop(silent);
    snapshot(&mut good);
}

#[test]
fn a_reader_that_does_not_read_is_dropped_and_nobody_waits_for_it() {
    let place = Place::new();
    let component = takt_live::Component { name: "c".repeat(200), ..takt_live::Component::default() };
    let large = move || Snapshot { components: vec![component.clone(); 500], ..Snapshot::default() };
    let _publisher = place.publish(large);
    let mut lazy = place.raw();
    lazy.write_all(b"{\"every_ms\":16}\n").unwrap();
    let mut good = place.watch().unwrap();
    // It is dropped while the other reads on; what it had got until then is still there, and then the end.
    wait_for("the lazy one to be dropped", || {
        // Seldom enough that it is not dropped for its requests.
        (0..20).for_each(|_| drop(snapshot(&mut good)));
        lazy.write_all(b"{\"every_ms\":16}\n").is_err().then_some(())
    });
}

#[test]
fn a_publisher_without_readers_ends_at_once_and_another_may_follow() {
    let place = Place::new();
    for _ in 0..3 {
        drop(place.publish(Snapshot::default));
    }
    let _publisher = place.publish(Snapshot::default);
    let again = Publisher::start_in(place.folder(), hello(Kind::Rate, "", ""), Snapshot::default);
    assert!(matches!(again, Err(LiveError::Place(_))), "{again:?}");
    let other = Publisher::start_in(place.folder(), hello(Kind::Emulate, "", ""), Snapshot::default).unwrap();
    assert_eq!(running_in(&place.folder()).unwrap().len(), 2);
    drop(other);
}
