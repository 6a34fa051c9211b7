//! From the text of a file to a plan.

use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::sync::Arc;

use takt_emulator::n200::{Board, CLOCK};
use takt_toml::{Entry, Fields, FilePlace, Source, document, mistyped};

use super::error::{ShareFileError, ShareFileProblem as Problem};
use super::{AnalogPolicy, FrontEndPlan, MOST_RADIOS, RadioLimits, RadioPlan, SharePlan};

/// Longest file, bytes.
const MOST_BYTES: usize = 1 << 20;

const FILE_KEYS: [&str; 2] = ["front_end", "radio"];
const FRONT_END_KEYS: [&str; 5] = ["rate", "frequency", "gain", "antenna", "policy"];
const RADIO_KEYS: [&str; 10] =
    ["name", "addr", "serial", "board", "priority", "frequency", "rate", "transmit", "overlap", "level_db"];

/// Rates of a front end: 100 MHz over 512 to 100 MHz over 4.
const RATE_SPS: RangeInclusive<f64> = 195_312.5..=25e6;
const FREQUENCY_HZ: RangeInclusive<f64> = 0.0..=6e9;
const GAIN_DB: RangeInclusive<f64> = 0.0..=100.0;
const LEVEL_DB: RangeInclusive<f64> = -60.0..=0.0;
/// An SBX reaches down to here, a WBX to the other.
const SBX_FROM_HZ: f64 = 400e6;
const WBX_FROM_HZ: f64 = 50e6;

type Wrong = takt_toml::Wrong<Problem>;

impl SharePlan {
    /// Longest file that is read, bytes.
    pub const MOST_BYTES: usize = MOST_BYTES;

    /// Reads a file. `file` is its name, for messages.
    ///
    /// # Errors
    /// The first thing in it that is wrong, with its place.
    ///
    /// ```
    /// use takt_share::SharePlan;
    /// let file = "[front_end]\nrate = 10e6\nfrequency = 2.4e9\n[[radio]]\nname = 'a'\naddr = '127.0.0.300'\n";
    /// let error = SharePlan::parse("radios.toml", file).unwrap_err();
    /// assert_eq!(error.to_string(), "`addr` can't be \"127.0.0.300\"");
    /// assert_eq!(error.fix(), "give an IPv4 address such as 127.0.0.11");
    /// assert_eq!(error.place.to_string(), "radios.toml:6:8");
    /// ```
    pub fn parse(file: &str, text: &str) -> Result<SharePlan, ShareFileError> {
        let source = Arc::new(Source::new(file, text, MOST_BYTES));
        plan(text)
            .map_err(|wrong| ShareFileError { problem: wrong.problem, place: FilePlace::new(&source, wrong.span) })
    }
}

impl SharePlan {
    /// Reads radios that are to be added to this plan: `[[radio]]` tables alone. `file` is its name, for messages.
    ///
    /// # Errors
    /// The first thing in it that is wrong, with its place.
    pub(crate) fn parse_more(&self, file: &str, text: &str) -> Result<Vec<RadioPlan>, ShareFileError> {
        let source = Arc::new(Source::new(file, text, MOST_BYTES));
        more(self, text)
            .map_err(|wrong| ShareFileError { problem: wrong.problem, place: FilePlace::new(&source, wrong.span) })
    }
}

fn more(plan: &SharePlan, text: &str) -> Result<Vec<RadioPlan>, Wrong> {
    Source::short_enough(text, MOST_BYTES)?;
    let table = document(text)?;
    let file = Fields::file(&table, text);
    file.know(&["radio"])?;
    let (mut all, known) = (plan.clone(), plan.radios.len());
    for entry in file.list("radio", "radios", MOST_RADIOS.saturating_sub(known), "tables: [[radio]]")? {
        let radio = radio(&all, entry)?;
        alone(&all, &radio, entry)?;
        all.radios.push(radio);
    }
    let added = all.radios.split_off(known);
    if added.is_empty() { Err(Wrong::new(file.span, Problem::NoRadio)) } else { Ok(added) }
}

