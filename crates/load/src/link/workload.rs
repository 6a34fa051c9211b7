//! `link`, as a workload of experiments.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use takt_agent::Failure;
use takt_base::Stop;
use takt_lte::Bandwidth;

use super::{LinkBearer, LinkOptions, LinkOutcome, air, terminal_radio};
use crate::quantity::Quantity;
use crate::rate::workload::{POLICY, priority};
use crate::setting::{DURATION, ENGINE, Setting, Settings, Takes};
use crate::workload::{Contradiction, EmulatedAir, Facts, Lost, Peer, Target, Workload, read, write};

/// Speeds at which a link is tried in turn until both ends keep up. Fixed before any data were seen.
pub const SPEEDS: [&str; 5] = ["1", "0.5", "0.2", "0.1", "0.04"];
/// The setting that tries them all.
const FALLING: &str = "falling";
/// The longest load at a lower speed: such a point stands apart, and takes the host up to 25 times as long.
const SLOW_LOAD: Duration = Duration::from_secs(10);

const SETTINGS: &[Setting] = &[
    ENGINE,
    DURATION,
    POLICY,
    Setting::new("prb", Takes::Whole(6, 100), "25").about("the carrier's resource blocks: 6, 15, 25, 50, 75 or 100"),
    Setting::new("down_bps", Takes::Whole(0, 150_000_000), "1000000")
        .about("IP packets to the terminal, bits a second of the link's time; 0: none"),
    Setting::new("down_bytes", Takes::Whole(48, 1500), "1400").about("bytes of such a packet"),
    Setting::new("attempts", Takes::Whole(1, 1000), "1").about("how often a round tries to connect"),
    Setting::new("patience", Takes::Span, "3s").about("how long a link may take to come up, in its own time"),
    Setting::new("bearer", Takes::Word(&["am", "um"]), "am").about("whether the link layer repeats what HARQ lost"),
    Setting::new("speed", Takes::Word(&[FALLING, "1", "0.5", "0.2", "0.1", "0.04"]), FALLING)
        .about("seconds of the radios in one of the host; falling: real time, then lower ones until both ends keep up"),
];

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
        Facts { peer: Peer::Radio, settings: SETTINGS, quantities: QUANTITIES }
    }

    fn options(&self, settings: &Settings, target: &Target<'_>) -> Result<Value, Failure> {
        let word = settings.word("speed");
        let speed = if word == FALLING { 1.0 } else { word.parse().unwrap_or(1.0) };
        let duration = settings.span("duration");
        let blocks = u8::try_from(settings.whole("prb")).unwrap_or(0);
        write(&LinkOptions {
            station: target.addr,
            terminal: terminal_radio(target.addr),
            prb: Bandwidth::try_from(blocks).map_err(|error| Failure::of(&error, None))?,
            down_bps: settings.number("down_bps").unwrap_or_default(),
            packet_bytes: settings.whole("down_bytes"),
            duration: if speed < 1.0 { duration.min(SLOW_LOAD) } else { duration },
            attempts: settings.whole("attempts"),
            patience: settings.span("patience"),
            bearer: settings.choice("bearer", &[("am", LinkBearer::Am), ("um", LinkBearer::Um)])?,
            engine: settings.parsed("engine")?,
            speed,
            priority: priority(settings)?,
            transmit: target.transmit,
            falls: word == FALLING,
        })
    }

    fn contradiction(&self, settings: &Settings) -> Option<Contradiction> {
        let prb = settings.whole("prb");
        let known = Bandwidth::ALL.map(Bandwidth::blocks);
        (!known.contains(&prb)).then(|| Contradiction {
            setting: "prb",
            what: format!("no carrier has {prb} resource blocks"),
            remedy: "6, 15, 25, 50, 75 or 100".to_owned(),
        })
    }

    fn about(&self, settings: &Settings) -> Duration {
        let speed: f64 = settings.word("speed").parse().unwrap_or(1.0);
        let load = settings.span("duration").min(if speed < 1.0 { SLOW_LOAD } else { Duration::MAX });
        let tries = (settings.span("patience") + Duration::from_secs(1)) * settings.whole("attempts") as u32;
        // As `super::longest` has it, at most: a host without time for a link takes longer than the link.
        (load + tries).mul_f64(1.5 / speed.max(1e-3)) + Duration::from_secs(5)
    }

    fn air(&self, settings: &Settings, radio: std::net::Ipv4Addr) -> Option<EmulatedAir> {
        let word = settings.word("speed");
        let speed = if word == FALLING { SPEEDS[0] } else { word };
        Some(EmulatedAir { scene: air::scene(radio), speed: speed.to_owned() })
    }

    fn again(&self, settings: &Settings, times: usize, result: &Value) -> Option<Settings> {
        let kept_up = result.get("kept_up").and_then(Value::as_bool).unwrap_or(true);
        let speed = SPEEDS.get(times).filter(|_| settings.word("speed") == FALLING && !kept_up)?;
        Some(settings.clone().with("speed", json!(speed)))
    }

    fn excludes_unread_datagrams(&self) -> bool {
        true
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

/// An engine that this host can't have is not there in the next round either.
fn failure(error: &super::LinkError) -> Failure {
    let failure = Failure::of(error, None);
    Failure { lasting: failure.lasting || super::is_missing(error), ..failure }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorkloadKind;

    fn settings(speed: &str) -> Settings {
        let given = [("duration".to_owned(), json!("1m")), ("speed".to_owned(), json!(speed))];
        Settings::complete(given.into(), WorkloadKind::Link.settings().iter())
    }

    fn options(speed: &str) -> LinkOptions {
        let target = Target { addr: "192.168.10.2".parse().unwrap(), transmit: false, device: None, host_cpus: &[0] };
        serde_json::from_value(Link.options(&settings(speed), &target).unwrap()).unwrap()
    }

    #[test]
    fn a_link_that_does_not_keep_up_is_tried_at_each_lower_speed_in_turn() {
        let [late, punctual] = [false, true].map(|kept_up| json!({ "kept_up": kept_up }));
        let falling = settings(FALLING);
        let speeds: Vec<String> = (1..)
            .map_while(|times| Link.again(&falling, times, &late))
            .map(|settings| settings.word("speed").to_owned())
            .collect();
        assert_eq!(speeds, SPEEDS[1..]);
        assert_eq!(Link.again(&falling, 1, &punctual), None);
        assert_eq!(Link.again(&settings("1"), 1, &late), None, "a speed that was given stays");
    }

    #[test]
    fn a_load_at_a_lower_speed_is_short_and_radios_stand_side_by_side() {
        let (real, slow) = (options(FALLING), options("0.1"));
        assert_eq!((real.speed, real.duration), (1.0, Duration::from_secs(60)));
        assert_eq!((slow.speed, slow.duration), (0.1, SLOW_LOAD));
        assert_eq!(real.terminal, std::net::Ipv4Addr::new(192, 168, 10, 3));
        assert_eq!(terminal_radio("127.84.3.7".parse().unwrap()), std::net::Ipv4Addr::new(127, 88, 3, 7));
    }

    #[test]
    fn a_bandwidth_that_no_carrier_has_is_refused_with_those_there_are() {
        let wrong = settings(FALLING).with("prb", json!(26));
        assert_eq!(Link.contradiction(&wrong).map(|one| one.setting), Some("prb"));
        assert_eq!(Link.contradiction(&settings(FALLING)), None);
    }
}
