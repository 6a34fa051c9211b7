//! Why a figure could not be drawn as PNG.

/// Why a figure could not be drawn as PNG.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PngError {
    /// This build draws none.
    #[error("this takt was built without PNG")]
    NotBuilt,
    /// All text would be missing.
    #[error("this host has no font for the text of a figure")]
    NoFont,
    /// The figure itself.
    #[error("takt can't draw the figure: {why}")]
    Drawn {
        /// In resvg's words.
        why: String,
    },
}
