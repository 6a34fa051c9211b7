//! Stand-in of a Python component in the slot loop. It hands packets over and takes answers, and computes nothing.
//!
//! Under a clock it never waits. A packet that finds no room is lost, and so is an output whose answer has not come `delay` slots
//! later. Both are counted, and concern this component alone. Under a free clock no time passes: there it waits for each answer, so
//! that a run computes the same every time.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use takt_graph::{Domain, Item, Kind, Length, ParamError, ParamSpec, Params, Shape, Value, limits};
use takt_runtime::soft::{Incoming, Outgoing, Policy, incoming, outgoing};
use takt_runtime::{Bit, Complex, Component, Equipment, InPort, Io, Llr, MakeError, OutPort, Prepared, Registration};

use crate::line::{HEAD, Head, Shared, SoftEnds};

/// The name of the type.
pub const NAME: &str = "python";

/// Time that an answer has by default, nanoseconds: some turns of Python's lock, which changes hands every 5 ms.
const USUAL_DELAY_NS: u64 = 20_000_000;
/// Time of packets that wait for a component without an output, which nobody waits for, nanoseconds.
const USUAL_QUEUE_NS: u64 = 1_000_000_000;
/// Memory of a queue at most, bytes.
const QUEUE_BYTES: usize = 256 << 20;
/// How often a waiting slot looks for its answer, under a free clock.
const LOOK: Duration = Duration::from_micros(50);

/// The type, as a registry has it before it is equipped.
pub const REGISTRATION: Registration = Registration { kind, shape, make: |_| Err(unequipped()) };

fn kind() -> Kind {
    let words = |words: Vec<&str>| Domain::Choice { of: words.into_iter().map(str::to_owned).collect() };
    let items = || words(Item::ALL.iter().map(|item| item.name()).chain(["none"]).collect());
    let count = |most: u64| Domain::Int { min: 0, max: most as i64 };
    Kind::new(NAME, "A component that Python executes.")
        .param(ParamSpec::new("call", count(1 << 32), "Which of the Python components of the run."))
        .param(ParamSpec::new("input", items(), "Type of its input's items."))
        .param(ParamSpec::new("output", items(), "Type of its output's items."))
        .param(
            ParamSpec::new("items", count(limits::ITEMS), "The most it gives; 0: as many as it gets.").default(0_i64),
        )
        .param(
            ParamSpec::new("delay", Domain::Int { min: -1, max: 4096 }, "Slots that an answer takes; -1: 20 ms.")
                .unit("slots")
                .default(-1_i64),
        )
}

fn item(params: &Params, name: &str) -> Option<Item> {
    params.text(name)?.parse().ok()
}

fn shape(params: &Params) -> Result<Shape, ParamError> {
    let (input, output) = (item(params, "input"), item(params, "output"));
    let items = params.int("items").and_then(|items| u32::try_from(items).ok()).unwrap_or(0);
    let length = match (items, input) {
        (0, None) if output.is_some() => {
            let what = "a component without an input must say how many items it sends".to_owned();
            return Err(ParamError::Together { what, fix: "give items=1000".to_owned() });
        }
        (0, _) => Length::Ratio { num: 1, den: 1, of: 0 },
        (items, _) => Length::UpTo(items),
    };
    let shape = input.map_or_else(Shape::new, |item| Shape::new().input("in", item));
    Ok(match output {
        Some(item) => shape.output("out", item, length),
        None => shape,
    })
}

fn unequipped() -> MakeError {
    let what = "a Python component runs within its own program only".to_owned();
    MakeError { what, fix: "run the waveform with Waveform.run in Python".to_owned() }
}

/// Makes the stand-ins of a run. `waits`: under a free clock.
pub fn equipment(lines: HashMap<i64, Arc<Shared>>, waits: bool) -> Equipment {
    Arc::new(move |params| {
        let shared = params.int("call").and_then(|call| lines.get(&call)).ok_or_else(unequipped)?;
        let output = item(params, "output");
        let delay = params.int("delay").and_then(|slots| u64::try_from(slots).ok());
        Ok(Box::new(StandIn {
            shared: Arc::clone(shared),
            waits,
            output,
            has_input: item(params, "input").is_some(),
            exact: params.int("items") == Some(0),
            declared_delay: delay,
            delay: 0,
            packets: None,
            answers: None,
            frame: Vec::new(),
            answer: Vec::new(),
            ahead: None,
            counts: Counts::default(),
        }))
    })
}

struct StandIn {
    shared: Arc<Shared>,
    waits: bool,
    output: Option<Item>,
    has_input: bool,
    /// An output is as long as its input.
    exact: bool,
    declared_delay: Option<u64>,
    /// Slots from a packet to its answer.
    delay: u64,
    packets: Option<Outgoing<u8>>,
    answers: Option<Incoming<u8>>,
    /// Room for a head and the longest packet.
    frame: Vec<u8>,
    /// Room for the longest answer.
    answer: Vec<u8>,
    /// The head of an answer that came before its slot.
    ahead: Option<Head>,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    lost_packets: u64,
    late_answers: u64,
    wrong_lengths: u64,
}

