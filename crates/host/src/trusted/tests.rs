//! Links, FIFOs and others' folders laid where takt writes: takt follows, awaits and changes none of them.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

use rustix::fs::{CWD, FileType, mknodat};

use super::*;

/// A user that owns nothing of takt's.
const NOBODY: u32 = 65534;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

fn open_to(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn runs() -> (tempfile::TempDir, TrustedDir) {
    let place = tempfile::tempdir().unwrap();
    let runs = TrustedDir::make(&place.path().join("runs"), Trust::Operator).unwrap();
    (place, runs)
}

/// `None`, on record, for a user who can't give files away.
fn root() -> Option<()> {
    if rustix::process::geteuid().is_root() {
        return Some(());
    }
    takt_testing::skip("folders of other users   (run the tests as root)");
    None
}

#[test]
fn a_folder_of_ones_own_is_private_and_making_it_twice_is_fine() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a/b");
    TrustedDir::make(&path, Trust::Own).unwrap();
    TrustedDir::make(&path, Trust::Own).unwrap();
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o700, 0o700));
    assert!(TrustedDir::find(&place.path().join("none/b"), Trust::Own).unwrap().is_none());
    assert!(matches!(TrustedDir::open(&place.path().join("none"), Trust::Own), Err(TrustError::Io { .. })));
}

#[test]
fn a_file_is_made_kept_and_replaced() {
    let (place, runs) = runs();
    let run = runs.make_folder("run").unwrap();
    run.kept("lock").unwrap().write_all(b"mine").unwrap();
    assert_eq!(run.kept("lock").unwrap().metadata().unwrap().len(), 4, "what is locked is not truncated");
    open_to(&place.path().join("runs/run/lock"), 0o640);
    run.replace("lock", b"new").unwrap();
    assert_eq!(run.read("lock").unwrap().unwrap(), b"new");
    assert_eq!(mode(&place.path().join("runs/run/lock")), 0o640);
    assert_eq!(run.names().unwrap(), ["lock"], "nothing is left beside it");
    assert!(run.growing("lock").is_err_and(|error| error.kind() == Some(io::ErrorKind::AlreadyExists)));
    run.remove("lock").unwrap();
    assert!(run.read("lock").unwrap().is_none() && run.folder("none").unwrap().is_none());
}

#[test]
fn more_or_less_than_one_name_is_refused() {
    let (_place, runs) = runs();
    for name in ["", ".", "..", "/", "/etc/passwd", "a/b", "../a", "a/", "./a"] {
        for error in
            [runs.make_folder(name).unwrap_err(), runs.kept(name).unwrap_err(), runs.replace(name, b"").unwrap_err()]
        {
            assert!(matches!(error, TrustError::Name { .. }), "{name:?}: {error}");
        }
    }
}

