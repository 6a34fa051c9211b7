//! Clock of a run's slots, and what is known of that on a node.

use serde::{Deserialize, Serialize};
use takt_base::shown::time_ns;
use takt_base::words::plural;
use takt_bridge::clock::Drift;
use takt_bridge::clock::ptp::{Contradiction, Measured, PtpStatus};

/// Clock of a run's slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlotClock {
    /// The reference's clock, which the others ask.
    #[default]
    Own,
    /// PTP's time, on each node.
    Ptp,
}

impl SlotClock {
    pub(crate) fn is_own(&self) -> bool {
        *self == SlotClock::Own
    }
}

/// Start of slot 0 in PTP's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PtpEpoch {
    /// That, ns since 1970.
    pub epoch_ptp_ns: u64,
    /// `clockIdentity` of the grandmaster whose time it is.
    pub grandmaster: u64,
    /// How far off the reference knows that time at most.
    pub bound_ns: u64,
}

/// How a node's slots are timed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockFacts {
    /// By what, now.
    pub source: SlotClock,
    /// takt's own estimate, where the node is not the reference and that answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnFacts>,
    /// PTP, where the run is timed by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ptp: Option<PtpFacts>,
}

/// The reference's clock less the node's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OffsetFacts {
    /// That.
    pub offset_ns: i64,
    /// How far off it is at most.
    pub offset_bound_ns: u64,
}

/// Answers to takt's own questions on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnFacts {
    /// The reference's clock less the node's.
    #[serde(flatten)]
    pub offset: OffsetFacts,
    /// How fast that changes; `None` while it is not known, and where PTP sets the beat.
    #[serde(flatten)]
    pub drift: Option<DriftFacts>,
}

/// How fast an offset changed in the last ten minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DriftFacts {
    /// By how much it grew, on average.
    pub drift_ppb: i32,
    /// How far off that is at most.
    pub drift_bound_ppb: u32,
}

/// Facts of PTP on a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PtpFacts {
    /// The reference's clock less the node's, by PTP; on the reference, how far that moved since slot 0 was agreed.
    #[serde(flatten)]
    pub offset: OffsetFacts,
    /// Its grandmaster, as linuxptp writes it.
    pub grandmaster: String,
    /// How often PTP and the own estimate were looked at.
    pub looks: u64,
    /// Looks among these at which PTP was lost, and why it last was.
    pub lost_looks: u64,
    /// The same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_lost: Option<String>,
    /// How often PTP and the own estimate were further apart than both can be off.
    pub contradicted_looks: u64,
    /// The worst of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradiction: Option<ContradictionFacts>,
}

/// Two opinions of one offset, of which one is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContradictionFacts {
    /// PTP's.
    pub ptp: OffsetFacts,
    /// takt's own estimate.
    pub own: OffsetFacts,
}

impl ClockFacts {
    /// Objections to a node's clock, in words.
    #[must_use]
    pub fn warnings(&self, node: &str) -> Vec<String> {
        let Some(ptp) = &self.ptp else { return Vec::new() };
        let looks = |n: u64| format!("{n} of {}", plural(ptp.looks, "look"));
        let contradiction = ptp.contradiction.map(|ContradictionFacts { ptp: by_ptp, own }| {
            format!(
                "clock of {node}: PTP and takt's own estimate were {} apart, and can be off by {} together ({}): one is wrong",
                time_ns(by_ptp.offset_ns.abs_diff(own.offset_ns)),
                time_ns(by_ptp.offset_bound_ns.saturating_add(own.offset_bound_ns)),
                looks(ptp.contradicted_looks),
            )
        });
        let lost = ptp.why_lost.as_ref().map(|why| {
            let went_on = match self.source {
                SlotClock::Ptp => "slots are timed by PTP at the end",
                SlotClock::Own => "slots are timed by takt's own estimate at the end",
            };
            format!("clock of {node}: PTP was lost in {}: {why}; {went_on}", looks(ptp.lost_looks))
        });
        contradiction.into_iter().chain(lost).collect()
    }
}

