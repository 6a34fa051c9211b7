//! `interface`, as a workload of experiments.

use std::time::Duration;

use serde_json::Value;
use takt_agent::Failure;
use takt_base::Stop;

use super::{InterfaceOptions, Side, WARM_UP};
use crate::lent::LentRule::{Any, UpTo};
use crate::lent::{Lent, LentOptions};
use crate::quantity::Quantity;
use crate::setting::{Setting, Settings, Takes, UnknownLevel, settings, words};
use crate::workload::{Facts, Peer, PointWorkload, Target, Workload, read, write};

settings! {
    /// A point of `interface`.
    struct InterfaceSettings {
        packet_bytes: usize =
            Setting::required("packet_bytes", Takes::Whole(1, 134_217_728)).about("bytes of a packet"),
        count: u64 = Setting::new("count", Takes::Whole(1, 100_000_000), "100000").about("packets measured"),
        reader: Side = Setting::new("reader", Takes::Word(&["same-core", "other-core"]), "same-core")
            .about("where the reader of the packets is"),
    }
}

words! {
    Side: "same-core" => Side::SameCore, "other-core" => Side::OtherCore;
}

const QUANTITIES: &[Quantity] = &[
    Quantity::amount("mean_ns", "/mean_ns", "write, hand-over and read"),
    Quantity::amount("hand_over_ns", "/hand_over_mean_ns", "hand-over alone"),
    Quantity::amount("over_floor", "/over_floor", "over two copies"),
    Quantity::amount("throughput_bps", "/throughput_bps", "packet bits over latency"),
];

const LENT: LentOptions = &[
    // A ring of four, and what they are copied from and to.
    ("packet_bytes", UpTo { most: 128 << 20, bytes_each: 8 }),
    ("count", Any),
    ("reader", Any),
];

pub(crate) struct Interface;

impl Workload for Interface {
    fn facts(&self) -> Facts {
        Facts {
            lent: Some(Lent::without_waveform(LENT)),
            ..Facts::of(Peer::None, InterfaceSettings::SETTINGS, QUANTITIES)
        }
    }

    fn at(&self, settings: &Settings) -> Result<Box<dyn PointWorkload>, UnknownLevel> {
        Ok(Box::new(InterfaceSettings::read(settings)?))
    }

    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure> {
        let options: InterfaceOptions = read("interface options", options)?;
        write(&super::run(&options, stop).map_err(|error| Failure::of(&error, None))?)
    }
}

impl PointWorkload for InterfaceSettings {
    fn options(&self, _: &Target<'_>) -> Result<Value, Failure> {
        let &InterfaceSettings { packet_bytes, count, reader } = self;
        write(&InterfaceOptions { packet_bytes, count, reader })
    }

    fn about(&self) -> Duration {
        let per_packet_ns = 2_000 + self.packet_bytes as u64;
        Duration::from_nanos((self.count + WARM_UP).saturating_mul(per_packet_ns))
    }
}
