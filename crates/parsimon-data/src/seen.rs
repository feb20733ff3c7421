//! Names that a parser has met before.
//!
//! A name is reported when it is first met. Nearly all names of a text have been met before, so that finding out must cost little.

/// The hashes of names that were met lately: who stands here has been asked about before.
///
/// PERF: small enough for the near caches, and large enough for most words of a text. Other words are looked up in [`Seen`].
#[derive(Debug, Default)]
pub(crate) struct Recent(Vec<u64>);

const RECENT: usize = 1 << 14;

impl Recent {
    pub(crate) fn new() -> Self {
        let mut hashes = vec![0; RECENT];
        // INVARIANT: the slot of a hash is its low bits. A 0 is a hash in slot 0 only; elsewhere it is an empty slot.
        hashes[0] = 1;
        Self(hashes)
    }

    /// Whether a hash stands here.
    #[inline(always)]
    pub(crate) fn has(&self, hash: u64) -> bool {
        self.0.get(hash as usize % RECENT) == Some(&hash)
    }

    /// Puts a hash in its place.
    #[inline(always)]
    pub(crate) fn put(&mut self, hash: u64) {
        if let Some(place) = self.0.get_mut(hash as usize % RECENT) {
            *place = hash;
        }
    }
}

/// Names that one parser thread has already reported.
///
/// Open addressing: the slot of a hash is its low bits, then linear probing. At most three of four slots are taken.
#[derive(Debug)]
pub(crate) struct Seen {
    /// Hash slots, 0 if empty; their number is a power of two.
    table: Vec<u64>,
    len: usize,
    /// Number of names after which all are forgotten and reported again.
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

    /// Prefetches the slot of a hash that will be looked up soon.
    #[inline(always)]
    pub(crate) fn prefetch(&self, hash: u64) {
        if let Some(place) = self.table.get(self.home(hash)) {
            parsimon_core::workspace::prefetch(place);
        }
    }

    /// Whether the hash is new. The hash 0 counts as 1.
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
        } else if 4 * self.len > 3 * self.table.len() {
            self.grow();
        }
        true
    }

    #[cold]
    fn grow(&mut self) {
        let len = 2 * self.table.len();
        let mut larger = parsimon_core::workspace::with_large_pages(len);
        larger.resize(len, 0);
        let hashes = std::mem::replace(&mut self.table, larger);
        self.len = 0;
        for hash in hashes.into_iter().filter(|hash| *hash != 0) {
            self.is_new(hash);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_hash_is_new_once() {
        let mut seen = Seen::new(usize::MAX);
        // Hashes with equal low bits, and enough of them that the table grows.
        let hashes = (0..20_000).map(|k: u64| k.wrapping_mul(0x9E37_79B9_7F4A_7C15) & !63);
        let hashes: Vec<u64> = hashes.chain([1]).collect();
        assert!(hashes.iter().all(|&h| seen.is_new(h) == (h != 1)), "0 counts as 1");
        assert!(hashes.iter().all(|&h| !seen.is_new(h)));
    }

    #[test]
    fn only_what_was_put_is_recent() {
        let mut recent = Recent::new();
        let hashes = [0, 1, RECENT as u64, 7 + (9 << 40), u64::MAX];
        assert!(hashes.iter().all(|&h| !recent.has(h)));
        for h in hashes {
            recent.put(h);
            assert!(recent.has(h));
        }
        assert!(!recent.has(0), "another has its place");
        let mut none = Recent::default();
        none.put(5);
        assert!(!none.has(5) && !none.has(0));
    }
}
