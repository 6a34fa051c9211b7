//! The channels of 3GPP TS 36.101, annex B.2: delay profiles (B.2.1) and Doppler frequencies (B.2.2), and how users write them.

use std::fmt;
use std::str::FromStr;

/// A tap of a delay profile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProfileTap {
    /// After the first tap, ns.
    pub delay_ns: f64,
    /// Mean power relative to the strongest tap, dB.
    pub power_db: f64,
}

/// Delays and mean powers of the paths of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayProfile {
    /// Extended Pedestrian A, table B.2.1-2.
    Epa,
    /// Extended Vehicular A, table B.2.1-3.
    Eva,
    /// Extended Typical Urban, table B.2.1-4.
    Etu,
}

impl DelayProfile {
    /// All of them, shortest first.
    pub const ALL: [DelayProfile; 3] = [DelayProfile::Epa, DelayProfile::Eva, DelayProfile::Etu];

    /// As users write it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            DelayProfile::Epa => "EPA",
            DelayProfile::Eva => "EVA",
            DelayProfile::Etu => "ETU",
        }
    }

    /// The taps, in the order of their delays.
    #[must_use]
    pub fn taps(self) -> &'static [ProfileTap] {
        match self {
            DelayProfile::Epa => &EPA,
            DelayProfile::Eva => &EVA,
            DelayProfile::Etu => &ETU,
        }
    }

    /// Delay of the last tap, ns.
    #[must_use]
    pub fn longest_delay_ns(self) -> f64 {
        self.taps().iter().fold(0.0, |longest, tap| tap.delay_ns.max(longest))
    }

    /// The share of a tap in the mean power, for each tap; the shares add up to 1.
    pub fn shares(self) -> impl Iterator<Item = f64> {
        let power = |tap: &ProfileTap| 10f64.powf(tap.power_db / 10.0);
        let total: f64 = self.taps().iter().map(power).sum();
        self.taps().iter().map(move |tap| power(tap) / total)
    }
}

const fn tap(delay_ns: f64, power_db: f64) -> ProfileTap {
    ProfileTap { delay_ns, power_db }
}

const EPA: [ProfileTap; 7] = [
    tap(0.0, 0.0),
    tap(30.0, -1.0),
    tap(70.0, -2.0),
    tap(90.0, -3.0),
    tap(110.0, -8.0),
    tap(190.0, -17.2),
    tap(410.0, -20.8),
];

const EVA: [ProfileTap; 9] = [
    tap(0.0, 0.0),
    tap(30.0, -1.5),
    tap(150.0, -1.4),
    tap(310.0, -3.6),
    tap(370.0, -0.6),
    tap(710.0, -9.1),
    tap(1090.0, -7.0),
    tap(1730.0, -12.0),
    tap(2510.0, -16.9),
];

const ETU: [ProfileTap; 9] = [
    tap(0.0, -1.0),
    tap(50.0, -1.0),
    tap(120.0, -1.0),
    tap(200.0, 0.0),
    tap(230.0, 0.0),
    tap(500.0, 0.0),
    tap(1600.0, -3.0),
    tap(2300.0, -5.0),
    tap(5000.0, -7.0),
];

/// A delay profile and a maximum Doppler frequency, written `EPA 5`.
///
/// ```
/// use takt_dsp::{DelayProfile, FadingModel};
/// let model: FadingModel = "EVA 70".parse().unwrap();
/// assert_eq!((model.profile, model.doppler_hz()), (DelayProfile::Eva, 70));
/// assert_eq!(model.to_string(), "EVA 70");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FadingModel {
    /// Delays and powers.
    pub profile: DelayProfile,
    doppler_hz: u16,
}

impl FadingModel {
    /// The maximum Doppler frequencies that the annex has, Hz.
    pub const DOPPLER_HZ: [u16; 4] = [5, 70, 200, 300];

    /// With one of [`Self::DOPPLER_HZ`]; `None` for any other.
    #[must_use]
    pub fn new(profile: DelayProfile, doppler_hz: u16) -> Option<FadingModel> {
        Self::DOPPLER_HZ.contains(&doppler_hz).then_some(FadingModel { profile, doppler_hz })
    }

    /// The maximum Doppler frequency, Hz.
    #[must_use]
    pub fn doppler_hz(self) -> u16 {
        self.doppler_hz
    }
}

impl fmt::Display for FadingModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.profile.name(), self.doppler_hz)
    }
}

/// A text names no fading model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is not a fading model; expected: EPA, EVA or ETU, a space, and 5, 70, 200 or 300 (Hz), such as `EPA 5`")]
pub struct NoFading;

impl FromStr for FadingModel {
    type Err = NoFading;

    fn from_str(text: &str) -> Result<FadingModel, NoFading> {
        let dopplers = |profile| Self::DOPPLER_HZ.map(|doppler_hz| FadingModel { profile, doppler_hz });
        let mut all = DelayProfile::ALL.into_iter().flat_map(dopplers);
        all.find(|model| model.to_string() == text).ok_or(NoFading)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Table B.2.1-1 states the r.m.s. delay spread and the longest delay of each profile. Its EPA is 45 ns, that of its taps 43 ns.
    #[test]
    fn the_profiles_have_the_delay_spreads_of_the_standard() {
        for (profile, taps, spread_ns, longest_ns) in [
            (DelayProfile::Epa, 7, 45.0, 410.0),
            (DelayProfile::Eva, 9, 357.0, 2510.0),
            (DelayProfile::Etu, 9, 991.0, 5000.0),
        ] {
            let moment = |power: i32| -> f64 {
                let weighted = profile.taps().iter().zip(profile.shares());
                weighted.map(|(tap, share)| share * tap.delay_ns.powi(power)).sum()
            };
            let spread = (moment(2) - moment(1).powi(2)).sqrt();
            assert_eq!((profile.taps().len(), profile.longest_delay_ns()), (taps, longest_ns));
            assert!((moment(0) - 1.0).abs() < 1e-12);
            assert!((spread / spread_ns - 1.0).abs() < 0.05, "{profile:?}: {spread}");
        }
    }

    #[test]
    fn each_name_is_read_and_nothing_near_it() {
        for profile in DelayProfile::ALL {
            for doppler_hz in FadingModel::DOPPLER_HZ {
                let model = FadingModel::new(profile, doppler_hz).unwrap();
                assert_eq!(model.to_string().parse(), Ok(model));
            }
            assert_eq!(FadingModel::new(profile, 6), None);
        }
        for text in
            ["", "EPA", "EPA5", "epa 5", "EPA 6", "EPA 05", " EPA 5", "EPA 5 ", "EPA  5", "EPA 5 Hz", "ETU 70\0"]
        {
            assert_eq!(text.parse::<FadingModel>(), Err(NoFading), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_model_that_is_written_so_or_none(text in "(EPA|EVA|ETU|.{0,9}) ?[0-9]{0,5}") {
            if let Ok(model) = text.parse::<FadingModel>() {
                prop_assert_eq!(model.to_string(), text);
            }
        }
    }
}
