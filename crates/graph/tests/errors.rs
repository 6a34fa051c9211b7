//! Every mistake in a waveform file is reported with its place, in a radio engineer's words, with what would be right.

mod common;

use common::types;
use takt_graph::{Graph, GraphError, Waveform};

fn check(text: &str) -> Result<Graph, GraphError> {
    Graph::check(&Waveform::parse("w.toml", text)?, &types())
}

/// `line:column: message; fix` of the error, with the cause where there is one.
fn refusal(text: &str) -> String {
    let error = check(text).expect_err("refused");
    let place = error.place.as_ref().map_or("-".to_owned(), |place| format!("{}:{}", place.line, place.column));
    let cause = std::error::Error::source(&error).map_or(String::new(), |cause| format!(": {cause}"));
    format!("{place}: {error}{cause}; {}", error.fix())
}

/// A file with these lines after a good head; the first of them is line 3.
fn with_head(rest: &str) -> String {
    format!("name = \"w\"\nslot = \"1 ms\"\n{rest}")
}

fn after_head(rest: &str) -> String {
    refusal(&with_head(rest))
}

const ENDS: &str = "[component.a]\ntype = \"bits\"\n[component.z]\ntype = \"sink\"\n";

#[test]
fn a_good_file_is_a_graph() {
    let graph = check(&format!("name = \"w\"\nslot = \"10 ms\"\nchain = [\"a\", \"z\"]\n{ENDS}")).expect("good");
    assert_eq!((graph.name(), graph.slot_ns(), graph.links().len()), ("w", 10_000_000, 1));
    assert_eq!(graph.sinks().map(|c| graph.components()[c].name.clone()).collect::<Vec<_>>(), ["z"]);
}

#[test]
fn mistakes_in_the_file_are_named_where_they_are() {
    assert_eq!(
        refusal("name = "),
        "1:8: not valid TOML: string values must be quoted, expected literal string; fix the syntax: https://toml.io"
    );
    assert_eq!(refusal("name = 3\nslot = 1"), "1:8: `name` can't be 3; give a text in quotes");
    assert_eq!(after_head("chian = []"), "3:1: unknown key `chian` in the file; did you mean `chain`?");
    assert_eq!(after_head("component.a = 3"), "3:15: `a` can't be 3; give a table with `type` and parameters");
    assert_eq!(after_head("[component.a]\nitems = 3"), "3:12: component `a` has no `type`; add `type`");
    assert_eq!(
        after_head("[component.a]\ntype = \"bits\"\non_miss = \"panic\""),
        "5:11: `on_miss` can't be \"panic\"; give skip, repeat, degrade or stop"
    );
    assert_eq!(
        after_head(&format!("{ENDS}[[link]]\nfrom = \"a\"\nto = \"z\"\ndelay = -1")),
        "10:9: `delay` can't be -1; give a whole number of slots from 0 to 4096"
    );
    assert_eq!(
        refusal("slot = \"10\"\nname = \"w\"\n[component.a]\ntype = \"bits\""),
        "1:8: `slot` can't be \"10\"; give a time from 1 us to 1 min, such as \"10 ms\""
    );
}

#[test]
fn unknown_names_come_with_the_nearest() {
    assert_eq!(
        after_head("[component.a]\ntype = \"bist\""),
        "4:8: there is no component type `bist`; did you mean `bits`?"
    );
    assert_eq!(
        after_head("[component.a]\ntype = \"bits\"\nitmes = 3"),
        "5:1: component `a` has wrong parameters: `bits` has no parameter `itmes`; did you mean `items`?"
    );
    assert_eq!(
        after_head("[component.a]\ntype = \"bits\"\nitems = -3"),
        "5:1: component `a` has wrong parameters: `items` can't be -3; give a whole number from 0 to 16777216 items"
    );
    assert_eq!(
        after_head("[component.a]\ntype = \"floats\""),
        "3:12: component `a` has wrong parameters: `floats` needs the parameter `level_db`; give a number from -100 to \
         100 dB"
    );
    assert_eq!(
        after_head(&format!("chain = [\"source\", \"z\"]\n{ENDS}")),
        "3:10: no component is called `source`; add a [component.NAME] for it"
    );
    assert_eq!(
        after_head(&format!("chain = [\"a.otu\", \"z\"]\n{ENDS}")),
        "3:10: `a` has no output `otu`; did you mean `out`?"
    );
    assert_eq!(
        after_head(&format!("chain = [\"z\", \"a\"]\n{ENDS}")),
        "3:10: the link names no output of `z`, which has 0; remove the link: the component has no outputs"
    );
    assert_eq!(
        after_head("[component.\"a b\"]\ntype = \"bits\""),
        "3:12: `a b` is not a valid name; give 1 to 64 letters, digits, `-` or `_`"
    );
}

