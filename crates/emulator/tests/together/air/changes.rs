//! A change with a time holds from its sample on, also in the middle of a packet: frequencies, scales and rates of both models,
//! through a cable and through an air. Judged by what was requested, tick by tick.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use takt_base::{Complex32, Tick};
use takt_emulator::air::{Delay, Link, ModelName};
use takt_emulator::loopback;
use takt_emulator::n200::{self as n200_radio, N200Options, Signals};
use takt_emulator::sink::{BurstEdges, Sink};
use takt_emulator::source::Source;
use takt_emulator::x310::{self as x310_radio, X310Options};
use takt_wire::chdr::ControlOperation;
use takt_wire::n200::rate::{Direction, Factor, device_gain};
use takt_wire::n200::registers::{dsp, settings, spi};
use takt_wire::n200::{StreamAction, frequency};
use takt_wire::sample::Format;
use takt_wire::x310::registers::{board, ddc, radio};

use super::meant::{Tone, Way};
use super::n200::{self, ms, ramps};
use super::radios::{A, B, Place, chip};
use super::x310;

const MODELS: [ModelName; 2] = ModelName::ALL;

/// Samples of a burst; packets of either model and direction have other sizes.
const COUNT: usize = 1200;
/// The samples of a steady signal.
const LEVEL: i16 = 16_000;
/// By how many samples an air is slower than a cable.
const AIR_SAMPLES: usize = 7;

/// Ticks a second.
fn clock_hz(model: ModelName) -> u64 {
    match model {
        ModelName::N200 => 100_000_000,
        ModelName::X310 => x310::SECOND,
    }
}

/// Ticks from sample to sample at 1 MS/s.
fn step(model: ModelName) -> u64 {
    clock_hz(model) / 1_000_000
}

/// The reading of a free-running counter when device time is 0.
fn born(model: ModelName) -> u64 {
    clock_hz(model) / 1000 * (n200::START.0 / 1_000_000)
}

/// A register of a host's transmitter or receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    /// Frequency words.
    Sent(u32),
    Received(u32),
    /// Scale words, which only an N200 heeds.
    SentScale(u32),
    ReceivedScale(u32),
    /// Ticks a sample.
    SentStep(u32),
    ReceivedStep(u32),
}

/// From this device time on, in order.
type Changes = Vec<(u64, What)>;

/// The value at a device time, by those changes that this picks.
fn held(changes: &[(u64, What)], at: u64, initial: u32, pick: impl Fn(What) -> Option<u32>) -> u32 {
    changes.iter().rev().filter(|change| change.0 <= at).find_map(|change| pick(change.1)).unwrap_or(initial)
}

fn sent(what: What) -> Option<u32> {
    if let What::Sent(word) = what { Some(word) } else { None }
}

fn received(what: What) -> Option<u32> {
    if let What::Received(word) = what { Some(word) } else { None }
}

fn sent_scale(what: What) -> Option<u32> {
    if let What::SentScale(word) = what { Some(word) } else { None }
}

fn received_scale(what: What) -> Option<u32> {
    if let What::ReceivedScale(word) = what { Some(word) } else { None }
}

fn any_step(what: What) -> Option<u32> {
    if let What::SentStep(step) | What::ReceivedStep(step) = what { Some(step) } else { None }
}

/// Scale words for a gain of 1 at 1 MS/s, transmit and receive.
fn full_scales() -> [u32; 2] {
    let factor = Factor::new(100).unwrap();
    [Direction::Tx, Direction::Rx].map(|direction| factor.scaling(direction, Format::Sc16).word)
}

/// A host in front of a radio, whichever model.
enum Host {
    N200(Box<n200::Host>),
    X310(Box<x310::Host>),
}

impl Host {
    fn n200(signals: Signals) -> Host {
        Host::N200(Box::new(n200::Host::with(N200Options::default(), signals, &[])))
    }

    fn x310(signals: Signals) -> Host {
        let mut host = x310::Host::with(X310Options::default(), [signals, ramps()], &[]);
        host.prepare();
        Host::X310(Box::new(host))
    }

