//! `round-trip`, as a workload of experiments.

use serde::Deserialize;
use serde_json::Value;
use takt_agent::Failure;
use takt_base::Stop;

use super::{RoundTripOptions, RoundTripOutcome};
use crate::excluded::ExcludedSpans;
use crate::lent::LentRule::{Any, Cores, List, Sockets, UpTo};
use crate::lent::{Lent, LentOptions, LentRule};
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

const LENT: LentOptions = &[
    ("addr", Any),
    ("model", Any),
    ("rate_sps", Any),
    ("delays", List(64)),
    ("duration", Any),
    ("warm_up", Any),
    ("block_samples", UpTo { most: 1 << 20, bytes_each: 16 }),
    ("engine", Sockets),
    ("cpus", Cores),
    ("priority", Any),
    ("force", LentRule::FORCE),
    ("transmit", LentRule::TRANSMIT),
];

pub(crate) struct RoundTrip;

impl Workload for RoundTrip {
    fn facts(&self) -> Facts {
        Facts { peer: Peer::Radio, settings: SETTINGS, quantities: QUANTITIES }
    }

    fn options(&self, settings: &Settings, target: &Target<'_>) -> Result<Value, Failure> {
        let usual = RoundTripOptions::default();
        write(&RoundTripOptions {
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

    fn is_hurt_by_stops(&self) -> bool {
        true
    }

    fn lent(&self) -> Option<Lent> {
        Some(Lent::without_waveform(LENT))
    }

    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure> {
        let options: RoundTripOptions = read("round trip options", options)?;
        let done = super::run(&options, &mut |_| (), stop);
        write(&done.map_err(|error| failure(&error, options.addr))?)
    }

    fn lost(&self, result: &Value, _: &ExcludedSpans) -> Option<Lost> {
        Some(Lost::own(RoundTripOutcome::deserialize(result).ok()?.failed_share()))
    }

    /// An answer counts if it comes in time.
    fn lost_is(&self) -> &'static str {
        "late"
    }

    fn excluded_share(&self, result: &Value, radio: Option<&ExcludedSpans>) -> Option<f64> {
        Some(radio?.share_of(RoundTripOutcome::deserialize(result).ok()?.span_ticks))
    }
}
