//! Hops of a network path that run in user space.
//!
//! | module | is |
//! | --- | --- |
//! | [`model`] | what a hop does to frames, as a function of virtual time: a device that stores and forwards, impairments |
//! | [`hop`] | the model between two interfaces of this machine |
//! | [`dhcp`] | the four messages by which a host gets its address |
//! | [`forward`] | a forwarder in the kernel's receive path: an XDP program, written out by us |
//! | [`topology`] | a path as data |
//! | [`ethernet`] | what a frame takes on a cable |
//!
//! Namespaces, interfaces and routes are the lab's business; nothing here makes or removes one.
#![forbid(unsafe_code)]

pub mod dhcp;
pub mod ethernet;
pub mod forward;
pub mod hop;
pub mod model;
pub mod topology;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
