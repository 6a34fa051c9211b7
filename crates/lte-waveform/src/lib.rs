//! Components of an LTE link, registered by name for every program that links this crate. Nothing is called here: [`link`] keeps
//! a linker from leaving them out.
//!
//! A slot is a subframe. Both layers exchange packets of bytes (the records of this crate). Samples travel as packets of a
//! subframe. Every packet says which subframe it belongs to, so a component needs no clock.
//!
//! | component | does |
//! | --- | --- |
//! | `lte-enb-stack`, `lte-ue-stack` | link layer of base station and terminal: scheduler, HARQ, RLC, random access |
//! | `lte-enb-send`, `lte-ue-send` | orders to samples: coding, grid, OFDM or SC-FDMA |
//! | `lte-enb-receive`, `lte-ue-receive` | samples to what was heard; the terminal also searches and follows the cell |
//! | `lte-prach` | preambles of random access |
//! | `lte-air` | delay, gain, frequency offset, fading and noise |
//! | `lte-packets`, `lte-packet-sink` | a load of IP packets, and what arrived of it |

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod air;
mod codec;
mod due;
mod packets;
mod records;
mod settings;
mod station;
mod terminal;

/// Makes this crate part of a program that only names its components in waveforms.
pub fn link() {}
