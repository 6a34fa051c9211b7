//! The files of a recording, however it is named.

use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::Global;
use super::archive::Archive;
use super::samples::Dataset;
use crate::file::{FileError, open_file};

/// Metadata are kilobytes, or megabytes where a recording has very many captures; what is larger than this is something else.
pub(super) const LIMIT_BYTES: u64 = 64 << 20;

/// The common name of a recording's files: without the extension of either, or of an archive.
#[must_use]
pub fn base_name(path: &Path) -> PathBuf {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("sigmf-meta" | "sigmf-data" | "sigmf") => path.with_extension(""),
        _ => path.to_owned(),
    }
}

/// The two files of a recording, however it is named: by either of them, by an archive, or without an extension.
pub(super) fn pair(path: &Path) -> (PathBuf, PathBuf) {
    let base = base_name(path);
    (with(&base, ".sigmf-meta"), with(&base, ".sigmf-data"))
}

/// Appended, not replaced: `run.1` becomes `run.1.sigmf-meta`.
fn with(base: &Path, extension: &str) -> PathBuf {
    let mut name = OsString::from(base);
    name.push(extension);
    PathBuf::from(name)
}

/// A recording that was found: the text of its metadata, and the way to its data.
pub(super) struct Found {
    /// For errors: in an archive, the archive's path and the member's name.
    pub(super) meta: PathBuf,
    pub(super) text: Vec<u8>,
    archive: Option<Archive>,
}

impl Found {
    /// Finds a recording: two files, or else an archive of that name.
    ///
    /// # Errors
    /// If there is neither, or one that cannot be read.
    pub(super) fn at(path: &Path) -> Result<Found, FileError> {
        refuse_compressed(path)?;
        let (meta, _) = pair(path);
        match archive_of(path, &meta) {
            Some(path) => {
                let archive = Archive::open(&path)?;
                let (meta, text) = archive.metadata()?;
                Ok(Found { meta, text, archive: Some(archive) })
            }
            None => Ok(Found { text: read_bounded(&meta)?, meta, archive: None }),
        }
    }

    /// The data that these metadata are about.
    ///
    /// # Errors
    /// If they are not there, or not an ordinary file.
    pub(super) fn dataset(self, global: &Global) -> Result<Dataset, FileError> {
        let named = global.dataset.as_deref();
        match self.archive {
            Some(archive) => archive.dataset(named)?.ok_or_else(|| missing(&self.meta, global, true)),
            None => in_folder(&self.meta, named)?.ok_or_else(|| missing(&self.meta, global, false)),
        }
    }
}

/// The archive that a path names, if it is none of two files.
fn archive_of(path: &Path, meta: &Path) -> Option<PathBuf> {
    let archive = with(&base_name(path), ".sigmf");
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("sigmf-meta" | "sigmf-data") => None,
        // The name that is not there is then that of the archive.
        Some("sigmf") => (archive.exists() || !meta.exists()).then_some(archive),
        _ => (archive.is_file() && !meta.exists()).then_some(archive),
    }
}

/// Other programs may compress an archive. Its samples then have no place that could be read at once.
fn refuse_compressed(path: &Path) -> Result<(), FileError> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let unpacks = [(".sigmf.gz", "gunzip"), (".sigmf.xz", "unxz"), (".sigmf.zip", "unzip")];
    match unpacks.into_iter().find(|(extension, _)| name.ends_with(extension)) {
        Some((_, program)) if path.is_file() => {
            let fix = format!("unpack it first: {program} {}", path.display());
            Err(FileError::unexpected(path, "it", "compressed", "an archive that can be read where it lies", &fix))
        }
        _ => Ok(()),
    }
}

