//! From a process to a page: its lines as they are, the newest snapshot only. A slow browser skips some; the process never waits.

use std::error::Error;
use std::io;
use std::iter::successors;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, WebSocketUpgrade, close_code};
use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;
use takt_live::limits::{EVERY_MAX_MS, EVERY_MIN_MS, LINE_IN};
use takt_live::{Asker, End, Hello, Line, Lines, LiveError, Request, Watch};
use tokio::sync::{mpsc, watch};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until, timeout};

use crate::routes::{PAGES, Shared};

/// How a snapshot's line begins.
const SNAPSHOT: &str = r#"{"snapshot":"#;
/// Shortest time between two snapshots: 60 a second, and a little for the process's own clock.
const SHORTEST: Duration = Duration::from_millis(15);
/// How long a browser may take for one message.
const SEND_TIME: Duration = Duration::from_secs(10);
/// How often the server asks whether a browser is still there.
const PING_EVERY: Duration = Duration::from_secs(15);
/// A browser that says nothing for so long is gone.
const SILENCE: Duration = Duration::from_secs(40);
/// Lines, other than snapshots, that wait for a browser.
const WAITING: usize = 16;

/// The question: which process, and how often.
#[derive(Debug, Deserialize)]
pub(crate) struct Wanted {
    pid: u32,
    every_ms: Option<u32>,
}

/// `GET /api/live?pid=`: opens a WebSocket. Why nothing comes is said through it, since a page can read no other answer.
pub(crate) async fn live(
    State(shared): State<Arc<Shared>>,
    Query(wanted): Query<Wanted>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let place = Arc::clone(&shared.pages).try_acquire_owned();
    upgrade.max_message_size(LINE_IN).max_frame_size(LINE_IN).on_upgrade(async move |mut socket| {
        let every_ms = wanted.every_ms.unwrap_or(EVERY_MIN_MS).clamp(EVERY_MIN_MS, EVERY_MAX_MS);
        let ended = match place {
            Err(_) => refuse(&mut socket, &format!("{PAGES} pages watch already"), "close one of them").await,
            Ok(_place) => match shared.processes.open(wanted.pid, every_ms).await {
                Ok(watch) => {
                    shared.counts.pages.fetch_add(1, Ordering::Relaxed);
                    forward(&mut socket, watch).await
                }
                Err(error) => refuse(&mut socket, &words(&error), &fix(&error)).await,
            },
        };
        if let Err(error) = ended {
            tracing::debug!("a page is gone: {error}");
        }
    })
}

/// Says why nothing comes, and closes.
async fn refuse(socket: &mut WebSocket, what: &str, fix: &str) -> io::Result<()> {
    let problem = serde_json::json!({ "problem": { "what": what, "fix": fix } }).to_string();
    say(socket, Message::Text(problem.into())).await?;
    close(socket).await
}

