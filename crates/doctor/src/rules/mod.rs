//! The rules, one file each, in the order of the table. `look` holds what several of them need.

mod autogroup;
mod backlog;
mod base_slice;
mod busy_poll;
mod clock_source;
mod compaction;
mod connection_tracking;
mod container;
mod cpu_pressure;
mod cpu_quota;
mod cpu_weight;
mod cpuset;
mod energy_preference;
mod fair_server;
mod few_cores;
mod foreign_real_time;
mod frequency_limit;
mod governor;
mod halt_poll;
mod huge_page_defrag;
mod huge_pages;
mod idle_states;
mod interrupt_threads;
mod irq_isolated;
mod irq_spread;
mod irqbalance;
mod isolated_cpus;
mod load;
mod look;
mod memlock;
mod memory_limit;
mod memory_pressure;
mod mitigations;
mod mixed_cores;
mod network_permission;
mod nic_bus;
mod nic_coalescing;
mod nic_drops;
mod nic_eee;
mod nic_flow_control;
mod nic_mtu;
mod nic_offloads;
mod nic_ring;
mod nic_speed;
mod nic_steering;
mod nic_xdp;
mod numa;
mod numa_balancing;
mod pcie_power;
mod power_daemon;
mod preemption;
mod receive_budget;
mod rt_permission;
mod rt_throttling;
mod same_network;
mod serial_console;
mod smt_siblings;
mod socket_buffer;
mod socket_buffer_default;
mod swap;
mod thermal_throttle;
mod tick_rate;
mod time_sync;
mod timer_migration;
mod timer_resolution;
mod timer_slack;
mod virtualisation;
mod vm_network;
mod zone_reclaim;

use super::rule::Rule;

/// All rules, by topic; within one, first what is cheap to mend.
pub static RULES: &[&Rule] = &[
    &socket_buffer::RULE,
    &socket_buffer_default::RULE,
    &backlog::RULE,
    &receive_budget::RULE,
    &busy_poll::RULE,
    &rt_permission::RULE,
    &memlock::RULE,
    &network_permission::RULE,
    &load::RULE,
    &cpu_pressure::RULE,
    &few_cores::RULE,
    &smt_siblings::RULE,
    &mixed_cores::RULE,
    &isolated_cpus::RULE,
    &foreign_real_time::RULE,
    &rt_throttling::RULE,
    &fair_server::RULE,
    &preemption::RULE,
    &base_slice::RULE,
    &autogroup::RULE,
    &serial_console::RULE,
    &mitigations::RULE,
    &clock_source::RULE,
    &timer_resolution::RULE,
    &timer_slack::RULE,
    &tick_rate::RULE,
    &timer_migration::RULE,
    &time_sync::RULE,
    &swap::RULE,
    &memory_pressure::RULE,
    &huge_page_defrag::RULE,
    &compaction::RULE,
    &huge_pages::RULE,
    &numa::RULE,
    &numa_balancing::RULE,
    &zone_reclaim::RULE,
    &irq_spread::RULE,
    &irq_isolated::RULE,
    &irqbalance::RULE,
    &interrupt_threads::RULE,
    &nic_mtu::RULE,
    &nic_speed::RULE,
    &nic_bus::RULE,
    &nic_ring::RULE,
    &nic_drops::RULE,
    &nic_flow_control::RULE,
    &nic_eee::RULE,
    &nic_coalescing::RULE,
    &nic_steering::RULE,
    &nic_offloads::RULE,
    &nic_xdp::RULE,
    &same_network::RULE,
    &connection_tracking::RULE,
    &cpu_quota::RULE,
    &cpu_weight::RULE,
    &cpuset::RULE,
    &memory_limit::RULE,
    &container::RULE,
    &virtualisation::RULE,
    &halt_poll::RULE,
    &vm_network::RULE,
    &governor::RULE,
    &power_daemon::RULE,
    &frequency_limit::RULE,
    &energy_preference::RULE,
    &idle_states::RULE,
    &thermal_throttle::RULE,
    &pcie_power::RULE,
];
