//! A point of `rate`: its settings, and what follows from them.

use std::time::Duration;

use serde_json::Value;
use takt_agent::Failure;
use takt_packet::EngineKind;
use takt_radio::Model;
use takt_radio::n200::ClockSource;
use takt_wire::sample::Format;

use super::domains::{Antenna, Buffer, FrameBytes, OrNumber, USUAL};
use super::workload::{MODEL, POLICY, RATE_SPS, StreamPolicy};
use super::{Mode, RateOptions, Stream};
use crate::emulated::{PUNCTUAL_BEAT_US, Played};
use crate::setting::{ByteCount, DURATION, ENGINE, Setting, Takes, WARM_UP, settings, words};
use crate::workload::{Contradiction, PointNeeds, PointWorkload, Target, write};

settings! {
    /// A point of `rate`.
    pub(super) struct RateSettings {
        engine: EngineKind = ENGINE,
        duration: Duration = DURATION,
        warm_up: Duration = WARM_UP,
        model: Model = MODEL,
        mode: Mode = Setting::required("mode", Takes::Word(&["rx", "tx", "duplex"])).about("which way samples flow"),
        rate_sps: f64 = RATE_SPS,
        format: Format = Setting::new("format", Takes::Word(&["sc16", "sc8"]), "sc16").about("sample format on the wire"),
        source: Source = Setting::new("source", Takes::Word(&["tone", "counter"]), "tone")
            .about("what an emulated radio plays; of a counter each sample is its number, and the receiver looks for gaps"),
        recv_buffer: Option<ByteCount> = Setting::new("recv_buffer", Takes::Domain(&Buffer), USUAL)
            .about("receive buffer of the socket that samples come to; usual: what an ordinary program gets"),
        coalesce: Duration = Setting::new("coalesce", Takes::SpanOrNone, "2ms")
            .about("how long received samples may wait so that one wake-up fetches many"),
        busy_poll: bool = Setting::new("busy_poll", Takes::Word(&["no", "yes"]), "no").about(
            "whether the receiving thread never sleeps: it takes a whole core, and under xdp does the driver's work",
        ),
        call_datagrams: usize = Setting::new("call_datagrams", Takes::Whole(1, 96), "96")
            .about("datagrams' worth of samples that a call asks for; 1: each is handed over as it comes"),
        frame_bytes: Option<usize> = Setting::new("frame_bytes", Takes::Domain(&FrameBytes), USUAL)
            .about("the largest datagram; usual: 1472 of an N200, 8000 of an X310"),
        policy: StreamPolicy = POLICY,
        frequency_hz: Option<f64> =
            Setting::new("frequency_hz", Takes::Domain(&OrNumber("Hz, such as 900e6 or \"900M\"")), USUAL)
                .about("the frequency to which the radio is tuned, both ways; usual: where the driver puts it"),
        gain_db: Option<f64> = Setting::new("gain_db", Takes::Domain(&OrNumber("decibels, such as 20")), USUAL)
            .about("the radio's gain, both ways; usual: the least"),
        antenna: Option<String> = Setting::new("antenna", Takes::Domain(&Antenna), USUAL)
            .about("the radio's antenna, of the receiving side if it receives; usual: the first"),
        reference: ClockSource = REFERENCE_SETTING,
    }
}

/// The setting that says what the radio's clock follows.
pub const REFERENCE: &str = REFERENCE_SETTING.name;

const REFERENCE_SETTING: Setting =
    Setting::new("reference", Takes::Word(&["internal", "external", "mimo"]), "internal")
        .about("what the radio's clock follows; another than its own must lock");

/// Signal of an emulated radio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Tone,
    Counter,
}

words! {
    Source: "tone" => Source::Tone, "counter" => Source::Counter;
    Mode: "rx" => Mode::Rx, "tx" => Mode::Tx, "duplex" => Mode::Duplex;
}

/// Time from one turn to the next of an emulator without real-time priority, microseconds. Longer turns take less of a core, and
/// so leave more time to be punctual in. Half of what a host may notice is left for lateness. Answers, of whose delay a turn is
/// part, keep the usual one.
const ORDINARY_BEAT_US: u32 = 400;

impl RateSettings {
    fn stream(&self) -> Stream {
        Stream { model: self.model, mode: self.mode, rate_sps: self.rate_sps, format: self.format }
    }

    /// A setting of a front end, of a radio whose front end takt does not set.
    fn without_a_front_end(&self) -> Option<Contradiction> {
        let given = [
            ("frequency_hz", self.frequency_hz.is_some()),
            ("gain_db", self.gain_db.is_some()),
            ("antenna", self.antenna.is_some()),
        ];
        let (setting, _) = given.into_iter().find(|(_, is_given)| *is_given && self.model == Model::X310)?;
        let what = format!("takt does not set {setting} of an {}", self.model);
        Some(Contradiction { setting, what, remedy: format!("leave it at \"{USUAL}\"") })
    }
}

