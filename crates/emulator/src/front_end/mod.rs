//! Between antenna and DSPs of either model: what boards do wrong, the digital core that corrects it, and the path by which a
//! receiver hears its own transmitter.
//!
//! ```text
//!   receive   antenna ──┬─ board ── converter ── swap ── offset ── I/Q ── DDC          boards and I/Q are relative to the
//!                CAL ───┘  (analogue)           (digital, at the ADC's rate)           oscillator, not to 0 Hz of the samples
//!   transmit  DUC ── I/Q ── offset ── mux ── converter ── board ──┬── antenna
//!                                                                 └── CAL: down by `leakage`
//! ```
//!
//! The core exists on each radio, and its registers always act. Boards are perfect unless [`Imperfections`] are given.

mod cal_port;
mod chain;
mod gateware;
mod imbalance;
mod imperfections;
mod offset;

pub(crate) use cal_port::{leakage, with_cal};
pub(crate) use chain::{RxChain, TxChain};
pub(crate) use gateware::{Core, IqCorrection, signed};
pub(crate) use imbalance::Imbalance;
pub use imbalance::ImbalanceSpec;
pub(crate) use imperfections::{Imperfections, Side};
