//! The lines of a process, of which none is longer than it may be.

use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::os::unix::net::UnixStream;

use serde_json::{Map, Value as Json};

use crate::limits::LINE_OUT;
use crate::{Line, LiveError};

/// The lines of a process.
#[derive(Debug)]
pub struct Lines {
    pid: u32,
    input: BufReader<UnixStream>,
}

impl Lines {
    pub(super) fn new(stream: UnixStream, pid: u32) -> Lines {
        Lines { pid, input: BufReader::new(stream) }
    }

    /// Waits for the next line; `None`: the connection is closed. Kinds of line that this version does not know are passed over.
    ///
    /// # Errors
    /// The connection broke, or the line is none of `takt.live/1`.
    pub fn next_line(&mut self) -> Result<Option<Line>, LiveError> {
        loop {
            let Some(text) = self.text()? else { return Ok(None) };
            match serde_json::from_slice(&text) {
                Ok(line) => return Ok(Some(line)),
                Err(_) if is_unknown(&text) => {}
                Err(error) => {
                    let (found, expected) = (format!("a line that is none ({error})"), "takt.live/1".to_owned());
                    return Err(LiveError::Line { pid: self.pid, found, expected });
                }
            }
        }
    }

    /// The same as it was sent, without its end: for who hands it on. It need not be a line of `takt.live/1`.
    ///
    /// # Errors
    /// The connection broke, or the line is too long or no text.
    pub fn next_text(&mut self) -> Result<Option<String>, LiveError> {
        let Some(mut text) = self.text()? else { return Ok(None) };
        text.pop();
        let no_text = |_| LiveError::Line { pid: self.pid, found: "bytes".into(), expected: "UTF-8".into() };
        String::from_utf8(text).map(Some).map_err(no_text)
    }

    fn text(&mut self) -> Result<Option<Vec<u8>>, LiveError> {
        let pid = self.pid;
        let mut text = Vec::new();
        let read = (&mut self.input).take(LINE_OUT as u64).read_until(b'\n', &mut text);
        match read {
            // Closed in the midst of a line, it has said no more than before.
            Ok(_) if text.last() != Some(&b'\n') && text.len() < LINE_OUT => Ok(None),
            Ok(_) if text.last() != Some(&b'\n') => {
                let expected = format!("{LINE_OUT} bytes at most");
                Err(LiveError::Line { pid, found: "a longer line".into(), expected })
            }
            Ok(_) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => Ok(None),
            Err(source) => Err(LiveError::Connection { doing: "reading from", pid, source }),
        }
    }
}

/// An object with one key that names no kind of this version.
fn is_unknown(text: &[u8]) -> bool {
    let object: Option<Map<String, Json>> = serde_json::from_slice(text).ok();
    let known = ["hello", "snapshot", "set", "end"];
    object.is_some_and(|object| object.len() == 1 && object.keys().all(|key| !known.contains(&key.as_str())))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::{End, Snapshot};

    fn lines(text: &[u8]) -> Lines {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let text = text.to_vec();
        // More than a socket holds; the reader may leave early.
        std::thread::spawn(move || theirs.write_all(&text));
        Lines::new(ours, 7)
    }

    #[test]
    fn kinds_of_line_that_are_new_are_passed_over() {
        let mut lines = lines(b"{\"later\":{\"a\":1}}\n{\"end\":{\"why\":\"over\",\"more\":1}}\n");
        assert_eq!(lines.next_line().unwrap(), Some(Line::End(End { why: "over".into() })));
        assert_eq!(lines.next_line().unwrap(), None);
    }

    #[test]
    fn what_is_no_line_is_an_error_and_half_a_line_the_end() {
        for bad in [&b"\n"[..], b"hello\n", b"\xff\xfe\n", b"{\"snapshot\":3}\n", b"{\"a\":1,\"b\":2}\n"] {
            assert!(matches!(lines(bad).next_line(), Err(LiveError::Line { pid: 7, .. })), "{bad:?}");
        }
        let mut half = lines(b"{\"snapshot\":{\"t_ns\":1}}\n{\"snapshot\":{\"t_");
        assert_eq!(
            half.next_line().unwrap(),
            Some(Line::Snapshot(Box::new(Snapshot { t_ns: 1, ..Default::default() })))
        );
        assert_eq!(half.next_line().unwrap(), None);
    }

    #[test]
    fn a_line_is_handed_on_as_it_was_sent() {
        let mut lines = lines(b"{ \"later\": 1 }\n\n\xff\n");
        assert_eq!(lines.next_text().unwrap().as_deref(), Some("{ \"later\": 1 }"));
        assert_eq!(lines.next_text().unwrap().as_deref(), Some(""));
        assert!(lines.next_text().unwrap_err().to_string().contains("expected: UTF-8"));
        assert_eq!(lines.next_text().unwrap(), None);
    }

    #[test]
    fn a_line_without_end_is_refused_at_its_limit() {
        let error = lines(&vec![b'x'; LINE_OUT + 1]).next_line().unwrap_err();
        assert!(error.to_string().contains("1048576 bytes at most"), "{error}");
    }
}
