//! The broadcast channel and its master information block: TS 36.212 section 5.3.1, TS 36.211 section 6.6, TS 36.331 section 6.2.2.
//!
//! A block is sent in four frames, of which each is enough for a decoder. The four differ in their scrambling, and that tells the
//! two bits of the frame number that the block lacks.

use num_complex::Complex32;
use takt_dsp::lte::{Modulation, descramble, modulate, scramble};

use crate::control::{Matched, MessageCode, SoftBits};
use crate::{Bandwidth, CellId, PhichResource, ResourceGrid, SYMBOLS_OF_SLOT, Tti};

/// The first that a terminal must know of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mib {
    /// That of the downlink.
    pub bandwidth: Bandwidth,
    /// The resource of acknowledgements, of normal duration.
    pub phich: PhichResource,
    /// The system frame number, 0 to 1023.
    pub frame: u16,
}

/// Frames that send one block.
const FRAMES: usize = 4;
/// Elements of a frame.
const ELEMENTS: usize = 240;
/// Bits of a frame.
const BITS: usize = 2 * ELEMENTS;
/// Bits of the block.
const MESSAGE_BITS: usize = 24;
/// Subcarriers in the middle that hold the channel.
const WIDTH: usize = 72;
/// The mask of the parity with one antenna port.
const ONE_PORT: u16 = 0;

const RESOURCES: [PhichResource; 4] =
    [PhichResource::Sixth, PhichResource::Half, PhichResource::One, PhichResource::Two];

impl Mib {
    /// The first bit of 24 is the highest. The last ten are spare.
    pub(crate) fn pack(&self) -> u64 {
        let place = |found: Option<usize>| found.unwrap_or(0) as u64;
        let bandwidth = place(Bandwidth::ALL.iter().position(|&one| one == self.bandwidth));
        let phich = place(RESOURCES.iter().position(|&one| one == self.phich));
        bandwidth << 21 | phich << 18 | u64::from(self.frame % 1024 / 4) << 10
    }

    /// `None` if there is no such bandwidth, or if acknowledgements have their extended duration. Later releases use spare bits.
    pub(crate) fn unpack(message: u64, quarter: usize) -> Option<Mib> {
        let bandwidth = *Bandwidth::ALL.get((message >> 21) as usize)?;
        let normal = message >> 20 & 1 == 0;
        let frame = (message >> 10 & 0xFF) as u16 * 4 + quarter as u16;
        normal.then_some(Mib { bandwidth, phich: RESOURCES[(message >> 18 & 3) as usize], frame })
    }
}

/// Sends the broadcast channel of a cell.
#[derive(Clone, Debug)]
pub struct BroadcastEncoder {
    id: CellId,
    code: MessageCode,
    bits: Vec<u8>,
    symbols: Vec<Complex32>,
}

impl BroadcastEncoder {
    /// For a cell.
    #[must_use]
    pub fn new(id: CellId) -> BroadcastEncoder {
        BroadcastEncoder {
            id,
            code: MessageCode::new(MESSAGE_BITS, 0),
            bits: vec![0; FRAMES * BITS],
            symbols: vec![Complex32::default(); ELEMENTS],
        }
    }

    /// Writes its quarter of the block into subframe 0 of a frame; other subframes have none. The frame number is `tti`'s,
    /// whatever that of `mib` is.
    ///
    /// # Panics
    /// If the grid is narrower than 6 resource blocks.
    pub fn map(&mut self, mib: &Mib, tti: Tti, grid: &mut ResourceGrid) {
        if tti.subframe() != 0 {
            return;
        }
        self.code.encode(Mib { frame: tti.frame(), ..*mib }.pack(), ONE_PORT, &mut self.bits);
        scramble(self.id.get().into(), &mut self.bits);
        let quarter = usize::from(tti.frame()) % FRAMES;
        modulate(Modulation::Qpsk, &self.bits[quarter * BITS..][..BITS], &mut self.symbols);
        for (place, symbol) in places(self.id, grid.subcarriers()).zip(&self.symbols) {
            grid.elements_mut()[place] = *symbol;
        }
    }
}

