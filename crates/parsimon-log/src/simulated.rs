//! A disk that forgets, for tests of the log and of services on it: everything unsynced may be lost at a crash, block by block.
//!
//! The disk is a machine with a cache. Bytes are in the cache when written, on the platter when synced. [`State::crash`] keeps, of
//! every unsynced block, any of the versions it had, and of the unsynced names any subset of their changes.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::disk::{Disk, DiskFile};

/// A simulated disk. Clones are the same disk.
#[derive(Clone, Debug)]
pub struct SimulatedDisk {
    machine: Arc<Mutex<Machine>>,
}

/// Simulated faults.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    /// Writes from this one on fail with EIO, counted from 0, having written their first half.
    pub fail_writes_from: Option<usize>,
    /// The sync with this number fails with EIO, counted from 0; the cache forgets that the blocks are unsynced, and keeps them.
    pub fail_sync: Option<usize>,
    /// Largest total size of the files in bytes.
    pub room: Option<usize>,
    /// Full disks are noticed when a file is synced instead of when it is written, as with delayed allocation.
    pub late: bool,
    /// Reads give at most this many bytes.
    pub short_reads: Option<usize>,
    /// Every written byte at this offset of a file arrives with its lowest bit flipped.
    pub flip_at: Option<u64>,
    /// Syncs of the names from this one on fail, counted from 0; the names stay unsynced.
    pub fail_names_from: Option<usize>,
}

#[derive(Clone, Debug)]
struct Machine {
    state: State,
    block: usize,
    faults: Faults,
    writes: usize,
    syncs: usize,
    name_syncs: usize,
    locks: Arc<Mutex<BTreeSet<String>>>,
    /// The state after every change, if it is recorded.
    history: Option<Vec<State>>,
}

/// The contents of a simulated disk: cache and durable bytes.
#[derive(Clone, Debug, Default)]
pub struct State {
    files: BTreeMap<u64, Contents>,
    names: BTreeMap<String, u64>,
    durable_names: BTreeMap<String, u64>,
    pending: Vec<Change>,
    created: u64,
}

#[derive(Clone, Debug, Default)]
struct Contents {
    platter: Arc<Vec<u8>>,
    cache: Arc<Vec<u8>>,
    /// The versions of unsynced blocks since the last sync, oldest first.
    unsynced: BTreeMap<usize, Vec<Arc<Vec<u8>>>>,
}

#[derive(Clone, Debug)]
enum Change {
    Name(String, u64),
    Rename(String, String, u64),
    Remove(String),
}

impl State {
    /// Number of possible outcomes of every choice that a crash leaves open.
    pub fn choices(&self) -> Vec<usize> {
        let blocks = self.files.values().flat_map(|file| file.unsynced.values());
        blocks.map(|versions| versions.len() + 1).chain(self.pending.iter().map(|_| 2)).collect()
    }

    /// The disk after a power cut, with one number for every choice: 0 keeps what was synced, `n` version `n` of a block.
    #[must_use]
    pub fn crash(&self, choices: &[usize]) -> Self {
        let mut choices = choices.iter().copied();
        let mut files = self.files.clone();
        for file in files.values_mut() {
            for (at, versions) in std::mem::take(&mut file.unsynced) {
                if let Some(kept) = choices.next().unwrap_or(0).checked_sub(1) {
                    put(Arc::make_mut(&mut file.platter), at, &versions[kept]);
                }
            }
            file.cache = file.platter.clone();
        }
        let mut names = self.durable_names.clone();
        for change in &self.pending {
            if choices.next().unwrap_or(0) > 0 {
                change.apply(&mut names);
            }
        }
        files.retain(|file, _| names.values().any(|named| named == file));
        Self {
            files,
            durable_names: names.clone(),
            names,
            pending: Vec::new(),
            created: self.created,
        }
    }

    /// A hash of the durable bytes.
    pub fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for (name, file) in &self.durable_names {
            (name, &self.files.get(file).map(|file| &file.platter)).hash(&mut hasher);
        }
        hasher.finish()
    }
}

