//! Component types by name: those linked into this program, and those added while it runs.
//!
//! A waveform names its components, so that one program runs waveforms it was not built for.

use std::collections::BTreeMap;
use std::sync::Arc;

use takt_graph::{Catalogue, Kind, ParamError, Params, Shape};

use super::{Component, Make, MakeError};

/// A component type as `#[component]` or `inventory::submit!` registers it.
#[derive(Clone, Copy)]
pub struct Registration {
    /// Its name, ports and settings.
    pub kind: fn() -> Kind,
    /// Its ports, by its parameters.
    pub shape: fn(&Params) -> Result<Shape, ParamError>,
    /// Makes one.
    pub make: Make,
}

inventory::collect!(Registration);

/// All component types there are. One is a [`Catalogue`] for the checks of `takt-graph`.
#[derive(Clone)]
pub struct Registry {
    by_name: BTreeMap<String, (Kind, Origin)>,
}

/// Origin of a component type.
#[derive(Clone)]
enum Origin {
    /// With equipment it is made in another way.
    Program(Registration, Option<Equipment>),
    /// Made for one run by whoever started it.
    Given(Equipment),
}

/// Makes components that need what only exists while this program runs: a radio.
pub type Equipment = Arc<dyn Fn(&Params) -> Result<Box<dyn Component>, MakeError> + Send + Sync>;

/// Two component types have one name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("two component types are called `{name}`")]
pub struct NameTaken {
    /// The name of both.
    pub name: String,
}

impl Registry {
    /// All types that are linked into this program; refused where two of them have one name.
    pub fn of_program() -> Result<Registry, NameTaken> {
        let mut registry = Registry::empty();
        for registration in inventory::iter::<Registration> {
            registry.add(*registration)?;
        }
        Ok(registry)
    }

    /// None.
    #[must_use]
    pub fn empty() -> Registry {
        Registry { by_name: BTreeMap::new() }
    }

    /// Adds a type; refused where there is one of this name.
    pub fn add(&mut self, registration: Registration) -> Result<(), NameTaken> {
        let kind = (registration.kind)();
        if self.by_name.contains_key(&kind.name) {
            return Err(NameTaken { name: kind.name });
        }
        self.by_name.insert(kind.name.clone(), (kind, Origin::Program(registration, None)));
        Ok(())
    }

    /// Makes a component of a type with complete, checked parameters.
    ///
    /// # Errors
    /// The type is not there, or refuses them.
    pub fn make(&self, kind: &str, params: &Params) -> Result<Box<dyn Component>, MakeError> {
        let (_, origin) = self.by_name.get(kind).ok_or_else(|| MakeError {
            what: format!("there is no component type `{kind}`"),
            fix: "check the waveform against the registry it is made from".to_owned(),
        })?;
        match origin {
            Origin::Program(_, Some(make)) => make(params),
            Origin::Program(registration, None) => (registration.make)(params),
            Origin::Given(make) => make(params),
        }
    }

    /// From now on components of a type of this program are made by `make`; its name, parameters and ports stay.
    /// `false`: there is no such type.
    pub fn equip(&mut self, kind: &str, make: Equipment) -> bool {
        let Some((_, Origin::Program(_, equipment))) = self.by_name.get_mut(kind) else { return false };
        *equipment = Some(make);
        true
    }

    /// From now on components of this type are made by `make`. No waveform file can name it: a graph that has such a component
    /// was made by the program, its ports too.
    pub fn give(&mut self, kind: Kind, make: Equipment) {
        self.by_name.insert(kind.name.clone(), (kind, Origin::Given(make)));
    }
}

impl Catalogue for Registry {
    fn kinds(&self) -> Vec<&Kind> {
        self.by_name.values().map(|(kind, _)| kind).collect()
    }

    fn kind(&self, name: &str) -> Option<&Kind> {
        self.by_name.get(name).map(|(kind, _)| kind)
    }

    fn shape(&self, kind: &Kind, params: &Params) -> Result<Shape, ParamError> {
        let Some((_, origin)) = self.by_name.get(&kind.name) else {
            let what = format!("there is no component type `{}`", kind.name);
            return Err(ParamError::Together { what, fix: "see `takt component list` for all types".to_owned() });
        };
        match origin {
            Origin::Program(registration, _) => (registration.shape)(params),
            Origin::Given(_) => Err(ParamError::Together {
                what: format!("`{}` stands in no waveform file", kind.name),
                fix: "omit it: takt puts it where it is needed".to_owned(),
            }),
        }
    }
}
