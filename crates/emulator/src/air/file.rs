//! Scene files: TOML in, a [`Scene`] or the first thing that is wrong out. Format: `docs/reference/air.md`.

use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use takt_base::nearest;
use takt_dsp::FadingModel;
use takt_toml::{Entry, Fields, FilePlace, Problem as File, Source, document, mistyped, shortened, string};

use super::error::{AirError, Problem};
use super::scene::{
    Delay, End, Imbalance, LATENCY_US, LONGEST_DELAY_NS, LONGEST_DELAY_SAMPLES, Link, MOST_CLOCK_OFFSET_PPM,
    MOST_LINKS, MOST_LINKS_TO_ONE, MOST_RADIOS, MOST_TAPS, ModelName, Noise, Radio, Receive, Scene, Tap,
};
use crate::fault::Fault;
use crate::options::{Board, EmulatorOptions, fpga_version, hardware_word};
use crate::policy::Cidr;
use crate::text::SpecError;
use crate::{sink, source};

/// Longest file.
const MOST_BYTES: usize = 1 << 20;
/// Faults of a radio, and networks it may send to.
const MOST_TEXTS: usize = 64;

const FILE_KEYS: [&str; 4] = ["seed", "latency_us", "radio", "link"];
const RADIO_KEYS: [&str; 22] = [
    "name",
    "model",
    "addr",
    "serial",
    "source",
    "sink",
    "faults",
    "board",
    "gpsdo",
    "overflow",
    "allow",
    "eeprom",
    "uhd",
    "firmware",
    "fpga",
    "hardware",
    "as_hardware",
    "core",
    "clock_offset_ppm",
    "imperfect",
    "receive",
    "transmit",
];
/// Keys among these that only an N200 has.
const N200_KEYS: [&str; 4] = ["gpsdo", "overflow", "hardware", "as_hardware"];
/// The keys above that only an X310 has.
const X310_KEYS: [&str; 1] = ["uhd"];
const RECEIVE_KEYS: [&str; 5] = ["noise_dbfs", "dc_offset_i", "dc_offset_q", "iq_gain_db", "iq_phase_deg"];
const TRANSMIT_KEYS: [&str; 4] = ["dc_offset_i", "dc_offset_q", "iq_gain_db", "iq_phase_deg"];
const LINK_KEYS: [&str; 10] = [
    "from",
    "to",
    "gain_db",
    "delay_ns",
    "delay_samples",
    "frequency_offset_hz",
    "noise_dbfs",
    "snr_db",
    "taps",
    "fading",
];
const TAP_KEYS: [&str; 3] = ["delay_ns", "gain_db", "phase_deg"];

const GAIN_DB: RangeInclusive<f64> = -200.0..=60.0;
const POWER_DBFS: RangeInclusive<f64> = -200.0..=20.0;
const SNR_DB: RangeInclusive<f64> = -60.0..=200.0;
const FREQUENCY_OFFSET_HZ: RangeInclusive<f64> = -100e6..=100e6;
const PHASE_DEG: RangeInclusive<f64> = -360.0..=360.0;
const DC_OFFSET: RangeInclusive<f64> = -1.0..=1.0;
const IQ_GAIN_DB: RangeInclusive<f64> = -20.0..=20.0;
const IQ_PHASE_DEG: RangeInclusive<f64> = -45.0..=45.0;

/// Possible values of `fading`.
const FADING: &str = "EPA, EVA or ETU and 5, 70, 200 or 300 Hz, such as \"EPA 5\"";

