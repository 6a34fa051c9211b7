//! Which radios there are, and what is known of a model before one answers.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use takt_base::TickRate;
use takt_wire::n200::rate::Factor;
use takt_wire::sample::Format;
use takt_wire::x310::rate;

use crate::x310::MasterClock;
use crate::{n200, x310};

/// The models this crate drives. As text, `n200` and `x310`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// N200 and N210.
    #[default]
    N200,
    /// X310 and X300.
    X310,
}

impl Model {
    /// All of them.
    pub const ALL: [Model; 2] = [Model::N200, Model::X310];

    /// As users write it: `n200`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Model::N200 => "n200",
            Model::X310 => "x310",
        }
    }

    /// As its maker writes it: `N200`.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Model::N200 => "N200",
            Model::X310 => "X310",
        }
    }

    /// Its clock, unless a rate needs another one: what its samples are counted by.
    #[must_use]
    pub const fn clock(self) -> TickRate {
        match self {
            Model::N200 => n200::CLOCK,
            Model::X310 => x310::CLOCK,
        }
    }

    /// The fastest rate in this format that its usual cable carries, samples a second each way: 1 Gb/s to an N200, 10 Gb/s to
    /// an X310. `None`: it has no such format.
    #[must_use]
    pub const fn fastest_sps(self, format: Format) -> Option<f64> {
        match (self, format) {
            (Model::N200, Format::Sc16) => Some(25e6),
            (Model::N200, Format::Sc8) => Some(50e6),
            (Model::X310, Format::Sc16) => Some(200e6),
            (Model::X310, Format::Sc8) => None,
        }
    }

    /// Its rates next to a request, the one not above it and the one not below it; `None` where there is none.
    ///
    /// ```
    /// use takt_radio::Model;
    /// assert_eq!(Model::N200.rates_around(22e6), [Some(20e6), Some(25e6)]);
    /// assert_eq!(Model::X310.rates_around(100e6), [Some(100e6), Some(100e6)]);
    /// assert_eq!(Model::X310.rates_around(30.72e6), [Some(30.72e6), Some(30.72e6)], "by a clock of 184.32 MHz");
    /// assert_eq!(Model::N200.rates_around(100e6), [Some(50e6), None]);
    /// ```
    #[must_use]
    pub fn rates_around(self, rate_sps: f64) -> [Option<f64>; 2] {
        let of_clock = |clock: MasterClock| {
            rate::Factor::around(rate_sps, clock.hz()).map(|factor| Some(factor?.rate_sps(clock.hz())))
        };
        match self {
            Model::N200 => Factor::around(rate_sps).map(|factor| factor.map(Factor::rate_sps)),
            Model::X310 => {
                let [a, b] = MasterClock::ALL.map(of_clock);
                let both = |n: usize| [a[n], b[n]].into_iter().flatten();
                [both(0).reduce(f64::max), both(1).reduce(f64::min)]
            }
        }
    }

    /// The clock that makes a rate, [`Model::clock`] if none does.
    #[must_use]
    pub fn clock_making(self, rate_sps: f64) -> TickRate {
        match self {
            Model::N200 => n200::CLOCK,
            Model::X310 => MasterClock::making(rate_sps).map_or(self.clock(), |(clock, _)| clock.rate()),
        }
    }

    /// The nearest of its rates; `None` for no positive number.
    #[must_use]
    pub fn nearest_rate(self, rate_sps: f64) -> Option<f64> {
        let away = |rate: &f64| (rate - rate_sps).abs();
        let around = self.rates_around(rate_sps).into_iter().flatten();
        around.min_by(|a, b| away(a).total_cmp(&away(b))).filter(|_| rate_sps > 0.0 && rate_sps.is_finite())
    }
}

/// No model is called that.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{got}` is not a radio that takt knows; expected: n200 or x310")]
pub struct UnknownModel {
    /// The given name.
    pub got: String,
}

impl FromStr for Model {
    type Err = UnknownModel;

    fn from_str(text: &str) -> Result<Model, UnknownModel> {
        let named = Model::ALL.into_iter().find(|model| model.name() == text);
        named.ok_or_else(|| UnknownModel { got: text.to_owned() })
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}