    fn of(model: ModelName, signals: Signals) -> Host {
        match model {
            ModelName::N200 => Host::n200(signals),
            ModelName::X310 => Host::x310(signals),
        }
    }

    fn model(&self) -> ModelName {
        match self {
            Host::N200(_) => ModelName::N200,
            Host::X310(_) => ModelName::X310,
        }
    }

    /// Both ways at 1 MS/s.
    fn open(&mut self) {
        match self {
            Host::N200(host) => {
                host.open_tx(100, Format::Sc16);
                host.open_rx(0, 100, Format::Sc16, 250);
            }
            Host::X310(host) => {
                host.open_tx(0, 200, 100_000);
                host.open_rx(0, 200, 400);
            }
        }
    }

    fn time(&self) -> u64 {
        match self {
            Host::N200(host) => host.time(),
            Host::X310(host) => host.time(),
        }
    }

    /// A burst from this time on.
    fn send(&mut self, at: u64, samples: &[(i16, i16)]) {
        let size = if self.model() == ModelName::N200 { 300 } else { 500 };
        let packets = samples.len().div_ceil(size);
        for (n, samples) in samples.chunks(size).enumerate() {
            let (tick, last) = ((n == 0).then_some(at), n + 1 == packets);
            match self {
                Host::N200(host) => {
                    let payload: Vec<u8> =
                        samples.iter().flat_map(|(i, q)| [i.to_be_bytes(), q.to_be_bytes()]).flatten().collect();
                    host.payload(&payload, tick, last);
                }
                Host::X310(host) => {
                    host.transmit(0, tick, last, samples);
                }
            }
        }
    }

    fn receive(&mut self, at: u64, samples: usize) {
        match self {
            Host::N200(host) => host.stream(0, StreamAction::Samples(samples as u32), Some(at)),
            Host::X310(host) => host.stream(0, 1, samples as u64, Some(at)),
        }
    }

    /// Commands with times, in their order.
    fn change(&mut self, changes: &[(u64, What)]) {
        for &(at, what) in changes {
            match self {
                Host::N200(host) => {
                    let (register, data) = match what {
                        What::Sent(word) => (settings::TX_DSP + dsp::FREQUENCY, word),
                        What::Received(word) => (settings::RX_DSP[0] + dsp::FREQUENCY, word),
                        What::SentScale(word) => (settings::TX_DSP + dsp::SCALE, word),
                        What::ReceivedScale(word) => (settings::RX_DSP[0] + dsp::SCALE, word),
                        // Without half-bands the CIC filter makes all of it.
                        What::SentStep(step) => (settings::TX_DSP + dsp::RATE, step),
                        What::ReceivedStep(step) => (settings::RX_DSP[0] + dsp::RATE, step),
                    };
                    host.poke_at(at, register, data);
                }
                Host::X310(host) => {
                    let (port, address, data) = match what {
                        What::Sent(word) => (x310::DUC[0], ddc::FREQUENCY, word),
                        What::Received(word) => (x310::DDC[0], ddc::FREQUENCY, word),
                        What::SentScale(word) => (x310::DUC[0], ddc::SCALE, word),
                        What::ReceivedScale(word) => (x310::DDC[0], ddc::SCALE, word),
                        What::SentStep(step) => (x310::DUC[0], ddc::M, step),
                        What::ReceivedStep(step) => (x310::DDC[0], ddc::N, step),
                    };
                    host.request(port, ControlOperation::Write, address, data, Some(at));
                }
            }
        }
    }

    fn run(&mut self) {
        match self {
            Host::N200(host) => host.run(ms(30)),
            Host::X310(host) => host.run(ms(30)),
        }
    }

    /// Received packets: device time of each, and its samples.
    fn packets(&self) -> Vec<(u64, Vec<(i16, i16)>)> {
        match self {
            Host::N200(host) => {
                let packets = host.rx[0].iter().filter_map(|rx| match rx {
                    n200::Rx::Data { time, samples, .. } => Some((*time, samples.clone())),
                    n200::Rx::Message { .. } => None,
                });
                packets.collect()
            }
            Host::X310(host) => {
                host.rx[0].iter().map(|packet| (packet.head.tick.unwrap(), packet.samples.clone())).collect()
            }
        }
    }
}

