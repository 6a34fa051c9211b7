//! What components cost, and what processors can do.

pub mod calibrate;
pub mod costs;
pub mod evaluate;
pub mod kernels;
pub mod model;
mod nnls;
pub mod operations;
pub mod prices;
pub mod probes;
pub mod work;
