//! Devices that SoapySDR finds.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::error::refuse_own;
use crate::{DeviceSpec, SoapyError, library};

/// Keys that tell two devices of a driver apart, the best first.
const TELLING: [&str; 4] = ["addr", "serial", "device_id", "remote"];

/// A device that SoapySDR found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundDevice {
    /// How a user names it: `soapy:driver=uhd,addr=192.168.10.2`.
    pub device: String,
    /// All that its driver says of it, by the driver's own keys.
    pub keys: BTreeMap<String, String>,
}

impl FoundDevice {
    /// The device that a driver describes by these keys.
    #[must_use]
    pub fn of(keys: BTreeMap<String, String>) -> FoundDevice {
        let pair = |key: &'static str| Some((key, keys.get(key)?.as_str()));
        let telling = TELLING.into_iter().find_map(pair);
        let device = DeviceSpec::of(pair("driver").into_iter().chain(telling)).to_string();
        FoundDevice { device, keys }
    }

    /// The name that its driver gives it; empty where it has none.
    #[must_use]
    pub fn label(&self) -> &str {
        ["label", "product", "device"].iter().find_map(|key| self.keys.get(*key)).map_or("", String::as_str)
    }
}

/// The devices that fit, those of every driver where none is named; not those of takt's own.
///
/// # Errors
/// `Own` for takt's own driver; `NotBuilt` in a build without SoapySDR; `Call` if it fails. That nothing is there is an empty list, and
/// so is a driver without a module.
pub fn find(spec: &DeviceSpec) -> Result<Vec<FoundDevice>, SoapyError> {
    refuse_own(spec.get("driver"), spec)?;
    library::find(spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pairs: &[(&str, &str)]) -> FoundDevice {
        FoundDevice::of(pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn a_device_is_named_by_what_tells_it_apart() {
        let n200 = found(&[("driver", "uhd"), ("serial", "F5"), ("addr", "10.0.0.2"), ("label", "N200, F5")]);
        assert_eq!((n200.device.as_str(), n200.label()), ("soapy:driver=uhd,addr=10.0.0.2", "N200, F5"));
        let stick = found(&[("driver", "rtlsdr"), ("serial", "00000001"), ("product", "RTL2838")]);
        assert_eq!((stick.device.as_str(), stick.label()), ("soapy:driver=rtlsdr,serial=00000001", "RTL2838"));
        assert_eq!(found(&[]).device, "soapy:");
    }

    #[test]
    fn takts_own_driver_is_refused_with_the_short_way() {
        let refused = find(&"soapy:driver=takt,addr=192.168.10.2".parse().unwrap()).unwrap_err();
        assert_eq!(refused.fix().as_deref(), Some("give --addr 192.168.10.2 in place of --device"));
    }

    #[cfg(not(feature = "library"))]
    #[test]
    fn a_build_without_the_library_says_how_to_get_it() {
        let refused = find(&DeviceSpec::default()).unwrap_err();
        assert!(matches!(refused, SoapyError::NotBuilt));
        assert!(refused.fix().is_some_and(|fix| fix.contains("--features soapy")));
    }
}
