//! The multiplexing of transport channels, TS 25.212 sections 4.2.8 and 4.2.9. How many ports there are depends on the
//! parameters, so these are written without the macro.

use crate::items::{bits, bits_mut, llrs, llrs_mut};
use takt_dsp::umts;
use takt_graph::{Accepts, Domain, Item, Kind, Length, ParamSpec, Params, Shape};
use takt_runtime::{Bit, Component, Io, Llr, MakeError, Registration};

/// Most channels of a radio frame.
const CHANNELS: usize = 32;

fn common(kind: Kind) -> Kind {
    let bits = Domain::Int { min: 1, max: 1_000_000 };
    let lengths = "Bits of each transport channel, where there are several: ports 1, 2, .. in their order.";
    let items = |name, domain, doc| ParamSpec::new(name, domain, doc).unit("items");
    kind.param(items("length", bits.clone(), "Bits of the transport channel in a radio frame.").default(9120))
        .param(items("lengths", Domain::Floats { max_len: CHANNELS }, lengths).default(Vec::<f64>::new()))
        .param(items("frame", bits, "Bits of a radio frame.").default(9120))
}

fn whole(params: &Params, name: &str) -> u32 {
    params.int(name).and_then(|bits| u32::try_from(bits).ok()).unwrap_or(0)
}

/// Bits of each channel in a radio frame. A value that is no number of bits is none, and refused when the component is
/// made.
fn channels(params: &Params) -> Vec<u32> {
    match params.floats("lengths").unwrap_or_default() {
        [] => vec![whole(params, "length")],
        several => several.iter().map(|&bits| if bits.fract() == 0.0 { bits as u32 } else { 0 }).collect(),
    }
}

/// `in`, or `in1`, `in2`, ..
fn ports(side: &str, params: &Params) -> Vec<(String, u32)> {
    let channels = channels(params);
    match channels[..] {
        [one] if params.floats("lengths").unwrap_or_default().is_empty() => vec![(side.to_owned(), one)],
        _ => channels.into_iter().enumerate().map(|(n, bits)| (format!("{side}{}", n + 1), bits)).collect(),
    }
}

fn lengths(params: &Params) -> Result<Vec<usize>, MakeError> {
    let (lengths, frame) = (channels(params), u64::from(whole(params, "frame")));
    if lengths.contains(&0) {
        return Err(MakeError {
            what: "a transport channel has no bits".into(),
            fix: "give lengths of at least 1".into(),
        });
    }
    let together: u64 = lengths.iter().copied().map(u64::from).sum();
    if together > frame {
        let what = format!("{together} bits of transport channels do not fit a radio frame of {frame}");
        return Err(MakeError { what, fix: format!("set frame = {together}, or shorten the channels") });
    }
    Ok(lengths.into_iter().map(|bits| bits as usize).collect())
}

struct UmtsMux(Vec<usize>);

impl Component for UmtsMux {
    fn tick(&mut self, io: &mut Io<'_>) {
        let mut output = io.outputs[0].write::<Bit>();
        let mut none = true;
        let mut rest = bits_mut(output.items_mut());
        for (length, port) in self.0.iter().zip(&*io.inputs) {
            let input = port.read::<Bit>();
            let (channel, behind) = rest.split_at_mut(*length);
            let there = input.len() == *length;
            none &= !there;
            // A channel that has nothing now is marked as such.
            umts::multiplex([bits(if there { &input } else { &[] })], channel);
            rest = behind;
        }
        umts::multiplex([], rest);
        if none {
            output.truncate(0);
        }
    }
}

struct UmtsDemux(Vec<usize>);

impl Component for UmtsDemux {
    fn tick(&mut self, io: &mut Io<'_>) {
        let input = io.inputs[0].read::<Llr>();
        let mut rest = llrs(&input);
        for (length, port) in self.0.iter().zip(&mut *io.outputs) {
            let mut output = port.write::<Llr>();
            match rest.split_at_checked(*length) {
                Some((channel, behind)) => {
                    umts::demultiplex(channel, [llrs_mut(&mut output)]);
                    rest = behind;
                }
                None => output.truncate(0),
            }
        }
    }
}

takt_runtime::inventory::submit! {
    Registration {
        kind: || common(Kind::new(
            "umts-mux",
            "Puts the radio frames of transport channels one behind the other into that of the physical channel, and marks for DTX \
             where there is nothing (TS 25.212, 4.2.8 and 4.2.9).",
        )),
        shape: |params| {
            let input = |shape: Shape, (name, bits): (String, u32)| {
                shape.input_of(&name, Item::Bit, Accepts::Exactly(bits.max(1)), 0)
            };
            let shape = ports("in", params).into_iter().fold(Shape::new(), input);
            Ok(shape.output("out", Item::Bit, Length::Fixed(whole(params, "frame"))))
        },
        make: |params| Ok(Box::new(UmtsMux(lengths(params)?))),
    }
}

takt_runtime::inventory::submit! {
    Registration {
        kind: || common(Kind::new(
            "umts-demux",
            "Takes the radio frames of transport channels out of that of the physical channel, soft values (TS 25.212, 4.2.8).",
        )),
        shape: |params| {
            let output = |shape: Shape, (name, bits): (String, u32)| shape.output(&name, Item::Llr, Length::Fixed(bits));
            let shape = Shape::new().input_of("in", Item::Llr, Accepts::Exactly(whole(params, "frame")), 0);
            Ok(ports("out", params).into_iter().fold(shape, output))
        },
        make: |params| Ok(Box::new(UmtsDemux(lengths(params)?))),
    }
}