#[test]
fn whatever_lies_in_place_of_a_file_is_named_and_left_as_it_is() {
    let (place, runs) = runs();
    let victim = place.path().join("victim");
    fs::write(&victim, "mine").unwrap();
    let at = |name: &str| place.path().join("runs").join(name);
    symlink(&victim, at("link")).unwrap();
    symlink(place.path().join("none"), at("dangling")).unwrap();
    mknodat(CWD, at("fifo"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
    fs::create_dir(at("folder")).unwrap();
    for (name, what) in [
        ("link", "a symbolic link"),
        ("dangling", "a symbolic link"),
        ("fifo", "a FIFO"),
        ("socket", "a socket"),
        ("folder", "a folder"),
    ] {
        // None of these waits, as opening a FIFO would.
        let errors =
            [runs.file(name).unwrap_err(), runs.kept(name).unwrap_err(), runs.replace(name, b"new").unwrap_err()];
        for error in errors {
            let wanted = format!("runs/{name} is {what}; expected: a regular file");
            assert!(error.to_string().ends_with(&wanted), "{error}");
            assert!(error.fix().unwrap().contains("move it away"));
        }
    }
    assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
    assert!(!place.path().join("none").exists());
}

#[test]
fn a_link_in_place_of_a_folder_below_is_refused() {
    let (place, runs) = runs();
    symlink(place.path(), place.path().join("runs/run")).unwrap();
    let error = runs.make_folder("run").unwrap_err();
    assert!(matches!(error, TrustError::Kind { found: "a symbolic link", expected: "a folder", .. }), "{error}");
    assert!(matches!(runs.folder("run"), Err(TrustError::Kind { .. })));
}

#[test]
fn a_link_that_is_named_leads_to_the_runs_and_to_no_folder_of_ones_own() {
    let (place, _runs) = runs();
    open_to(&place.path().join("runs"), 0o700);
    let link = place.path().join("link");
    symlink("runs", &link).unwrap();
    TrustedDir::make(&link, Trust::Operator).unwrap().kept("x").unwrap();
    assert!(place.path().join("runs/x").exists());
    let error = TrustedDir::make(&link, Trust::Own).unwrap_err();
    assert!(matches!(error, TrustError::Kind { found: "a symbolic link", .. }), "{error}");
    symlink("loop", place.path().join("loop")).unwrap();
    assert!(TrustedDir::make(&place.path().join("loop/x"), Trust::Operator).is_err());
}

#[test]
fn what_was_opened_stays_what_it_was_when_its_name_leads_elsewhere() {
    let (place, runs) = runs();
    fs::rename(place.path().join("runs"), place.path().join("moved")).unwrap();
    fs::create_dir(place.path().join("runs")).unwrap();
    runs.replace("x", b"1").unwrap();
    assert!(place.path().join("moved/x").exists() && !place.path().join("runs/x").exists());
    assert!(runs.by_descriptor().join("x").exists());
}

#[test]
fn a_folder_that_others_may_write_is_none_of_ones_own() {
    let place = tempfile::tempdir().unwrap();
    for shared in [0o777, 0o1777, 0o702] {
        open_to(place.path(), shared);
        let error = TrustedDir::open(place.path(), Trust::Own).unwrap_err();
        assert!(matches!(&error, TrustError::Writable { mode, .. } if *mode == shared), "{error}");
        assert!(error.to_string().contains("everybody may write there"), "{error}");
        assert!(error.fix().unwrap().contains("chmod go-w"));
    }
}

#[test]
fn a_folder_of_another_user_is_none_of_ones_own() {
    let Some(()) = root() else { return };
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("takt");
    fs::create_dir(&path).unwrap();
    chown(&path, Some(NOBODY), None).unwrap();
    for trust in [Trust::Own, Trust::Operator] {
        let error = TrustedDir::make(&path, trust).unwrap_err();
        assert!(matches!(&error, TrustError::Owner { expected, .. } if expected == "root"), "{error}");
    }
    TrustedDir::open(&path, Trust::Anyone).unwrap();
}

#[test]
fn root_goes_through_no_folder_or_link_of_another_user() {
    let Some(()) = root() else { return };
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    for name in ["theirs", "sticky", "shared"] {
        fs::create_dir(at(name)).unwrap();
    }
    chown(at("theirs"), Some(NOBODY), None).unwrap();
    open_to(&at("sticky"), 0o1777);
    open_to(&at("shared"), 0o777);
    let made = |name: &str| TrustedDir::make(&at(name), Trust::Operator);
    assert!(matches!(made("theirs/runs"), Err(TrustError::Owner { .. })));
    assert!(matches!(made("shared/runs"), Err(TrustError::Writable { .. })), "they could exchange it");
    assert!(!at("theirs/runs").exists() && !at("shared/runs").exists());
    made("sticky/runs").unwrap();
    assert!(matches!(made("sticky"), Err(TrustError::Writable { .. })), "it is fine on the way alone");
    symlink(at("sticky/runs"), at("link")).unwrap();
    made("link").unwrap();
    std::os::unix::fs::lchown(at("link"), Some(NOBODY), None).unwrap();
    assert!(matches!(made("link"), Err(TrustError::Owner { .. })));
}

#[test]
fn a_record_of_another_user_or_that_others_may_write_is_not_read() {
    let place = tempfile::tempdir().unwrap();
    let dir = TrustedDir::open(place.path(), Trust::Own).unwrap();
    let path = place.path().join("record");
    fs::write(&path, "").unwrap();
    dir.file("record").unwrap().unwrap();
    open_to(&path, 0o666);
    assert!(matches!(dir.file("record"), Err(TrustError::Writable { .. })));
    open_to(&path, 0o600);
    if root().is_some() {
        chown(&path, Some(NOBODY), None).unwrap();
        assert!(matches!(dir.file("record"), Err(TrustError::Owner { .. })));
    }
}

#[test]
fn a_file_that_is_replaced_keeps_its_owner() {
    let Some(()) = root() else { return };
    let (place, _runs) = runs();
    let path = place.path().join("x");
    fs::write(&path, "").unwrap();
    chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
    TrustedDir::open(place.path(), Trust::Anyone).unwrap().replace("x", b"1").unwrap();
    let about = fs::metadata(&path).unwrap();
    assert_eq!((about.uid(), about.gid(), about.len()), (NOBODY, NOBODY, 1));
}

#[test]
fn nothing_leads_out_of_a_recorded_host() {
    let place = tempfile::tempdir().unwrap();
    let (tree, secret) = (place.path().join("tree"), place.path().join("secret"));
    fs::create_dir_all(tree.join("sys/real")).unwrap();
    fs::write(tree.join("sys/real/x"), "1").unwrap();
    fs::write(&secret, "mine").unwrap();
    for (link, target) in [
        ("relative", "../../secret"),
        ("absolute", secret.to_str().unwrap()),
        ("up", "../../.."),
        ("good", "/sys/real/x"),
    ] {
        symlink(target, tree.join("sys").join(link)).unwrap();
    }
    let read = |path: &str| {
        recorded_file(&tree, Path::new(path)).map(|mut file| {
            let mut text = String::new();
            file.read_to_string(&mut text).unwrap();
            text
        })
    };
    assert_eq!(read("/sys/good").unwrap(), "1", "a link of the host means what it means there");
    assert_eq!(read("/sys/up/sys/real/x").unwrap(), "1", "nothing is above its root");
    assert_eq!(read("/../sys/real/../real/x").unwrap(), "1");
    for path in ["/sys/relative", "/sys/absolute", "/../secret", "/sys/none", "/sys/real"] {
        assert!(read(path).is_err(), "{path}");
    }
    assert_eq!(TrustedDir::find_within(&tree, Path::new("/sys/real")).unwrap().unwrap().names().unwrap(), ["x"]);
    let notes = TrustedDir::make_within(&tree, Path::new("/sys/up/var/lib/takt"), Trust::Own).unwrap();
    notes.kept("journal").unwrap();
    assert!(tree.join("var/lib/takt/journal").exists());
}
