//! Reception to count instructions of: `instructions receive CALLS` has a receive stream of an N200 take 96 datagrams, parse them, put
//! them in order and convert their samples, so many times; without arguments once.
//!
//! `tests/instructions/run` runs this under cachegrind, with few calls and with many: the difference is a call's. The packet engine is
//! not in it, which cachegrind can't run; what writes the headers here is, some forty instructions a datagram.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use takt_base::{Clock, Complex32, MonoNs, Tick};
use takt_emulator::drive::sim::World;
use takt_emulator::n200::{N200 as Device, N200Options, Signals};
use takt_emulator::sink::Null;
use takt_emulator::source::Silence;
use takt_packet::{
    Config, Counters, Engine, EngineError, FramePath, Limits, PortIndex, Refusal, RxBatch, RxEntry, Transmit, TxBatch,
    TxEntry, Wait,
};
use takt_radio::n200::{CLOCK, N200, OpenOptions, RxOptions};
use takt_radio::{Net, Role, RxStream};
use takt_wire::n200::registers::RX_STREAM_IDS;
use takt_wire::n200::{FRAME_BYTES, RxHead, RxPacking};

const ADDR: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 4, 1));
/// Datagrams of a call, as `takt rate` asks for.
const DATAGRAMS: usize = 96;
const RATE_SPS: f64 = 25e6;
const TICKS_PER_SAMPLE: u64 = 4;
const START: Tick = Tick(1_000_000);
const SAMPLES: usize = (FRAME_BYTES - RxHead::OVERHEAD_BYTES) / 4;

/// A radio in a world on a virtual clock, whose samples come out of a [`Feed`].
struct Bench(World);

impl Clock for Bench {
    fn now(&self) -> MonoNs {
        self.0.now()
    }
}

impl Net for Bench {
    fn open(&self, role: Role, config: &Config) -> Result<Box<dyn Engine>, EngineError> {
        match role {
            Role::Control => Ok(Box::new(self.0.engine(config)?)),
            Role::Stream => Ok(Box::new(Feed::new())),
        }
    }

    /// Whoever would nap has all datagrams already.
    fn sleep_until(&self, _: MonoNs) {}

    fn threads(&self) -> bool {
        false
    }
}

/// An engine that always has the next datagrams of a stream.
struct Feed {
    arena: Vec<u8>,
    entries: Vec<RxEntry>,
    head: RxHead,
    /// The first call empties the socket.
    opened: bool,
    tx: (Vec<u8>, Vec<TxEntry>),
    nowhere: Nowhere,
}

impl Feed {
    fn new() -> Feed {
        let source = SocketAddr::from((ADDR, 49_156));
        let entry = |n| RxEntry {
            port: PortIndex(0),
            source,
            arrived: None,
            offset: n * FRAME_BYTES,
            len: FRAME_BYTES,
            truncated: false,
        };
        let head = RxHead {
            count: 0,
            stream_id: RX_STREAM_IDS[0],
            tick: START.0,
            end_of_burst: false,
            packing: RxPacking::Sc16,
        };
        let tx = (vec![0; FRAME_BYTES], Vec::with_capacity(1));
        Feed {
            arena: vec![7; DATAGRAMS * FRAME_BYTES],
            entries: (0..DATAGRAMS).map(entry).collect(),
            head,
            opened: false,
            tx,
            nowhere: Nowhere,
        }
    }
}

impl Engine for Feed {
    fn recv(&mut self, _: Wait) -> Result<RxBatch<'_>, EngineError> {
        if !std::mem::replace(&mut self.opened, true) {
            return Ok(RxBatch::new(&[], &[]));
        }
        for frame in self.arena.chunks_exact_mut(FRAME_BYTES) {
            self.head.frame(SAMPLES * 4, frame).expect("room");
            self.head.count = (self.head.count + 1) % 16;
            self.head.tick += SAMPLES as u64 * TICKS_PER_SAMPLE;
        }
        Ok(self.last_batch())
    }

    fn last_batch(&self) -> RxBatch<'_> {
        RxBatch::new(&self.arena, &self.entries)
    }

    fn reserve(&mut self, _: usize) -> TxBatch<'_> {
        TxBatch::new(&mut self.tx.0, FRAME_BYTES, &mut self.tx.1, 1, &mut self.nowhere)
    }

    fn refused(&mut self) -> Option<Refusal> {
        None
    }

    fn local(&self, _: PortIndex) -> Option<SocketAddr> {
        None
    }

    fn limits(&self) -> Limits {
        Limits {
            batch: 128,
            max_payload_bytes: FRAME_BYTES,
            recv_buffer_bytes: 1 << 22,
            send_buffer_bytes: 1 << 22,
            stamps: false,
            aggregates_sends: false,
            aggregates_receives: false,
            busy_poll: false,
            path: FramePath::Sockets,
        }
    }

    fn counters(&self) -> Counters {
        Counters::default()
    }
}

/// Takes what the stream announces.
struct Nowhere;

impl Transmit for Nowhere {
    fn transmit(&mut self, _: &[u8], entries: &[TxEntry], _: Wait) -> Result<usize, EngineError> {
        Ok(entries.len())
    }
}

/// Receives so many calls.
fn receive(calls: u64) {
    let world = World::starting_at(MonoNs(1_000_000_000), Duration::from_micros(20));
    let signals = Signals { sources: [Box::new(Silence), Box::new(Silence)], sink: Box::new(Null) };
    world.add(ADDR, CLOCK, Device::new(N200Options::default(), signals).expect("an N200"));
    let net = Arc::new(Bench(world));
    let mut radio = N200::open(net.clone(), ADDR, &OpenOptions::default()).expect("a radio that opens");
    let mut rx = radio.rx_streamer(&RxOptions::new(RATE_SPS)).expect("a stream");
    rx.start(Some(START)).expect("it starts");
    let mut buffer = vec![Complex32::default(); DATAGRAMS * SAMPLES];
    for _ in 0..calls {
        let received = rx.recv(&mut [&mut buffer], MonoNs::NEVER).expect("a stream");
        assert_eq!((received.samples, received.event), (buffer.len(), None));
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (kernel, calls) = (arguments.next(), arguments.next().and_then(|text| text.parse::<u64>().ok()));
    assert!(kernel.is_none_or(|kernel| kernel == "receive"), "the only kernel is `receive`");
    receive(calls.unwrap_or(1));
}