/// Receives the broadcast channel of a cell.
#[derive(Clone, Debug)]
pub struct BroadcastDecoder {
    id: CellId,
    code: MessageCode,
    matched: Matched,
    soft: SoftBits,
    /// The soft values of up to four frames, the newest first, as they were received.
    frames: Vec<[i8; BITS]>,
    /// A frame in its place among four.
    all: Vec<i8>,
}

/// The newest frame counts only if its soft values come to this share of what the channel lets expect.
const LEAST_LEVEL: f32 = 0.5;

impl BroadcastDecoder {
    /// For a cell.
    #[must_use]
    pub fn new(id: CellId) -> BroadcastDecoder {
        BroadcastDecoder {
            id,
            code: MessageCode::new(MESSAGE_BITS, BITS),
            matched: Matched::with_capacity(ELEMENTS),
            soft: SoftBits::with_capacity(ELEMENTS),
            frames: Vec::with_capacity(FRAMES),
            all: vec![0; FRAMES * BITS],
        }
    }

    /// Takes subframe 0 of a frame and the channel at each element. A call adds up with up to three before it, if those did not
    /// find a block: call it for each frame, or [`forget`](BroadcastDecoder::forget) what is older.
    ///
    /// # Panics
    /// If the grids have different widths.
    pub fn decode(&mut self, received: &ResourceGrid, gains: &ResourceGrid, noise_power: f32) -> Option<Mib> {
        assert_eq!(received.subcarriers(), gains.subcarriers(), "a received grid and its channel");
        self.matched.gather(received, gains, places(self.id, received.subcarriers()));
        self.soft.demodulate(&self.matched, noise_power);
        self.frames.truncate(FRAMES - 1);
        self.frames.insert(0, [0; BITS]);
        self.frames[0].copy_from_slice(&self.soft.llrs);
        let alone = (0..FRAMES).map(|quarter| (quarter, 1));
        let together = (1..FRAMES).map(|quarter| (quarter, quarter + 1));
        let known = self.frames.len();
        let mut tries = alone.chain(together.filter(|_| known > 1));
        let mib = tries.find_map(|(quarter, frames)| self.try_quarter(quarter, frames.min(known)))?;
        self.forget();
        Some(mib)
    }

    /// Forgets older frames: after a gap, they do not belong to the next.
    pub fn forget(&mut self) {
        self.frames.clear();
    }

    /// If the newest frame is the one that sends this quarter, and counts with those before it.
    fn try_quarter(&mut self, quarter: usize, frames: usize) -> Option<Mib> {
        for (age, frame) in self.frames[..frames].iter().enumerate() {
            self.all[(quarter - age) * BITS..][..BITS].copy_from_slice(frame);
        }
        let used = (quarter + 1 - frames) * BITS..(quarter + 1) * BITS;
        descramble(self.id.get().into(), &mut self.all);
        self.code.clear();
        self.code.add(&self.all[used]);
        let message = self.code.decide(ONE_PORT)?;
        // A frame that is not what it is taken for does not agree, even if those before it tell the block.
        let level =
            self.code.agreement(&self.all[quarter * BITS..][..BITS]) / self.soft.expected(&self.matched.weights);
        Mib::unpack(message, quarter).filter(|_| level > LEAST_LEVEL)
    }
}

/// The elements of the channel in a grid: four symbols of the second slot, without the reference signals of four ports.
fn places(id: CellId, subcarriers: usize) -> impl Iterator<Item = usize> {
    let (first, reserved) = (subcarriers / 2 - WIDTH / 2, usize::from(id.get()) % 3);
    (0..4).flat_map(move |symbol| {
        let used = move |k: &usize| symbol > 1 || k % 3 != reserved;
        (first..first + WIDTH).filter(used).map(move |k| (SYMBOLS_OF_SLOT + symbol) * subcarriers + k)
    })
}
