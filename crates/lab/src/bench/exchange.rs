//! What a point of the TD-SCDMA exchange needs beside a site: the downlink that the radio plays.

use takt_agent::Failure;
use takt_host::leftovers::Run;
use takt_load::deadline::{SEED, write_downlink};
use takt_testbed::environment::{EnvironmentError, Scratch};

/// A file for the radio to play. Removed when dropped.
#[derive(Debug)]
pub(super) struct Downlink {
    pub(super) codes: usize,
    /// The radio's source.
    pub(super) source: String,
    /// The folder of the file.
    _scratch: Scratch,
}

impl Downlink {
    pub(super) fn write(run: &Run, codes: usize) -> Result<Downlink, Failure> {
        let scratch = Scratch::create(run, &format!("downlink-{codes}")).map_err(|error| Failure::of(&error, None))?;
        let file = scratch.path().join("downlink.sc16");
        write_downlink(&file, codes, SEED).map_err(|source| {
            Failure::of(&EnvironmentError::File { doing: "writing", path: file.clone(), source }, None)
        })?;
        let source = format!("file:path={},format=sc16,loop,raw", file.display());
        Ok(Downlink { codes, source, _scratch: scratch })
    }
}
