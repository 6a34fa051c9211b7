//! A program of one's own: takt, and the components of this file. `cargo run -p takt --example own -- component list gain`
//! describes one of them. The guide is docs/how-to/write-a-component.md.

use std::process::ExitCode;

use takt_graph::{Item, Kind, Length, Shape};
use takt_runtime::{Component, Io, Registration, component};

/// Multiplies by a constant.
#[component]
fn gain(
    input: In<f32>,
    mut output: Out<f32>,
    /// How much.
    #[param(unit = "dB", range = -100.0..=100.0, default = 0.0, variable)]
    gain_db: f32,
) {
    let factor = 10_f32.powf(gain_db / 20.0);
    output.iter_mut().zip(input).for_each(|(y, x)| *y = x * factor);
}

/// Halves each number.
#[component]
fn half(input: In<f32>, mut output: Out<f32>) {
    output.iter_mut().zip(input).for_each(|(y, x)| *y = x / 2.0);
}

/// Brings four numbers a slot, but too few in slot 3, too many in slot 5, and none in slot 7, which it lost.
struct Aerial;

impl Component for Aerial {
    fn tick(&mut self, io: &mut Io<'_>) {
        let slot = io.slot;
        let mut output = io.outputs[0].write::<f32>();
        output.fill(slot as f32);
        match slot {
            3 => output.truncate(3),
            5 => output.truncate(5),
            7 => io.lose(),
            _ => {}
        }
    }
}

takt_runtime::inventory::submit! {
    Registration {
        kind: || Kind::new("aerial", "Brings numbers from outside, as far as they come."),
        shape: |_| Ok(Shape::new().output("out", Item::F32, Length::Fixed(4))),
        make: |_| Ok(Box::new(Aerial)),
    }
}

fn main() -> ExitCode {
    takt::main()
}
