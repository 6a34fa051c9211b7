//! Levels of settings as types.

use std::time::Duration;

use serde_json::Value;
use takt_base::{Speed, parse_bytes, parse_duration};
use takt_host::idle::Idle;
use takt_host::timer::Method;
use takt_packet::EngineKind;
use takt_radio::Model;
use takt_radio::n200::ClockSource;
use takt_wire::sample::Format;

use super::Setting;
use crate::every::Every;

/// A type that a level of a setting becomes.
pub trait Level: Sized {
    /// `None`: a level that this type does not know.
    fn read(setting: &Setting, level: &Value) -> Option<Self>;
}

/// `None`: the setting is at its default, which is not a value of `T`.
impl<T: Level> Level for Option<T> {
    fn read(setting: &Setting, level: &Value) -> Option<Option<T>> {
        match setting.default_value() {
            Some(default) if default == *level => Some(None),
            _ => T::read(setting, level).map(Some),
        }
    }
}

/// A number of bytes, as a file has it: `"1MiB"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteCount(pub u64);

/// Gives types the levels that a function reads.
macro_rules! levels {
    ($($type:ty: $read:expr;)+) => {
        $(impl Level for $type {
            fn read(_: &Setting, level: &Value) -> Option<$type> {
                let read: fn(&Value) -> Option<$type> = $read;
                read(level)
            }
        })+
    };
}

/// Gives a type the words that its levels are in files.
macro_rules! words {
    ($($type:ty: $($word:literal => $value:expr),+;)+) => {
        $(impl $crate::setting::Level for $type {
            fn read(_: &$crate::setting::Setting, level: &serde_json::Value) -> Option<$type> {
                match level.as_str()? {
                    $($word => Some($value),)+
                    _ => None,
                }
            }
        })+
    };
}
pub(crate) use words;

levels! {
    f64: |level| level.as_f64();
    u8: |level| level.as_u64()?.try_into().ok();
    u32: |level| level.as_u64()?.try_into().ok();
    u64: |level| level.as_u64();
    usize: |level| level.as_u64()?.try_into().ok();
    String: |level| level.as_str().map(str::to_owned);
    Duration: |level| parse_duration(level.as_str()?).ok();
    ByteCount: |level| parse_bytes(level.as_str()?).ok().map(ByteCount);
    Speed: |level| level.as_str()?.parse().ok();
    EngineKind: |level| level.as_str()?.parse().ok();
    Model: |level| level.as_str()?.parse().ok();
    ClockSource: |level| level.as_str()?.parse().ok();
    Format: |level| level.as_str()?.parse().ok();
    Method: |level| level.as_str()?.parse().ok();
    Idle: |level| level.as_str()?.parse().ok();
    Every: |level| level.as_str()?.parse().ok();
}

words! {
    bool: "no" => false, "yes" => true;
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::setting::Takes;

    const BUFFER: Setting = Setting::new("buffer", Takes::Word(&["usual"]), "usual");

    #[test]
    fn a_default_that_is_no_value_is_none_and_what_is_neither_is_unknown() {
        let read = |level: Value| Option::<ByteCount>::read(&BUFFER, &level);
        assert_eq!(read(json!("usual")), Some(None));
        assert_eq!(read(json!("1KiB")), Some(Some(ByteCount(1024))));
        assert_eq!(read(json!("unusual")), None);
    }

    #[test]
    fn numbers_times_and_words_are_read_as_what_they_are() {
        assert_eq!(Duration::read(&BUFFER, &json!("1.5ms")), Some(Duration::from_micros(1500)));
        assert_eq!((u32::read(&BUFFER, &json!(-1)), u32::read(&BUFFER, &json!(7))), (None, Some(7)));
        assert_eq!((bool::read(&BUFFER, &json!("yes")), bool::read(&BUFFER, &json!(true))), (Some(true), None));
    }
}
