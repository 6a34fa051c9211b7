//! From values to places: 0 at the beginning of an axis, 1 at its end.

use super::{Axis, Scale, ticks};
use crate::quantity::{grouped, significant};

/// Share of a [`Scale::LogAndZero`] axis between zero and the first power of ten; the break is in its middle.
pub(crate) const ZERO_BAND: f64 = 0.11;

/// An axis with its domain: places and ticks.
#[derive(Clone, Debug)]
pub(crate) struct Projection {
    map: Map,
    pub(crate) ticks: Vec<Tick>,
    /// Label with the unit that the ticks leave out: "rate, MS/s".
    pub(crate) title: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    pub(crate) at: f64,
    pub(crate) label: String,
}

#[derive(Clone, Copy, Debug)]
enum Map {
    Linear { low: f64, high: f64 },
    Log { low: f64, high: f64 },
    LogAndZero { low: f64, high: f64 },
    Nines { most: f64 },
}

/// Room above the last nine for "all of them".
const ALL: f64 = 0.4;

impl Projection {
    /// For `values` on `axis`, with about `want` ticks. Without a usable value the domain is 0 to 1.
    pub(crate) fn new(axis: &Axis, values: &[f64], want: usize) -> Self {
        let finite = || values.iter().copied().filter(|x| x.is_finite());
        let positive = || finite().filter(|x| *x > 0.0);
        match axis.scale {
            Scale::Linear => Self::linear(axis, finite().fold(None, widen), want),
            Scale::Log => Self::log(axis, positive().fold(None, widen), want, false),
            Scale::LogAndZero => Self::log(axis, positive().fold(None, widen), want, true),
            Scale::Nines => Self::nines(axis, finite().filter(|x| *x < 1.0).fold(0.9, f64::max)),
        }
    }

    /// Place of a value, 0 to 1; `None` where the axis has no place for it.
    pub(crate) fn at(&self, value: f64) -> Option<f64> {
        let at = match self.map {
            Map::Linear { low, high } => (value - low) / (high - low),
            Map::Log { low, high } => (value / low).ln() / (high / low).ln(),
            Map::LogAndZero { .. } if value <= 0.0 => 0.0,
            Map::LogAndZero { low, high } => ZERO_BAND + (1.0 - ZERO_BAND) * (value / low).ln() / (high / low).ln(),
            Map::Nines { most } => {
                if value >= 1.0 {
                    1.0
                } else {
                    (-(1.0 - value).log10()).min(most) / (most + ALL)
                }
            }
        };
        (at.is_finite() && at > -1e-6 && at < 1.0 + 1e-6).then_some(at.clamp(0.0, 1.0))
    }

    pub(crate) fn has_break(&self) -> bool {
        matches!(self.map, Map::LogAndZero { .. })
    }

    /// In order of importance: a label that has no room beside those before it is left out.
    pub(crate) fn ticks_ends_first(&self) -> impl Iterator<Item = &Tick> {
        let inner = self.ticks.iter().skip(1).take(self.ticks.len().saturating_sub(2));
        self.ticks.last().into_iter().chain(self.ticks.first()).chain(inner)
    }

    fn linear(axis: &Axis, domain: Option<(f64, f64)>, want: usize) -> Self {
        let (low, high) = domain.unwrap_or((0.0, 1.0));
        let low = if axis.not_from_zero.is_some() { low } else { low.min(0.0) };
        let high = if high > low { high } else { low + low.abs().max(1.0) };
        let round = ticks::linear(low, high, want);
        let (first, last) = (round.first().copied().unwrap_or(low), round.last().copied().unwrap_or(high));
        let scaled = axis.unit.scaled_for(first.abs().max(last.abs()));
        let step = round.windows(2).map(|w| w[1] - w[0]).fold(f64::INFINITY, f64::min) * scaled.factor;
        let given = !axis.ticks.is_empty();
        // factor levels end the axis themselves; round numbers are its ends
        let (first, last) = if given && axis.not_from_zero.is_none() { (first, high * 1.04) } else { (first, last) };
        let map = Map::Linear { low: first, high: last };
        let percent = scaled.symbol == "%";
        let label = |v: f64| {
            let number =
                if given { significant(v * scaled.factor, 4) } else { grouped(v * scaled.factor, decimals(step)) };
            match (v == 0.0, percent) {
                (true, false) => "0".to_owned(),
                (true, true) => "0 %".to_owned(),
                (false, true) => format!("{number} %"),
                (false, false) => number,
            }
        };
        let title = if percent || scaled.symbol.is_empty() {
            axis.label.clone()
        } else {
            format!("{}, {}", axis.label, scaled.symbol)
        };
        Self::with_ticks(map, if given { &axis.ticks } else { &round }, label, title)
    }

    fn log(axis: &Axis, domain: Option<(f64, f64)>, want: usize, zero: bool) -> Self {
        let (low, high) = domain.unwrap_or((1e-4, 1e-2));
        let mut round = ticks::log(low, high, want + 1);
        if round.len() < 2 {
            round = ticks::log(low / 2.0, high * 2.0, want + 1);
        }
        let given = !axis.ticks.is_empty();
        let (first, last) = if given {
            (low * (low / high).powf(0.03), high * (high / low).powf(0.03))
        } else {
            (round.first().copied().unwrap_or(low), round.last().copied().unwrap_or(high))
        };
        let (first, last) = if first < last { (first, last) } else { (first / 2.0, last * 2.0) };
        let map = if zero { Map::LogAndZero { low: first, high: last } } else { Map::Log { low: first, high: last } };
        // where there are too many, every n-th is labelled, counted from above
        let every = round.len().div_ceil(want + 1).max(1);
        let mut shown: Vec<f64> =
            if given { axis.ticks.clone() } else { round.into_iter().rev().step_by(every).collect() };
        shown.retain(|v| *v > 0.0);
        if zero {
            shown.push(0.0);
        }
        shown.sort_by(f64::total_cmp);
        let label = |v: f64| if v == 0.0 { "0".to_owned() } else { axis.unit.show(v, 4) };
        Self::with_ticks(map, &shown, label, axis.label.clone())
    }

    fn nines(axis: &Axis, largest: f64) -> Self {
        let most = (-(1.0 - largest).log10()).clamp(1.0, 9.0).ceil();
        let shares = [0.0, 0.5].into_iter().chain((1..=most as i32).map(|k| 1.0 - 10_f64.powi(-k))).chain([1.0]);
        let shares: Vec<f64> = shares.collect();
        let label = |share: f64| format!("{} %", significant(share * 100.0, 12));
        Self::with_ticks(Map::Nines { most }, &shares, label, axis.label.clone())
    }

    fn with_ticks(map: Map, values: &[f64], label: impl Fn(f64) -> String, title: String) -> Self {
        let mut projection = Self { map, ticks: Vec::new(), title };
        let tick = |&v: &f64| Some(Tick { at: projection.at(v)?, label: label(v) });
        projection.ticks = values.iter().filter_map(tick).collect();
        projection
    }
}

fn widen(domain: Option<(f64, f64)>, x: f64) -> Option<(f64, f64)> {
    Some(domain.map_or((x, x), |(low, high)| (low.min(x), high.max(x))))
}

/// Decimals that tell ticks of this step apart.
fn decimals(step: f64) -> usize {
    let fits = |d: &i32| {
        let scaled = step * 10_f64.powi(*d);
        (scaled - scaled.round()).abs() < 1e-6 * scaled.abs().max(1.0)
    };
    (0..9).find(fits).unwrap_or(0) as usize
}