/// How a signal comes from a transmitter to a receiver of the same model.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Between {
    Cable,
    Air,
}

const BETWEEN: [Between; 2] = [Between::Cable, Between::Air];

impl Between {
    /// Samples that it takes.
    fn samples(self) -> usize {
        match self {
            Between::Cable => 0,
            Between::Air => AIR_SAMPLES,
        }
    }

    /// The sender and the receiver, which are one host at a cable.
    fn hosts(self, model: ModelName) -> Vec<Host> {
        if self == Between::Cable {
            let clock = if model == ModelName::N200 { n200_radio::CLOCK } else { x310_radio::MASTER_CLOCK };
            let (sink, mut sources) = loopback::join(clock, 2);
            let mut source = || Box::new(sources.pop().unwrap()) as Box<dyn Source>;
            return vec![Host::of(model, Signals { sources: [source(), source()], sink: Box::new(sink) })];
        }
        let link = Link { delay: Delay::Samples(AIR_SAMPLES as f64), ..Link::new(A, B) };
        let mut place = Place::new(&[model; 2], vec![link]);
        let host = |radio| match model {
            ModelName::N200 => Host::N200(Box::new(place.n200(radio))),
            ModelName::X310 => {
                let mut host = place.x310(radio);
                host.prepare();
                Host::X310(Box::new(host))
            }
        };
        [0, 1].map(host).into()
    }

    /// Sends this, with changes at times that count from the first sample; returns what is received from then on.
    fn pass(self, model: ModelName, samples: &[(i16, i16)], changes: &[(u64, What)]) -> (u64, Vec<(i16, i16)>) {
        let mut hosts = self.hosts(model);
        hosts.iter_mut().for_each(Host::open);
        let last = hosts.len() - 1;
        let start = hosts[0].time() + clock_hz(model) / 100;
        assert_eq!(hosts[last].time(), hosts[0].time(), "switched on together");
        hosts[0].send(start, samples);
        hosts[last].receive(start, samples.len());
        let of = |sender: bool| -> Changes {
            let here = |what| matches!(what, What::Sent(_) | What::SentScale(_) | What::SentStep(_)) == sender;
            changes.iter().filter(|c| last == 0 || here(c.1)).map(|(at, what)| (start + at, *what)).collect()
        };
        hosts[0].change(&of(true));
        if last > 0 {
            hosts[last].change(&of(false));
        }
        hosts[last].run();
        let packets = hosts[last].packets();
        let received: Vec<_> = packets.into_iter().flat_map(|packet| packet.1).collect();
        assert_eq!(received.len(), samples.len());
        (start, received)
    }
}

/// Words for frequencies so far apart that who is tuned to one does not receive another.
fn apart(place: u32) -> u32 {
    place << 29
}

/// A steady signal is there or not, and as strong as the scales say, at each sample as it was requested for its tick.
fn check_steady(model: ModelName, between: Between, changes: &[(u64, What)]) {
    let (_, got) = between.pass(model, &[(LEVEL, 0); COUNT], changes);
    let scales = full_scales();
    for (n, &(i, q)) in got.iter().enumerate() {
        let at = n as u64 * step(model);
        let level = n.checked_sub(between.samples()).map_or(0.0, |n| {
            let sent_at = n as u64 * step(model);
            // A receiver's word counts the other way.
            let tuned = [held(changes, sent_at, 0, sent), held(changes, at, 0, received).wrapping_neg()];
            let gains = [
                f64::from(held(changes, sent_at, scales[0], sent_scale)) / f64::from(scales[0]),
                f64::from(held(changes, at, scales[1], received_scale)) / f64::from(scales[1]),
            ];
            if tuned[0] == tuned[1] { f64::from(LEVEL) * gains[0] * gains[1] } else { 0.0 }
        });
        let found = f64::from(i).hypot(f64::from(q));
        assert!((found - level).abs() < 2.5, "{model:?} {between:?} sample {n}: {found}, not {level}");
    }
}