impl Change {
    fn apply(&self, names: &mut BTreeMap<String, u64>) {
        match self {
            Self::Name(name, file) => drop(names.insert(name.clone(), *file)),
            Self::Rename(from, to, file) => {
                names.remove(from);
                names.insert(to.clone(), *file);
            }
            Self::Remove(name) => drop(names.remove(name)),
        }
    }
}

fn put(bytes: &mut Vec<u8>, at: usize, block: &[u8]) {
    bytes.resize(bytes.len().max(at + block.len()), 0);
    bytes[at..at + block.len()].copy_from_slice(block);
}

impl SimulatedDisk {
    /// A disk with these contents, whose blocks of this size are written as a whole or not at all.
    pub fn new(state: State, block: usize) -> Self {
        let machine = Machine {
            state,
            block,
            faults: Faults::default(),
            writes: 0,
            syncs: 0,
            name_syncs: 0,
            locks: Arc::default(),
            history: None,
        };
        Self { machine: Arc::new(Mutex::new(machine)) }
    }

    /// Sets the faults from now on, and resets the counters.
    pub fn set_faults(&self, faults: Faults) {
        let mut machine = self.machine();
        machine.faults = faults;
        (machine.writes, machine.syncs, machine.name_syncs) = (0, 0, 0);
    }

    /// Records the state after every change from now on.
    pub fn record(&self) {
        let mut machine = self.machine();
        machine.history = Some(vec![machine.state.clone()]);
    }

    /// Number of states that were recorded.
    pub fn recorded(&self) -> usize {
        self.machine().history.as_ref().map_or(0, Vec::len)
    }

    /// The states that were recorded.
    pub fn take_history(&self) -> Vec<State> {
        self.machine().history.take().unwrap_or_default()
    }

    /// The present contents.
    pub fn state(&self) -> State {
        self.machine().state.clone()
    }

    /// Changes bytes of a file, on the platter and in the cache.
    pub fn damage(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let mut machine = self.machine();
        let Some(&file) = machine.state.names.get(name) else { return };
        if let Some(file) = machine.state.files.get_mut(&file) {
            change(Arc::make_mut(&mut file.cache));
            file.platter = file.cache.clone();
        }
    }

