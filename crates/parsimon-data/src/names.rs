//! The names behind hashed slots.

use std::collections::HashSet;

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
#[derive(Clone, Debug, Default)]
pub struct Names {
    // One text for all names: a million of them should not be a million allocations.
    text: String,
    /// Sorted by slot, then in order of appearance.
    items: Vec<Item>,
}

/// A name: its slot, and where in the text it stands.
#[derive(Clone, Copy, Debug)]
struct Item {
    slot: u32,
    len: u32,
    start: usize,
}

impl Names {
    /// The first name met in a slot.
    pub fn name(&self, slot: u32) -> Option<&str> {
        self.all(slot).next()
    }

    /// Every name met in a slot, in order of appearance.
    pub fn all(&self, slot: u32) -> impl Iterator<Item = &str> {
        let first = self.items.partition_point(|item| item.slot < slot);
        let here = self.items[first..].iter().take_while(move |item| item.slot == slot);
        here.map(|item| self.read(item))
    }

    /// The number of distinct names.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The bytes that the names take, with a copy that a model or a checkpoint is made of.
    pub fn room(&self) -> u64 {
        3 * (self.text.len() + self.items.len() * size_of::<Item>()) as u64
    }

    /// The number of slots with more than one name.
    pub fn collisions(&self) -> usize {
        self.items.chunk_by(|a, b| a.slot == b.slot).filter(|slot| slot.len() > 1).count()
    }

    /// Adds a name; false when the slot has it already. Many names are better collected, or added by [`extend`](Names::extend).
    pub fn insert(&mut self, slot: u32, name: &str) -> bool {
        if self.all(slot).any(|known| known == name) {
            return false;
        }
        let behind = self.items.partition_point(|item| item.slot <= slot);
        let Some(item) = self.write(slot, name) else { return false };
        self.items.insert(behind, item);
        true
    }

    /// Adds the names of others; in a slot that has names of both, these come first.
    ///
    /// ```
    /// use parsimon_data::Names;
    ///
    /// let mut names = Names::from_iter([(7, "b"), (3, "age")]);
    /// names.extend(&Names::from_iter([(3, "city=Paris"), (7, "b")]));
    /// assert_eq!(names.iter().collect::<Vec<_>>(), [(3, "age"), (3, "city=Paris"), (7, "b")]);
    /// ```
    pub fn extend(&mut self, other: &Names) {
        *self = self.iter().chain(other.iter()).collect();
    }

    /// Every slot with its names, sorted by slot, then in order of appearance.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        self.items.iter().map(|item| (item.slot, self.read(item)))
    }

    fn read(&self, item: &Item) -> &str {
        self.text.get(item.start..item.start + item.len as usize).unwrap_or_default()
    }

    fn write(&mut self, slot: u32, name: &str) -> Option<Item> {
        // A name longer than 4 GiB cannot come from a line of at most 1 GiB.
        let (len, start) = (u32::try_from(name.len()).ok()?, self.text.len());
        self.text.push_str(name);
        Some(Item { slot, len, start })
    }
}

impl PartialEq for Names {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<'a> FromIterator<(u32, &'a str)> for Names {
    fn from_iter<T: IntoIterator<Item = (u32, &'a str)>>(names: T) -> Self {
        let mut news = News::default();
        names.into_iter().for_each(|(slot, name)| news.push(slot, b"", name.as_bytes()));
        Self::from(&news)
    }
}

impl From<&News> for Names {
    fn from(news: &News) -> Self {
        // PERF: put in order once, instead of finding a place for each; a million names in a tenth of a second.
        let mut order: Vec<(u32, u32)> =
            (0u32..).zip(&news.items).map(|(k, &(slot, _))| (slot, k)).collect();
        order.sort_unstable();
        let mut names = Names::default();
        names.items.reserve(order.len());
        names.text.reserve(news.text.len());
        for (slot, k) in order {
            let name = String::from_utf8_lossy(news.name(k as usize));
            let known = names.items.iter().rev().take_while(|item| item.slot == slot);
            if !known.map(|item| names.read(item)).any(|known| known == name) {
                let item = names.write(slot, &name);
                names.items.extend(item);
            }
        }
        names
    }
}

/// Names in the order in which they were met, with repetitions. They become [`Names`] when they are wanted in order.
#[derive(Clone, Debug, Default)]
pub struct NewNames(News);

impl NewNames {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds names that were met later.
    pub fn append(&mut self, later: &NewNames) {
        self.0.append(&later.0);
    }
}

impl From<&NewNames> for Names {
    fn from(names: &NewNames) -> Self {
        Names::from(&names.0)
    }
}

/// The slots that still want a name, where names are only wanted for some, one for each.
#[derive(Debug)]
pub(crate) struct Unnamed(Option<HashSet<u32>>);

impl Unnamed {
    pub(crate) fn new(slots: Option<&HashSet<u32>>) -> Self {
        Self(slots.cloned())
    }

    /// Whether the name of a slot is wanted, which it then has.
    pub(crate) fn takes(&mut self, slot: u32) -> bool {
        self.0.as_mut().is_none_or(|slots| slots.remove(&slot))
    }

