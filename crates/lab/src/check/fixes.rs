//! What to change, by the layer that limits: a table. None of it was tried here, and each row says so.

use super::verdict::msps;
use super::{Fix, FixKind, HighestClean, Layer, Limit};

/// Layer, what stands in the way, what to do.
const TABLE: &[(Layer, &str, &str)] = &[
    (
        Layer::ReceiveBuffer,
        "The receive buffer holds less than the reader's pauses.",
        "Raise net.core.rmem_max (sysctl -w net.core.rmem_max=33554432; the old value undoes it).",
    ),
    (
        Layer::ReaderThread,
        "The reading thread is not there in time.",
        "Run it under SCHED_FIFO and keep other work off its core.",
    ),
    (
        Layer::Sender,
        "The sending thread is not there in time.",
        "Run it under SCHED_FIFO and keep other work off its core.",
    ),
    (
        Layer::Cpu,
        "A core, or the machine, is full.",
        "End what else runs, set the frequency governor to performance, or take a faster core or a lower rate.",
    ),
    (
        Layer::KernelPath,
        "The kernel drops datagrams between the two sockets.",
        "Look where (ip -s link, /proc/net/softnet_stat); a full backlog is net.core.netdev_max_backlog.",
    ),
    (
        Layer::Radio,
        "The radio could not send in time.",
        "Check cable, switch and that the link runs at a gigabit with flow control.",
    ),
];

/// The changes that the limits ask for, each once, the one that frees the highest rate first.
#[must_use]
pub fn fixes(limits: &[Limit], highest: &[HighestClean]) -> Vec<Fix> {
    let mut fixes: Vec<Fix> = Vec::new();
    for limit in limits {
        let Some((_, what, how)) = TABLE.iter().find(|(layer, ..)| *layer == limit.layer) else { continue };
        let of_mode = |one: &&HighestClean| (one.mode, one.format) == (limit.mode, limit.format);
        let clean_sps = highest.iter().find(of_mode).and_then(|one| one.rate_sps).unwrap_or(0.0);
        let gain_sps = (limit.rate_sps - clean_sps).max(0.0);
        let gain = format!("at least {} MS/s, if it mends this; not tried here", msps(gain_sps));
        let fix = Fix { id: None, what: (*what).into(), how: (*how).into(), kind: FixKind::Advice, gain, gain_sps };
        match fixes.iter_mut().find(|other| other.what == fix.what) {
            Some(other) if other.gain_sps >= gain_sps => {}
            Some(other) => *other = fix,
            None => fixes.push(fix),
        }
    }
    fixes.sort_by(|a, b| b.gain_sps.total_cmp(&a.gain_sps));
    fixes
}

#[cfg(test)]
mod tests {
    use super::super::{Format, Mode};
    use super::*;

    fn limit(mode: Mode, rate_sps: f64, layer: Layer) -> Limit {
        Limit { mode, format: Format::Sc16, rate_sps, layer, evidence: String::new() }
    }

    #[test]
    fn each_change_is_named_once_and_the_largest_gain_first() {
        let limits = [
            limit(Mode::Rx, 10e6, Layer::ReceiveBuffer),
            limit(Mode::Tx, 5e6, Layer::Sender),
            limit(Mode::Duplex, 25e6, Layer::ReceiveBuffer),
        ];
        let fixes = fixes(&limits, &[]);
        let told: Vec<(&str, f64)> =
            fixes.iter().map(|fix| (fix.how.split(' ').next().unwrap(), fix.gain_sps)).collect();
        assert_eq!(told, [("Raise", 25e6), ("Run", 5e6)]);
    }

    #[test]
    fn a_layer_nobody_can_mend_has_no_advice() {
        assert!(fixes(&[limit(Mode::Rx, 1e6, Layer::Unknown), limit(Mode::Rx, 1e6, Layer::Emulator)], &[]).is_empty());
    }
}
