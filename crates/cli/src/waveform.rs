//! From a file to a checked waveform, with what the command line changes in it; its errors as problems.

use std::error::Error;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use miette::{Diagnostic, IntoDiagnostic, NamedSource, Result, SourceSpan};
use takt_emulator::air::AirError;
use takt_graph::{Graph, GraphError, Override, OverrideError, Place, Waveform};
use takt_mapper::PlatformError;
use takt_runtime::{LibraryError, Registry};

use crate::Problem;

/// Where component types come from besides the program itself.
#[derive(Debug, clap::Args)]
pub struct Libraries {
    /// Add the components of a shared library (`takt_runtime::export!`); repeat for several. Its code runs with your
    /// rights.
    #[arg(long, value_name = "FILE")]
    library: Vec<PathBuf>,
}

impl Libraries {
    /// The component types of this program and of these libraries.
    /// Errors: a library can't be used; two component types have one name.
    pub fn registry(&self) -> Result<Registry> {
        takt_phy::link();
        let mut registry = Registry::of_program().into_diagnostic()?;
        for library in &self.library {
            let what = format!("can't load {}", library.display());
            registry.load(library).map_err(|error| Problem::caused(what, error, LibraryError::fix))?;
        }
        Ok(registry)
    }
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
    Ok(Graph::check(&waveform, registry).map_err(Misfit::from)?)
}

fn read(path: &Path) -> Result<Waveform> {
    let name = path.display().to_string();
    let text = text_of(path, takt_graph::limits::FILE_BYTES).map_err(|error| unreadable(&name, error))?;
    Ok(Waveform::parse(&name, &text).map_err(Misfit::from)?)
}

pub fn unreadable(name: &str, error: std::io::Error) -> Problem {
    let fix = match error.kind() {
        std::io::ErrorKind::NotFound => "a waveform file: docs/reference/waveform.md says what stands in one",
        _ => "a text file that can be read",
    };
    Problem::new(format!("can't read the waveform {name}")).why(error).fix(fix)
}

/// The text of a file, and one byte more than `most` of a longer one, so that whoever reads it sees that it is too long.
/// Errors: it can't be read, or is no text.
pub fn text_of(path: &Path, most: usize) -> std::io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(most as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}

/// What is wrong with a file, drawn at its place. The remedy stands there; it is the help where no place is known.
#[derive(Debug, Diagnostic)]
pub struct Misfit {
    error: Box<dyn Error + Send + Sync>,
    fix: String,
    #[help]
    help: Option<String>,
    #[source_code]
    text: Option<NamedSource<String>>,
    #[label("{fix}")]
    at: Option<SourceSpan>,
}

impl Misfit {
    fn new(error: impl Error + Send + Sync + 'static, fix: String, place: Option<Place>) -> Misfit {
        let text = place.as_ref().map(|place| NamedSource::new(&place.source.name, place.source.text.clone()));
        let help = place.is_none().then(|| fix.clone());
        let at = place.map(|place| place.span.clone().into());
        Misfit { error: Box::new(error), fix, help, text, at }
    }
}

impl From<GraphError> for Misfit {
    fn from(error: GraphError) -> Misfit {
        let (fix, place) = (error.fix(), error.place.clone());
        Misfit::new(error, fix, place)
    }
}

impl From<AirError> for Misfit {
    fn from(error: AirError) -> Misfit {
        let (fix, place) = (error.fix(), error.place.clone());
        Misfit::new(error, fix, Some(place))
    }
}

impl From<PlatformError> for Misfit {
    fn from(error: PlatformError) -> Misfit {
        let (fix, place) = (error.fix(), error.place.clone());
        Misfit::new(error, fix, place)
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for Misfit {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}
