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

use super::{DeviceOutcome, RateError, RateOptions, RateOutcome, is_of_a_device};
use crate::emulated::{PUNCTUAL_BEAT_US, Played};
use crate::excluded::ExcludedSpans;
use crate::lent::LentRule::{Any, Cores, List, Sockets, UpTo};
use crate::lent::{Lent, LentOptions, LentRule};
use crate::quantity::Quantity;
use crate::setting::{DURATION, Domain, ENGINE, Setting, Settings, Takes, WARM_UP, word_or};
use crate::workload::{Contradiction, Facts, Lost, Peer, Target, Workload, read, write};

pub(crate) const MODEL: Setting = Setting::new("model", Takes::Word(&["n200", "x310"]), "n200")
    .about("the radio; an X310 has frames of 8000 bytes, and a cable that takes them");
pub(crate) const RATE_SPS: Setting =
    Setting::required("rate_sps", Takes::Domain(&SampleRate)).about("samples a second, each direction");
pub(crate) const POLICY: Setting = Setting::new("policy", Takes::Word(&["other", "fifo"]), "other")
    .about("scheduling policy of the threads that stream");

/// A setting of the radio that stays as its driver makes it.
const USUAL: &str = "usual";

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
    Setting::new("frequency_hz", Takes::Domain(&OrNumber("Hz, such as 900e6 or \"900M\"")), USUAL)
        .about("the frequency to which the radio is tuned, both ways; usual: where the driver puts it"),
    Setting::new("gain_db", Takes::Domain(&OrNumber("decibels, such as 20")), USUAL)
        .about("the radio's gain, both ways; usual: the least"),
    Setting::new("antenna", Takes::Domain(&Antenna), USUAL)
        .about("the radio's antenna, of the receiving side if it receives; usual: the first"),
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

/// Time from one turn to the next of an emulator without real-time priority, microseconds. Longer turns take less of a core, and
/// so leave more time to be punctual in. Half of what a host may notice is left for lateness. Answers, of whose delay a turn is
/// part, keep the usual one.
const ORDINARY_BEAT_US: u32 = 400;

pub(crate) struct Rate;

impl Workload for Rate {
    fn facts(&self) -> Facts {
        Facts { peer: Peer::Radio, settings: SETTINGS, quantities: QUANTITIES }
    }

    fn options(&self, settings: &Settings, target: &Target<'_>) -> Result<Value, Failure> {
        let rate_sps = settings.number("rate_sps");
        let modes = [("rx", [true, false]), ("tx", [false, true]), ("duplex", [true, true])];
        let [receives, transmits] = settings.choice("mode", &modes)?;
        write(&RateOptions {
            addr: target.addr.into(),
            model: Some(settings.parsed("model")?),
            transmit: target.transmit,
            device: target.device.map(str::to_owned),
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
            frequency_hz: settings.number("frequency_hz"),
            gain_db: settings.number("gain_db"),
            antenna: Some(settings.word("antenna")).filter(|name| !["", USUAL].contains(name)).map(str::to_owned),
            reference: settings.parsed(REFERENCE)?,
            ..RateOptions::default()
        })
    }

    fn contradiction(&self, settings: &Settings) -> Option<Contradiction> {
        without_such_a_rate(settings)
            .or_else(|| without_such_a_format(settings))
            .or_else(|| without_a_front_end(settings))
    }

    fn transmits(&self, settings: &Settings) -> bool {
        settings.word("mode") != "rx"
    }

    fn played(&self, settings: &Settings) -> Played {
        if settings.word("source") == "counter" { Played::Counter } else { Played::Usual }
    }

    /// If each datagram is handed over as it comes, the radio's own unevenness would be measured with the host's.
    fn beat_us(&self, settings: &Settings, real_time: bool) -> Option<u32> {
        if settings.whole("call_datagrams") == 1 {
            return Some(PUNCTUAL_BEAT_US);
        }
        (!real_time).then_some(ORDINARY_BEAT_US)
    }

    fn is_hurt_by_stops(&self) -> bool {
        true
    }

    fn takes_cpu_quota(&self) -> bool {
        true
    }

    fn excludes_unread_datagrams(&self) -> bool {
        true
    }

