//! Running somebody else's program, with a bound on its time and the whole story when it disappoints.

use std::fmt;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Where Debian's packages put their programs.
const FOLDERS: [&str; 5] =
    ["/usr/bin", "/usr/sbin", "/usr/libexec/uhd/examples", "/usr/libexec/uhd/utils", "/usr/libexec/uhd/tests"];

/// The program's full path, if it is installed.
pub fn find(program: &str) -> Option<PathBuf> {
    FOLDERS.iter().map(|folder| PathBuf::from(folder).join(program)).find(|path| path.is_file())
}

/// Whether a missing peer is a failure.
pub fn required() -> bool {
    std::env::var_os("TAKT_REQUIRE_PEERS").is_some_and(|v| v != "0")
}

/// Says aloud that a test did not run; fails where peers are required.
pub fn skip(test: &str, missing: &str) {
    assert!(!required(), "{test}: {missing} is missing, and TAKT_REQUIRE_PEERS is set");
    eprintln!("SKIPPED {test}: {missing} is missing (install it and the test runs)");
}

/// What a program did.
#[derive(Debug)]
pub struct Run {
    line: String,
    status: Option<ExitStatus>,
    /// Standard output and standard error, one after the other.
    pub text: String,
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "$ {}", self.line)?;
        match self.status {
            Some(status) => writeln!(f, "-- {status}")?,
            None => writeln!(f, "-- killed: ran past its time")?,
        }
        f.write_str(&self.text)
    }
}

impl Run {
    /// The program ended by itself with status 0.
    pub fn ok(self) -> Result<Run, String> {
        if self.status.is_some_and(|s| s.success()) { Ok(self) } else { Err(self.to_string()) }
    }

    /// The output contains `words`.
    pub fn says(self, words: &str) -> Result<Run, String> {
        if self.text.contains(words) { Ok(self) } else { Err(format!("did not say \"{words}\"\n{self}")) }
    }

    /// The output does not contain `words`.
    pub fn never_says(self, words: &str) -> Result<Run, String> {
        if self.text.contains(words) { Err(format!("said \"{words}\"\n{self}")) } else { Ok(self) }
    }

    /// The one JSON document it printed, before anything on standard error.
    pub fn document(&self) -> Result<serde_json::Value, String> {
        let mut documents = serde_json::Deserializer::from_str(&self.text).into_iter();
        documents.next().and_then(Result::ok).ok_or_else(|| format!("no JSON document\n{self}"))
    }

    /// The number behind the first `label` in the output.
    pub fn number(&self, label: &str) -> Result<f64, String> {
        let after = self.text.split_once(label).ok_or_else(|| format!("no \"{label}\"\n{self}"))?.1.trim_start();
        let end = after.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-')).unwrap_or(after.len());
        after[..end].parse().map_err(|_| format!("no number behind \"{label}\"\n{self}"))
    }
}

/// Runs `program` with `arguments`, split at spaces, for at most `limit`.
pub fn run(program: &str, arguments: &str, limit: Duration) -> Run {
    let path = find(program).unwrap_or_else(|| PathBuf::from(program));
    let mut command = Command::new(path);
    command.args(split(arguments));
    run_command(command, format!("{program} {arguments}"), limit)
}

/// Splits at spaces, but not inside double quotes.
fn split(arguments: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in arguments.chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// Runs a prepared command in a process group of its own, which is killed as a whole when `limit` has passed.
pub fn run_command(mut command: Command, line: String, limit: Duration) -> Run {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    // UHD colours its log only on a terminal, but its log level can be set from outside.
    command.env_remove("UHD_LOG_LEVEL").env_remove("UHD_LOG_CONSOLE_LEVEL");
    let mut child = command.spawn().unwrap_or_else(|e| panic!("{line}: {e}"));
    let out = collect(child.stdout.take().expect("piped"));
    let err = collect(child.stderr.take().expect("piped"));
    let deadline = Instant::now() + limit;
    let status = loop {
        match child.try_wait().expect("a child can be waited for") {
            Some(status) => break Some(status),
            None if Instant::now() > deadline => {
                let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status();
                let _ = child.wait();
                break None;
            }
            None => thread::sleep(Duration::from_millis(10)),
        }
    };
    let text = format!("{}{}", out.join().unwrap_or_default(), err.join().unwrap_or_default());
    Run { line, status, text }
}

/// Reads a stream to its end on a thread of its own, so that a full pipe never stops the program.
fn collect(mut stream: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
