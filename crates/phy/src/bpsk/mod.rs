//! A BPSK link: bits become 16-bit samples, signs become bits or soft values, errors are counted.

mod bits;
mod modem;
mod sink;
