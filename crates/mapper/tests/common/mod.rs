//! Graphs of any form for tests: components with as many inputs as lead to them and one output.
#![allow(dead_code, reason = "not every test file uses all of it")]

use std::time::Duration;

use proptest::prelude::*;
use takt_graph::{
    Catalogue, ComponentSpec, Domain, Graph, Item, Kind, Length, ParamError, ParamSpec, Params, Shape, Waveform,
};
use takt_mapper::{Cost, Costs};

struct Types(Vec<Kind>);

impl Catalogue for Types {
    fn kinds(&self) -> Vec<&Kind> {
        self.0.iter().collect()
    }

    fn shape(&self, _: &Kind, params: &Params) -> Result<Shape, ParamError> {
        let int = |name| params.int(name).and_then(|n| u32::try_from(n).ok()).expect("checked");
        let inputs = (0..int("inputs")).fold(Shape::new(), |shape, n| shape.input(&format!("in{n}"), Item::Byte));
        Ok(inputs.output("out", Item::Byte, Length::Fixed(int("bytes"))))
    }
}

/// A link: from, to, delay.
pub type Link = (usize, usize, u32);

/// Components `c0`, `c1`, ... that each give so many bytes a slot.
pub fn graph(bytes: &[u32], links: &[Link]) -> Result<Graph, takt_graph::GraphError> {
    isolated(bytes, links, &[])
}

/// The same, some of them in processes of their own.
pub fn isolated(bytes: &[u32], links: &[Link], apart: &[usize]) -> Result<Graph, takt_graph::GraphError> {
    let whole = |name| ParamSpec::new(name, Domain::Int { min: 0, max: 1 << 24 }, "");
    let types = Types(vec![Kind::new("any", "").param(whole("inputs")).param(whole("bytes"))]);
    let mut waveform = Waveform::new("any", Duration::from_millis(1));
    for (c, &bytes) in bytes.iter().enumerate() {
        let inputs = links.iter().filter(|link| link.1 == c).count() as i64;
        let spec = ComponentSpec::new(&format!("c{c}"), "any").param("inputs", inputs);
        let spec = spec.param("bytes", i64::from(bytes));
        waveform = waveform.with(if apart.contains(&c) { spec.isolated() } else { spec });
    }
    let mut taken = vec![0; bytes.len()];
    for &(from, to, delay) in links {
        waveform = waveform.delayed(&format!("c{from}"), &format!("c{to}.in{}", taken[to]), delay);
        taken[to] += 1;
    }
    Graph::check(&waveform, &types)
}

pub fn costs(ns: &[u64]) -> Costs {
    let all = ns.iter().enumerate();
    all.fold(Costs::of("big", None), |costs, (c, &ns)| costs.with(&format!("c{c}"), Cost::exactly(ns)))
}

/// Links forward at any delay, backward with one at least, so that all graphs are legal and many have cycles.
pub fn links(components: usize, most: usize) -> impl Strategy<Value = Vec<Link>> {
    let link = (0..components, 0..components, 0..3_u32);
    prop::collection::vec(link, 0..most).prop_map(|links| {
        links.into_iter().map(|(from, to, delay)| (from, to, if to <= from { delay.max(1) } else { delay })).collect()
    })
}

/// Costs, bytes and links.
pub fn graphs(components: std::ops::Range<usize>) -> impl Strategy<Value = (Vec<u64>, Vec<u32>, Vec<Link>)> {
    components.prop_flat_map(|n| {
        (prop::collection::vec(1..200_u64, n), prop::collection::vec(0..1000_u32, n), links(n, 2 * n))
    })
}
