//! Components on packets, in this process; and through the program, which must say the same.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{LazyLock, Mutex};

use takt_graph::{Accepts, Catalogue, Item, Params, Value};
use takt_runtime::{Bench, Registry};

use crate::component::piped;

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    takt_phy::link();
    Registry::of_program().expect("names are unique")
});

/// A component's output for one packet, and its results.
pub struct Computed {
    pub output: Vec<u8>,
    pub results: BTreeMap<&'static str, Value>,
}

/// A component with these parameters, each `NAME=VALUE`, on one packet of its only input; `packed`: eight bits a byte.
pub fn computed(name: &str, params: &[String], packed: bool, input: &[u8]) -> Computed {
    let kind = REGISTRY.kind(name).expect("a component");
    let mut given = Params::new();
    for param in params {
        let (key, value) = param.split_once('=').expect("NAME=VALUE");
        let declared = kind.find(key).unwrap_or_else(|| panic!("{name} has no {key}"));
        given.set(key, declared.parse(value).unwrap_or_else(|error| panic!("{error}")));
    }
    let given = kind.resolve(&given).unwrap_or_else(|error| panic!("{error}"));
    let shape = REGISTRY.shape(kind, &given).unwrap_or_else(|error| panic!("{error}"));
    let (port, result) = (&shape.inputs[0], shape.outputs.first());
    let bits = packed && port.item == Item::Bit;
    let mut packet = if bits { unpacked(input) } else { input.to_vec() };
    if let (true, Accepts::Exactly(step) | Accepts::MultipleOf(step)) = (bits, port.accepts) {
        // The bits that fill the last byte are none of it.
        packet.truncate(packet.len() / step as usize * step as usize);
    }
    let items = packet.len() / port.item.bytes();
    let mut bench = Bench::sized(&REGISTRY, name, &given, items).unwrap_or_else(|error| panic!("{error}"));
    bench.feed_bytes(0, &packet);
    bench.tick();
    let output = result.map(|_| bench.output_bytes(0)).unwrap_or_default();
    let as_bits = packed && result.is_some_and(|port| port.item == Item::Bit);
    let output = if as_bits { repacked(output) } else { output.to_vec() };
    Computed { output, results: bench.results() }
}

/// The same output. The first time of each type, packed and not, the program computes it as well.
pub fn output(name: &str, params: &[String], packed: bool, input: &[u8]) -> Vec<u8> {
    static CALLED: Mutex<BTreeSet<(String, bool)>> = Mutex::new(BTreeSet::new());
    let output = computed(name, params, packed, input).output;
    let first = CALLED.lock().expect("no test panics here").insert((name.to_owned(), packed));
    if first {
        let params = params.iter().flat_map(|param| ["--param", param]);
        let args = [name].into_iter().chain(params).chain(packed.then_some("--packed")).collect::<Vec<_>>();
        assert_eq!(piped(&args, input), output, "takt component run {args:?}");
    }
    output
}

/// The first bit is the highest of its byte.
fn unpacked(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| (0..8).rev().map(move |place| byte >> place & 1)).collect()
}

/// And back; the last byte is filled with zeros.
pub fn repacked(bits: &[u8]) -> Vec<u8> {
    let byte = |eight: &[u8]| eight.iter().zip((0..8).rev()).fold(0, |byte, (bit, place)| byte | bit << place);
    bits.chunks(8).map(byte).collect()
}
