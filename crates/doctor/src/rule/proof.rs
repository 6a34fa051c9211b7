//! The measurement that proves a change.

/// How to measure the effect of a change on the host itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The measurement, taken with and without the change in alternation.
    By(Measure),
    Not(&'static str),
}

impl Proof {
    /// For advice: takt does not make the change, so it can't measure its effect.
    pub const ADVICE: Proof = Proof::Not("takt does not make this change, so it can't measure its effect");
    /// For changes that do not affect loopback.
    pub const BEHIND_THE_CARD: Proof = Proof::Not(
        "it shows only on datagrams that come through the card; compare `takt rate --addr RADIO` before and after",
    );
}

/// The measurement that proves a change. Less is better in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// 99th percentile of the lateness of wake-ups every millisecond, ns.
    WakeUp,
    /// The same for threads of normal priority beside two busy loops per CPU, ns.
    WakeUpLoaded,
    /// The longest time that a real-time thread which never sleeps does not run, ns.
    SpinGap,
    /// Share of datagrams lost over loopback at 25 MS/s while the reader pauses for 0.1 s, with the largest buffer that the
    /// kernel grants.
    Loss,
    /// Time per 1472-byte datagram over loopback at full speed, ns.
    Datagram,
    /// Time per reading of the clock, ns.
    ClockReading,
}

impl Measure {
    #[must_use]
    pub const fn what(self) -> &'static str {
        match self {
            Measure::WakeUp => "99th percentile of the lateness of wake-ups every millisecond",
            Measure::WakeUpLoaded => {
                "99th percentile of the lateness of wake-ups of ordinary threads beside two busy loops per CPU"
            }
            Measure::SpinGap => "longest time that a real-time thread which never sleeps does not run",
            Measure::Loss => {
                "datagrams lost over loopback at 25 MS/s while the reader pauses for 0.1 s, largest buffer"
            }
            Measure::Datagram => "time per 1472-byte datagram over loopback at full speed",
            Measure::ClockReading => "time per reading of the clock",
        }
    }

    /// Whether its values are shares of 1; the others are nanoseconds.
    #[must_use]
    pub const fn is_share(self) -> bool {
        matches!(self, Measure::Loss)
    }
}
