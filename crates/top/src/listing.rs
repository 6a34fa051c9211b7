//! The processes that run.

use takt_base::plain::one_line;
use takt_base::shown;
use takt_live::{Hello, LiveError, Running, Watch, running};

use crate::EVERY_MS;

/// A process that can be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its socket.
    pub process: Running,
    /// Its introduction.
    pub hello: Hello,
}

/// All processes of this user that answer, by their number.
///
/// # Errors
/// The folder of their sockets may not be trusted, or can't be listed.
pub fn listed() -> Result<Vec<Listed>, LiveError> {
    let answer = |process: Running| {
        // One that was killed, or has just ended, does not answer.
        let watch = Watch::open(&process, EVERY_MS).ok()?;
        Some(Listed { process, hello: watch.hello.clone() })
    };
    Ok(running()?.into_iter().filter_map(answer).collect())
}

/// Columns of the list.
pub(crate) const HEADING: &str = "    process  command  runs for      works on";

/// A line of the list.
pub(crate) fn line(one: &Listed, now_unix_ns: Option<u64>) -> String {
    let Hello { pid, kind, title, begun_unix_ns, .. } = &one.hello;
    let age = now_unix_ns.zip(*begun_unix_ns).map(|(now, begun)| now.saturating_sub(begun) / 1_000_000_000);
    let age = age.map_or_else(|| "-".to_owned(), |seconds| shown::duration(seconds as f64));
    format!("{pid:>11}  {:<7}  {age:<12}  {}", kind.name(), one_line(title))
}
