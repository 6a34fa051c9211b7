//! The program's side: a library becomes component types, and what they make components.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::Arc;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use serde::de::DeserializeOwned;
use takt_graph::{Kind, ParamError, Params, Shape, Value};

use super::abi::{
    GOOD, INTERFACE, LOST, MAGIC, Packet, Packets, Preamble, REFUSED, Reply, Slot, Status, Table, Text, Word,
};
use crate::component::{Component, Io, MakeError, Message, Prepared, Scalar, names};

/// Why a library was not loaded. Nothing of it is there then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say it")]
pub enum LibraryError {
    /// There is no such file, or it can't be read.
    #[error("library {}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("{} can't be loaded as a shared library", path.display())]
    Open { path: PathBuf, source: libloading::Error },
    #[error("{} has no symbol `takt_library`", path.display())]
    Symbol { path: PathBuf },
    #[error("`takt_library` of {} is no table of components", path.display())]
    Magic { path: PathBuf },
    #[error("{} speaks version {has} of the library interface, and this program version {wanted}", path.display())]
    Interface { path: PathBuf, has: u32, wanted: u32 },
    #[error("component type {index} of {} is not described", path.display())]
    Kind {
        path: PathBuf,
        /// Of how many the library says it has, from 0.
        index: usize,
    },
    #[error("component type `{name}` of {} is there already", path.display())]
    NameTaken { path: PathBuf, name: String },
}

impl LibraryError {
    /// What would be right.
    #[must_use]
    pub fn fix(&self) -> String {
        let fix = match self {
            LibraryError::File { .. } => "the path of a library, such as target/release/libmine.so",
            LibraryError::Open { .. } => {
                return format!("a cdylib built for {}: [lib] crate-type = [\"cdylib\"]", std::env::consts::ARCH);
            }
            LibraryError::Symbol { .. } => "takt_runtime::export!(); in the library's lib.rs",
            LibraryError::Magic { .. } | LibraryError::Kind { .. } => "build the library with takt_runtime::export!();",
            LibraryError::Interface { has, wanted, .. } if has < wanted => {
                "build the library again, with this program's version of takt-runtime"
            }
            LibraryError::Interface { .. } => "a newer takt, or build the library with an older takt-runtime",
            LibraryError::NameTaken { .. } => {
                "give it another name: #[component(name = \"..\")]; or load one library of the two"
            }
        };
        fix.to_owned()
    }
}

#[derive(Clone)]
pub(crate) struct LibraryKind {
    table: &'static Table,
    index: usize,
    pub(crate) path: Arc<Path>,
}

/// Loads a library, for good. Answers its component types.
pub(crate) fn open(path: &Path) -> Result<Vec<(Kind, LibraryKind)>, LibraryError> {
    let file = |source| LibraryError::File { path: path.to_owned(), source };
    // The whole path: a bare name would be looked for in the system's directories.
    let whole: Arc<Path> = path.canonicalize().map_err(file)?.into();
    std::fs::File::open(&whole).map_err(file)?;
    let path = || whole.to_path_buf();
    // All symbols are bound now: none is looked for in a slot.
    // SAFETY: this runs the library's initialisers in this process. Its user asked for that: the contract of `load`.
    let library = unsafe { Library::open(Some(&*whole), RTLD_NOW | RTLD_LOCAL) };
    let library = library.map_err(|source| LibraryError::Open { path: path(), source })?;
    // SAFETY: the address of a symbol, of whatever type it is.
    let symbol = unsafe { library.get::<*const c_void>(b"takt_library\0") };
    let address = symbol.map_err(|_| LibraryError::Symbol { path: path() })?.into_raw();
    if address.is_null() || !address.cast::<Table>().is_aligned() {
        return Err(LibraryError::Magic { path: path() });
    }
    // SAFETY: an aligned address in a loaded library. A library that has this symbol has put a table there, of which all
    // versions have this beginning; that is what the name means.
    let preamble = unsafe { *address.cast::<Preamble>() };
    if preamble.magic != MAGIC {
        return Err(LibraryError::Magic { path: path() });
    }
    if preamble.interface != INTERFACE {
        return Err(LibraryError::Interface { path: path(), has: preamble.interface, wanted: INTERFACE });
    }
    // SAFETY: a table of this version, in memory that stays: the library is never closed.
    let table: &'static Table = unsafe { &*address.cast::<Table>() };
    std::mem::forget(library);
    kinds(table, &whole)
}

