//! The text of `takt run` about lost packets: which, of which component, and the fix.

use takt_base::words::plural;
use takt_runtime::{BrokenPacket, ComponentReport, OutputReport, Report};

/// Faults and their fixes, for each output with broken or dropped packets and each component with lost slots.
pub(super) fn all(report: &Report) -> Vec<(&'static str, String)> {
    let outputs = || report.components.iter().flat_map(|of| of.outputs.iter().map(move |output| (of, output)));
    let broken = outputs().filter_map(|(of, output)| Some(broken(of, output, output.first_broken?)));
    let dropped = outputs().filter(|(_, output)| output.dropped_packets > 0).map(|(of, output)| dropped(of, output));
    let lost = report.components.iter().filter(|of| of.lost > 0).map(lost);
    broken.chain(dropped).chain(lost).flat_map(|(what, fix)| [("packets", what), ("fix", fix)]).collect()
}

/// For the answer: how many packets were broken and dropped; `None` without them.
pub(super) fn counted(report: &Report) -> Option<String> {
    match (report.broken_packets, report.dropped_packets) {
        (0, 0) => None,
        (0, dropped) => Some(format!("{} dropped", plural(dropped, "packet"))),
        (broken, 0) => Some(format!("{} broken", plural(broken, "packet"))),
        (broken, dropped) => Some(format!("{} broken and {dropped} dropped", plural(broken, "packet"))),
    }
}

fn broken(of: &ComponentReport, output: &OutputReport, first: BrokenPacket) -> (String, String) {
    let (name, port, BrokenPacket { slot, items, declared_items: declared }) = (&of.name, &output.name, first);
    let which = if output.broken_packets == 1 { "it" } else { "the first" };
    let (at_most, mend) = if items > declared {
        ("at most ", format!("give at most {declared} items, or declare more"))
    } else {
        ("", format!("give {declared} items or none, or declare `up_to = {declared}`"))
    };
    let what = format!(
        "{} of component `{name}`, output `{port}`, {} broken: {which} had {} in slot {slot}, where its shape \
         says {at_most}{declared}.",
        plural(output.broken_packets, "packet"),
        were(output.broken_packets),
        plural(items, "item"),
    );
    (what, format!("{mend}; consumers of `{port}` got an empty packet instead"))
}

fn dropped(of: &ComponentReport, output: &OutputReport) -> (String, String) {
    let (name, port, count) = (&of.name, &output.name, output.dropped_packets);
    let what = format!(
        "{} of component `{name}`, output `{port}`, {} dropped: a consumer was behind.",
        plural(count, "packet"),
        were(count)
    );
    (
        what,
        "use a longer slot (--slot) or more cores (--cores); the misses say which component was late, and why"
            .to_owned(),
    )
}

fn lost(of: &ComponentReport) -> (String, String) {
    let (name, count) = (&of.name, of.lost);
    let what = format!(
        "{} of component `{name}` {} lost: its data from outside did not arrive.",
        plural(count, "slot"),
        were(count)
    );
    (what, "to find where a radio's samples are lost, run takt rate; the misses name the slots".to_owned())
}

fn were(count: u64) -> &'static str {
    if count == 1 { "was" } else { "were" }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use takt_graph::{ComponentSpec, Graph, Item, Kind, Latency, Length, Plan, Shape, Waveform};
    use takt_runtime::{Component, Io, Registration, Registry, Session, SessionOptions};

    use super::*;
    use takt_page::TextStyle;

    /// Gives too few bytes in slot 3, too many in slot 5, none in slot 6, and loses slot 7.
    struct Aerial;

    impl Component for Aerial {
        fn tick(&mut self, io: &mut Io<'_>) {
            match io.slot {
                3 => io.outputs[0].truncate(3),
                5 => io.outputs[0].truncate(5),
                6 => io.outputs[0].truncate(0),
                7 => io.lose(),
                _ => {}
            }
        }
    }

    /// Slot 10 takes it 4.5 slots.
    struct Slow;

    impl Component for Slow {
        fn tick(&mut self, io: &mut Io<'_>) {
            if io.slot == 10 {
                io.occupy(Duration::from_micros(4500));
            }
        }
    }

    /// So many slots of one millisecond in virtual time, each component on a worker of its own.
    fn simulated(slots: u64) -> Report {
        let mut registry = Registry::empty();
        let aerial = Registration {
            kind: || Kind::new("aerial", ""),
            shape: |_| Ok(Shape::new().output("out", Item::Byte, Length::Fixed(4))),
            make: |_| Ok(Box::new(Aerial)),
        };
        let slow = Registration {
            kind: || Kind::new("slow", ""),
            shape: |_| Ok(Shape::new().input("in", Item::Byte)),
            make: |_| Ok(Box::new(Slow)),
        };
        [aerial, slow].into_iter().for_each(|one| registry.add(one).expect("one name each"));
        let (a, s) = (ComponentSpec::new("a", "aerial"), ComponentSpec::new("s", "slow"));
        let waveform = Waveform::new("test", Duration::from_millis(1)).with(a).with(s).chain(["a", "s"]);
        let graph = Graph::check(&waveform, &registry).expect("good");
        let plan = Plan::assign(&graph, &[0, 1], Latency::Compact).expect("legal");
        let options = SessionOptions { slots: Some(slots), ..SessionOptions::default() };
        Session::open(&graph, &plan, &registry, options).expect("opens").simulate()
    }

    fn answer(report: &Report) -> String {
        text(report).lines().next().unwrap_or_default().to_owned()
    }

    fn text(report: &Report) -> String {
        super::super::run::screen(report, true).to_text(&TextStyle { width: 200, ..TextStyle::default() })
    }

    #[test]
    fn a_run_whose_packets_all_came_begins_with_its_table() {
        let report = simulated(3);
        assert!(report.is_clean());
        assert_eq!((all(&report).len(), answer(&report).as_str()), (0, "Yes: no slot of 3 was missed."));
    }

    #[test]
    fn a_broken_packet_is_reported_though_no_slot_was_missed() {
        let report = simulated(4);
        assert!(!report.is_clean());
        let said = [
            "1 packet of component `a`, output `out`, was broken: it had 3 items in slot 3, where its shape says 4.",
            "give 4 items or none, or declare `up_to = 4`; consumers of `out` got an empty packet instead",
        ];
        assert_eq!(all(&report), [("packets", said[0].to_owned()), ("fix", said[1].to_owned())]);
        assert_eq!(answer(&report), "No: 1 packet broken; no slot of 4 was missed.");
    }

    #[test]
    fn broken_dropped_and_lost_each_come_with_component_port_and_fix() {
        let report = simulated(20);
        let said = "\
  packets  2 packets of component `a`, output `out`, were broken: the first had 3 items in slot 3, where its shape says 4.
  fix      give 4 items or none, or declare `up_to = 4`; consumers of `out` got an empty packet instead
  packets  2 packets of component `a`, output `out`, were dropped: a consumer was behind.
  fix      use a longer slot (--slot) or more cores (--cores); the misses say which component was late, and why
  packets  1 slot of component `a` was lost: its data from outside did not arrive.
  fix      to find where a radio's samples are lost, run takt rate; the misses name the slots
";
        let text = text(&report);
        assert!(text.contains(said), "{text}");
        assert_eq!(answer(&report), "No: 2 packets broken and 2 dropped; 5 executions missed or late in 20 slots.");
    }
}
