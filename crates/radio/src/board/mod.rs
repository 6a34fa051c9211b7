//! Daughterboards: what lies between the antenna and the converters.

mod adf4350;

pub use adf4350::{OutOfRange, Synthesis, synthesise};
