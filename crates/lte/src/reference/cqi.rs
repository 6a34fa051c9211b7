//! Channel quality: TS 36.213 table 7.2.3-1, and which row a ratio of signal to noise carries.

use takt_dsp::lte::Modulation;

/// A row of the table: 1 to 15. 0 means that nothing can be carried, and has no row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cqi(u8);

impl Cqi {
    /// All rows, the slowest first.
    pub const ALL: [Cqi; 15] = [
        Cqi(1),
        Cqi(2),
        Cqi(3),
        Cqi(4),
        Cqi(5),
        Cqi(6),
        Cqi(7),
        Cqi(8),
        Cqi(9),
        Cqi(10),
        Cqi(11),
        Cqi(12),
        Cqi(13),
        Cqi(14),
        Cqi(15),
    ];

    /// The row of an index 1 to 15.
    #[must_use]
    pub fn new(index: u8) -> Option<Cqi> {
        (1..=15).contains(&index).then_some(Cqi(index))
    }

    /// 1 to 15.
    #[must_use]
    pub fn index(self) -> u8 {
        self.0
    }

    /// The constellation.
    #[must_use]
    pub fn modulation(self) -> Modulation {
        match self.0 {
            ..=6 => Modulation::Qpsk,
            7..=9 => Modulation::Qam16,
            _ => Modulation::Qam64,
        }
    }

    /// Information bits of a coded bit.
    #[must_use]
    pub fn code_rate(self) -> f32 {
        f32::from(CODE_RATES[usize::from(self.0) - 1]) / 1024.0
    }

    /// Information bits of an element.
    #[must_use]
    pub fn efficiency(self) -> f32 {
        self.code_rate() * self.modulation().bits() as f32
    }

    /// The ratio of signal to noise in dB from which on less than a tenth of its blocks is lost in a channel that does not
    /// fade: that of an ideal code of its efficiency, and a margin for the real one. The margin grows with the
    /// constellation, and where signals are so weak that the estimate of the channel is poor.
    /// `tests/together/reference/quality.rs` decodes blocks to check it.
    #[must_use]
    pub fn snr_db(self) -> f32 {
        let bits = self.efficiency();
        10.0 * (bits.exp2() - 1.0).log10() + 2.0 + 0.35 * bits + 0.17 / bits
    }
}

/// Times 1024.
const CODE_RATES: [u16; 15] = [78, 120, 193, 308, 449, 602, 378, 490, 616, 466, 567, 666, 772, 873, 948];

/// The highest CQI, 0 to 15, that this ratio of signal to noise carries.
#[must_use]
pub fn cqi_of_snr_db(snr_db: f32) -> u8 {
    Cqi::ALL.iter().filter(|cqi| snr_db >= cqi.snr_db()).count() as u8
}

/// Information bits of an element with a CQI; 0 for 0, and as 15 above.
#[must_use]
pub fn efficiency(cqi: u8) -> f32 {
    Cqi::new(cqi.min(15)).map_or(0.0, Cqi::efficiency)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last column of the table, to its four digits.
    const EFFICIENCIES: [f32; 15] = [
        0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223, 3.9023, 4.5234, 5.1152,
        5.5547,
    ];

    #[test]
    fn efficiencies_are_those_of_the_table() {
        for (cqi, listed) in Cqi::ALL.into_iter().zip(EFFICIENCIES) {
            assert!((cqi.efficiency() - listed).abs() < 1e-4, "{cqi:?}");
            assert_eq!(efficiency(cqi.index()), cqi.efficiency());
        }
        assert_eq!((efficiency(0), Cqi::new(0), Cqi::new(16)), (0.0, None, None));
    }

    #[test]
    fn more_signal_never_means_a_lower_cqi() {
        let mut last = 0;
        for tenth in -150..300 {
            let cqi = cqi_of_snr_db(tenth as f32 / 10.0);
            assert!((last..=last + 1).contains(&cqi), "{tenth}");
            last = cqi;
        }
        assert_eq!((last, cqi_of_snr_db(f32::NAN), cqi_of_snr_db(-20.0)), (15, 0, 0));
    }
}
