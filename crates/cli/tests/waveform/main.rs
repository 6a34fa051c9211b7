//! Waveforms and components through the program: what is requested of `takt run`, `takt component`, `takt execinfo` and
//! `takt variable`, and what they say to bad input.

mod bad_input;
mod component;
mod computed;
mod live;
mod log;
mod lte;
mod map;
mod mapped;
mod own;
mod pages;
mod program;
mod radio;
mod run;
#[path = "../support/mod.rs"]
mod support;
mod umts;
#[path = "../support/watched.rs"]
mod watched;
