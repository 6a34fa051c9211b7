#![no_main]
//! A waveform file of any bytes is read and checked, or refused with a place inside the text and a fix; never a panic.

use takt_graph::{Catalogue, Graph, Item, Kind, Latency, Length, ParamError, Params, Plan, Shape, Waveform};

struct Types(Vec<Kind>);

impl Catalogue for Types {
    fn kinds(&self) -> Vec<&Kind> {
        self.0.iter().collect()
    }
    fn shape(&self, kind: &Kind, _: &Params) -> Result<Shape, ParamError> {
        let like = Length::Ratio { num: 1, den: 1, of: 0 };
        Ok(match kind.name.as_str() {
            "source" => Shape::new().output("out", Item::Bit, Length::Fixed(8)),
            "add" => Shape::new().input("a", Item::Bit).input("b", Item::Bit).output("out", Item::Bit, like),
            "half" => {
                Shape::new().input("in", Item::Bit).output("out", Item::Bit, Length::Ratio { num: 1, den: 2, of: 0 })
            }
            _ => Shape::new().input("in", Item::Bit),
        })
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let types = Types(["source", "add", "half", "sink"].iter().map(|name| Kind::new(name, "")).collect());
    let checked = Waveform::parse("fuzzed.toml", &text).and_then(|waveform| Graph::check(&waveform, &types));
    match checked {
        Ok(graph) => {
            // One worker, in order: nothing takes a slot but what is isolated, one each at most.
            let isolated = graph.components().iter().filter(|component| component.isolated).count();
            assert!(Plan::single(&graph, Latency::Compact).latency_slots() as usize <= isolated);
        }
        Err(error) => {
            assert!(!error.fix().is_empty() && !error.to_string().is_empty());
            if let Some(place) = error.place {
                assert!(place.source.text.get(place.span).is_some() && place.line >= 1 && place.column >= 1);
            }
        }
    }
});
