//! A base station in four components.
//!
//! ```text
//!   samples -> lte-prach ------------v
//!   samples -> lte-enb-receive -> lte-enb-stack -> lte-enb-send -> samples
//!                     ^--- plan ------'
//! ```

mod prach;
mod receive;
mod send;
mod stack;
