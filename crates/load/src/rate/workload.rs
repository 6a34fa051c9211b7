//! `rate`, as a workload of experiments.

use std::net::IpAddr;

use serde::Deserialize;
use serde_json::{Value, json};
use takt_agent::Failure;
use takt_base::{Stop, parse_bytes, parse_number};
use takt_host::call;
use takt_packet::EngineError;
use takt_radio::{Model, RadioError};
use takt_wire::sample::Format;

use super::{Options, Outcome, RateError};
use crate::excluded::ExcludedSpans;
use crate::quantity::Quantity;
use crate::setting::{DURATION, Domain, ENGINE, Setting, Settings, Takes, WARM_UP, word_or};
use crate::workload::{Contradiction, Facts, Lost, Peer, Target, Workload, read, write};

pub(crate) const MODEL: Setting = Setting::new("model", Takes::Word(&["n200", "x310"]), "n200")
    .about("the radio; an X310 has frames of 8000 bytes, and a cable that takes them");
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
    Setting::new("coalesce", Takes::SpanOrNone, "2ms")
        .about("how long received samples may wait so that one wake-up fetches many"),
    Setting::new("busy_poll", Takes::Word(&["no", "yes"]), "no").about(
        "whether the receiving thread never sleeps: it takes a whole core, and under xdp does the driver's work",
    ),
    Setting::new("call_datagrams", Takes::Whole(1, 96), "96")
        .about("datagrams' worth of samples that a call asks for; 1: each is handed over as it comes"),
    Setting::new("frame_bytes", Takes::Domain(&FrameBytes), "usual")
        .about("the largest datagram; usual: 1472 of an N200, 8000 of an X310"),
    POLICY,
    Setting::new(REFERENCE, Takes::Word(&["internal", "external", "mimo"]), "internal")
        .about("what the radio's clock follows; another than its own must lock"),
];

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
            model: Some(settings.parsed("model")?),
            transmit: target.transmit,
            rx_sps: rate_sps.filter(|_| receives),
            tx_sps: rate_sps.filter(|_| transmits),
            duration: settings.span("duration"),
            warm_up: settings.span("warm_up"),
            format: settings.parsed("format")?,
            engine: settings.parsed("engine")?,
            coalesce: settings.span("coalesce"),
            busy_poll: settings.choice("busy_poll", &[("no", false), ("yes", true)])?,
            call_datagrams: settings.whole("call_datagrams").max(1),
            frame_bytes: settings.number("frame_bytes").map(|bytes| bytes as usize),
            recv_buffer_bytes: parse_bytes(settings.word("recv_buffer")).ok().map(|bytes| bytes as usize),
            counter: settings.choice("source", &[("tone", false), ("counter", true)])?,
            priority: priority(settings)?,
            reference: settings.parsed(REFERENCE)?,
            ..Options::default()
        })
    }

    fn contradiction(&self, settings: &Settings) -> Option<Contradiction> {
        without_such_a_rate(settings).or_else(|| without_such_a_format(settings))
    }

    fn transmits(&self, settings: &Settings) -> bool {
        settings.word("mode") != "rx"
    }

    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure> {
        let options: Options = read("rate options", options)?;
        let done = super::run(&options, &mut |_| (), stop);
        write(&done.map_err(|error| failure(&error, options.addr))?)
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

/// Why a stream could not be run. An engine that this host can't have is not there in the next round either.
pub(crate) fn failure(error: &RateError, addr: IpAddr) -> Failure {
    let failure = Failure::of(error, Some(fix(error, addr)));
    let missing = matches!(error, RateError::Radio(RadioError::Engine(EngineError::Missing { .. })));
    Failure { lasting: failure.lasting || missing, ..failure }
}

/// What to do about a stream that could not be run: what the radio's driver says, or else a look at who answers.
fn fix(error: &RateError, addr: IpAddr) -> String {
    let own = if let RateError::Radio(error) = error { error.fix() } else { None };
    let look = || format!("{}   (says what answers there)", call::takt(format_args!("find --addr {addr}")));
    own.map_or_else(look, str::to_owned)
}

pub(crate) fn priority(settings: &Settings) -> Result<Option<u8>, Failure> {
    Ok(settings.choice("policy", &[("other", None), ("fifo", Some(STREAM_PRIORITY))])?)
}

/// Priority of the streaming threads under `policy = "fifo"`: among the lower ones, below the kernel's own threads.
const STREAM_PRIORITY: u8 = 20;

/// A rate that another radio has.
pub(crate) fn without_such_a_rate(settings: &Settings) -> Option<Contradiction> {
    let (model, rate_sps) = (settings.parsed::<Model>("model").ok()?, settings.number("rate_sps")?);
    let exact = model.nearest_rate(rate_sps).is_some_and(|nearest| is_within(nearest, rate_sps, 1e-6));
    (!exact).then(|| {
        let what = format!("an {model} has no rate of {} MS/s", rate_sps / 1e6);
        Contradiction { setting: "rate_sps", what, remedy: format!("the nearest: {}", rates_near(model, rate_sps)) }
    })
}

fn without_such_a_format(settings: &Settings) -> Option<Contradiction> {
    let (model, format) = (settings.parsed::<Model>("model").ok()?, settings.parsed::<Format>("format").ok()?);
    model.fastest_sps(format).is_none().then(|| {
        let what = format!("an {model} has no {} on the wire", format.name());
        Contradiction { setting: "format", what, remedy: "sc16".into() }
    })
}

fn is_within(a: f64, b: f64, share: f64) -> bool {
    (a / b - 1.0).abs() <= share
}

/// What it has around a rate.
fn rates_near(model: Model, rate_sps: f64) -> String {
    let mut rates: Vec<f64> = model.rates_around(rate_sps).into_iter().flatten().collect();
    rates.dedup();
    let words = rates.iter().map(|rate| {
        let rate_msps = (rate / 1e3).round() / 1e3;
        let clock_hz = f64::from(model.clock_making(*rate).hz());
        format!("{rate_msps}e6 ({} MHz / {})", clock_hz / 1e6, (clock_hz / rate).round())
    });
    format!("of an {model} {}", words.collect::<Vec<_>>().join(", "))
}

/// A sample rate of some radio, to within a thousandth: `25e6`, `33.33e6`, `"25M"`.
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
        // An N200's first: abbreviated rates of its 100 MHz are what files have, and an X310 makes these as well.
        let near = |model: Model| model.nearest_rate(wanted).filter(|rate| is_within(*rate, wanted, 1e-3));
        match Model::ALL.into_iter().find_map(near) {
            Some(rate_sps) => Ok(json!(rate_sps)),
            None => Err(format!("the nearest: {}", Model::ALL.map(|model| rates_near(model, wanted)).join("; "))),
        }
    }
}

