//! `takt doctor` as a person runs it: what it says, what it asks, what it changes. On a host made of files, and as an ordinary
//! user.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use takt_doctor::{RULES, explain};

use crate::program::{TAKT, doctor, json, text};
use crate::support::{has, refusal, takt};

const RMEM: &str = "proc/sys/net/core/rmem_max";
const GOVERNOR: &str = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";

struct Host(tempfile::TempDir);

impl Drop for Host {
    fn drop(&mut self) {
        chattr(&["-R", "-i"], self.0.path());
    }
}

/// Makes a folder immutable, or all below it not; says whether that could be done.
fn chattr(flags: &[&str], folder: &Path) -> bool {
    Command::new("chattr").args(flags).arg(folder).output().is_ok_and(|done| done.status.success())
}

impl Host {
    /// Its buffers are small and its governor saves power.
    fn new() -> Host {
        let host = Host(tempfile::tempdir().expect("a folder"));
        host.put("proc/sys/kernel/osrelease", "6.12.0\n");
        host.put("proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n");
        host.put(RMEM, "212992\n");
        host.put("proc/sys/net/core/wmem_max", "212992\n");
        host.put("sys/devices/system/cpu/online", "0\n");
        host.put(GOVERNOR, "powersave\n");
        host.put("sys/devices/system/cpu/cpu0/cpufreq/scaling_available_governors", "performance powersave\n");
        host
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    fn put(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().expect("below the root")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    fn get(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).expect("a file").trim().to_owned()
    }

    /// Makes every write of a setting fail: what a host of files writes first is a file beside it. `false`, on record, where a
    /// folder can't be made so that even root can't write in it.
    fn refuse(&self, file: &str) -> bool {
        let path = self.path(file);
        let folder = path.parent().expect("below the root");
        if chattr(&["+i"], folder) {
            return true;
        }
        fs::set_permissions(folder, fs::Permissions::from_mode(0o555)).expect("ours");
        let refused = fs::write(folder.join("try"), "").is_err();
        if !refused {
            takt_testing::skip("a folder in which root may not write   (chattr +i, on ext4, XFS or Btrfs)");
        }
        refused
    }

    fn doctor(&self, more: &[&str]) -> Output {
        self.of(self.0.path(), more)
    }

    /// Runs it on the host in another folder, with the journal of this one.
    fn of(&self, root: &Path, more: &[&str]) -> Output {
        doctor(&self.path("state"), more).arg("--root").arg(root).output().expect("takt")
    }
}

/// How the program is called, which lies in no folder of PATH.
fn own_path() -> String {
    fs::canonicalize(TAKT).expect("it is there").display().to_string()
}

#[test]
fn what_stands_is_reported_in_full_and_the_last_line_is_the_answer() {
    let host = Host::new();
    let out = host.doctor(&["--only", "socket-buffer-small", "--only", "swap"]);
    assert_eq!(out.status.code(), Some(1));
    let takt = if rustix::process::geteuid().is_root() { own_path() } else { format!("sudo {}", own_path()) };
    assert_eq!(
        text(&out.stdout),
        format!(
            "\
problem  socket-buffer-small  net.core.rmem_max 212992 B, net.core.wmem_max 212992 B
         wanted  net.core.rmem_max >= 50000000 B, net.core.wmem_max >= 1048576 B
         why     A radio does not wait. Datagrams that arrive while their reader is delayed stay in the socket's buffer, \
and the kernel drops those that do not fit.
         costs   A reader that is delayed for longer than the buffer lasts loses samples. At 25 MS/s sc16, the default \
limit of 212 992 bytes lasts 2.7 ms, 4 MiB last 53 ms and 50 MB last 0.6 s.
         fix     {takt} doctor --fix --only socket-buffer-small
         or      sudo sysctl -w net.core.rmem_max=50000000
         or      sudo sysctl -w net.core.wmem_max=1048576
         prove   {takt} doctor --prove socket-buffer-small
hidden   swap                 takt can't read /proc/meminfo: No such file or directory (os error 2)
No: 1 of 2 rules found a problem: socket-buffer-small; 1 could not decide.
"
        )
    );
}

#[test]
fn fixing_and_giving_back_leaves_every_setting_as_it_was() {
    let host = Host::new();
    let rules = ["--only", "socket-buffer-small", "--only", "governor"];
    let out = host.doctor(&[&["--fix", "--yes", "--json"], &rules[..]].concat());
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert_eq!(json(&out)["made"].as_array().map(Vec::len), Some(3));
    assert_eq!((host.get(RMEM).as_str(), host.get(GOVERNOR).as_str()), ("50000000", "performance"));

    let seen = json(&host.doctor(&[&["--json"], &rules[..]].concat()));
    assert_eq!(
        (seen["problems"].as_array().map(Vec::len), seen["changed"].as_array().map(Vec::len)),
        (Some(0), Some(3))
    );

    let out = host.doctor(&["--undo", "--only", "governor"]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert_eq!((host.get(RMEM).as_str(), host.get(GOVERNOR).as_str()), ("50000000", "powersave"));
    let out = host.doctor(&["--undo"]);
    assert_eq!(text(&out.stdout).lines().last(), Some("Yes: every setting is as it was."));
    assert_eq!((host.get(RMEM).as_str(), host.get("proc/sys/net/core/wmem_max").as_str()), ("212992", "212992"));
    let out = host.doctor(&["--undo"]);
    assert_eq!((out.status.code(), text(&out.stdout).as_str()), (Some(0), "Yes: there is nothing to undo.\n"));
}

#[test]
fn a_slip_is_not_taken_for_a_host_without_faults() {
    let host = Host::new();
    let empty = tempfile::tempdir().expect("a folder");
    has(&refusal(&host.of(empty.path(), &[])), &["is not a copy of a host"]);

    host.put("sys/class/net/eth0/mtu", "1500\n");
    has(&refusal(&host.doctor(&["--interface", "eth7"])), &["no interface eth7", "one of eth0"]);

    let out = host.doctor(&["--only", "swap", "--only", "numa"]);
    assert_eq!(out.status.code(), Some(2));
    assert_eq!(text(&out.stdout).lines().last(), Some("Not known: none of 2 rules could decide."));
}

#[test]
fn what_others_pay_for_is_changed_only_when_named() {
    let host = Host::new();
    let out = host.doctor(&["--fix", "--yes", "--json"]);
    let fixed = json(&out);
    assert_eq!((host.get(RMEM).as_str(), host.get(GOVERNOR).as_str()), ("50000000", "powersave"));
    let left =
        fixed["left"].as_array().expect("a list").iter().find(|left| left["rule"] == "governor").expect("it is left");
    assert!(left["why"].as_str().is_some_and(|why| why.contains("--only governor")), "{left}");
    assert_eq!(out.status.code(), Some(1), "it is still a problem");
}

#[test]
fn nothing_is_changed_without_an_answer() {
    let host = Host::new();
    has(&refusal(&host.doctor(&["--fix"])), &["nobody can answer here", "--yes"]);
    assert_eq!(host.get(RMEM), "212992");
}

#[test]
fn what_a_person_changed_since_is_left_to_him() {
    let host = Host::new();
    host.doctor(&["--fix", "--yes", "--only", "socket-buffer-small"]);
    host.put(RMEM, "7777777\n");
    let out = host.doctor(&["--undo"]);
    let said = text(&out.stdout);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.contains("sudo sysctl -w net.core.rmem_max=212992"), "{said}");
    assert_eq!((host.get(RMEM).as_str(), host.get("proc/sys/net/core/wmem_max").as_str()), ("7777777", "212992"));
}

#[test]
fn a_rule_that_fails_is_left_and_the_others_are_mended_all_the_same() {
    let rules = ["--fix", "--yes", "--only", "socket-buffer-small", "--only", "governor"];
    let host = Host::new();
    if !host.refuse(RMEM) {
        return;
    }
    let out = host.doctor(&rules);
    let said = refusal(&out);
    has(&said, &["could not fix everything", "net.core.rmem_max", "doctor --undo --root "]);
    has(&text(&out.stdout), &["changed  governor ", "left     socket-buffer-small  ", "1 change made, in force until"]);
    assert_eq!((host.get(RMEM).as_str(), host.get(GOVERNOR).as_str()), ("212992", "performance"));
    // The same as a document, which is the only one.
    let host = Host::new();
    host.refuse(RMEM);
    let out = host.doctor(&[&rules[..], &["--json"]].concat());
    assert_eq!(out.status.code(), Some(2));
    assert_eq!(
        (&json(&out)["left"][0]["rule"], &json(&out)["made"][0]["rule"]),
        (&"socket-buffer-small".into(), &"governor".into())
    );
}

#[test]
fn what_is_refused_on_the_way_back_is_told_behind_the_whole_list() {
    let host = Host::new();
    host.doctor(&["--fix", "--yes", "--only", "socket-buffer-small", "--only", "governor"]);
    host.refuse(GOVERNOR);
    let out = host.doctor(&["--undo"]);
    has(&refusal(&out), &["scaling_governor back to powersave"]);
    has(&text(&out.stdout), &["refused   governor ", "restored  socket-buffer-small  net.core.rmem_max = 212992"]);
    assert_eq!((host.get(RMEM).as_str(), host.get(GOVERNOR).as_str()), ("212992", "performance"));
}

#[test]
fn what_has_gone_is_said_and_keeps_nothing_else_from_being_given_back() {
    let host = Host::new();
    host.doctor(&["--fix", "--yes", "--only", "socket-buffer-small", "--only", "governor"]);
    fs::remove_dir_all(host.path("sys/devices/system/cpu/cpu0")).expect("our own files");
    let out = host.doctor(&["--undo"]);
    let said = text(&out.stdout);
    assert_eq!(out.status.code(), Some(0), "{said}");
    has(
        &said,
        &["gone      governor ", "restored  socket-buffer-small", "Yes: every setting that still exists is as it was."],
    );
    host.put(GOVERNOR, "performance\n");
    assert_eq!(host.doctor(&["--undo"]).status.code(), Some(0));
    assert_eq!(host.get(GOVERNOR), "powersave");
}

#[test]
fn a_copy_of_another_host_has_a_journal_of_its_own_and_only_its_own_start_counts() {
    let host = Host::new();
    let call = |more: &[&str]| {
        let mut command = doctor(&host.path("unused"), more);
        command.env_remove("TAKT_STATE_DIR").arg("--root").arg(host.0.path()).output().expect("takt")
    };
    let rule = ["--only", "socket-buffer-small"];
    assert!(call(&[&["--fix", "--yes"], &rule[..]].concat()).status.success());
    assert!(host.path("var/lib/takt/journal.jsonl").exists());
    let changed = || json(&call(&[&["--json"], &rule[..]].concat()))["changed"].as_array().map(Vec::len);
    assert_eq!(changed(), Some(2));
    let said = text(&call(&rule).stdout);
    has(
        &said,
        &["2 changes by takt in force; undo with ", &format!("doctor --undo --root {}", host.0.path().display())],
    );
    host.put("proc/sys/kernel/random/boot_id", "66666666-7777-8888-9999-000000000000\n");
    assert_eq!(changed(), Some(0), "they went with the start that they were made in");
}

#[test]
fn a_damaged_journal_stops_every_change() {
    let host = Host::new();
    host.put("state/journal.jsonl", "\u{1}\u{2}\n");
    for way in [&["--fix", "--yes"][..], &["--undo"]] {
        has(&refusal(&host.doctor(way)), &["journal.jsonl", "\n  fix   "]);
    }
    assert_eq!(host.get(RMEM), "212992");
}

#[test]
fn every_rule_is_explained_and_a_slip_is_answered_with_the_nearest() {
    let host = Host::new();
    let seen = json(&host.doctor(&["--json"]));
    let ids: Vec<&str> =
        seen["diagnoses"].as_array().expect("a list").iter().filter_map(|one| one["id"].as_str()).collect();
    assert!(ids.len() >= 7);
    for id in &ids {
        let rule = RULES.iter().find(|rule| rule.id == *id).unwrap_or_else(|| panic!("{id}"));
        assert!(explain(rule).starts_with(id), "{id}");
    }
    let out = takt(&["doctor", "--explain", ids[0]]);
    let rule = RULES.iter().find(|rule| rule.id == ids[0]).expect("as above");
    assert!(out.status.success() && text(&out.stdout).trim_end() == explain(rule).trim_end(), "{}", text(&out.stdout));
    has(
        &refusal(&takt(&["doctor", "--explain", "governr"])),
        &["no rule is called `governr`", "did you mean governor?"],
    );
}

#[test]
fn an_ordinary_user_may_look_and_learns_what_changing_needs() {
    let host = Host::new();
    let ours = fs::Permissions::from_mode;
    fs::set_permissions(host.path(RMEM), ours(0o444)).expect("our own file");
    fs::set_permissions(host.0.path(), ours(0o777)).expect("our own folder");
    let user = |more: &[&str]| {
        let mut command = Command::new(TAKT);
        if rustix::process::geteuid().is_root() {
            command = Command::new("setpriv");
            command.args(["--reuid=65534", "--regid=65534", "--clear-groups", TAKT]);
        }
        command.arg("doctor").arg("--root").arg(host.0.path()).args(more);
        command.env("TAKT_STATE_DIR", host.path("state")).output().expect("takt")
    };
    let seen = json(&user(&["--json"]));
    assert!(seen["problems"].as_array().expect("a list").contains(&"socket-buffer-small".into()), "{seen:#}");
    let out = user(&["--fix", "--yes", "--only", "socket-buffer-small"]);
    has(&refusal(&out), &["needs root", &format!("fix   sudo {} doctor --root ", own_path())]);
    assert_eq!(host.get(RMEM), "212992");
}
