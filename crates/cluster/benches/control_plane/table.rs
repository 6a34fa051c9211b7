//! Tables: what was measured, then what it says of more nodes.

use std::time::Duration;

use takt_cluster::cost::{Answers, Fleet, Links as How, PAUSE, beginning, heartbeat_bytes, look};
use takt_stats::{Estimate, mean};

use super::fit::{Constants, over_rounds};
use super::fleet::{Links, Parts};
use super::run::{Record, SLOT_NS};
use super::{FITTED, Raw};

/// Slots a second.
const SLOTS: f64 = 1e9 / SLOT_NS as f64;

/// A mean over rounds with its 95 % interval; of one round the value alone.
fn shown(rounds: &[f64]) -> String {
    match mean(rounds, 0.95) {
        Some(estimate) => interval(&estimate),
        None => rounds.first().map_or_else(|| "-".to_owned(), |one| number(*one)),
    }
}

fn interval(estimate: &Estimate) -> String {
    format!("{} [{}, {}]", number(estimate.point()), number(estimate.low()), number(estimate.high()))
}

fn number(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn row(first: &str, rest: &[String]) {
    println!("| {first} | {} |", rest.join(" | "));
}

/// One thing that was measured: links, nodes, members.
type Point = (Links, usize, usize);

fn points(raw: &Raw) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for record in &raw.records {
        let point = (record.links, record.nodes, record.members);
        if !points.contains(&point) {
            points.push(point);
        }
    }
    points.sort_by_key(|&(links, nodes, members)| (links == Links::Router, nodes, members));
    points
}

pub fn measured(raw: &Raw) {
    let of = |point: Point, value: &dyn Fn(&Record) -> Option<f64>| {
        let here = raw.records.iter().filter(|one| (one.links, one.nodes, one.members) == point);
        shown(&here.filter_map(value).collect::<Vec<f64>>())
    };
    let slot = |point, part: fn(&Parts) -> f64| of(point, &|one| Some(part(&one.node) / SLOTS));
    println!("CPU of a node's control plane; 95 % intervals over rounds; a slot is 10 ms\n");
    println!(
        "| links | nodes | in the run | µs a second | µs a slot | Zenoh | heartbeats | clock | node | workers, bridge |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for point in points(raw) {
        let (links, nodes, members) = point;
        let members = if members == 0 { "waits".to_owned() } else { members.to_string() };
        row(
            name(links),
            &[
                nodes.to_string(),
                members,
                of(point, &|one| Some(one.node.control())),
                slot(point, Parts::control),
                slot(point, |parts| parts.zenoh),
                slot(point, |parts| parts.heartbeats),
                slot(point, |parts| parts.clock),
                slot(point, |parts| parts.node),
                slot(point, |parts| parts.workers + parts.bridge),
            ],
        );
    }
    println!("\nOthers, and what passes over loopback (all members, Ethernet frames; samples left out)\n");
    println!(
        "| links | nodes | in the run | reference, µs a second | not in the run | manager | router | looks a second | begun, s | wire, kB a second | packets a second |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for point in points(raw) {
        let (links, nodes, members) = point;
        row(
            name(links),
            &[
                nodes.to_string(),
                members.to_string(),
                of(point, &|one| one.reference.map(|parts| parts.control())),
                of(point, &|one| one.idle.map(|parts| parts.control())),
                of(point, &|one| one.manager),
                of(point, &|one| one.router),
                of(point, &|one| one.looks),
                of(point, &|one| one.begin),
                of(point, &|one| Some(one.wire.0 / 1e3)),
                of(point, &|one| Some(one.wire.1)),
            ],
        );
    }
}

fn name(links: Links) -> &'static str {
    match links {
        Links::Mesh => "mesh",
        Links::Router => "router",
    }
}

pub fn predicted(raw: &Raw) {
    let rounds = Constants::of(raw);
    constants(&rounds);
    larger(raw, &rounds);
    fleets(&rounds);
    runs(&rounds);
    bends(&rounds);
}

