//! How samples lie in files of any program: every type that SigMF has a name for.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use num_complex::Complex32;
use takt_wire::sample::full_scale;

use super::SampleFormat;
use super::format::finite;

/// A type of samples: `ci16_le`, `rf32_be`, `cu8`. takt reads all of them, and writes those that are a [`SampleFormat`].
///
/// | numbers | as a float |
/// | --- | --- |
/// | `f32`, `f64` | as they are |
/// | `i16` | k / 32767 |
/// | `i8` | 256 k / 32767, so the upper byte of `i16` |
/// | `i32` | k / (2^31 - 1) |
/// | `u16`, `u32` | as signed, with half of the range for 0: (k - 32768) / 32767 |
/// | `u8` | (k - 127.5) / 127.5 |
///
/// A real type has an imaginary part of 0.
///
/// ```
/// use takt_base::Complex32;
/// use takt_dsp::file::Datatype;
/// let datatype: Datatype = "ci16_be".parse()?;
/// let mut sample = [Complex32::default()];
/// datatype.decode(&[0x7F, 0xFF, 0x80, 0x01], &mut sample);
/// assert_eq!(sample, [Complex32::new(1.0, -1.0)]);
/// # Ok::<(), takt_dsp::file::DatatypeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Datatype {
    complex: bool,
    number: Number,
    /// Never of numbers of one byte, which have no order.
    big_endian: bool,
}

/// I, Q or a real sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Number {
    F32,
    F64,
    I32,
    I16,
    I8,
    U32,
    U16,
    U8,
}

impl Number {
    const ALL: [Number; 8] =
        [Number::F32, Number::F64, Number::I32, Number::I16, Number::I8, Number::U32, Number::U16, Number::U8];

    /// Its bytes, and SigMF's name without the order.
    const fn row(self) -> (usize, &'static str) {
        match self {
            Number::F32 => (4, "f32"),
            Number::F64 => (8, "f64"),
            Number::I32 => (4, "i32"),
            Number::I16 => (2, "i16"),
            Number::I8 => (1, "i8"),
            Number::U32 => (4, "u32"),
            Number::U16 => (2, "u16"),
            Number::U8 => (1, "u8"),
        }
    }
}

impl Datatype {
    /// All of them: 28.
    pub fn all() -> impl Iterator<Item = Datatype> {
        let of = |complex, number| [false, true].map(|big_endian| Datatype { complex, number, big_endian });
        let both = Number::ALL.into_iter().flat_map(move |number| [of(true, number), of(false, number)]);
        both.flatten().filter(|datatype| !datatype.big_endian || datatype.number_bytes() > 1)
    }

    /// Bytes of I, of Q, or of a real sample.
    #[must_use]
    pub const fn number_bytes(self) -> usize {
        self.number.row().0
    }

    /// Bytes of a sample.
    #[must_use]
    pub const fn sample_bytes(self) -> usize {
        if self.complex { 2 * self.number_bytes() } else { self.number_bytes() }
    }

    /// Whether a sample is I and Q; else it is real.
    #[must_use]
    pub const fn is_complex(self) -> bool {
        self.complex
    }

    /// The same as a format that takt writes, if it is one.
    #[must_use]
    pub const fn native(self) -> Option<SampleFormat> {
        match (self.complex, self.number, self.big_endian) {
            (true, Number::I16, false) => Some(SampleFormat::Sc16),
            (true, Number::I8, false) => Some(SampleFormat::Sc8),
            (true, Number::F32, false) => Some(SampleFormat::Fc32),
            _ => None,
        }
    }

