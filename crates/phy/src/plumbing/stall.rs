//! Fault injection: late on purpose.

use std::time::Duration;

use takt_graph::{Domain, Item, Kind, ParamSpec, Shape, Value};
use takt_runtime::{Component, Io, Registration};

struct Stall {
    slot: u64,
    every: u64,
    time: Duration,
    degraded: bool,
}

impl Component for Stall {
    fn tick(&mut self, io: &mut Io<'_>) {
        let since = io.slot.checked_sub(self.slot);
        let is_due = |since| if self.every == 0 { since == 0 } else { since % self.every == 0 };
        if since.is_some_and(is_due) && !self.degraded {
            io.occupy(self.time);
        }
    }

    fn degrade(&mut self) {
        self.degraded = true;
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        vec![("degraded", self.degraded.into())]
    }
}

fn kind() -> Kind {
    let slots =
        |name, doc| ParamSpec::new(name, Domain::Int { min: 0, max: i64::MAX }, doc).unit("slots").default(0_i64);
    let time = ParamSpec::new("time_us", Domain::Float { min: 0.0, max: 60e6 }, "How long.").unit("us");
    Kind::new("stall", "Passes 16-bit samples on, and keeps its worker busy in one slot, or in every so many.")
        .param(slots("slot", "In which logical slot."))
        .param(slots("every", "Again after so many slots; 0: once."))
        .param(time)
}

takt_runtime::inventory::submit! {
    Registration {
        kind,
        shape: |_| Ok(Shape::new().in_out("in", "out", Item::I16)),
        make: |params| {
            let slots = |name| params.int(name).unwrap_or(0).unsigned_abs();
            let time = Duration::from_nanos((params.float("time_us").unwrap_or(0.0) * 1e3) as u64);
            Ok(Box::new(Stall { slot: slots("slot"), every: slots("every"), time, degraded: false }))
        },
    }
}
