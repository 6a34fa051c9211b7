//! The C interface, version 3. It never changes; another one has another version. The version is also that of the JSON in
//! which types, ports, parameters and results cross: the test below keeps its form.
//!
//! - 3: an output's packet says whether it is lost where it is empty.
//! - 2: as 3, without it; a tick may answer [`LOST`].
//! - 1: as 2, without it.

use std::ffi::c_void;

use serde::{Deserialize, Serialize};

use crate::component::{Message, Scalar};

/// First bytes of every table.
pub(crate) const MAGIC: [u8; 8] = *b"taktlib\0";
/// Version of what follows them.
pub(crate) const INTERFACE: u32 = 3;

/// What a call answers.
pub(crate) type Status = i32;
pub(crate) const GOOD: Status = 0;
/// It refuses; the reply says why: `{"what": "..", "fix": ".."}`.
pub(crate) const REFUSED: Status = 1;
pub(crate) const PANICKED: Status = 2;
/// Of a tick: what the slot was to bring from outside was lost there.
pub(crate) const LOST: Status = 3;

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
    /// Gives it the sizes of its [`Packets`].
    pub(crate) prepare: unsafe extern "C" fn(object: *mut c_void, prepared: Text, reply: Reply) -> Status,
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
    /// One for each output of the shape; `items` is what may be given, and what was given afterwards. More than may be
    /// given is for the program to refuse: the memory holds no more.
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
    pub(crate) first_item: u64,
    /// Of an input, 1: there should be a packet, and there is none. Of an output, 1: where it gives no item, the packet is
    /// lost. The program says so where an input is lost, and the component may say otherwise.
    pub(crate) missing: u64,
}

/// What `prepare` is given, as JSON.
#[derive(Serialize, Deserialize)]
pub(crate) struct Packets {
    pub(crate) input_items: Vec<usize>,
    pub(crate) output_items: Vec<usize>,
    pub(crate) slot_ns: u64,
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

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde_json::json;
    use takt_graph::{Accepts, Domain, Item, Kind, Length, ParamSpec, Params, Shape, Value};

    /// Programs and libraries of one version read each other's JSON. A change of what stands here gives the
    /// interface another version.
    fn is_of_version_3(value: &impl Serialize, form: &serde_json::Value) {
        assert_eq!(super::INTERFACE, 3, "the form below is that of version 3");
        assert_eq!(&serde_json::to_value(value).expect("JSON"), form);
    }

    #[test]
    fn types_cross_in_the_form_of_this_version() {
        let param = |name: &str, domain| ParamSpec::new(name, domain, "What.");
        let choice = Domain::Choice { of: vec!["x".to_owned(), "y".to_owned()] };
        let kind = Kind::new("mine", "Does it.")
            .param(param("a", Domain::Bool).default(true))
            .param(param("b", Domain::Int { min: -1, max: 7 }).unit("dB").default(3_i64).variable())
            .param(param("c", Domain::Float { min: 0.5, max: 2.0 }))
            .param(param("d", choice).default("x"))
            .param(param("e", Domain::Text))
            .param(param("f", Domain::Floats { max_len: 9 }));
        let param = |name: &str, domain: &str| json!({ "name": name, "doc": "What.", "unit": "", "domain": domain, "default": null, "variable": false });
        let with = |mut param: serde_json::Value, more: serde_json::Value| {
            let more = more.as_object().expect("an object").clone();
            param.as_object_mut().expect("an object").extend(more);
            param
        };
        let form = json!({
            "name": "mine",
            "summary": "Does it.",
            "stateless": false,
            "params": [
                with(param("a", "bool"), json!({ "default": true })),
                with(param("b", "int"), json!({ "min": -1, "max": 7, "unit": "dB", "default": 3, "variable": true })),
                with(param("c", "float"), json!({ "min": 0.5, "max": 2.0 })),
                with(param("d", "choice"), json!({ "of": ["x", "y"], "default": "x" })),
                param("e", "text"),
                with(param("f", "floats"), json!({ "max_len": 9 })),
            ],
        });
        is_of_version_3(&kind, &form);
    }

    #[test]
    fn ports_and_values_cross_in_the_form_of_this_version() {
        let ratio = Accepts::Ratio { num: 1, den: 2, of: 0 };
        let shape = Shape::new()
            .input_of("a", Item::Bit, Accepts::Any, 0)
            .input_of("b", Item::Byte, Accepts::Exactly(4), 2)
            .input_of("c", Item::I16, Accepts::MultipleOf(3), 0)
            .input_of("d", Item::C16, ratio, 0)
            .output("e", Item::F32, Length::Fixed(4))
            .output("f", Item::C32, Length::UpTo(5))
            .output("g", Item::Llr, Length::Ratio { num: 2, den: 1, of: 1 });
        let input = |name: &str, item: &str, accepts: serde_json::Value, history: u32| json!({ "name": name, "item": item, "accepts": accepts, "history": history });
        let output = |name: &str, item: &str, length: serde_json::Value| json!({ "name": name, "item": item, "length": length, "in_place": null });
        let form = json!({
            "inputs": [
                input("a", "bit", json!("any"), 0),
                input("b", "byte", json!({ "exactly": 4 }), 2),
                input("c", "i16", json!({ "multiple_of": 3 }), 0),
                input("d", "c16", json!({ "ratio": { "num": 1, "den": 2, "of": 0 } }), 0),
            ],
            "outputs": [
                output("e", "f32", json!({ "fixed": 4 })),
                output("f", "c32", json!({ "up_to": 5 })),
                output("g", "llr", json!({ "ratio": { "num": 2, "den": 1, "of": 1 } })),
            ],
        });
        is_of_version_3(&shape, &form);
        let taps = Value::Floats(vec![0.5, 1.0]);
        let params = Params::new().with("yes", true).with("n", -3).with("x", 0.25).with("word", "a").with("taps", taps);
        is_of_version_3(&params, &json!({ "yes": true, "n": -3, "x": 0.25, "word": "a", "taps": [0.5, 1.0] }));
    }
}
