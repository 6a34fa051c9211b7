//! Shows running processes in a terminal.
//!
//! | module | holds |
//! | --- | --- |
//! | [`Followed`] | what came of one process: the newest snapshot, rates, letters |
//! | `sections` | each part of a snapshot as lines of text |
//! | `page` | the parts that fit a size, under a heading and above the keys |
//! | [`show`], [`follow_once`] | the terminal, at ten frames a second, and one frame as text |
//!
//! ```
//! use takt_live::{Kind, Snapshot, hello};
//! let mut followed = takt_top::Followed::new(hello(Kind::Rate, "N200 at 127.0.0.1", "takt rate"));
//! followed.take(Snapshot { t_ns: 1_000_000_000, speed: Some(1.0), ..Snapshot::default() });
//! let text = takt_top::frame_text(&followed, 80, 24);
//! assert!(text.contains("N200 at 127.0.0.1"));
//! ```

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod edit;
mod error;
mod followed;
mod listing;
mod page;
mod sections;
mod terminal;
#[cfg(test)]
mod tests;

pub use error::TopError;
pub use followed::Followed;
pub use listing::{Listed, listed};
pub use page::frame_text;
pub use terminal::{View, follow_once, list_text, show};

/// Snapshots a second that the view asks for: each is a frame.
pub const EVERY_MS: u32 = 100;
