//! Makes changes so that each can be undone, and undoes them.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use takt_host::Host;
use takt_host::with_causes;

use super::journal::{Along, Entry, How, Journal, JournalError, Scope, boot_id};
use super::setting::{Change, Setting, SettingError};

/// Changes settings and restores them. Holds the journal's lock: only one exists at a time on a host.
#[derive(Debug)]
pub struct Fixer {
    host: Host,
    journal: Journal,
    boot_id: Option<String>,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FixError {
    /// The journal: takt makes no change that it cannot record.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The setting. Earlier changes stay in force and are in the journal. So is this one, unless the setting certainly has its
    /// old value.
    #[error(transparent)]
    Setting(#[from] SettingError),
}

impl FixError {
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            FixError::Journal(error) => error.fix(),
            FixError::Setting(error) => error.fix().map(str::to_owned),
        }
    }
}

/// The result of a rule's changes.
#[derive(Debug, Default)]
pub struct Applied {
    pub made: Vec<Change>,
    /// Changes that the kernel allows nobody to make, each with its reason. They changed nothing.
    pub kept: Vec<SettingError>,
}

/// The result of undoing one entry of the journal.
#[derive(Debug, Serialize)]
pub struct Undone {
    pub setting: Setting,
    pub rule: String,
    pub was: String,
    pub outcome: UndoOutcome,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum UndoOutcome {
    Settled {
        how: How,
    },
    /// Another value was set since. takt leaves it, and keeps the entry.
    ChangedSince {
        now: String,
        set: String,
    },
    /// The CPU or interface of the setting is gone: offline or removed. The entry stays, since it may come back.
    Gone,
    Refused {
        #[serde(serialize_with = "as_text")]
        error: FixError,
    },
}

impl Fixer {
    /// Opens the journal in `dir` (usually [`takt_host::dirs::state_dir`]) for changes to `host`.
    pub fn open(host: Host, dir: &Path) -> Result<Fixer, JournalError> {
        let boot_id = boot_id(&host);
        Ok(Fixer { journal: Journal::open(&host, dir)?, host, boot_id })
    }

    /// Makes the changes of a rule, in order. Skips a setting that already has the wanted value, and an interrupt that the
    /// kernel does not let anybody move.
    ///
    /// # Errors
    /// Stops at the first change that fails. The changes before it stay in force and are in the journal.
    pub fn apply(&mut self, rule: &str, scope: &Scope, changes: &[Change]) -> Result<Applied, FixError> {
        apply_each(changes, |change| self.apply_one(rule, scope, change))
    }

    fn apply_one(&mut self, rule: &str, scope: &Scope, change: &Change) -> Result<Option<Change>, FixError> {
        // The value now, not when the change was planned: undo has to restore this one.
        let was = change.setting.get(&self.host)?;
        if was == change.becomes {
            return Ok(None);
        }
        // takt does not change a value that it could not restore.
        change.setting.can_be(&was)?;
        change.setting.can_be(&change.becomes)?;
        let entry = Entry {
            number: 0,
            unix_ms: unix_ms(),
            boot_id: self.boot_id.clone(),
            rule: rule.to_owned(),
            scope: scope.clone(),
            setting: change.setting.clone(),
            was: was.clone(),
            becomes: change.becomes.clone(),
            along: change.setting.along(&self.host),
        };
        let number = self.journal.changes(entry.clone())?;
        if let Err(error) = change.setting.set(&self.host, &change.becomes) {
            self.not_done(Entry { number, ..entry })?;
            return Err(error.into());
        }
        Ok(Some(Change { was, ..change.clone() }))
    }

