//! Why an end does not run.

use takt_radio::RadioError;

/// A fault of the settings, of the radio, or of the interface.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AirError {
    /// A setting is beyond the standard's.
    #[error(transparent)]
    Settings(#[from] takt_lte::Error),
    /// A setting of the link layer is out of range.
    #[error(transparent)]
    Link(#[from] takt_lte_link::ConfigError),
    /// The radio is gone, or can't do that.
    #[error(transparent)]
    Radio(#[from] RadioError),
    /// The interface of this host is gone.
    #[error("the interface {name} is gone")]
    Interface {
        /// Its name.
        name: String,
        /// As the kernel says it.
        source: std::io::Error,
    },
}