/// An error with its reasons.
fn words(error: &LiveError) -> String {
    let reasons = successors(Some(error as &dyn Error), |error| (*error).source());
    reasons.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// Actions of a reader of the page.
fn fix(error: &LiveError) -> String {
    match error {
        LiveError::Absent { .. } | LiveError::Connection { .. } => "choose a process from the list".to_owned(),
        error => error.fix(),
    }
}

/// Carries lines both ways until either side ends.
async fn forward(socket: &mut WebSocket, watch: Watch) -> io::Result<()> {
    let Watch { hello, lines, asker } = watch;
    say(socket, introduction(hello)?).await?;
    let (newest, snapshots) = watch::channel(Utf8Bytes::default());
    let (replies, others) = mpsc::channel(WAITING);
    // The thread ends with the connection, which `asker` closes when it is dropped.
    spawn_blocking(move || read(lines, &newest, &replies));
    show(socket, Arc::new(Mutex::new(asker)), snapshots, others).await
}

fn introduction(hello: Hello) -> io::Result<Message> {
    Ok(Message::Text(serde_json::to_string(&Line::Hello(hello))?.into()))
}

/// Takes the process's lines as they come, since it drops readers that are slow.
fn read(mut lines: Lines, newest: &watch::Sender<Utf8Bytes>, replies: &mpsc::Sender<Utf8Bytes>) {
    loop {
        match lines.next_text() {
            Ok(None) => return,
            Ok(Some(line)) if line.starts_with(SNAPSHOT) => _ = newest.send_replace(line.into()),
            Ok(Some(line)) => {
                // A browser that leaves so many answers unread is gone.
                if replies.try_send(line.into()).is_err() {
                    return;
                }
            }
            Err(error) => {
                let end = serde_json::to_string(&Line::End(End { why: words(&error) }));
                // The page asks again if it does not get this.
                let _ = end.map(|line| replies.try_send(line.into()));
                return;
            }
        }
    }
}

async fn show(
    socket: &mut WebSocket,
    asker: Arc<Mutex<Asker>>,
    mut snapshots: watch::Receiver<Utf8Bytes>,
    mut others: mpsc::Receiver<Utf8Bytes>,
) -> io::Result<()> {
    let mut next = Instant::now();
    let mut heard = Instant::now();
    let mut ping = interval(PING_EVERY);
    ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            // Rare messages come first: 60 snapshots a second would hold up an answer.
            biased;
            line = others.recv() => match line {
                Some(line) => say(socket, Message::Text(line)).await?,
                // Without an end, the page comes back to ask what happened.
                None => return close(socket).await,
            },
            message = socket.recv() => {
                heard = Instant::now();
                let Some(message) = message else { return Ok(()) };
                if !take(message.map_err(io::Error::other)?, &asker).await? {
                    return close(socket).await;
                }
            }
            _ = ping.tick() => {
                if heard.elapsed() > SILENCE {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                say(socket, Message::Ping(Bytes::new())).await?;
            }
            () = due(&mut snapshots, next) => {
                let line = snapshots.borrow_and_update().clone();
                say(socket, Message::Text(line)).await?;
                next = Instant::now() + SHORTEST;
            }
        }
    }
}

/// A new snapshot is there, and it is time for one. Without a process there is never one more.
async fn due(snapshots: &mut watch::Receiver<Utf8Bytes>, next: Instant) {
    sleep_until(next).await;
    if snapshots.changed().await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Hands a request of the page to the process; `false` if it is none.
async fn take(message: Message, asker: &Arc<Mutex<Asker>>) -> io::Result<bool> {
    match message {
        Message::Text(text) => match serde_json::from_str::<Request>(&text) {
            Ok(request) => ask(request, Arc::clone(asker)).await.map(|()| true),
            Err(_) => Ok(false),
        },
        Message::Ping(_) | Message::Pong(_) => Ok(true),
        Message::Binary(_) | Message::Close(_) => Ok(false),
    }
}

/// On a thread that may wait: a process that stands still reads nothing.
async fn ask(request: Request, asker: Arc<Mutex<Asker>>) -> io::Result<()> {
    let asked = spawn_blocking(move || {
        let mut asker = asker.lock().unwrap_or_else(PoisonError::into_inner);
        match request {
            Request::EveryMs(every_ms) => asker.every(every_ms),
            Request::Set(variable) => asker.set(variable),
            Request::Taps(outputs) => asker.taps(outputs),
        }
    });
    asked.await?.map_err(io::Error::other)
}

async fn say(socket: &mut WebSocket, message: Message) -> io::Result<()> {
    match timeout(SEND_TIME, socket.send(message)).await {
        Ok(sent) => sent.map_err(io::Error::other),
        Err(_) => Err(io::ErrorKind::TimedOut.into()),
    }
}

async fn close(socket: &mut WebSocket) -> io::Result<()> {
    say(socket, Message::Close(Some(CloseFrame { code: close_code::NORMAL, reason: Utf8Bytes::default() }))).await
}
