//! Threads that do nothing but count, so that others must share a processor with them.

use std::hint::black_box;
use std::thread::{Builder, JoinHandle};

use takt_base::Stop;
use takt_host::affinity::pin_self;
use takt_host::policy::{Policy, set_policy};

use crate::WakeupError;

/// Name of each, as the kernel and its tools show it.
pub(crate) const NAME: &str = "takt-busy";

/// Busy loops; dropping ends them.
pub(crate) struct Load {
    stop: Stop,
    threads: Vec<JoinHandle<()>>,
}

impl Load {
    /// `count` loops of ordinary policy, on `cpus`, or anywhere if there are none.
    pub(crate) fn start(count: u32, cpus: &[usize]) -> Result<Load, WakeupError> {
        let mut load = Load { stop: Stop::new(), threads: Vec::new() };
        for _ in 0..count {
            let (stop, cpus) = (load.stop.clone(), cpus.to_vec());
            let work = move || {
                // The CPUs are those of the threads that are measured, so they exist; and to be ordinary is everybody's
                // right.
                if !cpus.is_empty() {
                    let _ = pin_self(&cpus);
                }
                let _ = set_policy(0, Policy::Other { nice: 0 });
                let mut sum = 0u64;
                while !stop.requested() {
                    for i in 0..10_000u64 {
                        sum = black_box(sum.wrapping_add(i));
                    }
                }
            };
            load.threads.push(Builder::new().name(NAME.to_owned()).spawn(work).map_err(WakeupError::Thread)?);
        }
        Ok(load)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.stop.request();
        for thread in self.threads.drain(..) {
            // Nothing in it can panic.
            let _ = thread.join();
        }
    }
}
