//! The loop of the thread: waits for readers, their lines and their turns, and for the end.

use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt;
use rustix::process::geteuid;
use takt_base::{Clock, MonoNs, WallClock};
use takt_host::sockets::NamedSocket;

use super::AnySource;
use super::peer::{Gone, Peer, line_of};
use crate::limits::{LINE_OUT, READERS, TAPS};
use crate::{Hello, Line, Request, SetAnswer, SetVariable, Snapshot};

/// The system refuses to wait: the thread looks this often, ns.
const LOOK_NS: i64 = 100_000_000;
/// Between two calls of a source while nobody looks.
const IDLE: Duration = Duration::from_secs(1);

pub(super) struct Turns {
    socket: NamedSocket,
    ended: UnixStream,
    hello: Vec<u8>,
    begun: MonoNs,
    source: Box<dyn AnySource>,
    peers: Vec<Peer>,
    /// When the source is called though nobody looks.
    idle: MonoNs,
}

impl Turns {
    pub(super) fn new(
        socket: NamedSocket,
        ended: UnixStream,
        hello: &Hello,
        source: Box<dyn AnySource>,
    ) -> io::Result<Turns> {
        socket.listener().set_nonblocking(true)?;
        let hello = line_of(&Line::Hello(hello.clone()));
        let begun = WallClock.now();
        Ok(Turns { socket, ended, hello, begun, source, peers: Vec::new(), idle: begun })
    }

    /// Until the other end of `ended` is closed.
    pub(super) fn run(mut self) {
        loop {
            let ready = self.wait();
            let now = WallClock.now();
            if ready.ended {
                break;
            }
            // From the last to the first: who is dropped moves none that is still to come.
            for (index, flags) in ready.peers.iter().enumerate().rev() {
                if let Err(gone) = self.attend(index, *flags, now) {
                    self.drop_peer(index, gone, now);
                }
            }
            if ready.newcomers {
                self.accept(now);
            }
            self.snapshots(now);
            self.idle(now);
        }
        let now = WallClock.now();
        self.peers.drain(..).for_each(|peer| peer.end("the process has ended", now));
    }

    fn wait(&self) -> Ready {
        let all = PollFlags::IN;
        let mut list =
            vec![PollFd::new(&self.ended, all), PollFd::from_borrowed_fd(self.socket.listener().as_fd(), all)];
        for peer in &self.peers {
            let flags = if peer.has_waiting() { all | PollFlags::OUT } else { all };
            list.push(PollFd::new(peer, flags));
        }
        let next = self.peers.iter().map(|peer| peer.due().min(peer.deadline())).min().unwrap_or(self.idle);
        let timeout =
            (next != MonoNs::NEVER).then_some(next).map(|at| timespec(at.saturating_since(WallClock.now()).as_nanos()));
        if poll(&mut list, timeout.as_ref()).is_err() {
            // Interrupted, as a rule: nothing is ready, and everything is looked at.
            std::thread::sleep(Duration::from_millis(1));
            return Ready { peers: vec![PollFlags::empty(); self.peers.len()], ..Ready::default() };
        }
        let flags: Vec<PollFlags> = list.iter().map(PollFd::revents).collect();
        Ready { ended: !flags[0].is_empty(), newcomers: !flags[1].is_empty(), peers: flags[2..].to_vec() }
    }

    fn attend(&mut self, index: usize, flags: PollFlags, now: MonoNs) -> Result<(), Gone> {
        let Some(peer) = self.peers.get_mut(index) else { return Ok(()) };
        if flags.contains(PollFlags::OUT) {
            peer.flush(now)?;
        }
        if flags.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
            for request in peer.requests(now)? {
                match request {
                    Request::EveryMs(every_ms) => peer.pace(every_ms, now),
                    Request::Taps(outputs) => peer.tap(outputs),
                    Request::Set(set) => {
                        let answer = Line::Set(set_variable(&mut *self.source, set));
                        peer.answer(&line_of(&answer), now)?;
                    }
                }
            }
        }
        peer.check(now)
    }

    fn drop_peer(&mut self, index: usize, Gone(why): Gone, now: MonoNs) {
        let peer = self.peers.swap_remove(index);
        if let Some(why) = why {
            peer.end(&why, now);
        }
    }

    fn accept(&mut self, now: MonoNs) {
        while let Ok((stream, _)) = self.socket.listener().accept() {
            let known = sockopt::socket_peercred(&stream).is_ok_and(|peer| peer.uid.is_root() || peer.uid == geteuid());
            if !known {
                continue;
            }
            // A reader that left already harms only itself.
            let Ok(mut peer) = Peer::new(stream, &self.hello, now) else { continue };
            if self.peers.len() >= READERS {
                peer.end(&format!("{READERS} readers watch already"), now);
            } else if peer.flush(now).is_ok() {
                self.peers.push(peer);
            }
        }
    }

    fn idle(&mut self, now: MonoNs) {
        if self.peers.is_empty() && now >= self.idle {
            self.idle = if self.source.idle() { now + IDLE } else { MonoNs::NEVER };
        }
    }

    /// For those whose turn it is. Without one, nothing is counted.
    fn snapshots(&mut self, now: MonoNs) {
        if self.peers.iter().all(|peer| peer.due() > now) {
            return;
        }
        self.source.show(&wanted(&self.peers));
        let mut snapshot = self.source.snapshot();
        snapshot.t_ns = u64::try_from(now.saturating_since(self.begun).as_nanos()).unwrap_or(u64::MAX);
        let line = line_within(snapshot.bounded());
        for index in (0..self.peers.len()).rev() {
            let peer = &mut self.peers[index];
            if peer.due() <= now
                && let Err(gone) = peer.snapshot(&line, now)
            {
                self.drop_peer(index, gone, now);
            }
        }
    }
}

