//! A source as text, and what it means.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use takt_dsp::file::SampleFormat;

use crate::text::{Grammar, Kind, SpecError, Words, quote};

/// What an emulated receiver receives. Text and value are two forms of the same: `tone:offset=100k,amplitude=0.5`.
///
/// | text | what is received |
/// | --- | --- |
/// | `silence` | nothing |
/// | `tone:offset=100k,amplitude=0.5` | a tone, in Hz from the tuned centre, full scale 1 |
/// | `noise:power=-30,seed=1` | white Gaussian noise, in dB relative to full scale |
/// | `counter` | sample n of the stream is n: I its lower 16 bits, Q the next 16; n = tick / step |
/// | `file:path=x.sc16,format=sc16,loop,raw` | the samples of a file, one for each of the stream |
/// | `sigmf:path=x,loop,raw` | a recording, at its own sample rate |
/// | `loopback` | what the radio itself transmits |
///
/// ```
/// use takt_emulator::source::Spec;
/// assert_eq!("tone:100k".parse(), Ok(Spec::Tone { offset_hz: 100e3, amplitude: 0.5 }));
/// let wrong = "tnoe:100k".parse::<Spec>().unwrap_err();
/// assert_eq!(wrong.fix(), "--source tone:100k");
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
    /// A file of samples. Raw: its 16-bit words reach the wire as they are, past gain and mixer.
    File { path: PathBuf, format: SampleFormat, repeat: bool, raw: bool },
    /// A recording, by either of its files or without an extension.
    Sigmf { path: PathBuf, repeat: bool, raw: bool },
    /// What the radio itself transmits.
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
        Kind { name: "sigmf", main: "path", keys: &["path", "loop", "raw"] },
        Kind { name: "loopback", main: "", keys: &[] },
    ],
    names: "silence, tone, noise, counter, file, sigmf, loopback",
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
                let path = words.path("the path of a file of samples")?;
                let format = words.format_of(&path)?;
                Spec::File { path, format, repeat: words.flag("loop")?, raw: words.flag("raw")? }
            }
            "sigmf" => Spec::Sigmf {
                path: words.path("the path of a recording")?,
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
                write!(f, "file:path={},format={format}{}", quote(&path.to_string_lossy()), flags(*repeat, *raw))
            }
            Spec::Sigmf { path, repeat, raw } => {
                write!(f, "sigmf:path={}{}", quote(&path.to_string_lossy()), flags(*repeat, *raw))
            }
            Spec::Loopback => f.write_str("loopback"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
                Spec::File { path: "/tmp/x.fc32".into(), format: SampleFormat::Fc32, repeat: true, raw: false },
            ),
            (
                "file:path=\"a,\\\"b\\\"=.bin\",format=ci16_le,raw=yes,loop=false",
                Spec::File { path: "a,\"b\"=.bin".into(), format: SampleFormat::Sc16, repeat: false, raw: true },
            ),
            ("sigmf:/tmp/a=b", Spec::Sigmf { path: "/tmp/a=b".into(), repeat: false, raw: false }),
        ] {
            assert_eq!(text.parse(), Ok(spec), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place_and_what_was_meant() {
        assert_eq!(
            says("tnoe:100k"),
            "source `tnoe:100k`: `tnoe` (character 1) is not a source: silence, tone, noise, counter, file, sigmf, loopback; did you mean `tone`?"
        );
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
        assert_eq!(says("file"), "source `file`: character 5 lacks the path of a file of samples");
        assert_eq!(
            says("file:x.bin"),
            "source `file:x.bin`: character 11 lacks format=sc16, sc8 or fc32: the name of the file does not say which"
        );
        assert_eq!(
            says("file:x,format=cs16"),
            "source `file:x,format=cs16`: `cs16` (character 15) is not sc16, sc8, fc32; did you mean `sc16`?"
        );
        assert_eq!(
            says("file:x.sc16,loop=maybe"),
            "source `file:x.sc16,loop=maybe`: `maybe` (character 18) is not true or false"
        );
    }

    fn spec() -> impl Strategy<Value = Spec> {
        let path = "[ -~é]{0,12}[a-z]".prop_map(PathBuf::from);
        prop_oneof![
            Just(Spec::Silence),
            Just(Spec::Counter),
            Just(Spec::Loopback),
            (-50e6..=50e6, 0.0..=1.0).prop_map(|(offset_hz, amplitude)| Spec::Tone { offset_hz, amplitude }),
            (-200.0..=0.0, any::<u64>()).prop_map(|(power_dbfs, seed)| Spec::Noise { power_dbfs, seed }),
            (path.clone(), prop::sample::select(SampleFormat::ALL.to_vec()), any::<bool>(), any::<bool>())
                .prop_map(|(path, format, repeat, raw)| Spec::File { path, format, repeat, raw }),
            (path, any::<bool>(), any::<bool>()).prop_map(|(path, repeat, raw)| Spec::Sigmf { path, repeat, raw }),
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
