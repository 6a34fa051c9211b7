//! The control socket of a share, which `takt share status`, `add` and `remove` use: the share answers at one end, [`ask`] asks at
//! the other.
//!
//! A Unix socket `control` in a folder of takt's own, `scratch/takt-PID-share` of the run directory, which only its owner may
//! enter. The run's record names the folder, so that `takt clean` removes what a killed share left. The client must be the same
//! user or root, and speaks to sockets of the same user alone. One line of JSON in, one out, each bounded in length and in time. The
//! streaming thread takes no part in it.

mod find;
mod line;
mod socket;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

pub use find::{ask, running};
pub(crate) use socket::ControlSocket;

/// Name of the socket in its folder.
const SOCKET: &str = "control";

/// A folder's name is `takt-PID-` and this.
const LABEL: &str = "share";

/// Longest text of radios to be added, bytes.
pub const MOST_ADDED_BYTES: usize = 1 << 18;

/// Requests to a share that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub enum ControlRequest {
    /// The state of all.
    Status,
    /// Radios more, as the file of a share has them.
    Add {
        /// Name of the text, for messages.
        file: String,
        /// `[[radio]]` tables.
        text: String,
    },
    /// A radio less.
    Remove {
        /// Its name.
        name: String,
    },
}

/// Answer to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ControlAnswer {
    /// The requested state, or what was done.
    Good(Json),
    /// Why it was not done.
    Refused {
        /// The reason.
        why: String,
        /// A remedy.
        fix: String,
    },
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::thread;
    use std::time::Duration;

    use takt_base::Stop;

    use super::*;

    /// Ends the answering thread, also if an assertion fails.
    struct Stopping<'a>(&'a Stop);

    impl Drop for Stopping<'_> {
        fn drop(&mut self) {
            self.0.request();
        }
    }

    /// Says what it was asked.
    fn echo(request: ControlRequest) -> ControlAnswer {
        ControlAnswer::Good(serde_json::to_value(request).expect("JSON"))
    }

    /// The answer to these bytes; nothing if the other side just hangs up.
    fn answer(bytes: &[u8]) -> String {
        let mut server = find::connected(std::process::id()).expect("it listens");
        // It may hang up before it has read all.
        let _ = server.write_all(bytes);
        let mut text = Vec::new();
        let _ = server.read_to_end(&mut text);
        String::from_utf8(text).expect("text")
    }

    #[test]
    fn a_share_is_found_answers_bounded_lines_and_leaves_nothing() {
        let (socket, stop, process) = (ControlSocket::open().expect("a socket"), Stop::new(), std::process::id());
        let folder = takt_host::dirs::scratch_dir().join(format!("takt-{process}-share"));
        assert!(running().expect("takt's folder").contains(&process) && folder.join("control").exists());
        thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.requested() {
                    socket.attend(echo);
                    thread::sleep(Duration::from_millis(1));
                }
            });
            let _stopping = Stopping(&stop);
            let request = ControlRequest::Remove { name: "x".to_owned() };
            assert_eq!(ask(process, &request).expect("an answer"), echo(request));
            for wrong in ["\n", "null\n", "{\"ask\":\"fly\"}\n", "{\"ask\":\"add\",\"file\":1}\n", "\u{0}\n"] {
                assert!(answer(wrong.as_bytes()).contains("not understood"), "{wrong:?}");
            }
            let mut long = vec![b'x'; (1 << 20) + 5000];
            assert_eq!(answer(&long), "", "a line without an end");
            long.push(b'\n');
            assert_eq!(answer(&long), "", "a line that is too long");
            assert_eq!(ask(process, &ControlRequest::Status).expect("an answer"), echo(ControlRequest::Status));
        });
        drop(socket);
        assert!(!folder.exists());
        assert!(ask(process, &ControlRequest::Status).is_err());
    }
}
