//! How long mapping takes.
fn main() {}
