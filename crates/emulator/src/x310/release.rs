//! The release of UHD whose FPGA image an X310 has: what it announces, and how it speaks (x310.md 18).
//!
//! | UHD | RFNoC protocol | radio block | FPGA | firmware |
//! | --- | --- | --- | --- | --- |
//! | 4.3 | 1.0 | 0.1 | 39.0 | 6.0 |
//! | 4.4 | 1.0 | 0.1 | 39.1 | 6.1 |
//! | 4.5, 4.6 | 1.0 | 0.1 | 39.2 | 6.1 |
//! | 4.7 to 4.9 | 1.0 | 0.1 | 39.3 | 6.1 |
//! | 4.10 | 1.0 | 1.0 | 39.3 | 6.1 |
//! | 4.11 | 2.0 | 1.0 | 39.3 | 6.1 |
//!
//! A host compares major versions only: each of UHD 4.3 to 4.9 takes the image of any of them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use takt_wire::chdr::Protocol;
use takt_wire::x310::RadioLayout;

/// A release of UHD from 4.3 to 4.11. Those that differ in the third number are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Release {
    /// Minor version of UHD 4.
    minor: u8,
}

/// Major version of the FPGA in bits 31:16.
const FPGA: u32 = 0x0027_0000;
/// Major version of the firmware in bits 31:16.
const FIRMWARE: u32 = 0x0006_0000;

impl Release {
    /// UHD 4.3, whose image 4.4 to 4.9 take as well.
    pub const V4_3: Release = Release { minor: 3 };
    /// The newest whose radio block has version 0.1.
    pub const V4_9: Release = Release { minor: 9 };
    /// The only one of protocol 1.0 whose radio block has version 1.0.
    pub const V4_10: Release = Release { minor: 10 };
    /// The newest: protocol 2.0.
    pub const V4_11: Release = Release { minor: 11 };

    /// All of them, the oldest first.
    pub fn all() -> impl DoubleEndedIterator<Item = Release> {
        (Release::V4_3.minor..=Release::V4_11.minor).map(|minor| Release { minor })
    }

    /// The protocol that its hosts want, and no other.
    #[must_use]
    pub fn protocol(self) -> Protocol {
        if self >= Release::V4_11 { Protocol::V2 } else { Protocol::V1 }
    }

    /// The radio block that its hosts want, and no other.
    #[must_use]
    pub fn radio(self) -> RadioLayout {
        if self >= Release::V4_10 { RadioLayout::V1 } else { RadioLayout::V0 }
    }

    /// Version of its FPGA image: major in bits 31:16, minor in 15:0.
    #[must_use]
    pub fn fpga(self) -> u32 {
        FPGA | match self.minor {
            ..=3 => 0,
            4 => 1,
            5 | 6 => 2,
            7.. => 3,
        }
    }

    /// Version of its firmware: major in bits 31:16, minor in 15:0.
    #[must_use]
    pub fn firmware(self) -> u32 {
        FIRMWARE | u32::from(self > Release::V4_3)
    }

    /// The releases whose hosts take a radio with its image.
    fn takers(self) -> &'static str {
        match (self.protocol(), self.radio()) {
            (Protocol::V2, _) => "4.11",
            (Protocol::V1, RadioLayout::V1) => "4.10",
            (Protocol::V1, RadioLayout::V0) => "4.3 to 4.9",
        }
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "4.{}", self.minor)
    }
}

/// The release whose image a radio has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Uhd {
    /// The image of this release.
    Release(Release),
    /// The image of 4.9 or of 4.11, as each host's habits say when it opens the radio (x310.md 18.4).
    Auto,
}

/// An error in the name of a release.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{got}` is neither a UHD release from 4.3 to 4.11 nor auto")]
pub struct UhdError {
    pub got: String,
}

impl Default for Uhd {
    fn default() -> Uhd {
        Uhd::Release(Release::V4_3)
    }
}

impl Uhd {
    /// The image before a host has opened the radio.
    #[must_use]
    pub fn image(self) -> Release {
        match self {
            Uhd::Release(release) => release,
            Uhd::Auto => Release::V4_9,
        }
    }

    /// The announcement of a radio, for a person; `fpga` and `firmware` have the major version in bits 31:16.
    #[must_use]
    pub fn announces(self, fpga: u32, firmware: u32) -> String {
        let version = |word: u32| format!("{}.{}", word >> 16, word & 0xFFFF);
        let (fpga, firmware) = (version(fpga), version(firmware));
        match self {
            Uhd::Release(release) => format!(
                "announces RFNoC {}, radio block {}, FPGA {fpga}, firmware {firmware}: for UHD {} (--uhd names another)",
                release.protocol(),
                version(release.radio().compat()),
                release.takers()
            ),
            Uhd::Auto => format!(
                "announces FPGA {fpga}, firmware {firmware}, and the RFNoC protocol that each host wants: for UHD 4.3 to 4.9 and \
                 4.11"
            ),
        }
    }
}