fn plan(text: &str) -> Result<SharePlan, Wrong> {
    Source::short_enough(text, MOST_BYTES)?;
    let table = document(text)?;
    let file = Fields::file(&table, text);
    file.know(&FILE_KEYS)?;
    file.required("front_end")?;
    let Some(fields) = file.table("front_end")? else { return Err(Wrong::new(0..0, Problem::NoRadio)) };
    let front_end = front_end(&fields)?;
    let mut plan = SharePlan { front_end, radios: Vec::new() };
    for entry in file.list("radio", "radios", MOST_RADIOS, "tables: [[radio]]")? {
        let radio = radio(&plan, entry)?;
        alone(&plan, &radio, entry)?;
        plan.radios.push(radio);
    }
    if plan.radios.is_empty() {
        return Err(Wrong::new(file.span, Problem::NoRadio));
    }
    Ok(plan)
}

fn front_end(fields: &Fields<'_, '_>) -> Result<FrontEndPlan, Wrong> {
    fields.know(&FRONT_END_KEYS)?;
    fields.required("rate")?;
    let rate_sps = fields.number("rate", RATE_SPS)?.unwrap_or(*RATE_SPS.start());
    let clock_hz = f64::from(CLOCK.hz());
    let step = clock_hz / rate_sps;
    if (step - step.round()).abs() > 1e-9 * step {
        let nearest_sps = [clock_hz / step.ceil(), clock_hz / step.floor()];
        return Err(Wrong::new(fields.span_of("rate"), Problem::Rate { got_sps: rate_sps, nearest_sps }));
    }
    fields.required("frequency")?;
    let named = |text: &str| AnalogPolicy::NAMED.into_iter().find(|(name, _)| *name == text).map(|(_, policy)| policy);
    Ok(FrontEndPlan {
        rate_sps,
        frequency_hz: fields.number("frequency", FREQUENCY_HZ)?.unwrap_or_default(),
        gain_db: fields.number("gain", GAIN_DB)?,
        antenna: fields.text("antenna")?.map(str::to_owned),
        policy: fields.parsed("policy", "fixed, first, highest-priority or widest-fit", named)?.unwrap_or_default(),
    })
}

fn radio(plan: &SharePlan, entry: &Entry<'_>) -> Result<RadioPlan, Wrong> {
    let FrontEndPlan { rate_sps: widest_sps, frequency_hz, .. } = plan.front_end;
    let fields = Fields::of("a radio", entry)?;
    fields.know(&RADIO_KEYS)?;
    fields.required("name")?;
    let name = fields.parsed("name", "1 to 23 letters, digits, `-` and `_`", |text| named(text, 23))?;
    let name = name.unwrap_or_default();
    let fields = Fields { of: format!("radio `{name}`"), ..fields };
    fields.required("addr")?;
    let addr = fields.parsed("addr", "an IPv4 address such as 127.0.0.11", |text| text.parse::<Ipv4Addr>().ok())?;
    let serial = fields.parsed("serial", "1 to 9 letters, digits, `-` and `_`", |text| named(text, 9))?;
    let board = fields.parsed("board", "sbx, wbx, basic, lf or none", |text| text.parse::<Board>().ok())?;
    let usual_board = match frequency_hz {
        hz if hz >= SBX_FROM_HZ => Board::Sbx,
        hz if hz >= WBX_FROM_HZ => Board::Wbx,
        _ => Board::Basic,
    };
    Ok(RadioPlan {
        name,
        addr: addr.unwrap_or(Ipv4Addr::LOCALHOST),
        serial: serial.unwrap_or_else(|| free_serial(plan)),
        board: board.unwrap_or(usual_board),
        priority: fields.whole("priority", 0..=255)?.unwrap_or(0) as u8,
        limits: RadioLimits {
            frequency_hz: frequencies(&fields)?,
            rate_sps: fields.number("rate", *RATE_SPS.start()..=widest_sps)?.unwrap_or(widest_sps),
        },
        transmit: fields.flag("transmit")?.unwrap_or(false),
        overlap: fields.flag("overlap")?.unwrap_or(false),
        level_db: fields.number("level_db", LEVEL_DB)?.unwrap_or(0.0),
    })
}

