//! `link`, as a workload of experiments.

use std::net::Ipv4Addr;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use takt_agent::Failure;
use takt_base::Stop;
use takt_lte::Bandwidth;
use takt_packet::EngineKind;

use super::{LinkBearer, LinkOptions, LinkOutcome, air, terminal_radio};
use crate::quantity::Quantity;
use crate::rate::workload::{POLICY, StreamPolicy};
use crate::setting::{DURATION, ENGINE, Level, Setting, Settings, Takes, UnknownLevel, settings, words};
use crate::workload::{
    Contradiction, EmulatedAir, Facts, Lost, Peer, PointNeeds, PointWorkload, Target, Workload, read, write,
};

/// Speeds at which a link is tried in turn until both ends keep up. Fixed before any data were seen.
pub const SPEEDS: [&str; 5] = ["1", "0.5", "0.2", "0.1", "0.04"];
/// The longest load at a lower speed: such a point stands apart, and takes the host up to 25 times as long.
const SLOW_LOAD: Duration = Duration::from_secs(10);

settings! {
    /// A point of `link`.
    struct LinkSettings {
        engine: EngineKind = ENGINE,
        duration: Duration = DURATION,
        policy: StreamPolicy = POLICY,
        prb: u8 = Setting::new("prb", Takes::Whole(6, 100), "25")
            .about("the carrier's resource blocks: 6, 15, 25, 50, 75 or 100"),
        down_bps: f64 = Setting::new("down_bps", Takes::Whole(0, 150_000_000), "1000000")
            .about("IP packets to the terminal, bits a second of the link's time; 0: none"),
        down_bytes: usize = Setting::new("down_bytes", Takes::Whole(48, 1500), "1400").about("bytes of such a packet"),
        attempts: u32 =
            Setting::new("attempts", Takes::Whole(1, 1000), "1").about("how often a round tries to connect"),
        patience: Duration = Setting::new("patience", Takes::Span, "3s")
            .about("how long a link may take to come up, in its own time"),
        bearer: LinkBearer = Setting::new("bearer", Takes::Word(&["am", "um"]), "am")
            .about("whether the link layer repeats what HARQ lost"),
        speed: LinkSpeed = Setting::new("speed", Takes::Word(&["falling", "1", "0.5", "0.2", "0.1", "0.04"]), "falling")
            .about("seconds of the radios in one of the host; falling: real time, then lower ones until both ends keep up"),
    }
}

/// Seconds of the radios in a second of the host.
#[derive(Clone, Copy, Debug, PartialEq)]
enum LinkSpeed {
    /// Real time, then each of [`SPEEDS`] until both ends keep up.
    Falling,
    /// One of [`SPEEDS`].
    Fixed(&'static str),
}

impl Level for LinkSpeed {
    fn read(_: &Setting, level: &Value) -> Option<LinkSpeed> {
        match level.as_str()? {
            "falling" => Some(LinkSpeed::Falling),
            word => SPEEDS.into_iter().find(|speed| *speed == word).map(LinkSpeed::Fixed),
        }
    }
}

impl LinkSpeed {
    /// At first, as `takt emulate --speed` reads it.
    fn word(self) -> &'static str {
        match self {
            LinkSpeed::Falling => SPEEDS[0],
            LinkSpeed::Fixed(word) => word,
        }
    }

    fn number(self) -> f64 {
        self.word().parse().unwrap_or(1.0)
    }
}

words! {
    LinkBearer: "am" => LinkBearer::Am, "um" => LinkBearer::Um;
}

const QUANTITIES: &[Quantity] = &[
    Quantity::share("connected_share", "/connected_share", "attempts that connected"),
    Quantity::amount("attach_ms", "/attach_ms", "from the first sample to the link"),
    Quantity::share("lost_share", "/load/lost_share", "datagrams of the load that were lost"),
    Quantity::amount("jitter_ms", "/load/jitter_ms", "jitter of the load, as RFC 3550 counts it"),
    Quantity::amount("rate_bps", "/load/rate_bps", "IP packets received"),
    Quantity::amount("late_bursts", "/late_bursts", "bursts that came too late to the radios"),
    Quantity::amount("losses", "/losses", "links lost after they had come up"),
];

pub(crate) struct Link;

impl Workload for Link {
    fn facts(&self) -> Facts {
        Facts { excludes_unread_datagrams: true, ..Facts::of(Peer::Radio, LinkSettings::SETTINGS, QUANTITIES) }
    }

    fn at(&self, settings: &Settings) -> Result<Box<dyn PointWorkload>, UnknownLevel> {
        Ok(Box::new(LinkSettings::read(settings)?))
    }

    fn lost(&self, result: &Value, _: &crate::ExcludedSpans) -> Option<Lost> {
        let outcome = LinkOutcome::deserialize(result).ok()?;
        // Without a load a round lost the attempts that did not connect.
        Some(Lost::own(outcome.load.map_or(1.0 - outcome.connected_share, |load| load.lost_share)))
    }

    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure> {
        let options: LinkOptions = read("link options", options)?;
        write(&super::run(&options, stop).map_err(|error| failure(&error))?)
    }
}

