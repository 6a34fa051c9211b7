//! `zmq-source`: messages as packets.

use takt_graph::{Domain, Length, ParamSpec, Shape, Value};
use takt_runtime::soft::{Incoming, Producer, Soft, Step, incoming};
use takt_runtime::{Component, Io, MakeError, Prepared, Registration};

use crate::ends::{Place, Socket};
use crate::settings::{self, Settings, State, Waiting};
use crate::zmtp::SocketType;

struct ZmqSource {
    queue: Incoming<u8>,
    settings: Settings,
    state: State,
    /// Ends with the component.
    _soft: Soft,
}

/// The soft end.
struct Receiving {
    socket: Socket,
    queue: Producer<u8>,
    message: Vec<u8>,
    from: usize,
    item_bytes: usize,
    waiting: Waiting,
    state: State,
}

impl Receiving {
    fn step(&mut self) -> Step {
        if self.queue.is_abandoned() {
            return Step::Done;
        }
        if self.from == self.message.len() {
            self.socket.attend();
            let Some(message) = self.socket.receive() else {
                self.socket.flush();
                self.state.note(&self.socket);
                return self.waiting.step(false);
            };
            self.state.note(&self.socket);
            if message.len() % self.item_bytes != 0 {
                let (bytes, item) = (message.len(), self.item_bytes);
                self.state.fail(format!("a message of {bytes} bytes has no whole items of {item}; check `item`"));
                return self.waiting.step(true);
            }
            (self.message, self.from) = (message, 0);
        }
        let rest = self.message.get(self.from..).unwrap_or_default();
        let given = self.queue.push_partial_slice(rest).0.len();
        self.from += given;
        self.state.add(given);
        // Room comes with the next slot: who waits for it is no peer.
        if given == 0 { self.waiting.idle() } else { self.waiting.step(true) }
    }
}

impl ZmqSource {
    fn new(settings: Settings) -> Result<ZmqSource, MakeError> {
        let kind = if settings.broadcasts { SocketType::Sub } else { SocketType::Pull };
        let socket = settings.socket(kind, Place::Connect)?;
        let (producer, queue) = incoming::<u8>(settings.buffer, settings.policy);
        let state = State::default();
        let mut receiving = Receiving {
            socket,
            queue: producer,
            message: Vec::new(),
            from: 0,
            item_bytes: settings.item.bytes(),
            waiting: settings.waiting(),
            state: state.clone(),
        };
        let soft = Soft::spawn("zmq-source", move || receiving.step()).map_err(|error| settings::thread(&error))?;
        Ok(ZmqSource { queue, settings, state, _soft: soft })
    }
}

impl Component for ZmqSource {
    fn tick(&mut self, io: &mut Io<'_>) {
        let output = &mut io.outputs[0];
        let item_bytes = self.settings.item.bytes();
        let taken = self.queue.take(output.bytes_mut(), item_bytes);
        output.truncate(taken / item_bytes);
    }

    fn prepare(&mut self, ports: &Prepared<'_>) -> Result<(), String> {
        self.settings.suits(ports.output_items)
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        self.state.results(&[("starved_slots", self.queue.starved())])
    }
}

takt_runtime::inventory::submit! {
    Registration {
        kind: || settings::kind(
            "zmq-source",
            "Takes messages of ZeroMQ as packets, items in little-endian native types: from GNU Radio's PUSH sink, or with \
             pattern = \"broadcast\" from its PUB sink.",
            "connect",
            "It keeps this when messages come too slowly: the time, and packets are short; or the data, and slots may be late.",
        )
        .param(ParamSpec::new("items", Domain::Int { min: 1, max: 1 << 24 }, "Items a slot.").unit("items").default(1000)),
        shape: |params| {
            let items = params.int("items").and_then(|items| u32::try_from(items).ok()).unwrap_or(0);
            Ok(Shape::new().output("out", settings::item(params)?, Length::UpTo(items)))
        },
        make: |params| Ok(Box::new(ZmqSource::new(Settings::of(params)?)?)),
    }
}
