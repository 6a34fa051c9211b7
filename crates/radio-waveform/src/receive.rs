//! The component that brings a radio's samples into a waveform, a slot's at a time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use takt_base::Complex32;
use takt_graph::{Domain, Item, Kind, Length, ParamSpec, Params, Shape, Value};
use takt_radio::Net;
use takt_runtime::{Component, Io, Registration};

use crate::budget::Timeline;
use crate::params::radio;
use crate::pump::{Cell, CellQueues, Tally};

/// Its name in waveforms.
pub(crate) const KIND: &str = "radio-receive";

/// Gives the samples of each slot; where any is missing, nothing, and the radio is the culprit.
pub(crate) struct Receive {
    ends: CellQueues,
    /// Which of the waveform's receivers this is, from 0.
    index: usize,
    /// Cell of a later slot than the last one requested.
    pending: Option<Cell>,
    net: Arc<dyn Net>,
    timeline: Arc<Timeline>,
    tally: Arc<Tally>,
    lost_slots: i64,
    /// Crowded slots by the last one that was executed: behind it nobody takes cells.
    crowded_slots: u64,
}

impl Receive {
    pub(crate) fn new(
        (index, ends): (usize, CellQueues),
        net: Arc<dyn Net>,
        timeline: Arc<Timeline>,
        tally: Arc<Tally>,
    ) -> Receive {
        Receive { ends, index, pending: None, net, timeline, tally, lost_slots: 0, crowded_slots: 0 }
    }

    /// The samples of a slot, if they came; cells of earlier ones go back.
    fn cell(&mut self, slot: u64) -> Option<Cell> {
        loop {
            let cell = self.pending.take().or_else(|| self.ends.full.pop().ok())?;
            if cell.slot == slot {
                return Some(cell);
            }
            if cell.slot > slot {
                self.pending = Some(cell);
                return None;
            }
            self.give_back(cell);
        }
    }

    fn give_back(&mut self, cell: Cell) {
        // There are as many places as cells.
        let _ = self.ends.empty.push(cell);
    }
}

impl Component for Receive {
    fn tick(&mut self, io: &mut Io<'_>) {
        self.timeline.taken(io.slot, self.index, self.net.now());
        self.crowded_slots = self.tally.crowded_slots.load(Ordering::Relaxed);
        let Some(cell) = self.cell(io.slot) else {
            self.lost_slots += 1;
            return io.lose();
        };
        let mut output = io.outputs[0].write::<Complex32>();
        output.iter_mut().zip(&cell.samples).for_each(|(y, x)| *y = *x);
        self.give_back(cell);
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        let count = |count: u64| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
        let of = |counter: &AtomicU64| count(counter.load(Ordering::Relaxed));
        let hides = self.tally.hides_losses.load(Ordering::Relaxed);
        vec![
            ("lost_slots", self.lost_slots.into()),
            ("overflow_slots", of(&self.tally.overflow_slots)),
            ("lost_samples", if hides { "unknown".into() } else { of(&self.tally.lost_samples) }),
            ("crowded_slots", count(self.crowded_slots)),
        ]
    }
}

/// In its place where there is no radio: when a waveform is tried to learn what its components cost.
struct Silence;

impl Component for Silence {
    fn tick(&mut self, io: &mut Io<'_>) {
        io.outputs[0].write::<Complex32>().fill(Complex32::default());
    }
}

fn kind() -> Kind {
    let channel = Domain::Int { min: 0, max: 1 };
    let items = Domain::Int { min: 1, max: 1 << 24 };
    radio(Kind::new(
        KIND,
        "Gives what a radio receives: slot k begins at sample k times `items` of the radio's own clock.",
    ))
    .param(
        ParamSpec::new("items", items, "Samples a slot. With its length that is the rate, which the radio must have.")
            .unit("items"),
    )
    .param(ParamSpec::new("channel", channel, "The radio's receiver.").default(0_i64))
    .param(
        ParamSpec::new(
            "source",
            Domain::Text,
            "Signal at the antenna of the emulator that takt starts: as takt emulate's \
                --source, or a waveform file whose file-sink writes it.",
        )
        .default("noise"),
    )
}

fn shape(params: &Params) -> Shape {
    let items = params.int("items").and_then(|items| u32::try_from(items).ok()).unwrap_or(1);
    Shape::new().output("out", Item::C32, Length::Fixed(items))
}

takt_runtime::inventory::submit! {
    Registration { kind, shape: |params| Ok(shape(params)), make: |_| Ok(Box::new(Silence)) }
}
