//! Names of features as files hold them: one text, and the slot and the end of each name.

use parsimon_core::workspace::with_large_pages;

use crate::container::Container;

/// Names in the order of their slots.
///
/// PERF: names stay in the layout of the file; a map with an allocation per name took most of the time of loading.
#[derive(Clone, Debug, Default)]
pub(crate) struct FeatureNames {
    slots: Vec<u32>,
    ends: Vec<u64>,
    text: String,
}

impl FeatureNames {
    /// Adds a name; no slot may come before that of the last one.
    pub(crate) fn push(&mut self, slot: u32, name: &str) {
        self.text.push_str(name);
        self.slots.push(slot);
        self.ends.push(self.text.len() as u64);
    }

    /// The first name of a slot.
    pub(crate) fn get(&self, slot: u32) -> Option<&str> {
        let k = self.slots.partition_point(|&other| other < slot);
        (self.slots.get(k) == Some(&slot)).then(|| self.name(k))
    }

    /// The slots with their names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        self.slots.iter().enumerate().map(|(k, &slot)| (slot, self.name(k)))
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether no slot has two names.
    pub(super) fn are_unique(&self) -> bool {
        self.slots.is_sorted_by(|a, b| a < b)
    }

    /// INVARIANT: the ends ascend, each at the end of a character.
    fn name(&self, k: usize) -> &str {
        let start = k.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[k] as usize]
    }

    /// The names of a file.
    pub(crate) fn read(container: &Container<'_>) -> Result<Self, String> {
        let slots = numbers(container, "names.slots", u32::from_le_bytes)?;
        let ends = numbers(container, "names.ends", u64::from_le_bytes)?;
        let mut text = with_large_pages(container.section("names.text").len());
        text.extend_from_slice(container.section("names.text"));
        let text = String::from_utf8(text).map_err(|_| "names.text: this is not UTF-8 text")?;
        if slots.len() != ends.len() || ends.last().copied().unwrap_or(0) != text.len() as u64 {
            return Err("names.ends: the names do not fill names.text, one for each slot".into());
        }
        if !slots.is_sorted() {
            return Err("names.slots: the slots are not in order".into());
        }
        // The last end is the length of the text, so that ends in order are inside of it.
        let is_boundary = |end: &u64| text.is_char_boundary(*end as usize);
        match ends.is_sorted() && (text.is_ascii() || ends.iter().all(is_boundary)) {
            true => Ok(Self { slots, ends, text }),
            false => Err("names.ends: a name ends before it begins, or inside a character".into()),
        }
    }
}

/// Slots, ends and text of names, each with the slot of a feature, in the order of slots.
pub(crate) fn encode_names<'a>(names: impl Iterator<Item = (u32, &'a str)>) -> [Vec<u8>; 3] {
    let mut sections = [Vec::new(), Vec::new(), Vec::new()];
    let [slots, ends, text] = &mut sections;
    for (slot, name) in names {
        slots.extend(slot.to_le_bytes());
        text.extend_from_slice(name.as_bytes());
        ends.extend((text.len() as u64).to_le_bytes());
    }
    sections
}

/// Adds the sections of names.
pub(crate) fn push_names<'a>(container: &mut Container<'a>, sections: &'a [Vec<u8>; 3]) {
    for (name, bytes) in ["names.slots", "names.ends", "names.text"].iter().zip(sections) {
        container.push(name, &bytes[..]);
    }
}

/// Numbers of a section; bytes that do not fill a number are an error.
///
/// PERF: in large pages, because the system takes longer to provide memory page by page than to copy into it.
pub(super) fn numbers<const N: usize, T>(
    container: &Container<'_>,
    section: &str,
    mut le: impl FnMut([u8; N]) -> T,
) -> Result<Vec<T>, String> {
    let (chunks, rest) = container.section(section).as_chunks::<N>();
    if !rest.is_empty() {
        return Err(format!("{section}: its bytes do not fill whole numbers"));
    }
    let mut numbers = with_large_pages(chunks.len());
    numbers.extend(chunks.iter().map(|chunk| le(*chunk)));
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(slots: &[u32], ends: &[u64], text: &[u8]) -> Result<FeatureNames, String> {
        let bytes = [
            slots.iter().flat_map(|slot| slot.to_le_bytes()).collect(),
            ends.iter().flat_map(|end| end.to_le_bytes()).collect(),
            text.to_vec(),
        ];
        let mut container = Container::new(serde_json::Value::Null);
        push_names(&mut container, &bytes);
        FeatureNames::read(&container)
    }

    #[test]
    fn names_are_found_by_their_slots() {
        let mut names = FeatureNames::default();
        let all = [(0, "zero"), (3, ""), (3, "second of 3"), (9, "größe"), (u32::MAX, "last")];
        all.iter().for_each(|(slot, name)| names.push(*slot, name));
        assert_eq!(names.iter().collect::<Vec<_>>(), all);
        assert_eq!(names.get(3), Some(""));
        assert_eq!([0, 9, u32::MAX].map(|j| names.get(j)), ["zero", "größe", "last"].map(Some));
        assert_eq!([1, 4, 10, u32::MAX - 1].map(|j| names.get(j)), [None; 4]);
        assert!(!names.are_unique());
        let mut container = Container::new(serde_json::Value::Null);
        let sections = encode_names(names.iter());
        push_names(&mut container, &sections);
        assert!(FeatureNames::read(&container).unwrap().iter().eq(all));
    }

    #[test]
    fn sections_that_make_no_sense_are_refused() {
        assert!(read(&[1, 2], &[1, 3], b"abc").is_ok());
        assert!(read(&[], &[], b"").unwrap().is_empty());
        let filled = "names.ends: the names do not fill names.text, one for each slot";
        let inside = "names.ends: a name ends before it begins, or inside a character";
        for (slots, ends, text, words) in [
            (&[1, 2][..], &[1][..], &b"a"[..], filled),
            (&[1, 2], &[1, 4], b"abc", filled),
            (&[], &[], b"abc", filled),
            (&[2, 1], &[1, 3], b"abc", "names.slots: the slots are not in order"),
            (&[1, 2, 3], &[2, 1, 3], b"abc", inside),
            (&[1, 2], &[u64::MAX, 3], b"abc", inside),
            (&[1, 2], &[1, 3], "a\u{e9}".as_bytes(), ""),
            (&[1, 2], &[2, 3], "a\u{e9}".as_bytes(), inside),
            (&[1], &[2], b"\xff\xff", "names.text: this is not UTF-8 text"),
        ] {
            let found = read(slots, ends, text).map_or_else(|error| error, |_| String::new());
            assert_eq!(found, words, "{slots:?} {ends:?}");
        }
    }
}
