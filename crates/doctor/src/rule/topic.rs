//! Parts of a host.

/// The part of a host a rule looks at: a section of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// Kernel buffers and queues for datagrams.
    Sockets,
    /// What this process may do.
    Permissions,
    /// Processors and who uses them.
    Processors,
    /// The kernel's own manners.
    Kernel,
    /// Clocks and timers.
    Timers,
    /// Memory.
    Memory,
    /// Interrupts.
    Interrupts,
    /// Network cards and what filters behind them.
    Network,
    /// Control groups this process is in.
    Groups,
    /// Containers and virtual machines.
    Virtual,
    /// Power and heat.
    Power,
}

impl Topic {
    /// The section's heading.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Topic::Sockets => "Socket buffers and queues",
            Topic::Permissions => "Permissions",
            Topic::Processors => "Processors",
            Topic::Kernel => "The kernel",
            Topic::Timers => "Clocks and timers",
            Topic::Memory => "Memory",
            Topic::Interrupts => "Interrupts",
            Topic::Network => "Network cards",
            Topic::Groups => "Control groups",
            Topic::Virtual => "Containers and virtual machines",
            Topic::Power => "Power and heat",
        }
    }
}
