//! A radio or stream that Python holds: one thread uses it at a time, without Python's lock, until it is closed.

use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use pyo3::prelude::*;

use crate::problem::{Class, Problem};

pub struct Held<T> {
    inner: Mutex<Option<T>>,
    /// Its name in messages, and the exception that has them.
    what: &'static str,
    class: Class,
    /// The process whose threads keep it: a forked child has none of them.
    pid: u32,
}

impl<T: Send> Held<T> {
    pub fn new(what: &'static str, class: Class, inner: T) -> Held<T> {
        Held { inner: Mutex::new(Some(inner)), what, class, pid: std::process::id() }
    }

    /// Lends it for several steps. A call from another thread, or from a signal handler, is refused and never waits: Python's lock
    /// could be held by whoever waits.
    pub fn lend(&self) -> Result<Lent<'_, T>, Problem> {
        if self.pid != std::process::id() {
            return Err(self.refused("belongs to the process that forked this one", "make another in this process"));
        }
        let guard = match self.inner.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(broken)) => broken.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(self.refused("is in use by another call", "use it from one thread at a time"));
            }
        };
        if guard.is_none() {
            return Err(self.refused("is closed", "make another"));
        }
        Ok(Lent(guard))
    }

    /// Uses it once, without Python's lock.
    pub fn with<R: Send>(&self, py: Python<'_>, use_it: impl FnOnce(&mut T) -> R + Send) -> Result<R, Problem> {
        let mut lent = self.lend()?;
        let inner = lent.get();
        Ok(py.detach(|| use_it(inner)))
    }

    /// Closes it. It may be closed already.
    pub fn close(&self, py: Python<'_>) -> Result<(), Problem> {
        if self.is_closed() || self.pid != std::process::id() {
            return Ok(());
        }
        let closed = self.lend()?.0.take();
        py.detach(|| drop(closed));
        Ok(())
    }

    pub fn is_closed(&self) -> bool {
        matches!(self.inner.try_lock(), Ok(guard) if guard.is_none())
    }

    fn refused(&self, why: &str, fix: &str) -> Problem {
        Problem {
            message: format!("the {} {why}", self.what),
            fix: Some(fix.to_owned()),
            class: self.class,
            ..Problem::default()
        }
    }
}

pub struct Lent<'a, T>(MutexGuard<'a, Option<T>>);

impl<T> Lent<'_, T> {
    /// The radio or stream that was lent.
    pub fn get(&mut self) -> &mut T {
        self.0.as_mut().expect("lent only while it is there")
    }
}

impl<T> Drop for Held<T> {
    fn drop(&mut self) {
        // In a forked child its threads are not there to be waited for, and the radio is the parent's.
        if self.pid != std::process::id() {
            std::mem::forget(self.inner.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}
