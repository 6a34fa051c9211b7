//! A pass against every path through the trellis, and every level of instructions against plain Rust.

use super::batch::{ByteLanes, OfBytes, passed_on};
use super::exchange::{Found, Route, Shape};
use super::lanes::{Lanes, Plain, Task};
use super::pass::{Borders, Pass};
use super::row::{Row, rows};
use super::{BatchDecoder, Decoder, Level};
use crate::turbo::rsc::tests::by_the_figure;
use proptest::prelude::*;

/// Gain of each bit's soft value by the code: the best path with a 0 there, less the best with a 1, less x. A path's
/// metric is what its ones cost; all paths are tried, through the encoder of the standard's figure, and ended by its
/// tail.
fn by_every_path(x: &[i8], p: &[i8], tail: [(i8, i8); 3]) -> Vec<i32> {
    let steps = x.len();
    let metric = |path: u32| -> i32 {
        let bits: Vec<u8> = (0..steps).map(|i| (path >> i & 1) as u8).collect();
        let (parity, end) = by_the_figure(&bits);
        let cost = |bit: u8, llr: i8| -i32::from(bit) * i32::from(llr);
        let body: i32 = (0..steps).map(|i| cost(bits[i], x[i]) + cost(parity[i], p[i])).sum();
        body + end.chunks(2).zip(tail).map(|(xz, (x, z))| cost(xz[0], x) + cost(xz[1], z)).sum::<i32>()
    };
    let metrics: Vec<i32> = (0..1 << steps).map(metric).collect();
    let best = |i: usize, bit: u32| {
        (0..1 << steps).filter(|path| path >> i & 1 == bit).map(|path| metrics[path as usize]).max()
    };
    (0..steps).map(|i| best(i, 0).unwrap() - best(i, 1).unwrap() - i32::from(x[i])).collect()
}

/// A pass over one window.
fn by_a_pass(level: Level, x: &[i8], p: &[i8], tail: [(i8, i8); 3]) -> Vec<i32> {
    let steps = x.len();
    let column = |llrs: &[i8]| -> Vec<Row> {
        llrs.iter().map(|&llr| Row(std::array::from_fn(|lane| if lane == 0 { llr.into() } else { 0 }))).collect()
    };
    let pi: Vec<u16> = (0..steps as u16).collect();
    let [route, _] = Route::both(&pi, Shape { windows: 1, steps, unused: 0 });
    let (mut output, mut carried) = (rows(steps), route.room(steps));
    let Route::Cells(itself) = route else { panic!("one window") };
    let mut borders = Borders::NEW;
    borders.start(tail);
    level.run(Pass {
        x: &column(x),
        p: &column(p),
        form: Found,
        output: &mut output,
        carry: &itself,
        carried: &mut carried,
        kept: &mut vec![[Row::ZERO; 8]; steps],
        borders: &mut borders,
        windows: 1,
        unused: 0,
        training: 4,
    });
    assert!((0..steps).all(|t| output[t].0[0] == carried[t].0[0]));
    output.iter().map(|row| row.0[0].into()).collect()
}

/// Values as received, from loud to quiet.
fn some_llrs(count: usize, seed: u32, quiet: u32) -> Vec<i8> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state as i32) >> 24 >> quiet) as i8
    };
    std::iter::repeat_with(next).take(count).collect()
}

fn lengths() -> impl Strategy<Value = Decoder> {
    let umts = (40usize..=5114).prop_map(|k| Decoder::umts(k).unwrap());
    let lte =
        (0..crate::lte::TURBO_LENGTHS.len()).prop_map(|n| Decoder::lte(crate::lte::TURBO_LENGTHS[n].into()).unwrap());
    prop_oneof![umts, lte]
}

proptest! {
    #[test]
    fn a_pass_finds_what_every_path_together_says(
        llrs in proptest::collection::vec((any::<i8>(), any::<i8>()), 1..11),
        tail in any::<[(i8, i8); 3]>(),
    ) {
        let (x, p): (Vec<i8>, Vec<i8>) = llrs.into_iter().unzip();
        let expected = by_every_path(&x, &p, tail);
        for level in Level::all() {
            prop_assert_eq!(&by_a_pass(level, &x, &p, tail), &expected, "{}", level.name());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn every_level_of_instructions_decides_alike(decoder in lengths(), seed in any::<u32>(), quiet in 0u32..8) {
        let llrs = some_llrs(decoder.coded_len(), seed, quiet);
        let decide = |level: Level, iterations: usize| {
            let (mut decoder, mut decided) = (decoder.clone().with_level(level), vec![9; decoder.block_len()]);
            decoder.decode(&llrs, iterations, &mut decided);
            decided
        };
        for iterations in 1..4 {
            let plain = on_all_levels_alike(|level| decide(level, iterations));
            prop_assert!(plain.iter().all(|&bit| bit < 2));
        }
    }
}

/// Result of plain Rust, which every other level gives as well.
fn on_all_levels_alike<T: PartialEq>(make: impl Fn(Level) -> T) -> T {
    let mut all = Level::all().map(make);
    let plain = all.next().unwrap();
    assert!(all.all(|other| other == plain));
    plain
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn every_level_of_instructions_decides_alike_on_batches(
        k in 40usize..=2000, blocks in 1usize..40, seed in any::<u32>(), quiet in 0u32..8, iterations in 1usize..4,
    ) {
        let decoder = BatchDecoder::umts(k).unwrap();
        let llrs = some_llrs(blocks * decoder.coded_len(), seed, quiet);
        let decide = |level: Level| {
            let mut decided = vec![9; blocks * k];
            decoder.clone().with_level(level).decode(&llrs, iterations, &mut decided);
            decided
        };
        on_all_levels_alike(decide);
    }
}

#[test]
fn three_quarters_are_rounded_to_the_nearest() {
    let l = OfBytes(Plain);
    for found in i8::MIN..=i8::MAX {
        let [passed, ..] = passed_on(l, l.all(found.cast_unsigned()));
        let exact = 0.75 * f64::from(found).clamp(-43.0, 43.0);
        assert!((f64::from(passed) - 84.0 - exact).abs() <= 0.5, "{found}: {passed}");
    }
}

/// Every operation on every pair of bytes.
struct Bytes;

impl Task for Bytes {
    type Output = Vec<u8>;

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) -> Vec<u8> {
        let l = l.bytes();
        let mut found = Vec::new();
        for a in 0..=u8::MAX {
            for b in 0..=u8::MAX {
                let (a, b) = (l.all(a), l.all(b));
                let signed = [l.signed_sum(a, b), l.signed_difference(a, b), l.signed_max(a, b)];
                for values in [l.add(a, b), l.sub(a, b), l.min(a, b), l.sum(a, b), l.mean(a, b)].iter().chain(&signed) {
                    found.push(bytemuck::bytes_of(values)[0]);
                }
            }
        }
        found
    }
}

#[test]
fn every_level_of_instructions_has_the_same_arithmetic_on_bytes() {
    on_all_levels_alike(|level| level.run(Bytes));
}

#[test]
fn plain_rust_is_a_level_and_the_best_is_the_last() {
    let names: Vec<_> = Level::all().map(Level::name).collect();
    assert_eq!((names[0], *names.last().unwrap()), ("plain", Level::best().name()));
}
