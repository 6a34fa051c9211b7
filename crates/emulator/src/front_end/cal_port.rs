//! The calibration port of a board: a receiver that is connected to it hears its own transmitter, and not its antenna.

use takt_base::{Complex32, Tick, TickRate, Ticks};

use super::imperfections::Imperfections;
use crate::loopback::{self, LoopbackSource};
use crate::shared::{History, Piece};
use crate::signals::{Both, Signals};
use crate::source::Source;
use crate::timebase::Timebase;

/// Between transmitter and receiver of a board, both at the gains at which UHD's programs measure a carrier: 0 dB to receive, and
/// the most to transmit.
const LEAKAGE_DB: f64 = -30.0;
const MOST_TX_GAIN_DB: f64 = 31.5;
/// The same for a board of unknown gains.
const UNKNOWN_DB: f64 = -10.0;

/// Amplitude of a full-scale transmitter at the receiver's converter, at gains of receiver and transmitter.
pub(crate) fn leakage(gains_db: Option<[f64; 2]>) -> f32 {
    let db = gains_db.map_or(UNKNOWN_DB, |[rx, tx]| LEAKAGE_DB + rx + tx - MOST_TX_GAIN_DB);
    10f64.powf(db / 20.0) as f32
}

/// A source, and what comes from the board's own transmitter.
pub(crate) struct CalPort {
    antenna: Box<dyn Source>,
    cable: LoopbackSource,
    /// How much of the transmitter is received; `None`: the antenna is.
    leakage: History<Option<f32>>,
}

/// Gives boards with imperfections their calibration ports.
pub(crate) fn with_cal(signals: Signals, clock: TickRate, imperfections: Option<Imperfections>) -> Signals {
    if imperfections.is_none() {
        return signals;
    }
    let (cable, end) = loopback::pair(clock, loopback::CAPACITY);
    let Signals { sources, sink } = signals;
    let port = |antenna| {
        let port = CalPort { antenna, cable: end.clone(), leakage: History::new(None) };
        Box::new(port) as Box<dyn Source>
    };
    Signals { sources: sources.map(port), sink: Both::of(cable, sink) }
}

impl Source for CalPort {
    fn raw(&self) -> bool {
        self.antenna.raw() && self.leakage.last().is_none()
    }

    fn clocked(&mut self, from: Tick, base: Timebase) {
        self.antenna.clocked(from, base);
        self.cable.clocked(from, base);
    }

    fn tuned(&mut self, from: Tick, centre_hz: f64) {
        self.antenna.tuned(from, centre_hz);
        self.cable.tuned(from, centre_hz);
    }

    fn oscillator(&mut self, from: Tick, hz: f64) {
        self.antenna.oscillator(from, hz);
        self.cable.oscillator(from, hz);
    }

    fn calibrating(&mut self, from: Tick, leakage: Option<f32>) {
        self.leakage.set(from, leakage);
    }

    fn lookahead(&self, first: Tick, step: u32) -> Ticks {
        let antenna = self.antenna.lookahead(first, step);
        let calibrates = self.leakage.since(first).any(|leakage| leakage.is_some());
        if calibrates { antenna.max(self.cable.lookahead(first, step)) } else { antenna }
    }

    fn fill(&mut self, first: Tick, step: u32, out: &mut [Complex32]) {
        let mut at = 0;
        while at < out.len() {
            let Piece { first, end, value } = self.leakage.piece(first, step, at, out.len());
            let out = &mut out[at..end];
            match value {
                None => self.antenna.fill(first, step, out),
                Some(leakage) => {
                    self.cable.fill(first, step, out);
                    out.iter_mut().for_each(|x| *x = x.scale(leakage));
                }
            }
            at = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::{BurstEdges, Null};
    use crate::source::Tone;

    #[test]
    fn the_port_leads_to_the_transmitter_and_the_antenna_to_the_source() {
        let clock = TickRate::from_hz(100_000_000).unwrap();
        let tone = || Box::new(Tone::new(clock, 0.0, 0.5)) as Box<dyn Source>;
        let signals = Signals { sources: [tone(), tone()], sink: Box::new(Null) };
        let Signals { sources: [mut source, _], mut sink } =
            with_cal(signals, clock, Some(Imperfections::new(1, "", 0)));
        assert!(sink.wants_samples());
        sink.take(Tick(0), 4, &[Complex32::new(0.25, -0.5); 100], BurstEdges { start: true, end: false });
        source.calibrating(Tick(40), Some(0.5));
        source.calibrating(Tick(80), None);
        let mut out = [Complex32::default(); 30];
        source.fill(Tick(0), 4, &mut out);
        assert_eq!([out[9], out[10], out[19], out[20]].map(|x| x.re), [0.5, 0.125, 0.125, 0.5]);
        assert_eq!(out[10].im, -0.25);
    }

    #[test]
    fn perfect_boards_cost_nothing() {
        let clock = TickRate::from_hz(100_000_000).unwrap();
        let silence = || Box::new(crate::source::Silence) as Box<dyn Source>;
        let signals = with_cal(Signals { sources: [silence(), silence()], sink: Box::new(Null) }, clock, None);
        assert!(!signals.sink.wants_samples());
    }

    #[test]
    fn gains_count_where_they_are_known() {
        let db = |gains| 20.0 * f64::from(leakage(gains)).log10();
        assert!((db(Some([0.0, 31.5])) + 30.0).abs() < 1e-3);
        assert!((db(Some([20.0, 11.5])) + 30.0).abs() < 1e-3);
        assert!((db(None) + 10.0).abs() < 1e-3);
    }
}
