//! Corrections of one board by frequency of its oscillator.

use num_complex::Complex64;

use crate::board::Side;

/// The fault that a table corrects. Names of files and properties are UHD's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CalibrationKind {
    /// Amplitude and phase between I and Q of a receiver.
    RxIq,
    /// The same of a transmitter.
    TxIq,
    /// The constant that leaves a transmitter at its oscillator's frequency.
    TxDc,
}

impl CalibrationKind {
    /// All of them.
    pub const ALL: [CalibrationKind; 3] = [CalibrationKind::RxIq, CalibrationKind::TxIq, CalibrationKind::TxDc];

    /// The side of a radio that it corrects.
    #[must_use]
    pub fn side(self) -> Side {
        match self {
            CalibrationKind::RxIq => Side::Rx,
            CalibrationKind::TxIq | CalibrationKind::TxDc => Side::Tx,
        }
    }

    /// As it begins the name of a file: `rx_iq`.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            CalibrationKind::RxIq => "rx_iq",
            CalibrationKind::TxIq => "tx_iq",
            CalibrationKind::TxDc => "tx_dc",
        }
    }

    /// The name that UHD's own utilities give a table.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            CalibrationKind::RxIq => "RX Frontend Calibration",
            CalibrationKind::TxIq | CalibrationKind::TxDc => "TX Frontend Calibration",
        }
    }
}

/// The correction at one frequency.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct CalibrationPoint {
    /// Frequency of the oscillator, Hz.
    pub lo_hz: f64,
    /// Real part: of I, or of the amplitude; imaginary part: of Q, or of the phase. Each from -1 to 1.
    #[serde(serialize_with = "as_pair")]
    pub correction: Complex64,
    /// I/Q: the tone over its image with the correction, dB. DC: level of the carrier, dB of full scale of the receiver.
    pub measured_db: f64,
    /// How much the correction gained, dB.
    pub gained_db: f64,
}

/// A table as a file holds it.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct CalibrationTable {
    /// Free text. takt puts the temperature behind UHD's title, where somebody measured it.
    pub name: String,
    /// Serial number of the board.
    pub serial: String,
    /// Seconds since 1970 at which it was measured; 0: not known.
    pub measured_s: u64,
    /// By rising frequency, each once.
    points: Vec<CalibrationPoint>,
}

/// Between UHD's title and the temperature.
const AT: &str = " at ";
const CELSIUS: &str = " C";

impl CalibrationTable {
    /// A table of these points. The later of two at one frequency counts, as in UHD.
    #[must_use]
    pub fn new(name: String, serial: String, measured_s: u64, points: Vec<CalibrationPoint>) -> CalibrationTable {
        let mut sorted: Vec<CalibrationPoint> = Vec::with_capacity(points.len());
        let mut points = points;
        points.sort_by(|a, b| a.lo_hz.total_cmp(&b.lo_hz));
        for point in points {
            match sorted.last_mut().filter(|last| last.lo_hz == point.lo_hz) {
                Some(last) => *last = point,
                None => sorted.push(point),
            }
        }
        CalibrationTable { name, serial, measured_s, points: sorted }
    }

    /// The name of a table: UHD's title, and the temperature of the board in degrees Celsius if known.
    #[must_use]
    pub fn named(kind: CalibrationKind, temperature_c: Option<f64>) -> String {
        temperature_c.map_or(kind.title().to_owned(), |c| format!("{}{AT}{c}{CELSIUS}", kind.title()))
    }

    /// Temperature of the board when it was measured, degrees Celsius, if the name has it.
    #[must_use]
    pub fn temperature_c(&self) -> Option<f64> {
        let (_, shown) = self.name.rsplit_once(AT)?;
        shown.strip_suffix(CELSIUS)?.parse().ok().filter(|c: &f64| c.is_finite())
    }

    /// By rising frequency.
    #[must_use]
    pub fn points(&self) -> &[CalibrationPoint] {
        &self.points
    }

    /// The correction for an oscillator at `lo_hz`: linear between the two neighbours, and the nearest beyond the ends. This is UHD's
    /// rule. `None`: the table is empty.
    #[must_use]
    pub fn correction_at(&self, lo_hz: f64) -> Option<Complex64> {
        let above = self.points.partition_point(|point| point.lo_hz < lo_hz);
        match (above.checked_sub(1).and_then(|below| self.points.get(below)), self.points.get(above)) {
            (Some(below), Some(above)) => {
                let share = (lo_hz - below.lo_hz) / (above.lo_hz - below.lo_hz);
                Some(below.correction + (above.correction - below.correction) * share)
            }
            (Some(end), None) | (None, Some(end)) => Some(end.correction),
            (None, None) => None,
        }
    }
}

fn as_pair<S: serde::Serializer>(value: &Complex64, to: S) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&[value.re, value.im], to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(lo_hz: f64, re: f64, im: f64) -> CalibrationPoint {
        CalibrationPoint { lo_hz, correction: Complex64::new(re, im), measured_db: 60.0, gained_db: 20.0 }
    }

    #[test]
    fn a_correction_is_linear_between_neighbours_and_constant_beyond_the_ends() {
        let points = vec![point(3e9, 0.3, -0.1), point(1e9, 0.1, 0.1), point(2e9, 0.5, 0.0), point(2e9, 0.2, 0.0)];
        let table = CalibrationTable::new(String::new(), String::new(), 0, points);
        let at = |hz| table.correction_at(hz).unwrap();
        let near = |hz, re, im| assert!((at(hz) - Complex64::new(re, im)).norm() < 1e-12, "{hz}: {}", at(hz));
        near(0.5e9, 0.1, 0.1);
        near(1e9, 0.1, 0.1);
        near(1.25e9, 0.125, 0.075);
        near(2e9, 0.2, 0.0);
        near(2.5e9, 0.25, -0.05);
        near(9e9, 0.3, -0.1);
        assert_eq!(CalibrationTable::default().correction_at(1e9), None);
    }

    #[test]
    fn a_table_keeps_the_temperature_in_its_name() {
        let with = |name| CalibrationTable { name, ..CalibrationTable::default() }.temperature_c();
        assert_eq!(with(CalibrationTable::named(CalibrationKind::RxIq, Some(-3.5))), Some(-3.5));
        assert_eq!(with(CalibrationTable::named(CalibrationKind::RxIq, None)), None);
        assert_eq!(with("RX Frontend Calibration at inf C".to_owned()), None);
    }
}