impl Component for StandIn {
    fn prepare(&mut self, ports: &Prepared<'_>) -> Result<(), String> {
        let bytes = |items: Option<&usize>, item: Option<Item>| {
            items.copied().unwrap_or(0).saturating_mul(item.map_or(0, Item::bytes))
        };
        let input = ports.shape.inputs.first().map(|port| port.item);
        let packet = HEAD + bytes(ports.input_items.first(), input);
        let answer = HEAD + bytes(ports.output_items.first(), self.output);
        let slots = |ns: u64| ns.div_ceil(ports.slot_ns.max(1)).clamp(1, 4095) + 1;
        self.delay = self.declared_delay.unwrap_or_else(|| slots(USUAL_DELAY_NS));
        let waiting = if self.output.is_some() { self.delay + 2 } else { slots(USUAL_QUEUE_NS) };
        let (give, packets) = outgoing(room(packet, waiting)?, Policy::Drop);
        let (answers, take) = match self.output {
            Some(_) => {
                let (answers, take) = incoming(room(answer, self.delay + 2)?, Policy::Drop);
                (Some(answers), Some(take))
            }
            None => (None, None),
        };
        (self.packets, self.answers) = (Some(give), take);
        (self.frame, self.answer) = (vec![0; packet], vec![0; answer]);
        self.shared.open(SoftEnds { packets, answers, skips_empty: self.has_input });
        Ok(())
    }

    fn tick(&mut self, io: &mut Io<'_>) {
        let packet = io.inputs.first().map_or(&[][..], |input| input.bytes());
        let lost = packet.is_empty() && io.inputs.first().is_some_and(InPort::is_missing);
        self.hand_over(Head { slot: io.slot, bytes: packet.len(), lost }, packet);
        let (Some(item), Some(port)) = (self.output, io.outputs.first_mut()) else { return };
        let Some(wanted) = io.slot.checked_sub(self.delay) else { return withhold(port, item) };
        match self.answer_of(wanted) {
            Some(Head { lost: true, .. }) => lose(port, item),
            Some(Head { bytes: 0, .. }) => withhold(port, item),
            Some(Head { bytes, .. }) => self.publish(port, item, bytes),
            None => {
                self.counts.late_answers += 1;
                lose(port, item);
            }
        }
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        let Counts { lost_packets, late_answers, wrong_lengths } = self.counts;
        let counts = [("lost_packets", lost_packets), ("late_answers", late_answers), ("wrong_lengths", wrong_lengths)];
        counts.map(|(name, count)| (name, Value::Int(count as i64))).into()
    }
}

/// Bytes of a queue for so many of the longest frames.
fn room(frame: usize, frames: u64) -> Result<usize, String> {
    let bytes = frame.saturating_mul(usize::try_from(frames).unwrap_or(usize::MAX));
    if bytes <= QUEUE_BYTES {
        return Ok(bytes);
    }
    Err(format!("{frames} packets of {frame} bytes wait for Python, which is more than {QUEUE_BYTES} bytes: delay = 2"))
}

impl StandIn {
    fn hand_over(&mut self, head: Head, packet: &[u8]) {
        let Some(packets) = &mut self.packets else { return };
        let Some((front, rest)) = self.frame.split_first_chunk_mut::<HEAD>() else { return };
        *front = head.write();
        if let Some(rest) = rest.get_mut(..packet.len()) {
            rest.copy_from_slice(packet);
        }
        let frame = self.frame.get(..HEAD + packet.len()).unwrap_or_default();
        while !packets.give(frame) {
            if !self.waits || self.shared.is_closed() {
                self.counts.lost_packets += 1;
                return;
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Takes the answer to the packet of a slot into `self.answer`. `None`: it is not there.
    fn answer_of(&mut self, wanted: u64) -> Option<Head> {
        loop {
            // Looked at first: what was answered before the end is still there.
            let closed = self.shared.is_closed();
            match self.ahead.take().or_else(|| self.take_head()) {
                Some(head) if head.slot > wanted => {
                    self.ahead = Some(head);
                    return None;
                }
                Some(head) => {
                    let there = self.take_answer(head.bytes);
                    // An older one came too late, and was counted in its slot.
                    if head.slot == wanted {
                        return there.then_some(head);
                    }
                }
                None if self.waits && !closed => std::thread::sleep(LOOK),
                None => return None,
            }
        }
    }

    fn take_head(&mut self) -> Option<Head> {
        let mut front = [0; HEAD];
        let taken = self.answers.as_mut()?.take(&mut front, HEAD);
        (taken == HEAD).then(|| Head::read(&front))
    }

    /// Takes an answer whose head was taken: both were given as one.
    fn take_answer(&mut self, length: usize) -> bool {
        let (Some(answers), Some(place)) = (&mut self.answers, self.answer.get_mut(..length)) else { return false };
        answers.take(place, length) == length
    }

    fn publish(&mut self, port: &mut OutPort, item: Item, length: usize) {
        let place = port.bytes_mut();
        let fits = if self.exact { length == place.len() } else { length <= place.len() };
        let (Some(place), Some(answer)) = (place.get_mut(..length).filter(|_| fits), self.answer.get(..length)) else {
            self.counts.wrong_lengths += 1;
            return lose(port, item);
        };
        place.copy_from_slice(answer);
        port.truncate(length / item.bytes());
    }
}

/// Calls something with the packet that a port is to give, whatever its items.
macro_rules! packet_of {
    ($port:expr, $item:expr, $call:ident) => {
        match $item {
            Item::Bit => $port.write::<Bit>().$call(),
            Item::Byte => $port.write::<u8>().$call(),
            Item::I16 => $port.write::<i16>().$call(),
            Item::C16 => $port.write::<Complex<i16>>().$call(),
            Item::F32 => $port.write::<f32>().$call(),
            Item::C32 => $port.write::<Complex<f32>>().$call(),
            Item::Llr => $port.write::<Llr>().$call(),
        }
    };
}

fn lose(port: &mut OutPort, item: Item) {
    packet_of!(port, item, lose);
}

fn withhold(port: &mut OutPort, item: Item) {
    packet_of!(port, item, withhold);
}
