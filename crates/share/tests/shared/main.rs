//! Shared radios on a virtual clock: what each receives and sends, exact to the sample, whatever the others do.

mod burst;
mod channels;
mod isolation;
mod receive;
mod rig;
mod transmit;
