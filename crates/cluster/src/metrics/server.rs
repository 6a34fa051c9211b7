//! The port where metrics are read: a few threads, each with one connection at a time, which ends after one answer. More wait in
//! the kernel's queue; who is slow is cut off.
//!
//! The threads know nothing of a node: they ask the one that serves it, which makes the page of what it knows then. So no scrape
//! takes a lock of the node's, and none waits for a worker or makes one wait.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use takt_base::Stop;

use super::request::{MOST_BYTES, Request, Status, read};
use super::text::CONTENT_TYPE;

/// Connections at a time.
const AT_A_TIME: usize = 4;

/// How long a connection may last, its answer included.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often one that waits looks whether the node ends.
const LOOK: Duration = Duration::from_millis(100);

/// Bytes of a thread's stack: a node locks its memory, stacks included.
const STACK_BYTES: usize = 256 << 10;

/// A port that gives metrics to whoever asks.
pub struct Server {
    at: SocketAddr,
    listener: Arc<TcpListener>,
    scrapes: Option<Receiver<Scrape>>,
    stop: Stop,
    threads: Vec<JoinHandle<()>>,
}

/// A client that waits for a page.
type Scrape = SyncSender<Arc<str>>;

impl Server {
    /// Listens. Answers come once [`Server::answer`] is called, again and again.
    ///
    /// # Errors
    /// The address is not one of this machine, or taken; a thread is not made.
    pub fn open(at: SocketAddr) -> io::Result<Server> {
        Server::patient(at, PATIENCE)
    }

    fn patient(at: SocketAddr, patience: Duration) -> io::Result<Server> {
        let listener = Arc::new(TcpListener::bind(at)?);
        let (ask, scrapes) = sync_channel(AT_A_TIME);
        let at = listener.local_addr()?;
        let mut server = Server { at, listener, scrapes: Some(scrapes), stop: Stop::new(), threads: Vec::new() };
        for _ in 0..AT_A_TIME {
            let (listener, ask, stop) = (Arc::clone(&server.listener), ask.clone(), server.stop.clone());
            let thread = std::thread::Builder::new().name("takt-metrics".to_owned()).stack_size(STACK_BYTES);
            server.threads.push(thread.spawn(move || serve(&listener, &ask, &stop, patience))?);
        }
        Ok(server)
    }

    /// Address at which it listens.
    #[must_use]
    pub fn local(&self) -> SocketAddr {
        self.at
    }

    /// Gives a page to all who wait for one now; made only if one waits.
    pub fn answer(&self, page: impl FnOnce() -> String) {
        let mut waiting = self.scrapes.iter().flat_map(Receiver::try_iter).peekable();
        if waiting.peek().is_none() {
            return;
        }
        let page: Arc<str> = page().into();
        // A client that has gone wants none.
        waiting.for_each(|scrape| _ = scrape.try_send(Arc::clone(&page)));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.request();
        self.scrapes = None;
        // A listener that is shut down accepts nothing more: whoever waits in it returns.
        let _ = rustix::net::shutdown(&self.listener, rustix::net::Shutdown::Both);
        for thread in self.threads.drain(..) {
            // A panic there was printed there.
            let _ = thread.join();
        }
    }
}

fn serve(listener: &TcpListener, ask: &SyncSender<Scrape>, stop: &Stop, patience: Duration) {
    while !stop.requested() {
        match listener.accept() {
            // The fate of one connection is its client's affair.
            Ok((stream, _)) => _ = Connection { stream, until: Instant::now() + patience, stop }.answer(ask),
            // No descriptors left, say: others may be given back.
            Err(_) if !stop.requested() => std::thread::sleep(LOOK),
            Err(_) => {}
        }
    }
}

/// One connection, from its request to its answer.
struct Connection<'a> {
    stream: TcpStream,
    until: Instant,
    stop: &'a Stop,
}