impl LinkSettings {
    /// How long the load lasts.
    fn load(&self) -> Duration {
        if self.speed.number() < 1.0 { self.duration.min(SLOW_LOAD) } else { self.duration }
    }
}

impl PointWorkload for LinkSettings {
    fn options(&self, target: &Target<'_>) -> Result<Value, Failure> {
        write(&LinkOptions {
            station: target.addr,
            terminal: terminal_radio(target.addr),
            prb: Bandwidth::try_from(self.prb).map_err(|error| Failure::of(&error, None))?,
            down_bps: self.down_bps,
            packet_bytes: self.down_bytes,
            duration: self.load(),
            attempts: self.attempts as usize,
            patience: self.patience,
            bearer: self.bearer,
            engine: self.engine,
            speed: self.speed.number(),
            priority: self.policy.priority(),
            transmit: target.transmit,
            falls: self.speed == LinkSpeed::Falling,
        })
    }

    fn about(&self) -> Duration {
        let tries = (self.patience + Duration::from_secs(1)) * self.attempts;
        // As `super::longest` has it, at most: a host without time for a link takes longer than the link.
        (self.load() + tries).mul_f64(1.5 / self.speed.number()) + Duration::from_secs(5)
    }

    fn needs(&self) -> PointNeeds {
        PointNeeds { engine: Some(self.engine), ..PointNeeds::default() }
    }

    fn contradiction(&self) -> Option<Contradiction> {
        let known = Bandwidth::ALL.map(Bandwidth::blocks);
        (!known.contains(&self.prb.into())).then(|| Contradiction {
            setting: "prb",
            what: format!("no carrier has {} resource blocks", self.prb),
            remedy: "give 6, 15, 25, 50, 75 or 100".to_owned(),
        })
    }

    fn air(&self, radio: Ipv4Addr) -> Option<EmulatedAir> {
        Some(EmulatedAir { scene: air::scene(radio), speed: self.speed.word().to_owned() })
    }

    fn again(&self, times: usize, result: &Value) -> Option<Box<dyn PointWorkload>> {
        let kept_up = result.get("kept_up").and_then(Value::as_bool).unwrap_or(true);
        let speed = SPEEDS.get(times).filter(|_| self.speed == LinkSpeed::Falling && !kept_up)?;
        Some(Box::new(LinkSettings { speed: LinkSpeed::Fixed(speed), ..self.clone() }))
    }
}

/// An engine that this host can't have is not there in the next round either.
fn failure(error: &super::LinkError) -> Failure {
    let failure = Failure::of(error, None);
    Failure { lasting: failure.lasting || super::is_missing(error), ..failure }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn point(given: &[(&str, Value)]) -> LinkSettings {
        let required = [("duration", json!("1m"))];
        let given = required.iter().chain(given).map(|(name, value)| ((*name).to_owned(), value.clone()));
        LinkSettings::read(&Settings::complete(given.collect(), LinkSettings::SETTINGS.iter())).unwrap()
    }

    fn options(point: &dyn PointWorkload) -> LinkOptions {
        let addr = Ipv4Addr::new(192, 168, 10, 2);
        let target = Target { addr, transmit: false, device: None, host_cpus: &[0], cable_bps: None };
        serde_json::from_value(point.options(&target).unwrap()).unwrap()
    }

    #[test]
    fn a_link_that_does_not_keep_up_is_tried_at_each_lower_speed_in_turn() {
        let [late, punctual] = [false, true].map(|kept_up| json!({ "kept_up": kept_up }));
        let falling = point(&[]);
        let again = |times| falling.again(times, &late);
        let speeds: Vec<f64> = (1..).map_while(again).map(|point| options(&*point).speed).collect();
        assert_eq!(speeds, [0.5, 0.2, 0.1, 0.04]);
        assert!(falling.again(1, &punctual).is_none());
        assert!(point(&[("speed", json!("1"))]).again(1, &late).is_none(), "a speed that was given stays");
    }

    #[test]
    fn a_load_at_a_lower_speed_is_short_and_radios_stand_side_by_side() {
        let (real, slow) = (options(&point(&[])), options(&point(&[("speed", json!("0.1"))])));
        assert_eq!((real.speed, real.duration), (1.0, Duration::from_secs(60)));
        assert_eq!((slow.speed, slow.duration), (0.1, SLOW_LOAD));
        assert_eq!(real.terminal, Ipv4Addr::new(192, 168, 10, 3));
        assert_eq!(terminal_radio("127.84.3.7".parse().unwrap()), Ipv4Addr::new(127, 88, 3, 7));
    }

    #[test]
    fn a_bandwidth_that_no_carrier_has_is_refused_with_those_there_are() {
        assert_eq!(point(&[("prb", json!(26))]).contradiction().map(|one| one.setting), Some("prb"));
        assert_eq!(point(&[]).contradiction(), None);
    }
}
