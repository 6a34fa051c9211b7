//! Text inside XML and HTML: what others named may contain anything.

use std::borrow::Cow;
use std::fmt::{self, Display, Write as _};

use takt_base::plain::acts;

/// The character, or U+FFFD, which is as wide as any other, for one that [`acts`] instead of being shown or that XML forbids.
pub(crate) fn harmless(c: char) -> char {
    if acts(c) || matches!(c, '\u{fffe}' | '\u{ffff}') { '\u{fffd}' } else { c }
}

/// Shows a text so that it is text, in element content and in quoted attributes, in HTML and in XML.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;"),
                '<' => f.write_str("&lt;"),
                '>' => f.write_str("&gt;"),
                '"' => f.write_str("&quot;"),
                '\'' => f.write_str("&#39;"),
                '\n' | '\t' => f.write_char(c),
                c => f.write_char(harmless(c)),
            }?;
        }
        Ok(())
    }
}

/// A name that can stand in an `id`, in a link's fragment and in a file name: letters, digits, `-`; never empty.
pub(crate) fn slug(name: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if !name.is_empty() && name.chars().all(plain) {
        return Cow::Borrowed(name);
    }
    let slug: String = name.chars().map(|c| if plain(c) { c } else { '-' }).collect();
    Cow::Owned(if slug.is_empty() { "-".to_owned() } else { slug })
}

/// Percent-encodes for a `data:` URI.
pub(crate) fn data_uri(mime: &str, content: &str) -> String {
    let mut uri = format!("data:{mime};charset=utf-8,");
    for byte in content.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~,:;/ ".contains(&byte) && byte != b' ' {
            uri.push(char::from(byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_text() {
        let hostile = "</script><img src=x onerror='alert(1)'>\u{1b}[31m\"&\0\u{202e}";
        let shown = Escaped(hostile).to_string();
        assert_eq!(
            shown,
            "&lt;/script&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;\u{fffd}[31m&quot;&amp;\u{fffd}\u{fffd}"
        );
        assert_eq!(slug("a b\"><x"), "a-b---x");
        assert_eq!(data_uri("text/csv", "a,b\n\"1\"#"), "data:text/csv;charset=utf-8,a,b%0A%221%22%23");
    }
}
