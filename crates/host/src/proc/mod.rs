//! Parsers of what the kernel prints, as pure functions of text.
//!
//! Kernels add fields, containers hide files, and a recorded tree may hold anything: no input panics, and what is not
//! understood is `None`, never zero. Layouts: proc(5) and the kernel's `Documentation/filesystems/proc.rst`.

pub(crate) mod classes;
pub mod limits;
pub mod net;
pub mod pressure;
pub mod softnet;
pub mod stat;
pub mod status;
pub mod task;

pub use crate::cpu_list;

/// Nanoseconds in one of the ticks (`USER_HZ`) that `/proc` counts in; 10 ms on every common kernel.
pub fn tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

/// A time counted in ticks, in nanoseconds.
pub fn ticks_to_ns(ticks: u64) -> u64 {
    ticks.saturating_mul(tick_ns())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Text that looks like the kernel's own: digits, signs, separators, and now and then something else.
    fn kernel_like() -> impl Strategy<Value = String> {
        prop_oneof![
            "[0-9a-f ,:()\\-\n\t]{0,200}",
            "(cpu[0-9]{0,3}( [0-9]{1,22}){0,12}\n){0,4}",
            "[0-9]{1,5} \\([ -~]{0,20}\\) [A-Z]( -?[0-9]{1,21}){0,60}",
            "((some|full)( (avg10|avg60|avg300|total)=[0-9.]{0,24}){0,5}\n){0,3}",
            "(Max [a-z ]{0,24} +(unlimited|[0-9]{1,22}) +(unlimited|[0-9]{1,22}) +[a-z]{0,6}\n){0,4}",
            "( ?(eth0|lo|Ip|Udp): ?([0-9]{1,21} |InErrors ){0,17}\n){0,6}",
            any::<String>(),
        ]
    }

    proptest! {
        #[test]
        fn hostile_text_never_panics(text in kernel_like()) {
            let _ = cpu_list::parse(&text);
            let _ = limits::soft(&text, "Max locked memory");
            let _ = (net::interfaces(&text), net::udp(&text));
            let _ = pressure::parse(&text);
            let _ = pressure::recent_percent(&text);
            let _ = softnet::parse(&text);
            let _ = stat::parse(&text, tick_ns());
            let _ = status::field(&text, "Name");
            let _ = task::Stat::parse(&text);
            let _ = task::Schedstat::parse(&text);
        }
    }
}
