//! A source as text, and what it means.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use takt_dsp::file::Datatype;

use crate::text::{Grammar, Kind, SpecError, Words, quote};

/// Input of an emulated receiver. Text and value are two forms of the same: `tone:offset=100k,amplitude=0.5`.
///
/// | text | what is received |
/// | --- | --- |
/// | `silence` | nothing |
/// | `tone:offset=100k,amplitude=0.5` | a tone, in Hz from the tuned centre, full scale 1 |
/// | `noise:power=-30,seed=1` | white Gaussian noise, in dB relative to full scale |
/// | `counter` | sample n of the stream is n: I its lower 16 bits, Q the next 16; n = tick / step |
/// | `file:path=x.sc16,format=sc16,loop,raw` | the samples of a file, one for each of the stream; any type of SigMF, such as `cu8` |
/// | `sigmf:path=x,channel=0,loop,raw` | one channel of a recording, from its first capture on, at its own sample rate |
/// | `loopback` | what the radio itself transmits |
///
/// ```
/// use takt_emulator::source::Spec;
/// assert_eq!("tone:100k".parse(), Ok(Spec::Tone { offset_hz: 100e3, amplitude: 0.5 }));
/// let wrong = "tnoe:100k".parse::<Spec>().unwrap_err();
/// assert_eq!(wrong.fix(), "give --source tone:100k");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Spec {
    /// Nothing.
    Silence,
    /// A complex tone, -50 MHz to 50 MHz from the tuned centre; full scale 1.0.
    Tone { offset_hz: f64, amplitude: f64 },
    /// White Gaussian noise: mean power against a full-scale tone. Same seed, same noise.
    Noise { power_dbfs: f64, seed: u64 },
    /// The number of each sample, as raw 16-bit words.
    Counter,
    /// A file of samples. Raw: its integers reach the wire as they are, past gain and mixer.
    File { path: PathBuf, format: Datatype, repeat: bool, raw: bool },
    /// A channel of a recording, which is named by either of its files, without an extension, or as an archive.
    Sigmf { path: PathBuf, channel: u64, repeat: bool, raw: bool },
    /// The radio's own transmission.
    Loopback,
}

impl Default for Spec {
    /// A tone 100 kHz above the centre, at half of full scale.
    fn default() -> Spec {
        Spec::Tone { offset_hz: 100e3, amplitude: 0.5 }
    }
}

const GRAMMAR: Grammar = Grammar {
    what: "source",
    kinds: &[
        Kind { name: "silence", main: "", keys: &[] },
        Kind { name: "tone", main: "offset", keys: &["offset", "amplitude"] },
        Kind { name: "noise", main: "power", keys: &["power", "seed"] },
        Kind { name: "counter", main: "", keys: &[] },
        Kind { name: "file", main: "path", keys: &["path", "format", "loop", "raw"] },
        Kind { name: "sigmf", main: "path", keys: &["path", "channel", "loop", "raw"] },
        Kind { name: "loopback", main: "", keys: &[] },
    ],
    names: "silence, tone, noise, counter, file, sigmf and loopback",
    example: "tone:offset=100k",
    strict: false,
};

