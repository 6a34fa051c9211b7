//! Decides on the analogue settings: from the radios that stream to the middle of the front end's band.

use takt_base::Tick;

use crate::{AnalogPolicy, Band, Fit};

/// A radio that streams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Asker {
    pub(crate) radio: usize,
    pub(crate) band: Band,
    pub(crate) since: Tick,
    pub(crate) priority: u8,
}

/// A policy's wish for the front end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnalogWish {
    /// Middle of its band, Hz; `None`: where it is.
    pub centre_hz: Option<f64>,
    /// Gain, dB; `None`: as it is.
    pub gain_db: Option<f64>,
    /// The radio that decides, by its number; `None`: all together.
    pub radio: Option<usize>,
}

/// Wanted middle of the band (`None`: where it is), and the radio that decides alone. `None`: nobody moves anything.
/// The band stays as long as whoever decides fits.
pub(crate) fn wanted_centre_hz(
    policy: AnalogPolicy,
    wide: Band,
    askers: &[Asker],
) -> Option<(Option<f64>, Option<usize>)> {
    let alone = |asker: &Asker| {
        let stays = asker.band.fit(wide) == Fit::Inside;
        ((!stays).then_some(asker.band.centre_hz), Some(asker.radio))
    };
    match policy {
        AnalogPolicy::Fixed => None,
        AnalogPolicy::First => askers.iter().min_by_key(|asker| (asker.since, asker.radio)).map(alone),
        AnalogPolicy::HighestPriority => {
            let first = |asker: &&Asker| (std::cmp::Reverse(asker.priority), asker.since, asker.radio);
            askers.iter().min_by_key(first).map(alone)
        }
        AnalogPolicy::WidestFit => widest(wide, askers).map(|centre_hz| (Some(centre_hz), None)),
    }
}

/// The centre at which most of them fit; `None`: no other is better than the present one. The nearest of equally good
/// ones wins.
fn widest(wide: Band, askers: &[Asker]) -> Option<f64> {
    let fit = |centre_hz: f64| {
        let moved = Band { centre_hz, ..wide };
        askers.iter().filter(|asker| asker.band.fit(moved) == Fit::Inside).count()
    };
    let half_hz = wide.width_hz / 2.0;
    let edges = askers.iter().flat_map(|asker| [asker.band.low_hz() + half_hz, asker.band.high_hz() - half_hz]);
    let now = fit(wide.centre_hz);
    let better = edges.map(|centre_hz| (fit(centre_hz), centre_hz)).filter(|(fits, _)| *fits > now);
    let apart_hz = |centre_hz: f64| (centre_hz - wide.centre_hz).abs();
    let best = better.max_by(|(a, at), (b, bt)| a.cmp(b).then(apart_hz(*bt).total_cmp(&apart_hz(*at))));
    best.map(|(_, centre_hz)| centre_hz)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDE: Band = Band { centre_hz: 2400e6, width_hz: 10e6 };

    fn asker(radio: usize, centre_hz: f64, since: u64, priority: u8) -> Asker {
        Asker { radio, band: Band { centre_hz, width_hz: 1e6 }, since: Tick(since), priority }
    }

    #[test]
    fn who_decides_is_as_the_policy_says_and_the_band_stays_while_it_fits() {
        let askers = [asker(0, 2410e6, 50, 1), asker(1, 2420e6, 40, 1), asker(2, 2403e6, 90, 9)];
        let of = |policy| wanted_centre_hz(policy, WIDE, &askers);
        assert_eq!(of(AnalogPolicy::Fixed), None);
        assert_eq!(of(AnalogPolicy::First), Some((Some(2420e6), Some(1))));
        assert_eq!(of(AnalogPolicy::HighestPriority), Some((None, Some(2))));
        assert_eq!(wanted_centre_hz(AnalogPolicy::First, WIDE, &[]), None);
    }

    #[test]
    fn the_widest_fit_has_most_radios_and_moves_as_little_as_it_must() {
        let askers = [asker(0, 2401e6, 0, 0), asker(1, 2407e6, 0, 0), asker(2, 2450e6, 0, 0)];
        // 2402.5 MHz is the nearest with 2406.5 to 2407.5 MHz inside; 2401 MHz still is.
        assert_eq!(wanted_centre_hz(AnalogPolicy::WidestFit, WIDE, &askers), Some((Some(2402.5e6), None)));
        let there = Band { centre_hz: 2402.5e6, ..WIDE };
        assert_eq!(wanted_centre_hz(AnalogPolicy::WidestFit, there, &askers), None, "nothing is better");
    }
}
