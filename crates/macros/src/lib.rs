//! [`component`]: a function, or a struct with `new` and `tick`, becomes a component type that waveforms can name.
//! Documented in `takt_runtime`, which re-exports it; the tests are there as well.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod emit;
mod param;
mod port;
mod read;
#[cfg(test)]
mod refusals;

use proc_macro::TokenStream;

/// Makes a component type of a function, or of an `impl` block with `new` and `tick`, and registers it by name.
///
/// - Arguments of type `In<T>`, `Out<T>` and `InOut<T>` are ports; `input` and `output` are called `in` and `out` in
///   waveforms. `#[port(..)]` says more: `name = ".."`; of an input `history = n`, `exactly = n`, `multiple_of = n`; of an
///   output `fixed = n`, `up_to = n`, `ratio = p / q`, `length = x` (a `Length`), where expressions may use the parameters
///   by name. An output without it is as long as the first input's packet.
/// - Arguments of a function, or of `new`, with `#[param(..)]` are parameters: `unit = ".."`, `range = a..=b`,
///   `choice = [".."]`, `default = x`, `variable`; `name = ".."` is what files say instead of the argument's name, `alias = ".."`
///   (any number of them) what they may say as well. Types: `bool`, integers, floats, `String`, `Vec<f64>`.
/// - `slot: u64` among the arguments of the function or of `tick` is the logical slot; `outbox: &mut Outbox`
///   takes messages to other components.
/// - An `impl` block may have `prepare`, `message`, `degrade` and `results` as the trait does, and for a variable `x`
///   it has `set_x(&mut self, x)` and `x(&self)`.
/// - `#[component(name = "..")]` gives another name than the function's or struct's in-kebab-case.
///
/// Doc comments are what `takt component list` prints.
#[proc_macro_attribute]
pub fn component(attribute: TokenStream, item: TokenStream) -> TokenStream {
    read::component(attribute.into(), item.into()).unwrap_or_else(|error| error.to_compile_error()).into()
}
