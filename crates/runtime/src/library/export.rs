//! The library's side: the functions of the [`Table`], over the components that are linked into it.
//!
//! Every function is called as [`abi`](super::abi) says; what it was given is turned into Rust types first thing, and no
//! panic leaves it.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::Deserialize;
use takt_graph::{ParamError, Shape};

use super::Registration;
use super::abi::{
    GOOD, INTERFACE, LOST, MAGIC, PANICKED, Packet, Packets, REFUSED, Reply, Slot, Status, Table, Text, Word,
};
use crate::component::{Component, Io, MakeError, Message, Outbox, Prepared};
use crate::port::{Granted, Header, InPort, Lent, OutPort};
use crate::slot::Timer;

/// What this library offers.
pub const TABLE: Table = Table {
    magic: MAGIC,
    interface: INTERFACE,
    bytes: size_of::<Table>() as u32,
    count,
    kind,
    shape,
    make,
    prepare,
    tick,
    set,
    get,
    message,
    degrade,
    results,
    drop,
};

/// A component with ports whose packets are lent.
struct Object {
    component: Box<dyn Component>,
    shape: Shape,
    inputs: Box<[InPort]>,
    outputs: Box<[OutPort]>,
    timer: Timer,
}

/// A panic becomes a status.
fn guarded(work: impl FnOnce() -> Status) -> Status {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        // What it carried may panic as well when it goes; what that carried is left.
        catch_unwind(AssertUnwindSafe(|| std::mem::drop(payload))).unwrap_or_else(std::mem::forget);
        PANICKED
    })
}

fn registration(kind: usize) -> Option<&'static Registration> {
    inventory::iter::<Registration>.into_iter().nth(kind)
}

/// Replies a value as JSON.
///
/// # Safety
/// `reply` is as the caller of the table's function gave it.
unsafe fn put(reply: Reply, value: &impl serde::Serialize) -> Status {
    let Ok(text) = serde_json::to_vec(value) else { return PANICKED };
    // SAFETY: the caller's function with the caller's argument, once, during the call.
    unsafe { (reply.put)(reply.to, text.as_ptr(), text.len()) };
    GOOD
}

/// # Safety
/// As [`put`].
unsafe fn refuse(reply: Reply, why: &MakeError) -> Status {
    // SAFETY: passed on.
    match unsafe { put(reply, why) } {
        GOOD => REFUSED,
        other => other,
    }
}

/// # Safety
/// `text` is readable during the call.
unsafe fn read<'a, T: Deserialize<'a>>(text: Text) -> Option<T> {
    // SAFETY: the caller's text, readable during the call, which outlives the borrow.
    let bytes = unsafe { std::slice::from_raw_parts(text.start, text.bytes) };
    serde_json::from_slice(bytes).ok()
}

fn refused(error: &ParamError) -> MakeError {
    MakeError { what: error.to_string(), fix: error.fix() }
}

unsafe extern "C" fn count() -> usize {
    inventory::iter::<Registration>.into_iter().count()
}

unsafe extern "C" fn kind(kind: usize, reply: Reply) -> Status {
    guarded(|| match registration(kind) {
        // SAFETY: the caller's reply.
        Some(registration) => unsafe { put(reply, &(registration.kind)()) },
        None => REFUSED,
    })
}

unsafe extern "C" fn shape(kind: usize, params: Text, reply: Reply) -> Status {
    guarded(|| {
        // SAFETY: the caller's text.
        let (Some(registration), Some(params)) = (registration(kind), unsafe { read(params) }) else { return PANICKED };
        match (registration.shape)(&params) {
            // SAFETY: the caller's reply.
            Ok(shape) => unsafe { put(reply, &shape) },
            // SAFETY: the caller's reply.
            Err(error) => unsafe { refuse(reply, &refused(&error)) },
        }
    })
}

unsafe extern "C" fn make(kind: usize, params: Text, object: *mut *mut c_void, reply: Reply) -> Status {
    guarded(|| {
        // SAFETY: the caller's text.
        let (Some(registration), Some(params)) = (registration(kind), unsafe { read(params) }) else { return PANICKED };
        let made = (registration.make)(&params).and_then(|component| {
            let shape = (registration.shape)(&params).map_err(|error| refused(&error))?;
            Ok((component, shape))
        });
        let (component, shape) = match made {
            Ok(made) => made,
            // SAFETY: the caller's reply.
            Err(why) => return unsafe { refuse(reply, &why) },
        };
        let inputs = shape.inputs.iter().map(|input| InPort::of_lent(input.item, input.history as usize)).collect();
        let outputs = shape.outputs.iter().map(|output| OutPort::of_lent(output.item)).collect();
        let timer = Timer::of_processor();
        let made = Box::new(Object { component, shape, inputs, outputs, timer });
        // SAFETY: the caller's place for one pointer.
        unsafe { *object = Box::into_raw(made).cast() };
        GOOD
    })
}

/// Calls a component.
///
/// # Safety
/// `object` is of [`make`], not dropped yet, and nobody else uses it now.
unsafe fn with(object: *mut c_void, work: impl FnOnce(&mut Object) -> Status) -> Status {
    // SAFETY: as the caller promises; the borrow ends with this call.
    guarded(|| work(unsafe { &mut *object.cast::<Object>() }))
}

