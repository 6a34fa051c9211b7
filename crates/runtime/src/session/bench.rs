//! [`Bench`]: one component, fed by hand.

use std::collections::BTreeMap;

use takt_graph::limits;
use takt_graph::{
    Catalogue, InputShape, Item, Kind, Length, MissPolicy, OutputShape, ParamError, Params, PortId, Shape, Value,
};
use takt_link::ring::ring;

use crate::component::{Component, MakeError, Message, Prepared, Registry, Scalar};
use crate::port::{BrokenPacket, Cell, Grant, InPort, OutPort, Room, Source, Warm, in_place};
use crate::slot::Timer;
use crate::stats::EntryStats;
use crate::table::{Body, Entry};

/// Longest packet that a bench feeds by default, items.
const LONGEST: usize = 65_536;

/// A component on the bench: feed packets, tick, look. The ports and their memory are those of a running waveform; the
/// memory of outputs is poisoned before each tick, so that an item left unwritten shows. It panics at mistakes in a test: a
/// name that there is not, items of another type, a packet longer than 65 536 items (or what [`Bench::sized`] was given), a
/// value that does not suit.
///
/// ```
/// use takt_graph::{Item, Length, Shape};
/// use takt_runtime::{Bench, Component, Io};
/// struct Double;
/// impl Component for Double {
///     fn tick(&mut self, io: &mut Io<'_>) {
///         let input = io.inputs[0].read::<f32>();
///         io.outputs[0].write::<f32>().iter_mut().zip(input).for_each(|(y, x)| *y = 2.0 * x);
///     }
/// }
/// let shape = Shape::new().input("in", Item::F32).output("out", Item::F32, Length::Ratio { num: 1, den: 1, of: 0 });
/// let mut bench = Bench::of(Double, shape).unwrap();
/// assert_eq!(bench.feed("in", &[1.0_f32, 2.5]).tick().output::<f32>("out"), [2.0, 5.0]);
/// ```
pub struct Bench {
    entry: Entry,
    shape: Shape,
    kind: Option<Kind>,
    feeds: Vec<OutPort>,
    taps: Vec<InPort>,
    packets: Vec<Vec<u8>>,
    /// Inputs whose packet is missing in the next tick.
    missing: Vec<bool>,
    outputs: Vec<Vec<u8>>,
    /// Outputs whose packet was lost in the last tick.
    lost: Vec<bool>,
    timer: Timer,
    slot: u64,
    ns: u64,
    longest: usize,
}

/// Why a component is not on the bench.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// There is no such type.
    #[error("there is no component type `{0}`")]
    Kind(String),
    /// Its parameters are wrong.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// It was not made.
    #[error(transparent)]
    Make(#[from] MakeError),
}

/// Error of a component in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names say it")]
pub enum TickError {
    #[error("the component panicked in slot {slot}")]
    Panicked { slot: u64 },
    /// A packet has a number of items that the shape does not allow.
    #[error(
        "output {output} sent {} items in slot {}, but its shape says {}",
        packet.items, packet.slot, packet.declared_items
    )]
    Length { output: usize, packet: BrokenPacket },
}

impl Bench {
    /// A component of a registered type.
    ///
    /// # Errors
    /// There is no such type, or it refuses the parameters.
    pub fn named(registry: &Registry, kind: &str, params: &Params) -> Result<Bench, BenchError> {
        Bench::sized(registry, kind, params, LONGEST)
    }

    /// As [`Bench::named`], for packets of up to `longest` items on each input.
    pub fn sized(registry: &Registry, kind: &str, params: &Params, longest: usize) -> Result<Bench, BenchError> {
        let declared = registry.kind(kind).ok_or_else(|| BenchError::Kind(kind.to_owned()))?;
        let params = declared.resolve(params)?;
        let shape = registry.shape(declared, &params)?;
        let mut bench = Bench::boxed(registry.make(kind, &params)?, shape, longest)?;
        bench.kind = Some(declared.clone());
        Ok(bench)
    }

    /// A component of any type, with its ports; refused where it does not suit them.
    pub fn of(component: impl Component + 'static, shape: Shape) -> Result<Bench, BenchError> {
        Bench::boxed(Box::new(component), shape, LONGEST)
    }

