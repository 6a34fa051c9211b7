//! Rust types of the items that flow.

use bytemuck::Pod;
use num_complex::Complex;
use takt_graph::Item;

/// A type that ports can carry.
pub trait Sample: Pod + Send + Sync {
    /// Its item type.
    const ITEM: Item;
}

/// One bit: 0 or 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(transparent)]
pub struct Bit(pub u8);

/// A log-likelihood ratio; positive = bit 0 is the likelier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(transparent)]
pub struct Llr(pub i8);

macro_rules! samples {
    ($($rust:ty => $item:ident),*) => { $(impl Sample for $rust { const ITEM: Item = Item::$item; })* };
}
samples!(Bit => Bit, u8 => Byte, i16 => I16, Complex<i16> => C16, f32 => F32, Complex<f32> => C32, Llr => Llr);
