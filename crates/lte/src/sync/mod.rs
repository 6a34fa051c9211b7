//! Synchronisation signals and the search for cells: TS 36.211 section 6.11, FDD, normal prefix.
//!
//! A base station sends two symbols every 5 ms, in subframes 0 and 5. The primary signal says where they are and which of three
//! families the cell belongs to. The secondary signal, one symbol before, says which of 168 groups and which of both subframes.
//! [`map_synchronisation`] sends them, [`CellSearch`] finds them. Both signals stay within 62 subcarriers, so the search works at
//! 1.92 MS/s whatever the carrier's rate.

mod cancel;
mod correlate;
mod decimate;
mod elements;
mod identify;
mod map;
mod offset;
mod primary;
mod search;
mod secondary;

pub use map::map_synchronisation;
pub use search::{CellSearch, FoundCell};

/// Subcarriers of either signal.
const LEN: usize = 62;

/// The rate at which the search works, samples a second, and a symbol there: points and prefixes.
const RATE_SPS: f64 = 1.92e6;
const FFT_LEN: usize = 128;
const FIRST_PREFIX: usize = 10;
const PREFIX: usize = 9;
/// From a symbol to the next within a slot.
const SYMBOL: usize = FFT_LEN + PREFIX;
const SLOT: usize = 960;
/// From a primary signal to the next.
const HALF_FRAME: usize = 9600;
/// From the begin of a subframe to its primary signal, without the prefix.
const PRIMARY_BEGIN: usize = SLOT - FFT_LEN;

/// Half frames of a search. At -3 dB, eight have the frequency within 300 Hz in 1000 tries of 1000. Four miss it in 14, and half of
/// the cells that are 6 dB below another.
const HALF_FRAMES: usize = 8;
/// The first place that the search considers for a primary signal: the secondary and its prefix come before, and some slack.
const EARLIEST: usize = 160;
/// Samples of a search at 1.92 MS/s: each of its places has all its half frames.
const SEARCH_LEN: usize = EARLIEST + HALF_FRAMES * HALF_FRAME + 160;
