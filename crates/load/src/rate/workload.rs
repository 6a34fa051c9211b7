//! `rate`, as a workload of experiments.

use std::net::IpAddr;

use serde::Deserialize;
use serde_json::Value;
use takt_agent::Failure;
use takt_base::Stop;
use takt_host::call;
use takt_packet::EngineError;
use takt_radio::RadioError;

use super::domains::{SampleRate, USUAL};
use super::point::RateSettings;
use super::{DeviceOutcome, RateError, RateOptions, RateOutcome, is_of_a_device};
use crate::excluded::ExcludedSpans;
use crate::lent::LentRule::{Any, Cores, List, Sockets, UpTo};
use crate::lent::{Lent, LentOptions, LentRule};
use crate::quantity::Quantity;
use crate::setting::{Setting, Settings, Takes, UnknownLevel, words};
use crate::workload::{Facts, Lost, Peer, PointWorkload, Workload, read, write};

pub(crate) const MODEL: Setting = Setting::new("model", Takes::Word(&["n200", "x310"]), "n200")
    .about("the radio; an X310 has frames of 8000 bytes, and a cable that takes them");
pub(crate) const RATE_SPS: Setting =
    Setting::required("rate_sps", Takes::Domain(&SampleRate)).about("samples a second, each direction");
pub(crate) const POLICY: Setting = Setting::new("policy", Takes::Word(&["other", "fifo"]), "other")
    .about("scheduling policy of the threads that stream");

/// Scheduling policy of the threads that stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamPolicy {
    Other,
    Fifo,
}

words! {
    StreamPolicy: "other" => StreamPolicy::Other, "fifo" => StreamPolicy::Fifo;
}

impl StreamPolicy {
    /// `None`: normal priority.
    pub(crate) fn priority(self) -> Option<u8> {
        (self == StreamPolicy::Fifo).then_some(STREAM_PRIORITY)
    }
}

/// Priority of the streaming threads under `policy = "fifo"`: among the lower ones, below the kernel's own threads.
const STREAM_PRIORITY: u8 = 20;

const QUANTITIES: &[Quantity] = &[
    Quantity::amount("rx_samples", "/rx/samples", "samples received"),
    Quantity::amount("rx_dropped", "/rx/dropped", "samples missing by the time stamps"),
    Quantity::amount("tx_samples", "/tx/samples", "samples handed to the kernel"),
    Quantity::amount("tx_underflows", "/tx/underflows", "times the radio ran dry"),
    Quantity::amount(
        "rx_jitter_us",
        "/rx/delivery/jitter_us",
        "jitter of delivery between calls, as RFC 3550 counts it",
    ),
    Quantity::amount("rx_delay_p99_9_us", "/rx/delivery/delay/p99_9_us", "from the air to the program"),
    Quantity::amount("cpu_ms_per_msample", "/cpu/host_ms_per_msample", "CPU of the host side"),
];

const LENT: LentOptions = &[
    ("addr", Any),
    ("model", Any),
    ("rx_sps", Any),
    ("tx_sps", Any),
    ("duration", Any),
    ("warm_up", Any),
    ("engine", Sockets),
    ("format", Any),
    // It tunes to receive: what transmits is refused below.
    ("frequency_hz", Any),
    ("gain_db", Any),
    ("antenna", Any),
    ("rx_channels", List(2)),
    ("tx_channels", List(2)),
    ("frame_bytes", UpTo { most: 9000, bytes_each: 1 }),
    ("samples_per_datagram", UpTo { most: 9000, bytes_each: 4 }),
    ("aggregate", Any),
    ("coalesce", Any),
    ("busy_poll", Any),
    ("call_datagrams", UpTo { most: 96, bytes_each: 16 << 10 }),
    ("recv_buffer_bytes", LentRule::SOCKET_BUFFER),
    ("counter", Any),
    ("threads", Any),
    ("cpus", Cores),
    ("priority", Any),
    ("reference", Any),
    ("transmit", LentRule::TRANSMIT),
    ("force", LentRule::FORCE),
];

pub(crate) struct Rate;

