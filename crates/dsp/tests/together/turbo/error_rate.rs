//! Block error rates beside those of aff3ct 3.0.2 (commit 8fa65a3), max-log-MAP with extrinsics times 0.75, rate 1/3, BPSK in
//! Gaussian noise; each of its rates is over 100 block errors at least. Its 16-bit decoder is the judge of one block at a time, its
//! 8-bit decoder of batches.
//!
//! The judgement is by 99 % intervals: ours must not begin above where the peer's ends; nor, lest the noise be too weak, end below
//! a third of the peer's rate.

use super::channel::{Code, Encoder, Random};
use takt_dsp::turbo::{BatchDecoder, Decoder};
use takt_stats::proportion;

struct Point {
    code: Code,
    iterations: usize,
    eb_n0_db: f32,
    /// Error rate of the peer.
    rate: f64,
    blocks: usize,
}

/// Blocks that are decoded at a time; what is received of them goes in, what is decided comes out.
type Decode = Box<dyn FnMut(&[i8], &mut [u8])>;

fn leaves_no_more_wrong_blocks(points: &[Point], together: usize, seed: u64, decoder: impl Fn(&Point) -> Decode) {
    for point in points {
        let (Code::Umts(bits) | Code::Lte(bits)) = point.code;
        let (mut decode, mut encoder, mut random) = (decoder(point), Encoder::new(point.code), Random(seed));
        let mut decided = vec![0; together * bits];
        let wrong = (0..point.blocks / together).map(|_| {
            let (mut sent, mut received) = (Vec::new(), Vec::new());
            for _ in 0..together {
                let block = random.bits(bits);
                received.extend(random.received(&encoder.encode(&block), point.eb_n0_db, 16.0));
                sent.extend(block);
            }
            decode(&received, &mut decided);
            decided.chunks(bits).zip(sent.chunks(bits)).filter(|(decided, sent)| decided != sent).count()
        });
        judge(point, wrong.sum());
    }
}

const ONE_BLOCK: [Point; 4] = [
    Point { code: Code::Umts(3856), iterations: 4, eb_n0_db: 0.8, rate: 2.0e-1, blocks: 800 },
    Point { code: Code::Umts(3856), iterations: 4, eb_n0_db: 1.0, rate: 2.0e-2, blocks: 2000 },
    Point { code: Code::Umts(3856), iterations: 8, eb_n0_db: 0.4, rate: 2.0e-1, blocks: 600 },
    Point { code: Code::Lte(6144), iterations: 8, eb_n0_db: 0.4, rate: 1.7e-1, blocks: 600 },
];

#[test]
fn one_block_at_a_time_leaves_no_more_wrong_blocks_than_others() {
    leaves_no_more_wrong_blocks(&ONE_BLOCK, 1, 1, |point| {
        let (iterations, mut decoder) = match point.code {
            Code::Umts(k) => (point.iterations, Decoder::umts(k).unwrap()),
            Code::Lte(k) => (point.iterations, Decoder::lte(k).unwrap()),
        };
        Box::new(move |received, decided| decoder.decode(received, iterations, decided))
    });
}

const BATCHES: [Point; 4] = [
    Point { code: Code::Umts(3856), iterations: 4, eb_n0_db: 0.8, rate: 2.5e-1, blocks: 800 },
    Point { code: Code::Umts(3856), iterations: 4, eb_n0_db: 1.0, rate: 2.1e-2, blocks: 2016 },
    Point { code: Code::Umts(3856), iterations: 8, eb_n0_db: 0.4, rate: 2.8e-1, blocks: 608 },
    Point { code: Code::Lte(6144), iterations: 8, eb_n0_db: 0.4, rate: 2.1e-1, blocks: 608 },
];

#[test]
fn batches_leave_no_more_wrong_blocks_than_others() {
    leaves_no_more_wrong_blocks(&BATCHES, 32, 2, |point| {
        let (iterations, mut decoder) = match point.code {
            Code::Umts(k) => (point.iterations, BatchDecoder::umts(k).unwrap()),
            Code::Lte(k) => (point.iterations, BatchDecoder::lte(k).unwrap()),
        };
        Box::new(move |received, decided| decoder.decode(received, iterations, decided))
    });
}

fn judge(point: &Point, wrong: usize) {
    let Point { code, iterations, eb_n0_db, rate, blocks } = *point;
    let ours = proportion(blocks, wrong, 0.99).unwrap();
    let theirs = proportion((100.0 / rate) as usize, 100, 0.99).unwrap();
    let what = format!("{code:?}, {iterations} iterations, {eb_n0_db} dB: {wrong} of {blocks} wrong, aff3ct {rate}");
    assert!(ours.low() <= theirs.high(), "{what}: more than others");
    assert!(ours.high() >= rate / 3.0, "{what}: too few to be true");
}