/// A command at sample 123.7, in the middle of a packet of either direction: the next packet is too late, this one too early.
#[test]
fn a_frequency_changes_at_exactly_its_sample() {
    for model in MODELS {
        for between in BETWEEN {
            let at = 123 * step(model) + step(model) * 7 / 10;
            for what in [What::Sent(apart(1)), What::Received(apart(1))] {
                check_steady(model, between, &[(at, what)]);
            }
            // And to what is received then.
            let follows = [(0, What::Sent(apart(2))), (at, What::Received(apart(2).wrapping_neg()))];
            check_steady(model, between, &follows);
        }
    }
}

#[test]
fn what_comes_with_a_sample_holds_for_it_and_what_comes_a_tick_later_does_not() {
    for model in MODELS {
        // First and last samples of packets.
        for n in [0, 249, 250, 299, 300, 399, 400, 700] {
            for at in [n * step(model), n * step(model) + 1] {
                for what in [What::Sent(apart(1)), What::Received(apart(1))] {
                    check_steady(model, Between::Cable, &[(at, what)]);
                }
            }
        }
    }
}

#[test]
fn a_gain_changes_at_exactly_its_sample() {
    let [sent, received] = full_scales();
    for between in BETWEEN {
        let changes = [(12_370, What::SentScale(sent / 2)), (45_611, What::ReceivedScale(received / 4))];
        check_steady(ModelName::N200, between, &changes);
    }
}

fn changes_of_a_steady_signal() -> impl Strategy<Value = Vec<(u32, u64, What)>> {
    let [sent, received] = full_scales();
    let what = prop_oneof![
        (0u32..3).prop_map(|place| What::Sent(apart(place))),
        (0u32..3).prop_map(|place| What::Received(apart(place).wrapping_neg())),
        (0u32..3).prop_map(move |halves| What::SentScale(sent >> halves)),
        (0u32..3).prop_map(move |halves| What::ReceivedScale(received >> halves)),
    ];
    prop::collection::vec((0..COUNT as u32, 0u64..100, what), 1..30)
}

/// Sorted, in ticks of a model, which may have no scales.
fn in_ticks(model: ModelName, changes: &[(u32, u64, What)]) -> Changes {
    let is_scale = |what| matches!(what, What::SentScale(_) | What::ReceivedScale(_));
    let kept = changes.iter().filter(|change| model == ModelName::N200 || !is_scale(change.2));
    let mut changes: Changes =
        kept.map(|&(n, percent, what)| (u64::from(n) * step(model) + step(model) * percent / 100, what)).collect();
    changes.sort_by_key(|change| change.0);
    changes
}

/// The radio frequency that a word means, Hz: of a receiver, with the other sign.
fn hz_of(model: ModelName, word: u32) -> f64 {
    match model {
        ModelName::N200 => frequency::hz_of(word.cast_signed()),
        ModelName::X310 => f64::from((word & 0xFFFF_FF00).cast_signed()) / 4_294_967_296.0 * 200e6,
    }
}

/// A tone has the frequency that was requested for each sample, by the formula of `docs/reference/air.md`.
fn check_tone(model: ModelName, between: Between, changes: &[(u64, What)]) {
    const EDGE: usize = 40;
    let tone = Tone { hz: 70e3, amplitude: 0.4 };
    let samples = tone.samples(clock_hz(model) as f64, born(model), step(model) as u32, COUNT);
    let word = |x: f32| (x * 32_767.0).round() as i16;
    let words: Vec<_> = samples.iter().map(|x| (word(x.re), word(x.im))).collect();
    let (start, got) = between.pass(model, &words, changes);
    // The tone is as if device time had been 0 where its burst began.
    let (sin, cos) = (-tone.hz * start as f64 / clock_hz(model) as f64 * std::f64::consts::TAU).sin_cos();
    let seconds = |n: usize| (start + born(model) + n as u64 * step(model)) as f64 / clock_hz(model) as f64;
    let beside = |n: usize| {
        // A transmitter's signal is limited to a band, so it rings about a change.
        let place = |at: u64| (at / step(model)) as usize;
        !changes.iter().any(|change| sent(change.1).is_some() && n.abs_diff(place(change.0)) < EDGE)
    };
    let delay = between.samples();
    let mut judged = 0;
    for n in (EDGE + delay..COUNT - EDGE).filter(|n| beside(n - delay)) {
        let way = Way {
            delay_s: delay as f64 * 1e-6,
            sent_hz: hz_of(model, held(changes, (n - delay) as u64 * step(model), 0, sent)),
            received_hz: -hz_of(model, held(changes, n as u64 * step(model), 0, received)),
            ..Way::PLAIN
        };
        let [re, im] = tone.received(way, seconds(n));
        let meant = [re * cos - im * sin, re * sin + im * cos];
        let off = (f64::from(got[n].0) / 32_767.0 - meant[0]).hypot(f64::from(got[n].1) / 32_767.0 - meant[1]);
        assert!(off < 1.5e-3, "{model:?} {between:?} sample {n}: off by {off:e}");
        judged += 1;
    }
    assert!(judged > COUNT / 4, "{judged}");
}

