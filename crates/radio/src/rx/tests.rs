//! [`RxStreamer::deliver`] takes a run of datagrams in order as a whole and judges none but the first. The stream must be the
//! same as if it judged each: the same samples at the same times, the same events between them, the same counts.
//!
//! A call for one sample takes no run as a whole, so such calls tell what all others must bring.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use std::vec::IntoIter;

use num_complex::Complex;
use proptest::prelude::*;
use takt_base::{MonoNs, Speed, Tick, TickRate, VirtualClock};
use takt_packet::{
    Config, Counters, Engine, EngineError, FramePath, Limits, PortIndex, Refusal, RxBatch, RxEntry, TxBatch, Wait,
};
use takt_wire::sample::{ByteOrder, Format};

use super::{Message, Reading, ReplyPatience, Run, RxStats, RxStreamer, Setup, Source, WireSamples};
use crate::{Net, RadioError, Role, RxEvent};

/// Samples in a full datagram.
const FULL: u64 = 8;
const TICKS_PER_SAMPLE: u64 = 4;
/// Bytes before the samples: which reading the datagram is.
const HEAD: usize = 2;
const FRAME_BYTES: usize = HEAD + 4 * FULL as usize;
/// Tick of the first sample.
const START: u64 = 4_000;
/// The time once all that was sent has been read, and the deadline of every call. Until then it is 0.
const END: MonoNs = MonoNs(1 << 62);

const MESSAGES: [Message; 5] =
    [Message::Overflow, Message::LateCommand, Message::BrokenChain, Message::StopWhileIdle, Message::Other(7)];

/// The fate of a datagram.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Comes,
    Lost,
    Twice,
    /// Comes behind the next.
    Late,
    /// Half of it is missing, and nothing says so.
    Half,
    /// The engine says that it was longer than its frame.
    Truncated,
    /// It is none of this stream.
    Foreign,
    Empty,
    EndsBurst,
    /// Its time stamp is wrong by this.
    OffBy(i64),
    /// The radio's clock was set: from here on time stamps are later by this.
    Retimed(u64),
    /// A message comes before it.
    Says(Message),
}

fn fate() -> impl Strategy<Value = Fate> {
    let message = prop::sample::select(MESSAGES.to_vec());
    prop_oneof![
        40 => Just(Fate::Comes),
        2 => Just(Fate::Lost),
        2 => Just(Fate::Twice),
        2 => Just(Fate::Late),
        1 => Just(Fate::Half),
        1 => Just(Fate::Truncated),
        1 => Just(Fate::Foreign),
        1 => Just(Fate::Empty),
        1 => Just(Fate::EndsBurst),
        1 => (-300_i64..300).prop_map(Fate::OffBy),
        1 => (1_u64..5_000).prop_map(Fate::Retimed),
        1 => message.prop_map(Fate::Says),
    ]
}

/// Channel, samples, fate, and whether the engine hands it over as the last of its batch.
type Datagram = (usize, u64, Fate, bool);

fn datagram() -> impl Strategy<Value = Datagram> {
    (0..2_usize, prop_oneof![8 => Just(FULL), 1 => 1..=FULL], fate(), prop::bool::weighted(0.1))
}

/// A datagram on its way.
#[derive(Clone, Debug)]
struct Sent {
    channel: u8,
    bytes: Vec<u8>,
    truncated: bool,
}

impl Sent {
    /// Samples that tell their time and channel.
    fn new(reading: usize, channel: usize, tick: u64, samples: u64, fate: Fate) -> Sent {
        let mut bytes = (reading as u16).to_le_bytes().to_vec();
        for n in 0..samples {
            let parts = [(tick / TICKS_PER_SAMPLE + n) as i16, channel as i16];
            bytes.extend(parts.into_iter().flat_map(i16::to_le_bytes));
        }
        if fate == Fate::Half {
            bytes.truncate(HEAD + (bytes.len() - HEAD) / 2);
        }
        Sent { channel: channel as u8, bytes, truncated: fate == Fate::Truncated }
    }
}

/// The datagrams that a radio sends, and what it was asked for.
#[derive(Clone, Debug)]
struct Script {
    channels: usize,
    /// The radio's time, which decides where a stream goes on after an overflow.
    now: Tick,
    /// Datagrams of each burst that was asked for; none: a stream without an end.
    bursts: Vec<u32>,
    /// The readings of the datagrams, by their numbers.
    readings: Vec<Option<Reading>>,
    batches: Vec<Vec<Sent>>,
}

