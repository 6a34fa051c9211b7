//! The program: commands, progress, tables; no logic of its own.

fn main() {}
