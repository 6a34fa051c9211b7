//! `--device soapy:...` as a person uses it. With the feature `soapy`: SoapySDR's UHD module against the software N200 and X310, so
//! that the whole way is real, and SoapySDR's own null device, which needs no module. Without it: what takt says then.

#[cfg(feature = "soapy")]
#[path = "support/json_page.rs"]
mod json_page;
mod support;

use support::{refusal, takt};

#[test]
fn what_is_no_device_is_refused_with_an_example() {
    for (device, why) in [
        ("driver=uhd", "names no kind of device"),
        ("soapy:uhd", "`uhd` is not KEY=VALUE"),
        ("soapy:addr=1,addr=2", "the key `addr` appears twice"),
    ] {
        let said = refusal(&takt(&["probe", "--device", device]));
        assert!(said.contains(why) && said.contains("--device"), "{said}");
    }
    let said = refusal(&takt(&["rate", "--rx", "1M", "--addr", "127.0.0.1", "--device", "soapy:driver=uhd"]));
    assert!(said.contains("--addr") && said.contains("cannot be used with"), "{said}");
}

#[test]
fn a_flag_without_effect_is_refused_before_anything_is_opened() {
    let device = ["--device", "soapy:driver=null,type=null"];
    let record = ["record", "--rate", "1M", "run1"];
    for flags in [["--engine", "socket"], ["--reference", "external"], ["--cores", "0"], ["--policy", "fifo:50"]] {
        for command in [&record[..], &["play", "run1"]] {
            let said = refusal(&takt(&[command, &flags, &device].concat()));
            let (flag, what) = (flags[0], "has no effect on a device of SoapySDR");
            assert!(said.starts_with(&format!("error: {flag} {what}\n  fix   omit {flag}\n")), "{said}");
        }
    }
    let rate = ["rate", "--rx", "1M"];
    for (command, flag) in [(&record[..], "--force"), (&rate[..], "--explain")] {
        let said = refusal(&takt(&[command, &[flag], &device].concat()));
        assert!(said.contains(flag) && said.contains("cannot be used with"), "{said}");
    }
}

#[cfg(not(feature = "soapy"))]
#[test]
fn a_build_without_soapy_says_how_to_get_it() {
    let device = ["--device", "soapy:driver=uhd,addr=192.168.10.2"];
    let record = ["record", "--rate", "1M", "run1"];
    let run = ["run", "../../waveforms/td-scdma.toml", "--clock", "radio"];
    for command in [&["find"][..], &["probe"], &["rate", "--rx", "1M"], &record, &["play", "run1"], &["check"], &run] {
        let said = refusal(&takt(&[command, &device].concat()));
        assert!(said.starts_with("error: this takt was built without SoapySDR\n"), "{said}");
        assert!(said.contains("fix   cargo build --release --features soapy"), "{said}");
    }
}

#[cfg(feature = "soapy")]
mod built {
    use std::fs;
    use std::path::Path;
    use std::process::{Command, Output, Stdio};

    use serde_json::Value;
    use takt_testing::loopback;

    use crate::json_page::agrees;
    use crate::support::{Ended, TAKT, has, json, refusal, report, takt, text};

    /// A device of SoapySDR's own: without channels, and without a module.
    const NULL: &str = "soapy:driver=null,type=null";

    #[test]
    fn a_device_without_channels_is_described_and_streams_nothing() {
        let said = text(&takt(&["probe", "--device", NULL]).stdout);
        has(&said, &["driver null, hardware null", "receive    no channel", "transmit   no channel"]);
        let described = json(&takt(&["probe", "--device", NULL, "--json"]));
        assert_eq!((&described["master_clock_hz"], &described["time_ns"]), (&Value::Null, &Value::Null), "not 0");
        let said = refusal(&takt(&["rate", "--rx", "1M", "--device", NULL]));
        has(&said, &["the device has no receive channel 0"]);
        assert_eq!(takt(&["find", "--device", NULL]).status.code(), Some(0));
    }

    #[test]
    fn a_driver_without_a_module_is_named() {
        let said = refusal(&takt(&["probe", "--device", "soapy:driver=nosuch"]));
        has(&said, &["SoapySDR has no module for a driver `nosuch`", "install its module"]);
        let found = takt(&["find", "--device", "soapy:driver=nosuch"]);
        assert_eq!(found.status.code(), Some(1), "{}", report(&found));
        has(&text(&found.stdout), &["SoapySDR finds no device for soapy:driver=nosuch"]);
    }