impl Script {
    fn new(channels: usize, now: u64, bursts: &[u32], datagrams: &[Datagram]) -> Script {
        // The read that empties the socket before a stream finds nothing.
        let (mut readings, mut batches) = (Vec::new(), vec![Vec::new()]);
        let mut next = [(START, 0_u16); 2];
        let (mut batch, mut late) = (Vec::new(), Vec::new());
        for &(channel, samples, fate, ends_batch) in datagrams {
            let channel = channel % channels;
            let (before, number) = next[channel];
            let tick = if let Fate::Retimed(by) = fate { before + by } else { before };
            next[channel] = (tick + samples * TICKS_PER_SAMPLE, (number + 1) % 16);
            if let Fate::Says(message) = fate {
                batch.push(Sent::new(readings.len(), channel, tick, 0, fate));
                readings.push(Some(Reading::Message { tick, message }));
            }
            let sent = Sent::new(readings.len(), channel, tick, samples, fate);
            let reading = Reading::Samples {
                tick: if let Fate::OffBy(by) = fate { tick.saturating_add_signed(by) } else { tick },
                number,
                end_of_burst: fate == Fate::EndsBurst,
                at: HEAD,
                count: if fate == Fate::Empty { 0 } else { samples },
            };
            readings.push((fate != Fate::Foreign).then_some(reading));
            match fate {
                Fate::Late => late.push(sent),
                Fate::Lost => {}
                Fate::Twice => batch.extend([sent.clone(), sent]),
                _ => batch.push(sent),
            }
            if fate != Fate::Late {
                batch.append(&mut late);
            }
            if ends_batch {
                batches.push(std::mem::take(&mut batch));
            }
        }
        batches.push(batch);
        Script { channels, now: Tick(now), bursts: bursts.to_vec(), readings, batches }
    }

    /// A stream that was started and has received nothing.
    fn stream(&self) -> RxStreamer {
        let clock = VirtualClock::default();
        let batches = self.batches.clone().into_iter();
        let mut rx = RxStreamer::new(Setup {
            engine: Box::new(Feed { batches, read: 0, arena: Vec::new(), entries: Vec::new(), clock: clock.clone() }),
            net: Arc::new(clock),
            source: Box::new(Told { readings: self.readings.clone(), now: self.now }),
            clock: TickRate::from_hz(1_000).unwrap(),
            speed: Speed::WALL,
            wire: WireSamples { format: Format::Sc16, order: ByteOrder::Little, scale: 1.0 },
            rate_sps: 250.0,
            ticks_per_sample: TICKS_PER_SAMPLE,
            samples_per_datagram: FULL as usize,
            frame_bytes: FRAME_BYTES,
            last_number: 15,
            channels: self.channels,
            coalesce: Duration::ZERO,
        });
        let mut first = Tick(START);
        for &datagrams in &self.bursts {
            let samples = datagrams * FULL as u32;
            rx.burst(samples, Some(first)).unwrap();
            first.0 += u64::from(samples) * TICKS_PER_SAMPLE;
        }
        if self.bursts.is_empty() {
            rx.start(Some(first)).unwrap();
        }
        rx
    }

    /// All that a program hears that calls for so many samples, again and again.
    fn heard(&self, calls: &[usize]) -> Heard {
        let mut rx = self.stream();
        let mut seen = Vec::new();
        for &call in calls.iter().cycle() {
            let mut buffers = [vec![Complex::default(); call], vec![Complex::default(); call]];
            let mut out: Vec<&mut [Complex<i16>]> = buffers.iter_mut().map(Vec::as_mut_slice).collect();
            let received = rx.recv_integers(&mut out[..self.channels], END).unwrap();
            let [a, b] = &buffers;
            for (n, (&a, &b)) in a.iter().zip(b).take(received.samples).enumerate() {
                seen.push(Seen::Sample(received.first.0 + n as u64 * TICKS_PER_SAMPLE, [a, b]));
            }
            seen.extend(received.event.map(Seen::Event));
            if received.samples == 0 && received.event.is_none() {
                break;
            }
        }
        Heard { seen, stats: rx.stats(), last_arrival: rx.last_arrival() }
    }
}

#[derive(Debug, PartialEq)]
struct Heard {
    seen: Vec<Seen>,
    stats: RxStats,
    last_arrival: Option<MonoNs>,
}

#[derive(Debug, PartialEq)]
enum Seen {
    /// A sample of both channels, with its tick.
    Sample(u64, [Complex<i16>; 2]),
    Event(RxEvent),
}

/// An engine that hands over batches as a script has them. Time passes when there are no more.
struct Feed {
    batches: IntoIter<Vec<Sent>>,
    /// Datagrams so far: the stamp of the next.
    read: u64,
    arena: Vec<u8>,
    entries: Vec<RxEntry>,
    clock: VirtualClock,
}

