//! `takt node` where it says no: to strangers, to folders that are none, to files that name what only takt makes. The
//! tests of nodes together are in `alone`.
#![cfg(feature = "cluster")]

mod support;

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use support::cluster::{Cluster, PORT, certificates, stock};
use support::{Ended, Place, TAKT, has, json, refusal, report, text};
use takt_cluster::Folder;
use takt_cluster::certificates::{Grant, issue};
use takt_testing::{loopback, wait_for};

#[test]
fn a_stranger_is_refused_and_the_node_says_so() {
    let cluster = Cluster::start(30);
    let (there, here) = (format!("quic/{}:{PORT}", loopback(30)), format!("quic/{}:{PORT}", loopback(39)));
    assert!(certificates(&cluster.place, "other", "x", &here, &[there]).status.success());
    let listed = cluster.takt(&["node", "list", "--folder", "other/x"]);
    assert_eq!(listed.status.code(), Some(1), "{}", report(&listed));
    has(&text(&listed.stdout), &["No node answers"]);
    wait_for("a word of the refusal", || cluster.log("a").contains("refused   a peer").then_some(()));
}

#[test]
fn a_certificate_of_the_same_authority_for_another_cluster_opens_nothing() {
    let cluster = Cluster::start(34);
    let folder = |name: &str| cluster.place.path("cluster").join(name);
    let own = Folder::read(&folder("a")).expect("a folder");
    issue(&folder(""), "other", &["x".to_owned()], own.settings(), &Grant::default()).expect("a folder");
    // A stock client has no scruples.
    let at = format!("quic/{}:{PORT}", loopback(34));
    let reads = |name: &str| {
        let mut client = stock(&["client", &at, &format!("cluster/{name}"), "takt/lab/node/a/statistics", "1"])?;
        let child = client.current_dir(cluster.place.folder()).stdout(Stdio::piped()).spawn().expect("it starts");
        Some(child)
    };
    let (Some(mut stranger), Some(member)) = (reads("x"), reads("b")) else { return };
    let read = |child: Child| text(&child.wait_with_output().expect("it ends").stdout).lines().count();
    assert_eq!(read(member), 1);
    std::thread::sleep(Duration::from_secs(3));
    stranger.kill().expect("it waits in vain");
    assert_eq!(read(stranger), 0);
    // takt itself says what is wrong.
    let settings = cluster.place.path("cluster/x/cluster.toml");
    let changed = std::fs::read_to_string(&settings).expect("settings").replace("\"other\"", "\"lab\"");
    std::fs::write(&settings, changed).expect("it is ours");
    let listed = refusal(&cluster.takt(&["node", "list", "--folder", "cluster/x"]));
    has(&listed, &["cluster/x/node.pem", "`takt member of other`", "cluster = \"lab\"", "--cluster lab"]);
}

#[test]
fn a_node_that_is_watched_shows_the_nodes_of_its_cluster() {
    let cluster = Cluster::of(2, 44);
    let listed = json(&cluster.takt(&["top", "--json"]));
    let titled = |one: &&Value| one["title"] == "node b of cluster lab" && one["kind"] == "node";
    let pid = listed.as_array().expect("a list").iter().find(titled).expect("it shows itself")["pid"].to_string();
    let nodes = wait_for("both nodes", || {
        let document = json(&cluster.takt(&["top", &pid, "--json"]));
        document["snapshot"]["nodes"].as_array().filter(|nodes| nodes.len() == 2).cloned()
    });
    let shown = |node: &Value| (node["name"].clone(), node["alive"].clone(), node["load"].clone());
    let expected = ["b", "a"].map(|name| (name.into(), true.into(), 0.0.into()));
    assert_eq!(nodes.iter().map(shown).collect::<Vec<_>>(), expected);
}

#[test]
fn a_folder_that_is_none_is_named() {
    let place = Place::with("here", "");
    has(&refusal(&place.takt(&["node", "list", "--folder", "nowhere"])), &["nowhere/ca.pem", "takt node certificates"]);
    let listen = "quic/127.0.0.1:0";
    assert!(certificates(&place, "cluster", "a", listen, &[listen]).status.success());
    has(&refusal(&certificates(&place, "cluster", "a", listen, &[listen])), &["cluster/a exists already"]);
    has(&refusal(&certificates(&place, "cluster", "a b", listen, &[listen])), &["`a b` can't be the name"]);
    std::fs::write(place.path("cluster/a/cluster.toml"), "cluster = 7").expect("it is ours");
    has(
        &refusal(&place.takt(&["node", "--folder", "cluster/a"])),
        &["cluster/a/cluster.toml", "cluster = 7", "listen"],
    );
}

#[test]
fn a_node_offers_the_engines_that_open_and_the_radios_that_are_named() {
    let place = Place::with("here", "");
    let listens = format!("quic/{}:{PORT}", loopback(50));
    let [radio, nobody] = [51, 52].map(|host| loopback(host).to_string());
    assert!(certificates(&place, "cluster", "a", &listens, &[&listens]).status.success());
    let (_radio, _stdout, ready) = Ended::ready(Command::new(TAKT).args(["emulate", "n200", "--addr", &radio]));
    has(&ready, &["ready"]);
    let mut command = place.command(&["node", "--folder", "cluster/a", "--radio", &radio, "--radio", &nobody]);
    command.stdin(Stdio::null()).stderr(std::fs::File::create(place.path("a.log")).expect("a log"));
    let (_node, _more, said) = Ended::ready(&mut command);
    assert_eq!(said.trim(), "ready node a");
    has(&std::fs::read_to_string(place.path("a.log")).expect("a log"), &[&format!("{nobody}: nothing answers")]);

    let list = ["node", "list", "--folder", "cluster/a"];
    let node = wait_for("the node", || {
        let listed = json(&place.takt(&[&list[..], &["--json"]].concat()));
        Some(listed[0].clone()).filter(|node| node["node"] == "a")
    });
    let engines = node["engines"].as_array().expect("a list").iter();
    let opened = engines.filter(|engine| engine["opens"] == true).filter_map(|engine| engine["engine"].as_str());
    assert!(opened.collect::<Vec<_>>().starts_with(&["socket", "mmsg"]), "{node}");
    let [found, silent] = [0, 1].map(|at| &node["radios"][at]);
    assert_eq!(found["addr"], radio);
    assert_eq!(found["software"], true);
    assert_eq!(found["rates_sps"][1], 50e6);
    assert!(found["model"].as_str().is_some_and(|model| model.starts_with("N2")), "{found}");
    assert_eq!(silent["addr"], nobody);
    assert!(silent["model"].is_null() && silent["why"].is_null(), "{silent}");
    let listed = wait_for("the same in words", || {
        Some(text(&place.takt(&list).stdout)).filter(|listed| listed.contains("engines"))
    });
    has(&listed, &["engines", "socket, mmsg", &radio, "(software)", "50 MS/s", &nobody, "does not answer"]);
}

#[test]
fn a_waveform_file_can_t_name_what_only_takt_makes() {
    let file = "name = 'x'\nslot = '1 ms'\n[component.a]\ntype = 'bridge-receive'\nstream = 1\n";
    let place = Place::with("x.toml", file);
    has(&refusal(&place.takt(&["run", "x.toml", "--slots", "1"])), &["bridge-receive"]);
}
