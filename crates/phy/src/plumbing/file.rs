//! Files as sources and sinks: items in little-endian native types, one after another. Disks are not real time, so the file
//! is read and written by a soft thread behind a queue; which of data and time gives way when that does not keep up is a
//! parameter.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::sync::{Arc, Mutex, PoisonError};

use takt_graph::{Domain, Item, Kind, Length, ParamError, ParamSpec, Params, Shape, Value};
use takt_runtime::soft::{Incoming, Outgoing, Policy, Producer, Soft, Step, incoming, outgoing};
use takt_runtime::{Component, Io, MakeError, Prepared, Registration};

/// Bytes read or written at once.
const CHUNK: usize = 1 << 16;

fn common(kind: Kind, path: ParamSpec, give_way: &str) -> Kind {
    let words = |words: &[&str]| Domain::Choice { of: words.iter().map(|&word| word.to_owned()).collect() };
    let items: Vec<&str> = Item::ALL.iter().map(|item| item.name()).collect();
    let bytes = Domain::Int { min: 4096, max: 1 << 32 };
    let room = ParamSpec::new("buffer", bytes, "Room between the disk and the slots.").unit("bytes").memory();
    kind.with_files()
        .param(path)
        .param(ParamSpec::new("item", words(&items), "Type of its items.").default("c32"))
        .param(ParamSpec::new("keep", words(&["data", "time"]), give_way).default("data"))
        .param(room.default(4 << 20))
}

fn path() -> ParamSpec {
    ParamSpec::new("path", Domain::Text, "The file.")
}

/// As [`item`], for when the component is made.
fn made_item(params: &Params) -> Result<Item, MakeError> {
    item(params).map_err(|error| MakeError { what: error.to_string(), fix: error.fix() })
}

fn item(params: &Params) -> Result<Item, ParamError> {
    let word = params.text("item").unwrap_or_default();
    word.parse().map_err(|_| ParamError::Together {
        what: format!("no item `{word}`"),
        fix: "use an item type such as c32".to_owned(),
    })
}

fn policy(params: &Params) -> Policy {
    if params.text("keep") == Some("time") { Policy::Drop } else { Policy::Hold }
}

fn buffer(params: &Params) -> usize {
    params.int("buffer").and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(4 << 20)
}

fn opened(params: &Params, open: impl FnOnce(&str) -> io::Result<File>, fix: &str) -> Result<File, MakeError> {
    let path = params.text("path").unwrap_or_default();
    open(path).map_err(|error| MakeError { what: format!("file `{path}`: {error}"), fix: fix.to_owned() })
}

/// Whether a file holds whole items. In a file that is read again and again, a part of an item would shift all that
/// follow.
fn is_whole(params: &Params, file: &File, item: Item) -> Result<(), MakeError> {
    let length = file.metadata().map_or(0, |about| about.len());
    let rest = length % item.bytes() as u64;
    if rest == 0 {
        return Ok(());
    }
    let path = params.text("path").unwrap_or_default();
    let what = format!(
        "file `{path}`: {length} bytes are not a whole number of {} ({} bytes each)",
        item.name(),
        item.bytes()
    );
    Err(MakeError {
        what,
        fix: format!("use another item type, or cut the rest off: truncate -s {} {path}", length - rest),
    })
}

fn thread(error: &io::Error) -> MakeError {
    MakeError {
        what: format!("can't start a thread: {error}"),
        fix: "raise the limit of threads (ulimit -u)".to_owned(),
    }
}

fn suits(packet_bytes: usize, buffer: usize) -> Result<(), String> {
    if packet_bytes <= buffer {
        return Ok(());
    }
    Err(format!("a packet of {packet_bytes} bytes does not fit into a buffer of {buffer}: buffer = {packet_bytes}"))
}

/// State of the soft thread.
#[derive(Clone, Default)]
struct State(Arc<Mutex<(u64, Option<String>)>>);

