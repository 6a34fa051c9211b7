//! Which source and which sink a radio has.

use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use takt_base::{Clock, TickRate, WallClock};

use super::{EmulateError, Options};
use crate::signals::{Setting, SpecError};
use crate::{sink, source};

/// Its own source and sink, or the only ones, or the usual ones.
pub(super) fn picked(options: &Options, n: usize) -> Result<(source::Spec, sink::Spec), EmulateError> {
    fn pick<S: FromStr<Err = SpecError> + Default>(texts: &[String], n: usize) -> Result<S, SpecError> {
        let only = texts.first().filter(|_| texts.len() == 1);
        texts.get(n).or(only).map_or_else(|| Ok(S::default()), |text| text.parse())
    }
    let source: source::Spec = pick(&options.sources, n)?;
    let sink: sink::Spec = pick(&options.sinks, n)?;
    if sink != sink::Spec::Null && options.sinks.len() < options.addrs.len() {
        return Err(EmulateError::SharedSink { sink: sink.to_string(), devices: options.addrs.len() });
    }
    Ok((source, sink))
}

/// What recordings of this radio say of it.
pub(super) fn usual_setting(clock: TickRate, hw: String) -> Setting {
    Setting { clock, hw, utc_at_tick_0_ns: utc_at_boot_s().checked_mul(1_000_000_000) }
}

/// UTC, in whole seconds, when the monotonic clock stood at 0. The monotonic second is what PPS edges follow; that of UTC
/// starts up to half a second away from it.
fn utc_at_boot_s() -> u64 {
    let utc = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    utc.saturating_sub(Duration::from_nanos(WallClock.now().0)).as_secs_f64().round() as u64
}
