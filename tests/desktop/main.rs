//! takt on an ordinary desktop: Debian with systemd and control groups of version 2, and a user without root's rights who may
//! use sudo. A guest boots it, does what the documentation says (`script.sh`), and is read here.
//!
//! ```text
//! tests/desktop/image.sh target/desktop.cpio.zst
//! cargo test --release --package takt --test desktop
//! ```
//!
//! The guest is executed in software, so no answer of a check is asserted, only that there is one; whoever is slow there is
//! slow by a factor of fifty. The program under test is the one that `TAKT_PROGRAM` names, otherwise the one that was built
//! with the tests. A test that lacks something (the image, QEMU, a kernel) is skipped, on record.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use takt_testing::skip;

/// From the root of an unpacked Debian package of a kernel.
fn kernel() -> Option<(PathBuf, PathBuf)> {
    let root = std::env::var_os("TAKT_VM_KERNEL").map_or_else(|| PathBuf::from("/"), PathBuf::from);
    let boot = fs::read_dir(root.join("boot")).ok()?.flatten().map(|entry| entry.path());
    let release = |image: &Path| Some(image.file_name()?.to_str()?.strip_prefix("vmlinuz-")?.to_owned());
    let mut kernels: Vec<_> = boot
        .filter_map(|image| Some((root.join("lib/modules").join(release(&image)?), image)))
        .filter(|(modules, _)| modules.is_dir())
        .collect();
    kernels.sort();
    kernels.pop().map(|(modules, image)| (image, modules))
}

/// Files that the image lacks, at their places in the guest: the program, what is done with it, and the kernel's
/// modules.
fn overlay(root: &Path, modules: &Path) {
    const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/desktop");
    let program = std::env::var_os("TAKT_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_takt").into());
    let place = |name: &str| {
        let path = root.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        path
    };
    fs::copy(program, place("opt/takt/target/release/takt")).expect("the program");
    for file in ["script.sh", "check.toml", "quota.toml"] {
        fs::copy(Path::new(HERE).join(file), place("opt/takt").join(file)).expect("a file");
    }
    let units = "etc/systemd/system";
    fs::copy(Path::new(HERE).join("service"), place(&format!("{units}/takt-test.service"))).expect("a unit");
    symlink("../takt-test.service", place(&format!("{units}/multi-user.target.wants/takt-test.service")))
        .expect("a link");
    // Its shell would have the line on which the script speaks.
    symlink("/dev/null", place(&format!("{units}/serial-getty@ttyS0.service"))).expect("a link");
    let folder = place("usr/lib/modules/x").with_file_name(modules.file_name().expect("a release"));
    let copied = Command::new("cp").arg("-r").args([modules, &folder]).status();
    assert!(copied.expect("cp").success());
}

/// One archive behind the other, which a kernel unpacks in turn.
fn archive(image: &Path, root: &Path, to: &Path) {
    let mut file = fs::File::create(to).expect("an archive");
    std::io::copy(&mut fs::File::open(image).expect("the image"), &mut file).expect("copied");
    // An archive that is not compressed begins at a multiple of four.
    let over = fs::metadata(to).expect("written").len() % 4;
    file.write_all(&[0; 4][..(4 - over as usize) % 4]).expect("written");
    let pack = "find . -print0 | cpio --null --create --format=newc --owner=0:0 --quiet";
    let packed = Command::new("sh").args(["-c", pack]).current_dir(root).stdout(file).status();
    assert!(packed.expect("sh").success());
}

/// All that the guest says on its line until it powers off.
fn boot(kernel: &Path, archive: &Path) -> String {
    // A guest that never powers off hangs: what it said by then says where.
    let mut qemu = Command::new("timeout");
    qemu.args([
        "600",
        "qemu-system-x86_64",
        "-machine",
        "q35",
        "-accel",
        "tcg,thread=multi",
        "-cpu",
        "max",
        "-smp",
        "2",
        "-m",
        "2G",
    ]);
    qemu.args(["-nodefaults", "-no-reboot", "-display", "none", "-monitor", "none", "-serial", "stdio"]);
    // A PC's timer that is tried while the machine is busy is taken for broken.
    qemu.args(["-append", "console=ttyS0 no_timer_check quiet systemd.show_status=0"]);
    qemu.arg("-kernel").arg(kernel).arg("-initrd").arg(archive).stdin(Stdio::null());
    let output = qemu.output().expect("QEMU");
    String::from_utf8_lossy(&output.stdout).replace('\r', "")
}

