//! Tests that need the machine for themselves: threads of real-time priority that spin, and answers to a radio at its
//! own rate.

mod deadline;
mod interface;
mod link;
mod nodes;
mod rate;
