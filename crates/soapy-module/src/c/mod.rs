//! The functions that `module.cpp` calls, in C's conventions.
//!
//! A function returns 0 or a count, or one of SoapySDR's negative numbers, and then writes why. Each argument is checked: a null
//! pointer, a text without an end in sight and a count out of range are refused. A panic becomes a refusal. The caller promises the
//! rest: that a pointer which is not null points to the memory its function names, and that a handle is used before its close, and
//! closed once.

#![allow(unsafe_code, reason = "a C interface: raw pointers come in, and each is checked and borrowed for one call")]

mod device;
mod memory;
mod stream;

pub use device::*;
pub use memory::{Pairs, Said, takt_text_free};
pub use stream::*;
