//! Faults.
use takt_base::Tick;
/// A device that can be switched off and on.
pub trait PowerCycle {
    /// Starts again as after power-up, at this tick.
    fn power_cycle(&mut self, now: Tick);
}
