//! Shared radios on a virtual clock: what each receives and sends, exact to the sample, whatever the others do.

mod burst;
mod channels;
mod come_and_go;
mod hostile;
mod isolation;
mod receive;
mod rig;
mod sending;
mod transmit;