/// The first from its place on that no radio has.
fn free_serial(plan: &SharePlan) -> String {
    let mut serials = (plan.radios.len() + 1..).map(|number| format!("SHR{number:03}"));
    let is_free = |serial: &String| plan.radios.iter().all(|radio| radio.serial != *serial);
    serials.find(is_free).unwrap_or_default()
}

fn named(text: &str, most: usize) -> Option<String> {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    ((1..=most).contains(&text.len()) && text.bytes().all(good)).then(|| text.to_owned())
}

/// Two numbers, the lower one first.
fn frequencies(fields: &Fields<'_, '_>) -> Result<Option<[f64; 2]>, Wrong> {
    const WANTED: &str = "two frequencies in Hz, the lower one first, such as [2.395e9, 2.405e9]";
    let list = fields.list("frequency", "frequencies", 2, WANTED)?;
    let Some(entry) = fields.table.get("frequency") else { return Ok(None) };
    let [low, high] = list else { return mistyped("frequency", entry, WANTED) };
    let [low, high] = [takt_toml::number("frequency", low)?, takt_toml::number("frequency", high)?];
    let good = FREQUENCY_HZ.contains(&low) && FREQUENCY_HZ.contains(&high) && low < high;
    if good { Ok(Some([low, high])) } else { mistyped("frequency", entry, WANTED) }
}

