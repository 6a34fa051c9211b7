//! Figures: golden structure of a small one in every back end, and what holds for all figures whatsoever.

#[path = "../../../tests/support/golden.rs"]
mod golden;

use proptest::prelude::*;
use takt_page::*;

fn point(x: f64, y: f64, half_width: f64, record: u32) -> Point {
    let round = |i: u32, y: f64| Dot { y, counts: i != 2, record: Some(format!("round-{}", record + i)) };
    Point {
        x,
        y: Some(Reading::with_interval(y, y - half_width, y + half_width, 0.95, 3)),
        rounds: vec![round(0, y - half_width / 3.0), round(1, y + half_width / 3.0), round(2, y * 1.5)],
    }
}

fn small() -> Figure {
    let line = |name: &str, slot, points| Series { name: name.into(), look: Look::Line, slot, points };
    Figure {
        id: "small".into(),
        finding: "Receive <loses> nothing, transmit 2 % [1, 3]".into(),
        how_to_read: "Means over rounds with 95 % intervals.".into(),
        x: Axis::linear("rate", Unit::SAMPLES_PER_S),
        y: Axis::log_and_zero("share of samples lost", Unit::SHARE),
        series: vec![
            line("receive", 0, vec![point(5e6, 0.0, 0.0, 1), point(10e6, 0.0, 0.0, 4)]),
            line("transmit, \"loud\"", 1, vec![point(5e6, 0.002, 0.001, 7), point(10e6, 0.02, 0.01, 10)]),
        ],
        others: vec![line("paper", 2, vec![Point { x: 10e6, y: Some(Reading::alone(0.3)), rounds: Vec::new() }])],
        references: vec![Reference::Vertical { x: 8e6, label: "the wire's limit".into() }],
        source: Source { run: "a-run".into(), query: "lost over due".into() },
    }
}

/// Content of an SVG, without places: classes and texts in order, like neighbours counted.
fn outline(svg: &str) -> String {
    let mut lines: Vec<(String, usize)> = Vec::new();
    for piece in svg.split('<').skip(1).filter(|p| !p.starts_with('/')) {
        let (tag, text) = piece.split_once('>').expect("a tag that ends");
        let class = tag.split_once("class=\"").map_or("", |(_, c)| c.split('"').next().unwrap_or_default());
        let href = tag.split_once("href=\"").map_or("", |(_, c)| c.split('"').next().unwrap_or_default());
        let name = tag.split([' ', '/']).next().unwrap_or_default();
        let text = if name == "style" { "" } else { text };
        let line = [name, class, href, text].iter().filter(|s| !s.is_empty()).copied().collect::<Vec<_>>().join(" ");
        match lines.last_mut().filter(|(last, _)| *last == line) {
            Some((_, n)) => *n += 1,
            None => lines.push((line, 1)),
        }
    }
    lines.into_iter().map(|(line, n)| if n > 1 { format!("{line}   x {n}\n") } else { format!("{line}\n") }).collect()
}

#[test]
fn a_small_figure_in_every_back_end() {
    let figure = small();
    golden::check("small-figure.svg-outline", &outline(&figure.to_svg()));
    golden::check("small-figure.csv", &figure.to_csv().replace("\r\n", "\n"));
    golden::check("small-figure.json", &(serde_json::to_string_pretty(&figure).unwrap() + "\n"));
    golden::check("small-figure.txt", &figure.to_text(&TextStyle { width: 72, ..TextStyle::default() }));
}

#[test]
fn a_figure_file_stands_alone() {
    let svg = small().to_svg();
    assert!(svg.starts_with("<svg class=\"figure\" xmlns=\"http://www.w3.org/2000/svg\" viewBox="), "{}", &svg[..100]);
    assert!(svg.contains("--c0:") && svg.contains("prefers-color-scheme:dark"), "brings its colours");
    assert_eq!(svg.matches("http").count(), 1, "refers to nothing but its own vocabulary");
}

#[test] // most results are zero losses: they must be visible, at their own place, not dropped from a log axis
fn zero_has_a_place_on_a_log_axis() {
    let svg = small().to_svg();
    assert_eq!(svg.matches("receive, 5\u{a0}MS/s: 0\u{a0}%").count(), 1);
    assert_eq!(svg.matches("class=\"mark\"").count(), 5, "four points of ours, one of the paper's");
    assert_eq!(svg.matches("class=\"break\"").count(), 1);
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>(),
        -1e3..1e3_f64,
        0.0..1.0_f64,
        Just(0.0),
        Just(1.0),
        Just(1e-300),
        Just(f64::NAN),
        Just(f64::INFINITY)
    ]
}

