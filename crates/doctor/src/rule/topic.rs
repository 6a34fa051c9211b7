//! Parts of a host.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    Sockets,
    Permissions,
    Cores,
    Kernel,
    Timers,
    Memory,
    Interrupts,
    Network,
    Groups,
    Virtual,
    Power,
    /// Never a problem for takt.
    Notes,
}

impl Topic {
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Topic::Sockets => "Socket buffers and queues",
            Topic::Permissions => "Permissions",
            Topic::Cores => "Cores",
            Topic::Kernel => "The kernel",
            Topic::Timers => "Clocks and timers",
            Topic::Memory => "Memory",
            Topic::Interrupts => "Interrupts",
            Topic::Network => "Network cards",
            Topic::Groups => "Control groups",
            Topic::Virtual => "Containers and virtual machines",
            Topic::Power => "Power and heat",
            Topic::Notes => "Notes",
        }
    }
}
