//! `rate`, as a workload of experiments.

use std::net::IpAddr;

use serde::Deserialize;
use serde_json::{Value, json};
use takt_agent::Failure;
use takt_base::{Stop, parse_bytes, parse_number};
use takt_host::call;
use takt_wire::n200::rate::Factor;

use super::{Options, Outcome, RateError};
use crate::excluded::ExcludedSpans;
use crate::quantity::Quantity;
use crate::setting::{DURATION, Domain, ENGINE, Setting, Settings, Takes, WARM_UP, word_or};
use crate::workload::{Facts, Lost, Peer, Target, Workload, read, write};

pub(crate) const MODEL: Setting = Setting::new("model", Takes::Word(&["n200"]), "n200").about("the radio");
pub(crate) const RATE_SPS: Setting =
    Setting::required("rate_sps", Takes::Domain(&SampleRate)).about("samples a second, each direction");
pub(crate) const POLICY: Setting = Setting::new("policy", Takes::Word(&["other", "fifo"]), "other")
    .about("scheduling policy of the threads that stream");

/// The setting that says what the radio's clock follows.
pub const REFERENCE: &str = "reference";

const SETTINGS: &[Setting] = &[
    ENGINE,
    DURATION,
    WARM_UP,
    MODEL,
    Setting::required("mode", Takes::Word(&["rx", "tx", "duplex"])).about("which way samples flow"),
    RATE_SPS,
    Setting::new("format", Takes::Word(&["sc16", "sc8"]), "sc16").about("sample format on the wire"),
    Setting::new("source", Takes::Word(&["tone", "counter"]), "tone")
        .about("what an emulated radio plays; of a counter each sample is its number, and the receiver looks for gaps"),
    Setting::new("recv_buffer", Takes::Domain(&Buffer), "usual")
        .about("receive buffer of the socket that samples come to; usual: what an ordinary program gets"),
    POLICY,
    Setting::new(REFERENCE, Takes::Word(&["internal", "external", "mimo"]), "internal")
        .about("what the radio's clock follows; another than its own must lock"),
];

const QUANTITIES: &[Quantity] = &[
    Quantity::amount("rx_samples", "/rx/samples", "samples received"),
    Quantity::amount("rx_dropped", "/rx/dropped", "samples missing by the time stamps"),
    Quantity::amount("tx_samples", "/tx/samples", "samples handed to the kernel"),
    Quantity::amount("tx_underflows", "/tx/underflows", "times the radio ran dry"),
    Quantity::amount("cpu_ms_per_msample", "/cpu/host_ms_per_msample", "CPU of the host side"),
];

pub(crate) struct Rate;

impl Workload for Rate {
    fn facts(&self) -> Facts {
        Facts { peer: Peer::Radio, settings: SETTINGS, quantities: QUANTITIES }
    }

    fn options(&self, settings: &Settings, target: &Target<'_>) -> Result<Value, Failure> {
        let rate_sps = settings.number("rate_sps");
        let modes = [("rx", [true, false]), ("tx", [false, true]), ("duplex", [true, true])];
        let [receives, transmits] = settings.choice("mode", &modes)?;
        write(&Options {
            addr: target.addr.into(),
            transmit: target.transmit,
            rx_sps: rate_sps.filter(|_| receives),
            tx_sps: rate_sps.filter(|_| transmits),
            duration: settings.span("duration"),
            warm_up: settings.span("warm_up"),
            format: settings.parsed("format")?,
            engine: settings.parsed("engine")?,
            recv_buffer_bytes: parse_bytes(settings.word("recv_buffer")).ok().map(|bytes| bytes as usize),
            counter: settings.choice("source", &[("tone", false), ("counter", true)])?,
            priority: priority(settings)?,
            reference: settings.parsed(REFERENCE)?,
            ..Options::default()
        })
    }

    fn transmits(&self, settings: &Settings) -> bool {
        settings.word("mode") != "rx"
    }

    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure> {
        let options: Options = read("rate options", options)?;
        let done = super::run(&options, &mut |_| (), stop);
        write(&done.map_err(|error| Failure::of(&error, Some(fix(&error, options.addr))))?)
    }

    fn lost(&self, result: &Value, radio: &ExcludedSpans) -> Option<Lost> {
        let outcome = Outcome::deserialize(result).ok()?;
        let lost = outcome.lost();
        let share = lost.rx_share.max(lost.tx_share);
        Some(Lost { share, own_share: if outcome.own(radio).clean { 0.0 } else { share } })
    }

