//! HARQ with eight processes, and its throughput at an SNR.

/// A requirement of the standard.
#[derive(Clone, Copy, Debug)]
pub struct Requirement {
    pub name: &'static str,
    pub model: &'static str,
    /// The share of the maximum throughput.
    pub share: f64,
    pub snr_db: f32,
}

/// One way over the air.
pub trait Way {
    /// The state of a run: transmitter, antennas and receivers.
    type Run;
    /// The redundancy versions of a block's transmissions.
    const VERSIONS: [u8; 4];

    fn begin(&self, model: &str, seed: u64) -> Self::Run;

    /// Bits of a new block in a subframe; 0 if there is none.
    fn block_bits(&self, subframe: u64) -> usize;

    /// Sends a block, for the first time or again, and says whether it has arrived.
    fn send(&self, run: &mut Self::Run, subframe: u64, process: usize, block: &Block, snr_db: f32) -> bool;
}

/// A block of a process that is under way.
#[derive(Clone, Debug, Default)]
pub struct Block {
    pub bytes: Vec<u8>,
    /// The subframe in which it was new.
    pub began: u64,
    /// Transmissions before this one.
    pub sent: usize,
    pub version: u8,
}

/// Subframes of a channel that goes on; then another one follows.
const SUBFRAMES: u64 = 200;
/// Subframes between two pieces of one channel: some seconds, in which it becomes another.
const GAP: u64 = 3000;
/// Pieces of a long test.
const LONG: u64 = 20;
/// How much more than the standard takt may need.
pub const TOLERANCE_DB: f32 = 1.0;

/// The share of the maximum throughput at an SNR.
pub fn throughput<W: Way>(way: &W, model: &str, snr_db: f32, pieces: u64) -> f64 {
    let mut run = way.begin(model, 11);
    let (mut most, mut arrived) = (0, 0);
    for piece in 0..pieces {
        let mut processes: [Option<Block>; 8] = Default::default();
        for n in 0..SUBFRAMES {
            let subframe = piece * GAP + n;
            let bits = way.block_bits(subframe);
            if bits == 0 {
                continue;
            }
            let process = (subframe % 8) as usize;
            let bytes = || (0..bits / 8).map(|at| (at as u64 * 37 + subframe * 101) as u8).collect();
            let mut block = processes[process].take().unwrap_or_else(|| Block {
                bytes: bytes(),
                began: subframe,
                ..Block::default()
            });
            block.version = W::VERSIONS[block.sent];
            most += block.bytes.len();
            if way.send(&mut run, subframe, process, &block, snr_db) {
                arrived += block.bytes.len();
            } else if block.sent + 1 < W::VERSIONS.len() {
                block.sent += 1;
                processes[process] = Some(block);
            }
        }
    }
    arrived as f64 / most as f64
}

/// Fails if the throughput is too low 1 dB above the SNR of a requirement.
pub fn check<W: Way>(way: &W, requirement: Requirement) {
    let Requirement { name, model, share, snr_db } = requirement;
    if std::env::var_os("TAKT_LONG_TESTS").is_none() {
        let found = throughput(way, model, snr_db + TOLERANCE_DB, 4);
        assert!(found >= share, "{name}, {model}: {found:.3} of the throughput at {:.1} dB", snr_db + TOLERANCE_DB);
        return;
    }
    let mut last = (snr_db + TOLERANCE_DB, throughput(way, model, snr_db + TOLERANCE_DB, LONG));
    assert!(last.1 >= share, "{requirement:?}: {:.3} at {:.1} dB", last.1, last.0);
    loop {
        let next = (last.0 - 0.5, throughput(way, model, last.0 - 0.5, LONG));
        if next.1 < share || next.0 < snr_db - 9.0 {
            let found = next.0 + 0.5 * ((share - next.1) / (last.1 - next.1)) as f32;
            println!("{name}, {model}: {:.0} % at {found:.1} dB, required at {snr_db} dB", 100.0 * share);
            return;
        }
        last = next;
    }
}
