//! What is measured to prove a change.

/// How the worth of a change is found out on the host itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// This is measured with the change and without it, in turns.
    By(Measure),
    Not(&'static str),
}

impl Proof {
    /// For advice: takt does not make the change, so it can't be measured with and without it.
    pub const ADVICE: Proof = Proof::Not("takt does not make this change, so it can't measure with and without it");
    /// For changes of what loopback does not pass.
    pub const BEHIND_THE_CARD: Proof = Proof::Not(
        "it shows only on datagrams that come through the card: compare `takt rate --addr RADIO` before and after",
    );
}

/// What is measured to prove a change. Less is better in all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// How late 99 % of wake-ups every millisecond are at most, ns.
    WakeUp,
    /// The same of threads of normal priority beside two busy loops a CPU, ns.
    WakeUpLoaded,
    /// Longest time a real-time thread that never sleeps stands still, ns.
    SpinGap,
    /// Share of datagrams at 25 MS/s that are lost over loopback while the reader pauses for 0.1 s, with the largest buffer
    /// that may be had.
    LossOfLargest,
    /// The same with the buffer that a program gets without asking.
    LossOfDefault,
    /// Time of a 1472-byte datagram that arrives over loopback, flat out, ns.
    Datagram,
    /// Time of one reading of the clock, ns.
    ClockReading,
}

impl Measure {
    #[must_use]
    pub const fn what(self) -> &'static str {
        match self {
            Measure::WakeUp => "lateness that 99 % of wake-ups every millisecond do not exceed",
            Measure::WakeUpLoaded => {
                "lateness that 99 % of wake-ups of ordinary threads beside two busy loops a CPU do not exceed"
            }
            Measure::SpinGap => "longest standstill of a real-time thread that never sleeps",
            Measure::LossOfLargest => {
                "datagrams lost at 25 MS/s over loopback while the reader pauses for 0.1 s, largest buffer"
            }
            Measure::LossOfDefault => {
                "datagrams lost at 25 MS/s over loopback while the reader pauses for 0.1 s, default buffer"
            }
            Measure::Datagram => "time of a 1472-byte datagram over loopback, flat out",
            Measure::ClockReading => "time of one reading of the clock",
        }
    }

    /// Whether its values are shares of one; the others are nanoseconds.
    #[must_use]
    pub const fn is_share(self) -> bool {
        matches!(self, Measure::LossOfLargest | Measure::LossOfDefault)
    }
}