impl Workload for Rate {
    fn facts(&self) -> Facts {
        Facts {
            is_hurt_by_stops: true,
            takes_cpu_quota: true,
            excludes_unread_datagrams: true,
            runs_through_a_device: true,
            lent: Some(Lent::without_waveform(LENT)),
            ..Facts::of(Peer::Radio, RateSettings::SETTINGS, QUANTITIES)
        }
    }

    fn at(&self, settings: &Settings) -> Result<Box<dyn PointWorkload>, UnknownLevel> {
        Ok(Box::new(RateSettings::read(settings)?))
    }

    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure> {
        let options: RateOptions = read("rate options", options)?;
        if let Some(device) = &options.device {
            return write(&super::device::run(device, &options, stop)?);
        }
        let done = super::run(&options, &mut |_| (), stop);
        write(&done.map_err(|error| failure(&error, options.addr))?)
    }

    fn lost(&self, result: &Value, radio: &ExcludedSpans) -> Option<Lost> {
        if is_of_a_device(result) {
            return lost_through(&DeviceOutcome::deserialize(result).ok()?, radio);
        }
        let outcome = RateOutcome::deserialize(result).ok()?;
        let lost = outcome.lost();
        let share = lost.rx_share.max(lost.tx_share);
        Some(Lost { share, own_share: if outcome.own(radio).clean { 0.0 } else { share } })
    }

    fn excluded_share(&self, result: &Value, radio: Option<&ExcludedSpans>) -> Option<f64> {
        if is_of_a_device(result) {
            return Some(DeviceOutcome::deserialize(result).ok()?.excluded_share(radio?));
        }
        Some(radio?.share_of(RateOutcome::deserialize(result).ok()?.span_ticks()))
    }
}

/// The loss of a round through a device; `None` where its driver does not show it.
fn lost_through(outcome: &DeviceOutcome, radio: &ExcludedSpans) -> Option<Lost> {
    let share = outcome.rx_lost_share()?.max(outcome.tx_lost_share()?);
    Some(Lost { share, own_share: if outcome.own(radio).clean { 0.0 } else { share } })
}

/// Why a stream could not be run. An engine that this host can't have is not there in the next round either, nor is a setting that
/// the radio refuses.
pub(crate) fn failure(error: &RateError, addr: IpAddr) -> Failure {
    let failure = Failure::of(error, Some(fix(error, addr)));
    let missing = matches!(error, RateError::Radio(RadioError::Engine(EngineError::Missing { .. })));
    Failure { lasting: failure.lasting || missing || is_refused_by_the_boards(error), ..failure }
}

/// Whether it is a setting that the radio's daughterboards do not have.
fn is_refused_by_the_boards(error: &RateError) -> bool {
    use RadioError::{Board, Name, NoModel, Range};
    matches!(error, RateError::Radio(Board { .. } | Name { .. } | NoModel { .. } | Range { .. }))
}

/// Advice on a stream that could not be run: what the radio's driver says, or else a look at who answers.
fn fix(error: &RateError, addr: IpAddr) -> String {
    match error {
        RateError::Radio(RadioError::Name { known, .. }) => return format!("give one of {}", known.join(", ")),
        RateError::Radio(RadioError::Range { low, high, .. }) => return format!("give a value from {low} to {high}"),
        RateError::Radio(RadioError::Board { what, .. }) => return format!("leave the {what} at \"{USUAL}\""),
        _ => {}
    }
    let own = if let RateError::Radio(error) = error { error.fix() } else { None };
    let look = || format!("{}   (shows what answers there)", call::takt(format_args!("find --addr {addr}")));
    own.map_or_else(look, str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    /// The next round would end alike.
    #[test]
    fn a_setting_that_the_boards_lack_is_refused_for_good_with_what_they_have() {
        let known = vec!["RX2".to_owned(), "TX/RX".to_owned()];
        let antenna = RadioError::Name { what: "receive antenna", got: "RX9".to_owned(), known };
        let failure = failure(&RateError::Radio(antenna), Ipv4Addr::LOCALHOST.into());
        assert_eq!((failure.lasting, failure.fix.as_deref()), (true, Some("give one of RX2, TX/RX")));
    }
}
