//! The host side of a radio: discovery, drivers, streamers, flow control, time
