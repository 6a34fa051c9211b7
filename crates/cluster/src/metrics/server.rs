//! The port where metrics are read: a thread of its own with a few connections, each of which ends after one answer. More wait
//! in the kernel's queue; a slow client is cut off.
//!
//! The thread knows nothing of a node: it asks the one that serves it, which makes the page of what it knows then. So no scrape
//! takes a lock of the node's, and none waits for a worker or makes one wait.

use std::convert::Infallible;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderName};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use prometheus_client::encoding::prometheus_text;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, oneshot};
use tokio::time::{sleep, timeout};

/// Connections at a time.
const AT_A_TIME: usize = 4;

/// How long a connection may last, its answer included.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long to wait if the system gives no connection: others may give descriptors back.
const SHORTAGE: Duration = Duration::from_millis(100);

/// Bytes of a request's head.
const HEAD_BYTES: usize = 8 << 10;

/// Fields of a request's head.
const HEAD_FIELDS: usize = 64;

/// Bytes of the thread's stack: a node locks its memory, stacks included.
const STACK_BYTES: usize = 256 << 10;

/// A port that gives metrics to whoever asks.
pub struct Server {
    at: SocketAddr,
    scrapes: Option<Receiver<Scrape>>,
    /// Dropped: the thread ends.
    stop: Option<oneshot::Sender<Infallible>>,
    thread: Option<JoinHandle<()>>,
}

/// A client that waits for a page.
type Scrape = oneshot::Sender<String>;

impl Server {
    /// Listens. Answers come once [`Server::answer`] is called, again and again.
    ///
    /// # Errors
    /// The address is not one of this machine, or taken; a thread is not made.
    pub fn open(at: SocketAddr) -> io::Result<Server> {
        Server::patient(at, PATIENCE)
    }

    fn patient(at: SocketAddr, patience: Duration) -> io::Result<Server> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let listener = TcpListener::bind(at)?;
        listener.set_nonblocking(true)?;
        let at = listener.local_addr()?;
        let listener = runtime.block_on(async { tokio::net::TcpListener::from_std(listener) })?;
        let (ask, scrapes) = sync_channel(AT_A_TIME);
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new().name("takt-metrics".to_owned()).stack_size(STACK_BYTES);
        let thread = thread.spawn(move || serve(&runtime, &listener, &ask, patience, stopped))?;
        Ok(Server { at, scrapes: Some(scrapes), stop: Some(stop), thread: Some(thread) })
    }

    /// Address at which it listens.
    #[must_use]
    pub fn local(&self) -> SocketAddr {
        self.at
    }

    /// Gives a page to all who wait for one now; made only if one waits. Without a page they are told that the node is busy.
    pub fn answer(&self, page: impl FnOnce() -> Option<String>) {
        let mut waiting = self.scrapes.iter().flat_map(Receiver::try_iter).peekable();
        if waiting.peek().is_none() {
            return;
        }
        let Some(page) = page() else { return waiting.for_each(drop) };
        // A client that has gone wants none.
        waiting.for_each(|scrape| _ = scrape.send(page.clone()));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop = None;
        self.scrapes = None;
        // A panic there was printed there.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Serves until it is to stop; connections that are open then end with the runtime.
fn serve(
    runtime: &Runtime,
    listener: &tokio::net::TcpListener,
    ask: &SyncSender<Scrape>,
    patience: Duration,
    stopped: oneshot::Receiver<Infallible>,
) {
    runtime.block_on(async {
        tokio::select! {
            never = accept(listener, ask, patience) => match never {},
            _ = stopped => {}
        }
    });
}

async fn accept(listener: &tokio::net::TcpListener, ask: &SyncSender<Scrape>, patience: Duration) -> Infallible {
    let places = Arc::new(Semaphore::new(AT_A_TIME));
    loop {
        // The semaphore is never closed.
        let place = Arc::clone(&places).acquire_owned().await.ok();
        let Ok((stream, _)) = listener.accept().await else {
            sleep(SHORTAGE).await;
            continue;
        };
        let ask = ask.clone();
        tokio::spawn(async move {
            // The fate of one connection is its client's affair.
            let _ = timeout(patience, connection(stream, ask, patience * 4 / 5)).await;
            drop(place);
        });
    }
}

/// `patience`: how long to wait for the node's page.
async fn connection(stream: TcpStream, ask: SyncSender<Scrape>, patience: Duration) -> hyper::Result<()> {
    http1::Builder::new()
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEAD_FIELDS)
        .keep_alive(false)
        .serve_connection(TokioIo::new(stream), service_fn(|request| respond(request, &ask, patience)))
        .await
}

