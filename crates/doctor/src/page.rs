//! The rules as a page: `docs/reference/doctor.md` and `takt doctor --explain`.

use std::fmt::Write as _;

use super::rule::{Fix, Proof, Rule, Topic};
use super::rules::RULES;

#[must_use]
pub fn page() -> String {
    let mut text = format!(
        "# The rules of `takt doctor`\n\n\
         This page lists the {} rules that `takt doctor` checks.\n\n\
         - `takt doctor` examines the host and changes nothing.\n\
         - `--fix` makes *safe* changes. It makes *consent* changes if you name the rule or agree. It only shows *advice*.\n\
         - `--undo` restores the old values from the journal.\n\
         - `--prove` measures with a change and without it, in alternation.\n\n\
         No change outlives a reboot. takt generates this page from `crates/doctor/src/rules`, and a test keeps it in step \
         (`TAKT_BLESS=1 cargo test -p takt-doctor` rewrites it).\n",
        RULES.len()
    );
    let mut topic = None;
    for rule in RULES.iter() {
        if topic != Some(rule.topic) {
            topic = Some(rule.topic);
            let _ = write!(text, "\n## {}\n", rule.topic.title());
            if rule.topic == Topic::Notes {
                text.push_str(
                    "\nA note is never a problem for takt. It affects other programs, or radios that want answers in \
                     less than a millisecond.\n",
                );
            }
        }
        let _ = write!(text, "\n### {}\n\n{}", rule.id, body(rule));
    }
    text
}

/// One rule, for `--explain`: the same words as on the page.
#[must_use]
pub fn explain(rule: &Rule) -> String {
    format!("{}\n\n{}", rule.id, body(rule))
}

fn body(rule: &Rule) -> String {
    let mut text = format!("**{}.** {}\n\n", rule.title, rule.mechanism);
    let mut row = |label: &str, content: &str| {
        let _ = writeln!(text, "- *{label}*: {content}");
    };
    row("looks at", rule.looks_at);
    let measured = if rule.here.is_some() { " takt also measures it on this host." } else { "" };
    if !rule.known.is_empty() {
        row("costs", &format!("{}{measured}", rule.known));
    }
    match &rule.fix {
        Fix::Safe(_) => row("fix", &format!("`takt doctor --fix --only {}` (safe: no side effects).", rule.id)),
        Fix::Consent { affects, .. } => {
            row("fix", &format!("`takt doctor --fix --only {}` (consent).", rule.id));
            row("affects", affects);
        }
        Fix::Advice(_) => row("fix", "advice: `takt doctor` says what to do and changes nothing."),
    }
    if !matches!(rule.fix, Fix::Advice(_)) {
        row("undo", &format!("`takt doctor --undo --only {}`.", rule.id));
    }
    match rule.proof {
        Proof::By(measure) => row("prove", &format!("`takt doctor --prove {}`: {}.", rule.id, measure.what())),
        Proof::Not(_) if matches!(rule.fix, Fix::Advice(_)) => {}
        Proof::Not(why) => row("prove", &format!("not possible: {why}.")),
    }
    row("applies to", &rule.kernels.to_string());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_page_is_in_step_with_the_rules() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/doctor.md");
        if std::env::var_os("TAKT_BLESS").is_some() {
            std::fs::write(path, page()).unwrap();
        }
        let on_disk = std::fs::read_to_string(path).unwrap();
        assert!(on_disk == page(), "docs/reference/doctor.md is out of step; TAKT_BLESS=1 rewrites it");
    }

    #[test]
    fn the_rules_of_a_topic_are_adjacent() {
        let mut topics: Vec<_> = RULES.iter().map(|rule| rule.topic).collect();
        topics.dedup();
        let mut sorted = topics.clone();
        sorted.sort();
        assert_eq!(topics, sorted);
    }

    #[test]
    fn explaining_a_rule_says_what_the_page_says() {
        for rule in RULES.iter() {
            let (_, body) = explain(rule).split_once("\n\n").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
            assert!(page().contains(&body), "{}", rule.id);
        }
    }
}
