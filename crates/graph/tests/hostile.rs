//! Whatever a file says, reading and checking it ends with a value or an error.

mod common;

use common::types;
use proptest::prelude::*;
use takt_graph::{Graph, Latency, Plan, Waveform};

fn all_the_way(text: &str) -> bool {
    let Ok(waveform) = Waveform::parse("hostile.toml", text) else { return false };
    match Graph::check(&waveform, &types()) {
        Ok(graph) => Plan::single(&graph, Latency::Fixed).latency_slots() < u32::MAX,
        Err(error) => {
            assert!(!error.fix().is_empty(), "{error}");
            false
        }
    }
}

/// Pieces from which files grow that are nearly right.
const PIECES: [&str; 28] = [
    "name = \"w\"\n",
    "slot = \"1 ms\"\n",
    "slot = \"\"\n",
    "chain = [\"a\", \"b\", \"z\"]\n",
    "chain = [[\"a\", \"z\"]]\n",
    "chain = [1, []]\n",
    "[component.a]\ntype = \"bits\"\n",
    "[component.b]\ntype = \"rate\"\n",
    "[component.c]\ntype = \"add\"\n",
    "[component.z]\ntype = \"sink\"\n",
    "items = 16777216\n",
    "items = 1e400\n",
    "items = 0xffffffffffffffffff\n",
    "num = 1000\n",
    "den = 7\n",
    "[[link]]\nfrom = \"a\"\nto = \"b\"\n",
    "[[link]]\nfrom = \"b.out\"\nto = \"c.a\"\n",
    "[[link]]\nfrom = \"c\"\nto = \"c.b\"\ndelay = 1\n",
    "delay = 4096\n",
    "[[link]]\nfrom = \"...\"\nto = \"\\u0000\"\n",
    "on_miss = \"repeat\"\n",
    "budget = \"1 ns\"\n",
    "= é",
    "[component]\n",
    "\"",
    "[[component.a]]\n",
    "x.y.z = {}\n",
    "type = 1979-05-27\n",
];

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".{0,400}") {
        all_the_way(&text);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        all_the_way(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn nearly_right_files_are_read_or_refused(pieces in prop::collection::vec(0..PIECES.len(), 0..16)) {
        all_the_way(&pieces.into_iter().map(|piece| PIECES[piece]).collect::<String>());
    }

    #[test]
    fn a_good_file_cut_or_bent_anywhere_is_read_or_refused(at in 0..200_usize, with in any::<char>()) {
        let good = "name = \"w\"\nslot = \"1 ms\"\nchain = [\"a\", \"z\"]\n[component.a]\ntype = \"bits\"\nitems = 12\n[component.z]\ntype = \"sink\"\n";
        prop_assert!(all_the_way(good));
        let mut text: Vec<char> = good.chars().collect();
        let at = at % text.len();
        text[at] = with;
        all_the_way(&text.iter().collect::<String>());
        all_the_way(&text[..at].iter().collect::<String>());
    }
}

#[test]
fn deep_nesting_and_long_chains_use_up_no_stack() {
    all_the_way(&format!("name = {}", "[".repeat(100_000)));
    all_the_way(&format!("{}x = 1", "[a.".repeat(50_000)));
    let mut text = "name = \"w\"\nslot = \"1 ms\"\n[component.c0]\ntype = \"bits\"\n".to_owned();
    for n in 1..4096 {
        text += &format!("[component.c{n}]\ntype = \"pass\"\n[[link]]\nfrom = \"c{}\"\nto = \"c{n}\"\n", n - 1);
    }
    assert!(all_the_way(&text));
}
