//! [`Override`]: a parameter of a waveform, changed after it was written.

use std::str::FromStr;

use takt_base::nearest;

use crate::kind::{Catalogue, ParamError};
use crate::waveform::Waveform;

/// A parameter and its other value: `component.parameter=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    /// Component that has the parameter.
    pub component: String,
    /// Its name, or another that it is called by.
    pub param: String,
    /// The value, as a person writes it.
    pub value: String,
}

/// Why a parameter was not changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names say it")]
pub enum OverrideError {
    #[error("the waveform has no component `{component}`")]
    Component { component: String, fix: String },
    /// It has no such parameter.
    #[error("`{kind}` has no parameter `{param}`")]
    Param {
        /// The type of the component.
        kind: String,
        param: String,
        fix: String,
    },
    /// The value does not suit.
    #[error(transparent)]
    Value(#[from] ParamError),
}

impl OverrideError {
    /// The fix.
    #[must_use]
    pub fn fix(&self) -> String {
        match self {
            OverrideError::Component { fix, .. } | OverrideError::Param { fix, .. } => fix.clone(),
            OverrideError::Value(error) => error.fix(),
        }
    }
}

impl FromStr for Override {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Override, &'static str> {
        let split = || {
            let (place, value) = text.split_once('=')?;
            let (component, param) = place.split_once('.')?;
            Some(Override { component: component.to_owned(), param: param.to_owned(), value: value.to_owned() })
        };
        split().ok_or("expected COMPONENT.VARIABLE=VALUE")
    }
}

impl Override {
    /// Changes the waveform.
    ///
    /// # Errors
    /// It has no such component or parameter, or the value does not suit.
    pub fn apply(&self, waveform: &mut Waveform, catalogue: &impl Catalogue) -> Result<(), OverrideError> {
        let Override { component, param, value } = self;
        let names: Vec<&str> = waveform.components.iter().map(|spec| spec.name.as_str()).collect();
        let Some(index) = names.iter().position(|name| name == component) else {
            let near = nearest(component, names.iter().copied());
            let fix = near.map_or_else(
                || format!("use one of its components: {}", names.join(", ")),
                |near| format!("give --set {near}.{param}={value}"),
            );
            return Err(OverrideError::Component { component: component.clone(), fix });
        };
        let spec = &mut waveform.components[index];
        // The checks report an unknown type.
        let Some(kind) = catalogue.kind(&spec.kind) else { return Ok(()) };
        let Some(declared) = kind.find(param) else {
            let names = || kind.params.iter().map(|param| param.name.as_str());
            let fix = nearest(param, names()).map_or_else(
                || format!("use one of: {}", names().collect::<Vec<_>>().join(", ")),
                |near| format!("give --set {component}.{near}={value}"),
            );
            return Err(OverrideError::Param { kind: kind.name.clone(), param: param.clone(), fix });
        };
        let value = declared.parse(value)?;
        // In the place of what the file says, under whichever of its names.
        let written = declared.names().find(|name| spec.params.get(name).is_some()).unwrap_or(param);
        spec.params.set(written, value);
        Ok(())
    }
}
