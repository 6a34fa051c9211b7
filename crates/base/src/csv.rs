//! A text as a field of CSV, for every table that takt writes.

/// A text as RFC 4180 has it: with a comma, a quote or a line end it is quoted, and its quotes are doubled.
///
/// A spreadsheet executes a text that begins like a formula, so such a text gets an apostrophe in front. A number stays one.
///
/// ```
/// use takt_base::csv_field;
///
/// assert_eq!(csv_field("slow, \"late\""), "\"slow, \"\"late\"\"\"");
/// assert_eq!(csv_field("=HYPERLINK(A1)"), "'=HYPERLINK(A1)");
/// assert_eq!(csv_field("-3.5"), "-3.5");
/// ```
#[must_use]
pub fn csv_field(text: &str) -> String {
    // A tab or a carriage return in front does not keep a spreadsheet from seeing the formula behind it.
    let is_formula = text.trim_start().starts_with(['=', '+', '-', '@']) && text.parse::<f64>().is_err();
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_spreadsheet_would_execute_is_disarmed_and_numbers_are_not() {
        for formula in ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1+1", "\r=1+1", " =1+1", "-"] {
            assert!(csv_field(formula).trim_start_matches('"').starts_with('\''), "{formula:?}");
        }
        for plain in ["-3.5", "+7", "-1e-9", "a=b", "", "2026-11-21T10:04:12Z", "'"] {
            assert_eq!(csv_field(plain), plain);
        }
    }

    #[test]
    fn what_parts_fields_or_lines_is_quoted() {
        for text in ["a,b", "a\"b", "a\nb", "a\rb"] {
            assert_eq!(csv_field(text), format!("\"{}\"", text.replace('"', "\"\"")));
        }
    }
}
