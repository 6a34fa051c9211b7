//! Kernels that a rule applies to.

/// Kernels on which a rule was seen to apply, by major and minor number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelRange {
    pub from: (u32, u32),
    /// The first one that it no longer applies to.
    pub below: Option<(u32, u32)>,
}

impl KernelRange {
    /// Every kernel from `from` on.
    #[must_use]
    pub const fn from(major: u32, minor: u32) -> KernelRange {
        KernelRange { from: (major, minor), below: None }
    }

    /// Whether a release such as `6.18.44-x` is in the range; `None` if the text is not a release.
    #[must_use]
    pub fn holds(&self, release: &str) -> Option<bool> {
        let mut parts = release.split(['.', '-', '+']).map(|part| part.parse::<u32>().ok());
        let version = (parts.next()??, parts.next()??);
        Some(version >= self.from && self.below.is_none_or(|below| version < below))
    }
}

impl std::fmt::Display for KernelRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.below {
            None => write!(f, "Linux {}.{} and newer", self.from.0, self.from.1),
            Some((major, minor)) => write!(f, "Linux {}.{} to before {major}.{minor}", self.from.0, self.from.1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_compared_by_number() {
        let range = KernelRange { from: (5, 4), below: Some((6, 12)) };
        for (release, holds) in [
            ("5.3.18-default", Some(false)),
            ("5.4.0", Some(true)),
            ("6.1.0-18-amd64", Some(true)),
            ("6.9-rc1", Some(true)),
            ("6.12.1+", Some(false)),
            ("6.18.44-fc-v669", Some(false)),
            ("unknown", None),
            ("", None),
        ] {
            assert_eq!(range.holds(release), holds, "{release}");
        }
    }
}
