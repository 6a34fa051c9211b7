//! Block error rates of the shared channel in white Gaussian noise with a known channel.
//!
//! The short tests hold the thresholds that link adaptation uses against the decoder and against theory. With `TAKT_LONG_TESTS`
//! set, all thresholds are measured anew and printed (`--nocapture`).

mod capacity;
mod link;

use capacity::{capacity, required_snr_db, shannon_snr_db};
use link::{Link, Scheme};
use takt_dsp::lte::Modulation;
use takt_lte::{Mcs, SharedChannelDecoder, transport_block_bits};

const ITERATIONS: usize = SharedChannelDecoder::ITERATIONS;

fn is_long() -> bool {
    std::env::var_os("TAKT_LONG_TESTS").is_some()
}

fn exact(llr: f64) -> f64 {
    llr
}

/// As the receiver has it: eighths, and 16 at most.
fn eighths(llr: f64) -> f64 {
    (llr * 8.0).round().clamp(-127.0, 127.0) / 8.0
}

/// Bits a symbol.
fn efficiency(link: &Link, scheme: Scheme) -> f64 {
    link.block_bits(scheme) as f64 / link.elements(scheme) as f64
}

/// The ratio at which the constellation could carry as much.
fn limit_db(link: &Link, scheme: Scheme) -> f64 {
    required_snr_db(Mcs::downlink(scheme.index).unwrap().0, efficiency(link, scheme), exact)
}

/// The same for a code that has rate 1/3 at least, as the turbo code has: below, its bits are repeated. With so many
/// transmissions, of other bits as long as there are.
fn limit_of_repeated_code_db(link: &Link, scheme: Scheme, transmissions: f64) -> f64 {
    let modulation = Mcs::downlink(scheme.index).unwrap().0;
    let (third, bits) = (modulation.bits() as f64 / 3.0, efficiency(link, scheme) / transmissions);
    let repeated_db = 10.0 * (third / bits).max(1.0).log10();
    required_snr_db(modulation, bits.max(third), exact) - repeated_db
}

#[test]
fn rates_fall_where_the_thresholds_say() {
    let mut link = Link::new(ITERATIONS);
    for index in [0, 6, 9, 10, 16, 17, 28] {
        let threshold = Mcs::threshold_db(index).unwrap();
        let (sent, wrong) = link.wrong_blocks(Scheme::first(index), threshold - 0.3, 150);
        assert!(wrong * 100 > sent * 20, "index {index} below its threshold: {wrong} of {sent} wrong");
        let (sent, wrong) = link.wrong_blocks(Scheme::first(index), threshold + 0.3, 150);
        assert!(wrong * 100 <= sent * 5, "index {index} above its threshold: {wrong} of {sent} wrong");
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "a table for people")]
fn all_thresholds() {
    if !is_long() {
        return;
    }
    let mut link = Link::new(ITERATIONS);
    println!(
        "| MCS | bits | rate | SNR at 10 % dB | limit dB | distance dB | of a code of 1/3, repeated | to Shannon dB |"
    );
    for index in 0..Mcs::COUNT {
        let scheme = Scheme::first(index);
        let (limit, efficiency) = (limit_db(&link, scheme), efficiency(&link, scheme));
        let found = f64::from(link.threshold_db(scheme, limit as f32 + 0.8, 0.2, 1200));
        let rate = efficiency / Mcs::downlink(index).unwrap().0.bits() as f64;
        println!(
            "| {index} | {} | {rate:.3} | {found:.2} | {limit:.2} | {:.2} | {:.2} | {:.2} |",
            link.block_bits(scheme),
            found - limit,
            found - limit_of_repeated_code_db(&link, scheme, 1.0),
            found - shannon_snr_db(efficiency),
        );
        let kept = f64::from(Mcs::threshold_db(index).unwrap());
        assert!((found - kept).abs() < 0.1, "index {index}: {found:.2} dB, {kept:.2} dB in the table");
    }
}

#[test]
fn thresholds_are_near_what_the_constellations_can_carry() {
    let link = Link::new(1);
    for index in 0..Mcs::COUNT {
        let limit = limit_of_repeated_code_db(&link, Scheme::first(index), 1.0);
        let distance = f64::from(Mcs::threshold_db(index).unwrap()) - limit;
        assert!((0.5..1.6).contains(&distance), "index {index}: {distance:.2} dB");
    }
}

