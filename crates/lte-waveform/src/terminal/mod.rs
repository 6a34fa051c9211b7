//! A terminal in three components.
//!
//! ```text
//!   samples -> lte-ue-receive -> lte-ue-stack -> lte-ue-send -> samples
//!                   ^--- plan -------'
//! ```

mod receive;
mod send;
mod stack;
