//! From a file to a checked waveform, with what the command line changes in it; its errors as problems.

use std::error::Error;
use std::fmt;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use miette::{Diagnostic, IntoDiagnostic, NamedSource, Result, SourceSpan};
use takt_emulator::air::AirError;
use takt_graph::{FilePlace, Graph, GraphError, Override, OverrideError, Waveform};
use takt_host::call;
use takt_mapper::PlatformError;
use takt_runtime::{OpenError, Registry, StartError};
use takt_share::ShareFileError;

use crate::Problem;

/// The component types of this program.
/// Errors: two of them have one name.
pub fn registry() -> Result<Registry> {
    takt_phy::link();
    takt_lte_waveform::link();
    takt_zmq::link();
    Registry::of_program().into_diagnostic()
}

/// Reads a waveform file, changes what is to be changed, and checks it.
/// Errors: it can't be read, or can't run as it stands.
pub fn open(path: &Path, slot: Option<Duration>, overrides: &[Override], registry: &Registry) -> Result<Graph> {
    let mut waveform = read(path)?;
    if let Some(slot) = slot {
        waveform.slot_ns = u64::try_from(slot.as_nanos()).unwrap_or(u64::MAX);
    }
    for change in overrides {
        let what = || format!("can't set {}.{}", change.component, change.param);
        change.apply(&mut waveform, registry).map_err(|error| Problem::caused(what(), error, OverrideError::fix))?;
    }
    Ok(Graph::check(&waveform, registry).map_err(FileDiagnostic::from)?)
}

fn read(path: &Path) -> Result<Waveform> {
    let name = path.display().to_string();
    let text = text_of(path, takt_graph::limits::FILE_BYTES).map_err(|error| unreadable(&name, error))?;
    Ok(Waveform::parse(&name, &text).map_err(FileDiagnostic::from)?)
}

pub fn unreadable(name: &str, error: std::io::Error) -> Problem {
    let components = call::takt("component list");
    let examples = format!(
        "copy an example from takt's source, folder waveforms (in its package and node's container: /usr/share/takt/waveforms)\n\
         {components}   (lists the components for a file of your own)"
    );
    unreadable_file("waveform", name, error, &examples)
}

/// A file of this kind can't be read; `examples` says what to do without one.
pub fn unreadable_file(kind: &str, name: &str, error: std::io::Error, examples: &str) -> Problem {
    let fix = match error.kind() {
        std::io::ErrorKind::NotFound => {
            let whole = std::path::absolute(name).unwrap_or_else(|_| name.into());
            format!("check the path: there is no file {}\n{examples}", whole.display())
        }
        _ => "give a text file that can be read".to_owned(),
    };
    Problem::new(format!("can't read the {kind} {name}")).why(error).fix(fix)
}

/// The text of a file, and one byte more than `most` of a longer one, so that whoever reads it sees that it is too long.
/// Errors: it can't be read, or is no text.
pub fn text_of(path: &Path, most: usize) -> std::io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(most as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}

pub fn unopened(error: OpenError) -> Problem {
    Problem::caused("the waveform can't be opened", error, OpenError::fix)
}

pub fn unstarted(error: StartError) -> Problem {
    Problem::caused("the workers did not start", error, StartError::fix)
}

/// Error in a file, drawn at its place. The remedy stands there; it is the help where no place is known.
#[derive(Debug, Diagnostic)]
pub struct FileDiagnostic {
    error: Box<dyn Error + Send + Sync>,
    fix: String,
    #[help]
    help: Option<String>,
    #[source_code]
    text: Option<NamedSource<String>>,
    #[label("{fix}")]
    at: Option<SourceSpan>,
}

impl FileDiagnostic {
    fn new(error: impl Error + Send + Sync + 'static, fix: String, place: Option<FilePlace>) -> FileDiagnostic {
        let text = place.as_ref().map(|place| NamedSource::new(&place.source.name, place.source.text.clone()));
        let help = place.is_none().then(|| fix.clone());
        let at = place.map(|place| place.span.clone().into());
        FileDiagnostic { error: Box::new(error), fix, help, text, at }
    }
}

impl From<GraphError> for FileDiagnostic {
    fn from(error: GraphError) -> FileDiagnostic {
        let (fix, place) = (error.fix(), error.place.clone());
        FileDiagnostic::new(error, fix, place)
    }
}

impl From<AirError> for FileDiagnostic {
    fn from(error: AirError) -> FileDiagnostic {
        let (fix, place) = (error.fix(), error.place.clone());
        FileDiagnostic::new(error, fix, Some(place))
    }
}

impl From<ShareFileError> for FileDiagnostic {
    fn from(error: ShareFileError) -> FileDiagnostic {
        let (fix, place) = (error.fix(), error.place.clone());
        FileDiagnostic::new(error, fix, Some(place))
    }
}

impl From<PlatformError> for FileDiagnostic {
    fn from(error: PlatformError) -> FileDiagnostic {
        let (fix, place) = (error.fix(), error.place.clone());
        FileDiagnostic::new(error, fix, place)
    }
}

impl fmt::Display for FileDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for FileDiagnostic {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}