/// Outputs that readers want to see, each once, as many as a snapshot has taps.
fn wanted(peers: &[Peer]) -> Vec<String> {
    let mut all: Vec<String> = peers.iter().flat_map(Peer::taps).cloned().collect();
    all.sort();
    all.dedup();
    all.truncate(TAPS);
    all
}

#[derive(Default)]
struct Ready {
    ended: bool,
    newcomers: bool,
    peers: Vec<PollFlags>,
}

fn timespec(ns: u128) -> Timespec {
    let whole = |n: u128| i64::try_from(n).unwrap_or(LOOK_NS);
    Timespec { tv_sec: whole(ns / 1_000_000_000), tv_nsec: whole(ns % 1_000_000_000) }
}

/// A snapshot that is too long for a line goes without its longest lists.
fn line_within(mut snapshot: Snapshot) -> Vec<u8> {
    let mut line = line_of(&Line::Snapshot(Box::new(snapshot.clone())));
    if line.len() > LINE_OUT {
        snapshot.left_out += snapshot.components.iter().map(|component| component.edges.len() as u64).sum::<u64>();
        snapshot.components.iter_mut().for_each(|component| component.edges.clear());
        line = line_of(&Line::Snapshot(Box::new(snapshot.clone())));
    }
    if line.len() > LINE_OUT {
        snapshot.left_out += (snapshot.components.len() + snapshot.variables.len() + snapshot.nodes.len()) as u64;
        let Snapshot { components, variables, nodes, .. } = &mut snapshot;
        components.clear();
        variables.clear();
        nodes.clear();
        line = line_of(&Line::Snapshot(Box::new(snapshot)));
    }
    line
}

/// Sets what the process declares settable, within its range.
fn set_variable(source: &mut dyn AnySource, set: SetVariable) -> SetAnswer {
    let done = may_set(&source.snapshot(), &set).and_then(|()| source.set(&set));
    let refused = done.err().map(|mut why| {
        crate::document::cut_text(&mut why, crate::limits::TEXT_CHARS);
        why
    });
    SetAnswer { name: set.name, refused }
}

fn may_set(snapshot: &Snapshot, set: &SetVariable) -> Result<(), String> {
    use crate::VariableValue::{Float, Int};
    let name = &set.name;
    let found = snapshot.variables.iter().find(|variable| variable.name == *name);
    let Some(variable) = found else { return Err(format!("there is no variable {name}")) };
    if !variable.settable {
        return Err(format!("{name} can only be read"));
    }
    let number = match set.value {
        Int(n) => Some(n as f64),
        Float(x) => Some(x),
        _ => None,
    };
    match (variable.range, number) {
        (Some([low, high]), Some(x)) if !(low..=high).contains(&x) => {
            Err(format!("{name} is to be {x}; expected: {low} to {high}"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Component, Variable, VariableValue};

    #[test]
    fn a_variable_is_set_only_where_the_process_lets_readers() {
        let variable = |name: &str, settable| Variable {
            name: name.into(),
            value: None,
            unit: None,
            range: Some([0.0, 9.0]),
            expected: None,
            settable,
        };
        let variables = vec![variable("a.yes", true), variable("a.no", false)];
        let snapshot = Snapshot { variables, ..Snapshot::default() };
        let may = |name: &str, value| may_set(&snapshot, &SetVariable { name: name.into(), value });
        assert_eq!(may("a.yes", VariableValue::Float(4.5)), Ok(()));
        assert_eq!(may("a.yes", VariableValue::Int(10)).unwrap_err(), "a.yes is to be 10; expected: 0 to 9");
        assert_eq!(may("a.no", VariableValue::Int(1)).unwrap_err(), "a.no can only be read");
        assert_eq!(may("b", VariableValue::Int(1)).unwrap_err(), "there is no variable b");
    }

    #[test]
    fn a_source_that_sets_nothing_says_so() {
        let variables =
            vec![Variable { name: "a.b".into(), value: None, unit: None, range: None, expected: None, settable: true }];
        let mut source = move || Snapshot { variables: variables.clone(), ..Snapshot::default() };
        let set = SetVariable { name: "a.b".into(), value: VariableValue::Bool(true) };
        assert_eq!(set_variable(&mut source, set).refused.as_deref(), Some("nothing sets a.b in this process"));
    }

    #[test]
    fn no_snapshot_is_longer_than_a_line_may_be() {
        // Each character takes two bytes.
        let text = "é".repeat(crate::limits::TEXT_CHARS);
        let edges = vec![text.clone(); crate::limits::EDGES];
        let component = Component { name: text.clone(), kind: Some(text), edges, ..Component::default() };
        let components = vec![component; crate::limits::COMPONENTS];
        let line = line_within(Snapshot { components, ..Snapshot::default() }.bounded());
        assert!(line.len() <= LINE_OUT, "{}", line.len());
        let Line::Snapshot(read) = serde_json::from_slice(&line).unwrap() else { panic!("a snapshot") };
        assert_eq!(read.components.len(), crate::limits::COMPONENTS);
        assert_eq!(read.left_out, (crate::limits::EDGES * crate::limits::COMPONENTS) as u64);
    }
}
