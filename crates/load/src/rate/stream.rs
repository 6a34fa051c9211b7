//! A stream as experiments set and name it.

use takt_radio::Model;
use takt_wire::sample::Format;

use super::Mode;
use super::domains::{is_within, rates_near};
use crate::workload::Contradiction;

/// Samples between a radio and this host at one rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stream {
    pub model: Model,
    pub mode: Mode,
    /// Samples a second, each direction.
    pub rate_sps: f64,
    /// On the wire.
    pub format: Format,
}

impl Stream {
    /// A rate or a format that the radio does not have; `None`: it has both.
    #[must_use]
    pub fn contradiction(&self) -> Option<Contradiction> {
        without_such_a_rate(self.model, self.rate_sps).or_else(|| without_such_a_format(self.model, self.format))
    }
}

/// A rate that another radio has.
pub(crate) fn without_such_a_rate(model: Model, rate_sps: f64) -> Option<Contradiction> {
    let exact = model.nearest_rate(rate_sps).is_some_and(|nearest| is_within(nearest, rate_sps, 1e-6));
    (!exact).then(|| {
        let what = format!("an {model} has no rate of {} MS/s", rate_sps / 1e6);
        Contradiction {
            setting: "rate_sps",
            what,
            remedy: format!("give the nearest rate: {}", rates_near(model, rate_sps)),
        }
    })
}

fn without_such_a_format(model: Model, format: Format) -> Option<Contradiction> {
    model.fastest_sps(format).is_none().then(|| {
        let what = format!("an {model} has no {} on the wire", format.name());
        Contradiction { setting: "format", what, remedy: "give sc16".into() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_or_format_of_another_radio_is_a_contradiction() {
        let of = |model, rate_sps, format| Stream { model, mode: Mode::Rx, rate_sps, format }.contradiction();
        assert_eq!(of(Model::N200, 25e6, Format::Sc8), None);
        assert_eq!(of(Model::X310, 200e6 / 3.0, Format::Sc16), None);
        let fast = of(Model::N200, 100e6, Format::Sc16).unwrap();
        assert_eq!((fast.setting, fast.what.as_str()), ("rate_sps", "an N200 has no rate of 100 MS/s"));
        assert_eq!(fast.remedy, "give the nearest rate: of an N200 50e6 (100 MHz / 2)");
        assert_eq!(of(Model::X310, 25e6, Format::Sc8).unwrap().setting, "format");
    }
}
