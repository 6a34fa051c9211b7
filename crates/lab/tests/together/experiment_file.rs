//! Files that can't be run are refused whole, with the place and what would be right.

use miette::{GraphicalReportHandler, GraphicalTheme};
use serde_json::json;
use takt_lab::experiment::{Depth, Experiment};

const GOOD: &str = r#"question = "Where does it begin to lose?"

[factors]
mode     = ["rx", "duplex"]
rate_sps = { full = [1e6, 10e6, 25e6], quick = [25e6] }

[fixed]
engine   = "socket"
workload = { kind = "rate", duration = "2s" }

[rounds]
count = { full = 10, quick = 2 }
order = { seed = 1 }
"#;

/// How the program draws the complaint about a file that differs from [`GOOD`] in one place.
fn complaint(good: &str, bad: &str) -> String {
    assert!(GOOD.contains(good), "{good}");
    let text = GOOD.replacen(good, bad, 1);
    let error = Experiment::parse("my-sweep", &text).expect_err("refused");
    let mut drawn = String::new();
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(110);
    handler.render_report(&mut drawn, &error).unwrap();
    // The first line is miette's own margin.
    drawn.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_matches('\n').to_owned()
}

#[test]
fn a_good_file_has_a_point_for_every_combination_and_states_its_defaults() {
    let sweep = Experiment::parse("my-sweep", GOOD).unwrap();
    assert_eq!(sweep.points(Depth::Full).len(), 6);
    let quick = sweep.points(Depth::Quick);
    assert_eq!(quick.len(), 2);
    assert_eq!(quick[1].label(), "my-sweep mode=duplex rate_sps=25M");
    let mut settings = serde_json::to_value(&quick[1].settings).unwrap();
    settings.as_object_mut().unwrap().retain(|name, value| !name.starts_with("path_") || value != "usual");
    let expected = json!({
        "environment": "native", "environment_cpus": "all", "environment_memory": "all", "environment_runtime": "any", "environment_parameters": "none", "path": "direct", "model": "n200", "engine": "socket", "duration": "2s",
        "policy": "other", "disturbance": "none", "cap": "none", "cap_period": "100ms",
        "warm_up": "500ms", "replicate": 1, "mode": "duplex", "rate_sps": 25e6, "format": "sc16",
        "source": "tone", "recv_buffer": "usual", "coalesce": "2ms", "busy_poll": "no", "call_datagrams": 96, "frame_bytes": "usual", "frequency_hz": "usual", "gain_db": "usual", "antenna": "usual", "reference": "internal", "freeze": "none", "hog": "none", "stall": "none", "cpu_quota": "none"
    });
    assert_eq!(settings, expected);
}

#[test]
fn a_single_count_is_that_of_both_depths() {
    let both = Experiment::parse("my-sweep", &GOOD.replace("{ full = 10, quick = 2 }", "4")).unwrap();
    assert_eq!((both.rounds.full, both.rounds.quick), (4, 4));
}

#[test]
fn the_file_of_a_recorded_run_may_have_the_names_of_an_older_version() {
    let swept = GOOD
        .replace("mode     = [\"rx\", \"duplex\"]", "policy = { full = [\"normal\", \"fifo\"], quick = [\"normal\"] }");
    let swept = swept.replace("engine   =", "mode = \"rx\"\nengine   =");
    let levels = Experiment::recorded("my-sweep", &swept).unwrap().parts[0].factors[0].clone();
    assert_eq!((levels.full, levels.quick), (vec![json!("other"), json!("fifo")], vec![json!("other")]));
    let fixed = "question = \"?\"\n[fixed]\nworkload = { kind = \"wakeup\", duration = \"1s\", scheduling = \"rr\", wait = \"spin\" }\n\
                 [rounds]\ncount = 1\norder = { seed = 1 }\n";
    let fixed = Experiment::recorded("beat", fixed).unwrap().parts[0].fixed.clone();
    assert_eq!((&fixed["policy"], &fixed["timer"]), (&json!("rr"), &json!("spin")));
}

#[test]
fn a_slip_in_a_factors_name_is_shown_where_it_is() {
    let drawn = complaint("mode     = ", "mdoe     = ");
    assert_eq!(
        drawn,
        r#"  × unknown factor "mdoe"
   ╭─[my-sweep.toml:4:1]
 3 │ [factors]
 4 │ mdoe     = ["rx", "duplex"]
   · ──┬─
   ·   ╰── did you mean "mode"?
 5 │ rate_sps = { full = [1e6, 10e6, 25e6], quick = [25e6] }
   ╰────
  help: See `takt experiment factors` for all. Nothing was run."#
    );
}

