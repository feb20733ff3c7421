//! Storage of equally long blocks of numbers, one for each feature that was seen.

use crate::room::{self, Coming};
use crate::{Float, StateError, Table};

/// Bytes that are allocated at once, if a block is not larger.
const AT_ONCE: usize = 1 << 16;

/// Blocks of numbers, found by feature, in the order of first sight.
///
/// They are allocated a few at a time and never move: a growing array would need their memory twice while it is copied.
pub struct Blocks<F> {
    /// One more than the place of each feature, 0 if there is none.
    places: Table<u32>,
    ids: Vec<u32>,
    /// The length of a block, and the number of blocks that are allocated together.
    width: usize,
    group: usize,
    groups: Vec<Vec<F>>,
}

impl<F: Float> Blocks<F> {
    /// Features are found through an index, or an array of a number for each feature.
    pub fn new(places: Table<u32>) -> Self {
        Self { places, ids: Vec::new(), width: 0, group: 1, groups: Vec::new() }
    }

    /// Features are found through an index.
    pub fn index() -> Self {
        Self::new(Table::index())
    }

    /// Empty blocks of some length.
    pub(super) fn of_width(self, width: usize) -> Self {
        Self { width, group: Self::group(width), ..self }
    }

    /// Number of blocks of some length that are allocated together.
    fn group(width: usize) -> usize {
        (AT_ONCE / (width.max(1) * size_of::<F>())).max(1)
    }

    /// Number of blocks.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    #[inline(always)]
    pub(super) fn find(&self, j: u32) -> Option<u32> {
        self.places.get(j).checked_sub(1)
    }

    #[inline(always)]
    pub(super) fn place_or_new(&mut self, j: u32) -> u32 {
        match self.find(j) {
            Some(place) => place,
            None => self.place_new(j),
        }
    }

    #[cold]
    #[inline(never)]
    fn place_new(&mut self, j: u32) -> u32 {
        let place = self.ids.len() as u32;
        *self.places.slot(j) = place + 1;
        self.ids.push(j);
        if self.ids.len() > self.groups.len() * self.group {
            self.groups.push(vec![F::ZERO; self.group * self.width]);
        }
        place
    }

    /// The place of a block of a saved state that has `bytes` bytes left.
    pub(super) fn place_restored(&mut self, j: u32, left: usize) -> Result<u32, StateError> {
        // A forged state runs out of bytes before it runs out of memory.
        crate::state::fits(left >= self.width * size_of::<F>(), "a coordinate")?;
        self.places.fill(j, self.ids.len() as u32 + 1)?;
        *self.places.slot(j) = 0;
        Ok(self.place_or_new(j))
    }

    #[inline(always)]
    pub(super) fn get(&self, place: u32) -> &[F] {
        let place = place as usize;
        &self.groups[place / self.group][place % self.group * self.width..][..self.width]
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, place: u32) -> &mut [F] {
        let place = place as usize;
        &mut self.groups[place / self.group][place % self.group * self.width..][..self.width]
    }

    /// Every block with its feature, in the order of first sight.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &[F])> {
        (0u32..).zip(&self.ids).map(|(place, &j)| (j, self.get(place)))
    }

    /// Replaces every block by a shorter one. The memory of a group is freed before the next group is replaced.
    pub(super) fn narrow(&mut self, width: usize, pick: impl Fn(&[F]) -> Vec<F>) {
        let (before, len) = (self.width.max(1), self.ids.len());
        let old = std::mem::take(&mut self.groups);
        (self.width, self.group) = (width, Self::group(width));
        let mut done = 0;
        for group in old {
            for block in group.chunks_exact(before).take(len - done) {
                if done == self.groups.len() * self.group {
                    self.groups.push(Vec::with_capacity(self.group * width));
                }
                if let Some(last) = self.groups.last_mut() {
                    last.extend(pick(block));
                }
                done += 1;
            }
        }
        if let Some(last) = self.groups.last_mut() {
            last.resize(self.group * width, F::ZERO);
        }
    }

    /// The bytes of all blocks once some rows are learned, at most, with those of a model and a checkpoint.
    pub(super) fn room(&self, coming: Coming, classes: usize) -> u64 {
        let seen = self.ids.len() as u64 + coming.features as u64;
        let blocks = seen.saturating_mul((self.width * size_of::<F>()) as u64);
        // A checkpoint copies the blocks into a vector that doubles.
        blocks
            .saturating_mul(3)
            .saturating_add(room::saved(seen.saturating_mul(classes as u64), 2 * size_of::<F>()))
            .saturating_add(room::vector(seen, size_of::<u32>()))
            .saturating_add(self.places.bare_room(coming))
    }
}
