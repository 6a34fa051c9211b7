//! The native half of the Python package `takt`: radios, emulated radios and waveforms that run without Python's lock.
//!
//! Users see the Python part, in the folder `takt` beside this one. This half has what must not wait for Python: samples between
//! radios and arrays of NumPy, threads of emulated radios, the slots of a waveform.

#![forbid(unsafe_code)]

mod driver;
mod fleet;
mod held;
mod line;
mod options;
mod problem;
mod radio_problem;
mod radios;
mod receiver;
mod stand_in;
mod transmitter;
mod waveform;

use pyo3::prelude::*;

#[pymodule]
mod _takt {
    #[pymodule_export]
    use super::driver::{OpenRadio, find, open};

    #[pymodule_export]
    use super::line::Line;

    #[pymodule_export]
    use super::radios::{Radios, air, emulate};

    #[pymodule_export]
    use super::receiver::Receiver;

    #[pymodule_export]
    use super::transmitter::Transmitter;

    #[pymodule_export]
    use super::waveform::{Halt, SingleComponent, component_types, run_waveform};

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