    fn boxed(mut component: Box<dyn Component>, shape: Shape, longest: usize) -> Result<Bench, BenchError> {
        let given = |length: Length| match length {
            Length::Fixed(items) | Length::UpTo(items) => items as usize,
            Length::Ratio { num, den, .. } => longest * num as usize / den as usize,
        };
        let input_items = vec![longest; shape.inputs.len()];
        let output_items: Vec<usize> = shape.outputs.iter().map(|output| given(output.length)).collect();
        let ports =
            Prepared { shape: &shape, input_items: &input_items, output_items: &output_items, slot_ns: 1_000_000 };
        let fix = "change its parameters".to_owned();
        ports.prepare(component.as_mut()).map_err(|refused| MakeError { fix, ..refused })?;
        let most = output_items.iter().copied().max().unwrap_or(0).max(longest).max(128) * 8;
        let margin = shape.inputs.iter().map(|input| input.history as usize * input.item.bytes()).max().unwrap_or(0);
        // One room for all, as packets may be passed on in place.
        let room = Room { bytes: most, margin_bytes: margin };
        let line = |item: Item, grant: Grant, history: usize, port: usize| {
            let (writer, mut readers) = ring([Cell::new(room)], 1);
            let source = Source { output: PortId { component: 0, port }, ring: 0 };
            let reader = InPort::new(item, source, 0, history, readers.remove(0));
            (OutPort::new(item, grant, vec![writer], room, history), reader)
        };
        let input =
            |(port, input): (usize, &InputShape)| line(input.item, Grant::UpTo(longest), input.history as usize, port);
        let output = |(port, output): (usize, &OutputShape)| line(output.item, Grant::of(output.length), 0, port);
        let (feeds, inputs): (Vec<_>, Vec<_>) = shape.inputs.iter().enumerate().map(input).unzip();
        let (outputs, taps): (Vec<_>, Vec<_>) = shape.outputs.iter().enumerate().map(output).unzip();
        let longest_messages = limits::MESSAGES * limits::MESSAGE_BYTES;
        let (messages, sent) = line(Item::Byte, Grant::UpTo(longest_messages), 0, outputs.len());
        let declared = (inputs.len(), outputs.len());
        let outputs: Vec<OutPort> = outputs.into_iter().chain([messages]).collect();
        let taps: Vec<InPort> = taps.into_iter().chain([sent]).collect();
        let entry = Entry {
            id: 0,
            depth: 0,
            next: 0,
            until: u64::MAX,
            policy: MissPolicy::Skip,
            component: Body::Here(component),
            inputs: inputs.into_boxed_slice(),
            outputs: outputs.into_boxed_slice(),
            declared,
            in_place: in_place(&shape),
            leaves: false,
            pending: Vec::new(),
            stats: EntryStats::default(),
        };
        let (packets, missing) = (vec![Vec::new(); shape.inputs.len()], vec![false; shape.inputs.len()]);
        let (outputs, lost) = (vec![Vec::new(); taps.len()], vec![false; taps.len()]);
        let timer = Timer::of_processor();
        Ok(Bench {
            entry,
            shape,
            kind: None,
            feeds,
            taps,
            packets,
            missing,
            outputs,
            lost,
            timer,
            slot: 0,
            ns: 0,
            longest,
        })
    }

    /// The component's ports.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The packet of an input for the next tick. An input that is not fed is empty.
    pub fn feed<T: crate::Sample>(&mut self, input: &str, items: &[T]) -> &mut Bench {
        let port = self.input(input);
        assert_eq!(self.shape.inputs[port].item, T::ITEM, "items of input `{input}`");
        self.feed_bytes(port, bytemuck::cast_slice(items));
        self
    }

    /// The packet of an input is missing in the next tick, as one that was lost.
    pub fn lose(&mut self, input: &str) -> &mut Bench {
        let port = self.input(input);
        self.missing[port] = true;
        self
    }

    fn input(&self, name: &str) -> usize {
        let port = self.shape.inputs.iter().position(|port| port.name == name);
        port.unwrap_or_else(|| panic!("no input `{name}`"))
    }

    /// The packet of an input by index, as bytes.
    pub fn feed_bytes(&mut self, input: usize, bytes: &[u8]) {
        let most = self.longest * self.shape.inputs[input].item.bytes();
        assert!(bytes.len() <= most, "a packet of {} bytes", bytes.len());
        self.packets[input].clear();
        self.packets[input].extend_from_slice(bytes);
    }