/// `"usual"`, or a number of bytes.
#[derive(Debug)]
struct FrameBytes;

impl Domain for FrameBytes {
    fn shown(&self) -> String {
        "usual | 576 to 8000".into()
    }

    fn accept(&self, value: &Value) -> Result<Value, String> {
        let bytes =
            |value: &Value| value.as_u64().filter(|bytes| (576..=8000).contains(bytes)).map(|bytes| json!(bytes));
        word_or(value, "usual", bytes, "\"usual\", or 576 to 8000 bytes")
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
        let n200 = "the nearest: of an N200 20e6 (100 MHz / 5), 25e6 (100 MHz / 4)";
        assert_eq!(remedy, format!("{n200}; of an X310 20.48e6 (184.32 MHz / 9), 22.222e6 (200 MHz / 9)"));
        assert!(accept(json!(1e9)).unwrap_err().1.ends_with("of an X310 200e6 (200 MHz / 1)"));
        assert!(accept(json!(-1)).is_err() && accept(json!(f64::MAX)).is_err());
        assert_eq!(accept(json!(100e6)), Ok(json!(100e6)), "of an X310");
        assert_eq!(accept(json!(1.562e6)), Ok(json!(1.5625e6)), "and not 184.32 MHz / 118");
        for lte in [1.92e6, 3.84e6, 5.76e6, 7.68e6, 11.52e6, 15.36e6, 23.04e6, 30.72e6, 61.44e6] {
            assert_eq!(accept(json!(lte)), Ok(json!(lte)));
        }
    }

    #[test]
    fn a_rate_or_format_of_another_radio_is_a_contradiction() {
        let of = |model: &str, rate_sps: f64, format: &str| {
            let given = [("model", json!(model)), ("rate_sps", json!(rate_sps)), ("format", json!(format))];
            let given = given.map(|(name, value)| (name.to_owned(), value)).into();
            Rate.contradiction(&Settings::complete(given, SETTINGS.iter()))
        };
        assert_eq!(of("n200", 25e6, "sc8"), None);
        assert_eq!(of("x310", 200e6 / 3.0, "sc16"), None);
        let fast = of("n200", 100e6, "sc16").unwrap();
        assert_eq!((fast.setting, fast.what.as_str()), ("rate_sps", "an N200 has no rate of 100 MS/s"));
        assert_eq!(fast.remedy, "the nearest: of an N200 50e6 (100 MHz / 2)");
        assert_eq!(of("x310", 25e6, "sc8").unwrap().setting, "format");
    }

    #[test]
    fn a_buffer_has_a_size_that_a_socket_can_have() {
        assert_eq!(Buffer.accept(&json!("1MiB")), Ok(json!("1MiB")));
        assert!(Buffer.accept(&json!("1KiB")).is_err() && Buffer.accept(&json!(65_536)).is_err());
    }
}
