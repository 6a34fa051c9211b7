//! Components of the registry, one call a slot.
//!
//! A call through [`Bench`] also hands packets over. A component with the same ports that does nothing tells that cost
//! apart. Instructions counted are those of one less those of the other; times are the bench's own, which leave it out.

use serde::Serialize;
use takt_graph::{Graph, Item, Params, PortId, Shape, Waveform};
use takt_runtime::{Bench, Component, Io, Registry};

use crate::components::{Call, Entry, bits, random};

pub const ALL: &[Entry] = &[
    ("bit-source", || open("bit-source")),
    ("bpsk-modulate", || open("bpsk-modulate")),
    ("awgn", || open("awgn")),
    ("bpsk-demodulate", || open("bpsk-demodulate")),
    ("bit-sink-compare", || open("bit-sink-compare")),
    ("copy", || open("copy")),
    ("saxpy", || open("saxpy")),
    ("delay", || open("delay")),
    ("counter", || open("counter")),
    ("counter-sink", || open("counter-sink")),
];

const ITEMS: usize = 16_384;

fn bench(name: &str) -> Bench {
    takt_phy::link();
    let registry = Registry::of_program().expect("names are unique");
    let mut params = Params::new();
    if name.ends_with("source") || name == "counter" {
        params = params.with("items", ITEMS as i64);
    }
    if name == "awgn" {
        params = params.with("ebn0_db", 6.0);
    }
    Bench::named(&registry, name, &params).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A packet for each input.
fn packets(shape: &Shape, items: impl Fn(usize) -> usize) -> Vec<Vec<u8>> {
    let packet = |(input, item): (usize, Item)| {
        let bytes = items(input) * item.bytes();
        let packet: Vec<u8> = match item {
            Item::Bit => bits(bytes),
            Item::I16 | Item::C16 => {
                random().take(bytes).flat_map(|word| ((word >> 50) as i16).to_le_bytes()).collect()
            }
            Item::F32 | Item::C32 => {
                random().take(bytes).flat_map(|word| ((word >> 40) as f32).to_le_bytes()).collect()
            }
            Item::Byte | Item::Llr => random().map(|word| (word >> 56) as u8).take(bytes).collect(),
        };
        packet[..bytes].to_vec()
    };
    shape.inputs.iter().map(|input| input.item).enumerate().map(packet).collect()
}

fn ticking(mut bench: Bench, packets: Vec<Vec<u8>>) -> Call {
    Box::new(move || {
        packets.iter().enumerate().for_each(|(input, packet)| bench.feed_bytes(input, packet));
        bench.tick();
    })
}

fn open(name: &str) -> Call {
    let bench = bench(name);
    let packets = packets(bench.shape(), |_| ITEMS);
    ticking(bench, packets)
}

/// A waveform from a file, checked.
pub fn graph(file: &str) -> Result<Graph, String> {
    takt_phy::link();
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let registry = Registry::of_program().map_err(|error| error.to_string())?;
    let waveform = Waveform::parse(file, &text).map_err(|error| error.to_string())?;
    Graph::check(&waveform, &registry).map_err(|error| error.to_string())
}

/// A component of a waveform as it is counted.
#[derive(Serialize)]
pub struct Named {
    name: String,
    #[serde(rename = "type")]
    kind: String,
    params: Params,
    /// Items in the packet of each input.
    items: Vec<u64>,
}

/// Those of a waveform.
pub fn components(file: &str) -> Result<Vec<Named>, String> {
    let graph = graph(file)?;
    let named = |(index, component): (usize, &takt_graph::Component)| Named {
        name: component.name.clone(),
        kind: component.kind.clone(),
        params: component.params.clone(),
        items: items(&graph, index),
    };
    Ok(graph.components().iter().enumerate().map(named).collect())
}

/// Items of the longest packet of each input.
fn items(graph: &Graph, component: usize) -> Vec<u64> {
    let longest = |port| {
        let link = graph.link_to(PortId { component, port });
        link.map_or(0, |link| graph.links()[link].lengths.max)
    };
    (0..graph.components()[component].declared().inputs.len()).map(longest).collect()
}

/// A component of a waveform, with its longest packets, full of noise; or the same ports with nothing done.
pub fn of_waveform(place: &str, frame: bool) -> Option<Call> {
    let (file, name) = place.rsplit_once(':')?;
    let graph = graph(file).ok()?;
    let index = graph.find(name)?;
    let component = &graph.components()[index];
    let shape = component.declared();
    let items = items(&graph, index);
    let packets = packets(&shape, |port| items[port] as usize);
    let bench = if frame {
        Bench::of(Nothing, shape).ok()?
    } else {
        Bench::named(&Registry::of_program().ok()?, &component.kind, &component.params).ok()?
    };
    Some(ticking(bench, packets))
}

/// The same ports, and nothing done.
struct Nothing;

impl Component for Nothing {
    fn tick(&mut self, _: &mut Io<'_>) {}
}

/// A component of [`ALL`] with nothing in it.
pub fn frame(name: &str) -> Option<Call> {
    let (known, _) = ALL.iter().find(|(known, _)| *known == name)?;
    let shape = bench(known).shape().clone();
    let packets = packets(&shape, |_| ITEMS);
    Some(ticking(Bench::of(Nothing, shape).ok()?, packets))
}

/// Nanoseconds of a call, batch by batch, by the bench's own clock. That may have coarse steps, which the mean of a batch evens
/// out.
pub fn timed(name: &str) -> Option<Vec<f64>> {
    const BATCHES: usize = 20;
    const CALLS: usize = 20;
    let (known, _) = ALL.iter().find(|(known, _)| *known == name)?;
    let mut bench = bench(known);
    let packets = packets(bench.shape(), |_| ITEMS);
    let mut tick = || {
        packets.iter().enumerate().for_each(|(input, packet)| bench.feed_bytes(input, packet));
        bench.tick().ns() as f64
    };
    Some((0..BATCHES).map(|_| (0..CALLS).map(|_| tick()).sum::<f64>() / CALLS as f64).collect())
}
