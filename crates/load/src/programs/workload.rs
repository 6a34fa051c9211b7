//! `programs`, as a workload of experiments.

use std::net::Ipv4Addr;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use takt_agent::Failure;
use takt_base::{Speed, Stop};
use takt_packet::EngineKind;
use takt_radio::Model;

use super::outcome::ShareFigures;
use super::plan::{USED_HZ, Wanted};
use super::{MOST_PROGRAMS, ProgramError, ProgramOptions, ProgramOutcome, ProgramsOutcome, SharedRadios};
use crate::excluded::ExcludedSpans;
use crate::quantity::Quantity;
use crate::rate::workload::{RATE_SPS, failure};
use crate::rate::{Mode, RateOptions};
use crate::setting::{DURATION, ENGINE, Setting, Settings, Takes, UnknownLevel, WARM_UP, settings, words};
use crate::workload::{
    Beside, Contradiction, Facts, Lost, Peer, PointNeeds, PointWorkload, Target, Workload, read, write,
};

settings! {
    /// A point of `programs`.
    struct ProgramsSettings {
        engine: EngineKind = ENGINE,
        duration: Duration = DURATION,
        warm_up: Duration = WARM_UP,
        programs: usize = Setting::required("programs", Takes::Whole(1, MOST_PROGRAMS as i64))
            .about("how many programs stream at once, each in a network of its own"),
        front_end: FrontEndUse = Setting::new("front_end", Takes::Word(&["shared", "own"]), "shared")
            .about("whether they share a front end of 25 MS/s, or each has an N200 of its own"),
        mode: Mode = Setting::required("mode", Takes::Word(&["rx", "tx", "duplex"])).about("which way samples flow"),
        rate_sps: f64 = RATE_SPS,
        look: Duration = Setting::new("look", Takes::Span, "300ms").about("how long each program then looks at its band"),
        speed: Speed = Setting::new("speed", Takes::Word(&["1", "0.5", "0.2", "0.1", "0.05"]), "1")
            .about("seconds of the radios in one of the host; duration, warm_up and look are the radios' time"),
    }
}

/// The front end of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrontEndUse {
    Shared,
    Own,
}

words! {
    FrontEndUse: "shared" => FrontEndUse::Shared, "own" => FrontEndUse::Own;
}

const QUANTITIES: &[Quantity] = &[
    Quantity::share("rx_lost_share", "/rx_lost_share", "received samples that the worst program missed"),
    Quantity::share("tx_lost_share", "/tx_lost_share", "samples that the worst program's radio did without"),
    Quantity::amount("rx_sps", "/rx_sps", "samples received by all programs, a second"),
    Quantity::amount("tx_sps", "/tx_sps", "samples sent by all programs, a second"),
    Quantity::amount("program_cores", "/program_cores", "cores of all programs, by their own accounts"),
    Quantity::amount("share_cores", "/share/busiest_cores", "cores of the share in its busiest half second"),
    Quantity::share(
        "front_end_lost_share",
        "/share/front_end_lost_share",
        "samples of the front end that did not come",
    ),
    Quantity::difference(
        "neighbour_below_full_scale_db",
        "/neighbour_below_full_scale_db",
        "how far the strongest band without a signal is below full scale",
    ),
    Quantity::amount("radio_speed", "/radio_speed", "seconds of the radios in a second of the host"),
];

pub(crate) struct Programs;

impl Workload for Programs {
    fn facts(&self) -> Facts {
        Facts { excludes_unread_datagrams: true, ..Facts::of(Peer::Radio, ProgramsSettings::SETTINGS, QUANTITIES) }
    }

    fn at(&self, settings: &Settings) -> Result<Box<dyn PointWorkload>, UnknownLevel> {
        Ok(Box::new(ProgramsSettings::read(settings)?))
    }

    fn joined(&self, results: Vec<Value>, share: Option<&Value>) -> Result<Value, Failure> {
        let of = |result| read::<ProgramOutcome>("result of a program", result);
        let mut joined = ProgramsOutcome::of(results.into_iter().map(of).collect::<Result<_, _>>()?);
        joined.share = share.map(share_figures).transpose()?;
        write(&joined)
    }

    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure> {
        let options: ProgramOptions = read("options of a program", options)?;
        write(&super::run(&options, stop).map_err(|error| refusal(&error, &options))?)
    }

    fn lost(&self, result: &Value, _: &ExcludedSpans) -> Option<Lost> {
        Some(Lost::own(ProgramsOutcome::deserialize(result).ok()?.lost_share()))
    }
}

impl ProgramsSettings {
    fn wanted(&self) -> Wanted {
        let &ProgramsSettings { programs, front_end, mode, rate_sps, speed, .. } = self;
        Wanted { programs, shared: front_end == FrontEndUse::Shared, mode, rate_sps, speed }
    }
}