impl PointWorkload for RateSettings {
    fn options(&self, target: &Target<'_>) -> Result<Value, Failure> {
        write(&RateOptions {
            addr: target.addr.into(),
            model: Some(self.model),
            transmit: target.transmit,
            device: target.device.map(str::to_owned),
            rx_sps: (self.mode != Mode::Tx).then_some(self.rate_sps),
            tx_sps: (self.mode != Mode::Rx).then_some(self.rate_sps),
            duration: self.duration,
            warm_up: self.warm_up,
            format: self.format,
            engine: self.engine,
            coalesce: self.coalesce,
            busy_poll: self.busy_poll,
            call_datagrams: self.call_datagrams,
            frame_bytes: self.frame_bytes,
            recv_buffer_bytes: self.recv_buffer.map(|ByteCount(bytes)| bytes as usize),
            counter: self.source == Source::Counter,
            priority: self.policy.priority(),
            frequency_hz: self.frequency_hz,
            gain_db: self.gain_db,
            antenna: self.antenna.clone(),
            reference: self.reference,
            ..RateOptions::default()
        })
    }

    fn about(&self) -> Duration {
        self.duration + self.warm_up
    }

    fn needs(&self) -> PointNeeds {
        PointNeeds {
            model: Some(self.model),
            stream: Some(self.stream()),
            only_receives: self.mode == Mode::Rx,
            engine: Some(self.engine),
            ..PointNeeds::default()
        }
    }

    fn contradiction(&self) -> Option<Contradiction> {
        self.stream().contradiction().or_else(|| self.without_a_front_end())
    }

    fn played(&self) -> Played {
        match self.source {
            Source::Tone => Played::Usual,
            Source::Counter => Played::Counter,
        }
    }

    /// If each datagram is handed over as it comes, the radio's own unevenness would be measured with the host's.
    fn beat_us(&self, real_time: bool) -> Option<u32> {
        if self.call_datagrams == 1 {
            return Some(PUNCTUAL_BEAT_US);
        }
        (!real_time).then_some(ORDINARY_BEAT_US)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use serde_json::json;

    use super::*;
    use crate::setting::Settings;

    fn point(given: &[(&str, Value)]) -> RateSettings {
        let required = [("mode", json!("rx")), ("rate_sps", json!(1e6)), ("duration", json!("1s"))];
        let given = required.iter().chain(given).map(|(name, value)| ((*name).to_owned(), value.clone()));
        RateSettings::read(&Settings::complete(given.collect(), RateSettings::SETTINGS.iter())).unwrap()
    }

    #[test]
    fn a_radio_turns_faster_for_single_datagrams_and_slower_without_real_time_priority() {
        let beats = |given: &[(&str, Value)]| [true, false].map(|real_time| point(given).beat_us(real_time));
        assert_eq!(beats(&[]), [None, Some(ORDINARY_BEAT_US)]);
        assert_eq!(beats(&[("call_datagrams", json!(1))]), [Some(PUNCTUAL_BEAT_US); 2]);
    }

    #[test]
    fn a_radio_plays_numbers_where_the_receiver_looks_for_gaps() {
        assert!(matches!(point(&[]).played(), Played::Usual));
        assert!(matches!(point(&[("source", json!("counter"))]).played(), Played::Counter));
    }

    #[test]
    fn a_front_end_stays_as_it_is_unless_a_setting_says_otherwise() {
        let target =
            Target { addr: Ipv4Addr::LOCALHOST, transmit: false, device: None, host_cpus: &[], cable_bps: None };
        let options = |more: &[(&str, Value)]| {
            let document = point(more).options(&target).unwrap();
            let RateOptions { frequency_hz, gain_db, antenna, .. } = serde_json::from_value(document).unwrap();
            (frequency_hz, gain_db, antenna)
        };
        assert_eq!(options(&[]), (None, None, None));
        let set = [("frequency_hz", json!(900e6)), ("gain_db", json!(20.0)), ("antenna", json!("TX/RX"))];
        assert_eq!(options(&set), (Some(900e6), Some(20.0), Some("TX/RX".to_owned())));
        for (name, value) in set {
            let of = |model: &str| {
                let point = point(&[("model", json!(model)), (name, value.clone())]);
                point.contradiction().map(|found| found.setting)
            };
            assert_eq!((of("n200"), of("x310")), (None, Some(name)));
        }
    }
}