impl Scene {
    /// Reads a file. `file` is its name, for messages.
    ///
    /// # Errors
    /// The first thing in it that is no air, with its place.
    ///
    /// ```
    /// use takt_emulator::air::Scene;
    /// let file = "[[radio]]\nname = 'base'\nmodel = 'n200'\naddr = '127.0.0.1'\n[[link]]\nfrom = 'bsae'\nto = 'base'\n";
    /// let error = Scene::parse("air.toml", file).unwrap_err();
    /// assert_eq!(error.to_string(), "no radio is called `bsae`");
    /// assert_eq!(error.fix(), "did you mean `base`?");
    /// assert_eq!(error.place.to_string(), "air.toml:6:8");
    /// ```
    pub fn parse(file: &str, text: &str) -> Result<Scene, AirError> {
        let source = Arc::new(Source::new(file, text, MOST_BYTES));
        scene(text).map_err(|wrong| AirError { problem: wrong.problem, place: FilePlace::new(&source, wrong.span) })
    }

    /// Longest file that is read, bytes.
    pub const MOST_BYTES: usize = MOST_BYTES;
}

type Wrong = takt_toml::Wrong<Problem>;

fn scene(text: &str) -> Result<Scene, Wrong> {
    Source::short_enough(text, MOST_BYTES)?;
    let table = document(text)?;
    let file = Fields::file(&table, text);
    file.know(&FILE_KEYS)?;
    let usual = Scene::default();
    let [shortest, _, longest] = LATENCY_US;
    let latency_us = file.whole("latency_us", shortest.into()..=longest.into())?;
    let mut scene = Scene {
        seed: file.whole("seed", 0..=i64::MAX as u64)?.unwrap_or(usual.seed),
        latency: latency_us.map_or(usual.latency, Duration::from_micros),
        ..usual
    };
    file.required("radio")?;
    for entry in file.list("radio", "radios", MOST_RADIOS, "tables: [[radio]]")? {
        let radio = radio(scene.radios.len(), entry)?;
        alone(&scene, &radio, entry)?;
        scene.radios.push(radio);
    }
    for entry in file.list("link", "links", MOST_LINKS, "tables: [[link]]")? {
        let link = link(&scene, entry)?;
        scene.links.push(link);
    }
    Ok(scene)
}

/// A name and an address that no radio before has.
fn alone(scene: &Scene, radio: &Radio, entry: &Entry<'_>) -> Result<(), Wrong> {
    let fields = Fields::of("a radio", entry)?;
    let twice = |what: &'static str, value: String, key| {
        Err(Wrong::new(fields.span_of(key), Problem::Duplicate { what, value }))
    };
    for other in &scene.radios {
        if other.name == radio.name {
            return twice("name", format!("`{}`", radio.name), "name");
        }
        if other.addr == radio.addr {
            return twice("address", radio.addr.to_string(), "addr");
        }
    }
    Ok(())
}

fn radio(number: usize, entry: &Entry<'_>) -> Result<Radio, Wrong> {
    let fields = Fields::of("a radio", entry)?;
    fields.know(&RADIO_KEYS)?;
    let is_name = |text: &str| {
        let good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        ((1..=23).contains(&text.len()) && text.bytes().all(good)).then(|| text.to_owned())
    };
    fields.required("name")?;
    let name = fields.parsed("name", "1 to 23 letters, digits, `-` and `_`", is_name)?.unwrap_or_default();
    let fields = Fields { of: format!("radio `{name}`"), ..fields };
    fields.required("model")?;
    let named = |text: &str| ModelName::ALL.into_iter().find(|model| model.name() == text);
    let model = fields.parsed("model", "n200 or x310", named)?.unwrap_or(ModelName::N200);
    fields.required("addr")?;
    let addr = fields.parsed("addr", "an IPv4 address such as 127.0.0.2", |text| text.parse::<Ipv4Addr>().ok())?;
    let addr = addr.unwrap_or(Ipv4Addr::LOCALHOST);
    let foreign: &[&str] = match model {
        ModelName::N200 => &X310_KEYS,
        ModelName::X310 => &N200_KEYS,
    };
    if let Some(&key) = foreign.iter().find(|key| fields.table.contains_key(**key)) {
        let problem = Problem::Unfit { key: key.to_owned(), model: model.name() };
        return Err(Wrong::new(fields.span_of(key), problem));
    }
    let off = fields.number("clock_offset_ppm", -MOST_CLOCK_OFFSET_PPM..=MOST_CLOCK_OFFSET_PPM)?.unwrap_or(0.0);
    let hundredths = (off * 100.0).round();
    if (off * 100.0 - hundredths).abs() > 1e-6 {
        return mistyped("clock_offset_ppm", fields.required("clock_offset_ppm")?, "a multiple of 0.01");
    }
    Ok(Radio {
        options: options(number, &fields, &name, model, addr)?,
        clock_offset_hundredths_ppm: hundredths as i32,
        receive: receive(&fields)?,
        transmit: match fields.table("transmit")? {
            Some(transmit) => {
                transmit.know(&TRANSMIT_KEYS)?;
                imbalance(&transmit)?
            }
            None => Imbalance::default(),
        },
        name,
        model,
        addr,
    })
}

