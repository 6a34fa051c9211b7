//! The words every other crate speaks: ticks, times, quantities and the clocks they are read from.
//!
//! Two frames of reference never mix, so each has a type of its own:
//!
//! | type | counts | of |
//! | --- | --- | --- |
//! | [`Tick`], [`Ticks`] | periods of a radio's master clock ([`TickRate`]) | the radio |
//! | [`MonoNs`] | nanoseconds of the monotonic clock | this host |
//!
//! A sample's time is always a `Tick`; when this host saw it is a `MonoNs`. A clock model relates the two, and it
//! belongs to whoever owns both ends. Code that needs the time takes a [`Clock`], so that tests run on a
//! [`VirtualClock`] and wait for nothing.
//!
//! ```
//! use takt_base::{Tick, TickRate};
//! let n200 = TickRate::from_hz(100_000_000).unwrap();
//! let first = Tick(54_661);
//! let second = first + n200.ticks_in(std::time::Duration::from_micros(2));
//! assert_eq!(second - first, takt_base::Ticks(200));
//! ```

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod address;
mod clock;
mod csv;
mod mistyped;
mod nearest;
mod notes;
pub mod plain;
mod progress;
mod quantity;
mod replace;
pub mod shown;
mod speed;
mod stop;
mod tick;
mod utc;
pub mod words;

pub use address::{AddressError, parse_ip, parse_ipv4};
pub use clock::{Clock, MonoNs, VirtualClock, WallClock};
pub use csv::csv_field;
pub use mistyped::Mistyped;
pub use nearest::nearest;
pub use notes::Notes;
pub use num_complex::{Complex, Complex32};
pub use progress::Progress;
pub use quantity::{QuantityError, parse_bytes, parse_duration, parse_number};
pub use replace::{replace_file, temporary_name};
pub use speed::{Speed, SpeedError};
pub use stop::Stop;
pub use tick::{Tick, TickRate, Ticks};
pub use utc::{Utc, utc_ns, utc_ns_now, utc_text};

/// The example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
