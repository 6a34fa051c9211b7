//! Many channels of one wide band: what goes in comes out, where and when it should.

mod receive;
mod round_trip;
mod support;