fn constants(rounds: &[Constants]) {
    let of = |value: fn(&Constants) -> f64| over_rounds(rounds, value).map_or("-".to_owned(), |one| interval(&one));
    println!("\nConstants, 95 % over rounds; CPU µs a second\n\n| what | mesh | router |\n| --- | --- | --- |");
    row("a node that waits, by itself", &[of(|one| one.alone), of(|one| one.routed_alone)]);
    row("each link on top", &[of(|one| one.link), "-".to_owned()]);
    row("a node in a run, on top", &[of(|one| one.run), of(|one| one.routed_run)]);
    row("each other member of it, without documents", &[of(|one| one.other), of(|one| one.routed_other)]);
    for members in [4.0, 16.0, 64.0] {
        let documents = over_rounds(rounds, |one| one.documents.ns_per_s(members) / 1e3);
        row(&format!("documents of a run of {members}"), &[documents.map_or("-".to_owned(), |one| interval(&one))]);
    }
    row("the reference, each node that asks it", &[of(|one| one.clock)]);
    row("the manager, by itself; each node of its run", &[of(|one| one.manager.0), of(|one| one.manager.1)]);
    row("a node's memory, KiB: by itself; each link", &[of(|one| one.memory.0), of(|one| one.memory.1)]);
    row("its open files: by itself; each link", &[of(|one| one.files.0), of(|one| one.files.1)]);
    row("its CPU to join, ms: by itself; each link", &[of(|one| one.joining.0 / 1e3), of(|one| one.joining.1 / 1e3)]);
    row(
        "all answer the manager after, ms: by itself; each",
        &[of(|one| one.answers.0 * 1e3), of(|one| one.answers.1 * 1e3)],
    );
    row("all are started after, ms: by itself; each", &[of(|one| one.opening.0 * 1e3), of(|one| one.opening.1 * 1e3)]);
    row("the router, by itself; each link", &[of(|one| one.router.0), of(|one| one.router.1)]);
    row("each heartbeat that it passes on, µs", &[of(|one| one.router.2)]);
    row("a heartbeat on the wire: packets; bytes around the document", &[of(|one| one.packets), of(|one| one.around)]);
    if let Some(one) = rounds.first() {
        println!("\n| a heartbeat that names | bytes | written, µs | read, µs |\n| --- | --- | --- | --- |");
        for (n, (others, ..)) in one.documents.points.iter().enumerate() {
            let us = |of: fn(&(u64, f64, f64)) -> f64| {
                shown(&rounds.iter().map(|one| of(&one.documents.points[n]) / 1e3).collect::<Vec<f64>>())
            };
            row(&others.to_string(), &[heartbeat_bytes(*others).to_string(), us(|one| one.1), us(|one| one.2)]);
        }
    }
}

/// Values of the lines for fleets that they were not laid through, beside what was measured there.
fn larger(raw: &Raw, rounds: &[Constants]) {
    let points: Vec<Point> = points(raw).into_iter().filter(|point| point.1 > FITTED).collect();
    if points.is_empty() {
        return;
    }
    println!(
        "\nPredicted from fleets of {FITTED} and less, and measured: CPU, % of one core; memory of a node, MiB; times, s\n"
    );
    println!("| links | nodes | in the run | what | predicted | measured | measured over predicted |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for point in points {
        let (links, nodes, members) = (point.0, point.1 as f64, point.2 as f64);
        let node = |one: &Constants| match links {
            Links::Mesh => one.mesh(nodes, members),
            Links::Router if members > 0.0 => one.routed(members),
            Links::Router => one.routed_alone,
        };
        let compare = |what: &str, says: &dyn Fn(&Constants) -> f64, seen: &dyn Fn(&Record) -> Option<f64>| {
            compare(raw, rounds, point, what, says, seen);
        };
        compare("a node", &|one| percent(node(one)), &|one| Some(percent(one.node.control())));
        if links == Links::Router {
            compare("the router", &|one| percent(one.router(nodes, point.2)), &|one| one.router.map(percent));
            continue;
        }
        let on = |(fixed, each): (f64, f64), count: f64| fixed + each * count;
        compare("memory", &|one| on(one.memory, nodes - 1.0) / 1024.0, &|one| Some(one.memory? / 1024.0));
        compare("the manager", &|one| percent(on(one.manager, members)), &|one| one.manager.map(percent));
        compare("a look", &|one| PAUSE.as_secs_f64() + on(one.answers, members), &|one| Some(1.0 / one.looks?));
        compare("all are started", &|one| on(one.opening, members), &|one| one.begin);
    }
}

/// One row, of what each round's own lines say and what was measured in it. None where that was not measured.
fn compare(
    raw: &Raw,
    rounds: &[Constants],
    point: Point,
    what: &str,
    says: &dyn Fn(&Constants) -> f64,
    seen: &dyn Fn(&Record) -> Option<f64>,
) {
    let pair = |one: &Record| {
        let lines = rounds.iter().find(|lines| lines.documents.round == one.round)?;
        Some((says(lines), seen(one)?))
    };
    let here = raw.records.iter().filter(|one| (one.links, one.nodes, one.members) == point);
    let pairs: Vec<(f64, f64)> = here.filter_map(pair).collect();
    if pairs.is_empty() {
        return;
    }
    let each = |of: fn(&(f64, f64)) -> f64| shown(&pairs.iter().map(of).collect::<Vec<f64>>());
    let columns = [each(|pair| pair.0), each(|pair| pair.1), each(|pair| pair.1 / pair.0)];
    let (links, nodes, members) = point;
    row(name(links), &[&[nodes.to_string(), members.to_string(), what.to_owned()][..], &columns].concat());
}

/// Percent of one core.
fn percent(us_per_s: f64) -> f64 {
    us_per_s / 1e4
}