impl FromStr for Spec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Spec, SpecError> {
        let words = Words::read(&GRAMMAR, text)?;
        Ok(match words.kind.name {
            "tone" => {
                let offset = words.number("offset", -50e6..=50e6, "an offset in Hz from -50M to 50M, such as 100k")?;
                let amplitude = words.number("amplitude", 0.0..=1.0, "an amplitude from 0 to 1")?;
                Spec::Tone { offset_hz: offset.unwrap_or(100e3), amplitude: amplitude.unwrap_or(0.5) }
            }
            "noise" => Spec::Noise {
                power_dbfs: words.number("power", -200.0..=0.0, "a power in dBFS from -200 to 0")?.unwrap_or(-30.0),
                seed: words.whole_number("seed")?.unwrap_or(0),
            },
            "counter" => Spec::Counter,
            "file" => {
                let path = words.path("the path of a file of samples", "x.sc16")?;
                let format = words.datatype_of(&path)?;
                Spec::File { path, format, repeat: words.flag("loop")?, raw: words.flag("raw")? }
            }
            "sigmf" => Spec::Sigmf {
                path: words.path("the path of a recording", "x")?,
                channel: words.whole_number("channel")?.unwrap_or(0),
                repeat: words.flag("loop")?,
                raw: words.flag("raw")?,
            },
            "loopback" => Spec::Loopback,
            _ => Spec::Silence,
        })
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let flags = |repeat: bool, raw: bool| match (repeat, raw) {
            (false, false) => "",
            (true, false) => ",loop",
            (false, true) => ",raw",
            (true, true) => ",loop,raw",
        };
        match self {
            Spec::Silence => f.write_str("silence"),
            Spec::Tone { offset_hz, amplitude } => write!(f, "tone:offset={offset_hz},amplitude={amplitude}"),
            Spec::Noise { power_dbfs, seed } => write!(f, "noise:power={power_dbfs},seed={seed}"),
            Spec::Counter => f.write_str("counter"),
            Spec::File { path, format, repeat, raw } => {
                let (path, format) = (path.to_string_lossy(), name_of(*format));
                write!(f, "file:path={},format={format}{}", quote(&path), flags(*repeat, *raw))
            }
            Spec::Sigmf { path, channel, repeat, raw } => {
                write!(f, "sigmf:path={}", quote(&path.to_string_lossy()))?;
                if *channel > 0 {
                    write!(f, ",channel={channel}")?;
                }
                f.write_str(flags(*repeat, *raw))
            }
            Spec::Loopback => f.write_str("loopback"),
        }
    }
}

