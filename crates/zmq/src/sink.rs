//! `zmq-sink`: packets as messages.

use takt_graph::{Shape, Value};
use takt_runtime::soft::{Consumer, Outgoing, Policy, Soft, Step, outgoing};
use takt_runtime::{Component, Io, MakeError, Prepared, Registration};

use crate::ends::{Place, Socket};
use crate::settings::{self, Settings, State, Waiting};
use crate::zmtp::SocketType;

/// Bytes of a message at most: GNU Radio's own default is about that.
const MESSAGE: usize = 1 << 16;

struct ZmqSink {
    queue: Outgoing<u8>,
    settings: Settings,
    missing: u64,
    state: State,
    soft: Soft,
}

/// The soft end.
struct Sending {
    socket: Socket,
    queue: Consumer<u8>,
    /// The message that nobody has taken yet.
    message: Vec<u8>,
    item_bytes: usize,
    waiting: Waiting,
    /// Whether data that nobody takes is old, and goes.
    drops: bool,
    state: State,
}

impl Sending {
    fn step(&mut self) -> Step {
        self.socket.attend();
        // Subscribers speak, and whoever closed is seen.
        while self.socket.receive().is_some() {}
        let moved = self.socket.flush();
        self.state.note(&self.socket);
        if self.message.is_empty() {
            let bytes = self.queue.slots().min(MESSAGE) / self.item_bytes * self.item_bytes;
            self.message.resize(bytes, 0);
            if bytes == 0 || self.queue.pop_entire_slice(&mut self.message).is_err() {
                self.message.clear();
                return if self.socket.has_waiting() { self.waiting.step(moved) } else { self.waiting.idle() };
            }
        }
        if self.socket.send(&self.message) {
            self.state.add(self.message.len());
            self.message.clear();
            self.socket.flush();
            return self.waiting.step(true);
        }
        if self.drops && self.socket.peers() == 0 {
            self.state.unsent(self.message.len());
            self.message.clear();
        }
        self.waiting.step(moved)
    }
}

impl ZmqSink {
    fn new(settings: Settings) -> Result<ZmqSink, MakeError> {
        let kind = if settings.broadcasts { SocketType::Pub } else { SocketType::Push };
        let socket = settings.socket(kind, Place::Listen)?;
        let (queue, consumer) = outgoing::<u8>(settings.buffer, settings.policy);
        let state = State::default();
        let mut sending = Sending {
            socket,
            queue: consumer,
            message: Vec::with_capacity(MESSAGE),
            item_bytes: settings.item.bytes(),
            waiting: settings.waiting(),
            drops: settings.policy == Policy::Drop,
            state: state.clone(),
        };
        let soft = Soft::spawn("zmq-sink", move || sending.step()).map_err(|error| settings::thread(&error))?;
        Ok(ZmqSink { queue, settings, missing: 0, state, soft })
    }
}

impl Component for ZmqSink {
    fn tick(&mut self, io: &mut Io<'_>) {
        self.missing += u64::from(io.inputs[0].is_missing());
        self.queue.give(io.inputs[0].bytes());
    }

    fn prepare(&mut self, ports: &Prepared<'_>) -> Result<(), String> {
        self.settings.suits(ports.input_items)
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        self.soft.settle();
        self.state.results(&[("dropped_packets", self.queue.dropped()), ("missing_packets", self.missing)])
    }
}

takt_runtime::inventory::submit! {
    Registration {
        kind: || settings::kind(
            "zmq-sink",
            "Sends packets as messages of ZeroMQ, items in little-endian native types: to GNU Radio's PULL source, or with \
             pattern = \"broadcast\" to its SUB sources.",
            "listen",
            "It keeps this when nobody takes its messages: the time, and packets are dropped; or the data, and slots may be late.",
        ),
        shape: |params| Ok(Shape::new().input("in", settings::item(params)?)),
        make: |params| Ok(Box::new(ZmqSink::new(Settings::of(params)?)?)),
    }
}
