//! Running another program: the whole story when it disappoints, and how long it waited for a processor.

use std::cell::Cell;
use std::fmt;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use takt_host::policy::{Policy, set_policy};

use crate::row::may_be_real_time;
use crate::witness;

/// Folders in which Debian's packages put their programs.
const FOLDERS: [&str; 5] =
    ["/usr/bin", "/usr/sbin", "/usr/libexec/uhd/examples", "/usr/libexec/uhd/utils", "/usr/libexec/uhd/tests"];

/// Priority that UHD gives its own threads when asked for a high one. Below the emulator: a radio waits for nobody.
const PRIORITY: u8 = 50;

/// The program's full path, if it is installed.
pub fn find(program: &str) -> Option<PathBuf> {
    FOLDERS.iter().map(|folder| PathBuf::from(folder).join(program)).find(|path| path.is_file())
}

/// Result of a program.
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
            None => writeln!(f, "-- killed: it hung")?,
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

    /// UHD printed none of its letters (`U`, `L` and the like), which stand alone, before whatever comes next.
    pub fn prints_no_letter(self) -> Result<Run, String> {
        let is_letters = |word: &str| !word.is_empty() && word.chars().all(|c| "OUDLST".contains(c));
        let before_a_log = |word: &str| is_letters(word.split('[').next().unwrap_or_default());
        // The offset of the local oscillator is no letter.
        let text = self.text.replace("LO Offset", "");
        match text.split_whitespace().find(|word| before_a_log(word)) {
            Some(letters) => Err(format!("printed {letters}\n{self}")),
            None => Ok(self),
        }
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

/// One attempt of a row: where the radios are, and what the programs it ran went through.
pub struct Attempt {
    /// The first radio.
    pub addr: String,
    longest_wait: Cell<Duration>,
}

impl Attempt {
    pub fn new(addr: &str) -> Attempt {
        Attempt { addr: addr.to_owned(), longest_wait: Cell::default() }
    }

    /// Runs `program` with `arguments`, split at spaces; ADDR in them is the first radio.
    pub fn run(&self, program: &str, arguments: &str) -> Run {
        self.run_with(program, arguments, may_be_real_time())
    }

    /// The same at ordinary priority: of UHD's threads for two X310 each spins for ever, which on two cores at real-time
    /// priority leaves none for its own main thread.
    pub fn run_ordinarily(&self, program: &str, arguments: &str) -> Run {
        self.run_with(program, arguments, false)
    }

    fn run_with(&self, program: &str, arguments: &str, real_time: bool) -> Run {
        let arguments = &arguments.replace("ADDR", &self.addr);
        let path = find(program).unwrap_or_else(|| PathBuf::from(program));
        let mut command = Command::new(path);
        command.args(split(arguments));
        self.finish(command, format!("{program} {arguments}"), real_time)
    }

    /// Runs a prepared command in a process group of its own, which is killed as a whole when it hangs.
    pub fn run_command(&self, command: Command, line: String) -> Run {
        self.finish(command, line, may_be_real_time())
    }

    fn finish(&self, mut command: Command, line: String, real_time: bool) -> Run {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        // UHD colours its log only on a terminal, but its log level can be set from outside.
        command.env_remove("UHD_LOG_LEVEL").env_remove("UHD_LOG_CONSOLE_LEVEL");
        let mut child = spawn(&mut command, real_time).unwrap_or_else(|e| panic!("{line}: {e}"));
        let out = collect(child.stdout.take().expect("piped"));
        let err = collect(child.stderr.take().expect("piped"));
        let status = self.end_of(&mut child);
        let text = format!("{}{}", out.join().unwrap_or_default(), err.join().unwrap_or_default());
        Run { line, status, text }
    }

    /// The longest that a program waited for a processor between two looks. Zero where programs have real-time priority:
    /// there only the emulator and the watchers come before them.
    pub fn longest_wait(&self) -> Duration {
        self.longest_wait.get()
    }

    /// How it ended; `None` if it was killed.
    fn end_of(&self, child: &mut Child) -> Option<ExitStatus> {
        let begun = Instant::now();
        let mut waits = (!may_be_real_time()).then(|| witness::Waits::of(child.id()));
        loop {
            if let Some(status) = child.try_wait().expect("a child can be waited for") {
                return Some(status);
            }
            if begun.elapsed() > takt_testing::HANG {
                let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status();
                let _ = child.wait();
                return None;
            }
            thread::sleep(Duration::from_millis(10));
            let waited = waits.as_mut().map_or(Duration::ZERO, witness::Waits::since_last_look);
            self.longest_wait.set(waited.max(self.longest_wait.get()));
        }
    }
}

/// Starts a program, at real-time priority if so wished: it inherits that of the thread that starts it.
fn spawn(command: &mut Command, real_time: bool) -> io::Result<Child> {
    let start = || {
        if real_time {
            set_policy(0, Policy::RoundRobin { priority: PRIORITY }).map_err(io::Error::other)?;
        }
        command.spawn()
    };
    thread::scope(|scope| scope.spawn(start).join()).expect("starting a program does not panic")
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

/// Reads a stream to its end on a thread of its own, so that a full pipe never stops the program.
fn collect(mut stream: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

#[test]
fn letters_are_found_where_they_stand_alone_and_words_are_none() {
    let printed = |text: &str| Run { line: String::new(), status: None, text: text.to_owned() }.prints_no_letter();
    assert!(printed("Requesting TX LO Offset: 0 MHz...\nDone!\n").is_ok());
    for text in ["sent\nL\nDone!", "UUU[INFO] [UHD] x", "a S b", "ULU done", "LO"] {
        assert!(printed(text).is_err(), "{text}");
    }
}
