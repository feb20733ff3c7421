//! The names behind hashed slots.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

/// Which names live in which slot.
///
/// In [`Space::Ids`](crate::Space::Ids) a feature's name is its id and nothing is stored here. In a hashed space the
/// first name met in a slot stands for it in reports; further names of the slot are collisions.
///
/// ```
/// use parsimon_data::Names;
///
/// let mut names = Names::default();
/// names.insert(3, "age");
/// names.insert(3, "city=Paris");
/// names.insert(3, "age");
/// assert_eq!(names.name(3), Some("age"));
/// assert_eq!(names.all(3).collect::<Vec<_>>(), ["age", "city=Paris"]);
/// assert_eq!((names.len(), names.collisions()), (2, 1));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names {
    // One text for all names: a million of them should not be a million allocations.
    text: String,
    first: FxHashMap<u32, (usize, u32)>,
    more: BTreeMap<u32, Vec<String>>,
    more_len: usize,
}

impl Names {
    /// The first name met in a slot.
    pub fn name(&self, slot: u32) -> Option<&str> {
        let &(start, len) = self.first.get(&slot)?;
        self.text.get(start..start + len as usize)
    }

    /// Every name met in a slot, in order of appearance.
    pub fn all(&self, slot: u32) -> impl Iterator<Item = &str> {
        let more = self.more.get(&slot).into_iter().flatten().map(String::as_str);
        self.name(slot).into_iter().chain(more)
    }

    /// The number of distinct names.
    pub fn len(&self) -> usize {
        self.first.len() + self.more_len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// The number of slots with more than one name.
    pub fn collisions(&self) -> usize {
        self.more.len()
    }

    /// Adds a name; false when the slot has it already.
    pub fn insert(&mut self, slot: u32, name: &str) -> bool {
        // A name longer than 4 GiB cannot come from a line of at most 1 GiB.
        let Ok(len) = u32::try_from(name.len()) else {
            return false;
        };
        match self.name(slot) {
            None => {
                self.first.insert(slot, (self.text.len(), len));
                self.text.push_str(name);
            }
            Some(known) if known == name => return false,
            Some(_) => {
                let more = self.more.entry(slot).or_default();
                if more.iter().any(|known| known == name) {
                    return false;
                }
                more.push(name.to_owned());
                self.more_len += 1;
            }
        }
        true
    }

    /// Every slot with its names, sorted by slot, then in order of appearance.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        let mut slots: Vec<u32> = self.first.keys().copied().collect();
        slots.sort_unstable();
        slots.into_iter().flat_map(|slot| self.all(slot).map(move |name| (slot, name)))
    }
}

/// What one parser thread has already reported.
///
/// PERF: a name is reported when first seen, so the common case must only find out that it has been: one
/// load and one compare. The table holds 32 bits of the hash beyond those that index it, 0 for none.
/// Colliding names are kept apart in a set, which is asked only for them.
#[derive(Debug)]
pub(crate) struct Seen {
    table: Vec<u32>,
    bits: u32,
    others: FxHashSet<u64>,
}

impl Seen {
    // 64 MiB of address space, of which the system commits what is touched.
    const MOST_BITS: u32 = 24;

    pub(crate) fn new(bits: u8) -> Self {
        let bits = u32::from(bits).min(Self::MOST_BITS);
        Self { table: vec![0; 1 << bits], bits, others: FxHashSet::default() }
    }

    /// Says that a hash will be asked about soon.
    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        let at = (hash & ((1 << self.bits) - 1)) as usize;
        if let Some(mark) = self.table.get(at) {
            parsimon_core::prefetch(mark);
        }
    }

    /// Which of up to 64 hashes do not stand in the table, by bits.
    #[inline(always)]
    pub(crate) fn others(&self, hashes: &[u64]) -> u64 {
        let mut others = 0;
        for (k, &hash) in hashes.iter().enumerate().take(64) {
            let mark = ((hash >> self.bits) as u32).max(1);
            let at = (hash & ((1 << self.bits) - 1)) as usize;
            others |= u64::from(self.table.get(at) != Some(&mark)) << k;
        }
        others
    }

    /// Whether this is the first time.
    #[inline]
    pub(crate) fn is_new(&mut self, hash: u64) -> bool {
        let mark = ((hash >> self.bits) as u32).max(1);
        let at = (hash & ((1 << self.bits) - 1)) as usize;
        if self.table[at] == mark {
            return false;
        }
        self.is_new_slowly(hash, at, mark)
    }

    #[cold]
    fn is_new_slowly(&mut self, hash: u64, at: usize, mark: u32) -> bool {
        if self.table[at] == 0 {
            self.table[at] = mark;
            return true;
        }
        self.others.insert(hash & ((1 << (self.bits + 32)) - 1))
    }
}

/// Names seen for the first time by one parser, on their way to [`Names`].
#[derive(Clone, Debug, Default)]
pub(crate) struct News {
    text: Vec<u8>,
    items: Vec<(u32, usize)>,
}

impl News {
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.items.clear();
    }

    /// Reports `namespace^text`, or `text` alone when the namespace is anonymous.
    #[cold]
    pub(crate) fn push(&mut self, slot: u32, namespace: &[u8], text: &[u8]) {
        self.push_with(slot, |out| {
            if !namespace.is_empty() {
                out.extend_from_slice(namespace);
                out.push(b'^');
            }
            out.extend_from_slice(text);
        });
    }

    /// Reports the name that `write` appends.
    pub(crate) fn push_with(&mut self, slot: u32, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.text);
        self.items.push((slot, self.text.len()));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Adds other news at the end.
    pub(crate) fn append(&mut self, other: &News) {
        let start = self.text.len();
        self.text.extend_from_slice(&other.text);
        self.items.extend(other.items.iter().map(|&(slot, end)| (slot, start + end)));
    }

    pub(crate) fn merge_into(&self, names: &mut Names) {
        let mut start = 0;
        for &(slot, end) in &self.items {
            let name = &self.text[start..end];
            match std::str::from_utf8(name) {
                Ok(name) => names.insert(slot, name),
                Err(_) => names.insert(slot, &String::from_utf8_lossy(name)),
            };
            start = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_sorted_by_slot() {
        let mut names = Names::default();
        for (slot, name) in [(9, "i"), (2, "b"), (9, "j"), (2, "b"), (9, "i"), (9, "j")] {
            names.insert(slot, name);
        }
        assert_eq!(names.iter().collect::<Vec<_>>(), [(2, "b"), (9, "i"), (9, "j")]);
        assert_eq!((names.len(), names.collisions()), (3, 1));
        assert_eq!(names.name(4), None);
    }

    #[test]
    fn each_hash_is_new_once() {
        let mut seen = Seen::new(2);
        let hashes = [0_u64, 1 << 2, 1 << 40, 3, 3 | 1 << 5, u64::MAX >> 31];
        let first: Vec<_> = hashes.iter().map(|&h| seen.is_new(h)).collect();
        // Bits beyond the table's and the mark's are not looked at; the mark 0 is told as 1.
        assert_eq!(first, [true, false, false, true, true, true]);
        assert!(hashes.iter().all(|&h| !seen.is_new(h)));
    }
}