    /// Handles a change that failed, before or after the value was written. Only an unchanged value settles the entry. A value
    /// that is neither the old nor the new one gets its own entry, so that undo knows it.
    fn not_done(&mut self, entry: Entry) -> Result<(), JournalError> {
        match entry.setting.get(&self.host) {
            Ok(now) if now == entry.was => self.journal.settled(entry.number, How::NotMade),
            Ok(now) if now != entry.becomes => self.journal.changes(Entry { becomes: now, ..entry }).map(|_number| ()),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Changes that are in force and not undone yet, oldest first.
    #[must_use]
    pub fn standing(&self) -> &[Entry] {
        &self.journal.contents.standing
    }

    /// Undoes, newest first, the changes that `which` picks. A second call finds nothing left to do.
    pub fn undo(&mut self, which: impl Fn(&Entry) -> bool) -> Vec<Undone> {
        let mut picked: Vec<Entry> = self.standing().iter().filter(|&entry| which(entry)).cloned().collect();
        picked.reverse();
        picked
            .into_iter()
            .map(|entry| {
                let outcome = self.undo_one(&entry).unwrap_or_else(|error| UndoOutcome::Refused { error });
                Undone { setting: entry.setting, rule: entry.rule, was: entry.was, outcome }
            })
            .collect()
    }

    fn undo_one(&mut self, entry: &Entry) -> Result<UndoOutcome, FixError> {
        let mut how = if self.boot_id.is_some() && entry.boot_id.is_some() && self.boot_id != entry.boot_id {
            How::Rebooted
        } else {
            entry.setting.can_be(&entry.was)?;
            let now = match entry.setting.get(&self.host) {
                Err(error) if error.is_gone() => return Ok(UndoOutcome::Gone),
                now => now?,
            };
            if now == entry.was {
                How::AlreadyAsBefore
            } else if now == entry.becomes {
                entry.setting.set(&self.host, &entry.was)?;
                How::Restored
            } else {
                return Ok(UndoOutcome::ChangedSince { now, set: entry.becomes.clone() });
            }
        };
        // Also if the value is as before: the process that restored it may have been killed in between.
        if how != How::Rebooted && self.give_back_along(entry)? {
            how = How::Restored;
        }
        self.journal.settled(entry.number, how)?;
        Ok(UndoOutcome::Settled { how })
    }

    /// Restores what the kernel forgot with the change. Returns whether any value was different.
    fn give_back_along(&self, entry: &Entry) -> Result<bool, FixError> {
        let mut restored = false;
        for Along { setting, was } in &entry.along {
            match setting.get(&self.host) {
                Ok(now) if now == *was => {}
                // Another driver, or another set of tunables than before.
                Err(error) if error.is_gone() => {}
                Ok(_) | Err(_) => {
                    setting.set(&self.host, was)?;
                    restored = true;
                }
            }
        }
        Ok(restored)
    }
}

/// Makes one change after the other.
fn apply_each(
    changes: &[Change],
    mut apply: impl FnMut(&Change) -> Result<Option<Change>, FixError>,
) -> Result<Applied, FixError> {
    let mut applied = Applied::default();
    for change in changes {
        match apply(change) {
            Ok(made) => applied.made.extend(made),
            Err(FixError::Setting(kept @ SettingError::Kept { .. })) => applied.kept.push(kept),
            Err(error) => return Err(error),
        }
    }
    Ok(applied)
}

pub(crate) fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn as_text<S: serde::Serializer>(error: &FixError, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&with_causes(error))
}

#[cfg(test)]
mod tests {
    use super::super::journal;
    use super::*;
    use proptest::prelude::*;
    use takt_host::testing::Tree;

    const RMEM: &str = "/proc/sys/net/core/rmem_max";
    const BOOT: &str = "/proc/sys/kernel/random/boot_id";

    fn setting() -> Setting {
        Setting::Sysctl("net.core.rmem_max".to_owned())
    }

    fn change(becomes: &str) -> Change {
        Change { setting: setting(), was: String::new(), becomes: becomes.to_owned() }
    }

    struct World {
        tree: Tree,
        state: tempfile::TempDir,
    }

    impl World {
        fn new() -> World {
            let tree = Tree::new().with(RMEM, "100\n").with(BOOT, "first\n");
            World { tree, state: tempfile::tempdir().unwrap() }
        }

        fn fixer(&self) -> Fixer {
            Fixer::open(self.tree.host(), self.state.path()).unwrap()
        }

        fn apply(&self, becomes: &str) -> Result<Vec<Change>, FixError> {
            self.fixer().apply("rule", &Scope::Host, &[change(becomes)]).map(|applied| applied.made)
        }

        fn undo(&self) -> Vec<UndoOutcome> {
            self.fixer().undo(|_| true).into_iter().map(|undone| undone.outcome).collect()
        }

        fn value(&self) -> String {
            setting().get(&self.tree.host()).unwrap()
        }
    }

    #[test]
    fn undo_restores_the_old_value_and_a_second_undo_has_nothing_to_do() {
        let world = World::new();
        assert_eq!(world.apply("500").unwrap()[0].was, "100");
        assert_eq!(world.value(), "500");
        assert!(world.apply("500").unwrap().is_empty(), "already as wanted");
        assert!(matches!(world.undo()[..], [UndoOutcome::Settled { how: How::Restored }]));
        assert_eq!(world.value(), "100");
        assert!(world.undo().is_empty());
    }