/// The data of two files; `None`: they are not there, though a field of the metadata names them or says so.
fn in_folder(meta: &Path, named: Option<&str>) -> Result<Option<Dataset>, FileError> {
    if let Some(name) = named {
        return beside(meta, name);
    }
    let (_, path) = pair(meta);
    let (file, bytes) = match open_file(&path, "a file of samples", "name the file itself") {
        Err(FileError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    Ok(Some(Dataset { path, file, base: 0, bytes }))
}

/// A file that the metadata name, which may be anyone's: a regular one of the same folder. A link is not followed, for anybody.
fn beside(meta: &Path, name: &str) -> Result<Option<Dataset>, FileError> {
    let path = meta.with_file_name(name);
    let about = match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        about => about.map_err(FileError::io("opening", &path))?,
    };
    let foreign = || {
        let fix = "copy the data file into the folder, or rename it to NAME.sigmf-data and take the field away";
        let found = format!("\"{name}\", a link, folder or device");
        FileError::unexpected(meta, DATASET, &found, "a file beside the metadata", fix)
    };
    if !about.is_file() {
        return Err(foreign());
    }
    // Somebody who may write the folder may have put something else in its place since.
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
    let opened = File::options().read(true).custom_flags(flags.bits() as i32).open(&path);
    let file = opened.map_err(FileError::io("opening", &path))?;
    let about = file.metadata().map_err(FileError::io("examining", &path))?;
    if !about.is_file() {
        return Err(foreign());
    }
    Ok(Some(Dataset { path, file, base: 0, bytes: about.len() }))
}

/// One cause each: metadata that are distributed alone, a name that is none, a file that is gone.
fn missing(meta: &Path, global: &Global, in_archive: bool) -> FileError {
    match &global.dataset {
        Some(name) => {
            let found = format!("\"{name}\", which is missing");
            let fix = format!("put {name} beside the metadata, or correct the name");
            FileError::unexpected(meta, DATASET, &found, "a file beside the metadata", &fix)
        }
        None if global.metadata_only => {
            let found = "a description alone (core:metadata_only)";
            let fix = "ask whoever published it for the data file, and put that beside it";
            FileError::unexpected(meta, "it", found, "a recording with samples", fix)
        }
        None if in_archive => {
            let fix = "make the archive again, with the data file in it";
            FileError::unexpected(meta, "its data file", "missing", "a regular file of the archive", fix)
        }
        None => {
            let (_, data) = pair(meta);
            FileError::Io { action: "opening", path: data, source: ErrorKind::NotFound.into() }
        }
    }
}

fn read_bounded(path: &Path) -> Result<Vec<u8>, FileError> {
    let (expected, fix) = ("a metadata file", "name the .sigmf-meta file of a recording");
    let (file, length) = open_file(path, expected, fix)?;
    // A file that is being replaced may be of another length.
    let mut text = Vec::with_capacity(usize::try_from(length.min(LIMIT_BYTES) + 1).unwrap_or(0));
    file.take(LIMIT_BYTES + 1).read_to_end(&mut text).map_err(FileError::io("reading", path))?;
    if text.len() as u64 > LIMIT_BYTES { Err(too_long(path)) } else { Ok(text) }
}

/// Metadata that nobody reads.
pub(super) fn too_long(path: &Path) -> FileError {
    let fix = "name the .sigmf-meta file of a recording";
    FileError::unexpected(path, "its length", "more than 64 MiB", "that of a metadata file", fix)
}

const DATASET: &str = "/global/core:dataset";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_found_by_any_of_its_names() {
        for name in ["/tmp/run.1", "/tmp/run.1.sigmf-meta", "/tmp/run.1.sigmf-data", "/tmp/run.1.sigmf"] {
            let (meta, data) = pair(Path::new(name));
            assert_eq!(meta, Path::new("/tmp/run.1.sigmf-meta"));
            assert_eq!(data, Path::new("/tmp/run.1.sigmf-data"));
        }
    }

    #[test]
    fn an_archive_is_taken_where_it_is_named_or_where_nothing_else_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let found = |name: &str| archive_of(&at(name), &pair(&at(name)).0);
        assert_eq!(found("x"), None, "neither is there");
        assert_eq!(found("x.sigmf"), Some(at("x.sigmf")), "the name that is missing");
        std::fs::write(at("x.sigmf"), "").unwrap();
        assert_eq!(found("x"), Some(at("x.sigmf")));
        std::fs::write(at("x.sigmf-meta"), "").unwrap();
        assert_eq!((found("x"), found("x.sigmf-data")), (None, None), "two files are there");
        assert_eq!(found("x.sigmf"), Some(at("x.sigmf")), "it is named");
        std::fs::remove_file(at("x.sigmf")).unwrap();
        assert_eq!(found("x.sigmf"), None, "two files of that name are there");
    }
}