impl From<Measured> for OffsetFacts {
    fn from(measured: Measured) -> OffsetFacts {
        OffsetFacts { offset_ns: measured.offset_ns, offset_bound_ns: measured.bound_ns }
    }
}

impl From<Drift> for DriftFacts {
    fn from(drift: Drift) -> DriftFacts {
        DriftFacts { drift_ppb: drift.ppb, drift_bound_ppb: drift.bound_ppb }
    }
}

impl From<Contradiction> for ContradictionFacts {
    fn from(Contradiction { ptp, own }: Contradiction) -> ContradictionFacts {
        ContradictionFacts { ptp: ptp.into(), own: own.into() }
    }
}

impl From<PtpStatus> for ClockFacts {
    fn from(standing: PtpStatus) -> ClockFacts {
        let ptp = PtpFacts {
            offset: standing.ptp.into(),
            grandmaster: standing.grandmaster(),
            looks: standing.looks,
            lost_looks: standing.lost,
            why_lost: standing.why_lost,
            contradicted_looks: standing.contradicted,
            contradiction: standing.worst.map(Into::into),
        };
        let source = if standing.is_by_ptp { SlotClock::Ptp } else { SlotClock::Own };
        let own = standing.own.map(|own| OwnFacts { offset: own.into(), drift: None });
        ClockFacts { source, own, ptp: Some(ptp) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_speaks_against_a_beat_is_stated_with_its_numbers() {
        let measured = |offset_ns, bound_ns| Measured { offset_ns, bound_ns };
        let mut standing = PtpStatus {
            grandmaster: 0x0200_00FF_FE00_0001,
            is_by_ptp: true,
            ptp: measured(0, 4_000),
            own: Some(measured(100, 30_000)),
            looks: 40,
            lost: 0,
            why_lost: None,
            contradicted: 0,
            worst: None,
        };
        let facts = |standing: &PtpStatus| ClockFacts::from(standing.clone());
        assert_eq!(facts(&standing).warnings("b"), Vec::<String>::new());
        assert_eq!(facts(&standing).ptp.unwrap().grandmaster, "020000.fffe.000001");
        standing.worst = Some(Contradiction { ptp: measured(-1_000_000, 4_000), own: measured(300_000, 30_000) });
        standing.contradicted = 12;
        (standing.lost, standing.why_lost, standing.is_by_ptp) = (5, Some("gone".to_owned()), false);
        assert_eq!(
            facts(&standing).warnings("b"),
            [
                "clock of b: PTP and takt's own estimate were 1.3 ms apart, and can be off by 34 µs together (12 of 40 looks): \
                 one is wrong",
                "clock of b: PTP was lost in 5 of 40 looks: gone; slots are timed by takt's own estimate at the end",
            ]
        );
    }

    #[test]
    fn a_run_by_its_own_clock_says_nothing_of_ptp() {
        let facts = facts(None);
        let json = serde_json::to_string(&facts).unwrap();
        assert_eq!(json, r#"{"source":"own","own":{"offset_ns":-7,"offset_bound_ns":9}}"#);
        assert_eq!(serde_json::from_str::<ClockFacts>(&json).unwrap(), facts);
        assert!(facts.warnings("a").is_empty());
    }

    #[test]
    fn a_drift_stands_beside_the_offset_once_it_is_known() {
        let facts = facts(Some(Drift { ppb: -12_300, bound_ppb: 4_100 }.into()));
        let json = serde_json::to_string(&facts).unwrap();
        let own = r#"{"offset_ns":-7,"offset_bound_ns":9,"drift_ppb":-12300,"drift_bound_ppb":4100}"#;
        assert_eq!(json, format!(r#"{{"source":"own","own":{own}}}"#));
        assert_eq!(serde_json::from_str::<ClockFacts>(&json).unwrap(), facts);
    }

    /// Facts of a run by its own clock.
    fn facts(drift: Option<DriftFacts>) -> ClockFacts {
        let offset = OffsetFacts { offset_ns: -7, offset_bound_ns: 9 };
        ClockFacts { own: Some(OwnFacts { offset, drift }), ..ClockFacts::default() }
    }
}
