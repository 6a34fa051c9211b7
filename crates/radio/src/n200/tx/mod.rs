//! Transmit streams of an N200: its DSP set up, and what a streamer asks of it.

mod dsp;
mod window;

use std::sync::Arc;

use takt_packet::{Config, PortSpec, Way};
use takt_wire::n200::rate::Direction;
use takt_wire::n200::registers::{self, TX_STREAM_ID, UPDATE_ENABLE, settings, tx_policy};
use takt_wire::n200::{MASTER_CLOCK_HZ, TX_BUFFER_BYTES, TxHead, ports};
use takt_wire::sample::{ByteOrder, Format};

use self::dsp::Dsp;
use self::window::Window;
use super::{CLOCK, N200, TxWish, exact_rate};
use crate::ports::any;
use crate::rx::{WireSamples, checked_size};
use crate::tx::Setup;
use crate::{RadioError, Role, TxOptions, TxStreamer};

/// Reports a second that are requested of the radio at least.
const REPORTS_PER_S: u32 = 20;
/// Reports that are requested of the radio at least while its buffer is played once.
const REPORTS_PER_BUFFER: usize = 8;

impl N200 {
    /// Makes a transmit stream. Samples that an earlier one left in the radio are dropped.
    ///
    /// # Errors
    /// `Transmit` for a radio that is not takt's own, unless it was opened with
    /// [`OpenOptions::transmit`](super::OpenOptions); `Rate` for a rate the radio does not take exactly; `Range` for channels
    /// or datagram sizes it does not have; otherwise the radio does not answer or the port can't be had.
    pub fn tx_streamer(&mut self, options: &TxOptions) -> Result<TxStreamer, RadioError> {
        self.may_transmit(TxWish::default())?;
        only_channel(&options.channels)?;
        let factor = exact_rate(options.rate_sps)?;
        let frame_bytes = self.frame_bytes.send;
        let most = (frame_bytes - TxHead::MAX_OVERHEAD_BYTES) / options.format.bytes();
        let samples_per_datagram = checked_size(options.samples_per_datagram, most)?;
        let scaling = factor.scaling(Direction::Tx, options.format);

        let config = Config {
            max_payload_bytes: frame_bytes,
            way: Way::Transmit,
            send_buffer_bytes: options.send_buffer_bytes,
            recv_buffer_bytes: 1 << 20,
            aggregate: options.aggregate,
            stamps: false,
            ..Config::new(vec![PortSpec { bind: any(self.addr), peer: Some((self.addr, ports::TX).into()) }])
        };
        let mut engine = self.net.open(Role::Stream, &config)?;
        super::announce(&mut *engine, 1, &*self.net)?;

        self.clear_tx()?;
        let window = (TX_BUFFER_BYTES / frame_bytes) as u32;
        let every = (TX_BUFFER_BYTES / REPORTS_PER_BUFFER / frame_bytes) as u32;
        self.fifo.poke(settings::TX_REPORT_STREAM_ID, TX_STREAM_ID)?;
        self.fifo.poke(settings::TX_POLICY, tx_policy::NEXT_PACKET)?;
        self.fifo.poke(settings::TX_CYCLES_PER_UPDATE, UPDATE_ENABLE | (MASTER_CLOCK_HZ / REPORTS_PER_S))?;
        self.fifo.poke(settings::TX_PACKETS_PER_UPDATE, UPDATE_ENABLE | every)?;
        self.fifo.poke(settings::TX_DSP + registers::dsp::SCALE, scaling.word)?;
        self.fifo.poke(settings::TX_DSP + registers::dsp::RATE, factor.rate_word(Direction::Tx).0)?;
        self.fifo.poke(settings::TX_FORMAT, u32::from(options.format == Format::Sc8))?;
        // Samples take another way than registers: they may leave only when the registers are known to be set.
        self.fifo.flush()?;
        self.tx_rate_sps = factor.rate_sps();
        Ok(TxStreamer::new(Setup {
            engine,
            net: Arc::clone(&self.net),
            sink: Box::new(Dsp { claim: Arc::clone(&self.claim), window: Window::new(window), dry: None }),
            clock: CLOCK,
            speed: self.seen_speed(),
            wire: WireSamples { format: options.format, order: ByteOrder::Big, scale: scaling.host_factor as f32 },
            rate_sps: factor.rate_sps(),
            ticks_per_sample: u64::from(factor.get()),
            samples_per_datagram,
            channels: 1,
        }))
    }
}

/// An N200 has one.
fn only_channel(wanted: &[u8]) -> Result<(), RadioError> {
    match wanted {
        [0] => Ok(()),
        [got] => Err(RadioError::Range { what: "transmit channel", got: f64::from(*got), low: 0.0, high: 0.0 }),
        _ => {
            let got = wanted.len() as f64;
            Err(RadioError::Range { what: "number of transmit channels", got, low: 1.0, high: 1.0 })
        }
    }
}
