//! Both ends of a bearer over a pipe that loses, delays and repeats.

use proptest::prelude::*;

use super::*;
use crate::random::Random;

/// Two ends, and PDUs under way with the subframe in which they arrive.
struct Pipe {
    ends: [Bearer; 2],
    under_way: Vec<(u64, usize, Vec<u8>)>,
    counters: [LinkCounters; 2],
    random: Random,
    /// Thousandths.
    lost: u64,
    now: u64,
}

impl Pipe {
    fn new(mode: BearerMode, lost: u64, seed: u64) -> Pipe {
        let config = RlcConfig { most_repeats: 100, ..RlcConfig::default() };
        let ends = [Bearer::new(mode, config), Bearer::new(mode, config)];
        Pipe { ends, under_way: Vec::new(), counters: Default::default(), random: Random::new(seed), lost, now: 1 }
    }

    fn step(&mut self, room: usize) -> [Vec<Vec<u8>>; 2] {
        for from in 0..2 {
            let Some(pdu) = self.ends[from].build(room, self.now, &mut self.counters[from]) else { continue };
            assert!(pdu.len() <= room);
            for _ in 0..1 + u64::from(self.random.below(20) == 0) {
                if self.random.below(1000) >= self.lost {
                    self.under_way.push((self.now + self.random.below(25), 1 - from, pdu.clone()));
                }
            }
        }
        let (due, later) = std::mem::take(&mut self.under_way).into_iter().partition(|one| one.0 <= self.now);
        self.under_way = later;
        let due: Vec<(u64, usize, Vec<u8>)> = due;
        for (_, to, pdu) in due {
            self.ends[to].take(&pdu, self.now, &mut self.counters[to]);
        }
        for (end, counters) in self.ends.iter_mut().zip(&mut self.counters) {
            end.tick(true, self.now, counters);
        }
        self.now += 1;
        [0, 1].map(|end| self.ends[end].delivered().collect())
    }
}

fn packet(n: u64, len: usize) -> Vec<u8> {
    let mut packet = n.to_be_bytes().to_vec();
    packet.resize(len.max(8), n as u8);
    packet
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn packets_are_delivered_in_order_once_and_all(
        seed: u64, lost in 0u64..400, lens in prop::collection::vec(1usize..=1500, 1..60), unacknowledged: bool,
    ) {
        let mode = if unacknowledged { BearerMode::Unacknowledged } else { BearerMode::Acknowledged };
        let mut pipe = Pipe::new(mode, lost, seed);
        let sent: Vec<Vec<u8>> = lens.iter().enumerate().map(|(n, &len)| packet(n as u64, len)).collect();
        for one in &sent {
            pipe.ends[0].push(one, &mut pipe.counters[0]).unwrap();
        }
        let mut heard = Vec::new();
        for _ in 0..20_000 {
            let room = 12 + pipe.random.below(1600) as usize;
            let [up, down] = pipe.step(room);
            prop_assert!(up.is_empty());
            heard.extend(down);
            if heard.len() == sent.len() && pipe.ends[0].packets() == 0 {
                break;
            }
        }
        if mode == BearerMode::Acknowledged {
            prop_assert_eq!(pipe.ends[0].packets(), 0);
            prop_assert_eq!(heard, sent);
        } else {
            let mut left = sent.iter();
            prop_assert!(heard.iter().all(|one| left.any(|other| other == one)), "not a part in order");
            prop_assert_eq!(pipe.counters[1].packets_lost, 0);
        }
    }

    #[test]
    fn any_pdus_leave_it_bounded(pdus in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..24), 0..300)) {
        for mode in [BearerMode::Acknowledged, BearerMode::Unacknowledged] {
            let mut pipe = Pipe::new(mode, 0, 1);
            (0..20).for_each(|n| pipe.ends[0].push(&packet(n, 300), &mut pipe.counters[0]).unwrap());
            for pdu in &pdus {
                // Half of them look like data or a status near the window.
                let mut pdu = pdu.clone();
                if let [first, high, ..] = &mut pdu[..] {
                    (*first, *high) = (*first & 0xf0 & if *high & 1 == 0 { 0xff } else { 0x0f }, *high & 7);
                }
                pipe.ends[0].take(&pdu, pipe.now, &mut pipe.counters[0]);
                pipe.step(200);
            }
            prop_assert!(pipe.ends[0].packets() <= 20);
        }
    }
}

#[test]
fn numbers_wrap_without_a_loss() {
    for mode in [BearerMode::Acknowledged, BearerMode::Unacknowledged] {
        let mut pipe = Pipe::new(mode, if mode == BearerMode::Acknowledged { 20 } else { 0 }, 3);
        let (mut sent, mut heard) = (0u64, 0u64);
        while heard < 140_000 {
            while sent < 140_000 && pipe.ends[0].push(&packet(sent, 8), &mut pipe.counters[0]).is_ok() {
                sent += 1;
            }
            for _ in 0..50 {
                let Some(pdu) = pipe.ends[0].build(20, pipe.now, &mut pipe.counters[0]) else { break };
                if pipe.random.below(1000) >= pipe.lost {
                    pipe.ends[1].take(&pdu, pipe.now, &mut pipe.counters[1]);
                }
            }
            for one in &pipe.step(20)[1] {
                assert_eq!(*one, packet(heard, 8), "{mode:?}");
                heard += 1;
            }
            assert!(pipe.now < 400_000, "{mode:?}: {heard} of {sent}");
        }
    }
}

#[test]
fn a_dead_pipe_is_a_failure_and_a_resumed_one_none() {
    let config = RlcConfig { most_repeats: 4, ..RlcConfig::default() };
    let mut pipe = Pipe::new(BearerMode::Acknowledged, 1000, 1);
    pipe.ends[0] = Bearer::new(BearerMode::Acknowledged, config);
    (0..5).for_each(|n| pipe.ends[0].push(&packet(n, 700), &mut pipe.counters[0]).unwrap());
    (0..2000).for_each(|_| drop(pipe.step(300)));
    assert!(pipe.ends[0].has_failed());
    pipe.lost = 0;
    for (end, counters) in pipe.ends.iter_mut().zip(&mut pipe.counters) {
        end.resume(counters);
    }
    let heard: Vec<_> = (0..500).flat_map(|_| pipe.step(300)[1].clone()).collect();
    assert_eq!(heard, (0..5).map(|n| packet(n, 700)).collect::<Vec<_>>());
    assert!(!pipe.ends[0].has_failed() && pipe.ends[0].packets() == 0);
}

#[test]
fn what_is_refused_is_counted() {
    let mut pipe = Pipe::new(BearerMode::Acknowledged, 0, 1);
    let (end, counters) = (&mut pipe.ends[0], &mut pipe.counters[0]);
    assert_eq!(end.push(&[0; 1501], counters), Err(PacketRefused::Size));
    assert_eq!(end.push(&[], counters), Err(PacketRefused::Size));
    let most = RlcConfig::default().queue_packets;
    (0..most).for_each(|_| end.push(&[0; 1500], counters).unwrap());
    assert_eq!(end.push(&[0; 1500], counters), Err(PacketRefused::QueueFull));
    let LinkCounters { packets_accepted, packets_refused_full, packets_refused_size, .. } = *counters;
    assert_eq!((packets_accepted, packets_refused_full, packets_refused_size), (most.into(), 1, 2));
}
