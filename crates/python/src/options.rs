//! Options of an emulated radio as Python's keywords. Each is checked here by name; what only the emulator can judge, it refuses
//! when it starts.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::str::FromStr;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use takt_base::nearest;
use takt_emulator::emulate::{EmulatorOptions, fpga_version};

use crate::problem::Problem;

/// All keywords, in the order of the documentation.
const KEYWORDS: [&str; 24] = [
    "addr",
    "source",
    "sink",
    "faults",
    "speed",
    "board",
    "gpsdo",
    "imperfect",
    "overflow",
    "uhd",
    "serial",
    "name",
    "eeprom",
    "keep_samples",
    "allow",
    "redirect",
    "engine",
    "aggregate",
    "cores",
    "priority",
    "beat_us",
    "firmware",
    "fpga",
    "hardware",
];

/// How much of what is sent is kept, unless `keep_samples` says otherwise: 256 MiB.
const KEPT_SAMPLES: u64 = 1 << 25;

/// Options that the keywords give, and whether an address is among them.
pub fn read(given: &Bound<'_, PyDict>) -> PyResult<(EmulatorOptions, bool)> {
    let mut options = EmulatorOptions { keep_samples: Some(KEPT_SAMPLES), ..EmulatorOptions::default() };
    let mut addressed = false;
    for (option, value) in given {
        let option: String = option.extract()?;
        // As if it were omitted.
        if value.is_none() && (KEYWORDS.contains(&option.as_str()) || option == "as_hardware") {
            continue;
        }
        let given = Given { option: &option, value: &value };
        addressed |= option == "addr";
        match option.as_str() {
            "addr" => options.addrs = vec![given.parsed::<Ipv4Addr>("an IPv4 address", "\"127.0.0.1\"")?],
            "source" => options.sources = vec![given.text("a source", "\"tone:offset=100k\"")?],
            "sink" => options.sinks = vec![given.text("a sink", "\"sigmf:sent\"")?],
            "faults" => options.faults = given.texts("a fault or a list of them", "[\"lose:rx,every=1000\"]")?,
            "speed" => options.speed = given.speed()?,
            "board" => options.board = Some(given.parsed("a board: sbx, wbx, ubx, basic, lf or none", "\"wbx\"")?),
            "gpsdo" => options.gpsdo = given.flag()?,
            "imperfect" => options.imperfect = Some(given.number(0..=u64::MAX, "a seed", "7")?),
            "overflow" => options.overflow = given.parsed("hardware or continue", "\"continue\"")?,
            "uhd" => options.uhd = Some(given.parsed("a release of UHD: 4.3 to 4.11, or auto", "\"4.11\"")?),
            "serial" => options.serials = vec![given.text("at most 9 characters", "\"EMU001\"")?],
            "name" => options.names = vec![given.text("at most 23 characters", "\"bench\"")?],
            "eeprom" => options.eeproms = vec![given.path()?],
            "keep_samples" => {
                options.keep_samples = Some(given.number(0..=1 << 40, "a number of samples", "1_000_000")?);
            }
            "allow" => options.allow = given.texts("a network or a list of them", "[\"192.168.10.0/24\"]")?,
            "redirect" => options.redirect = given.flag()?,
            "engine" => options.engine = given.text("a packet engine", "\"mmsg\"")?,
            "aggregate" => options.aggregate = given.flag()?,
            "cores" => options.cores = given.cores()?,
            "priority" => options.priority = Some(given.number(1..=99, "a priority from 1 to 99", "50")? as u8),
            "beat_us" => options.beat_us = Some(given.number(1..=10_000, "1 to 10000 microseconds", "200")? as u32),
            "firmware" => options.firmware = Some(given.number(0..=u32::MAX.into(), "a version number", "12")? as u32),
            "fpga" => options.fpga = Some(given.fpga()?),
            "hardware" => {
                options.hardware = Some(given.number(0..=u16::MAX.into(), "a 16-bit revision", "0x0a01")? as u16);
            }
            "as_hardware" => options.as_hardware = given.flag()?,
            _ => return Err(unknown(&option, &value).into()),
        }
    }
    Ok((options, addressed))
}

