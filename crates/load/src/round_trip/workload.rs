//! `round-trip`, as a workload of experiments.

use serde::Deserialize;
use serde_json::Value;
use takt_agent::Failure;
use takt_base::Stop;

use super::{Options, Outcome};
use crate::excluded::ExcludedSpans;
use crate::quantity::Quantity;
use crate::rate::workload::{MODEL, POLICY, RATE_SPS, failure, priority, without_such_a_rate};
use crate::setting::{DURATION, ENGINE, Setting, Settings, Takes, WARM_UP};
use crate::workload::{Contradiction, Facts, Lost, Peer, Target, Workload, read, write};

const SETTINGS: &[Setting] = &[
    ENGINE,
    DURATION,
    WARM_UP,
    MODEL,
    RATE_SPS,
    POLICY,
    Setting::required("delay", Takes::Span).about("time between the samples and the answer to them"),
];

const QUANTITIES: &[Quantity] = &[
    Quantity::amount("answers", "/answers", "answers given"),
    Quantity::amount("late", "/late", "answers the radio called late"),
    Quantity::amount(
        "air_to_answer_p50_us",
        "/delays/0/air_to_answer/p50_us",
        "from the air to the answer's leaving the host",
    ),
    Quantity::amount("air_to_answer_p99_9_us", "/delays/0/air_to_answer/p99_9_us", "the same"),
];

pub(crate) struct RoundTrip;

impl Workload for RoundTrip {
    fn facts(&self) -> Facts {
        Facts { peer: Peer::Radio, settings: SETTINGS, quantities: QUANTITIES }
    }

    fn options(&self, settings: &Settings, target: &Target<'_>) -> Result<Value, Failure> {
        let usual = Options::default();
        write(&Options {
            addr: target.addr.into(),
            model: Some(settings.parsed("model")?),
            transmit: target.transmit,
            rate_sps: settings.number("rate_sps").unwrap_or(usual.rate_sps),
            delays: vec![settings.span("delay")],
            duration: settings.span("duration"),
            warm_up: settings.span("warm_up"),
            engine: settings.parsed("engine")?,
            priority: priority(settings)?,
            ..usual
        })
    }

    fn contradiction(&self, settings: &Settings) -> Option<Contradiction> {
        without_such_a_rate(settings)
    }

    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure> {
        let options: Options = read("round trip options", options)?;
        let done = super::run(&options, &mut |_| (), stop);
        write(&done.map_err(|error| failure(&error, options.addr))?)
    }

    fn lost(&self, result: &Value, _: &ExcludedSpans) -> Option<Lost> {
        Some(Lost::own(Outcome::deserialize(result).ok()?.failed_share()))
    }

    fn excluded_share(&self, result: &Value, radio: Option<&ExcludedSpans>) -> Option<f64> {
        Some(radio?.share_of(Outcome::deserialize(result).ok()?.span_ticks))
    }
}
