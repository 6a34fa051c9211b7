//! Facts about a component's ports before the first slot.

use takt_graph::{Component, Graph, Length, PortId, Shape};

/// How many inputs and outputs a component declares; those behind carry messages.
pub(crate) fn declared(node: &Component) -> (usize, usize) {
    (node.shape.inputs.len() - node.message_inputs, node.shape.outputs.len() - usize::from(node.message_output))
}

/// Items of the longest packet of each input, and of each output, of a component; those for messages included.
pub(crate) fn longest(graph: &Graph, component: usize) -> (Vec<usize>, Vec<usize>) {
    let input = |port| {
        let link = graph.link_to(PortId { component, port });
        link.map_or(0, |link| graph.links()[link].lengths.max)
    };
    let output = |length| match length {
        Length::Fixed(items) | Length::UpTo(items) => u64::from(items),
        Length::Ratio { num, den, of } => input(of) * u64::from(num) / u64::from(den),
    };
    // At most 16 Mi items.
    let items = |items: u64| usize::try_from(items).unwrap_or(0);
    let shape = &graph.components()[component].shape;
    let inputs = (0..shape.inputs.len()).map(|port| items(input(port)));
    let outputs = shape.outputs.iter().map(|port| items(output(port.length)));
    (inputs.collect(), outputs.collect())
}

/// Pairs of an input and the output that changes its packets in place.
pub(crate) fn in_place(shape: &Shape) -> Box<[(usize, usize)]> {
    let outputs = shape.outputs.iter().enumerate();
    outputs.filter_map(|(port, output)| Some((output.in_place?, port))).collect()
}