#[test]
fn eight_bits_of_soft_value_carry_as_much_as_more_do() {
    let link = Link::new(1);
    for index in 0..Mcs::COUNT {
        let (limit, modulation) = (limit_db(&link, Scheme::first(index)), Mcs::downlink(index).unwrap().0);
        let loss = limit - required_snr_db(modulation, capacity(modulation, limit, 4000, eighths), exact);
        assert!((-0.01..0.03).contains(&loss), "index {index}: {loss:.4} dB");
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "a table for people")]
fn what_stands_for_a_ratio_of_one_matters_little() {
    if !is_long() {
        return;
    }
    println!(
        "| MCS | dB more than the threshold if 1 / 2 / 4 / 8 / 16 / 32 / 64 stands for a log-likelihood ratio of 1 |"
    );
    for index in [0, 9, 10, 16, 17, 22, 28] {
        let near = Mcs::threshold_db(index).unwrap();
        let found = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0].map(|unit| {
            let mut link = Link::new(ITERATIONS);
            link.belief = 8.0 / unit;
            link.threshold_db(Scheme::first(index), near, 0.15, 1000) - near
        });
        println!("| {index} | {found:.2?} |");
        assert!(found[2..5].iter().all(|more| more.abs() < 0.1), "index {index}: {found:.2?}");
    }
}

#[test]
fn capacities_are_those_of_textbooks() {
    // Half a bit a real symbol of antipodal signals: Es/N0 of -2.82 dB, so QPSK carries 1 bit at 0.19 dB.
    assert!((required_snr_db(Modulation::Qpsk, 1.0, exact) - 0.19).abs() < 0.02);
    for modulation in [Modulation::Qpsk, Modulation::Qam16, Modulation::Qam64] {
        assert!((capacity(modulation, 35.0, 300, exact) - modulation.bits() as f64).abs() < 1e-3);
        for snr_db in [-5.0, 3.0, 12.0] {
            assert!(shannon_snr_db(capacity(modulation, snr_db, 300, exact)) < snr_db);
        }
    }
}

/// By CQI: bits a symbol (TS 36.213 table 7.2.3-1) and the ratio in dB that others give for it in white Gaussian noise: the table of
/// RaPlaT (`raster/r.MaxPower/LTE_RaPlaT_Fun.h` of HyperplaneOrg/RaPlaT), a straight line from -7 to 20 dB.
const PUBLISHED: [(f64, f64); 15] = [
    (0.1523, -7.0000),
    (0.2344, -5.0714),
    (0.3770, -3.1429),
    (0.6016, -1.2143),
    (0.8770, 0.7143),
    (1.1758, 2.6429),
    (1.4766, 4.5714),
    (1.9141, 6.5000),
    (2.4063, 8.4286),
    (2.7305, 10.3571),
    (3.3223, 12.2857),
    (3.9023, 14.2143),
    (4.5234, 16.1429),
    (5.1152, 18.0714),
    (5.5547, 20.0000),
];

#[test]
#[allow(clippy::print_stdout, reason = "a table for people")]
fn thresholds_are_those_that_others_publish_or_better() {
    for (at, (efficiency, published)) in PUBLISHED.into_iter().enumerate() {
        let modulation =
            [Modulation::Qpsk, Modulation::Qam16, Modulation::Qam64][usize::from(at > 5) + usize::from(at > 8)];
        let same = (0..Mcs::COUNT).filter(|&index| Mcs::downlink(index).unwrap().0 == modulation);
        let elements = |index| (transport_block_bits(Mcs::downlink(index).unwrap().1, 25) as f64 / efficiency) as usize;
        // The scheme that comes nearest to it with as many elements as it would need.
        let index = same.min_by_key(|&index| elements(index).abs_diff(3450)).unwrap();
        let ours = Mcs::required_snr_db(index, 25, elements(index)).unwrap_or(f32::NAN);
        let better = published - f64::from(ours);
        println!("CQI {}: {ours:.2} dB, {published:.2} dB published", at + 1);
        assert!((0.0..0.6).contains(&better), "CQI {}: {ours:.2} dB, {published:.2} dB published", at + 1);
    }
}