fn options(
    number: usize,
    fields: &Fields<'_, '_>,
    name: &str,
    model: ModelName,
    addr: Ipv4Addr,
) -> Result<EmulatorOptions, Wrong> {
    let usual = EmulatorOptions::default();
    let serial = fields.text("serial")?.map_or_else(|| format!("EMU{:03}", number + 1), str::to_owned);
    let (boards, wanted): (&[Board], _) = match model {
        ModelName::N200 => {
            (&[Board::Sbx, Board::Wbx, Board::Basic, Board::Lf, Board::None], "sbx, wbx, basic, lf or none")
        }
        ModelName::X310 => (&[Board::Ubx, Board::Basic, Board::Lf, Board::None], "ubx, basic, lf or none"),
    };
    let fitting = |text: &str| text.parse::<Board>().ok().filter(|board| boards.contains(board));
    // If nobody sends there is silence, unless a source is named.
    let source = spec::<source::Spec>(fields, "source")?.unwrap_or(source::Spec::Silence);
    let sink = spec::<sink::Spec>(fields, "sink")?;
    Ok(EmulatorOptions {
        addrs: vec![addr],
        serials: vec![serial],
        names: vec![name.to_owned()],
        sources: vec![source.to_string()],
        sinks: sink.iter().map(ToString::to_string).collect(),
        faults: texts(fields, "faults", "faults", |text| match text.parse::<Fault>() {
            Ok(_) => Ok(()),
            Err(source) => Err(Problem::Spec { key: "faults", source }),
        })?,
        board: fields.parsed("board", wanted, fitting)?,
        gpsdo: fields.flag("gpsdo")?.unwrap_or(usual.gpsdo),
        imperfect: fields.whole("imperfect", 0..=i64::MAX as u64)?,
        overflow: fields
            .parsed("overflow", "hardware or continue", |text| text.parse().ok())?
            .unwrap_or(usual.overflow),
        allow: texts(fields, "allow", "networks", |text| match text.parse::<Cidr>() {
            Ok(_) => Ok(()),
            Err(error) => Err(File::Value {
                key: "allow".to_owned(),
                got: format!("{:?}", error.got),
                expected: "a network such as 192.168.10.0/24".to_owned(),
            }
            .into()),
        })?,
        eeproms: fields.text("eeprom")?.map(Into::into).into_iter().collect(),
        uhd: fields.parsed("uhd", "a release of UHD from 4.3 to 4.11, or auto", |text| text.parse().ok())?,
        firmware: fields.whole("firmware", 0..=0xFFFF)?.map(|major| major as u32),
        fpga: fields.parsed("fpga", "MAJOR.MINOR, such as 11.1", |text| fpga_version(text).ok())?,
        hardware: fields
            .parsed("hardware", "four hexadecimal digits, such as 0x0a10", |text| hardware_word(text).ok())?,
        as_hardware: fields.flag("as_hardware")?.unwrap_or(usual.as_hardware),
        cores: fields.whole("core", 0..=4095)?.map(|core| core as usize).into_iter().collect(),
        ..usual
    })
}