#[test]
fn every_input_has_one_link() {
    assert_eq!(after_head(ENDS), "5:12: no link leads to input `z.in`; add a [[link]] with to = \"z.in\"");
    assert_eq!(
        after_head(&format!("chain = [[\"a\", \"z\"], [\"a\", \"z\"]]\n{ENDS}")),
        "3:28: two links lead to input `z.in`: from `a.out` and from `a.out`; \
         remove one of the links, or join them with a component"
    );
}

#[test]
fn types_and_rates_must_agree() {
    let floats = "[component.a]\ntype = \"floats\"\nlevel_db = 0\n[component.z]\ntype = \"sink\"\n";
    assert_eq!(
        after_head(&format!("chain = [\"a\", \"z\"]\n{floats}")),
        "3:15: `a.out` sends f32, but `z.in` takes bit; put a `slicer` between them"
    );
    let middle = |table: &str| format!("chain = [\"a\", \"m\", \"z\"]\n{ENDS}[component.m]\n{table}");
    assert_eq!(
        after_head(&middle("type = \"rate\"\nden = 3")),
        "3:15: `m.out` sends 1/3 of the 1000 items a slot that `m.in` gets, which is not a whole number; send `3` or \
         a multiple of it in every slot"
    );
    assert_eq!(
        after_head(&middle("type = \"frames\"\nitems = 999")),
        "3:15: `a.out` sends 1000 items a slot, but `m.in` takes exactly 999; \
         change the producer's packet length, or put a component between them"
    );
    assert_eq!(
        after_head(&format!(
            "chain = [[\"a\", \"half\", \"m.a\"], [\"a\", \"m.b\"], [\"m\", \"z\"]]\n{ENDS}[component.m]\ntype = \"add\"\n[component.half]\ntype = \"rate\"\nden = 2"
        )),
        "3:38: `a.out` sends 1000 items a slot, but `m.b` takes 500 items (as its other input makes it); \
         change the producer's packet length, or put a component between them"
    );
    let grown = "type = \"rate\"\nnum = 1000\n[component.n]\ntype = \"rate\"\nnum = 1000";
    assert_eq!(
        after_head(&format!("chain = [\"a\", \"m\", \"n\", \"z\"]\n{ENDS}[component.m]\n{grown}")),
        "-: packets of `n.out` have 1000000000 items; at most 16777216 are allowed; shorten the slot or the packet"
    );
}

#[test]
fn a_cycle_needs_a_delay_and_a_length_of_its_own() {
    let cycle = |delay: u32, first: &str| {
        format!(
            "chain = [[\"a\", \"m.{first}\"], [\"m\", \"p\"], [\"m\", \"z\"]]\n{ENDS}[component.m]\ntype = \"add\"\n[component.p]\ntype = \"pass\"\n[[link]]\nfrom = \"p\"\nto = \"m.{}\"\ndelay = {delay}\n",
            if first == "a" { "b" } else { "a" }
        )
    };
    assert_eq!(
        after_head(&cycle(0, "a")),
        "14:6: the cycle m -> p -> m has no delay: its components would wait for each other in the same slot; \
         give one of its links delay = 1 (its first packet is then empty)"
    );
    let graph = check(&with_head(&cycle(1, "a"))).expect("legal");
    assert_eq!(graph.links().iter().filter(|link| link.in_cycle).count(), 2);
    assert_eq!(
        after_head(&cycle(1, "b")),
        "-: the packet length on the cycle m -> p -> m depends on itself; put a component with a fixed packet length on the cycle"
    );
}