impl PointWorkload for ProgramsSettings {
    /// All programs': the lab gives each its own.
    fn options(&self, target: &Target<'_>) -> Result<Value, Failure> {
        let wanted = self.wanted();
        let rate = RateOptions {
            engine: self.engine,
            duration: self.duration,
            warm_up: self.warm_up,
            transmit: target.transmit,
            ..RateOptions::default()
        };
        let program = |number| {
            let rate = wanted.stream(target.addr, number, rate.clone());
            write(&ProgramOptions { rate, look: self.look, speed: self.speed.seconds() })
        };
        let programs = (0..wanted.programs).map(program).collect::<Result<Vec<Value>, Failure>>()?;
        let front_end = if wanted.shared { "shared" } else { "own" };
        Ok(json!({ "front_end": front_end, "programs": programs }))
    }

    fn about(&self) -> Duration {
        // The share sets the front end's clock at a second.
        self.speed.host_time(self.duration + self.warm_up + self.look + Duration::from_secs(2))
    }

    fn needs(&self) -> PointNeeds {
        PointNeeds {
            only_receives: self.mode == Mode::Rx,
            engine: Some(self.engine),
            programs: self.programs,
            ..PointNeeds::default()
        }
    }

    fn contradiction(&self) -> Option<Contradiction> {
        let wanted = self.wanted();
        let nearest_sps = Model::N200.nearest_rate(wanted.rate_sps)?;
        if (nearest_sps / wanted.rate_sps - 1.0).abs() > 1e-6 {
            let what = format!("an N200 has no rate of {} MS/s", wanted.rate_sps / 1e6);
            let remedy = format!("give the nearest rate: {}e6", nearest_sps / 1e6);
            return Some(Contradiction { setting: "rate_sps", what, remedy });
        }
        let all_sps = wanted.rate_sps * wanted.programs as f64;
        (all_sps > USED_HZ).then(|| Contradiction {
            setting: "programs",
            what: format!("{} programs at {} MS/s do not fit a front end", wanted.programs, wanted.rate_sps / 1e6),
            remedy: format!("lower programs or rate_sps: their product may be at most {} MS/s", USED_HZ / 1e6),
        })
    }

    fn beside(&self, front_end: Ipv4Addr) -> Option<Beside> {
        let wanted = self.wanted();
        let plan = || SharedRadios {
            front_end,
            plan: wanted.plan(front_end),
            // The lab knows.
            allow: Vec::new(),
            cpus: Vec::new(),
        };
        Some(Beside { radios: wanted.radios(front_end), share: wanted.shared.then(plan) })
    }
}

fn share_figures(summary: &Value) -> Result<ShareFigures, Failure> {
    ShareFigures::of(summary).ok_or_else(|| Failure::saying("the summary of the share lacks a count"))
}

fn refusal(error: &ProgramError, options: &ProgramOptions) -> Failure {
    match error {
        ProgramError::Rate(error) => failure(error, options.rate.addr),
        ProgramError::Look { .. } => Failure::of(error, None),
        ProgramError::Speed { .. } => Failure::of(error, Some("set speed = \"1\"".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(programs: u64, rate_sps: f64, front_end: &str) -> ProgramsSettings {
        let given = [
            ("programs", json!(programs)),
            ("rate_sps", json!(rate_sps)),
            ("front_end", json!(front_end)),
            ("mode", json!("duplex")),
            ("duration", json!("1s")),
        ];
        let given = given.map(|(name, value)| (name.to_owned(), value)).into();
        ProgramsSettings::read(&Settings::complete(given, ProgramsSettings::SETTINGS.iter())).expect("settings")
    }

    #[test]
    fn more_than_the_front_end_holds_and_a_rate_that_no_n200_has_are_refused() {
        let refused = |programs, rate_sps| {
            settings(programs, rate_sps, "shared").contradiction().map(|found| (found.setting, found.remedy))
        };
        assert_eq!(refused(16, 1e6), None);
        assert_eq!(
            refused(16, 2e6),
            Some(("programs", "lower programs or rate_sps: their product may be at most 20 MS/s".to_owned()))
        );
        assert_eq!(refused(1, 1.92e6).map(|(setting, _)| setting), Some("rate_sps"));
    }

    #[test]
    fn each_program_has_its_own_radio_and_only_a_share_has_a_plan() {
        let front_end = Ipv4Addr::new(192, 168, 10, 2);
        let target = Target { addr: front_end, device: None, transmit: false, host_cpus: &[], cable_bps: None };
        let options = settings(3, 1e6, "own").options(&target).expect("options");
        let addrs: Vec<&str> =
            (0..3).filter_map(|n| options.pointer(&format!("/programs/{n}/rate/addr"))?.as_str()).collect();
        assert_eq!(addrs, ["192.168.10.3", "192.168.10.4", "192.168.10.5"]);
        let beside = |word| settings(3, 1e6, word).beside(front_end).expect("radios");
        assert_eq!((beside("own").radios.addrs.len(), beside("own").share), (3, None));
        let shared = beside("shared");
        assert_eq!(shared.radios.addrs, [front_end]);
        assert!(shared.share.is_some_and(|share| share.front_end == front_end));
    }
}