fn receive(fields: &Fields<'_, '_>) -> Result<Receive, Wrong> {
    let Some(receive) = fields.table("receive")? else { return Ok(Receive::default()) };
    receive.know(&RECEIVE_KEYS)?;
    Ok(Receive { noise_dbfs: receive.number("noise_dbfs", POWER_DBFS)?, imbalance: imbalance(&receive)? })
}

fn imbalance(fields: &Fields<'_, '_>) -> Result<Imbalance, Wrong> {
    Ok(Imbalance {
        dc_offset_i: fields.number("dc_offset_i", DC_OFFSET)?.unwrap_or(0.0),
        dc_offset_q: fields.number("dc_offset_q", DC_OFFSET)?.unwrap_or(0.0),
        iq_gain_db: fields.number("iq_gain_db", IQ_GAIN_DB)?.unwrap_or(0.0),
        iq_phase_deg: fields.number("iq_phase_deg", IQ_PHASE_DEG)?.unwrap_or(0.0),
    })
}

fn link(scene: &Scene, entry: &Entry<'_>) -> Result<Link, Wrong> {
    let fields = Fields::of("a link", entry)?;
    fields.know(&LINK_KEYS)?;
    let (from, to) = (end(scene, &fields, "from")?, end(scene, &fields, "to")?);
    if scene.links.iter().any(|other| (other.from, other.to) == (from, to)) {
        let [from, to] =
            ["from", "to"].map(|key| fields.text::<File>(key).ok().flatten().unwrap_or_default().to_owned());
        return Err(Wrong::new(fields.span_of("to"), Problem::TwoLinks { from, to }));
    }
    let received = scene.links.iter().filter(|other| other.to == to).count() + 1;
    if received > MOST_LINKS_TO_ONE {
        let (count, max) = (received as u64, MOST_LINKS_TO_ONE as u64);
        let problem = File::TooMany { what: "links to one receiver", count, max };
        return Err(Wrong::new(fields.span_of("to"), problem));
    }
    fields.not_both("delay_ns", "delay_samples")?;
    fields.not_both("noise_dbfs", "snr_db")?;
    fields.not_both("taps", "fading")?;
    let fading: Option<FadingModel> = fields.parsed("fading", FADING, |text| text.parse().ok())?;
    // The last path is no later than any other's may be.
    let longest_ns = LONGEST_DELAY_NS - fading.map_or(0.0, |model| model.profile.longest_delay_ns());
    let delay = match fields.number("delay_samples", 0.0..=LONGEST_DELAY_SAMPLES)? {
        Some(samples) => Delay::Samples(samples),
        None => Delay::Ns(fields.number("delay_ns", 0.0..=longest_ns)?.unwrap_or(0.0)),
    };
    let noise = match fields.number("snr_db", SNR_DB)? {
        Some(snr_db) => Some(Noise::SnrDb(snr_db)),
        None => fields.number("noise_dbfs", POWER_DBFS)?.map(Noise::Dbfs),
    };
    let mut link = Link {
        gain_db: fields.number("gain_db", GAIN_DB)?.unwrap_or(0.0),
        delay,
        frequency_offset_hz: fields.number("frequency_offset_hz", FREQUENCY_OFFSET_HZ)?.unwrap_or(0.0),
        noise,
        fading,
        ..Link::new(from, to)
    };
    let direct_ns = if let Delay::Ns(ns) = delay { ns } else { 0.0 };
    for entry in fields.list("taps", "taps", MOST_TAPS, "a list of tables: { delay_ns = 100.0, gain_db = -6.0 }")? {
        let tap = Fields::of("a tap", entry)?;
        tap.know(&TAP_KEYS)?;
        tap.required("delay_ns")?;
        link.taps.push(Tap {
            delay_ns: tap.number("delay_ns", 0.0..=LONGEST_DELAY_NS - direct_ns)?.unwrap_or(0.0),
            gain_db: tap.number("gain_db", GAIN_DB)?.unwrap_or(0.0),
            phase_deg: tap.number("phase_deg", PHASE_DEG)?.unwrap_or(0.0),
        });
    }
    Ok(link)
}

