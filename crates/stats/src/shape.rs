//! The shape of a set of values, for plotting: quantiles, five numbers of a box plot, points of an ECDF.

use serde::Serialize;

/// Quantile of ascending values by linear interpolation (Hyndman & Fan's type 7, the default of R and `NumPy`).
/// `None` for no values or `q` outside 0 to 1.
///
/// ```
/// assert_eq!(takt_stats::sample_quantile(&[1.0, 2.0, 3.0, 10.0], 0.5), Some(2.5));
/// ```
pub fn sample_quantile(ascending: &[f64], q: f64) -> Option<f64> {
    let last = ascending.len().checked_sub(1).filter(|_| (0.0..=1.0).contains(&q))?;
    let position = q * last as f64;
    let below = ascending.get(position.floor() as usize)?;
    let above = ascending.get(position.ceil() as usize)?;
    Some(if below == above { *below } else { below + (above - below) * position.fract() })
}

/// Numbers of a box plot; the whiskers go to the ends, so nothing is hidden as an "outlier".
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FiveNumbers {
    /// Lowest value.
    pub min: f64,
    /// A quarter lies below.
    pub q1: f64,
    /// Half lies below.
    pub median: f64,
    /// Three quarters lie below.
    pub q3: f64,
    /// Highest value.
    pub max: f64,
}

/// Five numbers of the values, in any order. `None` for no values or one that is not finite.
///
/// ```
/// let five = takt_stats::five_numbers(&[3.0, 1.0, 2.0, 5.0, 4.0]).unwrap();
/// assert_eq!((five.min, five.q1, five.median, five.q3, five.max), (1.0, 2.0, 3.0, 4.0, 5.0));
/// ```
pub fn five_numbers(values: &[f64]) -> Option<FiveNumbers> {
    let sorted = ascending(values)?;
    let at = |q| sample_quantile(&sorted, q);
    Some(FiveNumbers { min: at(0.0)?, q1: at(0.25)?, median: at(0.5)?, q3: at(0.75)?, max: at(1.0)? })
}

/// One step of an empirical distribution function: `share` of all values are at most `value`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EcdfPoint {
    /// In the unit of the values.
    pub value: f64,
    /// Above 0, at most 1; the last point has 1 unless values lie beyond what could be recorded.
    pub share: f64,
}

/// All steps of the empirical distribution function, ascending. Empty for no values or one that is not finite.
///
/// ```
/// let points = takt_stats::ecdf(&[2.0, 1.0, 2.0, 4.0]);
/// let steps: Vec<_> = points.iter().map(|p| (p.value, p.share)).collect();
/// assert_eq!(steps, [(1.0, 0.25), (2.0, 0.75), (4.0, 1.0)]);
/// ```
pub fn ecdf(values: &[f64]) -> Vec<EcdfPoint> {
    let sorted = ascending(values).unwrap_or_default();
    let share = |rank: usize| rank as f64 / sorted.len() as f64;
    let mut points: Vec<EcdfPoint> = Vec::new();
    for (i, &value) in sorted.iter().enumerate() {
        match points.last_mut().filter(|p| p.value == value) {
            Some(point) => point.share = share(i + 1),
            None => points.push(EcdfPoint { value, share: share(i + 1) }),
        }
    }
    points
}

fn ascending(values: &[f64]) -> Option<Vec<f64>> {
    let usable = !values.is_empty() && values.iter().all(|x| x.is_finite());
    let mut sorted = usable.then(|| values.to_vec())?;
    sorted.sort_by(f64::total_cmp);
    Some(sorted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // R: quantile(c(15, 20, 35, 40, 50), c(.05, .3, .4, .95)), type 7
    fn quantiles_agree_with_type_7() {
        let values = [15.0, 20.0, 35.0, 40.0, 50.0];
        for (q, want) in [(0.05, 16.0), (0.3, 23.0), (0.4, 29.0), (0.95, 48.0)] {
            assert!((sample_quantile(&values, q).expect("inside") - want).abs() < 1e-12, "{q}");
        }
        assert_eq!(sample_quantile(&values, 1.1), None);
        assert_eq!(sample_quantile(&[], 0.5), None);
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert_eq!(five_numbers(&[]), None);
        assert_eq!(five_numbers(&[1.0, f64::NAN]), None);
        assert!(ecdf(&[]).is_empty() && ecdf(&[f64::INFINITY]).is_empty());
    }
}
