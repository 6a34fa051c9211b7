//! How a user names a device: `soapy:driver=uhd,addr=192.168.10.2`.

use std::fmt;
use std::str::FromStr;

/// The text that the name of a device of SoapySDR begins with.
const PREFIX: &str = "soapy:";

/// Which device of SoapySDR: pairs of keys and values, as its drivers define them. Without any pair: whichever there is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceSpec {
    pairs: Vec<(String, String)>,
}

/// Why a text names no device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say it")]
pub enum SpecError {
    #[error("it names no kind of device: write soapy:KEY=VALUE, as in soapy:driver=uhd,addr=192.168.10.2")]
    Kind,
    #[error("`{got}` is not KEY=VALUE, such as driver=uhd")]
    Pair { got: String },
    #[error("the key `{key}` appears twice")]
    Twice { key: String },
    #[error("it contains a control character")]
    Control,
}

impl DeviceSpec {
    /// The device of these pairs, which a driver gave. Keys and values that can't be written as one are left out.
    #[must_use]
    pub fn of<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> DeviceSpec {
        let plain = |text: &str| !text.chars().any(|c| c == ',' || c == '=' || c.is_control()) && text.trim() == text;
        let writable = |(key, value): &(&str, &str)| !key.is_empty() && plain(key) && plain(value);
        let mut spec = DeviceSpec::default();
        for (key, value) in pairs.into_iter().filter(writable) {
            if spec.get(key).is_none() {
                spec.pairs.push((key.to_owned(), value.to_owned()));
            }
        }
        spec
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.pairs().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    /// All pairs, in the order in which they were written.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// It has no pair.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}

impl FromStr for DeviceSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<DeviceSpec, SpecError> {
        // SoapySDR takes C strings.
        if text.chars().any(char::is_control) {
            return Err(SpecError::Control);
        }
        let rest = text.strip_prefix(PREFIX).ok_or(SpecError::Kind)?;
        let mut spec = DeviceSpec::default();
        for part in rest.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            // SoapySDR itself drops a part that is no pair, without a word.
            let pair = part.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
            let Some((key, value)) = pair.filter(|(key, _)| !key.is_empty()) else {
                return Err(SpecError::Pair { got: part.to_owned() });
            };
            if spec.get(key).is_some() {
                return Err(SpecError::Twice { key: key.to_owned() });
            }
            spec.pairs.push((key.to_owned(), value.to_owned()));
        }
        Ok(spec)
    }
}

impl fmt::Display for DeviceSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: Vec<String> = self.pairs().map(|(key, value)| format!("{key}={value}")).collect();
        write!(f, "{PREFIX}{}", pairs.join(","))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(text: &str) -> Result<String, SpecError> {
        text.parse::<DeviceSpec>().map(|spec| spec.to_string())
    }

    #[test]
    fn a_device_is_pairs_in_their_order() {
        let spec: DeviceSpec = "soapy: driver = uhd, addr=192.168.10.2,".parse().unwrap();
        assert_eq!(spec.to_string(), "soapy:driver=uhd,addr=192.168.10.2");
        assert_eq!((spec.get("addr"), spec.get("serial"), spec.is_empty()), (Some("192.168.10.2"), None, false));
        assert!("soapy:".parse::<DeviceSpec>().unwrap().is_empty());
        assert_eq!(parsed("soapy:args=a=b"), Ok("soapy:args=a=b".to_owned()), "the first sign parts them");
    }

    #[test]
    fn what_soapy_would_drop_is_refused() {
        assert_eq!(parsed("driver=uhd"), Err(SpecError::Kind));
        assert_eq!(parsed("soapy:uhd"), Err(SpecError::Pair { got: "uhd".to_owned() }));
        assert_eq!(parsed("soapy:=uhd"), Err(SpecError::Pair { got: "=uhd".to_owned() }));
        assert_eq!(parsed("soapy:addr=1,addr=2"), Err(SpecError::Twice { key: "addr".to_owned() }));
        assert_eq!(parsed("soapy:addr=1\0"), Err(SpecError::Control));
    }

    #[test]
    fn pairs_of_a_driver_that_no_one_can_write_are_left_out() {
        let pairs = [("driver", "rtlsdr"), ("label", "a, b"), ("serial", "1"), ("serial", "2"), ("", "x")];
        let spec = DeviceSpec::of(pairs);
        assert_eq!(spec.to_string(), "soapy:driver=rtlsdr,serial=1");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(pairs in prop::collection::btree_map("[a-z_]{1,8}", "[a-zA-Z0-9.:/]{0,9}", 0..5)) {
            let spec = DeviceSpec::of(pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())));
            prop_assert_eq!(spec.pairs().count(), pairs.len());
            prop_assert_eq!(spec.to_string().parse::<DeviceSpec>(), Ok(spec));
        }

        #[test]
        fn no_text_makes_it_panic(text in "\\PC*") {
            let _ = format!("soapy:{text}").parse::<DeviceSpec>();
        }
    }
}
