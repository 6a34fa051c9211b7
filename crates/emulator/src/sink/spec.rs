//! A sink as text, and what it means.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use takt_dsp::file::SampleFormat;

use crate::text::{Grammar, Kind, SpecError, Words, quote};

/// Destination of an emulated transmitter's signal. Text and value are two forms of the same: `sigmf:path=x`.
///
/// | text | where it goes |
/// | --- | --- |
/// | `null` | nowhere; the device does not even decode it |
/// | `file:path=x.sc16,format=sc16` | to a file, burst after burst |
/// | `sigmf:path=x,format=sc16` | to a recording: each burst, and each part of one after a retuning, is a capture with its time, frequency and rate |
///
/// Files of the same name are replaced. For the receivers of the same radio there is the source `loopback`, beside any sink.
///
/// ```
/// use takt_emulator::sink::Spec;
/// assert_eq!("sigmf:/tmp/x".parse::<Spec>().unwrap().to_string(), "sigmf:path=/tmp/x,format=fc32");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Spec {
    /// Nowhere.
    #[default]
    Null,
    /// A file of samples.
    File { path: PathBuf, format: SampleFormat },
    /// A recording, by either of its files or without an extension; fc32 unless another format is named.
    Sigmf { path: PathBuf, format: SampleFormat },
}

const GRAMMAR: Grammar = Grammar {
    what: "sink",
    kinds: &[
        Kind { name: "null", main: "", keys: &[] },
        Kind { name: "file", main: "path", keys: &["path", "format"] },
        Kind { name: "sigmf", main: "path", keys: &["path", "format"] },
    ],
    names: "null, file and sigmf",
    example: "file:x.sc16",
    strict: false,
};

impl FromStr for Spec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Spec, SpecError> {
        let words = Words::read(&GRAMMAR, text)?;
        Ok(match words.kind.name {
            "file" => {
                let path = words.path("the path of a file", "x.sc16")?;
                Spec::File { format: words.format_of(&path)?, path }
            }
            "sigmf" => Spec::Sigmf {
                path: words.path("the path of a recording", "x")?,
                format: words.format()?.unwrap_or(SampleFormat::Fc32),
            },
            _ => Spec::Null,
        })
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spec::Null => f.write_str("null"),
            Spec::File { path, format } => write!(f, "file:path={},format={format}", quote(&path.to_string_lossy())),
            Spec::Sigmf { path, format } => write!(f, "sigmf:path={},format={format}", quote(&path.to_string_lossy())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_mean_what_the_table_says() {
        assert_eq!("null".parse(), Ok(Spec::Null));
        let file = |format| Spec::File { path: "x.sc8".into(), format };
        assert_eq!("file:x.sc8".parse(), Ok(file(SampleFormat::Sc8)));
        assert_eq!("file:x.sc8,format=fc32".parse(), Ok(file(SampleFormat::Fc32)));
        assert_eq!("sigmf:a".parse(), Ok(Spec::Sigmf { path: "a".into(), format: SampleFormat::Fc32 }));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let says = |text: &str| text.parse::<Spec>().unwrap_err().to_string();
        assert_eq!(says("nul"), "unknown sink `nul`; did you mean `null`?");
        assert_eq!(says("sigmf:"), "sink `sigmf:` needs the path of a recording");
        assert_eq!(says("sigmf:\"\""), "sink `sigmf:\"\"` needs the path of a recording");
        assert_eq!(says("file:x"), "sink `file:x` needs a sample format");
        let unknown = "qqqqqq".parse::<Spec>().unwrap_err();
        assert_eq!(unknown.reason(), Some("the sinks are null, file and sigmf"));
        assert!(unknown.instead().unwrap().parse::<Spec>().is_ok(), "{unknown}");
    }

    proptest! {
        #[test]
        fn a_sink_survives_the_way_through_text(
            path in "[ -~é]{0,12}[a-z]", format in prop::sample::select(SampleFormat::ALL.to_vec()), recording in any::<bool>(),
        ) {
            let path = PathBuf::from(path);
            let spec = if recording { Spec::Sigmf { path, format } } else { Spec::File { path, format } };
            prop_assert_eq!(spec.to_string().parse(), Ok(spec));
        }
    }
}
