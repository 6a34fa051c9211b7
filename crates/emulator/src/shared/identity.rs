//! Names that a radio can't have.

use takt_wire::WireError;

/// An option's value that a radio can't have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} can't be `{got}`")]
pub struct OptionsError {
    pub what: &'static str,
    pub got: String,
    #[source]
    pub source: WireError,
}
