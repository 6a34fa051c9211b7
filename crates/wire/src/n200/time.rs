//! A device time as two registers, high word first.

pub use crate::words::{join, split};