fn kinds(table: &'static Table, path: &Arc<Path>) -> Result<Vec<(Kind, LibraryKind)>, LibraryError> {
    // SAFETY: takes nothing.
    let count = unsafe { (table.count)() };
    let kind = |index| {
        // SAFETY: a reply of ours.
        let (_, reply) = replied(|reply| unsafe { (table.kind)(index, reply) });
        let undescribed = |_| LibraryError::Kind { path: path.to_path_buf(), index };
        let kind: Kind = serde_json::from_slice(&reply).map_err(undescribed)?;
        Ok((kind, LibraryKind { table, index, path: Arc::clone(path) }))
    };
    // A library that claims more than any has is not believed.
    (0..count.min(takt_graph::limits::COMPONENTS)).map(kind).collect()
}

fn refusal(reply: &[u8]) -> MakeError {
    MakeError::read(reply, "the library's component panicked, or does not say why it refuses")
}

/// Calls with a place for a reply. Without one it is empty, which is no JSON.
fn replied(call: impl FnOnce(Reply) -> Status) -> (Status, Vec<u8>) {
    unsafe extern "C" fn put(to: *mut c_void, start: *const u8, bytes: usize) {
        // SAFETY: `to` is the place below, alive and nobody else's during the call; the library's text is readable.
        unsafe { *to.cast::<Vec<u8>>() = std::slice::from_raw_parts(start, bytes).to_vec() };
    }
    let mut place: Vec<u8> = Vec::new();
    let status = call(Reply { to: (&raw mut place).cast(), put });
    (status, place)
}

/// The value that a call replies, or why it refuses.
fn value_of<T: DeserializeOwned>(call: impl FnOnce(Reply) -> Status) -> Result<T, MakeError> {
    let (status, reply) = replied(call);
    let value = (status == GOOD).then(|| serde_json::from_slice(&reply).ok()).flatten();
    value.ok_or_else(|| refusal(&reply))
}

fn text(json: &[u8]) -> Text {
    Text { start: json.as_ptr(), bytes: json.len() }
}

fn json(value: &impl serde::Serialize) -> Vec<u8> {
    // Maps of text to plain values: nothing that JSON can't say.
    serde_json::to_vec(value).unwrap_or_default()
}

impl LibraryKind {
    #[cfg(test)]
    pub(crate) fn of_program(index: usize) -> LibraryKind {
        static OWN: Table = super::TABLE;
        LibraryKind { table: &OWN, index, path: Path::new("").into() }
    }

    pub(crate) fn shape(&self, params: &Params) -> Result<Shape, ParamError> {
        let params = json(params);
        // SAFETY: a text and a reply of ours.
        let shape = value_of(|reply| unsafe { (self.table.shape)(self.index, text(&params), reply) });
        shape.map_err(|MakeError { what, fix }| ParamError::Together { what, fix })
    }

    pub(crate) fn make(&self, params: &Params) -> Result<Box<dyn Component>, MakeError> {
        let written = json(params);
        let mut object = std::ptr::null_mut();
        // SAFETY: a text, a place and a reply of ours.
        let (status, reply) =
            replied(|reply| unsafe { (self.table.make)(self.index, text(&written), &raw mut object, reply) });
        let object = NonNull::new(object).filter(|_| status == GOOD).ok_or_else(|| refusal(&reply))?;
        let shape = self.shape(params).map_err(|error| MakeError { what: error.to_string(), fix: error.fix() })?;
        let none = Packet { start: std::ptr::dangling_mut(), bytes: 0, items: 0, first_item: 0, missing: 0 };
        Ok(Box::new(Loaded {
            table: self.table,
            object,
            inputs: vec![none; shape.inputs.len()].into_boxed_slice(),
            outputs: vec![none; shape.outputs.len()].into_boxed_slice(),
        }))
    }
}

