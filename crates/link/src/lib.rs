//! Ways in which cores share without locks: rings of slots between threads, and requests between processes.
//!
//! - [`ring`]: whole slots from one writer to one or more readers. Both ends look and go on; what to do when a cell is not
//!   free, or a slot not there, is the caller's.
//! - [`sleep`]: whether the reader of a ring sleeps, and has to be woken.
//! - [`exchange`]: requests to another process and its answers, through shared words that neither side trusts.
//!
//! Nothing here waits, allocates once made, or makes a system call. Each ordering is argued in its module and checked by
//! loom, over all interleavings of small programs: `RUSTFLAGS="--cfg loom" cargo test -p takt-link --release`. The crate
//! depends on nothing, so that loom's version of it is compiled quickly.
//!
//! ```no_run
//! let (mut writer, mut readers) = takt_link::ring::ring([0; 4], 1);
//! *writer.cell(0).unwrap() = 7;
//! writer.publish(0);
//! assert_eq!(readers[0].cell(0), Some(&7));
//! readers[0].release(1);
//! assert_eq!(readers[0].cell(0), None);
//! ```

#![warn(missing_docs)]

pub mod exchange;
pub mod ring;
pub mod sleep;
mod sync;