#[test]
fn a_tone_is_received_at_another_frequency_from_exactly_its_sample_on() {
    let word = frequency::word_of(60e3).cast_unsigned();
    for model in MODELS {
        for between in BETWEEN {
            let at = 123 * step(model) + step(model) * 7 / 10;
            check_tone(model, between, &[(at, What::Received(word))]);
            check_tone(model, between, &[(at, What::Sent(word))]);
        }
    }
}

fn changes_of_a_tone() -> impl Strategy<Value = Vec<(u32, u64, What)>> {
    // Up to 90 kHz of either model; of the transmitter few, since about each of them nothing is judged.
    let word = || (-3_800_000i32..3_800_000).prop_map(|word| (word / 2).cast_unsigned());
    let few = prop::collection::vec((0..COUNT as u32, 0u64..100, word().prop_map(What::Sent)), 0..4);
    let many = prop::collection::vec((0..COUNT as u32, 0u64..100, word().prop_map(What::Received)), 0..20);
    (few, many).prop_map(|(few, many)| [few, many].concat())
}

/// Samples that leave: when, around which frequency, and their values. One that is given anew replaces the one that was there.
#[derive(Clone, Default)]
struct Radiated(Arc<Mutex<(f64, Vec<Sent>)>>);

/// Tick, centre in Hz, value.
type Sent = (u64, f64, Complex32);

impl Sink for Radiated {
    fn tuned(&mut self, _from: Tick, centre_hz: f64) {
        self.0.lock().unwrap().0 = centre_hz;
    }

    fn take(&mut self, first: Tick, step: u32, samples: &[Complex32], _edges: BurstEdges) {
        let mut radiated = self.0.lock().unwrap();
        let centre_hz = radiated.0;
        radiated.1.retain(|sample| sample.0 < first.0);
        let ticks = (0..).map(|n: u64| first.0 + n * u64::from(step));
        radiated.1.extend(ticks.zip(samples).map(|(tick, x)| (tick, centre_hz, *x)));
    }
}

impl Radiated {
    fn samples(&self) -> Vec<Sent> {
        self.0.lock().unwrap().1.clone()
    }
}

