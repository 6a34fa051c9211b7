//! Requirements on how often a control channel is missed at an SNR.

use super::throughput::TOLERANCE_DB;

/// Subframes from one that is read to the next: a tenth of a second, in which the slowest channel becomes another.
pub const STEP: u64 = 101;
/// So far below its SNR a channel has to be missed too often: else its test could not fail.
const BELOW_DB: f32 = 10.0;

/// A requirement of the standard.
#[derive(Clone, Copy, Debug)]
pub struct Requirement {
    pub name: &'static str,
    pub model: &'static str,
    /// The share that may be missed.
    pub share: f64,
    pub snr_db: f32,
    /// Transmissions of a short test; a long one has ten times as many.
    pub count: u64,
}

/// Fails if `missed`, of an SNR and a number of transmissions, is too large a share 1 dB above the SNR of a requirement. Fails as
/// well if it isn't 10 dB below that SNR.
pub fn check(requirement: Requirement, missed: impl Fn(f32, u64) -> f64) {
    let Requirement { name, model, share, snr_db, count } = requirement;
    let is_long = std::env::var_os("TAKT_LONG_TESTS").is_some();
    let count = if is_long { 10 * count } else { count };
    let found = missed(snr_db + TOLERANCE_DB, count);
    if is_long {
        println!(
            "{name}, {model}: of {count}, {:.2} % missed at {snr_db} dB and {:.2} % at {:.1} dB, required {:.1} %",
            100.0 * missed(snr_db, count),
            100.0 * found,
            snr_db + TOLERANCE_DB,
            100.0 * share
        );
    }
    assert!(found <= share, "{name}, {model}: {found:.4} of {count} at {:.1} dB", snr_db + TOLERANCE_DB);
    let below = missed(snr_db - BELOW_DB, count / 5);
    assert!(below > share, "{name}, {model}: {below:.4} at {:.1} dB, so noise does not count", snr_db - BELOW_DB);
}