    fn excluded_share(&self, result: &Value, radio: Option<&ExcludedSpans>) -> Option<f64> {
        Some(radio?.share_of(Outcome::deserialize(result).ok()?.span_ticks()))
    }
}

/// What to do about a stream that could not be run: what the radio's driver says, or else a look at who answers.
pub(crate) fn fix(error: &RateError, addr: IpAddr) -> String {
    let own = if let RateError::Radio(error) = error { error.fix() } else { None };
    let look = || format!("{}   (says what answers there)", call::takt(format_args!("find --addr {addr}")));
    own.map_or_else(look, str::to_owned)
}

pub(crate) fn priority(settings: &Settings) -> Result<Option<u8>, Failure> {
    Ok(settings.choice("policy", &[("other", None), ("fifo", Some(STREAM_PRIORITY))])?)
}

/// Priority of the streaming threads under `policy = "fifo"`: among the lower ones, below the kernel's own threads.
const STREAM_PRIORITY: u8 = 20;

/// A sample rate of an N200, to within a thousandth: `25e6`, `33.33e6`, `"25M"`.
#[derive(Debug)]
struct SampleRate;

impl Domain for SampleRate {
    fn shown(&self) -> String {
        "a rate the radio has".into()
    }

    /// A rate is refused or exact: what lies within a thousandth of one that the radio has becomes that one.
    fn accept(&self, value: &Value) -> Result<Value, String> {
        let number = value.as_f64().or_else(|| parse_number(value.as_str()?).ok());
        let wanted = number.filter(|n| *n > 0.0).ok_or("a number of samples a second, such as 25e6 or \"25M\"")?;
        let nearest = Factor::nearest(wanted).ok_or("a number of samples a second, such as 25e6")?;
        if (nearest.rate_sps() / wanted - 1.0).abs() <= 1e-3 {
            return Ok(json!(nearest.rate_sps()));
        }
        let around = Factor::around(wanted).into_iter().flatten().map(|factor| {
            let rate_msps = (factor.rate_sps() / 1e3).round() / 1e3;
            format!("{rate_msps}e6 (100 MHz / {})", factor.get())
        });
        Err(format!("the nearest that an N200 has: {}", around.collect::<Vec<_>>().join(", ")))
    }
}

/// `"usual"`, or bytes: `"1MiB"`.
#[derive(Debug)]
struct Buffer;

/// The least holds some of the largest datagrams; the most is what a socket can have.
const BUFFER_BYTES: std::ops::RangeInclusive<u64> = 16 << 10..=1 << 30;

impl Domain for Buffer {
    fn shown(&self) -> String {
        "usual | bytes, such as 1MiB".into()
    }

    fn accept(&self, value: &Value) -> Result<Value, String> {
        let bytes = |value: &Value| parse_bytes(value.as_str()?).ok().filter(|bytes| BUFFER_BYTES.contains(bytes));
        let read = |value: &Value| bytes(value).map(|_| value.clone());
        word_or(value, "usual", read, "\"usual\", or 16KiB to 1GiB, such as \"1MiB\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_exact_or_refused_with_its_neighbours() {
        let accept = |value: Value| RATE_SPS.accept(&value);
        assert_eq!(accept(json!(25e6)), Ok(json!(25e6)));
        assert_eq!(accept(json!("25M")), Ok(json!(25e6)));
        assert_eq!(accept(json!(33.33e6)), Ok(json!(1e8 / 3.0)));
        let (complaint, remedy) = accept(json!(22e6)).unwrap_err();
        assert_eq!(complaint, "rate_sps can't be 22000000.0");
        assert_eq!(remedy, "the nearest that an N200 has: 20e6 (100 MHz / 5), 25e6 (100 MHz / 4)");
        assert!(accept(json!(1e9)).unwrap_err().1.ends_with(": 50e6 (100 MHz / 2)"));
        assert!(accept(json!(-1)).is_err());
    }

    #[test]
    fn a_buffer_has_a_size_that_a_socket_can_have() {
        assert_eq!(Buffer.accept(&json!("1MiB")), Ok(json!("1MiB")));
        assert!(Buffer.accept(&json!("1KiB")).is_err() && Buffer.accept(&json!(65_536)).is_err());
    }
}
