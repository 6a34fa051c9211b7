//! Errors of radios as Python's exceptions, with fixes in Python's words.

use takt_packet::EngineError;
use takt_radio::RadioError;

use crate::problem::{Class, Problem, of_error};

impl From<RadioError> for Problem {
    fn from(error: RadioError) -> Problem {
        let fix = fix(&error);
        Problem { fix, class: Class::Radio, ..of_error(&error) }
    }
}

/// An error that an option caused, if this kind of error can be an option's: its name, and its value as Python writes it.
pub fn of_option(error: RadioError, option: &str, value: String) -> Problem {
    let is_its = matches!(
        error,
        RadioError::Rate { .. } | RadioError::Range { .. } | RadioError::Name { .. } | RadioError::Oscillator(_)
    );
    let problem = Problem::from(error);
    if is_its { Problem { option: Some((option.to_owned(), value)), ..problem } } else { problem }
}

fn fix(error: &RadioError) -> Option<String> {
    Some(match error {
        RadioError::NothingThere { .. } => {
            "check power, cable and address: an N200 leaves the factory as 192.168.10.2".to_owned()
        }
        RadioError::PortClosed { .. } => {
            "start a radio with takt.emulate(), or look for one on this host's networks with takt.find()".to_owned()
        }
        RadioError::OtherKind { .. } => "give the address of an N200, N210 or X310".to_owned(),
        RadioError::Firmware { kind, addr, .. } | RadioError::Fpga { kind, addr, .. } => format!(
            "run uhd_images_downloader, then uhd_image_loader --args type={kind},addr={addr}, to write matching firmware and \
             FPGA image"
        ),
        RadioError::InUse { .. } => {
            "end the other program, or take the radio away from it with force=True in takt.open".to_owned()
        }
        RadioError::TakenOver { .. }
        | RadioError::Restarted { .. }
        | RadioError::Gone { .. }
        | RadioError::Silent { .. } => "open the radio again when it is back".to_owned(),
        RadioError::Engine(EngineError::PortInUse { .. }) => "end the program that has the port".to_owned(),
        RadioError::Rate { nearest_sps: [below, above], .. } if below == above => format!("give rate={below}"),
        RadioError::Rate { nearest_sps: [below, above], .. } => format!("give rate={below} or rate={above}"),
        RadioError::Range { low, high, .. } => format!("give a value from {low} to {high}"),
        RadioError::Oscillator(range) => format!("give a value from {} to {} Hz", range.low_hz, range.high_hz),
        RadioError::Name { known, .. } => format!("give one of {}", known.join(", ")),
        RadioError::Board { what, .. } => format!("leave the {what} as it is: these boards have none to set"),
        RadioError::NotSetUp { .. } => "use takt.emulate(\"x310\"), which takt drives".to_owned(),
        RadioError::Transmit { .. } => {
            "give transmit=True in takt.open: put an attenuator or a dummy load on the connector, \
             unless you may use the frequency"
                .to_owned()
        }
        RadioError::OwnReference { .. } | RadioError::ReferenceUnlocked { .. } => {
            "give reference=\"internal\", or check cable and level of the 10 MHz at REF IN".to_owned()
        }
        RadioError::Version { .. } => "use one version of takt here and at the radio".to_owned(),
        RadioError::NoModel { .. } => "leave frequency, gain and antenna as they are: streams work without".to_owned(),
        other => return other.fix().map(str::to_owned),
    })
}
