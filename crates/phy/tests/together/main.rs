//! Tests that run side by side, in one program, which is linked once.

mod bpsk;
mod costs;
mod files;
mod hostile;
mod lte;
mod lte_vectors;
mod one_hash;
mod tdscdma;
mod utran;
mod utran_shapes;
mod utran_vectors;
#[path = "../support/vectors.rs"]
mod vectors;
#[path = "../support/waveform.rs"]
mod waveform;
