//! Results of a round of streaming: the JSON document of `takt rate`.

use serde::{Deserialize, Serialize};
use takt_host::accounting::CpuClasses;
use takt_radio::Model;
use takt_radio::calibration::AppliedTable;
use takt_stats::Quantiles;

use super::{Backlog, Counted, Faults, RateInterval, RateOptions};

/// Results of a round of streaming. Counts are of the measured part only, the warm-up left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RateOutcome {
    pub options: RateOptions,
    pub radio: Radio,
    /// Seconds of the radio in a second of this host as the round began; `None`: hardware, which does not say.
    #[serde(default)] // records older than this key
    pub radio_speed: Option<f64>,
    /// The same when it had ended: `takt emulate --speed auto` may have changed it.
    #[serde(default)] // as above
    pub radio_speed_at_end: Option<f64>,
    #[serde(default)] // records older than this key
    pub engine: EngineInForce,
    pub rx: Rx,
    pub tx: Tx,
    pub cpu: Cpu,
    /// The measured part by intervals, if any were requested.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<RateInterval>,
    /// Length of the measured part, seconds of this host.
    pub wall_s: f64,
    pub complete: bool,
    /// Nothing went wrong: no sample lost, no letter, no timeout, and the reader kept up.
    pub clean: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Radio {
    pub model: String,
    /// Ticks of its clock in a second.
    #[serde(default = "clock_of_an_n200")] // records older than this key
    pub clock_hz: u32,
    pub serial: String,
    pub name: String,
    pub firmware: String,
    pub fpga: String,
    pub repeated_commands: u64,
    /// Whether its clock followed its reference; `None`: not looked at.
    #[serde(default)] // records older than this key
    pub reference_locked: Option<bool>,
    /// Whether the receive oscillator was locked; `None`: there is none, or nothing was received.
    #[serde(default)] // records older than this key
    pub rx_lo_locked: Option<bool>,
    /// Whether the transmit oscillator was locked; `None`: there is none, or nothing was sent.
    #[serde(default)] // records older than this key
    pub tx_lo_locked: Option<bool>,
    /// Files of corrections that its front end was tuned by, or that were found and could not be used.
    #[serde(default)] // records older than this key
    pub calibration: Vec<AppliedTable>,
}

/// Engine that carried the datagrams.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineInForce {
    /// How they passed between this process and the interface, in words: `kernel sockets`, `native XDP, copied`.
    pub path: String,
    /// Choice of `auto`: which engine it was, and why no other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<String>,
    /// Which queues of a card it served, and what brought datagrams there, in words; or why it had all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queues: Option<String>,
}

impl Default for Radio {
    fn default() -> Radio {
        Radio {
            model: String::new(),
            clock_hz: clock_of_an_n200(),
            serial: String::new(),
            name: String::new(),
            firmware: String::new(),
            fpga: String::new(),
            repeated_commands: 0,
            reference_locked: None,
            rx_lo_locked: None,
            tx_lo_locked: None,
            calibration: Vec::new(),
        }
    }
}

