//! Texts of commands, and the reports of a check and of published studies: what they say, on the pages of `takt-page`.
#![forbid(unsafe_code)]

pub mod check;
pub mod paper;
pub mod screen;
