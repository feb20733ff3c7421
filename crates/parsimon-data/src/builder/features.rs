//! Features of a row and their names.

use super::Builder;
use crate::seen::{Recent, Seen};
use crate::{Space, hash, row_sort};

impl Builder {
    /// The logarithm of the number of slots.
    pub(crate) fn bits(&self) -> u8 {
        self.bits
    }

    /// Whether features are ids.
    pub(crate) fn is_ids(&self) -> bool {
        self.spec.space == Space::Ids
    }

    /// Adds a feature of the id space.
    #[inline]
    pub(crate) fn push_id(&mut self, id: u32, value: f64) {
        self.chunk.push_feature(id, value);
    }

    /// Notes an id whose digits are hashed, for [`repeated_id`](Builder::repeated_id).
    pub(crate) fn note_id(&mut self, id: u32) {
        self.noted_ids.push(id);
    }

    /// The least of the ids noted for this row that was noted twice.
    pub(crate) fn repeated_id(&mut self) -> Option<u32> {
        self.noted_ids.sort_unstable();
        let repeated =
            self.noted_ids.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
        self.noted_ids.clear();
        repeated
    }

    /// Adds features of the id space.
    #[inline]
    pub(crate) fn push_ids(&mut self, ids: &[u32], values: &[f64]) {
        self.chunk.push_features(ids, values);
    }

    /// Adds features of value 1; the caller may replace the values.
    #[inline]
    pub(crate) fn push_ones(&mut self, ids: impl Iterator<Item = u32>) -> (&[u32], &mut [f64]) {
        self.chunk.push_ones(ids)
    }

    /// The seed of a namespace.
    #[inline(always)]
    pub(crate) fn seed(&self, namespace: &[u8]) -> u64 {
        match namespace {
            // PERF: most are called by one letter.
            &[letter] => self.letters[letter as usize].0,
            _ => hash::namespace(namespace),
        }
    }

    /// Adds a feature of the hashed space: `text` in a namespace and its seed.
    #[inline]
    pub(crate) fn push_named(&mut self, seed: u64, namespace: &[u8], text: &[u8], value: f64) {
        let h = hash::feature(seed, text);
        self.hashed.push(hash::slot(h, self.bits), value);
        self.report_name(h, || (namespace, text));
        if let Some(cross) = &mut self.cross {
            cross.add(h, namespace, text, value);
        }
    }

    /// Adds features of the hashed space by their slots, the last of their row or not; their names are for the caller to report, and they
    /// take part in no interaction.
    #[inline]
    pub(crate) fn push_slots(&mut self, slots: &[u32], values: &[f64], are_last: bool) {
        // PERF: a whole row need not be put together first.
        let Self { hashed, chunk, .. } = self;
        if are_last
            && hashed.slots.is_empty()
            && row_sort::push_distinct(slots, values, &mut hashed.buffers, chunk)
        {
            return;
        }
        self.hashed.slots.extend_from_slice(slots);
        self.hashed.values.extend_from_slice(values);
    }

    /// Whether names are kept.
    pub(crate) fn keeps_names(&self) -> bool {
        self.seen.is_some()
    }

    /// Prefetches the entry of a name that will be reported soon.
    #[inline(always)]
    pub(crate) fn prefetch_name(&self, h: u64) {
        if let Some(seen) = &self.seen {
            seen.prefetch(h);
        }
    }

    /// Reports a name, namespace and text, if it is new.
    #[inline(always)]
    pub(crate) fn report_name<'a>(&mut self, h: u64, name: impl FnOnce() -> (&'a [u8], &'a [u8])) {
        if let Some(seen) = &mut self.seen
            && !self.recent.has(h)
        {
            self.recent.put(h);
            if seen.is_new(h) {
                let (namespace, text) = name();
                self.out.news.push(hash::slot(h, self.bits), namespace, text);
            }
        }
    }

    /// Forgets which names were reported, so that all are new again.
    pub(crate) fn forget_names(&mut self) {
        if let Some(seen) = &mut self.seen {
            *seen = Seen::new(seen.most());
            self.recent = Recent::new();
        }
    }
}
