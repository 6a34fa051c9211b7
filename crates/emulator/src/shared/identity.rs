//! What a radio can't be called.

use takt_wire::WireError;

/// What an option holds that a radio can't have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} `{got}`")]
pub struct OptionsError {
    pub what: &'static str,
    pub got: String,
    #[source]
    pub source: WireError,
}
