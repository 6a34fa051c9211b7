//! How wide a text will be, without the font: what the widest of the common sans-serif faces (`DejaVu` Sans, bold for
//! names) needs, so that nothing runs out of the figure where another is installed.

/// Size of all text in a figure, user units.
pub(crate) const FONT_SIZE: f64 = 12.5;

/// Estimated width in user units.
pub(crate) fn of(text: &str) -> f64 {
    takt_stats::sum(text.chars().map(|c| em(c) * FONT_SIZE))
}

/// The longest beginning of a text that fits, with an ellipsis if anything was cut.
pub(crate) fn cut(text: &str, width: f64) -> String {
    if of(text) <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    for c in text.chars() {
        if of(&out) + em(c) * FONT_SIZE + em('…') * FONT_SIZE > width {
            break;
        }
        out.push(c);
    }
    out.push('…');
    out
}

fn em(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.36,
        ' ' | '\u{a0}' | 'f' | 't' | 'r' | 'I' | '(' | ')' | '[' | ']' | '-' | '/' => 0.42,
        'm' | 'M' | 'W' | 'w' | '%' | '…' => 1.0,
        'A'..='Z' => 0.76,
        c if c.is_ascii() => 0.66,
        _ => 0.8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_has_no_width() {
        assert_eq!(of("").to_string(), "0");
    }

    #[test]
    fn what_is_too_long_ends_in_an_ellipsis() {
        assert_eq!(cut("receive", 100.0), "receive");
        let short = cut("a rather long name of a series", 100.0);
        assert!(short.ends_with('…') && of(&short) <= 100.0, "{short}");
    }
}
