//! [`SitePath`]: what lies between the sides of a site.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::net::PathName;

/// The path that is in force, with its name in records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SitePath {
    /// There is no other side.
    None,
    Loopback,
    /// A plain cable.
    Veth,
    /// Whatever leads to a radio that was there already.
    Network,
    /// That of a driver of SoapySDR.
    Device,
    /// A path that takt built.
    #[serde(untagged)]
    Built(PathName),
}

impl SitePath {
    /// Its name in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SitePath::None => "none",
            SitePath::Loopback => "loopback",
            SitePath::Veth => "veth",
            SitePath::Network => "network",
            SitePath::Device => "device",
            SitePath::Built(path) => path.as_str(),
        }
    }
}

impl fmt::Display for SitePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_the_name() {
        use SitePath::{Built, Device, Loopback, Network, None, Veth};
        for path in [None, Loopback, Veth, Network, Device, Built(PathName::RouterSmall), Built(PathName::Direct)] {
            let document = serde_json::to_value(path).unwrap();
            assert_eq!(document, path.name());
            assert_eq!(serde_json::from_value::<SitePath>(document).unwrap(), path);
        }
        assert!(serde_json::from_value::<SitePath>("tunnel".into()).is_err());
    }
}
