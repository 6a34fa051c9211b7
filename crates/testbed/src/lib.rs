//! Surroundings of measurements: network paths, environments at their ends, and what disturbs or impairs a side.
//!
//! ```text
//!   host side  <==== a path: namespaces, cables, switches, routers ====>  radio side
//!   agent in an environment: native,                                      agent: emulator,
//!   container, virtual machine                                            or a radio that is there
//! ```
//!
//! This crate removes on every way out what it has started, and names it in the registry of leftovers before it exists.
#![forbid(unsafe_code)]

/// A type that records keep as text: `FromStr` reads it, `Display` writes it.
macro_rules! kept_as_text {
    ($kept:ty, $error:ty) => {
        impl TryFrom<String> for $kept {
            type Error = $error;

            fn try_from(text: String) -> Result<$kept, $error> {
                text.parse()
            }
        }

        impl From<$kept> for String {
            fn from(kept: $kept) -> String {
                kept.to_string()
            }
        }
    };
}

pub mod disturbance;
mod duty;
pub mod environment;
pub mod impairment;
mod lateness;
mod launch;
mod lent;
pub mod net;
mod sharing;

pub use duty::serve;
pub use lateness::{Lateness, OwnLag, RadioLateness, Unread};
pub use lent::serve_lent;
