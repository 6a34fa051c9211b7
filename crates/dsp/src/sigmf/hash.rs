//! `core:sha512`: whether the data are those that the metadata were written for.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use serde::Serialize;
use sha2::{Digest, Sha512};

use crate::file::FileError;

/// Data up to this size are read whole before they are used.
pub(super) const CHECKED_BYTES: u64 = 1 << 30;

/// Data up to this size are read back once they are written.
pub(super) const SEALED_BYTES: u64 = 256 << 20;

/// The answer of a recording's `core:sha512` about its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Checksum {
    /// The recording has none.
    Absent,
    /// They are the data that it was made of.
    Matches,
    /// They have more than 1 GiB, and were not read for this.
    Unchecked,
}

/// The SHA-512 of `bytes` bytes of a file from `base` on, in hexadecimal. `path` is only named in errors.
///
/// # Errors
/// If the system refuses, or the file ends earlier.
pub(super) fn sha512(file: &File, base: u64, bytes: u64, path: &Path) -> Result<String, FileError> {
    let mut hash = Sha512::new();
    let mut block = vec![0; 1 << 16];
    let mut done = 0;
    while done < bytes {
        let part = (bytes - done).min(block.len() as u64) as usize;
        file.read_exact_at(&mut block[..part], base + done).map_err(FileError::io("reading", path))?;
        hash.update(&block[..part]);
        done += part as u64;
    }
    Ok(format!("{:x}", hash.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // the example of FIPS 180-4 for a message of three bytes
    fn it_is_the_hash_of_the_standard() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        std::fs::write(&path, "-abc-").unwrap();
        let hash = sha512(&File::open(&path).unwrap(), 1, 3, &path).unwrap();
        let expected = "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a\
                        2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f";
        assert_eq!(hash, expected);
        assert!(sha512(&File::open(&path).unwrap(), 1, 30, &path).is_err(), "it ends earlier");
    }
}
