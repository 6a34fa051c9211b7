//! For tests: a few component types, with every kind of port, and random waveforms of them.
#![allow(dead_code, reason = "not every test file uses all of them")]

use proptest::prelude::*;
use takt_graph::{
    Accepts, Catalogue, ComponentSpec, Domain, Item, Kind, Length, ParamError, ParamSpec, Params, Shape, Waveform,
};

pub struct Types(Vec<Kind>);

pub fn types() -> Types {
    let items = |default: i64| {
        ParamSpec::new("items", Domain::Int { min: 0, max: 1 << 24 }, "Items a slot.").unit("items").default(default)
    };
    let ratio = |name| ParamSpec::new(name, Domain::Int { min: 1, max: 1000 }, "A term of the ratio.").default(1_i64);
    let level = ParamSpec::new("level_db", Domain::Float { min: -100.0, max: 100.0 }, "Level.").unit("dB");
    Types(vec![
        Kind::new("bits", "Gives bits.").param(items(1000)),
        Kind::new("some-bits", "Gives up to so many bits.").param(items(1000)),
        Kind::new("floats", "Gives floats.").param(items(1000)).param(level),
        Kind::new("rate", "Changes the rate.").param(ratio("num")).param(ratio("den")),
        Kind::new("frames", "Takes frames.").param(items(8)),
        Kind::new("add", "Adds two streams."),
        Kind::new("pass", "Passes on, in place."),
        Kind::new("slicer", "Makes bits of floats."),
        Kind::new("split", "Gives its input twice."),
        Kind::new("sink", "Takes bits."),
    ])
}

impl Catalogue for Types {
    fn kinds(&self) -> Vec<&Kind> {
        self.0.iter().collect()
    }

    fn shape(&self, kind: &Kind, params: &Params) -> Result<Shape, ParamError> {
        let int = |name| params.int(name).and_then(|n| u32::try_from(n).ok()).expect("checked");
        let like = |of| Length::Ratio { num: 1, den: 1, of };
        Ok(match kind.name.as_str() {
            "bits" => Shape::new().output("out", Item::Bit, Length::Fixed(int("items"))),
            "some-bits" => Shape::new().output("out", Item::Bit, Length::UpTo(int("items"))),
            "floats" => Shape::new().output("out", Item::F32, Length::Fixed(int("items"))),
            "rate" => {
                let length = Length::Ratio { num: int("num"), den: int("den"), of: 0 };
                Shape::new().input("in", Item::Bit).output("out", Item::Bit, length)
            }
            "frames" => Shape::new().input_of("in", Item::Bit, Accepts::Exactly(int("items")), 3).output(
                "out",
                Item::Bit,
                Length::Fixed(int("items")),
            ),
            "add" => Shape::new()
                .input("a", Item::Bit)
                .input_of("b", Item::Bit, Accepts::Ratio { num: 1, den: 1, of: 0 }, 0)
                .output("out", Item::Bit, like(0)),
            "pass" => Shape::new().in_out("in", "out", Item::Bit),
            "slicer" => Shape::new().input("in", Item::F32).output("out", Item::Bit, like(0)),
            "split" => {
                Shape::new().input("in", Item::Bit).output("one", Item::Bit, like(0)).output("two", Item::Bit, like(0))
            }
            "sink" => Shape::new().input("in", Item::Bit),
            other => unreachable!("{other} is not among the types"),
        })
    }
}

/// `n` components, each with two inputs, linked as given; a source of bits feeds what nothing else leads to.
pub fn waveform(n: usize, links: &[(usize, usize, u32)]) -> Waveform {
    let mut waveform = Waveform::new("random", std::time::Duration::from_millis(1))
        .with(ComponentSpec::new("source", "bits").param("items", 8));
    for c in 0..n {
        // Frames give the cycle a length of its own.
        waveform = waveform
            .with(ComponentSpec::new(&format!("add{c}"), "add"))
            .with(ComponentSpec::new(&format!("c{c}"), "frames"))
            .link(&format!("add{c}"), &format!("c{c}"));
    }
    let mut taken = vec![0; n];
    for &(from, to, delay) in links {
        if taken[to] < 2 {
            let port = ["a", "b"][taken[to]];
            taken[to] += 1;
            waveform = waveform.delayed(&format!("c{from}"), &format!("add{to}.{port}"), delay);
        }
    }
    for (to, &count) in taken.iter().enumerate() {
        for port in ["a", "b"].iter().skip(count) {
            waveform = waveform.link("source", &format!("add{to}.{port}"));
        }
    }
    waveform
}

/// For [`waveform`]: how many components, and their links with delays.
pub fn random() -> impl Strategy<Value = (usize, Vec<(usize, usize, u32)>)> {
    (1..5_usize).prop_flat_map(|n| (Just(n), prop::collection::vec((0..n, 0..n, 0..3_u32), 0..8)))
}
