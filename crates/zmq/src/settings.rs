//! Parameters that both components have, and what their soft threads count.

use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use takt_graph::{Domain, Item, Kind, ParamError, ParamSpec, Params, Value};
use takt_runtime::MakeError;
use takt_runtime::soft::{Policy, Step};

use crate::ends::{Place, Socket};
use crate::zmtp::SocketType;

/// An address at which nothing is: the first port is reserved.
const NOWHERE: &str = "tcp://127.0.0.1:1";

/// Parameters of a component.
pub(crate) struct Settings {
    address: SocketAddr,
    listens: Option<bool>,
    pub(crate) broadcasts: bool,
    pub(crate) item: Item,
    pub(crate) policy: Policy,
    pub(crate) buffer: usize,
    /// With the policy to hold: how long a slot waits for a peer.
    pub(crate) patience: Duration,
}

pub(crate) fn kind(name: &str, about: &str, usual: &str, give_way: &str) -> Kind {
    let words = |words: &[&str]| Domain::Choice { of: words.iter().map(|&word| word.to_owned()).collect() };
    let items: Vec<&str> = Item::ALL.iter().map(|item| item.name()).collect();
    let bytes = Domain::Int { min: 4096, max: 1 << 32 };
    let room = ParamSpec::new("buffer", bytes, "Room between the network and the slots.").unit("bytes").memory();
    let patience = Domain::Int { min: 1, max: 3600 };
    // Others must not be able to have a node connect to wherever they want: as with files.
    Kind::new(name, about)
        .with_files()
        .param(ParamSpec::new("address", Domain::Text, "Its place, tcp://ADDRESS:PORT.").in_trials(NOWHERE))
        .param(
            ParamSpec::new("end", words(&["listen", "connect"]), "Which side it is of the connection.")
                .default(usual)
                .in_trials("connect"),
        )
        .param(
            ParamSpec::new("pattern", words(&["pipeline", "broadcast"]), "PUSH and PULL, or PUB and SUB.")
                .default("pipeline"),
        )
        .param(ParamSpec::new("item", words(&items), "Type of its items.").default("c32"))
        .param(ParamSpec::new("keep", words(&["data", "time"]), give_way).default("time").in_trials("time"))
        .param(
            ParamSpec::new(
                "patience",
                patience,
                "With keep = \"data\": it gives up after so long without a peer that goes on.",
            )
            .unit("s")
            .default(10),
        )
        .param(room.default(4 << 20))
}

pub(crate) fn item(params: &Params) -> Result<Item, ParamError> {
    let word = params.text("item").unwrap_or_default();
    word.parse().map_err(|_| ParamError::Together {
        what: format!("no item `{word}`"),
        fix: "use an item type such as c32".to_owned(),
    })
}

pub(crate) fn thread(error: &io::Error) -> MakeError {
    MakeError {
        what: format!("can't start a thread: {error}"),
        fix: "raise the limit of threads (ulimit -u)".to_owned(),
    }
}

impl Settings {
    pub(crate) fn of(params: &Params) -> Result<Settings, MakeError> {
        let text = params.text("address").unwrap_or_default();
        let address = text.strip_prefix("tcp://").and_then(|rest| rest.replace('*', "0.0.0.0").parse().ok());
        let address = address.ok_or_else(|| MakeError {
            what: format!("address `{}` is not tcp://ADDRESS:PORT", text.chars().take(80).collect::<String>()),
            fix: "give an address such as tcp://127.0.0.1:5555".to_owned(),
        })?;
        let item = item(params).map_err(|error| MakeError { what: error.to_string(), fix: error.fix() })?;
        let number = |name: &str, usual| params.int(name).and_then(|n| usize::try_from(n).ok()).unwrap_or(usual);
        Ok(Settings {
            address,
            listens: params.text("end").map(|end| end == "listen"),
            broadcasts: params.text("pattern") == Some("broadcast"),
            item,
            policy: if params.text("keep") == Some("data") { Policy::Hold } else { Policy::Drop },
            buffer: number("buffer", 4 << 20),
            patience: Duration::from_secs(number("patience", 10) as u64),
        })
    }

