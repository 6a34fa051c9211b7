//! Files that emulated radios play, as workloads ask for them.

use takt_agent::Failure;
use takt_host::leftovers::Run;
use takt_load::PlayedFile;
use takt_testbed::environment::{EnvironmentError, Scratch};

/// All files of a run. Removed when dropped.
#[derive(Debug, Default)]
pub(super) struct SourceFiles(Vec<SourceFile>);

#[derive(Debug)]
struct SourceFile {
    name: String,
    /// The radio's source.
    source: String,
    /// The folder of the file.
    _scratch: Scratch,
}

impl SourceFiles {
    /// The source that plays a file, which is written when it is first requested.
    pub(super) fn source(&mut self, wanted: &PlayedFile, run: &Run) -> Result<String, Failure> {
        if let Some(there) = self.0.iter().find(|there| there.name == wanted.name) {
            return Ok(there.source.clone());
        }
        let made = SourceFile::write(wanted, run)?;
        let source = made.source.clone();
        self.0.push(made);
        Ok(source)
    }
}

impl SourceFile {
    fn write(wanted: &PlayedFile, run: &Run) -> Result<SourceFile, Failure> {
        let scratch = Scratch::create(run, &wanted.name).map_err(|error| Failure::of(&error, None))?;
        let file = scratch.path().join("samples.sc16");
        (wanted.write)(&file).map_err(|source| {
            Failure::of(&EnvironmentError::File { doing: "writing", path: file.clone(), source }, None)
        })?;
        let source = format!("file:path={},format=sc16,loop,raw", file.display());
        Ok(SourceFile { name: wanted.name.clone(), source, _scratch: scratch })
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;
    use std::path::Path;
    use std::rc::Rc;

    use takt_host::leftovers::Registry;

    use super::*;

    #[test]
    fn a_file_is_written_once_for_all_points_that_play_it() {
        let run = Registry::system().begin("test").unwrap();
        let written = Rc::new(Cell::new(0));
        let file = |name: &str| {
            let written = Rc::clone(&written);
            let write = Box::new(move |file: &Path| {
                written.set(written.get() + 1);
                fs::write(file, [0_u8; 4])
            });
            PlayedFile { name: name.to_owned(), write }
        };
        let mut files = SourceFiles::default();
        let names = ["played-a", "played-a", "played-b"];
        let [one, again, other] = names.map(|name| files.source(&file(name), &run).unwrap());
        assert_eq!((one == again, one == other, written.get()), (true, false, 2));
    }
}
