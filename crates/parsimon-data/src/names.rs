//! The names behind hashed slots.

use std::collections::HashSet;

/// Names of hash slots.
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

    /// Drops names that stand earlier in the same slot.
    fn drop_repetitions(&mut self) {
        let text = self.text.as_bytes();
        let name = |item: &Item| text.get(item.start..item.start + item.len as usize);
        let mut kept = 0;
        for k in 0..self.items.len() {
            let item = self.items[k];
            let mut known = self.items[..kept].iter().rev().take_while(|i| i.slot == item.slot);
            if !known.any(|known| known.len == item.len && name(known) == name(&item)) {
                self.items[kept] = item;
                kept += 1;
            }
        }
        self.items.truncate(kept);
    }

    fn write(&mut self, slot: u32, name: &str) -> Option<Item> {
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
        Self::from(news)
    }
}

impl From<News> for Names {
    fn from(news: News) -> Self {
        let (text, ends) = news.into_text();
        let mut start = 0;
        let item = |(slot, end): (u32, usize)| {
            let (begin, len) = (start, end - start);
            start = end;
            // A name longer than 4 GiB cannot come from a line of at most 1 GiB.
            Some(Item { slot, len: u32::try_from(len).ok()?, start: begin })
        };
        let mut names = Names { text, items: ends.into_iter().filter_map(item).collect() };
        // PERF: only the positions of the names are sorted; the text is not moved.
        sort_by_slot(&mut names.items);
        names.drop_repetitions();
        names
    }
}

/// Sorts names by their slots; the sort is stable.
///
/// PERF: a radix sort has no mispredicted comparisons: a million names take a hundredth of a second.
fn sort_by_slot(items: &mut Vec<Item>) {
    const DIGIT: usize = 12;
    /// Fewer are sorted faster than counted.
    const FEW: usize = 1 << DIGIT;
    if items.len() < FEW {
        return items.sort_by_key(|item| item.slot);
    }
    let largest = items.iter().map(|item| item.slot).max().unwrap_or(0);
    let mut sorted = parsimon_core::workspace::with_large_pages(items.len());
    sorted.resize(items.len(), items[0]);
    for shift in (0..u32::BITS).step_by(DIGIT).take_while(|shift| largest >> shift != 0) {
        let digit = |item: &Item| (item.slot >> shift) as usize % FEW;
        let mut places = vec![0; FEW];
        items.iter().for_each(|item| places[digit(item)] += 1);
        let mut before = 0;
        for place in &mut places {
            before += std::mem::replace(place, before);
        }
        for item in &*items {
            let place = &mut places[digit(item)];
            sorted[*place] = *item;
            *place += 1;
        }
        std::mem::swap(items, &mut sorted);
    }
}

/// Names in the order in which they were met, with repetitions. They become [`Names`] when they are wanted in order.
#[derive(Clone, Debug, Default)]
pub struct NewNames(News);

impl NewNames {
    /// Number of items.
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
        Names::from(names.0.clone())
    }
}

/// The slots that still want a name, where names are only wanted for some, one for each.
#[derive(Debug)]
pub(crate) struct Unnamed(Option<HashSet<u32>>);

impl Unnamed {
    pub(crate) fn new(slots: Option<&HashSet<u32>>) -> Self {
        Self(slots.cloned())
    }

    /// Notes that a slot has got its name. Returns whether the name was wanted.
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

    /// The bytes that the names take, at most, with those that the parsers remember, and with the sorted copies that a model and
    /// a checkpoint are made of.
    pub(crate) fn room(&self, parsers: usize) -> u64 {
        // A parser's table has fewer than three places of eight bytes for each name, and half of that again while it grows.
        let each = 36 * parsers as u64 + 6 * size_of::<(u32, usize)>() as u64;
        let text = self.text.len() as u64;
        (self.items.len() as u64).saturating_mul(each).saturating_add(6 * text)
    }

    /// Returns a copy without the first `count`.
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

    /// The names as one text, and where each ends in it. What is no UTF-8 is replaced.
    fn into_text(self) -> (String, Vec<(u32, usize)>) {
        let News { text, items } = self;
        let text = match String::from_utf8(text) {
            Ok(text) if items.iter().all(|&(_, end)| text.is_char_boundary(end)) => {
                return (text, items);
            }
            // Two halves of a character in two names.
            Ok(text) => text.into_bytes(),
            Err(error) => error.into_bytes(),
        };
        let (news, mut text) = (News { text, items }, String::new());
        let mend = |(slot, name): (u32, &[u8])| {
            text.push_str(&String::from_utf8_lossy(name));
            (slot, text.len())
        };
        let items = news.iter().map(mend).collect();
        (text, items)
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
    fn many_names_are_put_in_order_as_few_are() {
        // More than one digit of a slot, slots with several names, and names that come again.
        let slot = |k: u32| {
            if k.is_multiple_of(3) { k % 700 } else { k.wrapping_mul(0x9e37_79b9) >> (k % 2 * 8) }
        };
        let name = |k: u32| (slot(k), format!("n{}", k % 9999));
        let items: Vec<(u32, String)> = (0..20_000).chain(900..1100).map(name).collect();
        let many: Names = items.iter().map(|(slot, name)| (*slot, name.as_str())).collect();
        let mut sorted: Vec<(u32, &str)> = Vec::new();
        let mut order: Vec<usize> = (0..items.len()).collect();
        order.sort_by_key(|&k| items[k].0);
        for k in order {
            let (slot, name) = (items[k].0, items[k].1.as_str());
            if !sorted.iter().rev().take_while(|n| n.0 == slot).any(|n| n.1 == name) {
                sorted.push((slot, name));
            }
        }
        assert_eq!(many.iter().collect::<Vec<_>>(), sorted);
        assert!(many.collisions() > 0 && many.len() < items.len());
    }

    #[test]
    fn what_is_no_text_is_replaced_within_its_name() {
        let mut news = News::default();
        // The two bytes of one letter, in two names; and a byte that is none.
        let bytes: [&[u8]; 4] = [b"a\xc3", b"\xa9b", b"\xff", "\u{e9}".as_bytes()];
        (0..).zip(bytes).for_each(|(slot, name)| news.push(slot, b"", name));
        let names = Names::from(news.clone());
        let expected = [(0, "a\u{fffd}"), (1, "\u{fffd}b"), (2, "\u{fffd}"), (3, "\u{e9}")];
        assert_eq!(names.iter().collect::<Vec<_>>(), expected);
        news.clear();
        bytes[..2].iter().for_each(|name| news.push(7, b"", name));
        let names = Names::from(news);
        assert_eq!(names.all(7).collect::<Vec<_>>(), ["a\u{fffd}", "\u{fffd}b"]);
    }
}
