//! Permissions to transmit: radio, band and level.

use std::sync::Arc;
use std::time::Duration;

use takt_base::{Clock, Complex32, Ticks};
use takt_radio::n200::N200;
use takt_radio::{Burst, TuneRequest, TxOptions, TxStream, TxStreamer};
use takt_share::SharedRadioReport;

use crate::rig::{SharedWorld, addr, plan};

const SAMPLES: usize = 1000;

fn transmitter(net: &Arc<SharedWorld>, radio: u8, target_hz: f64) -> (N200, TxStreamer) {
    let mut radio = net.radio(addr(radio));
    let tx = radio.tx_streamer(&TxOptions::new(1e6)).expect("a stream");
    radio.tune_tx(TuneRequest::new(target_hz)).expect("tuned");
    radio.flush().expect("an answer");
    (radio, tx)
}

/// Both send a strong burst at once, to where they are tuned. Answers the counts of each, and how many samples were
/// clipped.
fn both(keys: [&str; 2], targets_hz: [f64; 2]) -> ([SharedRadioReport; 2], u64) {
    let net = SharedWorld::new(&plan(&keys), Ticks(100_000), Box::new(|_| Complex32::default()));
    let (mut first, mut tx) = transmitter(&net, 0, targets_hz[0]);
    let (_second, mut other) = transmitter(&net, 1, targets_hz[1]);
    let at = first.time().expect("its time") + Ticks(5_000_000);
    let burst = vec![Complex32::new(0.6, 0.6); SAMPLES];
    let until = net.now() + Duration::from_secs(1);
    assert_eq!(tx.send(&[&burst], Burst::at(at).ending(), until).expect("a stream"), SAMPLES);
    // The other begins a hundred samples later.
    assert_eq!(other.send(&[&burst], Burst::at(at + Ticks(10_000)).ending(), until).expect("a stream"), SAMPLES);
    net.world.run_for(Duration::from_millis(100));
    let clipped = net.look(|rig| rig.core.sum_report().clipped_samples);
    (net.look(|rig| rig.core.report()).try_into().expect("two radios"), clipped)
}

#[test]
fn overlap_is_muted_and_counted_unless_both_permit_it() {
    let same = [2401e6, 2401.5e6];
    let ([first, second], clipped) = both(["transmit = true", "transmit = true"], same);
    assert_eq!((first.tx_overlapping_samples, second.tx_overlapping_samples, clipped), (0, SAMPLES as u64, 0));
    assert_eq!(second.radio.tx.burst_acks, 1, "its program does not know");
    let ([first, second], _) = both(["transmit = true", "transmit = true"], [2401e6, 2403e6]);
    assert_eq!((first.tx_overlapping_samples, second.tx_overlapping_samples), (0, 0));
    let ([_, second], _) = both(["transmit = true\noverlap = true", "transmit = true"], same);
    assert_eq!(second.tx_overlapping_samples, SAMPLES as u64);
    let ([_, second], clipped) = both(["transmit = true\noverlap = true", "transmit = true\noverlap = true"], same);
    assert_eq!(second.tx_overlapping_samples, 0);
    assert!(clipped > 100, "{clipped}");
}

#[test]
fn levels_keep_the_sum_below_full_scale() {
    let quiet = "transmit = true\noverlap = true\nlevel_db = -7";
    let (_, clipped) = both([quiet, quiet], [2401e6, 2401.5e6]);
    assert_eq!(clipped, 0);
}

#[test]
fn what_is_not_allowed_is_muted_and_counted() {
    let elsewhere = "transmit = true\nfrequency = [2400e6, 2400.9e6]";
    let ([first, second], _) = both(["", elsewhere], [2401e6, 2401e6]);
    assert_eq!((first.tx_forbidden_samples, second.tx_forbidden_samples), (SAMPLES as u64, SAMPLES as u64));
    let sent = both(["", elsewhere], [2401e6, 2400.45e6]).0[1].tx_forbidden_samples;
    assert_eq!(sent, SAMPLES as u64, "a tenth of its band is outside");
    let ([first, _], _) = both(["transmit = true", ""], [2430e6, 2401e6]);
    assert_eq!(first.tx_outside_samples, SAMPLES as u64);
}
