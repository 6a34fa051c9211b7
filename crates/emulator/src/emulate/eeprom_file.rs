//! EEPROM contents that outlive a run.

use std::fs;
use std::io;
use std::path::Path;

use super::EmulateError;
use crate::n200::EepromImages;

/// What an earlier run left; `None` if there was none.
pub(super) fn read_eeprom(path: &Path) -> Result<Option<EepromImages>, EmulateError> {
    match fs::read(path) {
        Ok(bytes) => match EepromImages::from_bytes(&bytes) {
            Some(images) => Ok(Some(images)),
            None => Err(EmulateError::ForeignEeprom {
                path: path.to_owned(),
                bytes: bytes.len(),
                want: EepromImages::BYTES,
            }),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(EmulateError::Eeprom { path: path.to_owned(), source }),
    }
}
