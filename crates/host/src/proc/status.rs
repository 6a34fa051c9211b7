//! `/proc/PID/status`: one field a line, `Name:\tvalue`.

pub fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':').map(str::trim))
}

pub fn number(text: &str, name: &str) -> Option<u64> {
    field(text, name)?.split_whitespace().next()?.parse().ok()
}

/// A field that holds a mask, such as `CapEff`.
pub fn mask(text: &str, name: &str) -> Option<u64> {
    u64::from_str_radix(field(text, name)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let text = "Name:\tcat\nCapEff:\t000001fffeffffff\nVmSwap:\t      12 kB\nvoluntary_ctxt_switches:\t7\n";
        assert_eq!(field(text, "Name"), Some("cat"));
        assert_eq!(mask(text, "CapEff"), Some(0x1ff_feff_ffff));
        assert_eq!(number(text, "VmSwap"), Some(12));
        assert_eq!(number(text, "voluntary_ctxt_switches"), Some(7));
        assert_eq!(field(text, "Cap"), None);
    }
}
