//! Chains that cost as little as a component can.

use takt_runtime::component;

/// Gives zeros.
#[component(name = "null-source")]
fn null_source(
    #[port(fixed = items)] mut output: Out<f32>,
    /// Items a slot.
    #[param(unit = "items", range = 1..=16_777_216, default = 1000)]
    items: u32,
) {
    let _ = items;
    output.fill(0.0);
}

/// Takes packets and does nothing with them.
#[component(name = "null-sink")]
fn null_sink(input: In<f32>) {
    let _ = input;
}

/// Copies.
#[component]
fn copy(input: In<f32>, mut output: Out<f32>) {
    output.copy_from_slice(&input);
}

/// Multiplies by a and adds b.
#[component]
fn saxpy(
    input: In<f32>,
    mut output: Out<f32>,
    /// Factor.
    #[param(default = 1.5, variable)]
    a: f32,
    /// Term.
    #[param(default = 0.5, variable)]
    b: f32,
) {
    output.iter_mut().zip(input).for_each(|(y, x)| *y = a * x + b);
}

/// Multiplies by a and adds b, in place.
#[component(name = "saxpy-in-place")]
fn saxpy_in_place(
    mut items: InOut<f32>,
    /// Factor.
    #[param(default = 1.5, variable)]
    a: f32,
    /// Term.
    #[param(default = 0.5, variable)]
    b: f32,
) {
    items.iter_mut().for_each(|x| *x = a * *x + b);
}

/// Passes on what came some items earlier; zeros first.
#[component]
fn delay(
    #[port(history = items)] input: In<f32>,
    mut output: Out<f32>,
    /// How many items earlier.
    #[param(unit = "items", range = 0..=1_048_576, default = 1)]
    items: u32,
) {
    let _ = items;
    let past = input.with_history();
    output.iter_mut().zip(past).for_each(|(y, x)| *y = *x);
}
