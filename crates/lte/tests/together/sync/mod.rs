//! Synchronisation: the signals against published ones, the search on signals as an antenna has them.

mod air;
mod hostile;
mod search;
mod signals;