fn unknown(option: &str, value: &Bound<'_, PyAny>) -> Problem {
    let known = KEYWORDS.into_iter().chain(["as_hardware"]);
    let fix = match nearest(option, known.clone()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("give one of {}", known.collect::<Vec<_>>().join(", ")),
    };
    Problem {
        message: format!("an emulated radio has no option {option}"),
        reason: None,
        fix: Some(fix),
        option: Some((option.to_owned(), repr(value))),
        ..Problem::default()
    }
}

/// A keyword and its value.
struct Given<'a, 'py> {
    option: &'a str,
    value: &'a Bound<'py, PyAny>,
}

impl Given<'_, '_> {
    /// `expected`: a phrase; `example`: a value as Python writes it.
    fn refused(&self, expected: &str, example: &str) -> Problem {
        let (option, value) = (self.option, repr(self.value));
        Problem {
            message: format!("{option}: {value} is not {expected}"),
            reason: None,
            fix: Some(format!("give {option}={example}")),
            option: Some((option.to_owned(), value)),
            ..Problem::default()
        }
    }

    fn text(&self, expected: &str, example: &str) -> Result<String, Problem> {
        let text = self.value.cast::<PyString>().ok().and_then(|text| text.extract().ok());
        text.ok_or_else(|| self.refused(expected, example))
    }

    fn parsed<T: FromStr>(&self, expected: &str, example: &str) -> Result<T, Problem> {
        self.text(expected, example)?.parse().map_err(|_| self.refused(expected, example))
    }

    /// A text, or any number of them.
    fn texts(&self, expected: &str, example: &str) -> Result<Vec<String>, Problem> {
        match self.value.extract::<String>() {
            Ok(one) => Ok(vec![one]),
            Err(_) => self.value.extract().map_err(|_| self.refused(expected, example)),
        }
    }

    fn flag(&self) -> Result<bool, Problem> {
        match self.value.cast::<PyBool>() {
            Ok(flag) => Ok(flag.is_true()),
            Err(_) => Err(self.refused("True or False", "True")),
        }
    }

    fn number(&self, range: std::ops::RangeInclusive<u64>, expected: &str, example: &str) -> Result<u64, Problem> {
        let whole = self.value.is_instance_of::<PyInt>() && !self.value.is_instance_of::<PyBool>();
        let number = whole.then(|| self.value.extract::<u64>().ok()).flatten();
        number.filter(|number| range.contains(number)).ok_or_else(|| self.refused(expected, example))
    }

    fn speed<T: FromStr>(&self) -> Result<T, Problem> {
        let refused = || self.refused("0.001 to 100 seconds of the radio in a second of this host, or \"auto\"", "0.1");
        let is_number = self.value.is_instance_of::<PyFloat>() || self.value.is_instance_of::<PyInt>();
        let text = match self.value.extract::<f64>() {
            Ok(speed) if is_number && !self.value.is_instance_of::<PyBool>() => speed.to_string(),
            _ => self.value.extract::<String>().map_err(|_| refused())?,
        };
        text.parse().map_err(|_| refused())
    }

    fn path(&self) -> Result<PathBuf, Problem> {
        self.value.extract().map_err(|_| self.refused("a path", "\"eeprom.bin\""))
    }

    fn cores(&self) -> Result<Vec<usize>, Problem> {
        self.value.extract().map_err(|_| self.refused("a list of CPU numbers", "[1]"))
    }

    fn fpga(&self) -> Result<u32, Problem> {
        let (expected, example) = ("a version MAJOR.MINOR", "\"11.1\"");
        fpga_version(&self.text(expected, example)?).map_err(|_| self.refused(expected, example))
    }
}

fn repr(value: &Bound<'_, PyAny>) -> String {
    /// Longer values would hide the message.
    const MOST: usize = 80;
    let text = value.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}
