//! The file of UHD 4.0 and later: a FlatBuffer with the mark `IQ/f`.
//!
//! | table | field | type |
//! | --- | --- | --- |
//! | root | 0 metadata | table |
//! | | 1 coefficients | vector of structures of five `f64`: frequency, real, imaginary, level, gain |
//! | metadata | 0 name, 1 serial | text |
//! | | 2 time | `u64`, seconds since 1970 |
//! | | 3 major, 4 minor | `i32`, version 1.0 |
//!
//! All is little-endian. A reference is the distance to what it names; a table begins with the distance back to its list of fields.

use num_complex::Complex64;

use super::error::CalibrationFormatError as Error;
use super::table::{CalibrationPoint, CalibrationTable};

const MARK: [u8; 4] = *b"IQ/f";
const VERSION_MAJOR: i32 = 1;
const POINT_BYTES: usize = 40;
/// Longest name or serial that is taken.
const MOST_TEXT_BYTES: usize = 4096;

/// Reads a file of UHD 4.
///
/// # Errors
/// The mark or version is another, a reference leads outside, or a number is not finite or out of range.
pub fn from_flatbuffer(bytes: &[u8]) -> Result<CalibrationTable, Error> {
    let file = File { bytes };
    let mark = file.array(4, "its mark")?;
    if mark != MARK {
        return Err(Error::Mark { found: format!("{}", mark.escape_ascii()) });
    }
    let root = file.table(0, "the root")?;
    let metadata = root.field(0).ok_or(Error::Missing { place: "metadata" })?;
    let metadata = file.table(metadata, "metadata")?;
    let scalar = |field| metadata.field(field);
    let major = scalar(3).map_or(Ok(0), |at| file.array(at, "version").map(i32::from_le_bytes))?;
    if major != VERSION_MAJOR {
        return Err(Error::value("major version", major, "1"));
    }
    let measured_s = scalar(2).map_or(Ok(0), |at| file.array(at, "time").map(u64::from_le_bytes))?;
    let text = |field, place| metadata.field(field).map_or(Ok(String::new()), |at| file.text(at, place));
    let (name, serial) = (text(0, "name")?, text(1, "serial")?);
    let points = root.field(1).map_or(Ok(Vec::new()), |at| file.points(at))?;
    Ok(CalibrationTable::new(name, serial, measured_s, points))
}

/// Checks one point of a file, whatever its format.
pub(super) fn checked(place: impl Fn() -> String, point: CalibrationPoint) -> Result<CalibrationPoint, Error> {
    let CalibrationPoint { lo_hz, correction: Complex64 { re, im }, measured_db, gained_db } = point;
    if !lo_hz.is_finite() {
        return Err(Error::value(format!("frequency of {}", place()), lo_hz, "a finite number of Hz"));
    }
    for (part, value) in [("real", re), ("imaginary", im)] {
        if !(-1.0..=1.0).contains(&value) {
            return Err(Error::value(format!("{part} part of {}", place()), value, "-1 to 1"));
        }
    }
    // UHD writes the level of a carrier that is not there as minus infinity.
    let kept = |db: f64| if db.is_finite() { db } else { 0.0 };
    Ok(CalibrationPoint { measured_db: kept(measured_db), gained_db: kept(gained_db), ..point })
}

#[derive(Clone, Copy)]
struct File<'a> {
    bytes: &'a [u8],
}

/// A table and its list of fields.
struct Table<'a> {
    file: File<'a>,
    at: usize,
    fields: &'a [u8],
}