#[test]
fn a_rate_the_radio_does_not_have_is_shown_with_its_neighbours() {
    let drawn = complaint("10e6", "22e6");
    assert_eq!(
        drawn,
        r#"  × rate_sps can't be 22000000.0
   ╭─[my-sweep.toml:5:27]
 4 │ mode     = ["rx", "duplex"]
 5 │ rate_sps = { full = [1e6, 22e6, 25e6], quick = [25e6] }
   ·                           ──┬─
   ·                             ╰── give the nearest rate: of an N200 20e6 (100 MHz / 5), 25e6 (100 MHz / 4); of an X310 20.48e6 (184.32 MHz / 9), 22.222e6 (200 MHz / 9)
 6 │
   ╰────"#
    );
}

/// Each with the place and the two sentences; the drawing is the same for all.
#[test]
fn every_other_mistake_has_its_place_and_its_remedy() {
    for (good, bad, place, what, remedy) in [
        ("question", "qestion", "1:1", "unknown key \"qestion\"", "did you mean \"question\"?"),
        ("[fixed]", "[fixt]", "7:2", "unknown key \"fixt\"", "did you mean \"fixed\"?"),
        ("\"duplex\"", "\"both\"", "4:19", "mode can't be \"both\"", "give one of: rx, tx, duplex"),
        ("\"duplex\"", "\"rx\"", "4:19", "mode has the level \"rx\" twice", "each level once"),
        ("\"socket\"", "\"sokcet\"", "8:12", "engine can't be \"sokcet\"", "did you mean \"socket\"?"),
        ("engine   = \"socket\"", "mode = \"rx\"", "4:1", "mode is both a factor and fixed", "one of the two"),
        (
            "engine   =",
            "payload_bytes =",
            "8:1",
            "a rate workload has no setting payload_bytes",
            "use a setting of a rate workload:",
        ),
        ("\"socket\"", "[\"socket\"]", "8:12", "engine is fixed, but its value is a list", "[factors]"),
        (
            "engine   = \"socket\"",
            "priority = \"fifo\"",
            "8:1",
            "unknown factor \"priority\"",
            "write \"policy\", its present name",
        ),
        (
            "engine   = \"socket\"",
            "policy = \"normal\"",
            "8:10",
            "policy can't be \"normal\"",
            "write \"other\", its present name",
        ),
        ("[25e6]", "[]", "5:48", "rate_sps has no level", "at least one level"),
        ("quick = [25e6]", "brief = [25e6]", "5:12", "rate_sps is a factor, but its value is a table", "quick = [...]"),
        ("[\"rx\", \"duplex\"]", "\"rx\"", "4:12", "mode is a factor, but its value is a single value", "mode = [...]"),
        ("kind = \"rate\"", "kind = \"rat\"", "9:21", "unknown workload \"rat\"", "did you mean \"rate\"?"),
        ("kind = \"rate\", ", "", "9:12", "the workload has no kind", "udp, rate, round-trip"),
        (
            "duration = \"2s\"",
            "duration = \"2 parsec\"",
            "9:40",
            "duration can't be \"2 parsec\"",
            "a time up to an hour",
        ),
        (", duration = \"2s\"", "", "1:1", "a rate workload needs duration", "what of a round is measured"),
        ("quick = 2", "quick = 0", "12:9", "rounds can't be 10 and 0", "give each from 1 to"),
        ("seed = 1", "seed = \"x\"", "13:18", "\"x\" is not allowed here", "a whole number, not negative"),
        ("{ seed = 1 }", "1", "13:9", "1 is not allowed here", "a table such as { seed = 1 }"),
        ("seed = 1", "shuffled_blocks = true", "13:9", "\"seed\" is missing", "add \"seed\" here"),
        (
            "{ full = 10, quick = 2 }",
            "\"ten\"",
            "12:9",
            "\"ten\" is not allowed here",
            "a whole number, or { full = 10",
        ),
        ("{ full = 10, quick = 2 }", "-4", "12:9", "-4 is not allowed here", "a whole number, or { full = 10"),
        ("{ full = 10, quick = 2 }", "[10, 2]", "12:9", "a list is not allowed here", "a whole number, or { full = 10"),
        ("{ full = 10, quick = 2 }", "0", "12:9", "rounds can't be 0 and 0", "give each from 1 to"),
        ("quick = 2", "quick = \"2\"", "12:30", "\"2\" is not allowed here", "a whole number, not negative"),
        ("quick = 2", "qick = 2", "12:22", "unknown key \"qick\"", "did you mean \"quick\"?"),
        ("[factors]\n", "factors = 3\n[other]\n", "3:11", "3 is not allowed here", "a table"),
        ("[factors]\n", "stop = 0.05\n[factors]\n", "3:8", "0.05 is not allowed here", "a table with ascending"),
        (
            "[factors]\n",
            "study = \"aloe\"\n[factors]\n",
            "3:9",
            "\"aloe\" is not allowed here",
            "a table such as { name",
        ),
        ("[factors]\n", "need = [25e6]\n[factors]\n", "3:9", "25000000.0 is not allowed here", "a table: [[need]]"),
        ("[factors]\n", "part = [\"a\"]\n[factors]\n", "3:9", "\"a\" is not allowed here", "a table: [[part]]"),
        ("[rounds]\n", "[rounds]\nvalid = 0.5\n", "12:9", "0.5 is not allowed here", "a table such as { repeats_max"),
        (
            "[rounds]\n",
            "[rounds]\nvalid = { repeats_max = 1.5 }\n",
            "12:25",
            "1.5 is not allowed here",
            "a whole number",
        ),
        ("question = \"Where does it begin to lose?\"", "question = 42", "1:12", "42 is not allowed here", "a text in"),
        ("order =", "oder =", "13:1", "unknown key \"oder\"", "did you mean \"order\"?"),
        ("question = \"Where", "question = Where", "1:12", "", ""),
    ] {
        let text = GOOD.replacen(good, bad, 1);
        let error = Experiment::parse("my-sweep", &text).expect_err(bad);
        assert!(error.to_string().starts_with(what), "{bad}: {error}");
        assert!(error.remedy().contains(remedy), "{bad}: {}", error.remedy());
        assert_eq!(error.place(), format!("my-sweep.toml:{place}"), "{bad}: {error}");
        let drawn = format!("{error} {}", error.remedy());
        assert!(["struct", "enum", "u32", "u64", "f64", "Raw"].iter().all(|word| !drawn.contains(word)), "{drawn}");
    }
}