    #[test]
    fn undo_goes_backwards_through_several_changes_of_one_setting() {
        let world = World::new();
        world.apply("500").unwrap();
        world.apply("900").unwrap();
        assert_eq!(world.undo().len(), 2);
        assert_eq!(world.value(), "100");
    }

    #[test]
    fn a_value_set_by_another_since_is_left_alone_and_reported() {
        let world = World::new();
        world.apply("500").unwrap();
        world.tree.put(RMEM, "777\n");
        let undone = world.undo();
        assert!(
            matches!(&undone[..], [UndoOutcome::ChangedSince { now, set }] if now == "777" && set == "500"),
            "{undone:?}"
        );
        assert_eq!(world.value(), "777");
        // Taken back by hand, it is settled; nothing is written.
        world.tree.put(RMEM, "100\n");
        assert!(matches!(world.undo()[..], [UndoOutcome::Settled { how: How::AlreadyAsBefore }]));
        assert!(world.undo().is_empty());
    }

    #[test]
    fn after_a_reboot_nothing_is_written_even_if_the_value_is_the_same() {
        let world = World::new();
        world.apply("500").unwrap();
        world.tree.put(BOOT, "second\n");
        assert!(matches!(world.undo()[..], [UndoOutcome::Settled { how: How::Rebooted }]));
        assert_eq!(world.value(), "500", "whoever set it at the new start meant it");
    }

    #[test]
    fn only_the_changes_picked_are_given_back() {
        let world = World::new();
        world.apply("500").unwrap();
        let run = Scope::Run { id: "x".to_owned() };
        world.fixer().apply("rule", &run, &[change("600")]).unwrap();
        let undone = world.fixer().undo(|entry| entry.scope != Scope::Host);
        assert_eq!(undone.len(), 1);
        assert_eq!(world.value(), "500");
        assert_eq!(world.fixer().standing().len(), 1);
    }

    #[test]
    fn a_setting_that_cannot_be_written_is_an_error_and_leaves_nothing_to_undo() {
        let world = World::new();
        let missing = Change { setting: Setting::Sysctl("net.core.none".to_owned()), ..change("1") };
        let error = world.fixer().apply("rule", &Scope::Host, &[change("500"), missing]).unwrap_err();
        assert!(matches!(error, FixError::Setting(SettingError::Read { .. })), "{error}");
        // The one before it stands, and is recorded.
        assert_eq!(world.fixer().standing().len(), 1);
        assert!(matches!(world.undo()[..], [UndoOutcome::Settled { how: How::Restored }]));
    }

    #[test]
    fn a_value_that_was_not_taken_is_put_back_and_leaves_nothing_to_undo() {
        let (tree, state) = (Tree::new().with("/sys/x", "b\n"), tempfile::tempdir().unwrap());
        let mut fixer = Fixer::open(tree.host(), state.path()).unwrap();
        // Read back as `a`, as a kernel does that makes another value of it.
        let setting = Setting::Sysfs("x".to_owned());
        let other = Change { setting: setting.clone(), was: String::new(), becomes: "[a] b".to_owned() };
        let error = fixer.apply("rule", &Scope::Host, &[other]).unwrap_err();
        assert!(matches!(error, FixError::Setting(SettingError::NotTaken { .. })), "{error}");
        assert_eq!((setting.get(&tree.host()).unwrap().as_str(), fixer.standing().len()), ("b", 0));
    }

    #[test]
    fn a_change_that_failed_is_settled_only_if_the_value_is_certainly_as_it_was() {
        // The value that is found behind the failure, and the entries that stand then.
        for (found, standing) in [(Some("100"), 0), (Some("500"), 1), (Some("300"), 2), (None, 1)] {
            let world = World::new();
            // Noted and made, as by a write whose read-back fails.
            world.apply("500").unwrap();
            let mut fixer = world.fixer();
            match found {
                Some(value) => world.tree.put(RMEM, value),
                None => std::fs::remove_file(world.tree.host().path(RMEM)).unwrap(),
            }
            let entry = fixer.standing()[0].clone();
            fixer.not_done(entry).unwrap();
            assert_eq!(fixer.standing().len(), standing, "{found:?}");
            drop(fixer);
            if found.is_none() {
                assert!(matches!(world.undo()[..], [UndoOutcome::Gone]));
                world.tree.put(RMEM, "500\n");
            }
            let undone = world.undo();
            assert!(
                undone.iter().all(|outcome| matches!(outcome, UndoOutcome::Settled { .. })),
                "{found:?}: {undone:?}"
            );
            assert_eq!((world.value().as_str(), world.fixer().standing().len()), ("100", 0), "{found:?}");
        }
    }