impl<'a> File<'a> {
    fn slice(self, at: usize, count: usize, place: &'static str) -> Result<&'a [u8], Error> {
        let slice = at.checked_add(count).and_then(|end| self.bytes.get(at..end));
        slice.ok_or(Error::Truncated { place, bytes: self.bytes.len() })
    }

    fn array<const N: usize>(self, at: usize, place: &'static str) -> Result<[u8; N], Error> {
        let slice = self.slice(at, N, place)?;
        slice.try_into().map_err(|_| Error::Truncated { place, bytes: self.bytes.len() })
    }

    /// A number of bytes or elements.
    fn length(self, at: usize, place: &'static str) -> Result<usize, Error> {
        let length = u32::from_le_bytes(self.array(at, place)?);
        usize::try_from(length).map_err(|_| Error::Truncated { place, bytes: self.bytes.len() })
    }

    /// The place that the reference at `at` names.
    fn follow(self, at: usize, place: &'static str) -> Result<usize, Error> {
        let outside = Error::Truncated { place, bytes: self.bytes.len() };
        at.checked_add(self.length(at, place)?).filter(|to| *to < self.bytes.len()).ok_or(outside)
    }

    /// The table that the reference at `at` names.
    fn table(self, at: usize, place: &'static str) -> Result<Table<'a>, Error> {
        let at = self.follow(at, place)?;
        let outside = || Error::Truncated { place, bytes: self.bytes.len() };
        let back = i64::from(i32::from_le_bytes(self.array(at, place)?));
        let list = i64::try_from(at).ok().and_then(|at| usize::try_from(at - back).ok()).ok_or_else(outside)?;
        let bytes = usize::from(u16::from_le_bytes(self.array(list, place)?));
        let fields = self.slice(list, bytes, place)?.get(4..).ok_or_else(outside)?;
        Ok(Table { file: self, at, fields })
    }

    fn text(self, at: usize, place: &'static str) -> Result<String, Error> {
        let at = self.follow(at, place)?;
        let count = self.length(at, place)?;
        if count > MOST_TEXT_BYTES {
            return Err(Error::value(place, format!("{count} bytes long"), "at most 4096 bytes"));
        }
        Ok(String::from_utf8_lossy(self.slice(at + 4, count, place)?).into_owned())
    }

    fn points(self, at: usize) -> Result<Vec<CalibrationPoint>, Error> {
        let place = "coefficients";
        let at = self.follow(at, place)?;
        let bytes = self.length(at, place)?.checked_mul(POINT_BYTES);
        let bytes = bytes.ok_or(Error::Truncated { place, bytes: self.bytes.len() })?;
        let points = self.slice(at + 4, bytes, place)?;
        points.chunks_exact(POINT_BYTES).enumerate().map(|(n, point)| parse_point(n, point)).collect()
    }
}

impl Table<'_> {
    /// The place of a field; `None`: it has its default.
    fn field(&self, number: usize) -> Option<usize> {
        let entry = self.fields.chunks_exact(2).nth(number)?;
        let offset = u16::from_le_bytes(entry.try_into().ok()?);
        // An absurd place is refused by whatever reads there.
        (offset != 0)
            .then_some(())
            .and_then(|()| self.at.checked_add(usize::from(offset)))
            .filter(|at| *at < self.file.bytes.len())
    }
}

fn parse_point(number: usize, bytes: &[u8]) -> Result<CalibrationPoint, Error> {
    let mut numbers = bytes.chunks_exact(8).map(|chunk| chunk.try_into().map_or(f64::NAN, f64::from_le_bytes));
    let [lo_hz, re, im, measured_db, gained_db] = std::array::from_fn(|_| numbers.next().unwrap_or(f64::NAN));
    let point = CalibrationPoint { lo_hz, correction: Complex64::new(re, im), measured_db, gained_db };
    checked(|| format!("coefficient {number}"), point)
}

/// Writes a file of UHD 4.
#[must_use]
pub fn to_flatbuffer(table: &CalibrationTable) -> Vec<u8> {
    /// Places of the parts whose sizes do not change.
    const ROOT: usize = 16;
    const METADATA: usize = 48;
    const NAME: usize = 76;
    let mut bytes = Vec::with_capacity(NAME + 64 + table.points().len() * POINT_BYTES);
    let reference = |bytes: &mut Vec<u8>, to: usize| {
        let distance = (to - bytes.len()) as u32;
        bytes.extend(distance.to_le_bytes());
    };
    let serial = NAME + padded(4 + table.name.len() + 1, 4);
    // The length of the vector stands 4 bytes before a multiple of 8, since its elements are numbers of 8 bytes.
    let points = padded(serial + padded(4 + table.serial.len() + 1, 4) + 4, 8) - 4;

    reference(&mut bytes, ROOT);
    bytes.extend(MARK);
    // The root's fields: bytes of the list, bytes of the table, distance of each field from the table.
    extend_u16(&mut bytes, &[8, 12, 4, 8]);
    bytes.extend(8u32.to_le_bytes());
    reference(&mut bytes, METADATA);
    reference(&mut bytes, points);
    // Metadata: name, serial, time, major, minor.
    extend_u16(&mut bytes, &[14, 28, 4, 16, 8, 20, 24]);
    bytes.resize(METADATA, 0);
    bytes.extend(20u32.to_le_bytes());
    reference(&mut bytes, NAME);
    bytes.extend(table.measured_s.to_le_bytes());
    reference(&mut bytes, serial);
    bytes.extend(VERSION_MAJOR.to_le_bytes());
    bytes.extend(0i32.to_le_bytes());
    for text in [&table.name, &table.serial] {
        bytes.extend((text.len() as u32).to_le_bytes());
        bytes.extend(text.as_bytes());
        bytes.resize(padded(bytes.len() + 1, 4), 0);
    }
    bytes.resize(points, 0);
    bytes.extend((table.points().len() as u32).to_le_bytes());
    for point in table.points() {
        let CalibrationPoint { lo_hz, correction, measured_db, gained_db } = *point;
        for number in [lo_hz, correction.re, correction.im, measured_db, gained_db] {
            bytes.extend(number.to_le_bytes());
        }
    }
    bytes
}

fn extend_u16(bytes: &mut Vec<u8>, numbers: &[u16]) {
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
}

fn padded(bytes: usize, to: usize) -> usize {
    bytes.div_ceil(to) * to
}
