//! The C interface, version 1. It never changes; another one has another version.

use std::ffi::c_void;

use crate::component::{Message, Scalar};

/// First bytes of every table.
pub(crate) const MAGIC: [u8; 8] = *b"taktlib\0";
/// Version of what follows them.
pub(crate) const INTERFACE: u32 = 1;

/// What a call answers.
pub(crate) type Status = i32;
/// It did what it should.
pub(crate) const GOOD: Status = 0;
/// It refuses; the reply says why: `{"what": "..", "fix": ".."}`.
pub(crate) const REFUSED: Status = 1;
/// It panicked.
pub(crate) const PANICKED: Status = 2;

/// What every version begins with.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Preamble {
    pub(crate) magic: [u8; 8],
    pub(crate) interface: u32,
}

/// What a library offers. `object` is what `make` gave, until `drop`. Pointers are valid during the call; texts are UTF-8.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Table {
    pub(crate) magic: [u8; 8],
    pub(crate) interface: u32,
    /// Bytes of this table.
    pub(crate) bytes: u32,
    /// How many component types there are; `kind` below is an index among them.
    pub(crate) count: unsafe extern "C" fn() -> usize,
    /// Replies the type as documented.
    pub(crate) kind: unsafe extern "C" fn(kind: usize, reply: Reply) -> Status,
    /// Replies the ports for complete, checked parameters.
    pub(crate) shape: unsafe extern "C" fn(kind: usize, params: Text, reply: Reply) -> Status,
    /// Makes a component, which may be used by any thread, one at a time.
    pub(crate) make: unsafe extern "C" fn(kind: usize, params: Text, object: *mut *mut c_void, reply: Reply) -> Status,
    /// Tells it of its packets: `{"input_items": [], "output_items": [], "slot_ns": 0}`.
    pub(crate) prepare: unsafe extern "C" fn(object: *mut c_void, prepared: Text, reply: Reply) -> Status,
    /// Executes one slot.
    pub(crate) tick: unsafe extern "C" fn(object: *mut c_void, slot: *mut Slot) -> Status,
    pub(crate) set: unsafe extern "C" fn(object: *mut c_void, param: usize, word: Word) -> Status,
    pub(crate) get: unsafe extern "C" fn(object: *mut c_void, param: usize, word: *mut Word) -> Status,
    pub(crate) message: unsafe extern "C" fn(object: *mut c_void, message: *const Message) -> Status,
    pub(crate) degrade: unsafe extern "C" fn(object: *mut c_void) -> Status,
    /// Replies what it found out, an object.
    pub(crate) results: unsafe extern "C" fn(object: *mut c_void, reply: Reply) -> Status,
    pub(crate) drop: unsafe extern "C" fn(object: *mut c_void) -> Status,
}

/// UTF-8.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Text {
    pub(crate) start: *const u8,
    pub(crate) bytes: usize,
}

/// Where a reply goes: `put(to, start, bytes)`, at most once.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Reply {
    pub(crate) to: *mut c_void,
    pub(crate) put: unsafe extern "C" fn(to: *mut c_void, start: *const u8, bytes: usize),
}

/// One slot.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Slot {
    pub(crate) slot: u64,
    /// One for each input of the shape.
    pub(crate) inputs: *const Packet,
    /// One for each output of the shape; `items` is what may be given, and what was given afterwards.
    pub(crate) outputs: *mut Packet,
    /// Room for messages, and how many were sent.
    pub(crate) messages: *mut Message,
    pub(crate) message_room: usize,
    pub(crate) messages_sent: usize,
}

/// A packet: `items` items behind `history` items of earlier ones, contiguous, aligned to 128 bytes at the first item.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Packet {
    /// The first item of the history.
    pub(crate) start: *mut u8,
    /// Bytes of history and packet.
    pub(crate) bytes: usize,
    pub(crate) items: usize,
    /// Sample index.
    pub(crate) first_item: u64,
    /// 1: there should be a packet, and there is none.
    pub(crate) missing: u64,
}

/// A variable's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Word {
    /// 0: none, 1: bool, 2: int, 3: float.
    pub(crate) kind: u64,
    pub(crate) bits: u64,
}

impl Word {
    pub(crate) const NONE: Word = Word { kind: 0, bits: 0 };

    pub(crate) fn of(value: Option<Scalar>) -> Word {
        match value {
            None => Word::NONE,
            Some(Scalar::Bool(yes)) => Word { kind: 1, bits: yes.into() },
            Some(Scalar::Int(n)) => Word { kind: 2, bits: n as u64 },
            Some(Scalar::Float(x)) => Word { kind: 3, bits: x.to_bits() },
        }
    }

    pub(crate) fn scalar(self) -> Option<Scalar> {
        match self.kind {
            1 => Some(Scalar::Bool(self.bits != 0)),
            2 => Some(Scalar::Int(self.bits as i64)),
            3 => Some(Scalar::Float(f64::from_bits(self.bits))),
            _ => None,
        }
    }
}
