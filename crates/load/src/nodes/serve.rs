//! The second node: executes what it is given, for one other at a time.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_agent::Failure;
use takt_base::{Clock, Stop, WallClock};
use takt_bridge::clock::Follower;
use takt_host::affinity::pin_self;
use takt_mapper::ClassSpec;
use takt_runtime::costs;

use super::line::{Lines, REQUEST_BYTES};
use super::message::{Ended, NodeFacts, Order, PROTOCOL, Reply, Request, Start};
use super::part::{Part, Waiting};
use super::{NodesError, PORT};
use crate::waveform::{self, Floors, floors};

/// How often it looks for a peer.
const LOOK: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServeOptions {
    /// Address at which it listens, and from which it sends samples.
    pub address: Ipv4Addr,
}

/// A thread that is the second node. Dropping it ends it.
#[derive(Debug)]
pub struct Serve {
    stop: Stop,
    at: SocketAddr,
    thread: Option<JoinHandle<()>>,
}

impl Serve {
    /// # Errors
    /// It can't listen there.
    pub fn start(options: ServeOptions) -> io::Result<Serve> {
        let listener = TcpListener::bind((options.address, PORT))?;
        listener.set_nonblocking(true)?;
        let (at, stop) = (listener.local_addr()?, Stop::new());
        let until = stop.clone();
        let thread = std::thread::Builder::new().name("takt-node".to_owned()).spawn(move || {
            while !until.requested() {
                match listener.accept() {
                    // Errors were reported to the one they concern.
                    Ok((stream, _)) => drop(Lines::over(stream).map(|lines| serve(lines, options.address, &until))),
                    Err(_) => std::thread::sleep(LOOK),
                }
            }
        })?;
        Ok(Serve { stop, at, thread: Some(thread) })
    }

    /// Address at which it listens.
    #[must_use]
    pub fn local(&self) -> SocketAddr {
        self.at
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        self.stop.request();
        if let Some(thread) = self.thread.take() {
            // A panic there was printed there.
            let _ = thread.join();
        }
    }
}

/// Its run, as far as it is.
enum State {
    Idle,
    Waiting(Box<Waiting>),
    Executing(Box<(Part, Follower)>),
}

fn serve(mut lines: Lines, address: Ipv4Addr, stop: &Stop) -> Result<(), NodesError> {
    let other = lines.other().map_err(NodesError::Line)?;
    let mut node = Node { address: address.into(), other, state: State::Idle, floors: None };
    while let Some(request) = lines.read(REQUEST_BYTES, &|| stop.requested())? {
        let reply = node.answer(request).unwrap_or_else(|error| Reply::Failed(Failure::of(&error, error.fix())));
        lines.write(&reply)?;
    }
    Ok(())
}

struct Node {
    address: IpAddr,
    /// The asking node: samples and questions for the time go nowhere else.
    other: IpAddr,
    state: State,
    floors: Option<Floors>,
}

impl Node {
    fn answer(&mut self, request: Request) -> Result<Reply, NodesError> {
        match (request, std::mem::replace(&mut self.state, State::Idle)) {
            (Request::Facts { protocol: PROTOCOL, capacities }, _) => {
                Ok(Reply::Facts(Box::new(own_facts(capacities)?)))
            }
            (Request::Open(Order { options, first }), _) => {
                let waiting = Waiting::open(&options, &first, 1, self.address)?;
                let samples = waiting.samples();
                self.state = State::Waiting(Box::new(waiting));
                Ok(Reply::Opened { samples })
            }
            (Request::Start(Start { samples, clock, epoch_ns }), State::Waiting(waiting)) => {
                if let Some(elsewhere) = [samples, clock].iter().find(|at| at.ip() != self.other) {
                    return Err(NodesError::Elsewhere { at: *elsewhere, other: self.other });
                }
                let follower = Follower::start(clock, epoch_ns, waiting.time()).map_err(NodesError::Clock)?;
                let part = waiting.go(samples)?;
                let begins = part.time.begins().unwrap_or(0);
                self.state = State::Executing(Box::new((part, follower)));
                Ok(Reply::Started { late_ns: WallClock.now().0.saturating_sub(begins) })
            }
            (Request::End { now }, State::Executing(executing)) => {
                let (part, follower) = *executing;
                if now {
                    part.stop();
                }
                let offset = (part.time.offset().ns(), part.time.offset().bound_ns());
                let outcome = part.end(*self.floors.get_or_insert_with(floors))?;
                drop(follower);
                Ok(Reply::Ended(Box::new(Ended { outcome, offset_ns: offset.0, offset_bound_ns: offset.1 })))
            }
            (request, _) => {
                let received = format!("{request:?}").chars().take(40).collect();
                Err(NodesError::Unexpected { received, expected: "facts, open, start, end, in this order" })
            }
        }
    }
}

/// Facts of this node; `capacities`: measured on the core that its worker has.
pub(super) fn own_facts(capacities: bool) -> Result<NodeFacts, NodesError> {
    let core = waveform::cores(1)?[0];
    let spec = if capacities { measured(core)? } else { ClassSpec::default() };
    Ok(NodeFacts { class: costs::class(), spec, core })
}

/// On a thread of its own: this one keeps its CPUs.
fn measured(core: usize) -> Result<ClassSpec, NodesError> {
    let measure = || -> Result<ClassSpec, NodesError> {
        pin_self(&[core])?;
        let (capacities, prices) = (Some(costs::capacities()?), Some(costs::prices()?));
        Ok(ClassSpec { capacities, prices, ..ClassSpec::default() })
    };
    std::thread::scope(|scope| scope.spawn(measure).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}
