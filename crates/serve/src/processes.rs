//! The processes of this user that show themselves. Their sockets block, so each is read by a thread of its own.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use takt_host::sockets::SocketFolder;
use takt_host::trusted::{Trust, TrustedDir};
use takt_live::limits::EVERY_MIN_MS;
use takt_live::{Hello, Line, Lines, LiveError, Running, Snapshot, Watch, running_in};
use tokio::sync::Mutex;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{Instant, timeout};

/// Processes that are asked for a list or for metrics; a machine has fewer.
const MOST: usize = 64;
/// An answer is this old at most. All who ask meanwhile get the same.
const FRESH: Duration = Duration::from_millis(500);
/// How long a process may take for a snapshot that metrics are made of.
const SNAPSHOT_TIME: Duration = Duration::from_secs(2);

/// Folder of the sockets.
#[derive(Clone, Debug, Default)]
pub enum Place {
    /// In the folder of this user.
    #[default]
    User,
    /// In a folder of one's own, for tests.
    In(PathBuf),
}

impl Place {
    fn folder(&self) -> Result<Option<SocketFolder>, LiveError> {
        match self {
            Place::User => Ok(SocketFolder::find()?),
            Place::In(path) => Ok(TrustedDir::find(path, Trust::Own)?.map(SocketFolder::of)),
        }
    }

    fn running(&self) -> Result<Vec<Running>, LiveError> {
        self.folder()?.map_or(Ok(Vec::new()), |folder| running_in(&folder))
    }

    fn open(&self, process: &Running, every_ms: u32) -> Result<Watch, LiveError> {
        let folder = self.folder()?.ok_or(LiveError::Absent { pid: process.pid })?;
        Watch::open_in(&folder, process, every_ms)
    }
}

/// State of all processes.
#[derive(Debug)]
pub(crate) struct Processes {
    place: Arc<Place>,
    listed: Mutex<Option<(Instant, Listing)>>,
    sampled: Mutex<Option<(Instant, Arc<[Sample]>)>>,
}

/// The processes that answer, and the number of those that do not.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(crate) struct Listing {
    pub(crate) processes: Vec<Hello>,
    pub(crate) unreadable: usize,
}

/// A process and what it counts.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) hello: Hello,
    pub(crate) snapshot: Snapshot,
}

impl Processes {
    pub(crate) fn new(place: Place) -> Processes {
        Processes { place: Arc::new(place), listed: Mutex::default(), sampled: Mutex::default() }
    }

    /// Connects to a process.
    ///
    /// # Errors
    /// There is none of that number, or it refuses.
    pub(crate) async fn open(&self, pid: u32, every_ms: u32) -> Result<Watch, LiveError> {
        let place = Arc::clone(&self.place);
        blocking(pid, move || {
            let running = place.running()?;
            let process = running.iter().find(|process| process.pid == pid).ok_or(LiveError::Absent { pid })?;
            place.open(process, every_ms)
        })
        .await
    }

    /// Processes that run now.
    ///
    /// # Errors
    /// The folder of the sockets can't be read.
    pub(crate) async fn list(&self) -> Result<Listing, LiveError> {
        let mut listed = self.listed.lock().await;
        if let Some((at, listing)) = &*listed
            && at.elapsed() < FRESH
        {
            return Ok(listing.clone());
        }
        let all = self
            .each(|place, process| async move { place_open(place, process).await.map(|watch| watch.hello) })
            .await?;
        let unreadable = all.iter().filter(|one| one.is_none()).count();
        let mut processes: Vec<Hello> = all.into_iter().flatten().collect();
        processes.sort_by_key(|hello| (hello.begun_unix_ns, hello.pid));
        let listing = Listing { processes, unreadable };
        *listed = Some((Instant::now(), listing.clone()));
        Ok(listing)
    }

    /// A snapshot of each process that gives one in time.
    ///
    /// # Errors
    /// The folder of the sockets can't be read.
    pub(crate) async fn samples(&self) -> Result<Arc<[Sample]>, LiveError> {
        let mut sampled = self.sampled.lock().await;
        if let Some((at, samples)) = &*sampled
            && at.elapsed() < FRESH
        {
            return Ok(Arc::clone(samples));
        }
        let all = self.each(sample).await?;
        let mut samples: Vec<Sample> = all.into_iter().flatten().collect();
        samples.sort_by_key(|sample| sample.hello.pid);
        let samples: Arc<[Sample]> = samples.into();
        *sampled = Some((Instant::now(), Arc::clone(&samples)));
        Ok(samples)
    }

    /// Asks all processes at once.
    async fn each<T, F>(&self, ask: impl Fn(Arc<Place>, Running) -> F) -> Result<Vec<Option<T>>, LiveError>
    where
        T: Send + 'static,
        F: Future<Output = Option<T>> + Send + 'static,
    {
        let place = Arc::clone(&self.place);
        let running = blocking(0, move || place.running()).await?;
        let asked = running.into_iter().take(MOST).map(|process| ask(Arc::clone(&self.place), process));
        Ok(asked.collect::<JoinSet<_>>().join_all().await)
    }
}

async fn place_open(place: Arc<Place>, process: Running) -> Option<Watch> {
    blocking(process.pid, move || place.open(&process, EVERY_MIN_MS)).await.ok()
}

async fn sample(place: Arc<Place>, process: Running) -> Option<Sample> {
    let Watch { hello, lines, asker } = place_open(place, process).await?;
    let first = timeout(SNAPSHOT_TIME, spawn_blocking(move || first_snapshot(lines))).await;
    // A process that stands still leaves its thread waiting: this ends it.
    asker.close();
    let snapshot = first.ok()?.ok()??;
    Some(Sample { hello, snapshot })
}

fn first_snapshot(mut lines: Lines) -> Option<Snapshot> {
    loop {
        match lines.next_line().ok()?? {
            Line::Snapshot(snapshot) => return Some(*snapshot),
            Line::End(_) => return None,
            Line::Hello(_) | Line::Set(_) => {}
        }
    }
}

/// Runs on a thread that may wait.
async fn blocking<T: Send + 'static>(
    pid: u32,
    work: impl FnOnce() -> Result<T, LiveError> + Send + 'static,
) -> Result<T, LiveError> {
    let failed = |error: tokio::task::JoinError| LiveError::Connection { doing: "watching", pid, source: error.into() };
    spawn_blocking(work).await.map_err(failed)?
}