/// `name` or `name:channel`.
fn end(scene: &Scene, fields: &Fields<'_, '_>, key: &'static str) -> Result<End, Wrong> {
    fields.required(key)?;
    let text = fields.text(key)?.unwrap_or_default();
    let (name, channel) = text.split_once(':').unwrap_or((text, "0"));
    let wrong = |problem| Err(Wrong::new(fields.span_of(key), problem));
    let Some(radio) = scene.radios.iter().position(|radio| radio.name == name) else {
        let nearest = nearest(name, scene.radios.iter().map(|radio| radio.name.as_str())).map(str::to_owned);
        return wrong(Problem::NoRadio { name: shortened(name), nearest });
    };
    let model = scene.radios[radio].model;
    match channel.parse().ok().filter(|&channel: &usize| channel < model.channels()) {
        Some(channel) => Ok(End { radio, channel }),
        None => wrong(Problem::NoChannel {
            radio: name.to_owned(),
            model: model.name(),
            channel: shortened(channel),
            channels: model.channels(),
        }),
    }
}

/// The text of a source or a sink.
fn spec<S: std::str::FromStr<Err = SpecError>>(fields: &Fields<'_, '_>, key: &'static str) -> Result<Option<S>, Wrong> {
    let Some(text) = fields.text(key)? else { return Ok(None) };
    text.parse().map(Some).map_err(|source| Wrong::new(fields.span_of(key), Problem::Spec { key, source }))
}

