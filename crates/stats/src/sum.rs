//! A sum that is 0 where there is nothing to add.

/// The sum of these values; of none it is 0. The standard library's is -0 then, which a document would show.
///
/// ```
/// use takt_stats::sum;
/// assert!(sum([]).is_sign_positive() && [0.0; 0].iter().sum::<f64>().is_sign_negative());
/// assert_eq!(sum([1.5, 2.0]), 3.5);
/// ```
#[must_use]
pub fn sum(values: impl IntoIterator<Item = f64>) -> f64 {
    values.into_iter().fold(0.0, |sum, value| sum + value)
}