/// Calls a component that can't refuse.
///
/// # Safety
/// As [`with`].
unsafe fn call(object: *mut c_void, work: impl FnOnce(&mut dyn Component)) -> Status {
    let work = |object: &mut Object| {
        work(object.component.as_mut());
        GOOD
    };
    // SAFETY: passed on.
    unsafe { with(object, work) }
}

unsafe extern "C" fn prepare(object: *mut c_void, prepared: Text, reply: Reply) -> Status {
    let work = |object: &mut Object| {
        // SAFETY: the caller's text.
        let prepared = match unsafe { read::<Packets>(prepared) } {
            None => Err(MakeError {
                what: "the library does not understand the program".to_owned(),
                fix: "a program of the same interface version".to_owned(),
            }),
            Some(Packets { input_items, output_items, slot_ns }) => {
                let (input_items, output_items) = (&input_items[..], &output_items[..]);
                let ports = Prepared { shape: &object.shape, input_items, output_items, slot_ns };
                ports.prepare(object.component.as_mut())
            }
        };
        match prepared {
            Ok(()) => GOOD,
            // SAFETY: the caller's reply.
            Err(why) => unsafe { refuse(reply, &why) },
        }
    };
    // SAFETY: the caller's object.
    unsafe { with(object, work) }
}

unsafe extern "C" fn tick(object: *mut c_void, slot: *mut Slot) -> Status {
    let work = |object: &mut Object| {
        // SAFETY: the caller's slot, nobody else's during the call.
        let slot = unsafe { &mut *slot };
        // SAFETY: one packet for each port of the shape, which the caller has from this library.
        let (inputs, outputs) = unsafe {
            (
                std::slice::from_raw_parts(slot.inputs, object.inputs.len()),
                std::slice::from_raw_parts_mut(slot.outputs, object.outputs.len()),
            )
        };
        for (port, packet) in object.inputs.iter_mut().zip(inputs) {
            let Packet { start, bytes, items, first_item, missing } = *packet;
            // SAFETY: the caller's memory: readable and unchanged until this call returns, before which it is taken back.
            port.lend(unsafe { Lent::new(start, bytes) }, Header::new(slot.slot, first_item, items, missing != 0));
        }
        for (port, packet) in object.outputs.iter_mut().zip(&*outputs) {
            // SAFETY: as above, writable, and no other port's.
            let memory = unsafe { Lent::new(packet.start, packet.bytes) };
            let Packet { items, first_item, missing, .. } = *packet;
            port.lend(memory, Granted { items, first_item, lost: missing != 0 });
        }
        // SAFETY: the caller's room for messages, nobody else's during the call.
        let room = unsafe { std::slice::from_raw_parts_mut(slot.messages, slot.message_room) };
        let outbox = Outbox { room, sent: 0 };
        let Object { component, inputs, outputs: ports, timer, .. } = object;
        let mut io = Io { inputs, outputs: ports, slot: slot.slot, outbox, timer, lost: false };
        let status = guarded(|| {
            component.tick(&mut io);
            if io.lost { LOST } else { GOOD }
        });
        slot.messages_sent = io.outbox.sent;
        object.inputs.iter_mut().for_each(InPort::take_back);
        for (port, packet) in object.outputs.iter_mut().zip(outputs) {
            (packet.items, packet.missing) = (port.take_back(), port.lost.into());
        }
        status
    };
    // SAFETY: the caller's object.
    unsafe { with(object, work) }
}

unsafe extern "C" fn set(object: *mut c_void, param: usize, word: Word) -> Status {
    let set = |component: &mut dyn Component| word.scalar().into_iter().for_each(|value| component.set(param, value));
    // SAFETY: the caller's object.
    unsafe { call(object, set) }
}

unsafe extern "C" fn get(object: *mut c_void, param: usize, word: *mut Word) -> Status {
    // SAFETY: the caller's object, and its place for a word.
    unsafe { call(object, |component| *word = Word::of(component.get(param))) }
}

unsafe extern "C" fn message(object: *mut c_void, message: *const Message) -> Status {
    // SAFETY: the caller's object, and its message, readable during the call.
    unsafe { call(object, |component| component.message(&*message)) }
}

unsafe extern "C" fn degrade(object: *mut c_void) -> Status {
    // SAFETY: the caller's object.
    unsafe { call(object, |component| component.degrade()) }
}

unsafe extern "C" fn results(object: *mut c_void, reply: Reply) -> Status {
    let work = |object: &mut Object| {
        let all: std::collections::BTreeMap<_, _> = object.component.results().into_iter().collect();
        // SAFETY: the caller's reply.
        unsafe { put(reply, &all) }
    };
    // SAFETY: the caller's object.
    unsafe { with(object, work) }
}

unsafe extern "C" fn drop(object: *mut c_void) -> Status {
    guarded(|| {
        // SAFETY: made by `make` as a box of this type; the caller gives it up with this call.
        std::mem::drop(unsafe { Box::from_raw(object.cast::<Object>()) });
        GOOD
    })
}
