//! The native half of the Python package `takt`: emulated radios that run on threads of their own, without Python's lock.
//!
//! Users see the Python part, in the folder `takt` beside this one. This half starts and stops radios, says what they counted
//! and hands over what they received as arrays of NumPy.

#![forbid(unsafe_code)]

mod fleet;
mod options;
mod problem;
mod radios;

use pyo3::prelude::*;

#[pymodule]
mod _takt {
    #[pymodule_export]
    use super::radios::{Radios, air, emulate};

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "Python's name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
