//! `/proc/PID/limits`: resource limits as a table.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// At most this much, in the limit's own unit.
    At(u64),
    Unlimited,
}

/// The soft limit of the row that starts with `name`, such as `Max locked memory`.
pub fn soft(text: &str, name: &str) -> Option<Limit> {
    let row = text.lines().find_map(|line| line.strip_prefix(name))?;
    match row.split_whitespace().next()? {
        "unlimited" => Some(Limit::Unlimited),
        number => number.parse().ok().map(Limit::At),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn soft_limits_are_found_by_name() {
        let text = "Limit                     Soft Limit           Hard Limit           Units     \n\
                    Max locked memory         8388608              16777216             bytes     \n\
                    Max realtime priority     0                    0                    \n\
                    Max realtime timeout      unlimited            unlimited            us        \n";
        assert_eq!(soft(text, "Max locked memory"), Some(Limit::At(8_388_608)));
        assert_eq!(soft(text, "Max realtime priority"), Some(Limit::At(0)));
        assert_eq!(soft(text, "Max realtime timeout"), Some(Limit::Unlimited));
        assert_eq!(soft(text, "Max address space"), None);
    }
}