    /// The type that a file's name promises. The extension is one that [`SampleFormat::of_path`] knows, a name of SigMF
    /// (`cu8`, `ri16_be`), or what other programs write for the same: `uc8`, and little-endian `cs32`, `cu16`, `cf64`.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Datatype> {
        if let Some(format) = SampleFormat::of_path(path) {
            return Some(format.into());
        }
        let name = match path.extension()?.to_str()? {
            "uc8" => "cu8",
            "cs32" | "sc32" => "ci32_le",
            "cu16" | "uc16" => "cu16_le",
            "cf64" | "fc64" => "cf64_le",
            name => name,
        };
        name.parse().ok()
    }

    /// Reads `out.len()` samples. Floats that are not finite become 0: nothing after this expects them.
    ///
    /// # Panics
    /// If `bytes` holds another number of samples.
    pub fn decode(self, bytes: &[u8], out: &mut [Complex32]) {
        if let Some(format) = self.native() {
            return format.decode(bytes, out);
        }
        assert_eq!(bytes.len(), out.len() * self.sample_bytes(), "bytes for every sample");
        match self.number {
            Number::F32 => self.each::<4>(bytes, out, |b| finite(f32::from_le_bytes(b))),
            Number::F64 => self.each::<8>(bytes, out, |b| finite(f64::from_le_bytes(b) as f32)),
            Number::I32 => self.each::<4>(bytes, out, |b| (f64::from(i32::from_le_bytes(b)) / MOST_OF_32_BITS) as f32),
            Number::I16 => self.each::<2>(bytes, out, |b| of_16_bits(i16::from_le_bytes(b))),
            Number::I8 => self.each::<1>(bytes, out, |[b]| f32::from(b as i8) * (1.0 / full_scale::SC8)),
            Number::U32 => self.each::<4>(bytes, out, |b| {
                ((f64::from(u32::from_le_bytes(b)) - HALF_OF_32_BITS) / MOST_OF_32_BITS) as f32
            }),
            Number::U16 => self.each::<2>(bytes, out, |b| of_16_bits((u16::from_le_bytes(b) ^ 0x8000) as i16)),
            Number::U8 => self.each::<1>(bytes, out, |[b]| of_unsigned_byte(b)),
        }
    }

    /// Reads numbers of `N` bytes; `float` gets them with the least significant byte first.
    fn each<const N: usize>(self, bytes: &[u8], out: &mut [Complex32], float: impl Fn([u8; N]) -> f32) {
        let number = |bytes: &[u8; N]| {
            let mut bytes = *bytes;
            if self.big_endian {
                bytes.reverse();
            }
            float(bytes)
        };
        let numbers = bytes.as_chunks::<N>().0;
        if self.complex {
            for (out, [i, q]) in out.iter_mut().zip(numbers.as_chunks::<2>().0) {
                *out = Complex32::new(number(i), number(q));
            }
        } else {
            for (out, i) in out.iter_mut().zip(numbers) {
                *out = Complex32::new(number(i), 0.0);
            }
        }
    }
}

/// 2^31 and 2^31 - 1.
const HALF_OF_32_BITS: f64 = 2_147_483_648.0;
const MOST_OF_32_BITS: f64 = 2_147_483_647.0;

fn of_16_bits(k: i16) -> f32 {
    f32::from(k) * (1.0 / full_scale::SC16)
}

/// The zero of an RTL-SDR's converter, from which nearly all such files come, lies between 127 and 128. Its usual programs take
/// 127.4 or 127.5 for it; 128 would add a constant 48 dB below full scale. With 127.5 the range is -1 to 1.
fn of_unsigned_byte(k: u8) -> f32 {
    (f32::from(k) - 127.5) / 127.5
}

impl From<SampleFormat> for Datatype {
    fn from(format: SampleFormat) -> Datatype {
        let number = match format {
            SampleFormat::Sc16 => Number::I16,
            SampleFormat::Sc8 => Number::I8,
            SampleFormat::Fc32 => Number::F32,
        };
        Datatype { complex: true, number, big_endian: false }
    }
}

/// As SigMF writes it.
impl fmt::Display for Datatype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.complex { "c" } else { "r" };
        let order = match (self.number_bytes(), self.big_endian) {
            (1, _) => "",
            (_, false) => "_le",
            (_, true) => "_be",
        };
        write!(f, "{kind}{}{order}", self.number.row().1)
    }
}

/// A type by a name that SigMF does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{got}` is not a sample type of SigMF, such as ci16_le: c (complex) or r (real), then f32, f64, i32, i16, u32, u16, i8 \
     or u8, then _le or _be unless it has 8 bits"
)]
pub struct DatatypeError {
    /// The name as given.
    pub got: String,
}

impl FromStr for Datatype {
    type Err = DatatypeError;

    /// By SigMF's name. One of 8 bits may have an order, which means nothing.
    fn from_str(name: &str) -> Result<Datatype, DatatypeError> {
        named(name).ok_or_else(|| DatatypeError { got: name.to_owned() })
    }
}

