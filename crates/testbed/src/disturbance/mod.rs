//! Competitors of the measured side: processes of takt's own that do nothing but use what it needs.
//!
//! ```text
//!  disturbance = "busy:4x+disk:1"     four busy loops for each core of the machine, and a process that writes to a disk
//!  cap         = 40                   all of them together may use 40 % of those cores: a control group's quota
//! ```
//!
//! Each is a process, as in the study of Linux in real time, placed on the host side's cores and never on the radio's, so
//! that a late radio does not look like a late host. They are agents: they end with the program that started them,
//! however it ended, and carry the mark of the run. Network load stays on the loopback interface.

mod loops;
mod running;
mod spec;

pub(crate) use loops::{LoopOptions, Loops};
pub use running::{Disturbance, DisturbanceError, DisturbanceOptions};
pub use spec::{Load, Spec, SpecError};