/// Every sample leaves at the tick, around the frequency and with the scale that was requested.
fn check_radiated(model: ModelName, format: Format, changes: &[(u64, What)]) {
    let radiated = Radiated::default();
    let mut host = Host::of(model, Signals { sink: Box::new(radiated.clone()), ..ramps() });
    host.open();
    // So that a sample shows which it is.
    let value = |n: usize| (n % 100 + 1) as i16;
    let start;
    match &mut host {
        Host::N200(n200) if format == Format::Sc8 => {
            n200.open_tx(100, Format::Sc8);
            start = n200.time() + clock_hz(model) / 100;
            let bytes: Vec<u8> = (0..COUNT).flat_map(|n| [value(n) as u8, 0]).collect();
            for (n, payload) in bytes.chunks(2 * 300).enumerate() {
                n200.payload(payload, (n == 0).then_some(start), 300 * (n + 1) == COUNT);
            }
        }
        _ => {
            start = host.time() + clock_hz(model) / 100;
            host.send(start, &(0..COUNT).map(|n| (100 * value(n), 0)).collect::<Vec<_>>());
        }
    }
    let changes: Changes = changes.iter().map(|(at, what)| (start + at, *what)).collect();
    host.change(&changes);
    host.run();
    let (samples, scales) = (radiated.samples(), full_scales());
    assert_eq!(samples.len(), COUNT);
    let mut at = start;
    for (n, (tick, centre_hz, x)) in samples.into_iter().enumerate() {
        let step_now = held(&changes, at, step(model) as u32, any_step);
        let full = if format == Format::Sc8 { 256.0 } else { 100.0 };
        let gain = match model {
            ModelName::N200 => {
                // At first half-bands make a quarter of it.
                let cic = held(&changes, at, 25, any_step);
                device_gain(Direction::Tx, cic as u8, held(&changes, at, scales[0], sent_scale))
            }
            ModelName::X310 => 1.0,
        };
        let meant = f64::from(value(n)) * full * gain / 32_767.0;
        assert_eq!(tick, at + born(model), "{model:?} sample {n}");
        assert_eq!(centre_hz.to_bits(), hz_of(model, held(&changes, at, 0, sent)).to_bits(), "{model:?} sample {n}");
        assert!((f64::from(x.re) - meant).abs() < 1e-5 * meant, "{model:?} sample {n}: {x}, not {meant}");
        at += u64::from(step_now);
    }
}

/// In order, within a burst at 1 MS/s.
fn in_order(model: ModelName, what: impl Strategy<Value = What>) -> impl Strategy<Value = Changes> {
    prop::collection::vec((0..COUNT as u64 * step(model), what), 1..30).prop_map(|mut changes| {
        changes.sort_by_key(|change| change.0);
        changes
    })
}

fn changes_of_what_leaves(model: ModelName) -> impl Strategy<Value = Changes> {
    let ([full, _], usual) = (full_scales(), step(model) as u32);
    let what = prop_oneof![
        any::<u32>().prop_map(What::Sent),
        (1u32..8).prop_map(move |eighths| What::SentScale(full / 8 * eighths)),
        (usual / 2..=2 * usual).prop_map(What::SentStep),
    ];
    in_order(model, what)
}

/// Each sample says its tick, modulo 2^32.
struct Ticking;

impl Source for Ticking {
    fn raw(&self) -> bool {
        true
    }

    fn fill(&mut self, first: Tick, step: u32, out: &mut [Complex32]) {
        for (n, x) in (0u64..).zip(out) {
            let tick = first.0 + n * u64::from(step);
            let [low, high] = [tick as i16, (tick >> 16) as i16].map(|half| f32::from(half) / 32_767.0);
            *x = Complex32::new(low, high);
        }
    }
}

/// Every sample is taken at the tick that was requested, and every packet says when its first was.
fn check_taken(model: ModelName, changes: &[(u64, What)]) {
    let mut host = Host::of(model, Signals { sources: [Box::new(Ticking), Box::new(Ticking)], ..ramps() });
    host.open();
    let start = host.time() + clock_hz(model) / 100;
    host.receive(start, COUNT);
    let changes: Changes = changes.iter().map(|(at, what)| (start + at, *what)).collect();
    host.change(&changes);
    host.run();
    let (mut at, mut n) = (start, 0);
    for (time, samples) in host.packets() {
        assert_eq!(time, at, "{model:?} sample {n}");
        for (low, high) in samples {
            let tick = u32::from(low as u16) | u32::from(high as u16) << 16;
            assert_eq!(tick, (at + born(model)) as u32, "{model:?} sample {n}");
            at += u64::from(held(&changes, at, step(model) as u32, any_step));
            n += 1;
        }
    }
    assert_eq!(n, COUNT);
}