/// Texts of which `check` has nothing to say.
fn texts(
    fields: &Fields<'_, '_>,
    key: &'static str,
    what: &'static str,
    check: impl Fn(&str) -> Result<(), Problem>,
) -> Result<Vec<String>, Wrong> {
    let text = |entry: &Entry<'_>| {
        let text = string(key, entry)?;
        check(text).map_err(|problem| Wrong::new(entry.span(), problem))?;
        Ok(text.to_owned())
    };
    fields.list(key, what, MOST_TEXTS, "a list of texts in quotes")?.iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use takt_dsp::DelayProfile;

    use super::*;

    const SCHEMA: &str = include_str!("../../../../docs/reference/air.schema.json");
    const PAGE: &str = include_str!("../../../../docs/reference/air.md");
    const FILES: [&str; 2] =
        [include_str!("../../../../scenes/pair.toml"), include_str!("../../../../scenes/lte.toml")];

    fn keys(schema: &Value) -> Vec<&str> {
        let mut keys: Vec<&str> =
            schema["properties"].as_object().expect("an object").keys().map(String::as_str).collect();
        keys.sort_unstable();
        keys
    }

    fn sorted<const N: usize>(mut keys: [&str; N]) -> Vec<&str> {
        keys.sort_unstable();
        keys.to_vec()
    }

    fn range(schema: &Value) -> [f64; 2] {
        ["minimum", "maximum"].map(|end| schema[end].as_f64().expect("a number"))
    }

    fn ends(range: RangeInclusive<f64>) -> [f64; 2] {
        [*range.start(), *range.end()]
    }

    #[test]
    fn the_published_schema_has_the_keys_and_limits_of_the_parser() {
        let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
        let of = |name: &str| &schema["$defs"][name];
        let (radio, link, tap) = (of("radio"), of("link"), of("tap"));
        let (receive, transmit) = (&radio["properties"]["receive"], &radio["properties"]["transmit"]);
        assert_eq!(keys(&schema), sorted(FILE_KEYS));
        assert_eq!(keys(radio), sorted(RADIO_KEYS));
        assert_eq!(keys(receive), sorted(RECEIVE_KEYS));
        assert_eq!(keys(transmit), sorted(TRANSMIT_KEYS));
        assert_eq!(keys(link), sorted(LINK_KEYS));
        assert_eq!(keys(tap), sorted(TAP_KEYS));
        for object in [&schema, radio, receive, transmit, link, tap] {
            assert_eq!(object["additionalProperties"], false);
        }
        let most = |property: &Value| property["maxItems"].as_u64().expect("a number") as usize;
        assert_eq!(most(&schema["properties"]["radio"]), MOST_RADIOS);
        assert_eq!(most(&schema["properties"]["link"]), MOST_LINKS);
        assert_eq!(most(&link["properties"]["taps"]), MOST_TAPS);
        assert_eq!([most(&radio["properties"]["faults"]), most(&radio["properties"]["allow"])], [MOST_TEXTS; 2]);
        let properties = &link["properties"];
        assert_eq!(range(&properties["delay_ns"]), [0.0, LONGEST_DELAY_NS]);
        assert_eq!(range(&properties["delay_samples"]), [0.0, LONGEST_DELAY_SAMPLES]);
        assert_eq!(range(&properties["frequency_offset_hz"]), ends(FREQUENCY_OFFSET_HZ));
        assert_eq!(range(&properties["snr_db"]), ends(SNR_DB));
        assert_eq!(range(&tap["properties"]["delay_ns"]), [0.0, LONGEST_DELAY_NS]);
        assert_eq!(range(&tap["properties"]["phase_deg"]), ends(PHASE_DEG));
        let ranges = [
            ("gain", GAIN_DB),
            ("power", POWER_DBFS),
            ("dc_offset", DC_OFFSET),
            ("iq_gain", IQ_GAIN_DB),
            ("iq_phase", IQ_PHASE_DEG),
        ];
        for (name, limits) in ranges {
            assert_eq!(range(of(name)), ends(limits), "{name}");
        }
        let models = DelayProfile::ALL.into_iter().flat_map(|profile| {
            FadingModel::DOPPLER_HZ.map(|hz| FadingModel::new(profile, hz).expect("one of them").to_string())
        });
        assert_eq!(properties["fading"]["enum"], Value::from_iter(models));
        let off = &radio["properties"]["clock_offset_ppm"];
        assert_eq!(range(off), [-MOST_CLOCK_OFFSET_PPM, MOST_CLOCK_OFFSET_PPM]);
        let latency = &schema["properties"]["latency_us"];
        let [shortest, usual, longest] = LATENCY_US.map(f64::from);
        assert_eq!((range(latency), latency["default"].as_f64()), ([shortest, longest], Some(usual)));
        let models: Vec<Value> = ModelName::ALL.iter().map(|model| model.name().into()).collect();
        assert_eq!(radio["properties"]["model"]["enum"], Value::Array(models));
    }

    #[test]
    fn an_x310_serves_the_release_of_uhd_that_the_file_names_and_an_n200_has_none() {
        let read = |model: &str, uhd: &str| {
            let text = format!("[[radio]]\nname = 'a'\nmodel = '{model}'\naddr = '127.0.0.1'\nuhd = {uhd}\n");
            Scene::parse("air.toml", &text).map(|scene| scene.radios[0].options.uhd)
        };
        for uhd in ["4.3", "4.11", "auto"] {
            assert_eq!(read("x310", &format!("'{uhd}'")).unwrap(), Some(uhd.parse().unwrap()));
        }
        for (model, uhd, error) in [
            ("x310", "'4.2'", "a release of UHD from 4.3 to 4.11, or auto"),
            ("x310", "4.11", "a text in quotes"),
            ("n200", "'4.11'", "an n200 has no `uhd`"),
        ] {
            let got = read(model, uhd).unwrap_err();
            let said = format!("{got}; {}; {}", got.fix(), got.place);
            assert!(said.contains(error), "{said}");
        }
    }

    #[test]
    fn every_file_of_the_reference_page_and_every_example_is_read() {
        let files: Vec<&str> = PAGE.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert!(!files.is_empty());
        for file in files.into_iter().chain(FILES) {
            Scene::parse("air.md", file).unwrap_or_else(|error| panic!("{error} in\n{file}"));
        }
    }
}
