//! The rules, one file each, in the order of the table.

mod clock_source;
mod governor;
mod load;
mod memlock;
mod rt_permission;
mod rt_throttling;
mod socket_buffer;
mod swap;
mod timer_slack;
mod virtualisation;

use super::rule::Rule;

/// All rules: first what is cheap to mend.
pub static RULES: &[&Rule] = &[
    &socket_buffer::RULE,
    &rt_permission::RULE,
    &memlock::RULE,
    &governor::RULE,
    &clock_source::RULE,
    &load::RULE,
    &virtualisation::RULE,
    &swap::RULE,
    &rt_throttling::RULE,
    &timer_slack::RULE,
];