fn named(name: &str) -> Option<Datatype> {
    let (complex, name) = match name.split_at_checked(1)? {
        ("c", rest) => (true, rest),
        ("r", rest) => (false, rest),
        _ => return None,
    };
    let (name, order) = name.split_once('_').map_or((name, None), |(name, order)| (name, Some(order)));
    let number = Number::ALL.into_iter().find(|number| number.row().1 == name)?;
    let big_endian = match (order, number.row().0) {
        (None | Some("le" | "be"), 1) | (Some("le"), _) => false,
        (Some("be"), _) => true,
        _ => return None,
    };
    Some(Datatype { complex, number, big_endian })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn datatype(name: &str) -> Datatype {
        name.parse().expect(name)
    }

    fn decoded(name: &str, bytes: &[u8]) -> Vec<Complex32> {
        let datatype = datatype(name);
        let mut out = vec![Complex32::new(9.0, 9.0); bytes.len() / datatype.sample_bytes()];
        datatype.decode(bytes, &mut out);
        out
    }

    fn c(re: f32, im: f32) -> Complex32 {
        Complex32::new(re, im)
    }

    #[test]
    fn every_name_of_sigmf_is_a_type_and_its_name() {
        let names: Vec<String> = Datatype::all().map(|datatype| datatype.to_string()).collect();
        assert_eq!(names.len(), 28);
        for (name, datatype) in names.iter().zip(Datatype::all()) {
            assert_eq!(name.parse(), Ok(datatype));
            assert_eq!(datatype.is_complex(), name.starts_with('c'));
            let numbers = if datatype.is_complex() { 2 } else { 1 };
            assert_eq!(datatype.sample_bytes(), numbers * datatype.number_bytes());
        }
        for name in ["cf32_le", "rf32_be", "cf64_be", "ci32_le", "ri16_le", "cu16_be", "ru32_le", "ci8", "ru8"] {
            assert!(names.iter().any(|known| known == name), "{name}");
        }
        // Older recordings.
        for name in ["ci8_le", "ci8_be"] {
            assert_eq!(datatype(name), datatype("ci8"), "{name}");
        }
        assert_eq!(datatype("cu8_le").to_string(), "cu8");
    }

    #[test]
    fn a_name_of_no_type_is_refused_with_the_names_that_there_are() {
        for name in ["", "c", "é", "ci16", "ci16_xe", "xi16_le", "ci24_le", "ci16_le_", "CI16_LE", "sc16", "ci8_"] {
            let error = name.parse::<Datatype>().expect_err(name).to_string();
            assert!(error.starts_with(&format!("`{name}` is not ")) && error.contains("such as ci16_le"), "{error}");
        }
    }

    #[test]
    fn what_takt_writes_is_native_and_read_alike() {
        for format in SampleFormat::ALL {
            let datatype = Datatype::from(format);
            assert_eq!((datatype.native(), datatype.to_string()), (Some(format), format.sigmf_name().to_owned()));
            assert_eq!(datatype.sample_bytes(), format.sample_bytes());
            let bytes: Vec<u8> = (0..240).collect();
            let mut samples = vec![Complex32::default(); bytes.len() / format.sample_bytes()];
            format.decode(&bytes, &mut samples);
            assert_eq!(decoded(format.sigmf_name(), &bytes), samples);
        }
        assert_eq!(Datatype::all().filter(|datatype| datatype.native().is_some()).count(), SampleFormat::ALL.len());
    }

    #[test]
    fn numbers_lie_as_their_types_say() {
        assert_eq!(decoded("ci16_be", &[0x7F, 0xFF, 0x80, 0x00]), [c(1.0, -1.000_030_5)]);
        assert_eq!(decoded("ri16_le", &[0x01, 0x80, 0xFF, 0x7F]), [c(-1.0, 0.0), c(1.0, 0.0)]);
        assert_eq!(decoded("cu16_le", &[0xFF, 0xFF, 0x00, 0x80]), [c(1.0, 0.0)]);
        assert_eq!(decoded("ru16_be", &[0x00, 0x01, 0x80, 0x00]), [c(-1.0, 0.0), c(0.0, 0.0)]);
        assert_eq!(decoded("ci32_be", &[0x7F, 0xFF, 0xFF, 0xFF, 0x80, 0x00, 0x00, 0x01]), [c(1.0, -1.0)]);
        assert_eq!(decoded("cu32_le", &[0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0x80]), [c(1.0, 0.0)]);
        assert_eq!(decoded("ru32_le", &[0x01, 0, 0, 0]), [c(-1.0, 0.0)]);
        assert_eq!(decoded("ri8", &[0x80, 0x00]), [c(-1.000_030_5, 0.0), c(0.0, 0.0)]);
        assert_eq!(decoded("cu8", &[0, 255]), [c(-1.0, 1.0)]);
        assert_eq!(decoded("rf32_be", &[0x3F, 0, 0, 0]), [c(0.5, 0.0)]);
        assert_eq!(decoded("cf64_le", &[[0, 0, 0, 0, 0, 0, 0xE0, 0xBF], [0; 8]].concat()), [c(-0.5, 0.0)]);
        assert_eq!(decoded("rf64_be", &[0x40, 0, 0, 0, 0, 0, 0, 0]), [c(2.0, 0.0)]);
    }

    #[test]
    fn floats_that_are_not_finite_become_0() {
        for strange in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
            assert_eq!(decoded("rf64_le", &strange.to_le_bytes()), [c(0.0, 0.0)]);
            assert_eq!(decoded("cf32_be", &[(strange as f32).to_be_bytes(); 2].concat()), [c(0.0, 0.0)]);
        }
    }

    #[test]
    fn zero_of_an_unsigned_byte_lies_between_127_and_128() {
        let samples = decoded("cu8", &[127, 128]);
        assert_eq!(samples, [c(-1.0, 1.0).unscale(255.0)]);
    }

    #[test]
    fn a_name_of_a_file_promises_its_type() {
        let of = |name: &str| Datatype::of_path(Path::new(name)).map(|datatype| datatype.to_string());
        for (name, type_of) in [
            ("/tmp/x.sc16", "ci16_le"),
            ("x.cfile", "cf32_le"),
            ("x.cu8", "cu8"),
            ("x.uc8", "cu8"),
            ("x.cs32", "ci32_le"),
            ("x.cf64", "cf64_le"),
            ("x.y.ri16_be", "ri16_be"),
        ] {
            assert_eq!(of(name).as_deref(), Some(type_of), "{name}");
        }
        assert_eq!([of("x.bin"), of("cu8"), of("x.")], [None, None, None]);
    }

    /// Bytes of all 16-bit numbers, two of them a sample.
    fn all_of_16_bits(bytes: impl Fn(u16) -> [u8; 2]) -> Vec<u8> {
        (0..=u16::MAX).flat_map(bytes).collect()
    }

    #[test]
    fn integers_of_16_bits_stay_the_same_integers() {
        let wanted = all_of_16_bits(u16::to_le_bytes);
        for (name, bytes) in [
            ("ci16_be", all_of_16_bits(u16::to_be_bytes)),
            ("cu16_le", all_of_16_bits(|k| (k ^ 0x8000).to_le_bytes())),
            ("cu16_be", all_of_16_bits(|k| (k ^ 0x8000).to_be_bytes())),
        ] {
            let mut again = vec![0; bytes.len()];
            assert_eq!(SampleFormat::Sc16.encode(&decoded(name, &bytes), &mut again), 0, "{name}");
            assert!(again == wanted, "{name}");
        }
    }

    proptest! {
        #[test]
        fn the_order_of_bytes_is_all_that_differs(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            for big in Datatype::all().filter(|datatype| datatype.big_endian) {
                let little = Datatype { big_endian: false, ..big };
                let bytes = &bytes[..bytes.len() / big.sample_bytes() * big.sample_bytes()];
                let mut turned = bytes.to_vec();
                turned.chunks_mut(big.number_bytes()).for_each(<[u8]>::reverse);
                prop_assert_eq!(decoded(&big.to_string(), &turned), decoded(&little.to_string(), bytes), "{}", big);
            }
        }

        #[test]
        fn every_byte_is_a_sample_within_full_scale(bytes in prop::collection::vec(any::<u8>(), 16..200)) {
            for datatype in Datatype::all() {
                let bytes = &bytes[..bytes.len() / datatype.sample_bytes() * datatype.sample_bytes()];
                for sample in decoded(&datatype.to_string(), bytes) {
                    prop_assert!(sample.re.is_finite() && sample.im.is_finite(), "{}", datatype);
                    let is_float = matches!(datatype.number, Number::F32 | Number::F64);
                    let largest = sample.re.abs().max(sample.im.abs());
                    prop_assert!(is_float || largest < 1.000_031, "{}: {}", datatype, sample);
                    prop_assert!(datatype.is_complex() || sample.im == 0.0);
                }
            }
        }

        #[test]
        fn no_name_panics(name in "[cr]?[fiu]?.{0,12}") {
            if let Ok(datatype) = name.parse::<Datatype>() {
                prop_assert_eq!(datatype.to_string().parse(), Ok(datatype));
            }
        }
    }
}
