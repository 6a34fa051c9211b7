//! The rules that find problems, one file each, and the notes, one table. `look` has what several of them need.

mod backlog;
mod clock_source;
mod connection_tracking;
mod cpu_pressure;
mod cpu_quota;
mod cpu_weight;
mod cpuset;
mod energy_preference;
mod few_cores;
mod frequency_limit;
mod governor;
mod halt_poll;
mod huge_page_defrag;
mod idle_states;
mod irq_isolated;
mod irq_spread;
mod load;
mod look;
mod memlock;
mod memory_limit;
mod memory_pressure;
mod nic_bus;
mod nic_coalescing;
mod nic_drops;
mod nic_flow_control;
mod nic_mtu;
mod nic_ring;
mod nic_speed;
mod notes;
mod numa;
mod numa_balancing;
mod pcie_power;
mod receive_budget;
mod rt_permission;
mod rt_throttling;
mod same_network;
mod socket_buffer;
mod swap;
mod thermal_throttle;
mod time_sync;
mod timer_resolution;
mod virtualisation;
mod vm_network;
mod zone_reclaim;

use std::sync::LazyLock;

use super::rule::Rule;

/// All rules: those that find problems, by topic, and then the notes.
pub static RULES: LazyLock<Vec<&'static Rule>> =
    LazyLock::new(|| PROBLEMS.iter().copied().chain(notes::NOTES).collect());

/// By topic; within a topic, those with a cheap fix first.
static PROBLEMS: &[&Rule] = &[
    &socket_buffer::RULE,
    &backlog::RULE,
    &receive_budget::RULE,
    &rt_permission::RULE,
    &memlock::RULE,
    &load::RULE,
    &cpu_pressure::RULE,
    &few_cores::RULE,
    &rt_throttling::RULE,
    &clock_source::RULE,
    &timer_resolution::RULE,
    &time_sync::RULE,
    &swap::RULE,
    &memory_pressure::RULE,
    &huge_page_defrag::RULE,
    &numa::RULE,
    &numa_balancing::RULE,
    &zone_reclaim::RULE,
    &irq_spread::RULE,
    &irq_isolated::RULE,
    &nic_mtu::RULE,
    &nic_speed::RULE,
    &nic_bus::RULE,
    &nic_ring::RULE,
    &nic_drops::RULE,
    &nic_flow_control::RULE,
    &nic_coalescing::RULE,
    &same_network::RULE,
    &connection_tracking::RULE,
    &cpu_quota::RULE,
    &cpu_weight::RULE,
    &cpuset::RULE,
    &memory_limit::RULE,
    &virtualisation::RULE,
    &halt_poll::RULE,
    &vm_network::RULE,
    &governor::RULE,
    &frequency_limit::RULE,
    &energy_preference::RULE,
    &idle_states::RULE,
    &thermal_throttle::RULE,
    &pcie_power::RULE,
];
