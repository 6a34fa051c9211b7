//! Errors of the module, in words for users of SoapySDR.
#![allow(missing_docs, reason = "names and messages say it")]

use std::error::Error;

use takt_radio::RadioError;

use crate::Code;

/// Why the module refused a call.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModuleError {
    #[error("takt's driver has no argument {key}; it has {}", .known.join(", "))]
    Key { key: String, known: Vec<&'static str> },
    #[error("{key}={value} is not {expected}")]
    Value { key: String, value: String, expected: String },
    #[error("the arguments name no radio: give addr=ADDRESS")]
    NoAddress,
    #[error("the radio has no {side} channel {channel}: it has {channels}")]
    Channel { side: &'static str, channel: usize, channels: usize },
    #[error("channels {channels:?} have different rates ({rates_sps:?} S/s), but a stream has one rate")]
    Rates { channels: Vec<u8>, rates_sps: Vec<f64> },
    #[error("the stream is active: deactivate it, then {what}")]
    Runs { what: &'static str },
    #[error("the stream is not active")]
    Inactive,
    #[error("takt's driver does not {what}")]
    Unsupported { what: &'static str },
    #[error("{ns} ns is before the zero of the radio's clock")]
    Before { ns: i64 },
    #[error("the program passed a null pointer")]
    Null,
    #[error("the program passed a text that is not UTF-8 or is longer than {most} bytes")]
    Text { most: usize },
    #[error(transparent)]
    Radio(#[from] RadioError),
}

impl ModuleError {
    /// The number that a program of SoapySDR gets.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            ModuleError::Unsupported { .. }
            | ModuleError::Radio(RadioError::Rate { .. } | RadioError::Range { .. } | RadioError::NoModel { .. }) => {
                Code::NotSupported
            }
            ModuleError::Before { .. } => Code::Time,
            _ => Code::Stream,
        }
    }

    /// The message, its reasons, and the fix where there is one.
    #[must_use]
    pub fn words(&self) -> String {
        let mut words = self.to_string();
        let mut source = self.source();
        while let Some(reason) = source {
            words = format!("{words}: {reason}");
            source = reason.source();
        }
        match self.fix() {
            Some(fix) => format!("{words}; {fix}"),
            None => words,
        }
    }

    fn fix(&self) -> Option<String> {
        let ModuleError::Radio(error) = self else { return None };
        Some(match error {
            RadioError::Transmit { .. } => {
                "put an attenuator or a dummy load on the connector, unless you may use the \
                                            frequency; then add transmit=yes to the device's arguments"
                    .to_owned()
            }
            RadioError::Rate { nearest_sps: [below, above], .. } if below == above => format!("set {below}"),
            RadioError::Rate { nearest_sps: [below, above], .. } => format!("set {below} or {above}"),
            RadioError::InUse { .. } => {
                "end the other program, or take the radio from it with force=yes in the device's arguments".to_owned()
            }
            RadioError::OwnReference { .. } | RadioError::ReferenceUnlocked { .. } => {
                "give reference=internal, or check cable and level of the 10 MHz at REF IN".to_owned()
            }
            RadioError::NoModel { .. } => {
                "leave frequency, gain and antenna as they are: streams work without".to_owned()
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_has_its_fix_in_the_words_of_soapy() {
        let rate = RadioError::Rate { requested_sps: 22e6, clock_hz: 100_000_000, nearest_sps: [20e6, 25e6] };
        let error = ModuleError::from(rate);
        assert!(error.words().ends_with("; set 20000000 or 25000000"), "{}", error.words());
        assert_eq!(error.code(), Code::NotSupported);
        let in_use = RadioError::InUse { addr: [192, 168, 10, 2].into(), owner: 7, age: None };
        assert!(ModuleError::from(in_use).words().contains("force=yes"));
    }
}
