//! Components that do little: for benchmarks, tests and fault injection.

mod chain;
mod check;
mod file;
mod stall;
