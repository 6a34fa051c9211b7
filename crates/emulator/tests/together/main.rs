//! Tests that run side by side, in one program, which is linked once.

mod air;
mod control;
mod emulate;
mod faults;
mod front_end;
mod full_scale;
mod hostile;
mod hosts;
mod imperfect;
mod loopback;
mod loopback_rates;
mod registers;
mod rx_commands;
mod rx_packets;
mod sim;
#[path = "../support/mod.rs"]
mod support;
mod time;
mod traps;
mod tx;
mod x310;
