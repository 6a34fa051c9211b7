//! A recording in an archive (`.sigmf`, a tar file): read where it lies in the file, never unpacked.
//!
//! The archive may be anyone's. No name in it is ever opened. A member counts if it is a regular file, at the top or in one folder;
//! links, devices and other paths are passed over. Each length is held against the archive's own. Headers and long names are
//! read up to a limit, so that neither memory nor time grows with what an archive claims.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::files::{LIMIT_BYTES, too_long};
use super::samples::Dataset;
use crate::file::{FileError, open_file};

/// Headers are read up to here: some 8000 members, or fewer with long names.
const HEADERS_BYTES: u64 = 4 << 20;

/// An archive of one recording.
pub(super) struct Archive {
    path: PathBuf,
    file: File,
    members: Vec<Member>,
    /// The path of its files without their extension: `NAME/NAME`, or `NAME`.
    stem: String,
}

/// A regular file in an archive.
struct Member {
    name: String,
    /// Its first byte in the archive.
    at: u64,
    bytes: u64,
}

impl Archive {
    /// Opens an archive.
    ///
    /// # Errors
    /// If it cannot be read, is no tar file or is cut off, or holds another number of recordings than one.
    pub(super) fn open(path: &Path) -> Result<Archive, FileError> {
        let (file, length) = open_file(path, EXPECTED, FIX)?;
        let members = members(&file, length).map_err(|error| {
            let found = format!("damaged or of another kind ({error})");
            FileError::unexpected(path, "it", &found, EXPECTED, FIX)
        })?;
        let mut stems = members.iter().filter_map(|member| stem(&member.name));
        let stem = match (stems.next(), stems.count()) {
            (Some(stem), 0) => stem.to_owned(),
            (None, _) => return Err(FileError::unexpected(path, "it", "without NAME/NAME.sigmf-meta", EXPECTED, FIX)),
            (Some(_), others) => {
                let found = format!("an archive of {} recordings", others + 1);
                let fix = format!("unpack it and name one of them: tar -xf {}", path.display());
                return Err(FileError::unexpected(path, "it", &found, "an archive of one", &fix));
            }
        };
        Ok(Archive { path: path.to_owned(), file, members, stem })
    }

    /// The name of its metadata for errors, and their text.
    ///
    /// # Errors
    /// If they are too long, or the system refuses.
    pub(super) fn metadata(&self) -> Result<(PathBuf, Vec<u8>), FileError> {
        let name = format!("{}.sigmf-meta", self.stem);
        let path = self.path.join(&name);
        // It was found by this name.
        let (at, bytes) = self.only(&name)?.unwrap_or((0, 0));
        if bytes > LIMIT_BYTES {
            return Err(too_long(&path));
        }
        let mut text = vec![0; bytes as usize];
        self.file.read_exact_at(&mut text, at).map_err(FileError::io("reading", &path))?;
        Ok((path, text))
    }

    /// The data: those of that name beside the metadata, or the usual ones. `None`: they are not there.
    ///
    /// # Errors
    /// If two members have the name.
    pub(super) fn dataset(self, named: Option<&str>) -> Result<Option<Dataset>, FileError> {
        let name = match (named, self.stem.split_once('/')) {
            (Some(named), Some((folder, _))) => format!("{folder}/{named}"),
            (Some(named), None) => named.to_owned(),
            (None, _) => format!("{}.sigmf-data", self.stem),
        };
        let Some((base, bytes)) = self.only(&name)? else { return Ok(None) };
        Ok(Some(Dataset { path: self.path.join(name), file: self.file, base, bytes }))
    }

    /// Place and length of the one member of a name.
    fn only(&self, name: &str) -> Result<Option<(u64, u64)>, FileError> {
        let mut found = self.members.iter().filter(|member| member.name == name);
        match (found.next(), found.next()) {
            (Some(_), Some(_)) => {
                let fix = "make the archive again, with each file once";
                Err(FileError::unexpected(&self.path, name, "there twice", "one file", fix))
            }
            (member, _) => Ok(member.map(|member| (member.at, member.bytes))),
        }
    }
}

/// The regular files in an archive of `length` bytes.
fn members(file: &File, length: u64) -> io::Result<Vec<Member>> {
    let mut archive = tar::Archive::new(Headers { file, left: HEADERS_BYTES });
    let mut members = Vec::new();
    for entry in archive.entries_with_seek()? {
        let entry = entry?;
        let path = entry.path_bytes();
        let Some(name) = plain(&path).filter(|_| entry.header().entry_type().is_file()) else { continue };
        let (at, bytes) = (entry.raw_file_position(), entry.size());
        if at.checked_add(bytes).is_none_or(|end| end > length) {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, format!("{name} is cut off")));
        }
        members.push(Member { name: name.to_owned(), at, bytes });
    }
    Ok(members)
}

/// `NAME` or `FOLDER/NAME`, without a leading `./`; `None`: a path of another kind.
fn plain(path: &[u8]) -> Option<&str> {
    let path = std::str::from_utf8(path).ok()?;
    let path = path.strip_prefix("./").unwrap_or(path);
    let mut parts = path.split('/');
    let is_plain = parts.clone().count() <= 2 && parts.all(|part| !matches!(part, "" | "." | ".."));
    is_plain.then_some(path)
}

/// `NAME/NAME` of `NAME/NAME.sigmf-meta`, `NAME` of `NAME.sigmf-meta`; `None`: no metadata of a recording.
fn stem(member: &str) -> Option<&str> {
    let stem = member.strip_suffix(".sigmf-meta").filter(|stem| !stem.is_empty())?;
    let is_own_folder = stem.split_once('/').is_none_or(|(folder, name)| folder == name);
    is_own_folder.then_some(stem)
}

/// An archive of which only headers are read. `tar` takes a long name into memory whole, however long it claims to be.
struct Headers<'f> {
    file: &'f File,
    left: u64,
}

impl Read for Headers<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(out.len());
        if most == 0 && !out.is_empty() {
            return Err(io::Error::other("its headers exceed 4 MiB"));
        }
        let mut file = self.file;
        let read = file.read(&mut out[..most])?;
        self.left -= read as u64;
        Ok(read)
    }
}

impl Seek for Headers<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let mut file = self.file;
        file.seek(to)
    }
}

const EXPECTED: &str = "a SigMF archive";
const FIX: &str = "name a tar file that holds NAME/NAME.sigmf-meta and its data file; unpack a compressed one first";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_told_apart_by_their_paths() {
        for (path, name) in [("x/x.sigmf-meta", Some("x/x.sigmf-meta")), ("./x.sigmf-data", Some("x.sigmf-data"))] {
            assert_eq!(plain(path.as_bytes()), name);
        }
        for path in ["/etc/passwd", "../x", "x/../y", "a/b/c", "x//y", "x/", "", "./", "."] {
            assert_eq!(plain(path.as_bytes()), None, "{path}");
        }
        assert_eq!(plain(b"x\xFF"), None);
        assert_eq!(stem("x/x.sigmf-meta"), Some("x/x"));
        assert_eq!(stem("x.sigmf-meta"), Some("x"));
        for other in ["x/y.sigmf-meta", ".sigmf-meta", "x.sigmf-data"] {
            assert_eq!(stem(other), None, "{other}");
        }
    }
}