    fn machine(&self) -> MutexGuard<'_, Machine> {
        self.machine.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Machine {
    fn changed(&mut self) {
        if let Some(history) = &mut self.history {
            history.push(self.state.clone());
        }
    }

    fn used(&self) -> usize {
        self.state.names.values().map(|file| self.state.files[file].cache.len()).sum()
    }

    fn find(&self, name: &str) -> io::Result<u64> {
        self.state.names.get(name).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn change_names(&mut self, change: Change) {
        change.apply(&mut self.state.names);
        self.state.pending.push(change);
        self.changed();
    }

    fn is_full(&self) -> bool {
        self.faults.room.is_some_and(|room| self.used() > room)
    }

    fn write(&mut self, file: u64, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let number = self.writes;
        self.writes += 1;
        let fails = self.faults.fail_writes_from.is_some_and(|from| number >= from);
        let mut bytes = if fails { bytes[..bytes.len() / 2].to_vec() } else { bytes.to_vec() };
        if let Some(at) = self.faults.flip_at.and_then(|at| at.checked_sub(offset)) {
            bytes.get_mut(at as usize).into_iter().for_each(|byte| *byte ^= 1);
        }
        let (start, end, block) = (offset as usize, offset as usize + bytes.len(), self.block);
        let grows =
            self.state.files.get(&file).map_or(0, |file| end.saturating_sub(file.cache.len()));
        let full = self.faults.room.is_some_and(|room| grows > 0 && self.used() + grows > room);
        if full && !self.faults.late {
            return Err(io::ErrorKind::StorageFull.into());
        }
        if let Some(contents) = self.state.files.get_mut(&file) {
            put(Arc::make_mut(&mut contents.cache), start, &bytes);
            for at in (start / block * block..end).step_by(block) {
                let size = contents.cache.len();
                let version = contents.cache[at..size.min(at + block)].to_vec();
                contents.unsynced.entry(at).or_default().push(Arc::new(version));
            }
        }
        self.changed();
        if fails { Err(io::Error::other("simulated EIO on write")) } else { Ok(()) }
    }

    fn sync(&mut self, file: u64) -> io::Result<()> {
        let number = self.syncs;
        self.syncs += 1;
        let (fails, full) =
            (self.faults.fail_sync == Some(number), self.faults.late && self.is_full());
        if let Some(contents) = self.state.files.get_mut(&file) {
            let unsynced = std::mem::take(&mut contents.unsynced);
            let platter = Arc::make_mut(&mut contents.platter);
            for (index, (at, versions)) in unsynced.into_iter().enumerate() {
                // A sync that fails has written every other block.
                if let Some(version) = versions.last().filter(|_| !fails || index % 2 == 1) {
                    put(platter, at, version);
                }
            }
        }
        self.changed();
        match (fails, full) {
            (true, _) => Err(io::Error::other("simulated EIO on sync")),
            (_, true) => Err(io::ErrorKind::StorageFull.into()),
            _ => Ok(()),
        }
    }
}

impl Disk for SimulatedDisk {
    fn create(&self, name: &str) -> io::Result<Arc<dyn DiskFile>> {
        let mut machine = self.machine();
        if machine.find(name).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        machine.state.created += 1;
        let file = machine.state.created;
        machine.state.files.insert(file, Contents::default());
        machine.change_names(Change::Name(name.into(), file));
        Ok(Arc::new(SimulatedFile { disk: self.clone(), file }))
    }

    fn open(&self, name: &str, _: bool) -> io::Result<Arc<dyn DiskFile>> {
        let file = self.machine().find(name)?;
        Ok(Arc::new(SimulatedFile { disk: self.clone(), file }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut machine = self.machine();
        let file = machine.find(from)?;
        machine.change_names(Change::Rename(from.into(), to.into(), file));
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut machine = self.machine();
        machine.find(name)?;
        machine.change_names(Change::Remove(name.into()));
        Ok(())
    }

    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.machine().state.names.keys().cloned().collect())
    }

    fn sync_names(&self) -> io::Result<()> {
        let mut machine = self.machine();
        let number = machine.name_syncs;
        machine.name_syncs += 1;
        if machine.faults.fail_names_from.is_some_and(|from| number >= from) {
            return Err(io::Error::other("simulated EIO on the names"));
        }
        machine.state.durable_names = machine.state.names.clone();
        machine.state.pending.clear();
        machine.changed();
        Ok(())
    }

    fn lock(&self, name: &str) -> io::Result<Option<Box<dyn Send + Sync>>> {
        let locks = self.machine().locks.clone();
        let mut locked = locks.lock().unwrap_or_else(PoisonError::into_inner);
        let free = locked.insert(name.into());
        drop(locked);
        Ok(free.then(|| Box::new(Unlock { locks, name: name.into() }) as Box<dyn Send + Sync>))
    }

    fn path(&self, name: &str) -> String {
        format!("simulated/{name}")
    }
}

struct Unlock {
    locks: Arc<Mutex<BTreeSet<String>>>,
    name: String,
}

impl Drop for Unlock {
    fn drop(&mut self) {
        self.locks.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.name);
    }
}

struct SimulatedFile {
    disk: SimulatedDisk,
    file: u64,
}

impl DiskFile for SimulatedFile {
    fn size(&self) -> io::Result<u64> {
        let machine = self.disk.machine();
        Ok(machine.state.files.get(&self.file).map_or(0, |file| file.cache.len() as u64))
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let machine = self.disk.machine();
        let Some(file) = machine.state.files.get(&self.file) else { return Ok(0) };
        let rest = file.cache.get(offset as usize..).unwrap_or_default();
        let read =
            rest.len().min(bytes.len()).min(machine.faults.short_reads.unwrap_or(usize::MAX));
        bytes[..read].copy_from_slice(&rest[..read]);
        Ok(read)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.disk.machine().write(self.file, offset, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.machine().sync(self.file)
    }
}
