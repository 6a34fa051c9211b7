//! A path of known faults: a relay between client and server that loses, repeats, holds back and delays datagrams of load
//! by a seeded choice, writes down what it did, and leaves control alone.

use std::collections::VecDeque;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The kind of the message with which a client says that all is sent (docs/reference/udp.md), in its sixth byte.
const FINISH: u8 = 11;

/// Fate of a datagram, as shares.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    pub lose: f64,
    pub repeat: f64,
    /// Held back until so many others have passed.
    pub hold: f64,
    pub hold_for: usize,
    /// Every one leaves so long after it came, and up to so much later.
    pub delay: Duration,
    pub spread: Duration,
}

#[derive(Clone, Debug, Default)]
pub struct Done {
    pub came: u64,
    pub lost: u64,
    pub repeated: u64,
    pub held: u64,
    /// Sequence numbers in the order in which they left.
    pub left: Vec<u64>,
}

/// Sockets of a relay: clients talk to the first, the second talks to the server.
pub struct Relay {
    front: UdpSocket,
    back: UdpSocket,
}

struct Waiting {
    at: Instant,
    /// So many others pass first.
    others: usize,
    bytes: Vec<u8>,
}

impl Relay {
    pub fn between(front: &str, server: SocketAddr) -> Relay {
        let any: SocketAddr = "0.0.0.0:0".parse().expect("an address");
        let (front, back) = (UdpSocket::bind(front).expect("ours"), UdpSocket::bind(any).expect("ours"));
        back.connect(server).expect("there is a way");
        for socket in [&front, &back] {
            socket.set_read_timeout(Some(Duration::from_micros(200))).expect("a socket");
        }
        Relay { front, back }
    }

    pub fn at(&self) -> SocketAddr {
        self.front.local_addr().expect("bound")
    }

    /// Passes datagrams on until it is to stop, and says what it did.
    pub fn run(self, faults: Faults, seed: u64, stop: &AtomicBool) -> Done {
        let mut dice = Dice(seed);
        let (mut done, mut client, mut waiting) = (Done::default(), None, VecDeque::<Waiting>::new());
        let (mut frame, mut finish) = ([0; 2048], None);
        while !stop.load(Ordering::Relaxed) {
            if let Ok((len, from)) = self.front.recv_from(&mut frame) {
                client = Some(from);
                let bytes = &frame[..len];
                match bytes {
                    [kind, ..] if kind & 0xf0 == 0xd0 => {
                        self.load(bytes, &faults, &mut dice, &mut waiting, &mut done);
                    }
                    [_, _, _, _, _, FINISH, ..] => finish = Some(bytes.to_vec()),
                    _ => self.pass(bytes),
                }
            }
            self.release(&mut waiting, &mut done);
            // "All is sent" overtakes nothing.
            if waiting.is_empty()
                && let Some(bytes) = finish.take()
            {
                self.pass(&bytes);
            }
            self.back.set_nonblocking(true).expect("a socket");
            while let (Ok(len), Some(client)) = (self.back.recv(&mut frame), client) {
                // An answer that is lost is requested again.
                let _ = self.front.send_to(&frame[..len], client);
            }
        }
        done
    }

    fn load(&self, bytes: &[u8], faults: &Faults, dice: &mut Dice, waiting: &mut VecDeque<Waiting>, done: &mut Done) {
        done.came += 1;
        waiting.iter_mut().for_each(|held| held.others = held.others.saturating_sub(1));
        if dice.fall(faults.lose) {
            done.lost += 1;
            return;
        }
        let twice = dice.fall(faults.repeat);
        let held = dice.fall(faults.hold);
        done.repeated += u64::from(twice);
        done.held += u64::from(held);
        let at = Instant::now() + faults.delay + faults.spread.mul_f64(dice.share());
        for _ in 0..=u8::from(twice) {
            let others = if held { faults.hold_for } else { 0 };
            waiting.push_back(Waiting { at, others, bytes: bytes.to_vec() });
        }
    }

    /// Sends what is due, in the order in which it came due.
    fn release(&self, waiting: &mut VecDeque<Waiting>, done: &mut Done) {
        let now = Instant::now();
        waiting.make_contiguous().sort_by_key(|held| held.at);
        waiting.retain(|held| {
            // A held-back datagram leaves also when nothing follows it any more.
            let forgotten = now.saturating_duration_since(held.at) > Duration::from_millis(50);
            let due = held.at <= now && (held.others == 0 || forgotten);
            if due {
                done.left.push(sequence(&held.bytes));
                self.pass(&held.bytes);
            }
            !due
        });
    }

    fn pass(&self, bytes: &[u8]) {
        // A datagram the kernel refuses is one the server never sees; the figures would tell.
        let _ = self.back.send(bytes);
    }
}

/// The number a datagram of load carries (docs/reference/udp.md).
pub fn sequence(load: &[u8]) -> u64 {
    load[2..8].iter().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

struct Dice(u64);

impl Dice {
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn fall(&mut self, share: f64) -> bool {
        self.share() < share
    }
}
