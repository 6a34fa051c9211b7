//! Unix sockets with a name, in a folder that is this user's alone.
//!
//! A process listens on `NAME.sock`, and the name goes when it lets go of it. A kill leaves the name behind: nobody listens there,
//! so a connection is refused, and [`SocketFolder::remove_dead`] removes it. The folder's lock keeps that from hitting a socket
//! that is just being made.

use std::io;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;

use rustix::fs::FileType;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with, sockopt};

use crate::dirs;
use crate::lock::LockedFile;
use crate::trusted::{Trust, TrustError, TrustedDir};

/// Name of the folder below [`dirs::run_dir`].
pub(crate) const LIVE: &str = "live";
/// End of a socket's name.
const SUFFIX: &str = ".sock";
const LOCK: &str = "lock";

/// The folder of such sockets.
#[derive(Debug)]
pub struct SocketFolder(TrustedDir);

/// A socket that this process listens on. Its name is removed when this is dropped.
#[derive(Debug)]
pub struct NamedSocket {
    folder: SocketFolder,
    name: String,
    listener: UnixListener,
}

impl SocketFolder {
    /// Makes the folder of this user's running processes, below [`dirs::run_dir`], if it is not there.
    ///
    /// # Errors
    /// It can't be made, or may not be trusted.
    pub fn make() -> Result<SocketFolder, TrustError> {
        Ok(SocketFolder(TrustedDir::make(&dirs::run_dir(), Trust::Own)?.make_folder(LIVE)?))
    }

    /// The same; `None` if there is none.
    ///
    /// # Errors
    /// It may not be trusted.
    pub fn find() -> Result<Option<SocketFolder>, TrustError> {
        TrustedDir::find(&dirs::run_dir(), Trust::Own)?.map_or(Ok(None), |run| SocketFolder::within(&run))
    }

    /// That of runs whose records are in `run`.
    pub(crate) fn within(run: &TrustedDir) -> Result<Option<SocketFolder>, TrustError> {
        Ok(run.folder(LIVE)?.map(SocketFolder))
    }

    /// A folder of one's own, for tests.
    #[must_use]
    pub fn of(folder: TrustedDir) -> SocketFolder {
        SocketFolder(folder)
    }

    /// Listens on the socket `NAME.sock`. One with that name on which nobody listens is replaced.
    ///
    /// # Errors
    /// Somebody listens there, `name` is not a file name, or the system refuses.
    pub fn listen(self, name: &str) -> Result<NamedSocket, TrustError> {
        let name = format!("{name}{SUFFIX}");
        let _guard = self.lock()?;
        if self.is_dead(&name)? {
            self.0.remove(&name)?;
        }
        let listener = UnixListener::bind(self.0.by_descriptor().join(&name)).map_err(self.failed("making", &name))?;
        Ok(NamedSocket { folder: self, name, listener })
    }

    /// Names of the sockets, without `.sock`, sorted.
    ///
    /// # Errors
    /// The folder can't be listed.
    pub fn names(&self) -> Result<Vec<String>, TrustError> {
        let names = self.0.names()?.into_iter();
        Ok(names.filter_map(|name| name.strip_suffix(SUFFIX).map(str::to_owned)).collect())
    }

    /// Connects to the socket `NAME.sock`. It does not wait: one whose queue is full is an error.
    ///
    /// # Errors
    /// Nobody listens, another user does, or the system refuses.
    pub fn connect(&self, name: &str) -> Result<UnixStream, TrustError> {
        let name = format!("{name}{SUFFIX}");
        self.about_socket(&name)?;
        let failed = self.failed("connecting to", &name);
        self.connected(&name).map_err(failed)
    }

    /// Removes the sockets on which nobody listens any more; says which.
    ///
    /// # Errors
    /// The folder can't be listed, or one can't be removed.
    pub fn remove_dead(&self) -> Result<Vec<String>, TrustError> {
        let _guard = self.lock()?;
        let mut removed = Vec::new();
        for name in self.0.names()?.into_iter().filter(|name| name.ends_with(SUFFIX)) {
            if self.is_dead(&name)? {
                self.0.remove(&name)?;
                removed.push(name);
            }
        }
        Ok(removed)
    }

