//! Lines of an agent, and which of them answer a request.

use std::io::{BufRead, Read};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use crate::AgentError;
use crate::client::unexpected;
use crate::protocol::{Failure, LONGEST, Numbered, PROTOCOL, Reply, WAITING};

/// Characters shown of a line that is no reply.
const SHOWN: usize = 400;

/// Replies of an agent, as a thread reads them.
pub(crate) struct Replies(Receiver<Numbered<Reply>>);

impl Replies {
    /// Begins to read.
    pub(crate) fn listen(from: impl BufRead + Send + 'static) -> Replies {
        // Bounded: an agent that says more than it was asked waits until somebody reads it.
        let (received, replies) = mpsc::sync_channel(WAITING);
        thread::spawn(move || listen(from, &received));
        Replies(replies)
    }

    /// The reply to request `asked`, the last one, if it comes within `patience`. Nobody waits any more for replies to earlier
    /// requests: they are dropped.
    pub(crate) fn wait_for(&self, asked: u64, patience: Duration) -> Result<Option<Reply>, AgentError> {
        let until = Instant::now() + patience;
        loop {
            match self.0.recv_timeout(until.saturating_duration_since(Instant::now())) {
                // An agent that has no end of them is waited for no longer than another one.
                Ok(Numbered { number: Some(number), .. }) if number < asked => {
                    if Instant::now() > until {
                        return Ok(None);
                    }
                }
                Ok(Numbered { number: Some(got), .. }) if got > asked => return Err(AgentError::Number { got, asked }),
                Ok(Numbered { number: Some(_), body }) => return Ok(Some(body)),
                Ok(Numbered { number: None, body }) => return unnumbered(body).map(Some),
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => return Err(AgentError::Gone),
            }
        }
    }

    /// Why the agent takes no more requests, if what it said last says that.
    pub(crate) fn last_failure(&self) -> Option<Failure> {
        match self.0.try_iter().last()?.body {
            Reply::Failed(failure) => Some(failure),
            _ => None,
        }
    }
}

/// A reply without a number is why the stream has failed, or of an agent whose protocol has none.
fn unnumbered(reply: Reply) -> Result<Reply, AgentError> {
    match reply {
        Reply::Failed(_) => Ok(reply),
        Reply::Hello(ref hello) if hello.protocol != PROTOCOL => Ok(reply),
        other => Err(unexpected("a reply with a number", &other)),
    }
}

/// Passes replies on, until the agent says no more or nobody waits for them. A line has a bound: an agent may be anybody's.
fn listen(mut from: impl BufRead, received: &SyncSender<Numbered<Reply>>) {
    let failed = |why: String| Numbered { number: None, body: Reply::Failed(Failure::saying(why)) };
    let mut line = Vec::new();
    loop {
        let (reply, is_last) = match from.by_ref().take(LONGEST as u64 + 1).read_until(b'\n', &mut line) {
            Ok(0) => return,
            Ok(_) if line.len() > LONGEST => (failed(format!("a reply of more than {LONGEST} bytes")), true),
            Ok(_) => (serde_json::from_slice(&line).unwrap_or_else(|_| failed(not_a_reply(&line))), false),
            // A stream that can say why it has ended.
            Err(error) if error.get_ref().is_some() => (failed(error.to_string()), true),
            Err(_) => return,
        };
        if received.send(reply).is_err() || is_last {
            return;
        }
        line.clear();
    }
}

/// Shows a line that is no reply, or its beginning.
fn not_a_reply(line: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(line).trim_end().chars().take(SHOWN).collect();
    format!("not a reply: {text}")
}

#[cfg(test)]
mod tests {
    use std::io::{self, BufReader};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use serde_json::Value;

    use super::*;

    #[test]
    fn a_line_without_an_end_is_read_no_further_than_a_line_may_be_long() {
        /// Counts what is read of it, and has no end.
        struct Endless(Arc<AtomicUsize>);

        impl Read for Endless {
            fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
                into.fill(b'x');
                // An end all the same, so that the test has one where nothing else bounds the line.
                let read = self.0.fetch_add(into.len(), Ordering::SeqCst);
                Ok(if read > 8 * LONGEST { 0 } else { into.len() })
            }
        }

        let read = Arc::new(AtomicUsize::new(0));
        let endless = BufReader::new(Endless(Arc::clone(&read)));
        let refused = crate::Agent::over(io::sink(), endless).unwrap_err().to_string();
        assert_eq!(refused, "a reply of more than 4194304 bytes");
        let read = read.load(Ordering::SeqCst);
        assert!(read < LONGEST + (64 << 10), "{read} bytes");
    }

    #[test]
    fn an_agent_that_says_more_than_it_was_asked_waits_until_somebody_reads_it() {
        let (received, replies) = mpsc::sync_channel(WAITING);
        let line = Numbered { number: Some(1), body: Reply::Done { result: Value::Null } }.line().unwrap();
        let said = line.repeat(10 * WAITING);
        let listening = thread::spawn(move || listen(io::Cursor::new(said), &received));
        let mut count = 0;
        for reply in &replies {
            count += 1;
            assert_eq!(reply.number, Some(1));
            if count == 3 * WAITING {
                break;
            }
        }
        assert!(!listening.is_finished(), "it waits for room");
        drop(replies);
        listening.join().unwrap();
    }
}
