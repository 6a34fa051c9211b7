//! What an emulated receiver hears.

use takt_base::{Complex32, Tick};

/// Complex baseband at the ADC, full scale 1.0.
pub trait Source: Send {
    /// True: samples are exact 16-bit patterns (k/32768) that bypass gain and mixer (counter, recorded wire data).
    fn raw(&self) -> bool {
        false
    }

    /// Fills `out`: sample n belongs to free-running device tick `first + n * step`. Never allocates, locks or waits.
    fn fill(&mut self, first: Tick, step: u32, out: &mut [Complex32]);
}
