//! The work that a lab elsewhere may have a workload do on a node of a cluster that was lent to it.
//!
//! A workload lists the options that such a lab may give, each with its rule. An unlisted option is refused, so an option that
//! takt gets later is refused until somebody has thought about it; a workload without a list is refused altogether. The lists
//! are here, with the workloads; `takt-testbed` enforces them where the agent runs.

/// Options by name, each with the values that are allowed.
pub type LentOptions = &'static [(&'static str, LentRule)];

/// A workload's part for a lab elsewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lent {
    pub options: LentOptions,
    /// The place in its options of the waveform that it makes, as a JSON pointer; `None`: it makes none. No component of that
    /// waveform may open files of the node, or be a process of its own.
    pub waveform_at: Option<&'static str>,
}

impl Lent {
    /// A workload that makes no waveform.
    #[must_use]
    pub const fn without_waveform(options: LentOptions) -> Lent {
        Lent { options, waveform_at: None }
    }
}

/// Values of an option that are allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LentRule {
    /// All that the workload takes: it neither acts beyond the granted cores and memory, nor on other machines.
    Any,
    /// This word alone.
    Word(&'static str),
    /// `false` alone, for this reason.
    Never(&'static str),
    /// Nothing: the workload does without it.
    Absent,
    /// Packet engines over kernel sockets: others take the interface of the node.
    Sockets,
    /// Some of the cores that were granted.
    Cores,
    /// An address on the loopback interface.
    Loopback,
    /// A number up to that; of each unit the workload takes so many bytes, which must fit in the memory that was granted.
    UpTo { most: u64, bytes_each: u64 },
    /// A list of up to so many.
    List(usize),
    /// A document with these options.
    Document(LentOptions),
}

impl LentRule {
    /// The rule for `transmit`: sending samples to a radio that is not takt's own.
    pub const TRANSMIT: LentRule = LentRule::Never("the node's owner has not agreed to transmit with that radio");
    /// The rule for `force`: taking a radio from another host.
    pub const FORCE: LentRule = LentRule::Never("another host may be using that radio");
    /// Kernel memory of a socket, bytes.
    pub const SOCKET_BUFFER: LentRule = LentRule::UpTo { most: 64 << 20, bytes_each: 1 };
}