/// UHD's name of what takt writes too, SigMF's of anything else.
fn name_of(format: Datatype) -> String {
    format.native().map_or_else(|| format.to_string(), |native| native.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use takt_dsp::file::SampleFormat;

    fn says(text: &str) -> String {
        text.parse::<Spec>().expect_err(text).to_string()
    }

    #[test]
    fn texts_mean_what_the_table_says() {
        for (text, spec) in [
            ("silence", Spec::Silence),
            ("tone", Spec::default()),
            ("tone:-2.5M", Spec::Tone { offset_hz: -2.5e6, amplitude: 0.5 }),
            ("tone:amplitude=1", Spec::Tone { offset_hz: 100e3, amplitude: 1.0 }),
            ("noise:-20,seed=7", Spec::Noise { power_dbfs: -20.0, seed: 7 }),
            ("counter", Spec::Counter),
            ("loopback:", Spec::Loopback),
            (
                "file:/tmp/x.fc32,loop",
                Spec::File { path: "/tmp/x.fc32".into(), format: SampleFormat::Fc32.into(), repeat: true, raw: false },
            ),
            (
                "file:path=\"a,\\\"b\\\"=.bin\",format=ci16_le,raw=yes,loop=false",
                Spec::File { path: "a,\"b\"=.bin".into(), format: SampleFormat::Sc16.into(), repeat: false, raw: true },
            ),
            (
                "file:x.cu8",
                Spec::File { path: "x.cu8".into(), format: "cu8".parse().unwrap(), repeat: false, raw: false },
            ),
            (
                "file:x.bin,format=ri16_be",
                Spec::File { path: "x.bin".into(), format: "ri16_be".parse().unwrap(), repeat: false, raw: false },
            ),
            ("sigmf:/tmp/a=b", Spec::Sigmf { path: "/tmp/a=b".into(), channel: 0, repeat: false, raw: false }),
            ("sigmf:x,channel=1,loop", Spec::Sigmf { path: "x".into(), channel: 1, repeat: true, raw: false }),
        ] {
            assert_eq!(text.parse(), Ok(spec), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place_and_what_was_meant() {
        assert_eq!(says("tnoe:100k"), "unknown source `tnoe`; did you mean `tone`?");
        assert_eq!(
            says("tone:ofset=1"),
            "source `tone:ofset=1`: `ofset` (character 6) is not a key of tone: offset, amplitude; did you mean `offset`?"
        );
        assert_eq!(
            says("tone:offset=60M"),
            "source `tone:offset=60M`: `60M` (character 13) is not an offset in Hz from -50M to 50M, such as 100k"
        );
        assert_eq!(
            says("tone:1k,amplitude=loud"),
            "source `tone:1k,amplitude=loud`: `loud` (character 19) is not an amplitude from 0 to 1"
        );
        assert_eq!(
            says("tone:1k,2k"),
            "source `tone:1k,2k`: `2k` (character 9) is not a key of tone: offset, amplitude"
        );
        assert_eq!(
            says("tone:offset=1,offset=2"),
            "source `tone:offset=1,offset=2`: `offset` (character 15) is not allowed twice"
        );
        assert_eq!(says("counter:5"), "source `counter:5`: `5` (character 9) is not wanted: counter has no keys");
        assert_eq!(says("file"), "source `file` needs the path of a file of samples");
        assert_eq!(says("file:x.bin"), "source `file:x.bin` needs a sample format");
        assert_eq!(
            says("tone:offset=,amplitude=1"),
            "source `tone:offset=,amplitude=1` (character 13) needs an offset in Hz from -50M to 50M, such as 100k"
        );
        assert_eq!(
            says("file:x,format=cs16"),
            "source `file:x,format=cs16`: `cs16` (character 15) is not sc16, sc8, fc32 or a SigMF type such as cu8; \
             did you mean `sc16`?"
        );
        assert_eq!(
            says("file:x.sc16,loop=maybe"),
            "source `file:x.sc16,loop=maybe`: `maybe` (character 18) is not true or false"
        );
    }

    #[test]
    fn what_is_wrong_has_its_reason_and_a_text_that_is_right() {
        for (text, reason, fix) in [
            (
                "qqqqqq",
                "the sources are silence, tone, noise, counter, file, sigmf and loopback",
                "give --source tone:offset=100k",
            ),
            (
                "file:x.bin",
                "the file name has no known suffix",
                "give --source file:x.bin,format=sc16   (or sc8, fc32)",
            ),
            ("file:", "", "give --source file:x.sc16"),
            ("sigmf", "", "give --source sigmf:x"),
        ] {
            let error = text.parse::<Spec>().expect_err(text);
            assert_eq!((error.reason().unwrap_or_default(), error.fix()), (reason, fix.to_owned()), "{text}");
            let instead = error.instead().expect(text);
            assert!(instead.parse::<Spec>().is_ok(), "{instead}");
        }
    }

    fn spec() -> impl Strategy<Value = Spec> {
        let path = "[ -~é]{0,12}[a-z]".prop_map(PathBuf::from);
        prop_oneof![
            Just(Spec::Silence),
            Just(Spec::Counter),
            Just(Spec::Loopback),
            (-50e6..=50e6, 0.0..=1.0).prop_map(|(offset_hz, amplitude)| Spec::Tone { offset_hz, amplitude }),
            (-200.0..=0.0, any::<u64>()).prop_map(|(power_dbfs, seed)| Spec::Noise { power_dbfs, seed }),
            (path.clone(), prop::sample::select(Datatype::all().collect::<Vec<_>>()), any::<bool>(), any::<bool>())
                .prop_map(|(path, format, repeat, raw)| Spec::File { path, format, repeat, raw }),
            (path, 0u64..3, any::<bool>(), any::<bool>()).prop_map(|(path, channel, repeat, raw)| Spec::Sigmf {
                path,
                channel,
                repeat,
                raw
            }),
        ]
    }

    proptest! {
        #[test]
        fn a_source_survives_the_way_through_text(spec in spec()) {
            prop_assert_eq!(spec.to_string().parse(), Ok(spec));
        }

        #[test]
        fn no_text_panics(text in "[a-z]{0,8}:?.{0,30}") {
            if let Err(error) = text.parse::<Spec>() {
                prop_assert!(!error.to_string().is_empty() && !error.fix().is_empty());
            }
        }
    }
}
