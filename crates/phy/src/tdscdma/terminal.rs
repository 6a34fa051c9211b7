//! Work of a terminal in a subframe: samples to chips, chips to a block, the block's CRC to an answer.

use takt_base::Complex32;
use takt_dsp::tdscdma::{AnswerBurst, BlockAnswer, CHIPS, Cell, Converter, Receiver, SAMPLES, SLOT_CHIPS};
use takt_graph::Value;
use takt_runtime::{Bit, component};

use crate::items::{bits_mut, counts};

struct TdScdmaToChips {
    converter: Converter,
}

/// Makes the 6400 chips of a subframe's 6250 samples at 1.25 MS/s.
#[component(name = "td-scdma-to-chips")]
impl TdScdmaToChips {
    fn new() -> TdScdmaToChips {
        TdScdmaToChips { converter: Converter::new() }
    }

    fn tick(
        &mut self,
        #[port(exactly = 6250)] input: In<Complex32>,
        #[port(ratio = 128 / 125)] mut output: Out<Complex32>,
    ) {
        if (input.len(), output.len()) != (SAMPLES, CHIPS) {
            return output.fill(Complex32::default());
        }
        self.converter.to_chips(&input, &mut output);
    }
}

/// Bits of the longest payload, that of 16 codes.
const PAYLOAD: usize = 1849;

struct TdScdmaReceive {
    receiver: Receiver,
    acks: i64,
    nacks: i64,
    missing: i64,
    iterations: u64,
    /// Sum over the blocks with a signal.
    snr_db: f64,
    with_signal: u64,
}

/// Receives a subframe's block: its channel from the midambles, its bits from the turbo decoder, its answer from the CRC, 0 for
/// an ACK and 1 for a NACK. It gives nothing for a subframe that did not arrive.
#[component(name = "td-scdma-receive")]
impl TdScdmaReceive {
    fn new(
        /// Codes of 16 chips in each slot.
        #[param(range = 1..=16, default = 16)]
        codes: u8,
    ) -> TdScdmaReceive {
        let receiver = Receiver::new(Cell::default(), codes.into()).expect("1 to 16 codes, as declared");
        TdScdmaReceive { receiver, acks: 0, nacks: 0, missing: 0, iterations: 0, snr_db: 0.0, with_signal: 0 }
    }

    fn tick(
        &mut self,
        #[port(exactly = 6400)] input: In<Complex32>,
        #[port(up_to = 1)] mut answer: Out<Bit>,
        #[port(up_to = PAYLOAD as u32)] mut payload: Out<Bit>,
    ) {
        if input.missing() {
            self.missing += 1;
            // Not even one that is repeated in its place is answered again.
            answer.lose();
            return payload.lose();
        }
        if input.len() != CHIPS {
            answer.truncate(0);
            return payload.truncate(0);
        }
        let bits = self.receiver.payload_bits();
        payload.truncate(bits);
        let reception = self.receiver.receive(&input, bits_mut(&mut payload[..bits]));
        answer[0] = Bit(u8::from(reception.answer == BlockAnswer::Nack));
        self.acks += i64::from(reception.answer == BlockAnswer::Ack);
        self.nacks += i64::from(reception.answer == BlockAnswer::Nack);
        self.iterations += reception.iterations as u64;
        if reception.snr_db.is_finite() {
            self.snr_db += f64::from(reception.snr_db);
            self.with_signal += 1;
        }
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        let mut results = counts([("acks", self.acks), ("nacks", self.nacks), ("missing_subframes", self.missing)]);
        let blocks = self.acks + self.nacks;
        if blocks > 0 {
            results.push(("mean_iterations", Value::Float(hundredths(self.iterations as f64 / blocks as f64))));
        }
        if self.with_signal > 0 {
            results.push(("mean_snr_db", Value::Float(hundredths(self.snr_db / self.with_signal as f64))));
        }
        results
    }
}

/// As many digits as mean something.
fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

struct TdScdmaAnswer {
    amplitude: f32,
    burst: AnswerBurst,
    converter: Converter,
    chips: Vec<Complex32>,
}

/// Makes the samples of an answer at 1.25 MS/s, from its deadline on: 200 us of silence, then a burst in TS1 that says ACK or
/// NACK and which subframe is meant.
#[component(name = "td-scdma-answer")]
impl TdScdmaAnswer {
    fn new(
        /// Amplitude of a chip.
        #[param(range = 0.0..=1.0, default = 0.5)]
        amplitude: f32,
    ) -> TdScdmaAnswer {
        let chips = vec![Complex32::default(); SLOT_CHIPS];
        TdScdmaAnswer { amplitude, burst: AnswerBurst::new(Cell::default()), converter: Converter::new(), chips }
    }

    fn tick(&mut self, input: In<Bit>, #[port(up_to = 1106)] mut output: Out<Complex32>, slot: u64) {
        let Some(bit) = input.first() else { return output.truncate(0) };
        let answer = if bit.0 == 0 { BlockAnswer::Ack } else { BlockAnswer::Nack };
        self.burst.transmit(answer, slot, &mut self.chips);
        self.converter.answer_to_samples(&self.chips, &mut output);
        output.iter_mut().for_each(|sample| *sample *= self.amplitude);
    }
}