/// A name, an address and a serial that no radio before has.
fn alone(plan: &SharePlan, radio: &RadioPlan, entry: &Entry<'_>) -> Result<(), Wrong> {
    let fields = Fields::of("a radio", entry)?;
    let twice = |what: &'static str, value: String, key| {
        Err(Wrong::new(fields.span_of(key), Problem::Duplicate { what, value }))
    };
    for other in &plan.radios {
        if other.name == radio.name {
            return twice("name", format!("`{}`", radio.name), "name");
        }
        if other.addr == radio.addr {
            return twice("address", radio.addr.to_string(), "addr");
        }
        if other.serial == radio.serial {
            return twice("serial", radio.serial.clone(), "serial");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "\
[front_end]
rate = 10e6
frequency = 2.4e9
gain = 20
antenna = 'RX2'
policy = 'highest-priority'

[[radio]]
name = 'lte'
addr = '127.0.0.11'
serial = 'LTE1'
board = 'sbx'
priority = 7
frequency = [2.395e9, 2405e6]
rate = 2e6
transmit = true
overlap = true
level_db = -6

[[radio]]
name = 'display'
addr = '127.0.0.12'
";

    const SCHEMA: &str = include_str!("../../../../docs/reference/share.schema.json");
    const PAGE: &str = include_str!("../../../../docs/reference/share.md");
    const SCENE: &str = include_str!("../../../../scenes/shared.toml");

    #[test]
    fn schema_page_and_example_are_those_of_the_parser() {
        let schema: serde_json::Value = serde_json::from_str(SCHEMA).expect("JSON");
        let keys = |object: &serde_json::Value, wanted: &[&str]| {
            let keys = object["properties"].as_object().expect("an object").keys().map(String::as_str);
            let (mut keys, mut wanted) = (keys.collect::<Vec<_>>(), wanted.to_vec());
            keys.sort_unstable();
            wanted.sort_unstable();
            assert_eq!((keys, &object["additionalProperties"]), (wanted, &serde_json::Value::Bool(false)));
        };
        let (front_end, radio) = (&schema["properties"]["front_end"], &schema["$defs"]["radio"]);
        keys(&schema, &FILE_KEYS);
        keys(front_end, &FRONT_END_KEYS);
        keys(radio, &RADIO_KEYS);
        let range =
            |value: &serde_json::Value| ["minimum", "maximum"].map(|end| value[end].as_f64().expect("a number"));
        let ends = |range: RangeInclusive<f64>| [*range.start(), *range.end()];
        assert_eq!(range(&front_end["properties"]["rate"]), ends(RATE_SPS));
        assert_eq!(range(&front_end["properties"]["frequency"]), ends(FREQUENCY_HZ));
        assert_eq!(range(&front_end["properties"]["gain"]), ends(GAIN_DB));
        assert_eq!(range(&radio["properties"]["level_db"]), ends(LEVEL_DB));
        assert_eq!(schema["properties"]["radio"]["maxItems"].as_u64(), Some(MOST_RADIOS as u64));
        for key in FRONT_END_KEYS.iter().chain(&RADIO_KEYS) {
            assert!(PAGE.contains(&format!("| `{key}` |")), "{key}");
        }
        let example = PAGE.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
        for text in [example, SCENE] {
            assert_eq!(SharePlan::parse("f", text).expect("a plan").radios.len(), 2);
        }
    }

    #[test]
    fn a_whole_file_is_read() {
        let plan = SharePlan::parse("radios.toml", WHOLE).unwrap();
        assert_eq!(plan.front_end.policy, AnalogPolicy::HighestPriority);
        let [lte, display] = &plan.radios[..] else { panic!("two radios") };
        assert_eq!((lte.limits.frequency_hz, lte.limits.rate_sps), (Some([2.395e9, 2.405e9]), 2e6));
        assert_eq!((lte.priority, lte.transmit, lte.overlap, lte.level_db), (7, true, true, -6.0));
        assert_eq!((display.serial.as_str(), display.board), ("SHR002", Board::Sbx));
        assert_eq!((display.limits.rate_sps, display.transmit), (10e6, false));
    }

    #[test]
    fn what_is_wrong_has_its_place_and_its_fix() {
        let wrong = |from: &str, to: &str| {
            assert!(WHOLE.contains(from), "{from}");
            let error = SharePlan::parse("f", &WHOLE.replacen(from, to, 1)).expect_err(to);
            format!("{} {error} | {}", error.place, error.fix())
        };
        let cases = [
            (
                wrong("rate = 10e6", "rate = 11e6"),
                "f:2:8 `rate` can't be 11000000: a rate is 100 MS/s divided by a whole number from 4 to 512 | set rate \
                 = 10000000 or 11111111.111111112",
            ),
            (
                wrong("rate = 10e6", "rate = 50e6"),
                "f:2:8 `rate` can't be 50e6 | give a number from 195312.5 to 25000000",
            ),
            (
                wrong("policy = 'highest-priority'", "policy = 'best'"),
                "f:6:10 `policy` can't be \"best\" | give fixed, first, highest-priority or widest-fit",
            ),
            (
                wrong("127.0.0.12", "127.0.0.11"),
                "f:22:8 two radios have the same address, 127.0.0.11 | give each radio its own address",
            ),
            (wrong("'display'", "'lte'"), "f:21:8 two radios have the same name, `lte` | give each radio its own name"),
            (
                wrong("rate = 2e6", "rate = 20e6"),
                "f:15:8 `rate` can't be 20e6 | give a number from 195312.5 to 10000000",
            ),
            (
                wrong("[2.395e9, 2405e6]", "[2.5e9, 2405e6]"),
                "f:14:13 `frequency` can't be a list | give two frequencies in Hz, the lower one first, such as \
                 [2.395e9, 2.405e9]",
            ),
            (wrong("transmit", "transmitt"), "f:16:1 unknown key `transmitt` in a radio | did you mean `transmit`?"),
        ];
        for (got, want) in cases {
            assert_eq!(got, want);
        }
        let none = SharePlan::parse("f", "[front_end]\nrate = 10e6\nfrequency = 1e9\n").expect_err("no radio");
        assert_eq!(none.fix(), "add a [[radio]] with `name` and `addr`");
    }
}
