//! Cutting a batch into what one message can carry. Pure.
//!
//! An aggregate (`UDP_SEGMENT`, udp(7)) is a run of datagrams to one destination, all of one size but the last, which
//! may be shorter and never empty, together no more than one IP packet.

use rustix::io::Errno;

use crate::TxEntry;
use crate::sys::message::Run;

/// Limits of aggregates. Falls when the kernel refuses one, never rises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Aggregation {
    /// Datagrams at most; 1 = no aggregates.
    pub(crate) datagrams: usize,
    /// Bytes of the largest datagram that may be in one.
    pub(crate) segment_bytes: usize,
}

impl Aggregation {
    /// Every message one datagram.
    pub(crate) const NONE: Aggregation = Aggregation { datagrams: 1, segment_bytes: 0 };
    /// Aggregate that any kernel with `UDP_SEGMENT` takes (`UDP_MAX_SEGMENTS` was 64 before Linux 6.9, 128 since).
    pub(crate) const FULL: Aggregation = Aggregation { datagrams: 64, segment_bytes: MESSAGE_BYTES };

    /// After the kernel refused a run whose first datagram alone it takes.
    pub(crate) fn after_refusal(self, run: Run, errno: Errno) -> Aggregation {
        match (run.segment, errno) {
            // The route can't carry this size (its MTU): smaller ones still pass.
            (Some(segment), Errno::INVAL | Errno::MSGSIZE) if segment > 1 => {
                Aggregation { segment_bytes: usize::from(segment) - 1, ..self }
            }
            // The device can't checksum, or nobody can split.
            _ => Aggregation::NONE,
        }
    }
}

/// Payload of the largest UDP datagram over IPv4.
const MESSAGE_BYTES: usize = 65_507;

/// Cuts `entries` (all of one port) into `runs`, as many as it has room for.
pub(crate) fn cut(entries: &[TxEntry], limit: Aggregation, runs: &mut Vec<Run>) {
    runs.clear();
    let mut rest = entries;
    while let Some(first) = rest.first()
        && runs.len() < runs.capacity()
    {
        let datagrams = run_length(first, rest, limit);
        let segment = u16::try_from(first.len).ok().filter(|_| datagrams > 1);
        runs.push(Run { datagrams, segment });
        rest = rest.get(datagrams..).unwrap_or(&[]);
    }
}

fn run_length(first: &TxEntry, entries: &[TxEntry], limit: Aggregation) -> usize {
    if first.len == 0 || first.len > limit.segment_bytes {
        return 1;
    }
    let (mut count, mut bytes) = (0, 0);
    for entry in entries.iter().take(limit.datagrams) {
        bytes += entry.len;
        if entry.to != first.to || entry.len > first.len || entry.len == 0 || bytes > MESSAGE_BYTES {
            break;
        }
        count += 1;
        if entry.len < first.len {
            break;
        }
    }
    count.max(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::PortIndex;

    fn entry(len: usize, to: u16) -> TxEntry {
        TxEntry { port: PortIndex(0), to: Some(([127, 0, 0, 1], to).into()), offset: 0, len }
    }

    fn cut_all(sizes: &[(usize, u16)], limit: Aggregation) -> Vec<(usize, Option<u16>)> {
        let entries: Vec<_> = sizes.iter().map(|&(len, to)| entry(len, to)).collect();
        let mut runs = Vec::with_capacity(entries.len());
        cut(&entries, limit, &mut runs);
        runs.iter().map(|run| (run.datagrams, run.segment)).collect()
    }

    #[test]
    fn a_shorter_datagram_ends_a_run_and_a_longer_or_empty_one_or_another_destination_begins_one() {
        let sizes = [(8, 1), (8, 1), (3, 1), (8, 1), (9, 1), (9, 2), (0, 2), (0, 2), (4, 2), (0, 2)];
        assert_eq!(
            cut_all(&sizes, Aggregation::FULL),
            [(3, Some(8)), (1, None), (1, None), (1, None), (1, None), (1, None), (1, None), (1, None)]
        );
        assert!(cut_all(&sizes, Aggregation::NONE).iter().all(|&run| run == (1, None)));
    }

    #[test]
    fn a_refused_size_is_not_tried_again_and_smaller_ones_are() {
        let run = Run { datagrams: 2, segment: Some(2000) };
        let limit = Aggregation::FULL.after_refusal(run, Errno::MSGSIZE);
        assert_eq!(
            cut_all(&[(2000, 1), (2000, 1), (1999, 1), (1999, 1)], limit),
            [(1, None), (1, None), (2, Some(1999))]
        );
        assert_eq!(Aggregation::FULL.after_refusal(run, Errno::IO), Aggregation::NONE);
    }

    proptest! {
        #[test]
        fn runs_cover_all_in_order_and_each_is_one_the_kernel_takes(
            sizes in prop::collection::vec((prop_oneof![0_usize..4, 1400..1500_usize, Just(9000)], 1_u16..3), 0..200),
        ) {
            let mut at = 0;
            for (datagrams, segment) in cut_all(&sizes, Aggregation::FULL) {
                let run = &sizes[at..at + datagrams];
                at += datagrams;
                prop_assert!((1..=64).contains(&datagrams));
                if let Some(segment) = segment {
                    let (last, body) = run.split_last().unwrap();
                    prop_assert!(body.iter().all(|&(len, to)| len == usize::from(segment) && to == last.1));
                    prop_assert!((1..=usize::from(segment)).contains(&last.0));
                    prop_assert!(run.iter().map(|r| r.0).sum::<usize>() <= MESSAGE_BYTES);
                }
            }
            prop_assert_eq!(at, sizes.len());
        }
    }
}