fn changes_of_what_is_taken(model: ModelName) -> impl Strategy<Value = Changes> {
    let usual = step(model) as u32;
    in_order(model, (usual / 2..=2 * usual).prop_map(What::ReceivedStep))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(16) })]

    /// Any commands, at any times: both models, both ways, frequency and gain.
    #[test]
    fn any_change_holds_from_exactly_its_sample_on(changes in changes_of_a_steady_signal()) {
        for model in MODELS {
            for between in BETWEEN {
                check_steady(model, between, &in_ticks(model, &changes));
            }
        }
    }

    #[test]
    fn any_frequency_within_the_band_holds_from_exactly_its_sample_on(changes in changes_of_a_tone()) {
        for model in MODELS {
            for between in BETWEEN {
                check_tone(model, between, &in_ticks(model, &changes));
            }
        }
    }

    #[test]
    fn what_leaves_an_n200_is_what_was_requested_for_its_tick(changes in changes_of_what_leaves(ModelName::N200), eight_bits in any::<bool>()) {
        check_radiated(ModelName::N200, if eight_bits { Format::Sc8 } else { Format::Sc16 }, &changes);
    }

    #[test]
    fn what_leaves_an_x310_is_what_was_requested_for_its_tick(changes in changes_of_what_leaves(ModelName::X310)) {
        check_radiated(ModelName::X310, Format::Sc16, &changes);
    }

    #[test]
    fn samples_are_taken_at_the_rate_that_was_requested_for_their_tick(
        n200 in changes_of_what_is_taken(ModelName::N200), x310 in changes_of_what_is_taken(ModelName::X310),
    ) {
        check_taken(ModelName::N200, &n200);
        check_taken(ModelName::X310, &x310);
    }
}

/// Those around a change, among samples at 1 MS/s from `start` on.
fn at_change(radiated: &Radiated, model: ModelName, start: u64, n: u64) -> [(u64, f64); 2] {
    let samples = radiated.samples();
    [n - 1, n].map(|n| {
        let (tick, centre_hz, _) = samples[n as usize];
        ((tick - born(model) - start) / step(model), centre_hz)
    })
}

#[test]
fn an_oscillator_moves_at_exactly_its_sample() {
    let radiated = Radiated::default();
    let signals = || Signals { sink: Box::new(radiated.clone()), ..ramps() };
    let mut host = n200::Host::with(N200Options::default(), signals(), &[]);
    host.open_tx(100, Format::Sc16);
    host.poke(settings::SPI_CONTROL, 32 << 24 | spi::TX_BOARD);
    // 25 MHz times 96, and then times 100.
    for word in [0x000F_A23C, 0x6500_8A42, 1000 << 3 | 1, 96 << 15] {
        host.poke(settings::SPI_DATA, word);
    }
    let start = host.time() + 1_000_000;
    host.packet(300, Some(start), true);
    host.poke_at(start + 12_370, settings::SPI_DATA, 100 << 15);
    host.run(ms(20));
    assert_eq!(at_change(&radiated, ModelName::N200, start, 124), [(123, 2400e6), (124, 2500e6)]);

    let mut host = x310::Host::with(X310Options::default(), [signals(), ramps()], &[]);
    host.prepare();
    // The reference of the boards is 50 MHz; chip 0 transmits.
    for data in [48 << 5 | 1, 48 << 5 | 2, 0x0014_0180, 0x0020_015C, 0x0500_00BE] {
        chip(&mut host, data);
    }
    host.write(x310::RADIO[0], radio::SPI[1], 32 << 24 | 1);
    host.write(x310::RADIO[0], radio::BOARD_GPIO, 0);
    for word in [1 << 23 | 4, 1 << 14 | 2, 1000 << 3 | 1, 48 << 15] {
        host.write(x310::RADIO[0], radio::SPI[2], word);
    }
    host.open_tx(0, 200, 100_000);
    let start = host.time() + 10 * x310::MS;
    host.transmit(0, Some(start), true, &[(LEVEL, 0); 300]);
    host.request(x310::RADIO[0], ControlOperation::Write, radio::SPI[2], 50 << 15, Some(start + 24_740));
    host.run(ms(20));
    radiated.0.lock().unwrap().1.retain(|sample| sample.0 >= start + born(ModelName::X310));
    assert_eq!(at_change(&radiated, ModelName::X310, start, 124), [(123, 2400e6), (124, 2500e6)]);
}

