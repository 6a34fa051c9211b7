//! What needs the machine for itself: threads of real-time priority that spin, and answers to a radio at its own rate.

mod deadline;
mod interface;
mod nodes;
mod rate;
