//! Storage of the coordinates of several settings, in the order in which features were first seen.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::marker::PhantomData;

use crate::Float;
use crate::StateError;
use crate::prefetch::prefetch;
use crate::room::{self, Coming, FAR};
use crate::table::Multiply;

/// The coordinates of `K` settings side by side: two numbers of each for every feature that was seen.
///
/// An array of slots for sixteen settings would mostly be empty. Here an array has a number of 4 bytes for each slot, which tells
/// where the coordinate is, and the coordinates themselves are as many as there are features. How they are found never changes
/// an answer.
///
/// ```
/// use parsimon_core::Packed;
///
/// let mut packed = Packed::<f32, 4>::growing();
/// let place = packed.place_or_new(7);
/// packed.get_mut(place)[1][2] = 1.5;
/// assert_eq!(packed.find(7), Some(place));
/// assert_eq!(packed.find(8), None);
/// assert_eq!(packed.get(place), &[[0.0; 4], [0.0, 0.0, 1.5, 0.0]]);
/// ```
#[derive(Clone, Debug)]
pub struct Packed<F, const K: usize> {
    /// One more than the place of each index below the limit, 0 if there is none.
    array: Vec<u32>,
    limit: u32,
    map: HashMap<u32, u32, BuildHasherDefault<Multiply>>,
    ids: Vec<u32>,
    numbers: Vec<F>,
    /// Offset of the first coordinate: at the beginning of a cache line, which is faster than other offsets.
    start: usize,
    coordinate: PhantomData<[F; K]>,
}

const CACHE_LINE: usize = 64;

impl<F: Float, const K: usize> Packed<F, K> {
    /// An array for the indices below `slots`; larger ones are found through an index.
    pub fn dense(slots: u32) -> Self {
        Self { array: vec![0; slots as usize], limit: slots, ..Self::index() }
    }

    /// An array that grows with the largest index seen; indices far out are found through an index.
    pub fn growing() -> Self {
        Self { limit: FAR, ..Self::index() }
    }

    /// An array that grows with the largest index seen below `slots`; larger ones are found through an index.
    pub fn growing_to(slots: u32) -> Self {
        Self { limit: slots, ..Self::index() }
    }

    /// No array: every coordinate is found through an index.
    pub fn index() -> Self {
        Self {
            array: Vec::new(),
            limit: 0,
            map: HashMap::default(),
            ids: Vec::new(),
            numbers: Vec::new(),
            start: 0,
            coordinate: PhantomData,
        }
    }

    /// Number of coordinates.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Position of the coordinate of feature `j`, if it was seen.
    #[inline(always)]
    pub fn find(&self, j: u32) -> Option<u32> {
        match self.array.get(j as usize) {
            Some(&place) => place.checked_sub(1),
            None => self.find_outside(j),
        }
    }

    /// Position of the coordinate of feature `j`; a new coordinate is zero.
    #[inline(always)]
    pub fn place_or_new(&mut self, j: u32) -> u32 {
        match self.array.get(j as usize) {
            Some(&place) if place > 0 => place - 1,
            _ => self.place_outside(j),
        }
    }

    /// Position of a coordinate of a saved state, which is new.
    pub(crate) fn place_restored(&mut self, j: u32) -> Result<u32, StateError> {
        if j < self.limit && j as usize >= self.array.len() {
            let len = room::grown(u64::from(j) + 1, self.limit);
            room::claim((len - self.array.len() as u64) * size_of::<u32>() as u64)?;
        }
        Ok(self.place_or_new(j))
    }

    /// The bytes of the table once some rows are learned, at most.
    pub fn room(&self, coming: Coming) -> u64 {
        let limit = u64::from(self.limit);
        let (end, far) = match self.limit {
            _ if coming.end <= limit => (coming.end, 0),
            FAR => (coming.near_end, coming.far),
            _ => (limit, coming.features),
        };
        let after = if end == 0 { 0 } else { room::grown(end, self.limit) };
        // An array has one place for each index at most.
        let unseen =
            if coming.end <= limit { after.max(self.array.len() as u64) } else { u64::MAX };
        let seen = (self.ids.len() as u64 + coming.features as u64).min(unseen);
        room::array(self.array.len(), after, size_of::<u32>())
            .saturating_add(room::saved(seen.saturating_mul(K as u64), 2 * size_of::<F>()))
            .saturating_add(room::index(self.map.len() as u64 + far as u64))
            .saturating_add(room::vector(seen, size_of::<u32>() + 2 * K * size_of::<F>()))
    }

