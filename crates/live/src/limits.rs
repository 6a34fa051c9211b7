//! Bounds of the lines of either side, so that neither can fill the other's memory.

/// Readers of a process at once; one more is refused.
pub const READERS: usize = 16;
/// Longest line that a reader may send, bytes, with its end.
pub const LINE_IN: usize = 4096;
/// Longest line that a process sends, bytes, with its end. A reader takes no longer one.
pub const LINE_OUT: usize = 1 << 20;
/// Shortest time between two snapshots for a reader, ms.
pub const EVERY_MIN_MS: u32 = 16;
/// Longest time between two snapshots for a reader, ms.
pub const EVERY_MAX_MS: u32 = 1000;
/// Radios in a snapshot.
pub const RADIOS: usize = 64;
/// Bars of a histogram.
pub const BARS: usize = 128;
/// The last misses in a snapshot.
pub const MISSES: usize = 32;
/// Components in a snapshot.
pub const COMPONENTS: usize = 512;
/// Edges of a component.
pub const EDGES: usize = 64;
/// Links in a snapshot.
pub const LINKS: usize = 32;
/// Nodes in a snapshot.
pub const NODES: usize = 256;
/// Waveforms of a node.
pub const WAVEFORMS: usize = 64;
/// Variables in a snapshot.
pub const VARIABLES: usize = 512;
/// Outputs in a snapshot that can be tapped.
pub const OUTPUTS: usize = 256;
/// Spectra and constellations in a snapshot, each; and outputs that a reader may tap at once.
pub const TAPS: usize = 8;
/// Bins of a spectrum.
pub const BINS: usize = 1024;
/// Points of a constellation.
pub const POINTS: usize = 256;
/// Characters of a name, a title or a reason; the rest is cut.
pub const TEXT_CHARS: usize = 256;
/// Characters of a command line; the rest is cut.
pub const COMMAND_CHARS: usize = 1024;
