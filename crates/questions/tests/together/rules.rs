//! The rules fixed before a study's data are seen have a number, and change with it alone.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use takt_lab::experiment::{Experiment, named};
use toml::Value;

/// Each file of a study with its paper's facts, the number of its rules, and the digest of all that they fix.
///
/// A digest that is another one means: something that is measured, set aside or judged by has changed. Then the file's `number`
/// rises, `since` and `changed` say what became of the old count, and the new pair stands here. A pair is never mended.
const FIXED: [(&str, &str, u32, u64); 7] = [
    ("aloe", include_str!("../../../../experiments/papers/aloe.toml"), 6, 0x1332_0c21_3a5c_2b55),
    ("virtual-sdr/link", include_str!("../../../../experiments/papers/virtual-sdr.toml"), 2, 0x4ca9_dde1_5f35_01e3),
    ("virtual-sdr/radio", include_str!("../../../../experiments/papers/virtual-sdr.toml"), 2, 0x4092_d752_9197_9931),
    ("routers", include_str!("../../../../experiments/papers/routers.toml"), 3, 0xc5c4_e9b6_d23a_bc8c),
    ("linux-rt", include_str!("../../../../experiments/papers/linux-rt.toml"), 6, 0xc8c9_9598_e21a_5e96),
    ("uhd-dpdk", include_str!("../../../../experiments/papers/uhd-dpdk.toml"), 8, 0x101f_4c82_fd3b_a2c3),
    (
        "virtual-sdr/share",
        include_str!("../../../../experiments/papers/virtual-sdr-share.toml"),
        1,
        0xb370_e6f8_47c3_6e88,
    ),
];

fn table(text: &str) -> Value {
    Value::Table(text.parse().expect("TOML"))
}

/// A key that was renamed changes no rule: it enters the digest by its first name.
fn digested(key: &str) -> &str {
    if key == "replicate" { "twin" } else { key }
}

/// Every value below, with the way to it; the order of keys is no matter, and neither are comments.
fn lines(way: &str, value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::Table(table) => {
            table.iter().for_each(|(key, value)| lines(&format!("{way}.{}", digested(key)), value, into));
        }
        Value::Array(array) => {
            (0_u32..).zip(array).for_each(|(n, value)| lines(&format!("{way}.{n}"), value, into));
        }
        plain => {
            into.insert(format!("{way} = {plain}"));
        }
    }
}

/// Rounds, parts and rules of the file, the numbers that claims are judged by, their parts, and which can't come out otherwise. FNV-1a,
/// 64 bits.
fn digest(file: &Value, paper: &Value) -> u64 {
    let mut fixed = BTreeSet::new();
    lines("rounds", &file["rounds"], &mut fixed);
    lines("part", &file["part"], &mut fixed);
    for name in ["set_aside", "estimator", "limits"] {
        file["study"]["rules"].get(name).into_iter().for_each(|value| lines(name, value, &mut fixed));
    }
    paper.get("numbers").into_iter().for_each(|numbers| lines("numbers", numbers, &mut fixed));
    for claim in paper["claim"].as_array().expect("claims") {
        let made = claim.get("by_construction").is_some();
        fixed.insert(format!("claim {}, by construction: {made}", claim["number"]));
        claim
            .get("parts")
            .into_iter()
            .for_each(|parts| lines(&format!("claim {}", claim["number"]), parts, &mut fixed));
    }
    let bytes = fixed.iter().flat_map(|line| line.bytes().chain([b'\n']));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn what_a_study_fixes_changes_only_with_the_number_of_its_rules() {
    let mut changed = String::new();
    for (name, paper, number, fixed) in FIXED {
        let text = named(name).expect("in the library");
        let rules = Experiment::parse(name, &text).expect("a file").study.and_then(|study| study.rules);
        let (rules, now) = (rules.expect("rules"), digest(&table(&text), &table(paper)));
        if (rules.number, now) != (number, fixed) {
            let _ = writeln!(changed, "{name}: rules {number}, {fixed:#018x}; now rules {}, {now:#018x}", rules.number);
        }
    }
    assert!(
        changed.is_empty(),
        "give the rules a new number, and say in `changed` what became of the old count:\n{changed}"
    );
}

#[test]
fn each_study_says_what_is_set_aside_and_how_it_estimates() {
    let of = |name: &str| {
        let file = Experiment::parse(name, &named(name).expect("in the library")).expect("a file");
        file.study.and_then(|study| study.rules).expect("rules")
    };
    for (name, ..) in FIXED {
        let (rules, said) = (of(name), of(name).in_words());
        assert!(!rules.set_aside.is_empty() && said.contains(&rules.set_aside), "{name}");
        assert!(!rules.estimator.is_empty() && said.contains(&rules.estimator), "{name}");
    }
    assert_eq!(of("virtual-sdr/link"), of("virtual-sdr/radio"), "files of one study");
}

#[test]
fn the_digest_sees_a_change_of_rounds_parts_limits_and_numbers_and_no_comment() {
    let (text, paper) = (named("linux-rt").expect("in the library"), FIXED[4].1);
    let of = |text: &str, paper: &str| digest(&table(text), &table(paper));
    let before = of(&text, paper);
    let changes = [
        ("full = 10,", "full = 11,"),
        ("\"190s\"", "\"191s\""),
        ("\"200us\"", "\"201us\""),
        ("Clopper-Pearson, one", "Clopper-Pearson, two"),
    ];
    for (from, to) in changes {
        assert!(text.contains(from), "{from}");
        assert_ne!(of(&text.replacen(from, to, 1), paper), before, "{from}");
    }
    assert_ne!(of(&text, &paper.replacen("0.01 ", "0.02 ", 1)), before);
    assert_eq!(of(&format!("# a comment\n{text}"), paper), before);
}
