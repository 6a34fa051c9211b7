//! What a round of streaming lost, in samples.

use super::Outcome;

/// What a round at a rate lost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LostSamples {
    /// Of those the radio sent, 0 to 1.
    pub rx_share: f64,
    /// Of those the radio ought to have got, 0 to 1.
    pub tx_share: f64,
    /// Samples that the radio did without.
    pub tx_samples: u64,
}

impl Outcome {
    /// What a round lost, by the host's own counts: received samples by their time stamps, transmitted ones by what the radio
    /// complained of. What was due and not yet sent when the round ended was not lost, so without a complaint nothing was.
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
}