    /// As [`Bench::try_tick`], but panics.
    pub fn tick(&mut self) -> &mut Bench {
        match self.try_tick() {
            Ok(()) => self,
            Err(fault) => panic!("{fault}"),
        }
    }

    /// Executes the next slot.
    ///
    /// # Errors
    /// The component panicked, or gave a packet of a length that its shape does not allow.
    pub fn try_tick(&mut self) -> Result<(), TickError> {
        let slot = self.slot;
        for ((feed, packet), missing) in self.feeds.iter_mut().zip(&mut self.packets).zip(&mut self.missing) {
            feed.begin(slot, &[], &mut Warm::default());
            feed.fill_bytes(packet);
            feed.finish(std::mem::take(missing));
            feed.hand_over();
            packet.clear();
        }
        self.entry.outputs.iter_mut().for_each(|output| output.poison(slot));
        let executed = self.entry.execute(slot, self.timer.read(), &mut self.timer, None);
        if executed.fault {
            return Err(TickError::Panicked { slot });
        }
        self.ns = self.timer.ns_of(executed.ticks());
        self.entry.publish(slot, executed, self.ns);
        for ((tap, packet), lost) in self.taps.iter_mut().zip(&mut self.outputs).zip(&mut self.lost) {
            tap.begin(slot);
            *lost = tap.is_missing();
            packet.clear();
            packet.extend_from_slice(tap.bytes());
            tap.finish(slot);
        }
        let mut outputs = self.entry.outputs.iter().enumerate();
        if let Some((output, packet)) = outputs.find_map(|(n, output)| Some((n, output.losses.first_broken?))) {
            return Err(TickError::Length { output, packet });
        }
        self.slot += 1;
        Ok(())
    }

    /// Packet that an output gave in the last tick.
    #[must_use]
    pub fn output<T: crate::Sample>(&self, output: &str) -> Vec<T> {
        let port = self.port_of(output);
        assert_eq!(self.shape.outputs[port].item, T::ITEM, "items of output `{output}`");
        let bytes = &self.outputs[port];
        let mut items = vec![T::zeroed(); bytes.len() / size_of::<T>()];
        bytemuck::cast_slice_mut(&mut items).copy_from_slice(bytes);
        items
    }

    /// Whether an output's packet of the last tick is lost: there should be one, and there is none.
    #[must_use]
    pub fn is_lost(&self, output: &str) -> bool {
        self.lost[self.port_of(output)]
    }

    fn port_of(&self, output: &str) -> usize {
        let port = self.shape.outputs.iter().position(|port| port.name == output);
        port.unwrap_or_else(|| panic!("no output `{output}`"))
    }

    /// Packet that an output by index gave in the last tick, as bytes.
    #[must_use]
    pub fn output_bytes(&self, output: usize) -> &[u8] {
        &self.outputs[output]
    }

    /// Execution time of the last tick, nanoseconds; ports and poison not included.
    #[must_use]
    pub fn ns(&self) -> u64 {
        self.ns
    }

    /// The component's results.
    #[must_use]
    pub fn results(&self) -> BTreeMap<&'static str, Value> {
        self.entry.component.results().into_iter().collect()
    }

    /// Sets a variable.
    pub fn set(&mut self, variable: &str, value: impl Into<Value>) {
        let kind = self.kind.as_ref().expect("a component of a registered type");
        let index = kind.params.iter().position(|param| param.variable && param.is_called(variable));
        let index = index.unwrap_or_else(|| panic!("no variable `{variable}`"));
        let value = kind.params[index].admit(&value.into()).unwrap_or_else(|error| panic!("{error}"));
        self.entry.component.set(index, Scalar::of(&value).expect("a number"));
    }

    /// Messages that it sent in the last tick.
    #[must_use]
    pub fn sent(&self) -> Vec<Message> {
        let bytes = self.outputs.last().map_or(&[][..], Vec::as_slice);
        bytes.chunks_exact(size_of::<Message>()).map(bytemuck::pod_read_unaligned).collect()
    }

    /// Hands a message over.
    pub fn send(&mut self, message: &Message) {
        self.entry.component.message(message);
    }

    /// Makes the component use its cheaper mode.
    pub fn degrade(&mut self) {
        self.entry.component.degrade();
    }
}

impl std::fmt::Debug for Bench {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bench").field("shape", &self.shape).field("slot", &self.slot).finish_non_exhaustive()
    }
}
