//! The word that was meant.

/// Longer words are not measured: distances grow with the product of lengths, and a word may be hostile.
const MEASURED_BYTES: usize = 256;

/// The known word that `word` most likely means: the nearest, if it is one slip away, or one more for each four letters, and
/// not all of it is slips. A slip is a letter inserted, left out, changed, or swapped with its neighbour; upper and lower case are
/// alike.
///
/// ```
/// use takt_base::nearest;
/// assert_eq!(nearest("tnoe", ["noise", "tone"]), Some("tone"));
/// assert_eq!(nearest("colour", ["noise", "tone"]), None);
/// ```
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > MEASURED_BYTES {
        return None;
    }
    let word = word.to_lowercase();
    let slips = |other: &str| strsim::damerau_levenshtein(&word, &other.to_lowercase());
    let near = known.into_iter().map(|other| (slips(other), other)).min_by_key(|(slips, _)| *slips);
    near.filter(|(slips, other)| *slips <= 1 + other.len() / 4 && *slips < other.len()).map(|(_, other)| other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_and_small_slips_are_forgiven_and_other_words_are_not() {
        let known = ["environment", "rx", "latency"];
        assert_eq!(nearest("enviroment", known), Some("environment"));
        assert_eq!(nearest("RX", known), Some("rx"));
        assert_eq!(nearest("altency", known), Some("latency"));
        assert_eq!(nearest("aa", ["a"]), None, "all of it is a slip");
        for other in ["", "colour", &"latency".repeat(100)] {
            assert_eq!(nearest(other, known), None, "{other}");
        }
    }
}
