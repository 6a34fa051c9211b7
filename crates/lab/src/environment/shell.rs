//! A shell inside an environment, for a person who wants to look.

use std::ffi::OsString;
use std::io::{self, Read, Write, stdin, stdout};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::Command;
use std::thread;

use takt_host::namespace::enter_network;

/// The way to a shell; it leads nowhere once the environment has gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shell {
    /// On this machine, in a network namespace if there is one.
    Beside {
        /// Its file.
        namespace: Option<PathBuf>,
    },
    /// By a program that leads inside.
    Program {
        /// The program.
        program: PathBuf,
        /// Its arguments.
        arguments: Vec<OsString>,
    },
    /// Behind a socket.
    Socket {
        /// Its file.
        path: PathBuf,
    },
}

impl Shell {
    /// Joins standard input and output with the shell until it ends.
    ///
    /// # Errors
    /// It can't be reached.
    pub fn attach(&self) -> io::Result<()> {
        match self {
            Shell::Beside { namespace } => thread::scope(|scope| {
                let beside = scope.spawn(|| {
                    namespace.as_ref().map_or(Ok(()), enter_network).map_err(io::Error::other)?;
                    Command::new("/bin/sh").status().map(|_| ())
                });
                beside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            }),
            Shell::Program { program, arguments } => Command::new(program).args(arguments).status().map(|_| ()),
            Shell::Socket { path } => join(&UnixStream::connect(path)?),
        }
    }
}

/// What is typed goes in, what comes out is shown, until the far end closes.
fn join(stream: &UnixStream) -> io::Result<()> {
    let mut typed = stream.try_clone()?;
    // Not joined: a read of a terminal can't be interrupted, and the program ends soon after.
    thread::spawn(move || io::copy(&mut stdin(), &mut typed));
    let (mut stream, mut shown) = (stream, stdout());
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(got) => shown.write_all(buffer.get(..got).unwrap_or_default()).and_then(|()| shown.flush())?,
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}
