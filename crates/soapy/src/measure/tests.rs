//! Rounds on a virtual clock, of a device that follows a script.

use proptest::prelude::*;
use takt_live::{Direction, Source as _};

use super::*;
use crate::fake::{Fake, Happens};
use crate::{FaultKind, TimeStamps};

const SECOND: Duration = Duration::from_secs(1);

/// The plan of a round of one channel at 1 MS/s for a tenth of a second, without a warm-up.
fn plan(rx: bool, tx: bool) -> RatePlan {
    RatePlan {
        rx_sps: rx.then_some(1e6),
        tx_sps: tx.then_some(1e6),
        rx_channels: vec![0],
        tx_channels: vec![0],
        front_end: FrontEnd::default(),
        wire: None,
        duration: SECOND / 10,
        warm_up: Duration::ZERO,
        transmit: true,
    }
}

fn round(fake: &Fake, plan: &RatePlan) -> Result<SoapyRate, SoapyError> {
    measure(&fake.radio(), plan, &mut |_| {}, &Stop::new())
}

#[test]
fn who_watches_a_round_sees_both_directions() {
    let (fake, plan) = (Fake::new(&[Happens::Samples(1000), Happens::Gap(500)]), plan(true, true));
    let ((rx, mut rx_view), (tx, mut tx_view)) = (watched_stream(), watched_stream());
    measure_seen(&fake.radio(), &plan, &[rx, tx], &mut |_| {}, &Stop::new()).unwrap();
    let [rx, tx] = [&mut rx_view, &mut tx_view].map(|view| view.snapshot().radios.remove(0));
    assert_eq!((rx.direction, rx.lost_samples, rx.rate_sps), (Direction::Rx, Some(500), Some(1e6)), "{rx:?}");
    assert_eq!((tx.direction, tx.lost_samples), (Direction::Tx, None), "{tx:?}");
    assert!(rx.samples >= Some(99_500) && tx.samples >= Some(100_000), "{rx:?} {tx:?}");
}

fn received(fake: &Fake) -> (RxCounts, Option<bool>) {
    let outcome = round(fake, &plan(true, false)).unwrap();
    (outcome.rx.unwrap(), outcome.clean)
}

#[test]
fn a_stream_without_a_fault_is_whole_to_the_sample() {
    let (rx, clean) = received(&Fake::new(&[]));
    assert_eq!((rx.samples, rx.dropped, rx.expected_samples), (100_000, Some(0), Some(100_000)), "{rx:?}");
    assert_eq!((rx.overflows, rx.gaps, rx.time_stamps, clean), (Some(0), Some(0), TimeStamps::Count, Some(true)));
    assert!(rx.measured_sps.is_some_and(|sps| (sps - 1e6).abs() < 1e4), "{rx:?}");
    assert!(rx.behind_s.is_some_and(|behind_s| behind_s < 1e-3), "{rx:?}");
}

#[test]
fn each_sample_of_the_span_came_or_is_lost() {
    let (rx, clean) = received(&Fake::new(&[
        Happens::Samples(1000),
        Happens::Gap(1),
        Happens::Samples(1000),
        Happens::Fails(FaultKind::Overflow),
        Happens::Gap(4999),
    ]));
    assert_eq!((rx.samples, rx.dropped, rx.expected_samples), (95_000, Some(5_000), Some(100_000)), "{rx:?}");
    assert_eq!((rx.gaps, rx.overflows, clean), (Some(2), Some(1), Some(false)));
}

#[test]
fn without_time_stamps_no_loss_is_known_and_the_answer_is_not() {
    let (rx, clean) = received(&Fake::new(&[Happens::Samples(1000), Happens::Gap(500)]).unstamped());
    assert_eq!((rx.dropped, rx.expected_samples, rx.gaps, rx.overflows), (None, None, None, None), "{rx:?}");
    assert_eq!((rx.time_stamps, rx.samples, clean), (TimeStamps::Absent, 100_000, None));
    let overflow = Fake::new(&[Happens::Samples(1000), Happens::Fails(FaultKind::Overflow)]).unstamped();
    let (rx, clean) = received(&overflow);
    assert_eq!((rx.dropped, rx.overflows, clean), (None, Some(1), Some(false)), "how many samples, nobody knows");
}

#[test]
fn time_stamps_of_another_clock_are_not_believed() {
    let script = [Happens::Samples(1000), Happens::Gap(30), Happens::Samples(1000), Happens::Back(40)];
    let (rx, clean) = received(&Fake::new(&script));
    assert_eq!((rx.time_stamps, rx.dropped, clean), (TimeStamps::Contradict, None, None), "{rx:?}");
}

#[test]
fn a_device_that_falls_silent_has_a_tail_and_time_outs() {
    let before = [Happens::Samples(1000); 3];
    let silence = [Happens::Fails(FaultKind::Timeout); 200];
    let script: Vec<Happens> = before.into_iter().chain(silence).collect();
    let (rx, clean) = received(&Fake::new(&script));
    assert_eq!((rx.samples, rx.dropped, rx.tail_samples), (3_000, Some(97_000), Some(97_000)), "{rx:?}");
    assert!(rx.timeouts > 5 && clean == Some(false), "{rx:?}");
}

