//! Placements: from a problem in dense tables to the core of each component.

pub(crate) mod bounds;
pub(crate) mod depth;
mod exact;
mod greedy;
mod group;
mod packing;
pub(crate) mod problem;
pub(crate) mod search;
pub(crate) mod solve;
pub(crate) mod state;
#[cfg(test)]
mod tests;
mod trellis;