    #[test]
    fn a_flag_of_takts_own_driver_is_refused() {
        let said = refusal(&takt(&["rate", "--rx", "1M", "--busy-poll", "--device", NULL]));
        has(&said, &["--busy-poll has no effect on a device of SoapySDR", "omit --busy-poll"]);
    }

    /// SoapySDR's module for UHD, as Debian installs it; else the test is skipped, on record.
    fn has_uhd() -> bool {
        let entries = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
        let modules = entries(Path::new("/usr/lib"))
            .flat_map(|folder| entries(&folder.join("SoapySDR")).collect::<Vec<_>>())
            .any(|modules| modules.join("libuhdSupport.so").exists());
        if !modules {
            takt_testing::skip("SoapySDR has no module for UHD   (apt-get install soapysdr0.8-module-uhd)");
        }
        modules
    }

    /// A software radio, and its device.
    struct Radio {
        _program: Ended,
        device: String,
    }

    impl Radio {
        fn of(model: &str, host: u8, more: &[&str]) -> Radio {
            let addr = loopback(host).to_string();
            let mut command = Command::new(TAKT);
            command.args(["emulate", model, "--addr", &addr]).args(more).stderr(Stdio::null());
            let (program, _, line) = Ended::ready(&mut command);
            assert!(line.starts_with("ready "), "{line}");
            Radio { _program: program, device: format!("soapy:driver=uhd,addr={addr}") }
        }

        fn takt(&self, args: &[&str]) -> Output {
            takt(&[args, &["--device", &self.device]].concat())
        }

        fn printed(&self, args: &[&str]) -> Value {
            json(&self.takt(&[args, &["--json"]].concat()))
        }
    }

    fn number(outcome: &Value, key: &str) -> u64 {
        outcome.pointer(key).and_then(Value::as_u64).unwrap_or_else(|| panic!("{key} of {outcome:#}"))
    }

    /// All that UHD shows of a stream is known, and each sample of the span came or is lost.
    #[track_caller]
    fn adds_up(outcome: &Value) {
        assert_eq!(outcome["rx"]["time_stamps"], "count", "{outcome:#}");
        let [samples, dropped, expected] =
            ["/rx/samples", "/rx/dropped", "/rx/expected_samples"].map(|key| number(outcome, key));
        assert_eq!(samples + dropped, expected, "{outcome:#}");
        assert!(samples > 0, "{outcome:#}");
    }

    #[test]
    fn radios_are_found_described_and_streamed_over_the_module_for_uhd() {
        if !has_uhd() {
            return;
        }
        let [n200, x310] = [("n200", 1), ("x310", 2)].map(|(model, host)| Radio::of(model, host, &[]));
        let found = [&n200, &x310].map(|radio| radio.printed(&["find"]));
        assert!(found.iter().all(|found| found[0]["keys"]["driver"] == "uhd"), "{found:#?}");
        agrees(&["takt-find---device"], &found);
        let described = [&n200, &x310].map(|radio| radio.printed(&["probe"]));
        assert_eq!(described.each_ref().map(|probe| probe["rx"].as_array().map(Vec::len)), [Some(1), Some(2)]);
        agrees(&["takt-probe---device"], &described);
        let stream = ["rate", "--rx", "1M", "--tx", "1M", "--transmit", "--duration", "300ms", "--warm-up", "100ms"];
        let streamed = [&n200, &x310].map(|radio| radio.printed(&stream));
        streamed.iter().for_each(adds_up);
        assert!(streamed.iter().all(|outcome| number(outcome, "/tx/samples") > 0), "{streamed:#?}");
        agrees(&["takt-rate---device"], &streamed);
    }

    /// Datagrams that are lost on the way are gaps of their length in UHD's time stamps: five of 363 samples, and whatever else a
    /// busy machine loses.
    #[test]
    fn a_loss_is_counted_by_the_time_stamps_of_the_module() {
        if !has_uhd() {
            return;
        }
        let radio = Radio::of("n200", 3, &["--fault", "lose:rx,every=100,limit=5"]);
        let out = radio.takt(&["rate", "--rx", "1M", "--duration", "500ms", "--warm-up", "0s", "--json"]);
        let outcome = json(&out);
        adds_up(&outcome);
        assert!(number(&outcome, "/rx/dropped") >= 5 * 363, "{outcome:#}");
        assert!(number(&outcome, "/rx/gaps") >= 5 && number(&outcome, "/rx/overflows") >= 5, "{outcome:#}");
        assert_eq!((&outcome["clean"], out.status.code()), (&Value::Bool(false), Some(1)));
    }