#[test]
fn samples_before_the_warm_up_is_over_are_in_no_count() {
    let before = [Happens::Samples(1000), Happens::Gap(5000), Happens::Samples(1000)];
    let script: Vec<Happens> = before.into_iter().chain([Happens::Fails(FaultKind::Overflow)]).collect();
    let fake = Fake::new(&script);
    let plan = RatePlan { warm_up: SECOND / 20, ..plan(true, false) };
    let outcome = round(&fake, &plan).unwrap();
    let rx = outcome.rx.unwrap();
    assert_eq!((rx.samples, rx.dropped, rx.overflows), (100_000, Some(0), Some(0)), "{rx:?}");
    assert_eq!(outcome.clean, Some(true));
}

#[test]
fn what_a_driver_reports_of_a_burst_is_counted() {
    let reports = [Err(FaultKind::Underflow), Err(FaultKind::Time), Err(FaultKind::Underflow)];
    let fake = Fake::new(&[]).reporting(&reports);
    let outcome = round(&fake, &plan(false, true)).unwrap();
    let tx = outcome.tx.unwrap();
    assert_eq!((tx.underflows, tx.late, tx.sequence_errors), (Some(2), Some(1), Some(0)));
    assert_eq!(outcome.clean, Some(false));
    let sent = fake.sent();
    let at_ns = sent.first().and_then(|sent| sent.at_ns);
    assert_eq!(at_ns, Some(1_100_000_000), "a burst begins ahead, on a device with a clock");
    assert!(sent.last().is_some_and(|sent| sent.ends));
}

#[test]
fn a_driver_that_reports_nothing_leaves_the_answer_open() {
    let fake = Fake::new(&[]).without_reports().without_clock();
    let outcome = round(&fake, &plan(false, true)).unwrap();
    let tx = outcome.tx.unwrap();
    assert_eq!((tx.underflows, tx.late, tx.unknown_reports, outcome.clean), (None, None, None, None));
    assert_eq!(fake.sent().first().and_then(|sent| sent.at_ns), None);
}

#[test]
fn what_can_not_be_measured_is_refused_before_anything_is_sent() {
    let fake = Fake::new(&[]);
    let refused = |fake: &Fake, plan: RatePlan| round(fake, &plan).unwrap_err();
    assert!(matches!(refused(&fake, plan(false, false)), SoapyError::NoRate));
    let no_time = RatePlan { duration: Duration::ZERO, ..plan(true, false) };
    assert!(matches!(refused(&fake, no_time), SoapyError::NoTime));
    let forbidden = RatePlan { transmit: false, ..plan(false, true) };
    assert!(matches!(refused(&fake, forbidden), SoapyError::Transmit { .. }));
    assert!(fake.sent().is_empty());
    let half = Fake::new(&[]).half_duplex();
    assert!(matches!(refused(&half, plan(true, true)), SoapyError::HalfDuplex));
}

#[test]
fn both_directions_run_and_a_driver_that_is_gone_ends_both() {
    let outcome = round(&Fake::new(&[]), &plan(true, true)).unwrap();
    assert!(outcome.rx.is_some_and(|rx| rx.samples > 0) && outcome.tx.is_some_and(|tx| tx.samples > 0));
    let gone = Fake::new(&[Happens::Fails(FaultKind::Other)]);
    let long = RatePlan { duration: SECOND * 1_000_000, ..plan(true, true) };
    assert!(matches!(round(&gone, &long), Err(SoapyError::Stream(RadioError::Foreign { .. }))));
}

#[test]
fn a_round_that_is_stopped_ends_where_it_stood() {
    let (fake, stop) = (Fake::new(&[]), Stop::new());
    let mut turns = 0;
    let mut notify = |_: Notice| {
        turns += 1;
        if turns == 5 {
            stop.request();
        }
    };
    let outcome = measure(&fake.radio(), &plan(true, false), &mut notify, &stop).unwrap();
    let rx = outcome.rx.unwrap();
    assert_eq!((outcome.complete, outcome.clean, rx.dropped), (false, Some(false), Some(0)));
    assert_eq!(rx.expected_samples, Some(rx.samples), "{rx:?}");
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![(1_usize..3_000).prop_map(Happens::Samples), (1_u64..9_000).prop_map(Happens::Gap)]
}

proptest! {
    /// However much comes and is lost in whatever portions.
    #[test]
    fn what_came_and_what_was_lost_make_the_span(
        script in prop::collection::vec(happens(), 0..40),
    ) {
        let (rx, _) = received(&Fake::new(&script));
        prop_assert_eq!(rx.expected_samples, Some(100_000));
        prop_assert_eq!(Some(100_000 - rx.samples), rx.dropped);
    }
}
