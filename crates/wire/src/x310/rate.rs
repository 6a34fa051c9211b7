//! Sample rates: which factors the converters divide the master clock by, and how (x310.md 8.2).

/// A factor a down-converter decimates by, and an up-converter interpolates by: 1 to 255 by its CIC filter, times 1, 2 or 4 by
/// half-band filters.
///
/// ```
/// use takt_wire::x310::rate::Factor;
/// let factor = Factor::exact(25e6, 200e6).unwrap();
/// assert_eq!((factor.get(), factor.stages()), (8, 0x202)); // two half-bands, CIC 2
/// assert_eq!(Factor::around(90e6, 200e6).map(|f| f.unwrap().get()), [3, 2]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Factor(u16);

/// Half-band filters of each converter that any rate may use: all that the emulated radio's and a real one's have in common.
const HALF_BANDS: u32 = 2;
const CIC_MAX: u32 = 255;

impl Factor {
    /// The smallest: the master clock itself.
    pub const MIN: Factor = Factor(1);
    /// The largest.
    pub const MAX: Factor = Factor((CIC_MAX << HALF_BANDS) as u16);

    /// `None` if the converters have no such factor.
    #[must_use]
    pub fn new(factor: u32) -> Option<Factor> {
        let fits = |half_bands: u32| {
            let step = 1 << half_bands;
            factor > 0 && factor.is_multiple_of(step) && factor / step <= CIC_MAX
        };
        (0..=HALF_BANDS).any(fits).then_some(Factor(factor as u16))
    }

    /// All of them, the fastest rate first.
    pub fn all() -> impl DoubleEndedIterator<Item = Factor> + Clone {
        (1..=u32::from(Self::MAX.0)).filter_map(Factor::new)
    }

    /// The factor itself: ticks a sample.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0 as u32
    }

    /// The sample rate it gives at this master clock, samples per second.
    #[must_use]
    pub fn rate_sps(self, clock_hz: f64) -> f64 {
        clock_hz / f64::from(self.0)
    }

    /// The factor of exactly this rate, to within a millionth of it.
    #[must_use]
    pub fn exact(rate_sps: f64, clock_hz: f64) -> Option<Factor> {
        let exactly = |factor: &Factor| (factor.rate_sps(clock_hz) / rate_sps - 1.0).abs() < 1e-6;
        Self::all().find(exactly)
    }

    /// The nearest legal rates not above and not below a request, in this order; `None` where there is none.
    #[must_use]
    pub fn around(rate_sps: f64, clock_hz: f64) -> [Option<Factor>; 2] {
        let below = Self::all().find(|factor| factor.rate_sps(clock_hz) <= rate_sps);
        let above = Self::all().rev().find(|factor| factor.rate_sps(clock_hz) >= rate_sps);
        [below, above]
    }

    /// Half-bands in bits 15:8, CIC in 7:0: as many half-bands as divide it, since they filter better, as UHD sets it.
    #[must_use]
    pub fn stages(self) -> u32 {
        let half_bands = self.get().trailing_zeros().min(HALF_BANDS);
        half_bands << 8 | self.get() >> half_bands
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_factor_is_its_half_bands_times_its_cic() {
        for factor in Factor::all() {
            let (half_bands, cic) = (factor.stages() >> 8, factor.stages() & 0xFF);
            assert_eq!(cic << half_bands, factor.get());
            assert!(half_bands <= 2 && (1..=255).contains(&cic), "{factor:?}");
        }
        assert_eq!(
            (Factor::all().count(), Factor::new(1020), Factor::new(257), Factor::new(0)),
            (511, Some(Factor::MAX), None, None)
        );
    }

    #[test]
    fn a_rate_between_two_has_both() {
        assert_eq!(Factor::exact(100e6, 200e6), Factor::new(2));
        assert_eq!(Factor::exact(30.72e6, 184.32e6), Factor::new(6));
        assert_eq!(Factor::exact(22e6, 200e6), None);
        assert_eq!(Factor::around(22e6, 200e6), [Factor::new(10), Factor::new(9)]);
        assert_eq!(Factor::around(500e6, 200e6), [Some(Factor::MIN), None]);
    }
}