fn series() -> impl Strategy<Value = Series> {
    let point = (
        value(),
        proptest::option::of((value(), value(), value())),
        prop::collection::vec((value(), any::<bool>()), 0..4),
    );
    let point = point.prop_map(|(x, y, rounds)| Point {
        x,
        y: y.map(|(p, l, h)| Reading::with_interval(p, l, h, 0.95, 3)),
        rounds: rounds.into_iter().map(|(y, counts)| Dot { y, counts, record: counts.then(|| "a b".into()) }).collect(),
    });
    let look = prop_oneof![Just(Look::Line), Just(Look::Step), Just(Look::Points)];
    let points = prop::collection::vec(point, 0..6);
    (".*", look, 0..9_usize, points).prop_map(|(name, look, slot, points)| Series { name, look, slot, points })
}

fn axis() -> impl Strategy<Value = Axis> {
    let scale = prop_oneof![Just(Scale::Linear), Just(Scale::Log), Just(Scale::LogAndZero), Just(Scale::Nines)];
    let unit = prop_oneof![Just(Unit::SAMPLES_PER_S), Just(Unit::SHARE), Just(Unit::BYTES), Just(Unit::SECONDS)];
    let reason = proptest::option::of(".*");
    (".*", unit, scale, prop::collection::vec(value(), 0..3), reason)
        .prop_map(|(label, unit, scale, ticks, not_from_zero)| Axis { label, unit, scale, ticks, not_from_zero })
}

fn reference() -> impl Strategy<Value = Reference> {
    prop_oneof![
        (value(), ".*").prop_map(|(y, label)| Reference::Horizontal { y, label }),
        (value(), ".*").prop_map(|(x, label)| Reference::Vertical { x, label }),
        (value(), ".*").prop_map(|(slope, label)| Reference::Proportional { slope, label }),
    ]
}

fn figure() -> impl Strategy<Value = Figure> {
    let parts = (
        prop::collection::vec(series(), 0..5),
        prop::collection::vec(series(), 0..2),
        prop::collection::vec(reference(), 0..3),
    );
    (".*", ".*", axis(), axis(), parts).prop_map(|(id, finding, x, y, (series, others, references))| Figure {
        id,
        finding,
        x,
        y,
        series,
        others,
        references,
        ..Figure::default()
    })
}

/// Every number in attributes that place something.
fn coordinates(svg: &str) -> Vec<f64> {
    let mut found = Vec::new();
    for attribute in [" d=\"", " x=\"", " y=\"", " cx=\"", " cy=\""] {
        for piece in svg.split(attribute).skip(1) {
            let value = piece.split('"').next().unwrap_or_default();
            let numbers = value.split(|c: char| c.is_ascii_alphabetic() || c == ' ').filter(|n| !n.is_empty());
            found.extend(numbers.map(|n| n.parse::<f64>().unwrap_or(f64::NAN)));
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn all_ink_lies_on_the_paper(figure in figure()) {
        let svg = figure.to_svg();
        let drawn = svg.split_once("</style>").expect("a style").1;
        for number in coordinates(drawn) {
            prop_assert!((-60.0..=660.0).contains(&number), "{number} in {drawn}");
        }
    }

    #[test]
    fn every_csv_line_has_the_same_fields(figure in figure()) {
        let csv = figure.to_csv();
        for line in split_records(&csv) {
            prop_assert_eq!(line, 10);
        }
    }

    #[test]
    fn a_terminal_gets_printable_lines_that_fit(figure in figure(), width in 40..160_usize) {
        let text = figure.to_text(&TextStyle { width, ..TextStyle::default() });
        prop_assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
        prop_assert!(text.lines().all(|l| l.chars().count() <= width), "{width}\n{text}");
    }

    #[test]
    fn a_figure_is_always_one_json_value(figure in figure()) {
        let json = serde_json::to_string(&figure).expect("serialises");
        prop_assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok());
    }
}

/// Number of fields of each record, read as RFC 4180 says.
fn split_records(csv: &str) -> Vec<usize> {
    let (mut counts, mut fields, mut quoted) = (Vec::new(), 1, false);
    for c in csv.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields += 1,
            '\n' if !quoted => {
                counts.push(fields);
                fields = 1;
            }
            _ => {}
        }
    }
    counts
}
