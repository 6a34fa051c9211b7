//! How a running takt shows itself to who watches it: `takt top`, the live page, a script.
//!
//! A process that streams or runs slots opens a Unix socket of its own. A reader of the same user, or root, connects, says how
//! often it wants to look, and gets lines of JSON: first a [`Hello`], then a [`Snapshot`] at each turn, and an [`End`].
//!
//! | module | holds |
//! | --- | --- |
//! | [`document`] | every line that either side sends: the document `takt.live/1` |
//! | [`limits`] | what bounds them |
//! | [`Publisher`], [`Source`] | the end of the process: one thread, which reads what is counted anyway |
//! | [`running`], [`Watch`] | the end of who watches |
//! | [`board`] | a snapshot that the process keeps itself, where counters can't be read from outside |
//! | [`tap`] | a few samples of a stream, for a spectrum |
//!
//! Every part of a snapshot is optional, and what is not known is absent, never 0.
//!
//! ```
//! use takt_host::sockets::SocketFolder;
//! use takt_host::trusted::{Trust, TrustedDir};
//! use takt_live::{Kind, Line, Publisher, Snapshot, Watch, hello, running_in};
//! # let place = tempfile::tempdir()?;
//! # let folder = || TrustedDir::open(place.path(), Trust::Own).map(SocketFolder::of);
//! let source = || Snapshot { speed: Some(1.0), ..Snapshot::default() };
//! let publisher = Publisher::start_in(folder()?, hello(Kind::Rate, "N200 at 127.0.0.1", "takt rate"), source)?;
//!
//! let mut watch = Watch::open_in(&folder()?, &running_in(&folder()?)?[0], 50)?;
//! assert_eq!(watch.hello.title, "N200 at 127.0.0.1");
//! let Some(Line::Snapshot(snapshot)) = watch.lines.next_line()? else { panic!("a snapshot") };
//! assert_eq!(snapshot.speed, Some(1.0));
//! # drop(publisher);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod board;
mod client;
pub mod document;
mod error;
pub mod limits;
mod server;
pub mod tap;

pub use board::{Board, BoardSource, board};
pub use client::{Asker, Lines, Running, Watch, running, running_in};
pub use document::{
    Component, Constellation, Direction, End, Hello, Kind, LatenessBar, Letters, Line, Link, Miss, Node, Radio,
    Request, SetAnswer, SetVariable, Slots, Snapshot, Spectrum, Variable, VariableValue,
};
pub use error::LiveError;
pub use server::{Publisher, Source, hello};