    /// A recorded host that was received, with a journal and links in it. Its journal would have root write whatever it says
    /// wherever the links lead.
    #[test]
    fn a_forged_journal_of_a_recorded_host_writes_nothing_outside_it_and_no_free_text() {
        let world = World::new();
        let place = tempfile::tempdir().unwrap();
        let victim = place.path().join("victim");
        std::fs::write(&victim, "100\n").unwrap();
        let forge = |was: &str| {
            let entry = Entry {
                number: 0,
                unix_ms: 0,
                boot_id: Some("first".to_owned()),
                rule: "rule".to_owned(),
                scope: Scope::Host,
                setting: setting(),
                was: was.to_owned(),
                becomes: "100".to_owned(),
                along: Vec::new(),
            };
            let line = serde_json::json!({ "changes": entry });
            let text = format!("{{\"takt_journal\":{{\"version\":1}}}}\n{line}\n");
            std::fs::write(journal::journal_path(world.state.path()), text).unwrap();
        };

        forge("root::0:0::/:/bin/sh\n");
        let undone = world.undo();
        assert!(
            matches!(&undone[..], [UndoOutcome::Refused { error: FixError::Setting(SettingError::Value { .. }) }]),
            "{undone:?}"
        );
        assert_eq!(world.value(), "100");

        // The setting is a link out of the recorded host, by itself or by a folder on the way.
        forge("7");
        let (file, folder) = (world.tree.host().path(RMEM), world.tree.host().path("/proc/sys/net/core"));
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink(&victim, &file).unwrap();
        assert!(matches!(world.undo()[..], [UndoOutcome::Gone]));
        std::fs::remove_dir_all(&folder).unwrap();
        std::fs::rename(&victim, place.path().join("rmem_max")).unwrap();
        std::os::unix::fs::symlink(place.path(), &folder).unwrap();
        assert!(matches!(world.undo()[..], [UndoOutcome::Gone]));
        assert_eq!(std::fs::read_to_string(place.path().join("rmem_max")).unwrap(), "100\n");
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 1, "nor is anything made there");
    }

