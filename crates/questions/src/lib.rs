//! Questions that takt asks of a host, one folder each: what is run, how it is judged, the sentences, and the page.
//!
//! | folder | question |
//! | --- | --- |
//! | [`check`] | does this host keep up with a radio? |
//! | [`self_test`] | would [`check`] say no to a host that does not? |
//! | [`aloe`] | what does a time-slotted software-radio environment cost, and what does it give? |
//! | [`virtual_sdr`] | what do a container and a virtual machine cost? |
//! | [`routers`] | does a software router keep up with a hardware one? |
//! | [`linux_rt`] | does a loaded host answer the air interface in time? |
//! | [`uhd_dpdk`] | what do a stream and a link gain without the kernel's sockets? |
//!
//! Each is a [`Question`]. The last five are published studies, set beside what they reported: [`study`] has what they share,
//! [`sweep`] what those share that vary one factor. An answer is a function of a run's records, so it can be given again at any time,
//! also of an interrupted run.
#![forbid(unsafe_code)]

pub mod aloe;
pub mod check;
pub mod linux_rt;
mod question;
pub mod routers;
pub mod self_test;
pub mod study;
pub mod sweep;
pub mod uhd_dpdk;
pub mod virtual_sdr;

pub use question::{Answered, Asked, Question, QuestionError, answer, ask, named};
