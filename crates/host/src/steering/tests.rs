//! Steering on a card that is played: which requests its driver gets, which it refuses, and that all is given back.

use std::sync::{Arc, Mutex, PoisonError};

use rustix::io::Errno;

use super::*;
use crate::ethtool::{Command, RULE_WORDS, RULES, TABLE};

/// A card and its driver, as `drivers/net/ethernet` has them: what it lacks is not supported.
#[derive(Clone, Default)]
struct Played(Arc<Mutex<State>>);

#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    /// A place for each rule.
    rules: Option<Vec<Option<[u32; RULE_WORDS]>>>,
    /// Whether the driver chooses the place.
    chooses: bool,
    table: Option<Vec<u32>>,
    /// Those that receive, and combined ones.
    channels: Option<(u32, u32)>,
    gone: bool,
    permits_nothing: bool,
    /// Makes another rule of each.
    misunderstands: bool,
}

impl Played {
    fn with(state: State) -> Played {
        Played(Arc::new(Mutex::new(state)))
    }

    fn state(&self) -> State {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn change(&self, how: impl FnOnce(&mut State)) {
        how(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn steer(&self, registry: &Registry, ports: &[u16], queues: &str) -> Result<Steering, SteeringError> {
        let place = Place { interface: "eth0", namespace: 7, registry };
        let queues = if queues.is_empty() { Queues::Chosen } else { queues.parse().unwrap() };
        Steering::of(Box::new(self.clone()), &place, ports, queues)
    }

    /// UDP port and queue of each rule.
    fn rules(&self) -> Vec<(u16, u32)> {
        let fields = |row: &[u32; RULE_WORDS]| {
            let [_, _, high, low] = row[7].to_ne_bytes();
            (u16::from_be_bytes([high, low]), row[42].max(row[43]))
        };
        self.state().rules.unwrap_or_default().iter().flatten().map(fields).collect()
    }
}

impl Driver for Played {
    fn ask(&self, command: Command, row: &mut [u32]) -> io::Result<()> {
        let state = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.gone {
            return Err(Errno::NODEV.into());
        }
        let changes =
            matches!(command, Command::InsertRule | Command::DeleteRule | Command::SetTable | Command::SetChannels);
        if changes && state.permits_nothing {
            return Err(Errno::PERM.into());
        }
        match command {
            Command::GetChannels | Command::SetChannels => channels(state, command, row),
            Command::GetTable | Command::SetTable => table(state, command, row),
            Command::GetRings => match state.table {
                Some(_) => put(row, 4),
                None => Err(Errno::OPNOTSUPP.into()),
            },
            _ => rules(state, command, row),
        }
    }
}

fn put(row: &mut [u32], value: u64) -> io::Result<()> {
    let bytes = value.to_ne_bytes();
    row[2] = u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    row[3] = u32::from_ne_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
    Ok(())
}

fn channels(state: &mut State, command: Command, row: &mut [u32]) -> io::Result<()> {
    let counts = state.channels.as_mut().ok_or(Errno::OPNOTSUPP)?;
    match command {
        Command::GetChannels => (row[5], row[8]) = *counts,
        _ if row[5] + row[8] == 0 => return Err(Errno::INVAL.into()),
        _ => *counts = (row[5], row[8]),
    }
    Ok(())
}

fn table(state: &mut State, command: Command, row: &mut [u32]) -> io::Result<()> {
    let table = state.table.as_mut().ok_or(Errno::OPNOTSUPP)?;
    match (command, row[TABLE - 1] as usize) {
        (Command::GetTable, 0) => row[TABLE - 1] = table.len() as u32,
        (Command::GetTable, size) if size >= table.len() => row[TABLE..][..table.len()].copy_from_slice(table),
        (Command::SetTable, 0) => table.iter_mut().zip((0..4).cycle()).for_each(|(entry, queue)| *entry = queue),
        (Command::SetTable, size) if size == table.len() && row[TABLE..].iter().all(|&queue| queue < 4) => {
            table.copy_from_slice(&row[TABLE..]);
        }
        _ => return Err(Errno::INVAL.into()),
    }
    Ok(())
}

fn rules(state: &mut State, command: Command, row: &mut [u32]) -> io::Result<()> {
    let rules = state.rules.as_mut().ok_or(Errno::OPNOTSUPP)?;
    let at = row[44] as usize;
    match command {
        Command::CountRules => {
            row[RULES] = rules.iter().flatten().count() as u32;
            put(row, rules.len() as u64 | if state.chooses { 0x8000_0000 } else { 0 })?;
        }
        Command::ListRules => {
            let taken = (0_u32..).zip(rules.iter()).filter(|(_, rule)| rule.is_some()).map(|(at, _)| at);
            for (place, at) in row[RULES + 1..].iter_mut().zip(taken) {
                *place = at;
            }
            put(row, rules.len() as u64)?;
        }
        Command::GetRule => row.copy_from_slice(rules.get(at).copied().flatten().as_ref().ok_or(Errno::NOENT)?),
        Command::DeleteRule => *rules.get_mut(at).filter(|rule| rule.is_some()).ok_or(Errno::NOENT)? = None,
        Command::InsertRule => {
            let chosen = state.chooses.then(|| rules.iter().position(Option::is_none)).flatten();
            let at = if at == u32::MAX as usize { chosen.ok_or(Errno::NOSPC)? } else { at };
            let place = rules.get_mut(at).ok_or(Errno::INVAL)?;
            row[44] = at as u32;
            let mut taken: [u32; RULE_WORDS] = (&*row).try_into().map_err(|_| Errno::INVAL)?;
            if state.misunderstands {
                taken[43] = 9;
            }
            *place = Some(taken);
        }
        other => panic!("{other:?} was requested"),
    }
    Ok(())
}

fn registry() -> (tempfile::TempDir, Registry) {
    let dir = tempfile::tempdir().unwrap();
    let registry = Registry::at(dir.path());
    (dir, registry)
}

/// Records in the folder of a registry.
fn records(dir: &tempfile::TempDir) -> usize {
    let records = std::fs::read_dir(dir.path()).unwrap().flatten();
    records.filter(|file| file.file_name().to_string_lossy().ends_with(".jsonl")).count()
}

fn four_queues() -> State {
    State { channels: Some((0, 4)), ..State::default() }
}

fn full_card() -> State {
    State { rules: Some(vec![None; 8]), table: Some((0..4).cycle().take(16).collect()), ..four_queues() }
}

#[test]
fn rules_take_each_port_to_a_queue_in_turn_and_go_with_the_steering() {
    for chooses in [false, true] {
        let (dir, registry) = registry();
        let card = Played::with(State { chooses, ..full_card() });
        let steering = card.steer(&registry, &[49_152, 7, 9], "2-3").unwrap();
        assert_eq!(steering.queues(), Some(2..=3));
        assert_eq!(steering.summary(), Some("queues 2-3 of eth0 by its rules"));
        let mut rules = card.rules();
        rules.sort_unstable();
        assert_eq!(rules, [(7, 3), (9, 2), (49_152, 2)]);
        assert_eq!((card.state().table, card.state().channels), (full_card().table, full_card().channels));
        assert_eq!(records(&dir), 1);
        drop(steering);
        assert_eq!(card.state(), State { chooses, ..full_card() });
        assert_eq!(records(&dir), 0);
    }
}

/// `ethtool -N lo flow-type udp4 dst-port 49152 action 2` of Debian 12 (ethtool 6.1) hands the kernel these bytes, where
/// the driver answers that there are 16 places and no rules (a library in front of `ioctl` answered so, and wrote them down).
const OF_ETHTOOL: [&str; 4] = [
    "320000000000000010000000000000000200000000000000000000000000c00000000000000000000000000000000000",
    "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000",
    "000000000000ffff00000000000000000000000000000000000000000000000000000000000000000000000000000000",
    "00000000000000000000000000000000000000000000000002000000000000000f000000000000000000000000000000",
];

#[test]
#[cfg(target_endian = "little")]
fn a_rule_is_what_ethtool_makes_of_the_same_words_byte_for_byte() {
    let digits: Vec<char> = OF_ETHTOOL.concat().chars().collect();
    let bytes: Vec<u8> =
        digits.chunks(2).map(|pair| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap()).collect();
    let mut theirs: Vec<u32> = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    // The last question of ethtool has left that there: `data` means nothing to an insertion.
    assert_eq!(std::mem::take(&mut theirs[2]), 16);
    let (_dir, registry) = registry();
    let card = Played::with(State { rules: Some(vec![None; 16]), ..four_queues() });
    let _steering = card.steer(&registry, &[49_152], "2").unwrap();
    let mut ours = card.state().rules.unwrap()[15].unwrap();
    ours[0] = Command::InsertRule as u32;
    assert_eq!(ours.as_slice(), theirs);
}

#[test]
fn a_rule_of_another_program_is_used_and_stays() {
    let (_dir, registry) = registry();
    let card = Played::with(full_card());
    let theirs = card.steer(&registry, &[5000], "1").unwrap();
    let before = card.state();
    std::mem::forget(theirs);
    let (_dir, registry) = self::registry();
    let steering = card.steer(&registry, &[5000, 5001], "1").unwrap();
    assert_eq!(card.rules().len(), 2);
    drop(steering);
    assert_eq!(card.state(), before);
}

#[test]
fn a_full_table_of_rules_leaves_none_behind_and_the_next_way_is_gone() {
    for chooses in [false, true] {
        let (_dir, registry) = registry();
        let card = Played::with(State { rules: Some(vec![None; 1]), chooses, ..full_card() });
        let steering = card.steer(&registry, &[1, 2], "1").unwrap();
        assert_eq!(card.rules(), []);
        assert_eq!(steering.summary(), Some("queue 1 of eth0 by its table"));
        assert_eq!(card.state().table, Some(vec![1; 16]));
        drop(steering);
        assert_eq!(card.state().table, full_card().table);
        // A change that touches others is for named queues only.
        let chosen = card.steer(&registry, &[1, 2], "").unwrap();
        assert_eq!(chosen.queues(), None);
        let why = chosen.summary().unwrap();
        assert!(why.starts_with("all queues of eth0, no rules: No space left on device"), "{why}");
        assert_eq!((card.rules(), card.state().table), (vec![], full_card().table));
    }
}

#[test]
fn a_table_is_written_for_one_queue_only() {
    let (_dir, registry) = registry();
    let card = Played::with(State { rules: None, channels: None, ..full_card() });
    let steering = card.steer(&registry, &[1], "2-3").unwrap();
    assert_eq!((steering.queues(), card.state().table), (None, full_card().table));
    assert!(steering.summary().unwrap().contains("no table: it is written for one queue only"), "{steering:?}");
}

#[test]
fn without_rules_and_table_the_card_has_fewer_queues_meanwhile() {
    for (before, after) in [((0, 4), (0, 2)), ((4, 0), (2, 0))] {
        let (dir, registry) = registry();
        let card = Played::with(State { channels: Some(before), ..State::default() });
        let steering = card.steer(&registry, &[1], "0-1").unwrap();
        assert_eq!(steering.summary(), Some("queues 0-1 of eth0 by its channels"));
        assert_eq!(card.state().channels, Some(after));
        drop(steering);
        assert_eq!((card.state().channels, records(&dir)), (Some(before), 0));
    }
}

#[test]
fn where_no_way_can_be_gone_all_queues_are_had_and_each_reason_is_reported() {
    let (dir, registry) = registry();
    let card = Played::with(State { permits_nothing: true, ..full_card() });
    let steering = card.steer(&registry, &[1], "0").unwrap();
    assert_eq!((steering.queues(), steering.there()), (None, Some(4)));
    let why = steering.summary().unwrap();
    for way in ["no rules: Operation not permitted", "no table: Operation not permitted", "no channels: Operation not"]
    {
        assert!(why.contains(way), "{why}");
    }
    assert_eq!(records(&dir), 0);
    let without = Played::with(four_queues());
    let why = without.steer(&registry, &[1], "1").unwrap().summary().unwrap().to_owned();
    assert!(why.contains("no channels: these are not the first queues of one kind"), "{why}");
}

#[test]
fn a_rule_of_which_the_driver_makes_another_is_taken_back() {
    let (_dir, registry) = registry();
    let card = Played::with(State { misunderstands: true, ..full_card() });
    let steering = card.steer(&registry, &[1, 2], "").unwrap();
    assert_eq!(steering.queues(), None);
    assert!(steering.summary().unwrap().ends_with("no rules: the driver made something else of it"), "{steering:?}");
    assert_eq!(card.rules(), []);
}

#[test]
fn what_can_not_be_recorded_is_not_done() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("no-folder");
    std::fs::write(&file, "").unwrap();
    let card = Played::with(full_card());
    let steering = card.steer(&Registry::at(file), &[1], "").unwrap();
    assert_eq!(steering.queues(), None);
    assert!(steering.summary().unwrap().contains("no-folder is a regular file; expected: a folder"), "{steering:?}");
    assert_eq!(card.state(), full_card());
}

#[test]
fn a_queue_that_is_not_there_is_named_with_those_that_are() {
    let (_dir, registry) = registry();
    let error = Played::with(full_card()).steer(&registry, &[1], "2-9").unwrap_err();
    assert_eq!(error.to_string(), "eth0 has no receive queue 9: it has 4, numbered from 0");
    // By the number of rings where the driver says nothing of channels.
    let by_rings = Played::with(State { channels: None, ..full_card() });
    assert!(matches!(by_rings.steer(&registry, &[1], "4"), Err(SteeringError::NoQueue { there: 4, .. })));
    let gone = Played::with(State { gone: true, ..full_card() });
    assert!(matches!(gone.steer(&registry, &[1], ""), Err(SteeringError::Gone { .. })));
}

#[test]
fn one_queue_and_all_queues_take_no_change() {
    let (dir, registry) = registry();
    let one = Played::with(State { channels: Some((1, 0)), ..full_card() });
    for queues in ["", "0"] {
        let steering = one.steer(&registry, &[1], queues).unwrap();
        assert_eq!(steering.summary(), None);
    }
    let unsaid = Played::with(State::default());
    assert_eq!(unsaid.steer(&registry, &[1], "").unwrap().queues(), None);
    let all = Played::with(full_card()).steer(&registry, &[1], "0-3").unwrap();
    assert_eq!((all.queues(), all.summary()), (Some(0..=3), None));
    assert_eq!(records(&dir), 0);
}

#[test]
fn a_card_that_goes_away_has_nothing_to_give_back() {
    let (dir, registry) = registry();
    let card = Played::with(full_card());
    let steering = card.steer(&registry, &[1], "1").unwrap();
    card.change(|state| state.gone = true);
    drop(steering);
    assert_eq!(records(&dir), 0);
}

#[test]
fn a_table_that_a_card_has_forgotten_is_written_again() {
    let (_dir, registry) = registry();
    let card = Played::with(State { rules: None, ..full_card() });
    let steering = card.steer(&registry, &[1], "1").unwrap();
    card.change(|state| state.table = Some(vec![0; 16]));
    steering.renew().unwrap();
    assert_eq!(card.state().table, Some(vec![1; 16]));
    drop(steering);
    assert_eq!(card.state().table, full_card().table);
}

#[test]
fn what_another_program_has_set_since_is_left_as_it_is() {
    let (dir, registry) = registry();
    let card = Played::with(State { rules: None, ..full_card() });
    let steering = card.steer(&registry, &[1], "1").unwrap();
    card.change(|state| state.table = Some(vec![2; 16]));
    drop(steering);
    assert_eq!((card.state().table, records(&dir)), (Some(vec![2; 16]), 0));
}

#[test]
fn a_change_that_is_refused_at_the_end_stays_on_record() {
    let (dir, registry) = registry();
    let card = Played::with(full_card());
    let steering = card.steer(&registry, &[1], "1").unwrap();
    card.change(|state| state.permits_nothing = true);
    drop(steering);
    assert_eq!((card.rules().len(), records(&dir)), (1, 1));
}

#[test]
fn a_card_that_another_has_queues_of_is_refused_and_so_is_one_that_a_killed_one_left() {
    let (dir, registry) = registry();
    let card = Played::with(State { rules: None, ..full_card() });
    let first = card.steer(&registry, &[1], "1").unwrap();
    let taken = card.steer(&registry, &[2], "2").unwrap_err();
    assert_eq!(taken.to_string(), format!("another takt, process {}, has taken queues of eth0", std::process::id()));
    assert_eq!(card.state().table, Some(vec![1; 16]), "nothing was changed");
    let other = Place { interface: "eth1", namespace: 7, registry: &registry };
    other.is_free_for("1".parse().unwrap(), &[1]).unwrap();
    // As a kill leaves it: a record that nobody holds.
    let record = std::fs::read_dir(dir.path()).unwrap().flatten().find(|file| file.path().extension().is_some());
    let text = std::fs::read(record.unwrap().path()).unwrap();
    drop(first);
    std::fs::write(dir.path().join("run-1-0.jsonl"), text).unwrap();
    for queues in ["2", ""] {
        assert!(matches!(card.steer(&registry, &[2], queues), Err(SteeringError::LeftBehind { .. })), "{queues}");
    }
    // This card is played: `clean` finds no interface of that name in a namespace of that number.
    registry.clean().unwrap();
    card.steer(&registry, &[2], "2").unwrap();
}

#[test] // its rule was taken for another program's, so that nothing recorded it, and `takt clean` took it from under the engine
fn a_rule_that_a_killed_one_left_is_not_taken_over_and_one_of_a_live_one_is_in_nobodys_way() {
    let (dir, registry) = registry();
    let card = Played::with(full_card());
    // Alone, so that the record is its own.
    let second = card.steer(&registry, &[2], "").unwrap();
    let record = std::fs::read_dir(dir.path()).unwrap().flatten().find(|file| file.path().extension().is_some());
    let text = std::fs::read(record.unwrap().path()).unwrap();
    let alive = card.steer(&registry, &[1], "").unwrap();
    assert_eq!(card.rules().len(), 2, "one beside the other");
    drop(second);
    // Beside one that lives, whose record may be read first.
    std::fs::write(dir.path().join("run-1-0.jsonl"), text).unwrap();
    let refused = card.steer(&registry, &[2], "").unwrap_err();
    assert!(matches!(refused, SteeringError::LeftBehind { .. }), "{refused}");
    drop(alive);
    assert!(matches!(card.steer(&registry, &[1, 2], ""), Err(SteeringError::LeftBehind { .. })));
    card.steer(&registry, &[1], "").expect("another port: nothing of it can be taken over");
    assert!(matches!(card.steer(&registry, &[1], "1"), Err(SteeringError::LeftBehind { .. })));
}
