//! Contents that a reader of TOML or JSON found and expected, in the words of who wrote the file.

/// A value of another type, or a word that is none of those there are.
///
/// serde tells both in the words of who wrote the program: ``invalid type: string "x", expected u32``. People write
/// numbers, texts, lists and tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistyped {
    /// The found value itself if it is short enough to be shown, else its kind.
    pub found: String,
    /// The expected contents.
    pub expected: String,
}

impl Mistyped {
    /// Reads the message of a serde error; `None` if it is about something else.
    ///
    /// ```
    /// use takt_base::Mistyped;
    /// let slip = Mistyped::read("invalid type: string \"x\", expected u32").unwrap();
    /// assert_eq!((slip.found.as_str(), slip.expected.as_str()), ("\"x\"", "a whole number, not negative"));
    /// ```
    #[must_use]
    pub fn read(message: &str) -> Option<Mistyped> {
        let (kind, rest) = message.split_once(' ')?;
        let (found, expected) = match kind {
            "invalid" => {
                let typed = rest.strip_prefix("type: ").or_else(|| rest.strip_prefix("value: "));
                let message = typed.or_else(|| rest.starts_with("length ").then_some(rest))?;
                let (found, expected) = message.rsplit_once(", expected ")?;
                (self::found(found), self::expected(expected))
            }
            "unknown" => {
                let (found, expected) = rest.strip_prefix("variant ")?.split_once(", expected ")?;
                (format!("\"{}\"", found.trim_matches('`')), expected.replace('`', "\""))
            }
            _ => return None,
        };
        Some(Mistyped { found, expected })
    }
}

/// serde's `Unexpected`.
fn found(message: &str) -> String {
    let value = message.split_once('`').and_then(|(_, rest)| rest.strip_suffix('`'));
    match message.split(' ').next() {
        Some("sequence") => "a list".to_owned(),
        Some("map") => "a table".to_owned(),
        Some("string") => message.trim_start_matches("string ").to_owned(),
        Some("unit" | "null") => "nothing".to_owned(),
        _ => value.unwrap_or(message).to_owned(),
    }
}

/// The names that serde's own types give themselves. A structure that derives `Deserialize` says with
/// `#[serde(expecting = "...")]` what a file has to say; otherwise it is a table.
fn expected(message: &str) -> String {
    match message.split(' ').next().unwrap_or_default() {
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" => "a whole number, not negative",
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "struct" | "tuple" | "enum" => "a table",
        _ => match message {
            "a string" | "a borrowed string" | "a character" => "a text in quotation marks",
            "a boolean" => "true or false",
            "a sequence" => "a list",
            "a map" => "a table",
            _ => return message.replace("an array of length", "a list of length"),
        },
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(message: &str) -> Option<(String, String)> {
        Mistyped::read(message).map(|Mistyped { found, expected }| (found, expected))
    }

    #[test]
    fn no_type_of_the_program_is_named() {
        for (message, found, expected) in [
            ("invalid type: integer `4`, expected struct RawCount", "4", "a table"),
            (
                "invalid type: string \"x, expected u8\", expected u64",
                "\"x, expected u8\"",
                "a whole number, not negative",
            ),
            ("invalid value: integer `-1`, expected u32", "-1", "a whole number, not negative"),
            ("invalid type: floating point `1.5`, expected i64", "1.5", "a whole number"),
            ("invalid type: boolean `true`, expected f64", "true", "a number"),
            ("invalid type: sequence, expected a map", "a list", "a table"),
            ("invalid type: map, expected a sequence", "a table", "a list"),
            ("invalid type: integer `7`, expected a string", "7", "a text in quotation marks"),
            ("invalid type: integer `7`, expected a boolean", "7", "true or false"),
            ("invalid length 1, expected an array of length 2", "length 1", "a list of length 2"),
            ("invalid type: null, expected a nap", "nothing", "a nap"),
            ("unknown variant `both`, expected one of `rx`, `tx`", "\"both\"", "one of \"rx\", \"tx\""),
        ] {
            assert_eq!(read(message), Some((found.to_owned(), expected.to_owned())), "{message}");
        }
    }

    #[test]
    fn other_complaints_are_left_as_they_are() {
        for message in [
            "",
            "missing field `seed`",
            "unknown field `x`, expected `y`",
            "invalid basic string, expected `\"`",
            "no number: 5",
        ] {
            assert_eq!(read(message), None, "{message}");
        }
    }
}