    /// Whether there is a socket of that name on which nobody listens. Anything but a socket is left alone.
    fn is_dead(&self, name: &str) -> Result<bool, TrustError> {
        if !self.about_socket(name)? {
            return Ok(false);
        }
        Ok(self.connected(name).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused))
    }

    /// Whether it is there and a socket.
    fn about_socket(&self, name: &str) -> Result<bool, TrustError> {
        let about = self.0.about(name)?;
        Ok(about.is_some_and(|about| FileType::from_raw_mode(about.st_mode) == FileType::Socket))
    }

    fn connected(&self, name: &str) -> io::Result<UnixStream> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        connect(&socket, &SocketAddrUnix::new(self.0.by_descriptor().join(name))?)?;
        let uid = sockopt::socket_peercred(&socket)?.uid;
        if uid != rustix::process::geteuid() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("user {} listens", uid.as_raw())));
        }
        let stream = UnixStream::from(socket);
        stream.set_nonblocking(false)?;
        Ok(stream)
    }

    fn lock(&self) -> Result<LockedFile, TrustError> {
        LockedFile::wait(self.0.kept(LOCK)?).map_err(self.failed("locking", LOCK))
    }

    fn failed(&self, doing: &'static str, name: &str) -> impl Fn(io::Error) -> TrustError + use<> {
        let path: PathBuf = self.0.path().join(name);
        move |source| TrustError::Io { doing, path: path.clone(), source }
    }
}

impl NamedSocket {
    /// The socket, to accept connections.
    #[must_use]
    pub fn listener(&self) -> &UnixListener {
        &self.listener
    }

    /// Its path, for messages.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.0.path().join(&self.name)
    }
}

impl Drop for NamedSocket {
    fn drop(&mut self) {
        // If this fails, nobody listens there any more, and the next `clean` removes it.
        let _ = self.folder.0.remove(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn folder(at: &tempfile::TempDir) -> SocketFolder {
        SocketFolder::of(TrustedDir::open(at.path(), Trust::Own).unwrap())
    }

    #[test]
    fn a_socket_has_a_name_as_long_as_somebody_listens() {
        let place = tempfile::tempdir().unwrap();
        let socket = folder(&place).listen("7-rate").unwrap();
        assert_eq!(socket.path(), place.path().join("7-rate.sock"));
        assert_eq!(folder(&place).names().unwrap(), ["7-rate"]);
        folder(&place).connect("7-rate").unwrap();
        socket.listener().accept().unwrap();
        let error = folder(&place).listen("7-rate").unwrap_err();
        assert_eq!(error.kind(), Some(io::ErrorKind::AddrInUse), "{error}");
        drop(socket);
        assert!(folder(&place).names().unwrap().is_empty());
        assert!(folder(&place).connect("7-rate").is_err());
    }

    #[test]
    fn a_name_that_a_kill_left_is_removed_or_replaced_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        drop(UnixListener::bind(at("1-run.sock")).unwrap());
        drop(UnixListener::bind(at("2-run.sock")).unwrap());
        drop(UnixListener::bind(at("other")).unwrap());
        fs::write(at("file.sock"), "").unwrap();
        let alive = folder(&place).listen("2-run").unwrap();
        assert_eq!(folder(&place).remove_dead().unwrap(), ["1-run.sock"]);
        assert_eq!(folder(&place).remove_dead().unwrap(), [""; 0]);
        assert!(at("file.sock").exists() && at("other").exists() && alive.path().exists());
    }

    #[test]
    fn a_name_leads_to_no_other_folder() {
        let place = tempfile::tempdir().unwrap();
        for name in ["../x", "a/b", ""] {
            let refused = folder(&place).listen(name);
            assert!(name.is_empty() || matches!(refused, Err(TrustError::Name { .. })), "{refused:?}");
        }
    }
}
