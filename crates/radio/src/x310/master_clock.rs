//! The master clock: which there are, and which makes a rate.

use takt_base::TickRate;
use takt_wire::x310::MASTER_CLOCK_HZ;
use takt_wire::x310::rate::Factor;

use crate::RadioError;

/// A master clock that takt sets. A radio has one at a time, and every rate of it is that clock divided by a whole number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MasterClock {
    /// 200 MHz: 25, 50, 100 MS/s.
    #[default]
    Mhz200,
    /// 184.32 MHz: LTE's 7.68, 15.36, 30.72 MS/s (3GPP TS 36.211, clause 4).
    Mhz184_32,
}

impl MasterClock {
    /// All of them, the usual one first.
    pub const ALL: [MasterClock; 2] = [MasterClock::Mhz200, MasterClock::Mhz184_32];

    /// The one of exactly so many ticks a second, if there is one.
    #[must_use]
    pub fn of_hz(hz: f64) -> Option<MasterClock> {
        MasterClock::ALL.into_iter().find(|clock| clock.hz() == hz)
    }

    /// The first of them that makes this rate exactly, and its divider.
    ///
    /// ```
    /// use takt_radio::x310::MasterClock;
    /// let clock_of = |rate_sps| MasterClock::making(rate_sps).map(|(clock, factor)| (clock, factor.get()));
    /// assert_eq!(clock_of(25e6), Some((MasterClock::Mhz200, 8)));
    /// assert_eq!(clock_of(30.72e6), Some((MasterClock::Mhz184_32, 6)));
    /// assert_eq!(clock_of(22e6), None);
    /// ```
    #[must_use]
    pub fn making(rate_sps: f64) -> Option<(MasterClock, Factor)> {
        MasterClock::ALL.into_iter().find_map(|clock| Some((clock, Factor::exact(rate_sps, clock.hz())?)))
    }

    /// The one that makes both rates, where two are wished; of rates that no clock makes the usual one.
    #[must_use]
    pub fn for_rates(rates_sps: impl IntoIterator<Item = f64> + Clone) -> MasterClock {
        let makes_all = |clock: &MasterClock| {
            rates_sps.clone().into_iter().all(|rate_sps| Factor::exact(rate_sps, clock.hz()).is_some())
        };
        MasterClock::ALL.into_iter().find(makes_all).unwrap_or_default()
    }

    /// Ticks of it in a second.
    #[must_use]
    pub const fn rate(self) -> TickRate {
        const USUAL: TickRate = TickRate::from_hz(MASTER_CLOCK_HZ).expect("above 0 Hz");
        const LTE: TickRate = TickRate::from_hz(184_320_000).expect("above 0 Hz");
        match self {
            MasterClock::Mhz200 => USUAL,
            MasterClock::Mhz184_32 => LTE,
        }
    }

    /// The same, as a number.
    #[must_use]
    pub fn hz(self) -> f64 {
        f64::from(self.rate().hz())
    }

    /// Words of the clock chip that matter for it, in order: registers 28, 0 and 30 (x310.md 8.6).
    pub(super) const fn words(self) -> [u32; 3] {
        match self {
            MasterClock::Mhz200 => [0x0020_015C, 0x0014_0180, 0x0500_00BE],
            MasterClock::Mhz184_32 => [0x0190_0C1C, 0x0014_01C0, 0x0200_151E],
        }
    }

    /// The factor that gives exactly this rate.
    ///
    /// # Errors
    /// `Rate`, with the nearest rates of this clock.
    pub fn exact_rate(self, rate_sps: f64) -> Result<Factor, RadioError> {
        Factor::exact(rate_sps, self.hz()).ok_or_else(|| {
            let [below, above] = Factor::around(rate_sps, self.hz());
            let below = below.or(above).unwrap_or(Factor::MAX).rate_sps(self.hz());
            let above = above.map_or(below, |factor| factor.rate_sps(self.hz()));
            RadioError::Rate { requested_sps: rate_sps, clock_hz: self.rate().hz(), nearest_sps: [below, above] }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_is_found_by_what_it_has_to_make() {
        assert_eq!(MasterClock::for_rates([25e6, 50e6]), MasterClock::Mhz200);
        assert_eq!(MasterClock::for_rates([23.04e6]), MasterClock::Mhz184_32);
        assert_eq!(MasterClock::for_rates([25e6, 23.04e6]), MasterClock::Mhz200, "no clock makes both");
        assert_eq!(MasterClock::for_rates([]), MasterClock::Mhz200);
        assert!(MasterClock::Mhz184_32.exact_rate(25e6).is_err());
        assert_eq!(MasterClock::ALL.map(|clock| MasterClock::of_hz(clock.hz())), MasterClock::ALL.map(Some));
        assert_eq!(MasterClock::of_hz(100e6), None);
    }
}