/// The same bits twice and four times.
const REPEATED: [&[u8]; 3] = [&[0], &[0, 0], &[0, 0, 0, 0]];
/// Others each time.
const REDUNDANT: [&[u8]; 3] = [&[0], &[0, 2], &[0, 2, 3, 1]];

#[test]
#[allow(clippy::print_stdout, reason = "a table for people")]
fn transmissions_add_up_as_theory_says() {
    let mut link = Link::new(ITERATIONS);
    let (indices, blocks, step): (&[u8], _, _) =
        if is_long() { (&[0, 4, 9, 10, 13, 16, 17, 22, 28], 1000, 0.2) } else { (&[9, 16], 250, 0.2) };
    println!("| MCS | 1 dB | repeated 2 | 4 | redundant 2 | 4 | theory 2 | 4 |");
    for &index in indices {
        let once = Mcs::threshold_db(index).unwrap();
        let modulation = Mcs::downlink(index).unwrap().0;
        let mut gains = [[0.0; 2]; 3];
        for n in [1, 2] {
            let times = f64::from(1 << n);
            let scheme = |versions| Scheme { versions, ..Scheme::first(index) };
            let (less, limit) = (10.0 * times.log10(), limit_of_repeated_code_db(&link, Scheme::first(index), 1.0));
            let redundant = limit - limit_of_repeated_code_db(&link, Scheme::first(index), times);
            gains[0][n - 1] = once - link.threshold_db(scheme(REPEATED[n]), once - less as f32, step, blocks);
            gains[1][n - 1] = once - link.threshold_db(scheme(REDUNDANT[n]), once - redundant as f32, step, blocks);
            gains[2][n - 1] = redundant as f32;
        }
        let [repeated, redundant, theory] = gains;
        println!("| {index} | {once:.2} | {repeated:.2?} | {redundant:.2?} | {theory:.2?} |");
        for n in 0..2 {
            // Soft values of QPSK add up without loss. Those of QAM lose at low ratios, being max-log; and they gain, since
            // each subframe is scrambled otherwise, so that a bit is not always that of a weak point.
            let (least, most) = if modulation == Modulation::Qpsk { (0.15, 0.2) } else { (0.6, 0.6) };
            let more = repeated[n] - 3.01 * (n + 1) as f32;
            assert!((-least..most).contains(&more), "index {index}: {repeated:?} dB by repetition");
            assert!(redundant[n] > repeated[n] - 0.15, "index {index}: {redundant:?} dB by other bits");
        }
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "a table for people")]
fn eight_iterations_are_a_good_number() {
    if !is_long() {
        return;
    }
    println!("| MCS | 2 | 4 | 6 | 8 | 12 | 16 iterations: dB more than 8 |");
    for index in [0, 6, 9, 13, 17, 22, 28] {
        let near = Mcs::threshold_db(index).unwrap();
        let found =
            [2, 4, 6, 8, 12, 16].map(|n| Link::new(n).threshold_db(Scheme::first(index), near, 0.15, 1000) - near);
        println!("| {index} | {found:.2?} |");
        assert!(found[1] < 1.0 && found[5] > -0.2, "index {index}: {found:?}");
    }
}

#[test]
#[allow(clippy::print_stdout, reason = "a table for people")]
fn other_allocations_need_what_the_line_says() {
    let mut link = Link::new(ITERATIONS);
    let (schemes, blocks): (&[(u8, u8)], _) = if is_long() {
        (&[(2, 1), (9, 3), (13, 1), (16, 3), (20, 1), (27, 3), (28, 1)], 800)
    } else {
        (&[(16, 3)], 120)
    };
    for &(index, cfi) in schemes {
        let scheme = Scheme { cfi, ..Scheme::first(index) };
        let expected = Mcs::required_snr_db(index, 25, link.elements(scheme)).unwrap();
        let found = link.threshold_db(scheme, expected, 0.3, blocks);
        println!("MCS {index}, CFI {cfi}: {found:.2} dB, {expected:.2} dB expected");
        assert!((found - expected).abs() < 0.35, "MCS {index}, CFI {cfi}: {found:.2} dB, {expected:.2} dB expected");
    }
}