/// Output of each part of the script, and how it ended.
fn parts(said: &str) -> BTreeMap<&str, (i32, String)> {
    assert!(said.contains("\n=== end\n"), "the script did not come to its end:\n{said}");
    let mut parts = BTreeMap::new();
    let mut part: Option<(&str, String)> = None;
    for line in said.lines() {
        part = match (line.strip_prefix("=== "), part) {
            (Some(name), None) => Some((name, String::new())),
            (Some(status), Some((name, text))) => {
                parts.insert(name, (status.parse().unwrap_or(-1), text));
                None
            }
            (None, Some((name, text))) => Some((name, text + line + "\n")),
            (None, None) => None,
        };
    }
    parts
}

/// The document among what a command says.
fn document(text: &str) -> Value {
    let begin = text.find("{\n").unwrap_or_else(|| panic!("no document: {text}"));
    let mut documents = serde_json::Deserializer::from_str(&text[begin..]).into_iter();
    documents.next().and_then(Result::ok).unwrap_or_else(|| panic!("no document: {text}"))
}

#[test]
fn takt_works_beside_systemd_for_a_user_and_with_sudo() {
    let image = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/desktop.cpio.zst");
    if !image.is_file() {
        return skip("there is no target/desktop.cpio.zst   (tests/desktop/image.sh target/desktop.cpio.zst)");
    }
    let Some((kernel, modules)) = kernel() else {
        return skip("there is no kernel for a guest   (./test --all fetches one)");
    };
    let dir = tempfile::tempdir().expect("a folder");
    let (root, whole) = (dir.path().join("root"), dir.path().join("initrd"));
    overlay(&root, &modules);
    archive(&image, &root, &whole);
    let said = boot(&kernel, &whole);
    let parts = parts(&said);
    let part = |name: &str| parts.get(name).unwrap_or_else(|| panic!("no part {name}:\n{said}"));

    assert_eq!(part("cgroup tree").1.trim(), "cgroup2fs");
    assert!(part("own group").1.contains("/user.slice/"), "{said}");
    let whole_name = "/home/user/takt/target/release/takt";
    // sudo finds no takt: its whole name is printed.
    assert!(part("doctor").1.contains(&format!("sudo {whole_name} doctor --fix --only socket-buffer-small")), "{said}");
    assert!(part("doctor").1.contains(&format!("sudo {whole_name} check")), "the way to real-time priority: {said}");
    for (name, path) in [("check", "loopback"), ("check with sudo", "veth"), ("check again", "loopback")] {
        let (status, text) = part(name);
        let outcome = document(text);
        let answers = ["holds", "fails", "unknown"];
        let answer = outcome["verdict"]["answer"].as_str().unwrap_or_default();
        assert_eq!(answers.get(*status as usize), Some(&answer), "{name}: {text}");
        assert_eq!(outcome["rounds"]["valid"], 2, "{name}: {text}");
        assert_eq!(outcome["setup"]["path"], path, "{name}: {text}");
    }
    assert!(part("owners").1.lines().all(|line| line.starts_with("user ")), "{}", part("owners").1);
    let (status, text) = part("quota");
    assert_eq!(*status, 0, "{text}");
    assert!(text.contains(": 3 rounds count."), "{text}");
    let number = |name: &str| part(name).1.trim().parse::<u64>().unwrap_or_else(|_| panic!("{name}: {said}"));
    assert_eq!(part("fix").0, 0, "{}", part("fix").1);
    assert_eq!((number("before the fix"), number("after the fix")), (212_992, 50_000_000), "{}", part("fix").1);
    assert_eq!(number("after the undo"), 212_992, "{}", part("undo").1);
    assert_eq!(part("left").1.trim(), "Yes: nothing was left.");
}
