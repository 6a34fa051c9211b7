//! The live page: a web server on this machine that shows in a browser what takt's processes do, and gives Prometheus their counts.
//!
//! It reads what each process shows of itself ([`takt_live`]) and forwards it; it measures nothing and keeps nothing.
//!
//! | path | answer |
//! | --- | --- |
//! | `/` | the page: one document, with its style and its script |
//! | `/api/processes` | the processes of this user, as JSON |
//! | `/api/live?pid=` | a WebSocket with the lines of a process, the newest snapshot only |
//! | `/metrics` | counts of all processes, for Prometheus |
//!
//! On loopback, only this user and root see the page. On any other address, or with a file for it, each request needs a token. A
//! request that names another server, or that comes from another web page, is refused.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod accept;
mod error;
mod feed;
mod guard;
mod metrics;
mod page;
mod peer;
mod processes;
mod routes;
mod token;

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use takt_base::Stop;
use takt_host::Host;
use tokio::runtime::{Builder, Runtime};

pub use error::ServeError;
pub use processes::Place;
pub use token::Token;

use error::doing;
use guard::Guard;
use processes::Processes;
use routes::Counts;

/// How often a server that waits looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);
/// Threads that wait for processes.
const WAITING_THREADS: usize = 96;

/// Address of the page, and who may see it.
#[derive(Debug)]
pub struct ServeOptions {
    /// Address and port; port 0: any that is free.
    pub listen: SocketAddr,
    /// The token that each request needs. `None`: on loopback this user needs none, and elsewhere takt makes one.
    pub token: Option<Token>,
    /// Folder in which the processes show themselves.
    pub place: Place,
}

/// Work of a server.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServeReport {
    /// How long it served, s.
    pub duration_s: f64,
    /// Connections to a process that pages opened.
    pub pages: u64,
    /// Requests that it refused: another page sent them, they named another server, or they lacked the token.
    pub refused_requests: u64,
}

/// A server that listens already.
#[derive(Debug)]
pub struct Server {
    at: SocketAddr,
    listener: TcpListener,
    guard: Guard,
    place: Place,
    runtime: Runtime,
}

impl Server {
    /// Listens. A browser gets its answer once [`run`](Server::run) is called.
    ///
    /// # Errors
    /// The address is taken, needs a privilege or is not this machine's; or the system gives no token or no thread.
    pub fn open(options: ServeOptions) -> Result<Server, ServeError> {
        let ServeOptions { listen, token, place } = options;
        let listener = TcpListener::bind(listen).map_err(|error| ServeError::listening(listen, error))?;
        let at = listener.local_addr().map_err(doing("asking for the address"))?;
        listener.set_nonblocking(true).map_err(doing("preparing the listener"))?;
        let token = match token {
            None if !at.ip().to_canonical().is_loopback() => {
                Some(Token::random().map_err(doing("reading /dev/urandom"))?)
            }
            token => token,
        };
        let hostname = Host::this().read_opt("/proc/sys/kernel/hostname").map(|name| name.trim().to_owned());
        let runtime = Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(WAITING_THREADS)
            .thread_name("takt-serve")
            .build()
            .map_err(doing("starting the server"))?;
        Ok(Server { at, listener, guard: Guard { token, hostname }, place, runtime })
    }

    /// The address to open in a browser, with the token if there is one. A server on all addresses names itself by loopback.
    #[must_use]
    pub fn url(&self) -> String {
        let ip = match self.at.ip() {
            ip if !ip.is_unspecified() => ip,
            std::net::IpAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            std::net::IpAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        };
        let token = self.guard.token.as_ref().map_or(String::new(), |token| format!("?token={}", token.secret()));
        format!("http://{}/{token}", SocketAddr::new(ip, self.at.port()))
    }

    /// Address at which it listens.
    #[must_use]
    pub fn local(&self) -> SocketAddr {
        self.at
    }

    /// Serves until it is stopped.
    ///
    /// # Errors
    /// The system does not let this thread wait for the listener.
    pub fn run(self, stop: &Stop) -> Result<ServeReport, ServeError> {
        let begun = Instant::now();
        let Server { at, listener, guard, place, runtime } = self;
        let peers_matter = guard.token.is_none() && at.ip().to_canonical().is_loopback();
        let counts = Arc::new(Counts::default());
        let served = runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).map_err(doing("waiting for the listener"))?;
            let router = routes::router(guard, Processes::new(place), Arc::clone(&counts));
            tokio::select! {
                never = accept::accept(listener, router, peers_matter) => match never {},
                () = stopped(stop) => Ok(()),
            }
        });
        // Threads that wait for a process end with their connections; nobody waits for them.
        runtime.shutdown_background();
        let (pages, refused_requests) = counts.read();
        served.map(|()| ServeReport { duration_s: begun.elapsed().as_secs_f64(), pages, refused_requests })
    }
}

async fn stopped(stop: &Stop) {
    while !stop.requested() {
        tokio::time::sleep(LOOK).await;
    }
}
