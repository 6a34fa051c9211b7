//! `round-trip`, as a workload of experiments.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use takt_agent::Failure;
use takt_base::Stop;
use takt_packet::EngineKind;
use takt_radio::Model;

use super::{RoundTripOptions, RoundTripOutcome};
use crate::excluded::ExcludedSpans;
use crate::lent::LentRule::{Any, Cores, List, Sockets, UpTo};
use crate::lent::{Lent, LentOptions, LentRule};
use crate::quantity::Quantity;
use crate::rate::without_such_a_rate;
use crate::rate::workload::{MODEL, POLICY, RATE_SPS, StreamPolicy, failure};
use crate::setting::{DURATION, ENGINE, Setting, Settings, Takes, UnknownLevel, WARM_UP, settings};
use crate::workload::{Contradiction, Facts, Lost, Peer, PointNeeds, PointWorkload, Target, Workload, read, write};

settings! {
    /// A point of `round-trip`.
    struct RoundTripSettings {
        engine: EngineKind = ENGINE,
        duration: Duration = DURATION,
        warm_up: Duration = WARM_UP,
        model: Model = MODEL,
        rate_sps: f64 = RATE_SPS,
        policy: StreamPolicy = POLICY,
        delay: Duration =
            Setting::required("delay", Takes::Span).about("time between the samples and the answer to them"),
    }
}

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
        Facts {
            is_hurt_by_stops: true,
            // An answer counts if it comes in time.
            lost_is: "late",
            lent: Some(Lent::without_waveform(LENT)),
            ..Facts::of(Peer::Radio, RoundTripSettings::SETTINGS, QUANTITIES)
        }
    }

    fn at(&self, settings: &Settings) -> Result<Box<dyn PointWorkload>, UnknownLevel> {
        Ok(Box::new(RoundTripSettings::read(settings)?))
    }

    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure> {
        let options: RoundTripOptions = read("round trip options", options)?;
        let done = super::run(&options, &mut |_| (), stop);
        write(&done.map_err(|error| failure(&error, options.addr))?)
    }

    fn lost(&self, result: &Value, _: &ExcludedSpans) -> Option<Lost> {
        Some(Lost::own(RoundTripOutcome::deserialize(result).ok()?.failed_share()))
    }

    fn excluded_share(&self, result: &Value, radio: Option<&ExcludedSpans>) -> Option<f64> {
        Some(radio?.share_of(RoundTripOutcome::deserialize(result).ok()?.span_ticks))
    }
}

impl PointWorkload for RoundTripSettings {
    fn options(&self, target: &Target<'_>) -> Result<Value, Failure> {
        write(&RoundTripOptions {
            addr: target.addr.into(),
            model: Some(self.model),
            transmit: target.transmit,
            rate_sps: self.rate_sps,
            delays: vec![self.delay],
            duration: self.duration,
            warm_up: self.warm_up,
            engine: self.engine,
            priority: self.policy.priority(),
            ..RoundTripOptions::default()
        })
    }

    fn about(&self) -> Duration {
        self.duration + self.warm_up
    }

    fn needs(&self) -> PointNeeds {
        PointNeeds { model: Some(self.model), engine: Some(self.engine), ..PointNeeds::default() }
    }

    fn contradiction(&self) -> Option<Contradiction> {
        without_such_a_rate(self.model, self.rate_sps)
    }
}
