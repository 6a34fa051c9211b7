//! Bands of radio frequencies, and how they lie to each other.

/// The frequencies that samples around a centre can hold.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Band {
    /// Radio frequency at 0 Hz of the samples, Hz.
    pub centre_hz: f64,
    /// As wide as the sample rate, Hz.
    pub width_hz: f64,
}

/// How a band lies in a wider one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// All of it.
    Inside,
    /// A part of it.
    Partly,
    /// Nothing of it.
    Outside,
}

impl Band {
    /// Its lower edge, Hz.
    #[must_use]
    pub fn low_hz(self) -> f64 {
        self.centre_hz - self.width_hz / 2.0
    }

    /// Its upper edge, Hz.
    #[must_use]
    pub fn high_hz(self) -> f64 {
        self.centre_hz + self.width_hz / 2.0
    }

    /// How it lies in `wide`. Half a hertz is nothing: that is what a frequency word rounds.
    #[must_use]
    pub fn fit(self, wide: Band) -> Fit {
        const ROUNDED_HZ: f64 = 0.5;
        let apart_hz = (self.centre_hz - wide.centre_hz).abs();
        if apart_hz + self.width_hz / 2.0 <= wide.width_hz / 2.0 + ROUNDED_HZ {
            Fit::Inside
        } else if self.overlaps(wide) {
            Fit::Partly
        } else {
            Fit::Outside
        }
    }

    /// Width of what the two have in common, Hz.
    #[must_use]
    pub fn common_hz(self, other: Band) -> f64 {
        (self.high_hz().min(other.high_hz()) - self.low_hz().max(other.low_hz())).max(0.0)
    }

    /// Whether the two have frequencies in common.
    #[must_use]
    pub fn overlaps(self, other: Band) -> bool {
        (self.centre_hz - other.centre_hz).abs() < (self.width_hz + other.width_hz) / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_fit_partly_fit_and_do_not() {
        let wide = Band { centre_hz: 2.4e9, width_hz: 10e6 };
        let at = |offset_hz: f64| Band { centre_hz: 2.4e9 + offset_hz, width_hz: 2e6 }.fit(wide);
        let fits = [0.0, 4e6, -4e6, 4.1e6, 5.9e6, 6e6, -7e6].map(at);
        use Fit::{Inside, Outside, Partly};
        assert_eq!(fits, [Inside, Inside, Inside, Partly, Partly, Outside, Outside]);
        let common =
            [0.0, 4.5e6, 7e6].map(|offset_hz| Band { centre_hz: 2.4e9 + offset_hz, width_hz: 2e6 }.common_hz(wide));
        assert_eq!(common, [2e6, 1.5e6, 0.0]);
    }
}