fn clock_of_an_n200() -> u32 {
    Model::N200.clock().hz()
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rx {
    /// Samples of the measured part that came, all channels together; those that came after its end included.
    pub samples: u64,
    /// Samples of the measured part that were sent, or were to be, and did not come, all channels together.
    pub dropped: u64,
    /// `O`: times the radio stopped since it could not send.
    pub overflows: u64,
    /// `D`: gaps on the way from the radio.
    pub sequence_errors: u64,
    /// `L`: stream commands that came too late.
    pub late: u64,
    /// Calls that brought nothing within 100 ms.
    pub timeouts: u64,
    /// Samples of the measured part that the radio did not send, since it had not been started in time.
    #[serde(default)] // records older than this key
    pub unsent_samples: u64,
    /// Samples the radio's clock made in the measured part: `samples + dropped + unsent_samples`, to the sample.
    pub expected_samples: u64,
    /// Samples of `dropped` behind the last datagram that came, where no later one shows the gap.
    #[serde(default)] // records older than this key
    pub tail_samples: u64,
    /// Times the radio's clock was set while it streamed, so that the count is open.
    #[serde(default)] // records older than this key
    pub retimed: u64,
    /// The measured part on the radio's clock: its first tick, and the one behind its last.
    #[serde(default)] // records older than this key
    pub span_ticks: [u64; 2],
    #[serde(default)] // records older than this key
    pub faults: Faults,
    #[serde(default)] // records older than this key
    pub backlog: Backlog,
    #[serde(default)] // records older than this key
    pub delivery: Delivery,
    /// The same by the samples' own numbers, first channel; `None`: they had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<Counted>,
    pub lost_by_place: RxPlaces,
    pub datagrams: u64,
    /// Datagrams that are missing by the time stamps.
    pub lost_datagrams: u64,
    pub bad_datagrams: u64,
    pub reordered_datagrams: u64,
    /// Datagrams that came twice, or too late to be put in order.
    pub stale_datagrams: u64,
    /// Gaps about which the datagrams' numbers (4 bits of an N200, 16 of an X310) say something else than the time stamps.
    pub uncorroborated_gaps: u64,
    pub unknown_messages: u64,
    pub samples_per_datagram: usize,
    pub recv_buffer_bytes: usize,
    /// Time that buffer holds at this rate, seconds: a reader that pauses longer loses datagrams.
    pub recv_buffer_s: f64,
    /// Longest time between two reads of the socket, nanoseconds.
    pub longest_pause_ns: u64,
    pub receive_calls: u64,
}

/// When samples reached the program after they were on the air, by this host's clock and the radio's as read at the start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Delivery {
    /// Calls that brought samples.
    pub deliveries: u64,
    /// Jitter of RFC 3550 between calls, its mean over them; `None` below two.
    pub jitter_us: Option<f64>,
    /// From when the last sample of a call was on the air to the call's return.
    pub delay: Quantiles,
}