impl Connection<'_> {
    fn answer(mut self, ask: &SyncSender<Scrape>) -> io::Result<()> {
        self.stream.set_read_timeout(Some(LOOK))?;
        self.stream.set_write_timeout(Some(LOOK))?;
        let answered = match self.request()? {
            Request::Refused(status) => Err(status),
            Request::Metrics { head } => self.page(ask).map(|page| (head, page)),
        };
        match answered {
            Ok((head, page)) => {
                self.write(&format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: {CONTENT_TYPE}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    page.len()
                ))?;
                self.write(if head { "" } else { &page })?;
            }
            Err(status) => {
                let allow = if status == Status::Method { "Allow: GET, HEAD\r\n" } else { "" };
                let line = status.line();
                self.write(&format!("HTTP/1.1 {line}\r\n{allow}Content-Length: 0\r\nConnection: close\r\n\r\n"))?;
            }
        }
        self.stream.shutdown(Shutdown::Write)
    }

    fn request(&mut self) -> io::Result<Request> {
        let (mut head, mut have) = ([0; MOST_BYTES], 0);
        loop {
            let room = head.get_mut(have..).unwrap_or_default();
            let came = self.patiently(|stream| stream.read(room))?;
            have += came;
            if let Some(request) = read(head.get(..have).unwrap_or_default()) {
                return Ok(request);
            }
            if came == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// The page, once the node has made it.
    fn page(&self, ask: &SyncSender<Scrape>) -> Result<Arc<str>, Status> {
        let (scrape, page) = sync_channel(1);
        // There is a place for each thread.
        ask.try_send(scrape).map_err(|_| Status::Busy)?;
        page.recv_timeout(self.left()).map_err(|_: RecvTimeoutError| Status::Busy)
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        let mut left = text.as_bytes();
        while !left.is_empty() {
            match self.patiently(|stream| stream.write(left))? {
                0 => return Err(ErrorKind::WriteZero.into()),
                written => left = left.get(written..).unwrap_or_default(),
            }
        }
        Ok(())
    }

    /// Does something until it is done, the connection's time is over or the node ends.
    fn patiently(&mut self, mut what: impl FnMut(&mut TcpStream) -> io::Result<usize>) -> io::Result<usize> {
        loop {
            match what(&mut self.stream) {
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                    if self.left().is_zero() || self.stop.requested() {
                        return Err(ErrorKind::TimedOut.into());
                    }
                }
                // One byte at a time is no way to stay either.
                Ok(_) if self.left().is_zero() => return Err(ErrorKind::TimedOut.into()),
                done => return done,
            }
        }
    }

    fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn server() -> Server {
        Server::patient((Ipv4Addr::LOCALHOST, 0).into(), Duration::from_secs(3)).unwrap()
    }

    /// All that a client reads until the end.
    fn rest(mut stream: TcpStream) -> String {
        let mut text = String::new();
        // A client that is cut off may find that its own words were not read.
        let _ = stream.read_to_string(&mut text);
        text
    }

    fn ask(server: &Server, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(server.local()).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    /// The page is made until this client has its answer.
    fn answered(server: &Server, stream: TcpStream, page: &str) -> String {
        let reading = std::thread::spawn(move || rest(stream));
        takt_testing::wait_for("an answer", || {
            server.answer(|| page.to_owned());
            reading.is_finished().then_some(())
        });
        reading.join().unwrap()
    }

    /// The scrapes of as many clients as there are threads: each of these is at one of them.
    fn waiting(server: &Server) -> Vec<Scrape> {
        let mut waiting = Vec::new();
        takt_testing::wait_for("a client at each thread", || {
            waiting.extend(server.scrapes.iter().flat_map(Receiver::try_iter));
            (waiting.len() == AT_A_TIME).then_some(())
        });
        waiting
    }

    const GET: &str = "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n";

    #[test]
    fn a_page_is_made_for_who_asks_and_for_nobody_else() {
        let server = server();
        server.answer(|| panic!("nobody asks"));
        let text = answered(&server, ask(&server, GET), "takt_up 1\n");
        assert!(text.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
        assert!(text.contains("\r\nContent-Length: 10\r\n") && text.ends_with("\r\n\r\ntakt_up 1\n"), "{text}");
        let head = answered(&server, ask(&server, &GET.replace("GET", "HEAD")), "takt_up 1\n");
        assert!(head.contains("\r\nContent-Length: 10\r\n") && head.ends_with("close\r\n\r\n"), "{head}");
        for (asked, status) in [
            ("GET / HTTP/1.1\r\n\r\n", "404 Not Found"),
            ("PUT /metrics HTTP/1.1\r\n\r\n", "405 Method Not Allowed"),
            ("hello\r\n\r\n", "400 Bad Request"),
        ] {
            let text = rest(ask(&server, asked));
            assert!(text.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{asked}: {text}");
        }
    }

    #[test]
    fn clients_that_say_nothing_hold_up_others_until_they_are_cut_off_and_not_longer() {
        let server = server();
        let silent: Vec<TcpStream> = (0..AT_A_TIME).map(|_| ask(&server, "GET /met")).collect();
        let text = answered(&server, ask(&server, GET), "takt_up 1\n");
        assert!(text.ends_with("takt_up 1\n"), "{text}");
        // Without an answer.
        assert!(silent.into_iter().all(|stream| rest(stream).is_empty()));
    }

    #[test]
    fn a_client_that_reads_nothing_is_cut_off() {
        let server = server();
        let page: Arc<str> = "x".repeat(16 << 20).into();
        let deaf: Vec<TcpStream> = (0..AT_A_TIME).map(|_| ask(&server, GET)).collect();
        waiting(&server).iter().for_each(|scrape| scrape.send(Arc::clone(&page)).unwrap());
        let reading: Vec<TcpStream> = (0..AT_A_TIME).map(|_| ask(&server, GET)).collect();
        // Each thread has one of these: none of the deaf has one any more, and what they read now comes from no thread.
        waiting(&server).iter().for_each(|scrape| scrape.send(Arc::clone(&page)).unwrap());
        assert!(reading.into_iter().all(|stream| rest(stream).ends_with("xxx")), "who came after them has it");
        assert!(deaf.into_iter().all(|stream| rest(stream).len() < page.len()));
    }

    #[test]
    fn it_ends_at_once_whatever_its_clients_do() {
        let server = server();
        let (at, _half) = (server.local(), ask(&server, "GET /m"));
        let waits = ask(&server, GET);
        drop(server);
        // The client that waited has no page.
        assert!(!rest(waits).contains("200 OK"));
        assert!(TcpStream::connect(at).is_err());
    }
}