    /// Adds the names that are wanted to others; whether there were some.
    pub(crate) fn append(&mut self, later: &News, names: &mut News) -> bool {
        let before = names.items.len();
        match self.0 {
            None => names.append(later),
            Some(_) => {
                for (slot, name) in later.iter().filter(|(slot, _)| self.takes(*slot)) {
                    names.push(slot, b"", name);
                }
            }
        }
        names.items.len() > before
    }
}

/// What one parser thread has already reported.
///
/// PERF: a name is reported when first seen, so the common case must only find out that it has been: one load and one
/// compare. The hash of a name stands at the place its lowest bits say, or behind. At most half of the places are taken.
#[derive(Debug)]
pub(crate) struct Seen {
    /// 0 where nobody stands; as many as a power of two.
    table: Vec<u64>,
    len: usize,
    /// After so many, all are forgotten and reported again.
    most: usize,
}

impl Seen {
    pub(crate) fn new(most: usize) -> Self {
        Self { table: vec![0; 1 << 12], len: 0, most }
    }

    pub(crate) fn most(&self) -> usize {
        self.most
    }

    fn home(&self, hash: u64) -> usize {
        hash as usize & (self.table.len() - 1)
    }

    /// Says that a hash will be asked about soon.
    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        if let Some(place) = self.table.get(self.home(hash)) {
            parsimon_core::prefetch(place);
        }
    }

    /// Which of up to 64 hashes do not stand where they would first be looked for, by bits.
    #[inline(always)]
    pub(crate) fn others(&self, hashes: &[u64]) -> u64 {
        let mut others = 0;
        for (k, &hash) in hashes.iter().enumerate().take(64) {
            others |= u64::from(self.table.get(self.home(hash)) != Some(&hash)) << k;
        }
        others
    }

    /// Whether this is the first time. The hash 0 is told as 1.
    #[inline]
    pub(crate) fn is_new(&mut self, hash: u64) -> bool {
        let hash = hash.max(1);
        let mut at = self.home(hash);
        loop {
            match self.table[at] {
                known if known == hash => return false,
                0 => break,
                _ => at = (at + 1) & (self.table.len() - 1),
            }
        }
        self.table[at] = hash;
        self.len += 1;
        if self.len > self.most {
            *self = Self::new(self.most);
        } else if 2 * self.len > self.table.len() {
            self.grow();
        }
        true
    }

    #[cold]
    fn grow(&mut self) {
        let len = 4 * self.table.len();
        let mut larger = parsimon_core::huge::with_capacity(len);
        larger.resize(len, 0);
        let hashes = std::mem::replace(&mut self.table, larger);
        self.len = 0;
        for hash in hashes.into_iter().filter(|hash| *hash != 0) {
            self.is_new(hash);
        }
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

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// The bytes that the names take, at most, with those that so many parsers remember, and with the copies in order that a model and
    /// a checkpoint are made of.
    pub(crate) fn room(&self, parsers: usize) -> u64 {
        // A parser's table has up to eight places of eight bytes for each name, and a quarter of that again while it grows.
        let each = 80 * parsers as u64 + 6 * size_of::<(u32, usize)>() as u64;
        let text = self.text.len() as u64;
        (self.items.len() as u64).saturating_mul(each).saturating_add(6 * text)
    }

    /// A copy without the first so many.
    pub(crate) fn since(&self, known: usize) -> NewNames {
        let start = known.checked_sub(1).map_or(0, |last| self.items[last].1);
        let items = self.items[known..].iter().map(|&(slot, end)| (slot, end - start)).collect();
        NewNames(News { text: self.text[start..].to_vec(), items })
    }

    /// Adds other news at the end.
    pub(crate) fn append(&mut self, other: &News) {
        let start = self.text.len();
        self.text.extend_from_slice(&other.text);
        self.items.extend(other.items.iter().map(|&(slot, end)| (slot, start + end)));
    }

    /// Every name with its slot, in the order they were reported.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> {
        self.items.iter().enumerate().map(|(k, &(slot, _))| (slot, self.name(k)))
    }

    fn name(&self, k: usize) -> &[u8] {
        let start = k.checked_sub(1).map_or(0, |before| self.items[before].1);
        &self.text[start..self.items[k].1]
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
    fn names_collected_are_names_inserted() {
        let items: Vec<(u32, String)> =
            (0..3000).map(|k: u32| (k * 7919 % 97, format!("n{}", k * 31 % 13))).collect();
        let mut inserted = Names::default();
        items.iter().for_each(|(slot, name)| {
            inserted.insert(*slot, name);
        });
        let collected: Names = items.iter().map(|(slot, name)| (*slot, name.as_str())).collect();
        assert_eq!(inserted, collected);
        assert_eq!(
            (inserted.len(), inserted.collisions()),
            (collected.len(), collected.collisions())
        );
        assert_eq!(collected.len(), 97 * 13);
    }

    #[test]
    fn each_hash_is_new_once() {
        let mut seen = Seen::new(usize::MAX);
        // Some that share a home, and so many that the table grows.
        let hashes = (0..20_000).map(|k: u64| k.wrapping_mul(0x9E37_79B9_7F4A_7C15) & !63);
        let hashes: Vec<u64> = hashes.chain([1]).collect();
        assert!(hashes.iter().all(|&h| seen.is_new(h) == (h != 1)), "0 is told as 1");
        assert!(hashes.iter().all(|&h| !seen.is_new(h)));
        assert_eq!(seen.others(&[hashes[1], 5 << 33]) & 2, 2, "a stranger");
    }
}
