//! Components, registered by name for every program that links this crate. Nothing is called here: [`link`] keeps a linker
//! from leaving them out.
//!
//! | component | does |
//! | --- | --- |
//! | `bit-source`, `bpsk-modulate`, `awgn`, `bpsk-demodulate`, `bit-sink-compare` | a BPSK link, bits to errors |
//! | `umts-crc-attach` .. `umts-interleave-2`, `umts-deinterleave-2` .. `umts-crc-check`, `bpsk-demodulate-soft` | the 384 kb/s channel of UTRA FDD, bits to bits |
//! | `lte-crc-attach` .. `lte-modulate`, `awgn-c32`, `lte-demodulate` .. `lte-crc-check` | LTE's shared channels, bits to symbols to bits |
//! | `td-scdma-downlink`, `td-scdma-to-samples`, `td-scdma-to-chips`, `td-scdma-receive`, `td-scdma-answer` | an exchange of TD-SCDMA, subframes to answers |
//! | `null-source`, `copy`, `saxpy`, `delay`, `null-sink` | chains that cost as little as a component can |
//! | `counter`, `hash-sink` | order and content, checked |
//! | `file-source`, `file-sink` | items of a file, behind a queue |
//! | `stall` | a component that is late on purpose |

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod bpsk;
mod channel;
mod items;
mod lte;
mod plumbing;
mod tdscdma;
mod turbo;
mod utran;

/// Makes this crate part of a program that only names its components in waveforms.
pub fn link() {}
