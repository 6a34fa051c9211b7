//! Receive streams: opened, commanded, received.

use takt_base::MonoNs;
use takt_wire::n200::rate::{Direction, Factor};
use takt_wire::n200::registers::{dsp, rx_control, settings};
use takt_wire::n200::{Destination, RxEvent, RxPacket, StreamAction, StreamCommand, ports, registers};
use takt_wire::sample::{ByteOrder, Format, sc8, sc16};

use super::{Host, us};

/// A sample packet or a message on a receive port.
#[derive(Clone, Debug, PartialEq)]
pub enum Rx {
    Data { arrived: MonoNs, count: u8, stream: u32, time: u64, samples: Vec<(i16, i16)>, end_of_burst: bool },
    Message { arrived: MonoNs, count: u8, time: u64, event: RxEvent },
}

impl Rx {
    pub fn is_data(&self) -> bool {
        matches!(self, Rx::Data { .. })
    }

    pub fn arrived(&self) -> MonoNs {
        match self {
            Rx::Data { arrived, .. } | Rx::Message { arrived, .. } => *arrived,
        }
    }

    pub fn time(&self) -> u64 {
        match self {
            Rx::Data { time, .. } | Rx::Message { time, .. } => *time,
        }
    }

    pub fn count(&self) -> u8 {
        match self {
            Rx::Data { count, .. } | Rx::Message { count, .. } => *count,
        }
    }
}

impl Host {
    pub(super) fn hear_rx(&mut self, dsp: usize, arrived: MonoNs, bytes: &[u8]) {
        let received = match RxPacket::parse(bytes) {
            Ok(RxPacket::Data(data)) => {
                let mut samples = vec![takt_base::Complex::new(0i16, 0i16); data.samples()];
                match self.formats[dsp] {
                    Format::Sc16 => sc16::unpack_i16(data.payload, ByteOrder::Big, &mut samples),
                    Format::Sc8 => sc8::unpack_i16(data.payload, &mut samples),
                };
                Rx::Data {
                    arrived,
                    count: data.head.count,
                    stream: data.head.stream_id,
                    time: data.head.tick,
                    samples: samples.iter().map(|s| (s.re, s.im)).collect(),
                    end_of_burst: data.head.end_of_burst,
                }
            }
            Ok(RxPacket::Message(message)) => {
                Rx::Message { arrived, count: message.count, time: message.tick, event: message.event }
            }
            // It left before the stream was set up, or a fault has damaged it.
            Err(_) => return self.replies.push(bytes.to_vec()),
        };
        self.rx[dsp].push(received);
    }

    /// As a host opens a receive stream.
    pub fn open_rx(&mut self, n: usize, factor: u32, format: Format, samples_per_packet: u32) {
        let factor = Factor::new(factor).unwrap();
        let (control, block) = (settings::RX_CONTROL[n], settings::RX_DSP[n]);
        self.formats[n] = format;
        self.poke(control + rx_control::SAMPLES_PER_PACKET, samples_per_packet);
        self.poke(control + rx_control::CLEAR, 0);
        self.poke(control + rx_control::VRT_HEADER, registers::RX_VRT_HEADER);
        self.poke(control + rx_control::STREAM_ID, registers::RX_STREAM_IDS[n]);
        self.poke(control + rx_control::VRT_TRAILER, 0);
        self.poke(control + rx_control::FORMAT, u32::from(format == Format::Sc8));
        self.poke(block + dsp::RATE, factor.rate_word(Direction::Rx).0);
        self.poke(block + dsp::SCALE, factor.scaling(Direction::Rx, format).word);
        self.direct(ports::RX[n], Destination::Sender);
        self.run(us(10));
    }

    /// An N200 with ramps whose DSP 0 is open at 1 MS/s, 100 samples a packet.
    pub fn receiving(faults: &[&str]) -> Host {
        let mut host = Host::with_faults(faults);
        host.open_rx(0, 100, Format::Sc16, 100);
        host
    }

    pub fn stream(&mut self, n: usize, action: StreamAction, tick: Option<u64>) {
        let words = StreamCommand { action, tick }.words().unwrap();
        for (offset, word) in (0..).zip(words) {
            self.poke(settings::RX_CONTROL[n] + offset, word);
        }
    }

    /// Sample packets received from DSP n: first tick, samples, end of burst.
    pub fn packets(&self, n: usize) -> Vec<(u64, usize, bool)> {
        let packets = self.rx[n].iter().filter_map(|received| match received {
            Rx::Data { time, samples, end_of_burst, .. } => Some((*time, samples.len(), *end_of_burst)),
            Rx::Message { .. } => None,
        });
        packets.collect()
    }

    /// Messages received from DSP n.
    pub fn messages(&self, n: usize) -> Vec<RxEvent> {
        let messages = self.rx[n].iter().filter_map(|received| match received {
            Rx::Message { event, .. } => Some(*event),
            Rx::Data { .. } => None,
        });
        messages.collect()
    }

    /// Sizes of the sample packets received from DSP n, and which of them end a burst.
    pub fn sizes(&self, n: usize) -> Vec<(usize, bool)> {
        self.packets(n).iter().map(|packet| (packet.1, packet.2)).collect()
    }

    /// Samples received from DSP n.
    pub fn samples(&self, n: usize) -> Vec<(i16, i16)> {
        let samples = self.rx[n].iter().filter_map(|received| match received {
            Rx::Data { samples, .. } => Some(samples.clone()),
            Rx::Message { .. } => None,
        });
        samples.flatten().collect()
    }

    /// Checks that sample packets of DSP n count without a gap and are contiguous in time within bursts, and returns
    /// how many samples there are.
    pub fn contiguous(&self, n: usize, step: u64) -> usize {
        let mut next: Option<(u8, u64)> = None;
        let mut total = 0;
        for received in &self.rx[n] {
            let Rx::Data { count, time, samples, end_of_burst, .. } = received else { continue };
            if let Some((expected, at)) = next {
                assert_eq!(*count, expected % 16, "packet count at {time}");
                if at != 0 {
                    assert_eq!(*time, at, "contiguous in time");
                }
            }
            total += samples.len();
            next = Some((count + 1, if *end_of_burst { 0 } else { time + step * samples.len() as u64 }));
        }
        total
    }
}
