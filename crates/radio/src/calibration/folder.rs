//! The folders of files of corrections. They are UHD's.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use takt_base::replace_file;

use super::csv::{from_csv, to_csv};
use super::error::CalibrationFileError;
use super::flat::{from_flatbuffer, to_flatbuffer};
use super::table::{CalibrationKind, CalibrationTable};

/// UHD reads no larger file.
const MOST_BYTES: u64 = 10 << 20;
/// Longest serial number that names a file; an EEPROM's has 10.
const MOST_SERIAL_BYTES: usize = 64;

/// The two folders in which UHD keeps files of corrections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalibrationFolder {
    /// The folder of UHD 4.0 and later: `rx_iq_SERIAL.cal`.
    flat: PathBuf,
    /// The folder of UHD before that: `rx_iq_cal_v0.2_SERIAL.csv`; `None`: there is no home.
    csv: Option<PathBuf>,
}

/// A table and the file it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedCalibration {
    /// The file.
    pub path: PathBuf,
    /// Its content.
    pub table: CalibrationTable,
}

impl CalibrationFolder {
    /// The folders of this user's UHD: `UHD_CAL_DATA_PATH`, else `XDG_DATA_HOME/uhd/cal`, else `~/.local/share/uhd/cal`; and for the
    /// older files `UHD_CONFIG_DIR/.uhd/cal`, else `~/.uhd/cal`.
    ///
    /// # Errors
    /// None of these variables is set.
    pub fn of_user() -> Result<CalibrationFolder, CalibrationFileError> {
        CalibrationFolder::of(|name| std::env::var_os(name))
    }

    /// The same with other variables.
    fn of(variable: impl Fn(&str) -> Option<OsString>) -> Result<CalibrationFolder, CalibrationFileError> {
        let set = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = set("HOME");
        let data = || set("XDG_DATA_HOME").or_else(|| home.as_ref().map(|home| home.join(".local/share")));
        let flat = set("UHD_CAL_DATA_PATH").or_else(|| data().map(|data| data.join("uhd/cal")));
        let csv = set("UHD_CONFIG_DIR").or_else(|| home.clone()).map(|home| home.join(".uhd/cal"));
        Ok(CalibrationFolder { flat: flat.ok_or(CalibrationFileError::NoFolder)?, csv })
    }

    /// Both kinds of file in one folder.
    #[must_use]
    pub fn at(folder: &Path) -> CalibrationFolder {
        CalibrationFolder { flat: folder.to_owned(), csv: Some(folder.to_owned()) }
    }

    /// The file of UHD 4 for a board.
    ///
    /// # Errors
    /// The serial number can't be part of a file's name.
    pub fn path(&self, kind: CalibrationKind, serial: &str) -> Result<PathBuf, CalibrationFileError> {
        Ok(self.flat.join(format!("{}_{}.cal", kind.key(), checked_serial(kind, serial)?)))
    }

    fn csv_path(&self, kind: CalibrationKind, serial: &str) -> Result<Option<PathBuf>, CalibrationFileError> {
        let name = format!("{}_cal_v0.2_{}.csv", kind.key(), checked_serial(kind, serial)?);
        Ok(self.csv.as_ref().map(|folder| folder.join(name)))
    }

    /// The table of a board; `None`: there is none. The file of UHD 4 comes first, as in UHD.
    ///
    /// # Errors
    /// The serial number names no file; a file is there, but can't be read or is none of UHD's.
    pub fn load(&self, kind: CalibrationKind, serial: &str) -> Result<Option<LoadedCalibration>, CalibrationFileError> {
        let path = self.path(kind, serial)?;
        if let Some(bytes) = read(&path)? {
            let table = from_flatbuffer(&bytes).map_err(|error| format_error(&path, error))?;
            return Ok(Some(LoadedCalibration { path, table }));
        }
        let Some(path) = self.csv_path(kind, serial)? else { return Ok(None) };
        let Some(bytes) = read(&path)? else { return Ok(None) };
        let table = from_csv(&String::from_utf8_lossy(&bytes)).map_err(|error| format_error(&path, error))?;
        Ok(Some(LoadedCalibration { path, table }))
    }