/// While it plays, the master clock changes: what is left is around the frequency that the words mean then.
#[test]
fn another_master_clock_changes_frequencies_at_its_sample() {
    let radiated = Radiated::default();
    let signals = Signals { sink: Box::new(radiated.clone()), ..ramps() };
    let mut host = x310::Host::with(X310Options::default(), [signals, ramps()], &[]);
    host.prepare();
    host.open_tx(0, 200, 100_000);
    host.write(x310::DUC[0], ddc::FREQUENCY, 1 << 29);
    host.transmit(0, None, true, &[(LEVEL, 0); 500]);
    host.run(n200::us(100));
    // Words for 184.32 MHz, the last of which is shifted in at this instant.
    let [_, control, shift] = board::SPI.map(|n| board::BASE + 4 * n);
    for data in [0x0014_01C0, 0x0190_0C1C, 0x0200_151E] {
        host.poke(control, 0x6000_0001);
        host.poke(shift, data);
    }
    host.run(ms(5));
    assert_eq!(host.report().master_clock_hz, 184.32e6);
    let samples = radiated.samples();
    assert_eq!(samples.len(), 500);
    let changed = samples.iter().position(|sample| sample.1 != 25e6).expect("a change");
    assert!((100..200).contains(&changed), "{changed}");
    assert!(samples[changed..].iter().all(|sample| sample.1 == 23.04e6));
    assert!(samples.windows(2).all(|pair| pair[1].0 - pair[0].0 == 200), "the counter goes on");
}

#[test]
fn corrections_and_swaps_of_an_n200_hold_from_exactly_their_sample() {
    let radiated = Radiated::default();
    let signals = Signals { sink: Box::new(radiated.clone()), ..n200::constant(0.5, 0.125) };
    let mut host = n200::Host::with(N200Options::default(), signals, &[]);
    host.open_tx(100, Format::Sc16);
    host.open_rx(0, 100, Format::Sc16, 300);
    let start = host.time() + 1_000_000;
    host.packet(300, Some(start), true);
    host.stream(0, StreamAction::Samples(300), Some(start));
    host.poke_at(start + 5_001, settings::RX_DC_OFFSET_I, 0xC000_0000 | 1 << 27); // a quarter
    host.poke_at(start + 10_000, settings::TX_DC_OFFSET_Q, 1 << 20); // an eighth
    host.poke_at(start + 12_370, settings::RX_SWAP_IQ, 1);
    host.poke_at(start + 20_000, settings::TX_MUX, 0x10);
    host.run(ms(20));
    let near = |a: f32, b: f32| (a - b).abs() < 1e-3;
    assert_eq!((host.samples(0).len(), radiated.samples().len()), (300, 300));
    for (n, (i, q)) in host.samples(0).into_iter().enumerate() {
        let meant = match n {
            0..51 => (0.5, 0.125),
            51..124 => (0.25, 0.125),
            // Gateware swaps first, so the offset stays that of I.
            _ => (-0.125, 0.5),
        };
        let got = (f32::from(i) / 32_767.0, f32::from(q) / 32_767.0);
        assert!(near(got.0, meant.0) && near(got.1, meant.1), "sample {n}: {got:?}");
    }
    for (n, (_, _, x)) in radiated.samples().into_iter().enumerate() {
        let meant = match n {
            0..100 => (0.0, 0.0),
            100..200 => (0.0, 0.125),
            _ => (0.125, 0.0),
        };
        assert!(near(x.re, meant.0) && near(x.im, meant.1), "sample {n}: {x}");
    }
}

#[test]
fn a_scale_holds_from_its_sample_on_in_eight_bits_as_well() {
    let mut host = n200::Host::with(N200Options::default(), n200::constant(0.5, -0.25), &[]);
    host.open_rx(0, 100, Format::Sc8, 301);
    let full = Factor::new(100).unwrap().scaling(Direction::Rx, Format::Sc8).word;
    let start = host.time() + 1_000_000;
    host.stream(0, StreamAction::Samples(301), Some(start));
    host.poke_at(start + 12_300, settings::RX_DSP[0] + dsp::SCALE, full / 2);
    host.run(ms(20));
    let (before, after) = ((64, -32), (32, -16));
    assert_eq!(host.samples(0).len(), 301);
    for (n, &sample) in host.samples(0).iter().enumerate() {
        assert_eq!(sample, if n < 123 { before } else { after }, "sample {n}");
    }
}
