//! Transmit streams: opened, fed, reported on.

use takt_base::MonoNs;
use takt_wire::n200::rate::{Direction, Factor};
use takt_wire::n200::registers::{dsp, settings, tx_policy};
use takt_wire::n200::{Destination, TxEvent, TxHead, TxReport, ports, registers};
use takt_wire::sample::Format;

use super::{Host, ms, us};

/// A report of the transmit DSP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tx {
    pub arrived: MonoNs,
    pub report: TxReport,
}

impl Host {
    /// As a host opens a transmit stream, flow control by time only if `packets_per_update` is `None`.
    pub fn open_tx(&mut self, factor: u32, format: Format) {
        let factor = Factor::new(factor).unwrap();
        self.direct(ports::TX, Destination::Sender);
        self.poke(settings::TX_CLEAR, 1);
        self.run(ms(10));
        self.poke(settings::TX_CLEAR, 0);
        self.poke(settings::TX_REPORT_STREAM_ID, registers::TX_STREAM_ID);
        self.poke(settings::TX_POLICY, tx_policy::NEXT_PACKET);
        self.poke(settings::TX_CYCLES_PER_UPDATE, registers::TX_CYCLES_DEFAULT);
        self.poke(settings::TX_PACKETS_PER_UPDATE, registers::TX_PACKETS_DEFAULT);
        self.poke(settings::TX_DSP + dsp::RATE, factor.rate_word(Direction::Tx).0);
        self.poke(settings::TX_DSP + dsp::SCALE, factor.scaling(Direction::Tx, format).word);
        self.poke(settings::TX_FORMAT, u32::from(format == Format::Sc8));
        self.run(us(10));
        self.next_packet = 0;
        self.tx.clear();
    }

    /// An N200 with ramps whose transmit DSP is open at 1 MS/s.
    pub fn transmitting(faults: &[&str]) -> Host {
        let mut host = Host::with_faults(faults);
        host.open_tx(100, Format::Sc16);
        host
    }

    /// Sends a sample packet of zeros with the next number.
    pub fn packet(&mut self, samples: usize, tick: Option<u64>, end_of_burst: bool) {
        self.payload(&vec![0; 4 * samples], tick, end_of_burst);
    }

    pub fn payload(&mut self, payload: &[u8], tick: Option<u64>, end_of_burst: bool) {
        let head = TxHead {
            sequence: self.next_packet,
            count: (self.next_packet & 15) as u8,
            tick,
            start_of_burst: false,
            end_of_burst,
            odd: false,
        };
        self.next_packet = self.next_packet.wrapping_add(1);
        self.raw_packet(&head, payload);
    }

    pub fn raw_packet(&mut self, head: &TxHead, payload: &[u8]) {
        let mut bytes = vec![0; payload.len() + TxHead::MAX_OVERHEAD_BYTES];
        let at = head.payload_at();
        bytes[at..at + payload.len()].copy_from_slice(payload);
        let len = head.frame(payload.len(), &mut bytes).unwrap();
        self.send(ports::TX, &bytes[..len]);
    }

    /// Loses so many packets on the way: numbers are used up, nothing is sent.
    pub fn lose_packets(&mut self, count: u32) {
        self.next_packet += count;
    }

    /// Reports but flow control: event, device time, number.
    pub fn events(&self) -> Vec<(TxEvent, u64, u32)> {
        let reports = self.tx.iter().map(|tx| tx.report);
        let events = reports.filter(|report| report.event != TxEvent::FlowControl);
        events.map(|report| (report.event, report.tick, report.sequence)).collect()
    }

    pub fn event_kinds(&self) -> Vec<TxEvent> {
        self.events().iter().map(|event| event.0).collect()
    }

    pub fn updates(&self) -> Vec<Tx> {
        self.tx.iter().filter(|tx| tx.report.event == TxEvent::FlowControl).copied().collect()
    }
}