    /// Its notes, too, are looked for inside it.
    #[test]
    fn a_link_in_a_recorded_host_does_not_lead_its_journal_out() {
        let (world, place) = (World::new(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(place.path(), world.tree.root().join("var")).unwrap();
        let state = world.tree.root().join("var/lib/takt");
        Fixer::open(world.tree.host(), &state).unwrap().apply("rule", &Scope::Host, &[change("500")]).unwrap();
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
        assert_eq!(journal::read(&world.tree.host(), &state).unwrap().standing.len(), 1);
    }

    #[test]
    fn what_is_gone_keeps_its_entry_and_the_rest_is_given_back() {
        let world = World::new();
        world.tree.put("/sys/x", "a\n");
        world.apply("500").unwrap();
        let setting = Setting::Sysfs("x".to_owned());
        let other = Change { setting, was: String::new(), becomes: "b".to_owned() };
        world.fixer().apply("rule", &Scope::Host, &[other]).unwrap();
        std::fs::remove_file(world.tree.host().path("/sys/x")).unwrap();
        assert!(matches!(world.undo()[..], [UndoOutcome::Gone, UndoOutcome::Settled { how: How::Restored }]));
        assert_eq!((world.value().as_str(), world.fixer().standing().len()), ("100", 1));
        world.tree.put("/sys/x", "b\n");
        assert!(matches!(world.undo()[..], [UndoOutcome::Settled { how: How::Restored }]), "it has come back");
    }

    const GOVERNOR: &str = "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor";
    const TUNABLE: &str = "/sys/devices/system/cpu/cpu0/cpufreq/schedutil/rate_limit_us";

    /// A governor with a tunable, changed to `performance`; the kernel then has the tunable no more.
    fn governed() -> World {
        let world = World::new();
        world.tree.put(GOVERNOR, "schedutil\n");
        world.tree.put(TUNABLE, "500\n");
        let setting = Setting::Sysfs(GOVERNOR.trim_start_matches("/sys/").to_owned());
        let change = Change { setting, was: String::new(), becomes: "performance".to_owned() };
        world.fixer().apply("governor", &Scope::Host, &[change]).unwrap();
        world
    }

    #[test]
    fn a_governor_comes_back_with_its_tunables() {
        let world = governed();
        let read = |path: &str| world.tree.host().read_opt(path);
        assert_eq!(read(GOVERNOR).as_deref(), Some("performance"));
        // As the kernel has it when the governor comes back: anew.
        world.tree.put(TUNABLE, "1000\n");
        assert!(matches!(world.undo()[..], [UndoOutcome::Settled { how: How::Restored }]));
        assert_eq!((read(GOVERNOR).as_deref(), read(TUNABLE).as_deref()), (Some("schedutil"), Some("500")));
        assert!(world.undo().is_empty());
    }

    #[test]
    fn undo_that_was_killed_behind_the_governor_gives_the_tunables_back_the_next_time() {
        let world = governed();
        world.tree.put(GOVERNOR, "schedutil\n");
        world.tree.put(TUNABLE, "1000\n");
        assert!(matches!(world.undo()[..], [UndoOutcome::Settled { how: How::Restored }]));
        assert_eq!(world.tree.host().read_opt(TUNABLE).as_deref(), Some("500"));
    }

    #[test]
    fn tunables_of_a_governor_that_another_set_since_are_left() {
        let world = governed();
        world.tree.put(GOVERNOR, "powersave\n");
        world.tree.put(TUNABLE, "1000\n");
        assert!(matches!(world.undo()[..], [UndoOutcome::ChangedSince { .. }]));
        assert_eq!(world.tree.host().read_opt(TUNABLE).as_deref(), Some("1000"));
        // And tunables that are not there any more keep nobody from the rest.
        world.tree.put(GOVERNOR, "performance\n");
        std::fs::remove_file(world.tree.host().path(TUNABLE)).unwrap();
        assert!(matches!(world.undo()[..], [UndoOutcome::Settled { how: How::Restored }]));
        assert_eq!(world.tree.host().read_opt(GOVERNOR).as_deref(), Some("schedutil"));
    }

    #[test] // of older kernels only the attempt tells which interrupts they keep
    fn an_interrupt_that_the_kernel_keeps_is_noted_and_the_rest_go_on() {
        let change = |number| Change { setting: Setting::Interrupt(number), was: "0".into(), becomes: "1".into() };
        let changes = [41, 42, 43].map(change);
        let applied = apply_each(&changes, |change| match change.setting {
            Setting::Interrupt(number @ 42) => Err(SettingError::Kept { number }.into()),
            _ => Ok(Some(change.clone())),
        });
        let applied = applied.unwrap();
        assert_eq!(applied.made, [change(41), change(43)]);
        assert!(matches!(applied.kept[..], [SettingError::Kept { number: 42 }]));
        let refused =
            apply_each(&changes, |change| Err(SettingError::ReadOnly { setting: change.setting.clone() }.into()));
        assert!(matches!(refused, Err(FixError::Setting(SettingError::ReadOnly { .. }))));
    }

    #[test]
    fn a_damaged_journal_stops_everything_before_anything_is_changed() {
        let world = World::new();
        world.apply("500").unwrap();
        let path = journal::journal_path(world.state.path());
        let damaged = std::fs::read_to_string(&path).unwrap() + "garbage\n";
        std::fs::write(&path, &damaged).unwrap();
        let error = Fixer::open(world.tree.host(), world.state.path()).unwrap_err();
        assert!(matches!(error, JournalError::Corrupt { line: 3, .. }), "{error}");
        assert_eq!(world.value(), "500");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), damaged);
    }

    proptest! {
        // Few, since each case syncs a dozen times.
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// A run may die after any byte it wrote to the journal; the setting is written only behind a whole line.
        #[test]
        fn whenever_it_is_killed_undo_gives_the_first_value_back(values in proptest::collection::vec(101u32..999, 1..6), cut in 0.0f64..1.0) {
            let world = World::new();
            for value in &values {
                world.apply(&value.to_string()).unwrap();
            }
            let path = journal::journal_path(world.state.path());
            let bytes = std::fs::read(&path).unwrap();
            let length = (bytes.len() as f64 * cut) as usize;
            std::fs::write(&path, &bytes[..length]).unwrap();
            // Changes of the killed run: all whole entries, or all but the last of them.
            let standing = journal::read(&Host::this(), world.state.path()).unwrap().standing;
            for done in [standing.len(), standing.len().saturating_sub(1)] {
                std::fs::write(&path, &bytes[..length]).unwrap();
                let value = standing[..done].last().map_or("100", |entry| &entry.becomes);
                world.tree.put(RMEM, value);
                for outcome in world.undo() {
                    prop_assert!(matches!(outcome, UndoOutcome::Settled { .. }), "{:?}", outcome);
                }
                prop_assert_eq!(world.value(), "100");
            }
        }
    }
}
