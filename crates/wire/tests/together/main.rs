//! Tests that run side by side, in one program, which is linked once.

mod capture;
mod chdr;
mod common;
mod control;
mod eeprom;
mod fifo;
mod frequency;
mod full_scale;
mod lag;
mod ptp;
mod rate;
mod rx;
mod samples;
mod stream_command;
mod tshark;
mod tx;
mod x310;
