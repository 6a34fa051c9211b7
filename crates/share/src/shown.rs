//! State of a share as `takt top` and the live page show it: the front end, then each radio that programs see.

use takt_live::{Direction, Letters, Radio, Snapshot};

use crate::{FrontEndStatus, RadioStatus, ShareStatus};

impl ShareStatus {
    /// The front end and the radios, each with both directions. A direction that nobody uses has no samples and no letters. A
    /// front end that was opened to receive alone has one direction.
    #[must_use]
    pub fn shown(&self, front_end_transmits: bool) -> Snapshot {
        let front_end = self.front_end.shown(front_end_transmits);
        let radios = front_end.into_iter().chain(self.radios.iter().flat_map(RadioStatus::shown)).collect();
        Snapshot { radios, ..Snapshot::default() }
    }
}

impl FrontEndStatus {
    fn shown(&self, transmits: bool) -> Vec<Radio> {
        let one = |direction| Radio {
            rate_sps: Some(self.band.width_hz),
            freq_hz: Some(self.band.centre_hz),
            ..radio(format!("front end {}", self.radio), direction)
        };
        let rx = Radio {
            samples: Some(self.samples),
            lost_samples: Some(self.lost_samples),
            letters: Letters { overflows: Some(self.overflows), ..Letters::default() },
            ..one(Direction::Rx)
        };
        let tx = Radio {
            samples: Some(self.sum.samples),
            letters: sent(self.underflows, self.late, self.sequence_errors),
            ..one(Direction::Tx)
        };
        [rx].into_iter().chain(transmits.then_some(tx)).collect()
    }
}

impl RadioStatus {
    fn shown(&self) -> [Radio; 2] {
        let one = |direction| radio(format!("{} {}", self.name, self.addr), direction);
        let rx = Radio {
            rate_sps: self.band.map(|band| band.width_hz),
            freq_hz: self.band.map(|band| band.centre_hz),
            samples: Some(self.samples),
            letters: Letters { overflows: Some(self.overflows), late: Some(self.rx_late), ..Letters::default() },
            ..one(Direction::Rx)
        };
        let tx = Radio {
            freq_hz: Some(self.tx_hz),
            samples: Some(self.tx_samples),
            letters: sent(self.underflows, self.tx_late, self.sequence_errors),
            ..one(Direction::Tx)
        };
        [rx, tx]
    }
}

/// A direction of which nothing is known but its radio.
fn radio(name: String, direction: Direction) -> Radio {
    Radio {
        name,
        direction,
        rate_sps: None,
        freq_hz: None,
        channels: Some(1),
        samples: None,
        lost_samples: None,
        letters: Letters::default(),
    }
}

fn sent(underflows: u64, late: u64, sequence_errors: u64) -> Letters {
    Letters { underflows: Some(underflows), late: Some(late), sent_lost: Some(sequence_errors), ..Letters::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnalogPolicy, Band, SumReport};

    fn status() -> ShareStatus {
        let front_end = FrontEndStatus {
            radio: "N210 at 127.0.0.1".to_owned(),
            band: Band { centre_hz: 900e6, width_hz: 5e6 },
            gain_db: None,
            policy: AnalogPolicy::Fixed,
            moves: 0,
            samples: 1000,
            lost_samples: 7,
            overflows: 1,
            underflows: 2,
            late: 3,
            sequence_errors: 4,
            sum: SumReport { samples: 900, clipped_samples: 0 },
        };
        let radio = RadioStatus {
            name: "low".to_owned(),
            addr: [127, 0, 0, 11].into(),
            serial: "1".to_owned(),
            host: None,
            streams: true,
            band: Some(Band { centre_hz: 899e6, width_hz: 1e6 }),
            received_share: Some(1.0),
            band_share: Some(0.2),
            tx_hz: 901e6,
            rx_gain_db: None,
            tx_gain_db: None,
            front_end_gain_db: None,
            receive_delay_us: 0.0,
            cores: 0.1,
            samples: 200,
            overflows: 5,
            rx_late: 6,
            tx_samples: 100,
            underflows: 7,
            tx_late: 8,
            sequence_errors: 9,
            outside_samples: 0,
            partly_samples: 0,
            forbidden_samples: 0,
            tx_outside_samples: 0,
            tx_forbidden_samples: 0,
            tx_overlapping_samples: 0,
        };
        ShareStatus {
            process: 1,
            duration_s: 1.0,
            busy: 0.1,
            cores_needed: 0.1,
            cores_allowed: 0.9,
            latency_us: 2000.0,
            front_end,
            radios: vec![radio],
        }
    }

    #[test]
    fn each_radio_has_its_own_letters_and_its_band() {
        let shown = status().shown(true).radios;
        let names: Vec<_> = shown.iter().map(|one| (one.name.as_str(), one.direction.name())).collect();
        let (wide, low) = ("front end N210 at 127.0.0.1", "low 127.0.0.11");
        assert_eq!(names, [(wide, "rx"), (wide, "tx"), (low, "rx"), (low, "tx")]);
        let letters = |at: usize| shown[at].letters.list().map(|(_, count)| count);
        assert_eq!(letters(0), [Some(1), None, None, None, None]);
        assert_eq!(letters(1), [None, Some(2), Some(3), Some(4), None]);
        assert_eq!(letters(2), [Some(5), None, Some(6), None, None]);
        assert_eq!(letters(3), [None, Some(7), Some(8), Some(9), None]);
        assert_eq!((shown[0].lost_samples, shown[2].lost_samples), (Some(7), None), "a program's losses are its own");
        assert_eq!((shown[2].rate_sps, shown[2].freq_hz, shown[3].freq_hz), (Some(1e6), Some(899e6), Some(901e6)));
        assert_eq!(shown.iter().filter_map(|one| one.samples).collect::<Vec<_>>(), [1000, 900, 200, 100]);
    }

    #[test]
    fn a_front_end_that_only_receives_has_one_direction() {
        let directions: Vec<_> = status().shown(false).radios.iter().map(|one| one.direction.name()).collect();
        assert_eq!(directions, ["rx", "rx", "tx"]);
    }
}
