//! Which source and which sink a radio has.

use std::io;
use std::net::Ipv4Addr;
use std::str::FromStr;

use takt_base::TickRate;
use takt_dsp::file::FileError;

use super::{EmulateError, EmulatorOptions};
use crate::signals::{Setting, SignalError, SpecError};
use crate::{sink, source};

/// Its own source and sink, or the only ones, or the usual ones.
pub(super) fn picked(options: &EmulatorOptions, n: usize) -> Result<(source::Spec, sink::Spec), EmulateError> {
    fn pick<S: FromStr<Err = SpecError> + Default>(texts: &[String], n: usize) -> Result<S, SpecError> {
        let only = texts.first().filter(|_| texts.len() == 1);
        texts.get(n).or(only).map_or_else(|| Ok(S::default()), |text| text.parse())
    }
    let source: source::Spec = pick(&options.sources, n).map_err(|error| wrong_source(options.addrs[n], error))?;
    let sink: sink::Spec = pick(&options.sinks, n)?;
    if sink != sink::Spec::Null && options.sinks.len() < options.addrs.len() {
        return Err(EmulateError::SharedSink { sink: sink.to_string(), devices: options.addrs.len() });
    }
    Ok((source, sink))
}

/// If the file does not exist, that is the error, and not its missing format.
fn wrong_source(addr: Ipv4Addr, error: SpecError) -> EmulateError {
    let Some(path) = error.unformatted() else { return error.into() };
    match std::fs::metadata(path) {
        Err(source) if source.kind() == io::ErrorKind::NotFound => {
            let source = Box::new(FileError::Io { action: "opening", path: path.to_owned(), source });
            let source = SignalError::File { what: "source", spec: error.text, source };
            EmulateError::Signals { addr, source }
        }
        _ => error.into(),
    }
}

/// The facts that recordings of this radio state about it. `utc_at_tick_0_s`: [`Pacing::utc_at_tick_0_s`](super::pacing::Pacing::utc_at_tick_0_s).
pub(super) fn usual_setting(clock: TickRate, hw: String, utc_at_tick_0_s: u64) -> Setting {
    Setting { clock, hw, utc_at_tick_0_ns: utc_at_tick_0_s.checked_mul(1_000_000_000) }
}