struct Loaded {
    table: &'static Table,
    object: NonNull<c_void>,
    inputs: Box<[Packet]>,
    outputs: Box<[Packet]>,
}

// SAFETY: the interface has it that an object may be used by any thread, one at a time; components are `Send`. What the
// packets point at is used within `tick` only.
unsafe impl Send for Loaded {}

impl Loaded {
    /// A library's panic is the component's.
    fn check(status: Status) {
        if status != GOOD {
            // Without the hook's message: the library's own has printed one already.
            std::panic::resume_unwind(Box::new(()));
        }
    }
}

impl Component for Loaded {
    fn tick(&mut self, io: &mut Io<'_>) {
        for (packet, port) in self.inputs.iter_mut().zip(io.inputs.iter()) {
            let (bytes, header) = (port.bytes_with_history(), port.header);
            *packet = Packet {
                // Never written: the library's inputs are read only.
                start: bytes.as_ptr().cast_mut(),
                bytes: bytes.len(),
                items: header.items,
                first_item: header.first_item,
                missing: header.missing.into(),
            };
        }
        for (packet, port) in self.outputs.iter_mut().zip(io.outputs.iter_mut()) {
            let (items, first_item) = (port.items(), port.first_item);
            let bytes = port.bytes_mut();
            let (start, bytes) = (bytes.as_mut_ptr(), bytes.len());
            *packet = Packet { start, bytes, items, first_item, missing: port.lost.into() };
        }
        let mut slot = Slot {
            slot: io.slot,
            inputs: self.inputs.as_ptr(),
            outputs: self.outputs.as_mut_ptr(),
            messages: io.outbox.room.as_mut_ptr(),
            message_room: io.outbox.room.len(),
            messages_sent: 0,
        };
        // SAFETY: an object of `make`; a packet for each port of its shape, over memory that `io` borrows during this call.
        let status = unsafe { (self.table.tick)(self.object.as_ptr(), &raw mut slot) };
        io.outbox.sent = slot.messages_sent.min(io.outbox.room.len());
        for (packet, port) in self.outputs.iter().zip(io.outputs.iter_mut()) {
            port.truncate(packet.items);
            port.lost = packet.missing != 0;
        }
        if status == LOST {
            return io.lose();
        }
        Loaded::check(status);
    }

    fn prepare(&mut self, ports: &Prepared<'_>) -> Result<(), String> {
        let &Prepared { input_items, output_items, slot_ns, .. } = ports;
        let prepared = json(&Packets { input_items: input_items.into(), output_items: output_items.into(), slot_ns });
        // SAFETY: an object of `make`, a text and a reply of ours.
        match replied(|reply| unsafe { (self.table.prepare)(self.object.as_ptr(), text(&prepared), reply) }) {
            (GOOD, _) => Ok(()),
            (REFUSED, reply) => Err(refusal(&reply).what),
            _ => Err("the library's component panicked".to_owned()),
        }
    }

    fn set(&mut self, param: usize, value: Scalar) {
        // SAFETY: an object of `make`.
        unsafe { (self.table.set)(self.object.as_ptr(), param, Word::of(Some(value))) };
    }

    fn get(&self, param: usize) -> Option<Scalar> {
        let mut word = Word::NONE;
        // SAFETY: an object of `make`, which is not `Sync`, so that nobody else uses it; a place of ours.
        unsafe { (self.table.get)(self.object.as_ptr(), param, &raw mut word) };
        word.scalar()
    }

    fn message(&mut self, message: &Message) {
        // SAFETY: an object of `make`, a message of ours.
        Loaded::check(unsafe { (self.table.message)(self.object.as_ptr(), message) });
    }

    fn degrade(&mut self) {
        // SAFETY: an object of `make`.
        Loaded::check(unsafe { (self.table.degrade)(self.object.as_ptr()) });
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        // SAFETY: as in `get`; a reply of ours.
        let results = value_of(|reply| unsafe { (self.table.results)(self.object.as_ptr(), reply) });
        names::keep(results.unwrap_or_default())
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: an object of `make`, given up here and used by nobody else.
        unsafe { (self.table.drop)(self.object.as_ptr()) };
    }
}