impl State {
    fn add(&self, bytes: usize) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0 += bytes as u64;
    }

    /// The first thing that went wrong stays.
    fn fail(&self, error: &io::Error) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1.get_or_insert(error.to_string());
    }

    /// Never in a slot.
    fn results(&self, lost: &[(&'static str, u64)]) -> Vec<(&'static str, Value)> {
        let (bytes, error) = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let count = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
        let mut results = vec![("bytes", count(bytes))];
        results.extend(lost.iter().map(|&(name, n)| (name, count(n))));
        results.extend(error.map(|error| ("error", error.into())));
        results
    }
}

struct FileSink {
    queue: Outgoing<u8>,
    buffer: usize,
    item: Item,
    missing: u64,
    state: State,
    soft: Soft,
}

impl FileSink {
    fn new(params: &Params) -> Result<FileSink, MakeError> {
        let item = made_item(params)?;
        let mut file = opened(params, |path| File::create(path), "a path in a folder that may be written")?;
        let buffer = buffer(params);
        let (queue, mut soft) = outgoing::<u8>(buffer, policy(params));
        let (state, mut chunk) = (State::default(), vec![0; CHUNK]);
        let shared = state.clone();
        let work = move || {
            let bytes = soft.pop_partial_slice(&mut chunk).0;
            if bytes.is_empty() {
                return Step::Idle;
            }
            match file.write_all(bytes) {
                Ok(()) => shared.add(bytes.len()),
                // Later bytes are still taken, so that nobody waits: they are lost, and the results say so.
                Err(error) => shared.fail(&error),
            }
            Step::Worked
        };
        let soft = Soft::spawn("file-sink", work).map_err(|error| thread(&error))?;
        Ok(FileSink { queue, buffer, item, missing: 0, state, soft })
    }
}

impl Component for FileSink {
    fn tick(&mut self, io: &mut Io<'_>) {
        self.missing += u64::from(io.inputs[0].is_missing());
        self.queue.give(io.inputs[0].bytes());
    }

    fn prepare(&mut self, ports: &Prepared<'_>) -> Result<(), String> {
        suits(ports.input_items.iter().sum::<usize>() * self.item.bytes(), self.buffer)
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        self.soft.settle();
        self.state.results(&[("dropped_packets", self.queue.dropped()), ("missing_packets", self.missing)])
    }
}

struct FileSource {
    queue: Incoming<u8>,
    buffer: usize,
    item: Item,
    zeros: bool,
    state: State,
    soft: Soft,
}

impl FileSource {
    fn new(params: &Params) -> Result<FileSource, MakeError> {
        let item = made_item(params)?;
        let file = opened(params, |path| File::open(path), "give a file that exists and that you may read")?;
        is_whole(params, &file, item)?;
        let buffer = buffer(params);
        let (queue, incoming) = incoming::<u8>(buffer, policy(params));
        let state = State::default();
        let end = params.text("end").unwrap_or_default();
        let (chunk, repeat) = (vec![0; CHUNK].into_boxed_slice(), end == "repeat");
        let mut reading = Reading { file, queue, chunk, from: 0, upto: 0, repeat, state: state.clone() };
        let soft = Soft::spawn("file-source", move || reading.step()).map_err(|error| thread(&error))?;
        Ok(FileSource { queue: incoming, buffer, item, zeros: end == "zeros", state, soft })
    }
}

impl Component for FileSource {
    fn tick(&mut self, io: &mut Io<'_>) {
        let output = &mut io.outputs[0];
        let bytes = output.bytes_mut();
        let taken = self.queue.take(bytes, self.item.bytes());
        if self.zeros {
            bytes.get_mut(taken..).unwrap_or_default().fill(0);
        } else {
            output.truncate(taken / self.item.bytes());
        }
    }

    /// The first packets are read before the first slot.
    fn prepare(&mut self, ports: &Prepared<'_>) -> Result<(), String> {
        suits(ports.output_items.iter().sum::<usize>() * self.item.bytes(), self.buffer)?;
        self.soft.settle();
        Ok(())
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        self.state.results(&[("starved_slots", self.queue.starved())])
    }
}

/// The soft end: a chunk at a time, as far as there is room.
struct Reading {
    file: File,
    queue: Producer<u8>,
    chunk: Box<[u8]>,
    from: usize,
    upto: usize,
    repeat: bool,
    state: State,
}

impl Reading {
    fn step(&mut self) -> Step {
        if self.queue.is_abandoned() {
            return Step::Done;
        }
        if self.from == self.upto {
            match self.read() {
                Ok(0) => return Step::Done,
                Ok(bytes) => (self.from, self.upto) = (0, bytes),
                Err(error) => {
                    self.state.fail(&error);
                    return Step::Done;
                }
            }
        }
        let given = self.queue.push_partial_slice(&self.chunk[self.from..self.upto]).0.len();
        self.from += given;
        self.state.add(given);
        if given == 0 { Step::Idle } else { Step::Worked }
    }

    fn read(&mut self) -> io::Result<usize> {
        let bytes = self.file.read(&mut self.chunk)?;
        if bytes > 0 || !self.repeat {
            return Ok(bytes);
        }
        self.file.rewind()?;
        self.file.read(&mut self.chunk)
    }
}

takt_runtime::inventory::submit! {
    Registration {
        kind: || common(
            Kind::new("file-sink", "Writes packets to a file, items in little-endian native types. One that is there begins anew."),
            path().in_trials("/dev/null"),
            "It keeps this when the disk is slow: the data, and slots may be late; or the time, and packets may be lost.",
        ),
        shape: |params| Ok(Shape::new().input("in", item(params)?)),
        make: |params| Ok(Box::new(FileSink::new(params)?)),
    }
}

takt_runtime::inventory::submit! {
    Registration {
        kind: || {
            let ends = ["short", "zeros", "repeat"].map(str::to_owned).to_vec();
            let items = Domain::Int { min: 1, max: 1 << 24 };
            common(
                Kind::new("file-source", "Reads packets from a file, items in little-endian native types."),
                path(),
                "It keeps this when the disk is slow: the data, and slots may be late; or the time, and packets may be short, or end with zeros.",
            )
            .param(ParamSpec::new("items", items, "Items a slot.").unit("items").default(1000))
            .param(
                ParamSpec::new("end", Domain::Choice { of: ends }, "At its end: a short packet and then none, zeros, or \
                    the file again.")
                .default("short"),
            )
        },
        shape: |params| {
            let items = params.int("items").and_then(|items| u32::try_from(items).ok()).unwrap_or(0);
            // Packets are of one length only if nothing cuts one short.
            let whole = params.text("end") == Some("zeros");
            let length = if whole { Length::Fixed(items) } else { Length::UpTo(items) };
            Ok(Shape::new().output("out", item(params)?, length))
        },
        make: |params| Ok(Box::new(FileSource::new(params)?)),
    }
}

#[cfg(test)]
mod tests {
    use takt_graph::Catalogue;
    use takt_runtime::Registry;

    use super::*;

    #[test]
    fn of_all_components_these_two_open_files_and_say_what_memory_they_take() {
        let registry = Registry::of_program().expect("one name each");
        let kinds: Vec<&Kind> = registry.kinds().into_iter().filter(|kind| kind.may_open_files()).collect();
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name.as_str()).collect();
        assert_eq!(names, ["file-sink", "file-source"]);
        let params = Params::new().with("buffer", 4096);
        assert!(kinds.iter().all(|kind| kind.files && kind.memory_bytes(&params) == 4096));
    }
}
