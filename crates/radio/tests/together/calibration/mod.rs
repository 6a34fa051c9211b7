//! Files of corrections, their use, and the measurement that makes them.

mod files;
mod leak;
mod measured;
mod search;
mod uhd;
