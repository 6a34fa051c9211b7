//! A full disk: a clear error, and nothing finished is lost. Needs root for a small file system of its own.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use serde_json::json;
use takt_lab::store::{NewRound, NewRun, PointRow, Record, Store, StoreError};

use crate::support;

/// A tmpfs of its own, unmounted on drop.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(at: &Path, mib: u32) -> rustix::io::Result<SmallDisk> {
        let size = std::ffi::CString::new(format!("size={mib}m,mode=755")).unwrap();
        mount("tmpfs", at, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, Some(size.as_c_str()))?;
        Ok(SmallDisk(at.into()))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        unmount(&self.0, UnmountFlags::DETACH).unwrap();
    }
}

fn round(block: u32, ballast_bytes: usize) -> NewRound {
    let record = Record { result: json!(block), before: json!("x".repeat(ballast_bytes)), ..Record::default() };
    support::round(block, record)
}

#[test]
fn a_full_disk_is_reported_before_a_round_and_keeps_what_was_finished() {
    let dir = tempfile::tempdir().unwrap();
    let disk = match SmallDisk::mount(dir.path(), 8) {
        Ok(disk) => disk,
        Err(errno) => {
            return takt_testing::skip(format_args!("a file system of its own: {errno}   (run as root)"));
        }
    };
    let store = Store::open(dir.path()).unwrap();
    let point = PointRow { part: "radio".into(), factors: BTreeMap::new() };
    let run = store.begin_run(&NewRun { points: vec![point], ..NewRun::default() }).unwrap();

    // As the runner does: before each round.
    let mut finished = 0;
    let refused = loop {
        match store.room_for_a_round() {
            Ok(()) => store.finish_round(&run, &round(finished, 200_000)).unwrap(),
            Err(refused) => break refused,
        };
        finished += 1;
    };
    assert!(finished > 0);
    assert!(matches!(&refused, StoreError::Full { free_bytes, .. } if *free_bytes > 0), "{refused}");
    assert!(refused.fix().unwrap().contains("--resume"));

    // Filled by another process while a round was running: the write itself says so.
    let error = loop {
        match store.finish_round(&run, &round(finished, 300_000)) {
            Ok(_) => finished += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(error, StoreError::Full { .. }), "{error:?}");
    fs::write(dir.path().join("ballast"), vec![1; 16 << 20]).unwrap_err();
    drop(store);

    // A store on a disk without a free byte opens, or says that the disk is full.
    match Store::open(dir.path()) {
        Ok(store) => assert_eq!(store.rounds(&run).unwrap().len(), finished as usize),
        Err(error) => assert!(matches!(error, StoreError::Full { .. }), "{error:?}"),
    }

    fs::remove_file(dir.path().join("ballast")).unwrap();
    let store = Store::open(dir.path()).unwrap();
    let rounds = store.rounds(&run).unwrap();
    assert_eq!(rounds.len(), finished as usize);
    for (block, there) in (0..).zip(&rounds) {
        assert_eq!(there.record.as_ref().unwrap().result, json!(block));
    }
    drop(store);
    drop(disk);
}
