//! `takt run --clock radio`: what is reported of the radio that sets the beat.

use miette::{Report as Failure, Result};
use takt_graph::Graph;
use takt_radio_waveform::{
    DeviceReport, Notice, RadioReport, RadioRequirementsError, SoftwareError, WaveformRadioError, late_answers,
    wants_a_radio,
};
use takt_runtime::Report;
use takt_soapy::TimeStamps;

use crate::command::emulate;
use crate::radio_problem::{self, on_air};
use crate::waveform::{FileDiagnostic, unopened, unreadable, unstarted};
use crate::{Answer, Output, Problem, soapy};

/// Refuses a waveform and a clock that do not go together.
/// `flag`: the one that names a radio.
pub fn suits(graph: &Graph, clock: &str, flag: Option<&str>) -> Result<()> {
    if clock == "radio" || (!wants_a_radio(graph) && flag.is_none()) {
        return Ok(());
    }
    let components = || "components of the waveform belong to a radio".to_owned();
    let why = flag.map_or_else(components, |flag| format!("{flag} names a radio"));
    Err(Problem::new(format!("can't use a radio with --clock {clock}")).why(why).fix("give --clock radio").into())
}

pub fn note(notice: Notice<'_>, output: &Output) {
    output.note(match notice {
        Notice::Software { model, addr, source } => {
            let model = model.title();
            format!("radio     a software {model} of takt's own at {addr}, hearing {source}; --addr names another")
        }
        Notice::OnAir(emission) => on_air(&emission),
    });
}

/// Says why the radio could not be `used` (`use the radio`, `stream`).
pub fn problem(used: &str, error: WaveformRadioError) -> Failure {
    match error {
        WaveformRadioError::Requirements(error) => {
            Problem::caused("the waveform can't run on a radio's clock", error, RadioRequirementsError::fix).into()
        }
        WaveformRadioError::Radio(error) => radio_problem::problem(used, error, "set items for").into(),
        WaveformRadioError::Device(error) => soapy::problem(used, error, "set items for").into(),
        WaveformRadioError::Software(error) => software_problem(error),
        error => Problem::new(format!("can't {used}")).why(error).into(),
    }
}

fn software_problem(error: SoftwareError) -> Failure {
    match error {
        SoftwareError::Read { name, source } => unreadable(&name, source).into(),
        SoftwareError::Graph(error) => FileDiagnostic::from(error).into(),
        SoftwareError::NotReceived { name, why, fix } => {
            Problem::new(format!("an emulator can't receive {name}")).why(why).fix(fix).into()
        }
        SoftwareError::Open(error) => unopened(error).into(),
        SoftwareError::Start(error) => unstarted(error).into(),
        SoftwareError::Emulate(error) => emulate::problem(error).into(),
        error => Problem::new("can't start an emulator").why(error).into(),
    }
}

/// A waveform that kept its slots on a radio of another speed did not keep them in real time. One that missed some on a slow radio
/// would miss them in real time, too. One that kept them by what a device's driver shows, which does not show all, is not known to
/// have kept them.
pub fn answer(good: bool, radio: Option<&RadioReport>) -> Answer {
    let device = radio.and_then(|radio| radio.device.as_ref());
    if good && device.is_some_and(|device| !device.shows_all()) {
        return Answer::Unknown;
    }
    match radio.and_then(|radio| radio.radio_speed) {
        Some(speed) if speed > 1.0 || (speed < 1.0 && good) => Answer::Unknown,
        _ => Answer::of(good),
    }
}

/// Counts that a device's driver showed.
fn device_sentence(device: &DeviceReport) -> String {
    let DeviceReport { name, driver, overflows, stream_errors, restarts, timeouts, .. } = device;
    let overflows = overflows.map_or_else(|| "unknown".to_owned(), |overflows| overflows.to_string());
    let mut said = format!(
        "radio     {name}, driver {driver}: overflows {overflows}, stream errors {stream_errors}, restarts {restarts}, timeouts \
         {timeouts}\n"
    );
    if device.time_stamps != TimeStamps::Count {
        said += "radio     its driver has no time stamps that count samples, so nobody knows what was lost\n";
    }
    if device.reports_faults == Some(false) {
        said += "radio     its driver does not report what came too late\n";
    }
    said
}

/// Report of the radio and its answers in the end; nothing without them.
pub fn sentence(report: &Report, radio: Option<&RadioReport>) -> String {
    let lag = radio.and_then(|radio| radio.lag.as_ref()).map_or_else(String::new, |lag| {
        let (half, most) = (lag.p50_us, lag.p99_9_us);
        format!("radio     of the emulator's datagrams, half left within {half} us, 99.9 % within {most} us\n")
    });
    let tables = radio.into_iter().flat_map(|radio| &radio.calibration);
    let lag = tables.fold(lag, |said, table| format!("{said}radio     calibration {table}\n"));
    let speed = radio.and_then(|radio| radio.radio_speed).filter(|speed| *speed != 1.0);
    let lag = lag + &radio.and_then(|radio| radio.device.as_ref()).map_or_else(String::new, device_sentence);
    let lag = lag + &speed.map_or_else(String::new, |speed| format!("radio     ran at {speed} of real time\n"));
    match late_answers(report) {
        0 => lag,
        late => format!("{lag}{late} answers came too late for the radio.\n"),
    }
}
