//! A round for tests of what is made of it.

use takt_host::accounting::CpuClasses;

use super::{Cpu, Options, Outcome, Radio, Rx, Tx};

/// A clean round of no samples.
pub fn outcome() -> Outcome {
    Outcome {
        options: Options::default(),
        radio: Radio::default(),
        rx: Rx::default(),
        tx: Tx::default(),
        cpu: Cpu {
            host_seconds: 0.0,
            host_ms_per_msample: None,
            threads: Vec::new(),
            machine: CpuClasses::default(),
            foreign_seconds: 0.0,
        },
        wall_s: 1.0,
        complete: true,
        clean: true,
    }
}