    /// Opens its socket.
    pub(crate) fn socket(&self, kind: SocketType, usual: fn(SocketAddr) -> Place) -> Result<Socket, MakeError> {
        let place = match self.listens {
            Some(true) => Place::Listen(self.address),
            Some(false) => Place::Connect(self.address),
            None => usual(self.address),
        };
        Socket::open(kind, place).map_err(|error| MakeError {
            what: format!("can't listen at tcp://{}: {error}", self.address),
            fix: "give an address of this machine and a free port".to_owned(),
        })
    }

    /// How its soft thread waits. Without the policy to hold, it never gives up, and is soon idle.
    pub(crate) fn waiting(&self) -> Waiting {
        let gives_up = self.policy == Policy::Hold;
        Waiting { patience: if gives_up { self.patience } else { SOON }, gives_up, since: None }
    }

    /// Whether a slot's packets fit into the buffer.
    pub(crate) fn suits(&self, items: &[usize]) -> Result<(), String> {
        let (bytes, buffer) = (items.iter().sum::<usize>() * self.item.bytes(), self.buffer);
        if bytes <= buffer {
            return Ok(());
        }
        Err(format!("a packet of {bytes} bytes does not fit into a buffer of {buffer}: buffer = {bytes}"))
    }
}

/// Counts of a soft thread.
#[derive(Clone, Default)]
pub(crate) struct State(Arc<Mutex<Counted>>);

#[derive(Clone, Default)]
struct Counted {
    bytes: u64,
    unsent_bytes: u64,
    connections: u64,
    error: Option<String>,
}

impl State {
    fn counted(&self, change: impl FnOnce(&mut Counted)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(crate) fn add(&self, bytes: usize) {
        self.counted(|counted| counted.bytes += bytes as u64);
    }

    /// So many bytes went since no peer was there.
    pub(crate) fn unsent(&self, bytes: usize) {
        self.counted(|counted| counted.unsent_bytes += bytes as u64);
    }

    /// The first thing that went wrong stays.
    pub(crate) fn fail(&self, why: String) {
        self.counted(|counted| _ = counted.error.get_or_insert(why));
    }

    /// Peers that came, and one that was not understood.
    pub(crate) fn note(&self, socket: &Socket) {
        self.counted(|counted| {
            counted.connections = socket.connected();
            if let Some(why) = socket.refused() {
                counted.error.get_or_insert_with(|| why.to_owned());
            }
        });
    }

    /// Never in a slot.
    pub(crate) fn results(&self, lost: &[(&'static str, u64)]) -> Vec<(&'static str, Value)> {
        let Counted { bytes, unsent_bytes, connections, error } =
            self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let count = |n: u64| Value::Int(i64::try_from(n).unwrap_or(i64::MAX));
        let mut results = vec![("bytes", count(bytes)), ("connections", count(connections))];
        results.extend((unsent_bytes > 0).then(|| ("unsent_bytes", count(unsent_bytes))));
        results.extend(lost.iter().map(|&(name, n)| (name, count(n))));
        results.extend(error.map(|error| ("error", error.into())));
        results
    }
}

/// How long a soft thread waits for its peers. While it waits for them it is not idle: what it holds is not done.
pub(crate) struct Waiting {
    patience: Duration,
    /// Whether the thread ends then.
    gives_up: bool,
    since: Option<Instant>,
}

/// A thread that drops what nobody takes is idle after so long.
const SOON: Duration = Duration::from_millis(200);
/// Between two looks at a peer that does nothing.
const LOOK: Duration = Duration::from_micros(500);

impl Waiting {
    /// Nothing is to be done.
    pub(crate) fn idle(&mut self) -> Step {
        self.since = None;
        Step::Idle
    }

    /// Something is to be done, and was, or waits for a peer. Without one for too long, the thread ends.
    pub(crate) fn step(&mut self, went_on: bool) -> Step {
        if went_on {
            self.since = None;
            return Step::Worked;
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        if since.elapsed() >= self.patience {
            return if self.gives_up { Step::Done } else { Step::Idle };
        }
        std::thread::sleep(LOOK);
        Step::Worked
    }
}
