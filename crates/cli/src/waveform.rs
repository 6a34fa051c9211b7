//! From a file to a checked waveform, with what the command line changes in it; its errors as problems.

use std::error::Error;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use miette::{Diagnostic, IntoDiagnostic, NamedSource, Result, SourceSpan};
use takt_base::nearest;
use takt_graph::{Catalogue, Graph, GraphError, ParamError, Place, Waveform};
use takt_mapper::PlatformError;
use takt_runtime::{LibraryError, Registry};

use crate::Problem;

/// A parameter changed on the command line: `component.parameter=value`.
#[derive(Clone, Debug)]
pub struct Override {
    pub component: String,
    pub param: String,
    pub value: String,
}

impl std::str::FromStr for Override {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Override, String> {
        let (place, value) = text.split_once('=').ok_or("expected COMPONENT.PARAMETER=VALUE")?;
        let (component, param) = place.split_once('.').ok_or("expected COMPONENT.PARAMETER=VALUE")?;
        Ok(Override { component: component.to_owned(), param: param.to_owned(), value: value.to_owned() })
    }
}

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
        apply(change, &mut waveform, registry)?;
    }
    Ok(Graph::check(&waveform, registry).map_err(Misfit::from)?)
}

fn read(path: &Path) -> Result<Waveform> {
    let name = path.display().to_string();
    let unreadable = |error: std::io::Error| {
        let fix = match error.kind() {
            std::io::ErrorKind::NotFound => "a waveform file: docs/reference/waveform.md says what stands in one",
            _ => "a text file that can be read",
        };
        Problem::new(format!("can't read the waveform {name}")).why(error).fix(fix)
    };
    let text = text_of(path, takt_graph::limits::FILE_BYTES).map_err(unreadable)?;
    Ok(Waveform::parse(&name, &text).map_err(Misfit::from)?)
}

/// The text of a file, and one byte more than `most` of a longer one, so that whoever reads it sees that it is too long.
/// Errors: it can't be read, or is no text.
pub fn text_of(path: &Path, most: usize) -> std::io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(path)?.take(most as u64 + 1).read_to_string(&mut text)?;
    Ok(text)
}

fn apply(change: &Override, waveform: &mut Waveform, registry: &Registry) -> Result<()> {
    let Override { component, param, value } = change;
    let what = format!("can't set {component}.{param}");
    let names: Vec<String> = waveform.components.iter().map(|spec| spec.name.clone()).collect();
    let Some(spec) = waveform.components.iter_mut().find(|spec| spec.name == *component) else {
        let near = nearest(component, names.iter().map(String::as_str));
        let fix = near.map_or_else(
            || format!("its components are {}", names.join(", ")),
            |n| format!("--set {n}.{param}={value}"),
        );
        return Err(Problem::new(what).why(format!("the waveform has no component `{component}`")).fix(fix).into());
    };
    // The checks report an unknown type.
    let Some(kind) = registry.kind(&spec.kind) else { return Ok(()) };
    let Some(declared) = kind.find(param) else {
        let near = nearest(param, kind.params.iter().map(|p| p.name.as_str()));
        let fix = near.map_or_else(
            || format!("it takes {}", kind.params.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(", ")),
            |n| format!("--set {component}.{n}={value}"),
        );
        return Err(Problem::new(what).why(format!("`{}` has no parameter `{param}`", kind.name)).fix(fix).into());
    };
    let value = declared.parse(value).map_err(|error| Problem::caused(what, error, ParamError::fix))?;
    // In the place of what the file says, under whichever of its names.
    let said = declared.names().find(|name| spec.params.get(name).is_some()).unwrap_or(param);
    spec.params.set(said, value);
    Ok(())
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