#[test]
fn an_isolated_component_on_a_cycle_needs_a_slot_of_its_delay() {
    let cycle = |delay: u32| {
        format!(
            "chain = [[\"a\", \"m.a\"], [\"m\", \"p\"], [\"m\", \"z\"]]\n{ENDS}[component.m]\ntype = \"add\"\n[component.p]\ntype = \"pass\"\nisolated = true\n[[link]]\nfrom = \"p\"\nto = \"m.b\"\ndelay = {delay}\n"
        )
    };
    assert_eq!(
        after_head(&cycle(1)),
        "-: the cycle m -> p -> m has 1 slots of delay, but needs 2 with its isolated components; \
         give the cycle a delay of 2 slots, or do not isolate its components"
    );
    let graph = check(&with_head(&cycle(2))).expect("legal");
    let p = graph.find("p").expect("there");
    assert!(graph.components()[p].isolated);
    // Behind p all is there a slot later than where it is not isolated.
    let plan = takt_graph::Plan::single(&graph, takt_graph::Latency::Compact);
    assert_eq!(plan.latency_slots(), plan.depth(p) + 1);
}

#[test]
fn messages_are_links_of_a_slot_or_more_that_no_component_declares() {
    let with = |tail: &str| format!("chain = [\"a\", \"z\"]\n{ENDS}[[message]]\n{tail}");
    assert_eq!(
        after_head(&with("from = \"z\"\nto = \"a\"\ndelay = 0")),
        "11:9: `delay` can't be 0; give a whole number of slots from 1 to 4096"
    );
    assert_eq!(
        after_head(&with("from = \"z\"\nto = \"aa\"")),
        "10:6: no component is called `aa`; add a [component.NAME] for it"
    );
    let graph = check(&with_head(&with("from = \"z\"\nto = \"a\""))).expect("legal");
    let link = graph.links().last().expect("two");
    assert_eq!((graph.links().len(), link.message, link.delay, link.in_cycle), (2, true, 1, true));
    assert_eq!(graph.sinks().count(), 1, "z is a sink still");
    assert!(graph.components().iter().all(|c| c.declared().inputs.len() + c.declared().outputs.len() == 1));
}

#[test]
fn a_packet_that_is_changed_in_place_is_not_repeated() {
    let text = format!(
        "chain = [\"a\", \"p\", \"z\"]\n{}[component.p]\ntype = \"pass\"",
        ENDS.replacen("\"bits\"\n", "\"bits\"\non_miss = \"repeat\"\n", 1)
    );
    assert_eq!(
        after_head(&text),
        "3:15: `a` repeats its last packet when it misses a slot, and `p` changes that packet in place; \
         give `a` another on_miss, or put a `copy` between them"
    );
}

#[test]
fn limits_hold_before_anything_is_built() {
    let long = "#".repeat(takt_graph::limits::FILE_BYTES + 1);
    assert_eq!(refusal(&long), "1:1: 1048577 bytes are too many; at most 1048576 are allowed; give at most 1048576");
    assert_eq!(
        refusal("name = \"w\"\nslot = \"1 ns\"\n[component.a]\ntype = \"bits\""),
        "-: `slot` can't be 1 ns; give a time from 1 us to 1 min"
    );
    let many: String =
        (0..=takt_graph::limits::COMPONENTS).map(|n| format!("[component.c{n}]\ntype = \"bits\"\n")).collect();
    assert_eq!(after_head(&many), "-: 4097 components are too many; at most 4096 are allowed; give at most 4096");
    assert_eq!(
        after_head("component = {}"),
        "-: the waveform has no components; add a [component.NAME] with its `type`"
    );
}