    /// From one software N200 into a file, and to another one. A busy machine may lose samples or be late, and then says so.
    #[test]
    fn what_is_recorded_from_a_device_is_played_to_one() {
        if !has_uhd() {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("run1").display().to_string();
        let from = Radio::of("n200", 6, &["--source", "tone:offset=100k"]);
        let record = ["record", &file, "--rate", "1M", "--samples", "50000", "--freq", "900M", "--gain", "10"];
        let out = from.takt(&[&record[..], &["--json"]].concat());
        let recorded = json(&out);
        agrees(&["takt-record---device"], std::slice::from_ref(&recorded));
        let [samples, lost] = ["/samples", "/lost_samples"].map(|key| number(&recorded, key));
        assert_eq!((samples + lost, &recorded["time_stamps"]), (50_000, &Value::from("count")), "{recorded:#}");
        assert_eq!(out.status.code(), Some(i32::from(lost > 0)), "{}", report(&out));
        let data = fs::read(folder.path().join("run1.sigmf-data")).expect("a recording");
        assert!(data.len() as u64 == 4 * samples && data.iter().any(|byte| *byte != 0), "{recorded:#}");
        has(&refusal(&from.takt(&record)), &["exists already"]);
        let said = refusal(&from.takt(&["record", &file, "--rate", "22M", "--replace"]));
        has(&said, &["the device can't receive at 22 MS/s", "--rate 20M", "--rate 25M"]);

        let to = Radio::of("n200", 7, &[]);
        has(&refusal(&to.takt(&["play", &file])), &["it would transmit at 900 MHz", "put an attenuator"]);
        has(&refusal(&to.takt(&["play", &file, "--transmit", "--channel", "1"])), &["name a channel from 0 to 0"]);
        let out = to.takt(&["play", &file, "--transmit", "--json"]);
        let played = json(&out);
        agrees(&["takt-play---device"], std::slice::from_ref(&played));
        assert_eq!((number(&played, "/samples"), &played["complete"]), (samples, &Value::Bool(true)), "{played:#}");
        assert_eq!((&played["sha512"], &played["channels"]), (&Value::from("matches"), &Value::from(1)));
        assert!(played["settings"]["frequency_hz"].as_f64().is_some_and(|hz| (hz - 900e6).abs() < 1.0), "{played:#}");
        let faults = ["/underflows", "/sequence_errors", "/late", "/timeouts"].map(|key| number(&played, key));
        let is_bad = faults.iter().any(|count| *count > 0);
        assert_eq!(out.status.code(), Some(i32::from(is_bad)), "{}", report(&out));
        has(&text(&to.takt(&["play", &file, "--transmit"]).stdout), &["\n  set to    900 MHz", " samples at 1 MS/s "]);
    }

    /// A check of one rate, of which takt's own driver and UHD's see the same radio.
    const FILE: &str = r#"
question = "Will this host keep up with a radio?"
[rounds]
count = { full = 2, quick = 2 }
order = { seed = 1 }
[rounds.valid]
foreign_cpu_share_max = 1.0
steal_share_max = 1.0
excluded_share_max = 1.0
[[need]]
model = "n200"
mode = "duplex"
rate_sps = 1e6
format = "sc16"
[[part]]
name = "sc16"
[part.factors]
mode = ["rx", "duplex"]
[part.fixed]
rate_sps = 1e6
workload = { kind = "rate", duration = "400ms", warm_up = "200ms" }
[[part]]
name = "engines"
[part.factors]
engine = ["mmsg", "socket"]
[part.fixed]
mode = "rx"
rate_sps = 1e6
workload = { kind = "rate", duration = "200ms", warm_up = "100ms" }
[[part]]
name = "answer"
[part.factors]
delay = ["5ms"]
[part.fixed]
rate_sps = 1e6
workload = { kind = "round-trip", duration = "200ms", warm_up = "100ms" }
"#;

    /// Runs the check with these arguments; its outcome.
    fn checked(folder: &Path, args: &[&str]) -> Value {
        let (file, runs) = (folder.join("check.toml"), folder.join("runs"));
        fs::write(&file, FILE).expect("a folder");
        let (file, runs) = (file.display().to_string(), runs.display().to_string());
        let common = ["check", "--quick", "--file", &file, "--runs", &runs, "--json"];
        let out = takt(&[&common[..], args].concat());
        let outcome = json(&out);
        let status = ["holds", "fails", "unknown"].iter().position(|answer| outcome["verdict"]["answer"] == *answer);
        assert_eq!(out.status.code(), status.map(|status| status as i32), "{}", report(&out));
        outcome
    }

    fn rounds(outcome: &Value) -> Vec<&Value> {
        let points = outcome["rates"].as_array().expect("rates").iter();
        points.flat_map(|point| point["rounds"].as_array().expect("rounds")).collect()
    }

    /// Each driver's rounds are counted by the same rules, so the answers agree unless the machine took its time from one of them.
    #[test]
    fn a_check_through_a_device_gives_the_answer_that_takts_own_driver_gives() {
        if !has_uhd() {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let _radio = Radio::of("n200", 8, &[]);
        let addr = loopback(8).to_string();
        let own = checked(folder.path(), &["--addr", &addr]);
        let device = format!("soapy:driver=uhd,type=usrp2,addr={addr}");
        let through = checked(folder.path(), &["--device", &device]);
        let setup = &through["setup"];
        assert_eq!((&setup["radio"]["addr"], &setup["radio"]["device"]), (&device.clone().into(), &true.into()));
        assert_eq!((&setup["path"], &setup["engine"]), (&"device".into(), &"soapy".into()));
        assert_eq!((&setup["radio"]["emulator"], &setup["receive_only"]), (&true.into(), &Value::Null), "it is takt's");
        // Rates are measured both ways, and nothing that is takt's own driver's.
        let measured = |outcome: &Value| outcome["rates"].as_array().map(Vec::len);
        assert_eq!((measured(&through), measured(&own)), (Some(2), Some(2)), "{through:#}");
        assert_eq!(through["engines"].as_array().map(Vec::len), Some(0));
        assert_eq!(through["round_trips"].as_array().map(Vec::len), Some(0));
        has(&through["left_out"].to_string(), &["packet engines and answers"]);
        for round in rounds(&through) {
            assert_eq!(round["events"]["D"], Value::Null, "not known is not 0: {round:#}");
            assert!(round["rx_lost_samples"].is_u64() && round["receive_buffer_bytes"].is_null(), "{round:#}");
            assert!(number(round, "/rx_samples") > 0, "{round:#}");
        }
        let answers = [&own, &through].map(|outcome| outcome["verdict"]["answer"].clone());
        if answers[0] != answers[1] {
            let why = [&own, &through].map(|outcome| outcome["verdict"]["needs"][0]["why"].to_string());
            takt_testing::not_judged(format!("the two checks were disturbed differently: {why:?}"));
        }
    }

    /// Datagrams that are lost on the way fail the check, whoever's driver counts them.
    #[test]
    fn a_check_through_a_device_says_no() {
        if !has_uhd() {
            return;
        }
        let folder = tempfile::tempdir().expect("a folder");
        let radio = Radio::of("n200", 9, &["--fault", "lose:rx,every=50"]);
        let outcome = checked(folder.path(), &["--device", &radio.device, "--need", "n200:1M:rx"]);
        assert_eq!(outcome["verdict"]["answer"], "fails", "{outcome:#}");
        assert!(rounds(&outcome).iter().any(|round| number(round, "/rx_lost_samples") >= 363), "{outcome:#}");
    }

    #[test]
    fn a_device_that_is_not_takts_is_only_received_from_unless_it_may_transmit() {
        let folder = tempfile::tempdir().expect("a folder");
        let runs = folder.path().display().to_string();
        // The null device has no channel, so the first round says so; before that nothing was sent.
        let said = refusal(&takt(&["check", "--quick", "--device", NULL, "--runs", &runs]));
        has(&said, &["the device has no receive channel 0"]);
        let said = refusal(&takt(&["check", "--device", NULL, "--addr", "127.0.0.1"]));
        assert!(said.contains("cannot be used with"), "{said}");
    }

    /// Slots on UHD's time stamps: each is answered or its loss is counted.
    #[test]
    fn a_waveform_runs_on_the_clock_of_a_device() {
        if !has_uhd() {
            return;
        }
        let file = format!("{}/../../waveforms/td-scdma.toml", env!("CARGO_MANIFEST_DIR"));
        let radio = Radio::of("n200", 10, &["--source", "noise"]);
        let run = ["run", &file, "--clock", "radio", "--slots", "100", "--transmit", "--policy", "other"];
        let set =
            ["--set", "receive.frequency_hz=900e6", "--set", "receive.gain_db=10", "--set", "receive.antenna=RX2"];
        let out = radio.takt(&[&run[..], &set, &["--json"]].concat());
        let run = json(&out);
        assert_eq!((&run["slots"], &run["radio"]["addr"]), (&100.into(), &Value::Null), "{}", report(&out));
        let device = &run["radio"]["device"];
        assert_eq!(
            (&device["name"], &device["time_stamps"]),
            (&radio.device.clone().into(), &"count".into()),
            "{run:#}"
        );
        assert_eq!(device["reports_faults"], true, "UHD reports late bursts: {run:#}");
        let results = |component: &str| {
            let all = run["components"].as_array().expect("components");
            all.iter().find(|c| c["name"] == component).expect("there")["results"].clone()
        };
        let (receive, transmit) = (results("receive"), results("transmit"));
        assert!(receive["lost_samples"].is_u64() && transmit["radio_late"].is_u64(), "{receive} {transmit}");
        let counted = number(&transmit, "/answers") + number(&transmit, "/missed");
        assert!(counted >= 99, "a slot is answered or missed: {transmit}");
        let late = ["/late", "/radio_late"].map(|key| number(&transmit, key));
        let is_clean =
            run["misses"] == 0 && run["broken_packets"] == 0 && run["dropped_packets"] == 0 && late == [0, 0];
        assert_eq!(out.status.code(), Some(i32::from(!is_clean)), "{}", report(&out));
        let said = refusal(&radio.takt(&["run", &file, "--clock", "radio", "--slots", "1"]));
        has(&said, &["SoapySDR can't tell takt whether", "put an attenuator"]);
        let antenna = ["--set", "receive.antenna=roof", "--transmit"];
        let said = refusal(&radio.takt(&[&["run", &file, "--clock", "radio", "--slots", "1"], &antenna[..]].concat()));
        has(&said, &["the device has no antenna `roof`; it has "]);
        let said = refusal(&radio.takt(&["run", &file, "--slots", "1"]));
        has(&said, &["--device names a radio", "--clock radio"]);
    }

    /// Losses on the way cost the slots that they lie in, and only those.
    #[test]
    fn what_a_device_loses_costs_the_slots_that_it_lies_in() {
        if !has_uhd() {
            return;
        }
        let file = format!("{}/../../waveforms/td-scdma.toml", env!("CARGO_MANIFEST_DIR"));
        let radio = Radio::of("n200", 11, &["--fault", "lose:rx,every=200"]);
        let run = ["run", &file, "--clock", "radio", "--slots", "200", "--transmit", "--policy", "other", "--json"];
        let out = radio.takt(&run);
        let run = json(&out);
        let receive = run["components"].as_array().expect("components").iter().find(|c| c["name"] == "receive");
        let results = &receive.expect("there")["results"];
        assert!(number(results, "/lost_samples") >= 363 && number(results, "/lost_slots") >= 1, "{results}");
        assert!(number(results, "/lost_slots") < 200, "others are whole: {results}");
        assert_eq!(out.status.code(), Some(1), "{}", report(&out));
    }

    #[test]
    fn what_the_radio_does_not_have_is_refused_with_what_it_has() {
        if !has_uhd() {
            return;
        }
        let radio = Radio::of("n200", 4, &[]);
        let said = refusal(&radio.takt(&["rate", "--rx", "22M"]));
        has(&said, &["the device can't receive at 22 MS/s", "--rx 20M", "--rx 25M"]);
        let said = refusal(&radio.takt(&["rate", "--rx", "1M", "--antenna", "roof"]));
        has(&said, &["the device has no antenna `roof`; it has "]);
        let said = refusal(&radio.takt(&["rate", "--rx", "1M", "--channels", "7"]));
        has(&said, &["the device has no receive channel 7"]);
        let said = refusal(&radio.takt(&["rate", "--tx", "1M"]));
        has(&said, &["SoapySDR can't tell takt whether", "it would transmit", "put an attenuator"]);
        let nobody = format!("soapy:driver=uhd,addr={}", loopback(5));
        let said = refusal(&takt(&["probe", "--device", &nobody]));
        has(&said, &["SoapySDR can't open soapy:driver=uhd,addr="]);
    }
}
