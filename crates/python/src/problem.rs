//! Errors as Python's exceptions: what went wrong, why, and the fix. Their classes are Python's, in `takt/_errors.py`.

use std::error::Error;

use pyo3::prelude::*;
use takt_emulator::air::AirError;
use takt_emulator::emulate::EmulateError;
use takt_emulator::fault::SpecError;
use takt_packet::EngineError;

#[derive(Clone, Debug, Default)]
pub struct Problem {
    pub message: String,
    /// Boxed, so that a result with a problem is no large value.
    pub reason: Option<Box<str>>,
    pub fix: Option<String>,
    /// The option that is wrong, and its value as Python writes it: the exception is an `OptionError`.
    pub option: Option<(String, String)>,
    /// The exception, where no option is wrong.
    pub class: Class,
}

/// Exceptions that Rust raises, as Python calls them.
#[derive(Clone, Copy, Debug, Default)]
pub enum Class {
    #[default]
    Emulator,
    Radio,
    Waveform,
}

impl Class {
    fn name(self) -> &'static str {
        match self {
            Class::Emulator => "EmulatorError",
            Class::Radio => "RadioError",
            Class::Waveform => "WaveformError",
        }
    }
}

impl From<Problem> for PyErr {
    fn from(problem: Problem) -> PyErr {
        Python::attach(|py| raised(py, problem).unwrap_or_else(|error| error))
    }
}

fn raised(py: Python<'_>, problem: Problem) -> PyResult<PyErr> {
    let Problem { message, reason, fix, option, class } = problem;
    let reason = reason.map(String::from);
    let errors = py.import("takt._errors")?;
    let exception = match option {
        Some((option, value)) => errors.getattr("OptionError")?.call1((message, reason, fix, option, value))?,
        None => errors.getattr(class.name())?.call1((message, reason, fix))?,
    };
    Ok(PyErr::from_value(exception))
}

impl From<EmulateError> for Problem {
    fn from(error: EmulateError) -> Problem {
        match &error {
            EmulateError::Fault(wrong) | EmulateError::Signal(wrong) => of_text(wrong),
            EmulateError::Unfit { model, option } => {
                let (option, value) = keyword(option);
                Problem {
                    message: format!("an {model} has no {option}"),
                    fix: Some(format!("omit {option}, or emulate another model")),
                    option: Some((option, value)),
                    ..Problem::default()
                }
            }
            EmulateError::NotWithFile { option } => {
                let (option, value) = keyword(option);
                Problem {
                    message: format!("{option} belongs to one radio"),
                    fix: Some(format!("give {option} with that radio")),
                    option: Some((option, value)),
                    ..Problem::default()
                }
            }
            EmulateError::Allow(_) => of_option("allow", &error, "give networks such as [\"192.168.10.0/24\"]"),
            EmulateError::Engine(_) => of_option("engine", &error, "omit engine"),
            EmulateError::Identity { .. } => of_option("serial or name", &error, "give a shorter one"),
            EmulateError::HardwareSpeed { .. } => Problem {
                message: "hardware runs at speed 1".to_owned(),
                ..of_option("as_hardware", &error, "omit as_hardware or speed")
            },
            EmulateError::OtherBoard { .. } => of_option("board", &error, "omit board, or give another eeprom"),
            EmulateError::ForeignEeprom { .. } => {
                of_option("eeprom", &error, "give another file; takt makes a missing one")
            }
            EmulateError::Signals { source, .. } => {
                Problem { fix: Some(source.fix().replace("--source ", "source=")), ..of_error(&error) }
            }
            EmulateError::Ports { source: EngineError::PortInUse { addr }, .. } => Problem {
                message: format!("another program has the address {}", addr.ip()),
                reason: Some(format!("UDP port {} is taken there", addr.port()).into()),
                fix: Some("omit addr: takt takes a free address".to_owned()),
                option: Some(("addr".to_owned(), format!("'{}'", addr.ip()))),
                ..Problem::default()
            },
            EmulateError::Ports { addr, source: EngineError::NotLocal { .. } } => Problem {
                message: format!("{addr} is not an address of this host"),
                fix: Some("omit addr: takt takes a free address".to_owned()),
                option: Some(("addr".to_owned(), format!("'{addr}'"))),
                ..Problem::default()
            },
            EmulateError::Priority { .. } => Problem { fix: Some("omit priority".to_owned()), ..of_error(&error) },
            EmulateError::Core { .. } => Problem { fix: Some("omit cores".to_owned()), ..of_error(&error) },
            _ => of_error(&error),
        }
    }
}

/// The text of a source, a sink or a fault.
fn of_text(wrong: &SpecError) -> Problem {
    let (option, quoted) = match wrong.what {
        "fault" => ("faults", ["[\"", "\"]"]),
        other => (other, ["\"", "\""]),
    };
    let instead = wrong.instead().map(|text| format!("give {option}={}{text}{}", quoted[0], quoted[1]));
    Problem {
        message: wrong.to_string(),
        reason: wrong.reason().map(Box::from),
        fix: Some(instead.unwrap_or_else(|| format!("give {} in {option}=", wrong.expected))),
        option: Some((option.to_owned(), format!("'{}'", wrong.text))),
        ..Problem::default()
    }
}

/// The message, and its causes as the reason.
pub fn of_error(error: &(dyn Error + 'static)) -> Problem {
    let causes = std::iter::successors(error.source(), |&cause| cause.source()).map(ToString::to_string);
    let reason = causes.collect::<Vec<_>>().join(": ");
    Problem { message: error.to_string(), reason: (!reason.is_empty()).then(|| reason.into()), ..Problem::default() }
}

fn of_option(option: &str, error: &(dyn Error + 'static), fix: &str) -> Problem {
    let problem = of_error(error);
    let value = problem.reason.as_deref().unwrap_or_default().to_owned();
    Problem { fix: Some(fix.to_owned()), option: Some((option.to_owned(), value)), ..problem }
}

/// `--as-hardware` and `--board sbx` as keywords and values.
fn keyword(flag: &str) -> (String, String) {
    let (name, value) = flag.trim_start_matches("--").split_once(' ').unwrap_or((flag.trim_start_matches("--"), ""));
    let name = if name == "fault" { "faults".to_owned() } else { name.replace('-', "_") };
    let value = if value.is_empty() { "True".to_owned() } else { format!("'{value}'") };
    (name, value)
}

impl From<AirError> for Problem {
    fn from(error: AirError) -> Problem {
        let problem = of_error(&error);
        // Settings that were written in Python have no place in a file.
        let place = error.place.to_string();
        let message =
            if place.starts_with(OF_PYTHON) { problem.message } else { format!("{place}: {}", problem.message) };
        Problem { message, fix: Some(error.fix()), option: Some(("air".to_owned(), String::new())), ..problem }
    }
}

/// The name of an air that no file holds.
pub const OF_PYTHON: &str = "<air>";