/// Places where samples that were not received were lost, all channels together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RxPlaces {
    /// In the radio: it could not send and stopped. Samples.
    pub radio_samples: u64,
    /// Between the radio's wire and this host's socket. Datagrams.
    pub path_datagrams: u64,
    /// In this host's socket, whose buffer was full. Datagrams; `None`: the engine can't see it, and they count as `path`.
    pub receive_buffer_datagrams: Option<u64>,
    /// In takt itself. Datagrams.
    pub takt_datagrams: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tx {
    /// Samples handed to the kernel, all channels together.
    pub samples: u64,
    /// `U`: times a burst ran out of samples.
    pub underflows: u64,
    /// `S`: datagrams that the radio missed.
    pub sequence_errors: u64,
    /// `L`: datagrams that came after their time.
    pub late: u64,
    /// Calls that could not send everything within 100 ms.
    pub timeouts: u64,
    /// Samples the rate makes in the measured time, all channels together.
    pub expected_samples: u64,
    /// The measured part on the radio's clock: its first tick, and the one behind its last.
    #[serde(default)] // records older than this key
    pub span_ticks: [u64; 2],
    #[serde(default)] // records older than this key
    pub faults: Faults,
    pub datagrams: u64,
    pub burst_acks: u64,
    pub unknown_reports: u64,
    pub samples_per_datagram: usize,
    /// Datagrams that may be on their way.
    pub window_datagrams: u32,
    /// Datagrams given up: the radio ran dry with a whole window on its way, and took none of it.
    #[serde(default)] // records older than this key
    pub given_up_datagrams: u64,
    /// Times the window was closed: the radio had enough.
    pub waits: u64,
    pub send_calls: u64,
    /// How datagrams passed between this process and the interface, in words, as was known in the end.
    #[serde(default)] // records older than this key
    pub engine_path: String,
    /// Datagrams left as aggregates that the kernel splits.
    pub aggregated: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    /// CPU of this process, all threads, user and system, seconds.
    pub host_seconds: f64,
    /// The same for a million samples, sent and received together, milliseconds.
    pub host_ms_per_msample: Option<f64>,
    pub threads: Vec<Thread>,
    /// The whole machine by class, nanoseconds: interrupt work for our datagrams is in no other account.
    pub machine: CpuClasses,
    /// Time that others used, without interrupts, seconds.
    pub foreign_seconds: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Thread {
    /// Its name: `takt-rx`, `takt-tx`, `takt-stream`, or what else there is.
    pub name: String,
    /// Time on a CPU, seconds.
    pub seconds: f64,
    /// In its own code, seconds; counted in ticks of 10 ms.
    pub user_seconds: f64,
    /// In the kernel for it, seconds; counted in ticks of 10 ms.
    pub system_seconds: f64,
    /// Ready to run and waiting for a CPU, seconds; `None`: this kernel does not say.
    pub run_delay_seconds: Option<f64>,
    /// Times another thread took its CPU.
    pub involuntary_switches: u64,
    pub last_cpu: Option<u32>,
    /// The policy that was requested for it: `fifo 50`; `None` = normal.
    pub policy: Option<String>,
    /// CPUs it was tied to; empty = none.
    pub cpus: Vec<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LostSamples {
    /// Share of those the radio sent, 0 to 1.
    pub rx_share: f64,
    /// Share of those the radio ought to have got, 0 to 1.
    pub tx_share: f64,
    /// Samples that the radio did without.
    pub tx_samples: u64,
}

impl RateOutcome {
    /// The measured part on the radio's clock, of whichever direction there is.
    #[must_use]
    pub fn span_ticks(&self) -> [u64; 2] {
        let [rx, tx] = [self.rx.span_ticks, self.tx.span_ticks];
        if rx[1] > rx[0] { rx } else { tx }
    }

    /// Whether nothing went wrong but what has a letter and an instant: it ran to its end, the reader kept up, and every
    /// sample is accounted for.
    #[must_use]
    pub fn is_clean_but_for_faults(&self) -> bool {
        let rx = &self.rx;
        let adds_up = rx.samples + rx.dropped + rx.unsent_samples == rx.expected_samples && rx.retimed == 0;
        let nameless = rx.unknown_messages + self.tx.unknown_reports;
        self.complete && adds_up && !rx.backlog.growing && !rx.backlog.stuck && nameless == 0
    }

    /// Number of faults, by UHD's letters: O, D, U, L, S, and time-outs.
    #[must_use]
    pub fn fault_count(&self) -> u64 {
        let (rx, tx) = (&self.rx, &self.tx);
        let received = rx.overflows + rx.sequence_errors + rx.late + rx.timeouts;
        received + tx.underflows + tx.sequence_errors + tx.late + tx.timeouts
    }

    /// Loss of a round, by the host's own counts: received samples by their time stamps, transmitted ones by what the
    /// radio complained of. Samples due and not yet sent when the round ended were not lost, so without a complaint
    /// nothing was.
    #[must_use]
    pub fn lost(&self) -> LostSamples {
        let (rx, tx) = (&self.rx, &self.tx);
        let share = |lost: u64, of: u64| if of == 0 { 0.0 } else { (lost as f64 / of as f64).min(1.0) };
        let refused = (tx.sequence_errors + tx.late) * tx.samples_per_datagram as u64;
        let short = tx.expected_samples.saturating_sub(tx.samples);
        let complained = tx.underflows + tx.sequence_errors + tx.late + tx.timeouts > 0;
        let tx_samples = if complained { short + refused } else { 0 };
        LostSamples {
            rx_share: share(rx.dropped, rx.samples + rx.dropped),
            tx_share: share(tx_samples, tx.expected_samples),
            tx_samples,
        }
    }

    /// Whether this host held the rate in real time. `None`: not known, as the radio's time passed slower or faster. The rate
    /// was not held if that time passed slower and something went wrong all the same.
    #[must_use]
    pub fn held(&self) -> Option<bool> {
        let any = |is: fn(f64) -> bool| [self.radio_speed, self.radio_speed_at_end].into_iter().flatten().any(is);
        let (slower, faster) = (any(|speed| speed < 1.0), any(|speed| speed > 1.0));
        let known = if self.clean { !slower && !faster } else { !faster };
        known.then_some(self.clean)
    }

    pub(super) fn judge(&mut self) {
        self.clean =
            self.is_clean_but_for_faults() && self.fault_count() + self.rx.dropped + self.rx.unsent_samples == 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_held_only_where_the_radio_ran_in_real_time() {
        let held = |clean, radio_speed, radio_speed_at_end| {
            RateOutcome { clean, radio_speed, radio_speed_at_end, ..RateOutcome::default() }.held()
        };
        assert_eq!([held(true, Some(1.0), Some(1.0)), held(true, None, None)], [Some(true); 2]);
        assert_eq!(held(false, None, None), Some(false));
        for speed in [0.1, 0.999_999, 2.0] {
            assert_eq!(held(true, Some(speed), Some(speed)), None, "{speed}");
        }
        assert_eq!(held(true, Some(1.0), Some(0.8)), None, "it changed meanwhile");
        assert_eq!(held(false, Some(0.1), Some(0.1)), Some(false), "too fast even so");
        assert_eq!(held(false, Some(2.0), Some(2.0)), None);
    }
}