    /// Writes a table for UHD 4, and with `csv` for UHD before that, too. A table that was there is kept beside it, its time behind
    /// its name, as UHD does. Returns the files.
    ///
    /// # Errors
    /// The serial number names no file, or the system refuses. Then the old table stands.
    pub fn save(
        &self,
        kind: CalibrationKind,
        table: &CalibrationTable,
        csv: bool,
    ) -> Result<Vec<PathBuf>, CalibrationFileError> {
        let mut files = vec![(self.path(kind, &table.serial)?, to_flatbuffer(table))];
        if let Some(path) = self.csv_path(kind, &table.serial)?.filter(|_| csv) {
            files.push((path, to_csv(table).into_bytes()));
        }
        for (path, bytes) in &files {
            let io = |doing| move |source| CalibrationFileError::Io { doing, path: path.clone(), source };
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder).map_err(io("make the folder of"))?;
            }
            keep_old(path, table.measured_s).map_err(io("keep the old"))?;
            replace_file(path, bytes).map_err(io("write"))?;
        }
        Ok(files.into_iter().map(|(path, _)| path).collect())
    }
}

/// Gives a file that is there a second name with this time.
fn keep_old(path: &Path, now_s: u64) -> io::Result<()> {
    let mut kept = path.as_os_str().to_owned();
    kept.push(format!(".{now_s}"));
    match std::fs::hard_link(path, kept) {
        Err(error) if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists) => Err(error),
        _ => Ok(()),
    }
}

fn format_error(path: &Path, error: super::CalibrationFormatError) -> CalibrationFileError {
    CalibrationFileError::Format { path: path.to_owned(), error }
}

/// A file as a whole; `None`: there is none.
fn read(path: &Path) -> Result<Option<Vec<u8>>, CalibrationFileError> {
    let io = |source| CalibrationFileError::Io { doing: "read", path: path.to_owned(), source };
    // A FIFO or a device would block, or never end. UHD takes regular files only.
    match std::fs::metadata(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(io(error)),
        Ok(about) if !about.is_file() => return Ok(None),
        Ok(_) => {}
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes)).map_err(io)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(CalibrationFileError::Size { path: path.to_owned(), most_bytes: MOST_BYTES });
    }
    Ok(Some(bytes))
}

/// An EEPROM is hostile: its serial number must not lead to another folder.
fn checked_serial(kind: CalibrationKind, serial: &str) -> Result<&str, CalibrationFileError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !serial.is_empty() && serial.len() <= MOST_SERIAL_BYTES && serial.chars().all(plain) {
        return Ok(serial);
    }
    let board = if kind == CalibrationKind::RxIq { "receive" } else { "transmit" };
    let found = if serial.is_empty() { "nothing".to_owned() } else { format!("`{}`", serial.escape_debug()) };
    Err(CalibrationFileError::Serial { board, found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folders_are_those_in_which_uhd_looks() {
        let of = |set: &[(&str, &str)]| {
            CalibrationFolder::of(|name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into()))
        };
        let path = |set| of(set).unwrap().path(CalibrationKind::TxDc, "E1").unwrap();
        assert_eq!(path(&[("HOME", "/h")]), Path::new("/h/.local/share/uhd/cal/tx_dc_E1.cal"));
        assert_eq!(path(&[("HOME", "/h"), ("XDG_DATA_HOME", "/x")]), Path::new("/x/uhd/cal/tx_dc_E1.cal"));
        assert_eq!(path(&[("HOME", "/h"), ("UHD_CAL_DATA_PATH", "/c")]), Path::new("/c/tx_dc_E1.cal"));
        let old = of(&[("HOME", "/h")]).unwrap().csv_path(CalibrationKind::TxDc, "E1").unwrap().unwrap();
        assert_eq!(old, Path::new("/h/.uhd/cal/tx_dc_cal_v0.2_E1.csv"));
        assert!(matches!(of(&[]), Err(CalibrationFileError::NoFolder)));
    }

    #[test]
    fn a_serial_number_leads_to_no_other_folder() {
        let folder = CalibrationFolder::at(Path::new("/c"));
        for serial in ["", "../x", "a/b", "a\0", "a b", &"a".repeat(65)] {
            assert!(folder.path(CalibrationKind::RxIq, serial).is_err(), "{serial:?}");
        }
        assert!(folder.path(CalibrationKind::RxIq, "F5A1B2").is_ok());
    }
}
