//! The beginning of a run in a recording.

use takt_base::Tick;

use crate::sample_ring::Mark;

#[derive(Clone, Copy, Debug)]
pub(super) struct Begin {
    pub(super) tick: Tick,
    pub(super) step: u32,
    pub(super) centre_hz: f64,
    pub(super) mark: Mark,
}
