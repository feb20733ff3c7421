//! The power fails while a file is written: what is on the disk afterwards is the old file or the new one, whole.
//!
//! The writer's operations are recorded. A disk may keep or lose each one that no later sync has made safe, in any combination, and of
//! a write also only its first half. All combinations are tried, at every moment.

use std::collections::BTreeSet;

use crate::container::{Container, Kind};
use crate::disk::record::{self, Recorded};
use crate::{OutputFile, write_file};

/// States of the output after a power loss.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Found {
    Nothing,
    Bytes(Vec<u8>),
}

/// Everything that may be on the disk if the power fails after the first `done` operations.
///
/// Bytes are safe once their file is synced, names once the folder is. A file that was created and not renamed is under a name
/// that nothing reads.
fn outcomes(operations: &[Recorded], done: usize, old: &Found) -> BTreeSet<Found> {
    let happened = &operations[..done];
    let is_safe = |at: usize| match &happened[at] {
        Recorded::Write(_) => happened[at..].contains(&Recorded::Sync),
        Recorded::Rename | Recorded::Create => happened[at..].contains(&Recorded::SyncFolder),
        Recorded::Sync | Recorded::SyncFolder => true,
    };
    // The part of each operation that has reached the disk: 0 nothing, 1 the first half, 2 all.
    let choices: Vec<Vec<u8>> = (0..done)
        .map(|at| match (&happened[at], is_safe(at)) {
            (_, true) => vec![2],
            (Recorded::Write(_), false) => vec![0, 1, 2],
            (_, false) => vec![0, 2],
        })
        .collect();
    let mut found = BTreeSet::new();
    let mut chosen = vec![0; done];
    loop {
        let kept: Vec<u8> = chosen.iter().zip(&choices).map(|(&i, all)| all[i]).collect();
        found.insert(after(happened, &kept, old));
        // The next combination, as a number counts up.
        let Some(at) = (0..done).find(|&at| chosen[at] + 1 < choices[at].len()) else { break };
        chosen[..at].fill(0);
        chosen[at] += 1;
    }
    found
}

/// The disk with these parts of the operations.
fn after(operations: &[Recorded], kept: &[u8], old: &Found) -> Found {
    let (mut name, mut bytes, mut length) = (old.clone(), Vec::new(), 0);
    let mut is_renamed = false;
    for (operation, &kept) in operations.iter().zip(kept) {
        match operation {
            Recorded::Write(written) => {
                let part = &written[..written.len() * usize::from(kept) / 2];
                // Bytes that were lost before others that were kept are a hole of zeros.
                if kept > 0 {
                    bytes.resize(length, 0);
                    bytes.extend_from_slice(part);
                }
                length += written.len();
            }
            Recorded::Rename => is_renamed |= kept == 2,
            Recorded::Create | Recorded::Sync | Recorded::SyncFolder => {}
        }
    }
    if is_renamed {
        name = Found::Bytes(bytes);
    }
    name
}

/// Why a sequence of operations is not safe; `None` if it is.
fn flaw(operations: &[Recorded], old: &Found, new: &[u8]) -> Option<String> {
    let new = Found::Bytes(new.to_vec());
    for done in 0..=operations.len() {
        for found in outcomes(operations, done, old) {
            if found != *old && found != new {
                return Some(format!("after {done} operations the file is torn"));
            }
            if done == operations.len() && found != new {
                return Some("the file is not the new one although writing has ended".into());
            }
        }
    }
    None
}

/// The bytes of a small model and of another.
fn containers() -> [Vec<u8>; 2] {
    [1u8, 2].map(|k| {
        let mut container = Container::new(serde_json::json!({ "rows": k }));
        container.push("state", vec![k; 40]);
        container.to_bytes(Kind::Checkpoint)
    })
}

/// Operations that replace a file and that write a new one, in one piece and in several.
fn recordings() -> Vec<(Vec<Recorded>, Found)> {
    let folder = tempfile::tempdir().unwrap();
    let [old, new] = containers();
    let mut recordings = Vec::new();
    for (name, before) in [("new", None), ("old", Some(&old))] {
        let path = folder.path().join(name);
        let reset = || match before {
            Some(bytes) => std::fs::write(&path, bytes).unwrap(),
            None => {
                let _ = std::fs::remove_file(&path);
            }
        };
        let found = before.map_or(Found::Nothing, |bytes| Found::Bytes(bytes.clone()));
        reset();
        let whole = record::of(|| write_file(&path, &new).unwrap());
        recordings.push((whole, found.clone()));
        reset();
        let pieces = record::of(|| {
            let mut file = OutputFile::create(&path).unwrap();
            for piece in new.chunks(new.len().div_ceil(3)) {
                file.put(piece).unwrap();
                std::io::Write::flush(&mut file).unwrap();
            }
            file.commit().unwrap();
        });
        recordings.push((pieces, found));
        assert_eq!(std::fs::read(&path).unwrap(), new);
    }
    recordings
}

#[test]
fn the_file_is_the_old_one_or_the_new_one() {
    let [_, new] = containers();
    for (operations, old) in recordings() {
        assert_eq!(flaw(&operations, &old, &new), None, "{operations:?}");
        // The simulation sees what it should: both files are possible, and nothing else.
        let all: BTreeSet<Found> =
            (0..=operations.len()).flat_map(|done| outcomes(&operations, done, &old)).collect();
        assert_eq!(all.len(), 2);
    }
}

/// A writer without one of its safeguards does what these mutations do, and each of them is seen.
#[test]
fn every_safeguard_is_needed() {
    let [_, new] = containers();
    for (operations, old) in recordings() {
        for (safeguard, flawed) in [
            (Recorded::Sync, "is torn"),
            (Recorded::Rename, "is not the new one"),
            (Recorded::SyncFolder, "is not the new one"),
        ] {
            let at = operations.iter().position(|o| *o == safeguard).unwrap();
            let mut without = operations.clone();
            without.remove(at);
            let flaw = flaw(&without, &old, &new).unwrap();
            assert!(flaw.contains(flawed), "without {safeguard:?}: {flaw}");
        }
        // The right operations in the wrong order.
        let sync = operations.iter().position(|o| *o == Recorded::Sync).unwrap();
        let rename = operations.iter().position(|o| *o == Recorded::Rename).unwrap();
        let mut late = operations.clone();
        late.swap(sync, rename);
        assert!(flaw(&late, &old, &new).is_some_and(|flaw| flaw.contains("is torn")));
        // Written in place: no temporary file, no rename; the old file is gone before the new one is whole.
        let in_place: Vec<Recorded> = [Recorded::Rename]
            .into_iter()
            .chain(operations.iter().filter(|o| **o != Recorded::Rename).cloned())
            .collect();
        assert!(flaw(&in_place, &old, &new).is_some());
    }
}