    /// All coordinates by place, with room for more.
    #[inline(always)]
    pub fn all(&self) -> &[[[F; K]; 2]] {
        self.numbers[self.start..].as_chunks().0.as_chunks().0
    }

    /// Like the method above, but mutable.
    #[inline(always)]
    pub fn all_mut(&mut self) -> &mut [[[F; K]; 2]] {
        self.numbers[self.start..].as_chunks_mut().0.as_chunks_mut().0
    }

    /// The numbers at a place that was found here.
    #[inline(always)]
    pub fn get(&self, place: u32) -> &[[F; K]; 2] {
        &self.all()[place as usize]
    }

    /// Like the method above, but mutable.
    #[inline(always)]
    pub fn get_mut(&mut self, place: u32) -> &mut [[F; K]; 2] {
        &mut self.all_mut()[place as usize]
    }

    /// Prefetches the numbers at a place.
    #[inline(always)]
    pub fn prefetch(&self, place: u32) {
        let line = CACHE_LINE / size_of::<F>();
        self.get(place).as_flattened().iter().step_by(line).for_each(prefetch);
    }

    /// Every coordinate with its index, in the order of first sight.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &[[F; K]; 2])> {
        (0u32..).zip(&self.ids).map(|(place, &j)| (j, self.get(place)))
    }

    #[cold]
    #[inline(never)]
    fn find_outside(&self, j: u32) -> Option<u32> {
        if j < self.limit { None } else { self.map.get(&j).copied() }
    }

    #[cold]
    #[inline(never)]
    fn place_outside(&mut self, j: u32) -> u32 {
        if let Some(place) = self.find(j) {
            return place;
        }
        let place = self.ids.len() as u32;
        if j < self.limit {
            if j as usize >= self.array.len() {
                self.array.resize(room::grown(u64::from(j) + 1, self.limit) as usize, 0);
            }
            self.array[j as usize] = place + 1;
        } else {
            self.map.insert(j, place);
        }
        self.ids.push(j);
        let end = self.start + self.ids.len() * 2 * K;
        if end > self.numbers.len() {
            self.grow(end);
        }
        place
    }

    /// Makes room for more than `len` numbers.
    fn grow(&mut self, len: usize) {
        let line = CACHE_LINE / size_of::<F>();
        // PERF: pages of zeros take no memory before they are written.
        let mut numbers = vec![F::ZERO; len.next_power_of_two().max(64 * K) + line];
        let start = numbers.as_ptr().align_offset(CACHE_LINE).min(line);
        let old = &self.numbers[self.start..];
        let used = old.len().min(len - self.start);
        numbers[start..start + used].copy_from_slice(&old[..used]);
        (self.numbers, self.start) = (numbers, start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_coordinates_are_found_never_changes_an_answer() {
        let mut stores = [Packed::<f32, 2>::dense(64), Packed::growing(), Packed::index()];
        let ids = (0..5000u32).map(|k| k.wrapping_mul(2_654_435_761) % 9001 + 1);
        let ids: Vec<u32> = ids.chain([63, 64, 1 << 26, u32::MAX]).collect();
        for store in &mut stores {
            for &j in &ids {
                let place = store.place_or_new(j);
                assert_eq!(store.find(j), Some(place));
                store.get_mut(place)[1][0] += j as f32;
            }
            assert_eq!(store.find(9_002), None);
            assert_eq!(store.find(70_000_000), None);
        }
        let [dense, growing, index] = &stores;
        assert!(dense.len() > 1900);
        assert!(dense.iter().eq(growing.iter()));
        assert!(dense.iter().eq(index.iter()));
        assert!(dense.iter().all(|(j, c)| c[1][0] % (j as f32) == 0.0 && c[0] == [0.0; 2]));
    }

    #[test]
    fn coordinates_begin_with_a_cache_line() {
        let mut store = Packed::<f32, 8>::growing();
        (0..5000).for_each(|j| _ = store.place_or_new(j));
        let is_aligned = |c: &[[f32; 8]; 2]| (c.as_ptr() as usize).is_multiple_of(CACHE_LINE);
        assert!(store.iter().all(|(_, c)| is_aligned(c)));
    }
}
