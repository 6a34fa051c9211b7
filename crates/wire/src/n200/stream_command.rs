//! Commands to a receive DSP: the words of registers 32 to 34 (80 to 82).

use super::time;
use crate::WireError;

const NOW: u32 = 1 << 31;
const CHAIN: u32 = 1 << 30;
const RELOAD: u32 = 1 << 29;
const STOP: u32 = 1 << 28;

/// Most samples one command can ask for: 28 bits.
pub const MAX_SAMPLES: u32 = STOP - 1;

/// A stream command with its time.
///
/// ```
/// use takt_wire::n200::{StreamAction, StreamCommand};
/// let start = StreamCommand { action: StreamAction::Start, tick: None };
/// assert_eq!(start.words(), Ok([0xE000_0001, 0, 0]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamCommand {
    /// The action.
    pub action: StreamAction,
    /// When: the tick of the first sample, or `None` for now.
    pub tick: Option<u64>,
}

/// The four commands of a receive DSP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamAction {
    /// Stream until stopped.
    Start,
    /// Finish at the current sample; that packet carries the end of the burst.
    Stop,
    /// So many samples, then end the burst.
    Samples(u32),
    /// So many samples, then go on with the next command without a gap.
    SamplesAndMore(u32),
}

impl StreamCommand {
    /// The command word, and the two words of the time, high first (zero for "now").
    ///
    /// # Errors
    /// `Field` for more than [`MAX_SAMPLES`] samples.
    pub fn words(&self) -> Result<[u32; 3], WireError> {
        let word = match self.action {
            StreamAction::Start => CHAIN | RELOAD | 1,
            StreamAction::Stop => STOP,
            StreamAction::Samples(count) => checked(count)?,
            StreamAction::SamplesAndMore(count) => CHAIN | checked(count)?,
        };
        let now = if self.tick.is_none() { NOW } else { 0 };
        let [high, low] = time::split(self.tick.unwrap_or(0));
        Ok([word | now, high, low])
    }

    /// Command that three register words give. Any words mean something: stop wins; reload counts only with chain.
    #[must_use]
    pub fn from_words(words: [u32; 3]) -> Self {
        let [word, high, low] = words;
        let count = word & MAX_SAMPLES;
        let action = match (word & STOP != 0, word & CHAIN != 0, word & RELOAD != 0) {
            (true, _, _) => StreamAction::Stop,
            (false, true, true) => StreamAction::Start,
            (false, true, false) => StreamAction::SamplesAndMore(count),
            (false, false, _) => StreamAction::Samples(count),
        };
        let tick = if word & NOW != 0 { None } else { Some(time::join(high, low)) };
        Self { action, tick }
    }
}

fn checked(count: u32) -> Result<u32, WireError> {
    if count <= MAX_SAMPLES { Ok(count) } else { Err(WireError::field("sample count", count, "at most 0xfffffff")) }
}
