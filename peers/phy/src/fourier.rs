//! Fourier transforms, each with a copy of its input: what takt takes from a registry, beside what else there is.

use std::hint::black_box;

use phastft::planner::{Direction, PlannerDit32};
use rustfft::FftPlanner;
use rustfft::num_complex::Complex32;

use crate::measure::Case;

pub fn cases() -> Vec<Case> {
    // An LTE carrier's lengths: 128 to 2048 for OFDM, 600 and 1200 for SC-FDMA.
    [128, 512, 1024, 2048, 600, 1200].into_iter().map(case).collect()
}

fn case(length: usize) -> Case {
    let signal: Vec<Complex32> = (0..length).map(|n| Complex32::from_polar(1.0, (n * n % 4093) as f32)).collect();
    let expected = by_rustfft(&signal);
    let (fft, input) = (FftPlanner::new().plan_fft_forward(length), signal.clone());
    let mut scratch = vec![Complex32::default(); fft.get_inplace_scratch_len()];
    let mut out = signal.clone();
    let mut case =
        Case::new(format!("Fourier transform, {length} points")).with("rustfft, which takt uses", move || {
            out.copy_from_slice(black_box(&input));
            fft.process_with_scratch(black_box(&mut out), &mut scratch);
        });
    if length.is_power_of_two() {
        let planner = PlannerDit32::new(length);
        let (re, im): (Vec<f32>, Vec<f32>) = signal.iter().map(|value| (value.re, value.im)).unzip();
        let (mut a, mut b) = (re.clone(), im.clone());
        let mut run = move || {
            a.copy_from_slice(black_box(&re));
            b.copy_from_slice(black_box(&im));
            phastft::fft_f32_dit_with_planner(&mut a, &mut b, Direction::Forward, &planner);
            (a[1], b[1])
        };
        let (re, im) = run();
        assert!((Complex32::new(re, im) - expected[1]).norm() < 1e-3 * length as f32, "phastft does the same");
        case = case.with("phastft, parts apart", move || {
            black_box(run());
        });
    }
    #[cfg(feature = "fftw")]
    {
        let mut plan = crate::native::Fftw::new(length);
        let found = plan.run(&signal);
        assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).norm() < 1e-3 * length as f32), "FFTW does the same");
        case = case.with("FFTW, patient", move || {
            black_box(plan.run(black_box(&signal)));
        });
    }
    case
}

fn by_rustfft(signal: &[Complex32]) -> Vec<Complex32> {
    let mut out = signal.to_vec();
    FftPlanner::new().plan_fft_forward(signal.len()).process(&mut out);
    out
}