impl FromStr for Uhd {
    type Err = UhdError;
    fn from_str(text: &str) -> Result<Uhd, UhdError> {
        if text == "auto" {
            return Ok(Uhd::Auto);
        }
        // Distributions append to the third number: 4.3.0.0+ds1-5.
        let mut numbers = text.split('.');
        let (major, minor) = (numbers.next(), numbers.next().unwrap_or_default());
        let release = Release::all().find(|release| major == Some("4") && minor == release.minor.to_string());
        release.map(Uhd::Release).ok_or_else(|| UhdError { got: text.to_owned() })
    }
}

impl fmt::Display for Uhd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Uhd::Release(release) => release.fmt(f),
            Uhd::Auto => f.write_str("auto"),
        }
    }
}

impl TryFrom<String> for Uhd {
    type Error = UhdError;
    fn try_from(text: String) -> Result<Uhd, UhdError> {
        text.parse()
    }
}

impl From<Uhd> for String {
    fn from(uhd: Uhd) -> String {
        uhd.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uhd(text: &str) -> Uhd {
        text.parse().expect("a release")
    }

    // RFNOC_PROTO_VER: host/include/uhd/rfnoc/constants.hpp, 0x0100 in v4.3.0.0 to v4.10.0.0, 0x0200 in v4.11.
    // MAJOR_COMPAT, MINOR_COMPAT: host/lib/rfnoc/radio_control_impl.cpp, 0.1 in v4.3.0.0 to v4.9.0.1, 1.0 in v4.10.0.0 and v4.11.
    // COMPAT_MINOR: fpga/usrp3/top/x300/bus_int.v. X300_FW_COMPAT_MINOR: host/lib/usrp/x300/x300_fw_common.h.
    #[test]
    fn each_release_has_the_versions_of_its_sources() {
        let rows = Release::all().map(|release| {
            let words = (release.protocol().code(), release.radio().compat(), release.fpga(), release.firmware());
            (release.to_string(), words)
        });
        let (old, new) = (0x0000_0001, 0x0001_0000);
        let want = [
            ("4.3", (0x0100, old, 0x0027_0000, 0x0006_0000)),
            ("4.4", (0x0100, old, 0x0027_0001, 0x0006_0001)),
            ("4.5", (0x0100, old, 0x0027_0002, 0x0006_0001)),
            ("4.6", (0x0100, old, 0x0027_0002, 0x0006_0001)),
            ("4.7", (0x0100, old, 0x0027_0003, 0x0006_0001)),
            ("4.8", (0x0100, old, 0x0027_0003, 0x0006_0001)),
            ("4.9", (0x0100, old, 0x0027_0003, 0x0006_0001)),
            ("4.10", (0x0100, new, 0x0027_0003, 0x0006_0001)),
            ("4.11", (0x0200, new, 0x0027_0003, 0x0006_0001)),
        ];
        assert_eq!(rows.collect::<Vec<_>>(), want.map(|(name, words)| (name.to_owned(), words)));
    }

    #[test]
    fn releases_are_named_as_uhd_names_them() {
        for release in Release::all() {
            assert_eq!(uhd(&release.to_string()), Uhd::Release(release));
            assert_eq!(uhd(&format!("{release}.0.1")), Uhd::Release(release));
        }
        assert_eq!((uhd("4.3.0.0+ds1-5"), uhd("auto")), (Uhd::default(), Uhd::Auto));
        for wrong in ["", "4", "4.", "4.2", "4.12", "4.1", "3.15", "5.3", "v4.9", "4.9-rc1", "Auto", "4.+9", "4.-3"] {
            if let Ok(taken) = wrong.parse::<Uhd>() {
                panic!("{wrong:?} is {taken}");
            }
        }
        let error = "4.12".parse::<Uhd>().unwrap_err().to_string();
        assert_eq!(error, "`4.12` is neither a UHD release from 4.3 to 4.11 nor auto");
    }

    #[test]
    fn a_release_survives_json() {
        for uhd in Release::all().map(Uhd::Release).chain([Uhd::Auto]) {
            let text = serde_json::to_string(&uhd).expect("JSON");
            assert_eq!(serde_json::from_str::<Uhd>(&text).expect("the same"), uhd);
        }
        assert_eq!(serde_json::to_string(&uhd("4.11")).expect("JSON"), "\"4.11\"");
        assert!(serde_json::from_str::<Uhd>("\"4.12\"").is_err());
    }

    #[test]
    fn a_person_reads_what_is_announced_and_to_whom() {
        let says = |uhd: Uhd| uhd.announces(uhd.image().fpga(), uhd.image().firmware());
        assert_eq!(
            says(Uhd::default()),
            "announces RFNoC 1.0, radio block 0.1, FPGA 39.0, firmware 6.0: for UHD 4.3 to 4.9 (--uhd names another)"
        );
        assert!(says(uhd("4.8")).ends_with("FPGA 39.3, firmware 6.1: for UHD 4.3 to 4.9 (--uhd names another)"));
        assert!(says(uhd("4.10")).starts_with("announces RFNoC 1.0, radio block 1.0, FPGA 39.3"));
        assert!(says(uhd("4.11")).starts_with("announces RFNoC 2.0, radio block 1.0, FPGA 39.3"));
        assert!(says(Uhd::Auto).contains("for UHD 4.3 to 4.9 and 4.11"));
    }
}
