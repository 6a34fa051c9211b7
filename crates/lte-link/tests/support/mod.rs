//! Both ends on a virtual air, and packets that say whether they are whole.

#![allow(dead_code, reason = "each target uses its part")]

pub mod air;
pub mod chance;
pub mod forged;
pub mod sizes;
pub mod traffic;
pub mod world;
