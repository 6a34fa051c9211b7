//! The turbo decoders from outside: what was encoded comes back, at every length; no value is too strange; and as few blocks are
//! wrong in noise as others' decoders leave.
mod channel;
mod error_rate;
mod lengths;
mod strange;
