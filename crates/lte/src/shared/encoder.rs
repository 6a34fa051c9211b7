//! Coding of a transport block for a shared channel: TS 36.212 sections 5.3.2 (downlink) and 5.2.2 (uplink, but for control
//! information and the channel interleaver).

use takt_dsp::crc::Crc;
use takt_dsp::lte::{Modulation, RateMatching, Segmentation, TurboEncoder, crc_attach};

use super::bytes::to_bits;
use super::plans::{Plans, most};
use crate::{Bandwidth, Error};

/// Codes the transport blocks of a bandwidth: CRC, code blocks, turbo code, rate matching. One layer; the soft buffer of the
/// receiver is not limited (N_cb = K_w).
///
/// ```
/// use takt_dsp::lte::Modulation;
/// use takt_lte::{Bandwidth, SharedChannelEncoder, transport_block_bits};
/// let mut encoder = SharedChannelEncoder::new(Bandwidth::Prb6);
/// let block = vec![0xa5; transport_block_bits(9, 6) / 8];
/// let mut coded = vec![0; 2 * 800];
/// encoder.encode(&block, 0, Modulation::Qpsk, &mut coded)?;
/// # Ok::<_, takt_lte::Error>(())
/// ```
pub struct SharedChannelEncoder {
    plans: Plans<(TurboEncoder, RateMatching)>,
    /// The transport block, and with its parity.
    data: Box<[u8]>,
    bits: Box<[u8]>,
    /// The code blocks, and one of them coded.
    blocks: Box<[u8]>,
    coded: Box<[u8]>,
}

impl SharedChannelEncoder {
    /// Builds the plans of all transport block sizes of a bandwidth.
    #[must_use]
    pub fn new(bandwidth: Bandwidth) -> SharedChannelEncoder {
        let plan = |length| Some((TurboEncoder::new(length).ok()?, RateMatching::new(length, 0, None).ok()?));
        let zeros = |length| vec![0; length].into();
        SharedChannelEncoder {
            plans: Plans::new(bandwidth, |length| plan(length).expect("a code block has a legal length")),
            data: zeros(most(bandwidth, Segmentation::bits)),
            bits: zeros(most(bandwidth, Segmentation::bits)),
            blocks: zeros(most(bandwidth, Segmentation::blocks_len)),
            coded: zeros(most(bandwidth, |cut| 3 * (cut.longer().0 + 4))),
        }
    }

    /// Fills `coded`, G bits, from the transport block `block`, whose first bit is the most significant of its first
    /// byte. The lowest two bits of `redundancy_version` count.
    ///
    /// # Errors
    /// [`Error::TransportBlock`] if the bandwidth has no transport block of that size.
    ///
    /// # Panics
    /// If G is not a multiple of the bits of a symbol.
    pub fn encode(
        &mut self,
        block: &[u8],
        redundancy_version: u8,
        modulation: Modulation,
        coded: &mut [u8],
    ) -> Result<(), Error> {
        let bits = 8 * block.len();
        let cut = self.plans.cut(bits).ok_or(Error::TransportBlock { bits })?;
        let (all, symbol) = (coded.len(), modulation.bits());
        assert!(all.is_multiple_of(symbol), "{all} bits in symbols of {symbol}");
        to_bits(block, &mut self.data[..bits]);
        crc_attach(Crc::Crc24A, &self.data[..bits], &mut self.bits[..cut.bits()]);
        cut.segment(&self.bits[..cut.bits()], &mut self.blocks[..cut.blocks_len()]);
        let (mut rest, mut out) = (&self.blocks[..], coded);
        for r in 0..cut.blocks() {
            let (block, more) = rest.split_at(cut.block_len(r));
            let (matched, later) = out.split_at_mut(cut.matched_len(all, symbol, r));
            let (turbo, matching) = self.plans.of(block.len());
            let streams = &mut self.coded[..turbo.coded_len()];
            turbo.encode(block, streams);
            matching.apply(streams, usize::from(redundancy_version & 3), matched);
            (rest, out) = (more, later);
        }
        Ok(())
    }
}
