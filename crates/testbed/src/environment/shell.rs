//! A shell inside an environment, for a person who wants to look.

use std::ffi::OsString;
use std::io::{self, Read, Write, stdin, stdout};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

use takt_base::Stop;
use takt_host::namespace::enter_network;

use crate::net::on_own_thread;

/// The way to a shell; it leads nowhere once the environment has gone. Programs that it starts carry the mark of the
/// run, so that `takt clean` ends them after a run that was killed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shell {
    Program {
        /// The file of the network namespace it is called in; `None`: this one.
        namespace: Option<PathBuf>,
        program: PathBuf,
        arguments: Vec<OsString>,
        variables: Vec<(OsString, OsString)>,
    },
    Socket {
        path: PathBuf,
    },
    /// A node starts nothing but agents.
    None,
}

impl Shell {
    pub(super) fn by(command: &Command, namespace: Option<PathBuf>) -> Shell {
        let variables = command.get_envs().filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())));
        Shell::Program {
            namespace,
            program: command.get_program().into(),
            arguments: command.get_args().map(OsString::from).collect(),
            variables: variables.collect(),
        }
    }

    /// Joins standard input and output with the shell until it ends or `ended` is raised. `interrupted` is a Ctrl-C: a
    /// program on the same terminal gets it from the kernel, a guest can't and is left.
    pub fn attach(&self, interrupted: &Stop, ended: &Stop) -> io::Result<()> {
        match self {
            Shell::Program { namespace, program, arguments, variables } => on_own_thread(|| {
                namespace.as_ref().map_or(Ok(()), enter_network).map_err(io::Error::other)?;
                wait(Command::new(program).args(arguments).envs(variables.clone()).spawn()?, ended)
            }),
            Shell::Socket { path } => {
                join(&UnixStream::connect(path)?, || interrupted.requested() || ended.requested())
            }
            Shell::None => Err(io::Error::new(io::ErrorKind::Unsupported, "a node starts only agents")),
        }
    }
}

/// How often the flags are looked at.
const LOOK: Duration = Duration::from_millis(50);

fn wait(mut child: Child, ended: &Stop) -> io::Result<()> {
    while child.try_wait()?.is_none() {
        if ended.requested() {
            child.kill()?;
        }
        thread::sleep(LOOK);
    }
    Ok(())
}

fn join(stream: &UnixStream, left: impl Fn() -> bool) -> io::Result<()> {
    let mut typed = stream.try_clone()?;
    // Not joined: a read of a terminal can't be interrupted, and the program ends soon after.
    thread::spawn(move || io::copy(&mut stdin(), &mut typed));
    stream.set_read_timeout(Some(LOOK))?;
    let (mut stream, mut shown) = (stream, stdout());
    let mut buffer = [0; 4096];
    while !left() {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(got) => shown.write_all(buffer.get(..got).unwrap_or_default()).and_then(|()| shown.flush())?,
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
