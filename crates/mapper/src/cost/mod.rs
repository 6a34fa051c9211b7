//! Costs of components, and capacities of processors.

pub mod calibrate;
pub mod costs;
pub mod counted;
pub mod kernels;
pub mod metric;
pub mod model;
pub mod operations;
pub mod prices;
pub mod probes;
pub mod work;