fn fleets(rounds: &[Constants]) {
    println!(
        "\nPredicted, a node: % of one core, by links and size of runs; mesh: memory, MiB, open files, CPU to join, s\n"
    );
    println!(
        "| nodes | mesh, waits | mesh, runs of 4 | of 16 | router, waits | runs of 4 | of 16 | memory | files | joining |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for nodes in [10_u64, 100, 1000, 10_000] {
        let links = |members| Fleet { nodes, members, links: How::Mesh }.node().links as f64;
        let of =
            |value: &dyn Fn(&Constants) -> f64| over_rounds(rounds, value).map_or("-".to_owned(), |one| interval(&one));
        let mesh = |members: u64| of(&|one| percent(one.mesh(links(members) + 1.0, members as f64)));
        let routed = |members: f64| of(&|one| percent(one.routed(members)));
        let n = nodes as f64 - 1.0;
        row(
            &nodes.to_string(),
            &[
                mesh(0),
                mesh(4),
                mesh(16),
                of(&|one| percent(one.routed_alone)),
                routed(4.0),
                routed(16.0),
                of(&|one| (one.memory.0 + one.memory.1 * n) / 1024.0),
                of(&|one| one.files.0 + one.files.1 * n),
                of(&|one| (one.joining.0 + one.joining.1 * n) / 1e6),
            ],
        );
    }
}

fn runs(rounds: &[Constants]) {
    println!(
        "\nPredicted, one run: a node, % of one core, by what; Mb/s of heartbeats of a node, counted; the manager's look; to slot 0\n"
    );
    println!(
        "| nodes of the run | all | messages | documents | the reference's clock | Mb/s | look, s | to slot 0, s |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for members in [4_u64, 16, 64, 128, 256, 512, 1024] {
        let of =
            |value: &dyn Fn(&Constants) -> f64| over_rounds(rounds, value).map_or("-".to_owned(), |one| interval(&one));
        let m = members as f64;
        row(
            &members.to_string(),
            &[
                of(&|one| percent(one.mesh(m + 1.0, m))),
                of(&|one| percent(one.other * m)),
                of(&|one| percent(one.documents.ns_per_s(m) / 1e3)),
                of(&|one| percent(one.clock * (m - 1.0))),
                number(megabits(members)),
                of(&|one| look(members, at_once(one.answers)).as_secs_f64()),
                of(&|one| beginning(members, at_once(one.opening)).as_secs_f64()),
            ],
        );
    }
}

/// Heartbeats of a node that leave and come, Mb/s.
fn megabits(members: u64) -> f64 {
    Fleet { nodes: members, members, links: How::Mesh }.node().bytes as f64 * 8.0 / 1e6
}

fn at_once((fixed, each): (f64, f64)) -> Answers {
    let seconds = |time| Duration::try_from_secs_f64(time).unwrap_or_default();
    Answers { fixed: seconds(fixed), each: seconds(each) }
}

/// Sizes at which something comes to an end, or changes its course.
fn bends(rounds: &[Constants]) {
    println!("\nWhere it bends\n\n| what | from |\n| --- | --- |");
    // If the cost of one more does not differ from none, nothing follows from it.
    let seen = |one: Estimate| if one.low() > 0.0 { interval(&one) } else { "not seen".to_owned() };
    let of = |value: &dyn Fn(&Constants) -> f64| over_rounds(rounds, value).map_or("-".to_owned(), seen);
    let sessions = zenoh::Config::default().get_json("transport/unicast/max_sessions").unwrap_or_default();
    row("links of a node or router that Zenoh keeps by default", &[sessions]);
    row("nodes of a mesh that 1024 open files suffice for", &[of(&|one| (1024.0 - one.files.0) / one.files.1 + 1.0)]);
    row("nodes of a mesh whose links take 10 % of a core of each", &[of(&|one| (1e5 - one.alone) / one.link + 1.0)]);
    row(
        "nodes of a run whose look lasts twice its pause",
        &[of(&|one| (PAUSE.as_secs_f64() - one.answers.0) / one.answers.1)],
    );
    row("nodes of a run whose manager takes a core", &[of(&|one| (1e6 - one.manager.0) / one.manager.1)]);
    // For a node: ten heartbeats a second from it to each other member, and a share of ten from the manager.
    let passed = |members: f64| 10.0 * members * (members + 1.0) / members;
    for members in [4.0, 16.0] {
        let nodes = |one: &Constants| {
            let (alone, link, heartbeat) = one.router;
            (1e6 - alone) / (link + heartbeat * passed(members))
        };
        row(&format!("nodes, in runs of {members}, that take a core of the router"), &[of(&nodes)]);
    }
    let first = |full: &dyn Fn(u64) -> bool| {
        (2..=1024).find(|&members| full(members)).map_or("-".to_owned(), |n| n.to_string())
    };
    row("nodes of a run whose heartbeats are 100 Mb/s at each", &[first(&|members| megabits(members) >= 100.0)]);
    let core = |one: &Constants| {
        (2..=1024).find(|&m| one.mesh(f64::from(m) + 1.0, f64::from(m)) >= 1e5).map_or(f64::NAN, f64::from)
    };
    row("nodes of a run that takes 10 % of a core of each", &[of(&core)]);
}
