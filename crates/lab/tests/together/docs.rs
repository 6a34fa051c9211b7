//! The reference page says what the program does.

use takt_lab::experiment::settings::{Takes, all, kinds};
use takt_lab::experiment::{Depth, Experiment, Valid};
use takt_load::WorkloadKind;

const PAGE: &str = include_str!("../../../../docs/reference/experiments.md");

#[test]
fn every_setting_is_on_the_page_with_its_default_and_its_words() {
    for setting in all() {
        let workloads: Vec<&str> = kinds(setting).map(WorkloadKind::name).collect();
        let default = setting.default.map_or("must be set".to_owned(), |default| format!("`{default}`"));
        let (name, default) = (format!("| `{}` |", setting.name), format!("| {default} |"));
        let is_it = |line: &&str| {
            let known = line.rsplit("| ").next().unwrap_or_default().trim_end_matches(" |");
            let alike = |row: &str| {
                row.split(", ").all(|one| workloads.contains(&one)) && workloads.len() == row.split(", ").count()
            };
            let known = known.starts_with("all") || alike(known);
            line.starts_with(&name) && line.contains(&default) && known
        };
        let row = PAGE.lines().find(is_it);
        let row = row.unwrap_or_else(|| panic!("not on the page: {name} {default} {}", workloads.join(", ")));
        if let Takes::Word(words) = setting.takes {
            assert!(words.iter().all(|word| row.contains(&format!("`{word}`"))), "{row}");
        }
    }
}

#[test]
fn the_example_on_the_page_can_be_run() {
    let start = PAGE.find("```toml\n").unwrap() + 8;
    let end = start + PAGE[start..].find("```").unwrap();
    let example = Experiment::parse("example", &PAGE[start..end]).unwrap();
    assert_eq!((example.points(Depth::Full).len(), example.points(Depth::Quick).len()), (8, 4));
}

#[test]
fn the_defaults_of_valid_are_those_on_the_page() {
    let Valid {
        foreign_cpu_share_max,
        steal_share_max,
        excluded_share_max,
        repeats_max,
        repeats_share_max,
        repeats_needed_max,
    } = Valid::default();
    for (key, value) in [
        ("foreign_cpu_share_max", foreign_cpu_share_max.to_string()),
        ("steal_share_max", steal_share_max.to_string()),
        ("excluded_share_max", excluded_share_max.to_string()),
        ("repeats_max", repeats_max.to_string()),
        ("repeats_share_max", repeats_share_max.to_string()),
        ("repeats_needed_max", repeats_needed_max.to_string()),
    ] {
        assert!(PAGE.contains(&format!("| `{key}` | {value} |")), "{key} {value}");
    }
}