impl Engine for Feed {
    fn recv(&mut self, _: Wait) -> Result<RxBatch<'_>, EngineError> {
        self.arena.clear();
        self.entries.clear();
        match self.batches.next() {
            Some(batch) => batch.iter().for_each(|sent| self.add(sent)),
            None => self.clock.advance_to(END),
        }
        Ok(self.last_batch())
    }

    fn last_batch(&self) -> RxBatch<'_> {
        RxBatch::new(&self.arena, &self.entries)
    }

    fn reserve(&mut self, _: usize) -> TxBatch<'_> {
        unreachable!("a receive stream without credit sends nothing")
    }

    fn refused(&mut self) -> Option<Refusal> {
        None
    }

    fn local(&self, _: PortIndex) -> Option<SocketAddr> {
        None
    }

    fn limits(&self) -> Limits {
        Limits {
            batch: 512,
            max_payload_bytes: FRAME_BYTES,
            recv_buffer_bytes: 1 << 16,
            send_buffer_bytes: 1 << 16,
            stamps: true,
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

impl Feed {
    fn add(&mut self, sent: &Sent) {
        self.entries.push(RxEntry {
            port: PortIndex(sent.channel),
            source: SocketAddr::from(([127, 0, 0, 1], 1)),
            arrived: Some(MonoNs(self.read)),
            offset: self.arena.len(),
            len: sent.bytes.len(),
            truncated: sent.truncated,
        });
        self.arena.extend_from_slice(&sent.bytes);
        self.read += 1;
    }
}

impl Net for VirtualClock {
    fn open(&self, _: Role, _: &Config) -> Result<Box<dyn Engine>, EngineError> {
        unreachable!("the stream has its engine")
    }

    fn sleep_until(&self, _: MonoNs) {}

    fn threads(&self) -> bool {
        false
    }
}

/// A radio whose datagrams are numbers of readings, and that does what it is asked.
struct Told {
    readings: Vec<Option<Reading>>,
    now: Tick,
}

impl Source for Told {
    fn read(&mut self, _: usize, bytes: &[u8]) -> Option<Reading> {
        let number = u16::from_le_bytes(*bytes.first_chunk()?);
        *self.readings.get(usize::from(number))?
    }

    fn now(&mut self) -> Result<Tick, RadioError> {
        Ok(self.now)
    }

    fn host_at(&self, tick: Tick) -> MonoNs {
        MonoNs(tick.0)
    }

    fn begin(&mut self, _: usize, _: Run, _: bool) -> Result<(), RadioError> {
        Ok(())
    }

    fn stop(&mut self, _: usize) -> Result<(), RadioError> {
        Ok(())
    }

    fn clear(&mut self, _: usize) -> Result<(), RadioError> {
        Ok(())
    }

    fn set_reply_patience(&mut self, _: ReplyPatience) {}

    fn retries(&self) -> u64 {
        0
    }

    fn touch(&self, _: MonoNs) {}

    fn check(&self) -> Result<(), RadioError> {
        Ok(())
    }
}

#[test]
fn datagrams_in_order_are_heard_to_the_last_sample() {
    let datagrams: Vec<_> = (0..300).map(|n| (n % 2, FULL, Fate::Comes, n == 170)).collect();
    let heard = Script::new(2, 0, &[], &datagrams).heard(&[1_000]);
    let samples = (0..150 * FULL).map(|n| {
        let re = (START / TICKS_PER_SAMPLE + n) as i16;
        Seen::Sample(START + n * TICKS_PER_SAMPLE, [0, 1].map(|channel| Complex::new(re, channel)))
    });
    assert_eq!(heard.seen, samples.collect::<Vec<_>>());
    assert_eq!((heard.stats.datagrams, heard.last_arrival), (300, Some(MonoNs(299))));
}

proptest! {
    /// Losses, swaps, doubles, damage, messages, ends of bursts and a radio whose clock is set, on one channel or two.
    #[test]
    fn a_run_of_datagrams_is_the_stream_that_its_samples_are_one_by_one(
        channels in 1..=2_usize,
        now in 0..20_000_u64,
        bursts in prop::collection::vec(1..60_u32, 0..4),
        datagrams in prop::collection::vec(datagram(), 1..200),
        calls in prop::collection::vec(1..100_usize, 1..8),
    ) {
        let script = Script::new(channels, now, &bursts, &datagrams);
        prop_assert_eq!(script.heard(&calls), script.heard(&[1]));
    }
}