#[test]
fn a_stop_needs_a_factor_that_grows() {
    let with = |stop: &str| {
        Experiment::parse("my-sweep", &format!("{GOOD}\n[stop]\n{stop}\n")).map(|e| e.parts[0].stop.clone())
    };
    assert!(with("ascending = \"rate_sps\"\nlost_share_above = 0.05").unwrap().is_some());
    assert!(
        with("ascending = \"mode\"\nlost_share_above = 0.05").unwrap_err().remedy().contains("use one of: rate_sps")
    );
    assert!(with("ascending = \"rate_sps\"\nlost_share_above = 1.5").is_err());
    assert!(with("ascending = \"rate_sps\"\nlost_share_above = 0.05\nlevels = 0").is_err());
}

#[test]
fn parts_have_their_own_factors_and_names() {
    let part = |name: &str| {
        format!(
            "[[part]]\nname = \"{name}\"\n[part.factors]\npayload_bytes = [64, 1472]\n[part.fixed]\ndirection = \"to-host\"\nworkload = {{ kind = \"udp\", duration = \"1s\" }}\n"
        )
    };
    let rounds = "question = \"?\"\n[rounds]\ncount = { full = 1, quick = 1 }\norder = { seed = 1 }\n";
    let two = Experiment::parse("two", &format!("{rounds}{}{}", part("a"), part("b"))).unwrap();
    assert_eq!(two.points(Depth::Full).len(), 4);
    let same = Experiment::parse("two", &format!("{rounds}{}{}", part("a"), part("a"))).unwrap_err();
    assert_eq!(same.to_string(), "two parts are called a");
    let mixed = format!("question = \"?\"\n[factors]\nmode = [\"rx\"]\n{}{}", &rounds[15..], part("a"));
    assert!(Experiment::parse("two", &mixed).unwrap_err().to_string().contains("outside the parts"));
}
