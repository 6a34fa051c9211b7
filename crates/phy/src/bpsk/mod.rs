//! A BPSK link: bits become 16-bit samples, noise is added, signs become bits, errors are counted.

mod bits;
mod channel;
mod modem;
mod sink;