    fn lent(&self) -> Option<Lent> {
        Some(Lent::without_waveform(LENT))
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
        RateError::Radio(RadioError::Name { known, .. }) => return format!("one of {}", known.join(", ")),
        RateError::Radio(RadioError::Range { low, high, .. }) => return format!("a value from {low} to {high}"),
        RateError::Radio(RadioError::Board { what, .. }) => return format!("leave the {what} at \"{USUAL}\""),
        _ => {}
    }
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

/// A setting of a front end, of a radio whose front end takt does not set.
fn without_a_front_end(settings: &Settings) -> Option<Contradiction> {
    let model = settings.parsed::<Model>("model").ok().filter(|model| *model == Model::X310)?;
    let is_given = |name: &&str| settings.all().get(*name).is_some_and(|value| value != USUAL);
    let setting = ["frequency_hz", "gain_db", "antenna"].into_iter().find(is_given)?;
    let what = format!("takt does not set {setting} of an {model}");
    Some(Contradiction { setting, what, remedy: format!("leave it at \"{USUAL}\"") })
}

fn is_within(a: f64, b: f64, share: f64) -> bool {
    (a / b - 1.0).abs() <= share
}

/// Rates of the model around one.
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

/// `"usual"`, or a number of this.
#[derive(Debug)]
struct OrNumber(&'static str);

impl Domain for OrNumber {
    fn shown(&self) -> String {
        format!("{USUAL} | {}", self.0)
    }

    fn accept(&self, value: &Value) -> Result<Value, String> {
        let number = |value: &Value| value.as_f64().or_else(|| parse_number(value.as_str()?).ok());
        let read = |value: &Value| number(value).filter(|number| number.is_finite()).map(|number| json!(number));
        word_or(value, USUAL, read, format!("\"{USUAL}\", or {}", self.0))
    }
}

/// `"usual"`, or the name of an antenna.
#[derive(Debug)]
struct Antenna;

impl Domain for Antenna {
    fn shown(&self) -> String {
        format!("{USUAL} | an antenna of the radio, such as RX2")
    }

    fn accept(&self, value: &Value) -> Result<Value, String> {
        let is_name = |name: &&str| (1..=16).contains(&name.len()) && name.chars().all(|c| c.is_ascii_graphic());
        let read = |value: &Value| value.as_str().filter(is_name).map(|name| json!(name));
        word_or(value, USUAL, read, format!("\"{USUAL}\", or an antenna of the radio, such as \"RX2\""))
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
    use std::net::Ipv4Addr;

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

    fn settings(given: &[(&str, Value)]) -> Settings {
        let given = given.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        Settings::complete(given.collect(), SETTINGS.iter())
    }

    #[test]
    fn a_radio_turns_faster_for_single_datagrams_and_slower_without_real_time_priority() {
        let beats = |given: &[(&str, Value)]| [true, false].map(|real_time| Rate.beat_us(&settings(given), real_time));
        assert_eq!(beats(&[]), [None, Some(ORDINARY_BEAT_US)]);
        assert_eq!(beats(&[("call_datagrams", json!(1))]), [Some(PUNCTUAL_BEAT_US); 2]);
    }

    #[test]
    fn a_radio_plays_numbers_where_the_receiver_looks_for_gaps() {
        assert!(matches!(Rate.played(&settings(&[])), Played::Usual));
        assert!(matches!(Rate.played(&settings(&[("source", json!("counter"))])), Played::Counter));
    }

    #[test]
    fn a_front_end_stays_as_it_is_unless_a_setting_says_otherwise() {
        let target = Target { addr: Ipv4Addr::LOCALHOST, transmit: false, device: None, host_cpus: &[] };
        let required = [("mode", json!("rx")), ("rate_sps", json!(1e6)), ("duration", json!("1s"))];
        let options = |more: &[(&str, Value)]| {
            let document = Rate.options(&settings(&[&required[..], more].concat()), &target).unwrap();
            let RateOptions { frequency_hz, gain_db, antenna, .. } = serde_json::from_value(document).unwrap();
            (frequency_hz, gain_db, antenna)
        };
        assert_eq!(options(&[]), (None, None, None));
        let set = [("frequency_hz", json!(900e6)), ("gain_db", json!(20.0)), ("antenna", json!("TX/RX"))];
        assert_eq!(options(&set), (Some(900e6), Some(20.0), Some("TX/RX".to_owned())));
        for (name, value) in set {
            let of = |model: &str| {
                let given = [("model", json!(model)), (name, value.clone())];
                Rate.contradiction(&settings(&[&required[..], &given].concat())).map(|found| found.setting)
            };
            assert_eq!((of("n200"), of("x310")), (None, Some(name)));
        }
    }

    #[test]
    fn settings_of_a_front_end_are_numbers_and_names() {
        let hz = OrNumber("Hz");
        assert_eq!((hz.accept(&json!("900M")), hz.accept(&json!(20))), (Ok(json!(900e6)), Ok(json!(20.0))));
        assert_eq!(hz.accept(&json!("fast")), Err("\"usual\", or Hz".to_owned()));
        assert_eq!(Antenna.accept(&json!("TX/RX")), Ok(json!("TX/RX")));
        assert!(Antenna.accept(&json!("")).is_err() && Antenna.accept(&json!("a\u{1b}")).is_err());
        assert!(hz.accept(&json!(USUAL)).is_ok() && Antenna.accept(&json!(USUAL)).is_ok());
    }

    /// The next round would end alike.
    #[test]
    fn a_setting_that_the_boards_lack_is_refused_for_good_with_what_they_have() {
        let known = vec!["RX2".to_owned(), "TX/RX".to_owned()];
        let antenna = RadioError::Name { what: "receive antenna", got: "RX9".to_owned(), known };
        let failure = failure(&RateError::Radio(antenna), Ipv4Addr::LOCALHOST.into());
        assert_eq!((failure.lasting, failure.fix.as_deref()), (true, Some("one of RX2, TX/RX")));
    }

    #[test]
    fn a_buffer_has_a_size_that_a_socket_can_have() {
        assert_eq!(Buffer.accept(&json!("1MiB")), Ok(json!("1MiB")));
        assert!(Buffer.accept(&json!("1KiB")).is_err() && Buffer.accept(&json!(65_536)).is_err());
    }
}
