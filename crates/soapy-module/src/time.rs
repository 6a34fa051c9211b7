//! SoapySDR counts time in nanoseconds, takt in ticks of the radio's clock.

use takt_base::{Tick, TickRate};

const NS: u128 = 1_000_000_000;

/// The tick nearest to a time; `None` before the clock's zero, or if it has no number.
pub fn tick_of(clock: TickRate, ns: i64) -> Option<Tick> {
    let ns = u128::from(u64::try_from(ns).ok()?);
    let ticks = (ns * u128::from(clock.hz()) + NS / 2) / NS;
    u64::try_from(ticks).ok().map(Tick)
}

/// The nanosecond nearest to a tick; saturates after 292 years.
pub fn ns_of(clock: TickRate, tick: Tick) -> i64 {
    let hz = u128::from(clock.hz());
    let ns = (u128::from(tick.0) * NS + hz / 2) / hz;
    i64::try_from(ns).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CLOCKS_HZ: [u32; 3] = [100_000_000, 200_000_000, 184_320_000];

    proptest! {
        #[test]
        fn a_tick_survives_nanoseconds(tick in 0_u64..1 << 50, clock in 0_usize..3) {
            let clock = TickRate::from_hz(CLOCKS_HZ[clock]).unwrap();
            prop_assert_eq!(tick_of(clock, ns_of(clock, Tick(tick))), Some(Tick(tick)));
        }

        #[test]
        fn no_time_makes_it_panic(ns in any::<i64>(), tick in any::<u64>(), hz in 1_u32..) {
            let clock = TickRate::from_hz(hz).unwrap();
            prop_assert!(ns >= 0 || tick_of(clock, ns).is_none());
            prop_assert!(ns_of(clock, Tick(tick)) >= 0);
        }
    }
}
