//! Interarrival jitter as RFC 3550 defines it.

/// The estimator of RFC 3550, section 6.4.1 and appendix A.8: after each datagram, J += (|D| - J) / 16, where D is the
/// difference in transit time to the datagram before.
///
/// The sender's and the receiver's clock may have any offset: it cancels. A single figure that forgets all but the
/// last few dozen datagrams: comparable with other tools, and to be shown beside quantiles, never alone.
///
/// ```
/// let mut jitter = takt_stats::Jitter::default();
/// for (sent_ns, arrived_ns) in [(0, 5_000), (1_000, 6_000), (2_000, 8_600), (3_000, 9_600)] {
///     jitter.record(sent_ns, arrived_ns);
/// }
/// assert_eq!(jitter.ns(), Some(93.75));   // transits 5000, 5000, 6600, 6600 ns: 1600 / 16 = 100, then 100 - 100 / 16
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Jitter {
    last_transit_ns: Option<i64>,
    ns: f64,
    pairs: u64,
}

impl Jitter {
    /// A datagram, in order of arrival: when it was sent by the sender's clock, when it arrived by the receiver's.
    pub fn record(&mut self, sent_ns: u64, arrived_ns: u64) {
        let transit = arrived_ns.wrapping_sub(sent_ns).cast_signed();
        if let Some(last) = self.last_transit_ns.replace(transit) {
            let d = transit.wrapping_sub(last).unsigned_abs() as f64;
            self.ns += (d - self.ns) / 16.0;
            self.pairs += 1;
        }
    }

    /// The estimate in nanoseconds; `None` before the second datagram.
    pub fn ns(&self) -> Option<f64> {
        (self.pairs > 0).then_some(self.ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The C of appendix A.8, as printed: integers scaled by 16, J kept with four binary places.
    fn appendix_a8(datagrams: &[(u64, u64)]) -> f64 {
        let (mut transit, mut jitter) = (datagrams[0].1 as i64 - datagrams[0].0 as i64, 0_i64);
        for &(sent, arrived) in &datagrams[1..] {
            let next = arrived as i64 - sent as i64;
            let d = (next - transit).abs();
            transit = next;
            jitter += d - ((jitter + 8) >> 4);
        }
        (jitter >> 4) as f64
    }

    #[test]
    fn agrees_with_the_integer_code_of_appendix_a8() {
        let mut state = 1_u64;
        let mut arrival_ns = 77_000_000_000;
        let datagrams: Vec<(u64, u64)> = (0..5000_u64)
            .map(|i| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                arrival_ns += 10_000 + (state >> 33) % 7_000;
                (i * 13_000, arrival_ns)
            })
            .collect();
        let mut jitter = Jitter::default();
        datagrams.iter().for_each(|&(sent, arrived)| jitter.record(sent, arrived));
        let (ours, printed) = (jitter.ns().expect("many"), appendix_a8(&datagrams));
        // the printed code rounds each step by at most half (which settles at half a unit of J) and cuts off at the end
        assert!((ours - printed).abs() <= 1.5, "{ours} ns, appendix A.8 {printed} ns");
    }

    #[test]
    fn clock_offset_cancels_and_extremes_do_no_harm() {
        let (mut a, mut b) = (Jitter::default(), Jitter::default());
        for i in 0..100_u64 {
            a.record(i * 1000, i * 1000 + i % 7 * 10);
            b.record(i * 1000 + 9_000_000_000, i * 1000 + i % 7 * 10);
        }
        assert_eq!(a.ns(), b.ns());
        b.record(u64::MAX, 0);
        b.record(0, u64::MAX);
        assert!(b.ns().is_some_and(f64::is_finite));
        assert_eq!(Jitter::default().ns(), None);
    }
}
