//! Receive streams of an N200: its DSPs set up, and what a streamer asks of them.

mod dsps;

use std::sync::Arc;

use takt_packet::{Config, PortSpec, Way};
use takt_wire::n200::rate::Direction;
use takt_wire::n200::registers::{RX_STREAM_IDS, RX_VRT_HEADER, dsp, rx_control, settings};
use takt_wire::n200::{RxHead, ports};
use takt_wire::sample::{ByteOrder, Format};

use self::dsps::{Dsps, LAST_NUMBER};
use super::control::Control;
use super::{CLOCK, N200, exact_rate};
use crate::ports::any;
use crate::rx::{BATCH, Setup, WireSamples, checked_size};
use crate::{RadioError, Role, RxOptions, RxStreamer};

impl N200 {
    /// Makes a receive stream. The radio does not send before [`RxStreamer::start`] or [`RxStreamer::burst`].
    ///
    /// # Errors
    /// `Rate` for a rate the radio does not make exactly; `Range` for channels or datagram sizes it does not have;
    /// otherwise the radio does not answer or the ports can't be had.
    pub fn rx_streamer(&mut self, options: &RxOptions) -> Result<RxStreamer, RadioError> {
        let factor = exact_rate(options.rate_sps)?;
        let dsps = checked_channels(&options.channels)?;
        let most = (self.frame_bytes.receive - RxHead::OVERHEAD_BYTES) / options.format.bytes();
        let samples_per_datagram = checked_size(options.samples_per_datagram, most)?;
        let scaling = factor.scaling(Direction::Rx, options.format);
        for &d in &dsps {
            let control = settings::RX_CONTROL[d];
            let block = settings::RX_DSP[d];
            self.fifo.poke(control + rx_control::SAMPLES_PER_PACKET, samples_per_datagram as u32)?;
            self.fifo.poke(control + rx_control::CLEAR, 0)?;
            self.fifo.poke(control + rx_control::VRT_HEADER, RX_VRT_HEADER)?;
            self.fifo.poke(control + rx_control::STREAM_ID, RX_STREAM_IDS[d])?;
            self.fifo.poke(control + rx_control::VRT_TRAILER, 0)?;
            self.fifo.poke(control + rx_control::FORMAT, u32::from(options.format == Format::Sc8))?;
            self.fifo.poke(block + dsp::SCALE, scaling.word)?;
            self.fifo.poke(block + dsp::RATE, factor.rate_word(Direction::Rx).0)?;
            self.rx_rate_sps[d] = factor.rate_sps();
        }
        self.fifo.flush()?;

        let peer = |d: usize| (self.addr, ports::RX[d]).into();
        let specs = dsps.iter().map(|&d| PortSpec { bind: any(self.addr), peer: Some(peer(d)) });
        let config = Config {
            max_payload_bytes: self.frame_bytes.receive,
            way: Way::Receive,
            recv_buffer_bytes: options.recv_buffer_bytes,
            force_buffers: options.force_buffer,
            stamps: options.stamps,
            aggregate: options.aggregate,
            busy_poll: options.busy_poll,
            batch: BATCH,
            ..Config::new(specs.collect())
        };
        let mut engine = self.net.open(Role::Stream, &config)?;
        super::announce(&mut *engine, dsps.len(), &*self.net)?;

        let mut control = Control::open(&self.net, self.addr)?;
        control.hello()?;
        let (net, claim, anchor) = (Arc::clone(&self.net), Arc::clone(&self.claim), Arc::clone(&self.anchor));
        Ok(RxStreamer::new(Setup {
            engine,
            net: Arc::clone(&self.net),
            channels: dsps.len(),
            source: Box::new(Dsps { control, net, claim, anchor, dsps }),
            clock: CLOCK,
            speed: self.seen_speed(),
            wire: WireSamples { format: options.format, order: ByteOrder::Big, scale: scaling.host_factor as f32 },
            rate_sps: factor.rate_sps(),
            ticks_per_sample: u64::from(factor.get()),
            samples_per_datagram,
            frame_bytes: self.frame_bytes.receive,
            last_number: LAST_NUMBER,
            coalesce: options.nap(),
        }))
    }
}

fn checked_channels(channels: &[u8]) -> Result<Vec<usize>, RadioError> {
    let high = settings::RX_CONTROL.len();
    if channels.is_empty() || channels.len() > high {
        let got = channels.len() as f64;
        return Err(RadioError::Range { what: "receive channels", got, low: 1.0, high: high as f64 });
    }
    let mut dsps = Vec::with_capacity(channels.len());
    for &channel in channels {
        let d = usize::from(channel);
        if d >= high || dsps.contains(&d) {
            let got = f64::from(channel);
            return Err(RadioError::Range { what: "receive DSP (each once)", got, low: 0.0, high: (high - 1) as f64 });
        }
        dsps.push(d);
    }
    Ok(dsps)
}