/// A query says nothing here; of a `HEAD` hyper keeps the length of the page and leaves out the page.
async fn respond(
    request: Request<Incoming>,
    ask: &SyncSender<Scrape>,
    patience: Duration,
) -> Result<Response<String>, Infallible> {
    if request.uri().path() != "/metrics" {
        return Ok(refusal(StatusCode::NOT_FOUND));
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Ok(with(ALLOW, "GET, HEAD", refusal(StatusCode::METHOD_NOT_ALLOWED)));
    }
    let (scrape, page) = oneshot::channel();
    // There is a place for each connection; one that is cut off gives it back only once the node looks.
    if ask.try_send(scrape).is_err() {
        return Ok(refusal(StatusCode::SERVICE_UNAVAILABLE));
    }
    Ok(match timeout(patience, page).await {
        Ok(Ok(page)) => with(CONTENT_TYPE, prometheus_text::CONTENT_TYPE, Response::new(page)),
        _ => refusal(StatusCode::SERVICE_UNAVAILABLE),
    })
}

fn refusal(status: StatusCode) -> Response<String> {
    let mut response = Response::default();
    *response.status_mut() = status;
    response
}

fn with(name: HeaderName, value: &'static str, mut response: Response<String>) -> Response<String> {
    response.headers_mut().insert(name, hyper::header::HeaderValue::from_static(value));
    response
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpStream};

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
            server.answer(|| Some(page.to_owned()));
            reading.is_finished().then_some(())
        });
        reading.join().unwrap()
    }

    /// The scrapes of as many clients as there are places.
    fn waiting(server: &Server) -> Vec<Scrape> {
        let mut waiting = Vec::new();
        takt_testing::wait_for("a client at each place", || {
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
        for asked in [GET, "GET /metrics HTTP/1.0\r\n\r\n", "GET /metrics?name[]=takt HTTP/1.1\r\nHost: a\r\n\r\n"] {
            let text = answered(&server, ask(&server, asked), "takt_up 1\n");
            let (head, page) = text.split_once("\r\n\r\n").unwrap();
            assert_eq!(page, "takt_up 1\n", "{asked}");
            assert!(head.starts_with("HTTP/1.") && head.contains(" 200 OK\r\n"), "{head}");
            for field in ["content-type: text/plain; version=0.0.4; charset=utf-8", "content-length: 10"] {
                assert!(head.lines().any(|line| line.eq_ignore_ascii_case(field)), "{field}: {head}");
            }
        }
        let head = answered(&server, ask(&server, &GET.replace("GET", "HEAD")), "takt_up 1\n").to_lowercase();
        let ends = head.contains("\r\nconnection: close\r\n") && head.ends_with("\r\n\r\n");
        assert!(head.contains("\r\ncontent-length: 10\r\n") && ends, "{head}");
    }

    #[test]
    fn metrics_are_read_and_nothing_else_is_done() {
        let server = server();
        // Without an end: the server reads all of it, so nothing that is unread resets the connection.
        let long = format!("{:x<HEAD_BYTES$}", "GET /metrics HTTP/1.1\r\nX: ");
        let many = format!("GET /metrics HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(HEAD_FIELDS + 1));
        for (asked, status) in [
            ("GET / HTTP/1.1\r\n\r\n", "404 Not Found"),
            ("GET /metrics/.. HTTP/1.1\r\n\r\n", "404 Not Found"),
            ("PUT /metrics HTTP/1.1\r\n\r\n", "405 Method Not Allowed"),
            ("POST /metrics HTTP/1.1\r\n\r\n", "405 Method Not Allowed"),
            ("GET /metrics HTTP/2.0\r\n\r\n", "400 Bad Request"),
            ("GET /metrics\r\n\r\n", "400 Bad Request"),
            ("\u{1}\u{2}\r\n\r\n", "400 Bad Request"),
            ("hello\r\n\r\n", "400 Bad Request"),
            (&long, "431 Request Header Fields Too Large"),
            (&many, "431 Request Header Fields Too Large"),
        ] {
            let text = rest(ask(&server, asked));
            assert!(text.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{asked}: {text}");
        }
        server.answer(|| panic!("nobody asks"));
    }

    #[test]
    fn a_node_without_a_page_is_busy() {
        let server = server();
        let reading = std::thread::spawn({
            let stream = ask(&server, GET);
            move || rest(stream)
        });
        takt_testing::wait_for("an answer", || {
            server.answer(|| None);
            reading.is_finished().then_some(())
        });
        assert!(reading.join().unwrap().starts_with("HTTP/1.1 503 Service Unavailable\r\n"));
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
        let page = "x".repeat(16 << 20);
        let deaf: Vec<TcpStream> = (0..AT_A_TIME).map(|_| ask(&server, GET)).collect();
        waiting(&server).into_iter().for_each(|scrape| scrape.send(page.clone()).unwrap());
        let reading: Vec<TcpStream> = (0..AT_A_TIME).map(|_| ask(&server, GET)).collect();
        // Each place has one of these: none of the deaf has one any more, and what they read now comes from the kernel.
        waiting(&server).into_iter().for_each(|scrape| scrape.send(page.clone()).unwrap());
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
