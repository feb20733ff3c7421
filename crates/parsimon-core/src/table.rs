//! Tables of coordinates.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

use crate::prefetch::prefetch_items;
use crate::room::{self, Coming, FAR};
use crate::state::fits;
use crate::{State, StateError, huge, scattered};

/// The bytes of an array that stays in the nearest cache by itself.
const NEAR: usize = 32 << 10;

/// Coordinates of an array that are checked together: a line of the cache, if each has eight bytes.
const GROUP: usize = 8;

/// Coordinates of an array that are visited together.
const BLOCK: usize = 512;

/// Calls `work` for every block of an array, with the number of its first item and the numbers of its groups that are not all zeros. The
/// caller checks the items behind the last whole group of a block.
///
/// PERF: most items of a large array are the default, and the others are scattered. The groups with others are written into a list, without a
/// branch that would be mispredicted.
#[inline(always)]
fn each_block<C: State>(array: &[C], mut work: impl FnMut(u32, &[C], &[u32])) {
    let mut groups = [0u32; BLOCK / GROUP];
    for (start, block) in (0u32..).step_by(BLOCK).zip(array.chunks(BLOCK)) {
        let mut len = 0;
        for (k, group) in (0u32..).zip(block.as_chunks::<GROUP>().0) {
            groups[len % (BLOCK / GROUP)] = k;
            len += usize::from(group.iter().fold(0, |bits, c| bits | c.bits()) != 0);
        }
        work(start, block, &groups[..len]);
    }
}

/// Calls `visit` in order for every item that is not the default, of some groups of a block and behind the last group.
#[inline(always)]
fn visit_groups<C: State>(start: u32, block: &[C], groups: &[u32], mut visit: impl FnMut(u32, &C)) {
    let (default, mut items, mut seen) = (C::default(), [0u32; BLOCK], 0);
    let (whole, few) = block.as_chunks::<GROUP>();
    for &k in groups {
        if let Some(group) = whole.get(k as usize) {
            for (item, c) in (GROUP as u32 * k..).zip(group) {
                items[seen % BLOCK] = item;
                seen += usize::from(c.bits() != 0);
            }
        }
    }
    for (item, c) in ((block.len() - few.len()) as u32..).zip(few) {
        items[seen % BLOCK] = item;
        seen += usize::from(c.bits() != 0);
    }
    for &item in &items[..seen] {
        match block.get(item as usize) {
            // The bits of -0 are not 0.
            Some(c) if *c != default => visit(start + item, c),
            _ => {}
        }
    }
}

/// Calls `visit` for every item of an array that is not the default, in order.
#[inline(always)]
fn visit_seen<C: State>(array: &[C], mut visit: impl FnMut(u32, &C)) {
    let default = C::default();
    if default.bits() == 0 {
        each_block(array, |start, block, groups| visit_groups(start, block, groups, &mut visit));
    } else {
        (0..).zip(array).filter(|(_, c)| **c != default).for_each(|(j, c)| visit(j, c));
    }
}

/// The places of consecutive indices, such as those of a row of a dense array.
#[inline(always)]
fn run(indices: &[u32]) -> Option<Range<usize>> {
    let (first, last) = (*indices.first()? as usize, *indices.last()? as usize);
    let end = last.wrapping_add(1);
    (end.wrapping_sub(first) == indices.len()).then_some(first..end)
}

/// The coordinates of a learner: a plain array for small indices, an index for the rest.
///
/// The part that holds a coordinate never changes a result, only the cost of the lookup. An index far
/// out costs one entry, not an array up to it.
///
/// ```
/// use parsimon_core::Table;
///
/// let mut table = Table::<f64>::dense(16);
/// *table.slot(3) = 1.0;
/// *table.slot(4_000_000_000) = 2.0;
/// assert_eq!((table.get(3), table.get(4), table.get(4_000_000_000)), (1.0, 0.0, 2.0));
/// ```
#[derive(Clone, Debug)]
pub struct Table<C> {
    dense: Vec<C>,
    limit: u32,
    places: HashMap<u32, u32, BuildHasherDefault<Multiply>>,
    ids: Vec<u32>,
    rest: Vec<C>,
}

impl<C: State + Copy> Table<C> {
    /// An array for the indices below `slots` at once; larger ones go to the index.
    pub fn dense(slots: u32) -> Self {
        let mut dense = huge::with_capacity(slots as usize);
        dense.resize(slots as usize, C::default());
        Self { dense, limit: slots, ..Self::index() }
    }

    /// An array that grows with the largest index seen; indices far out go to the index.
    pub fn growing() -> Self {
        Self { limit: FAR, ..Self::index() }
    }

    /// An array that grows with the largest index seen below `slots`; larger ones go to the index. A table of
    /// [`dense`](Table::dense) slots that is filled from a file begins so, because memory is for the contents of the file.
    pub fn growing_to(slots: u32) -> Self {
        Self { limit: slots, ..Self::index() }
    }

    /// No array: every coordinate is found through the index, and kept in the order of first sight.
    pub fn index() -> Self {
        Self {
            dense: Vec::new(),
            limit: 0,
            places: HashMap::default(),
            ids: Vec::new(),
            rest: Vec::new(),
        }
    }

    /// The coordinate at `j`, the default if it was never seen.
    #[inline(always)]
    pub fn get(&self, j: u32) -> C {
        match self.dense.get(j as usize) {
            Some(c) => *c,
            None => self.get_rest(j),
        }
    }

    /// The coordinates of a row that are contiguous in its order: those of consecutive indices in the array, or of indices
    /// that were first seen in this order. In a table that is an index, the search looks at `place` only.
    ///
    /// PERF: they need not be copied. Rows of a dense array, and rows of a table without missing cells, are contiguous.
    #[inline(always)]
    pub(crate) fn run(&self, indices: &[u32], place: u32) -> Option<&[C]> {
        if self.is_index() {
            self.rest.get(self.seen_at(indices, place)?)
        } else {
            self.dense.get(run(indices)?)
        }
    }

    /// Like the method above, but mutable.
    #[inline(always)]
    pub(crate) fn run_mut(&mut self, indices: &[u32], place: u32) -> Option<&mut [C]> {
        if self.is_index() {
            let places = self.seen_at(indices, place)?;
            self.rest.get_mut(places)
        } else {
            self.dense.get_mut(run(indices)?)
        }
    }

    /// The places from `place` on, if they are those of the indices.
    #[inline(always)]
    fn seen_at(&self, indices: &[u32], place: u32) -> Option<Range<usize>> {
        let start = place as usize;
        let places = start..start.checked_add(indices.len())?;
        (self.ids.get(places.clone())? == indices).then_some(places)
    }

    /// Copies the coordinates at ascending indices, the default where one was never seen.
    #[inline(always)]
    pub(crate) fn gather(&self, indices: &[u32], coordinates: &mut [C]) {
        if !scattered::gather(&self.dense, indices, coordinates) {
            self.gather_beyond(indices, coordinates);
        }
    }

    #[cold]
    #[inline(never)]
    fn gather_beyond(&self, indices: &[u32], coordinates: &mut [C]) {
        indices.iter().zip(coordinates).for_each(|(&j, c)| *c = self.get(j));
    }

    /// Writes coordinates to their places, at ascending indices.
    #[inline(always)]
    pub(crate) fn scatter(&mut self, indices: &[u32], coordinates: &[C]) {
        if !scattered::scatter(&mut self.dense, indices, coordinates) {
            self.scatter_beyond(indices, coordinates);
        }
    }

    #[cold]
    #[inline(never)]
    fn scatter_beyond(&mut self, indices: &[u32], coordinates: &[C]) {
        indices.iter().zip(coordinates).for_each(|(&j, c)| *self.slot(j) = *c);
    }

    /// Whether every coordinate is found through the index.
    #[inline(always)]
    pub(crate) fn is_index(&self) -> bool {
        self.limit == 0
    }

    /// The coordinate at `j` of a table that [is an index](Table::is_index). `place` is a hint of its place, and becomes the place
    /// where it was found; any number if it does not exist.
    #[inline(always)]
    pub(crate) fn get_at(&self, j: u32, place: &mut u32) -> C {
        if self.ids.get(*place as usize) != Some(&j) {
            *place = self.places.get(&j).copied().unwrap_or(u32::MAX);
        }
        self.rest.get(*place as usize).copied().unwrap_or_default()
    }

    /// Changes the coordinate at `j` of a table that is an index, likewise.
    #[inline(always)]
    pub(crate) fn put_at(&mut self, j: u32, place: u32, c: C) {
        if self.ids.get(place as usize) == Some(&j) {
            self.rest[place as usize] = c;
        } else {
            *self.slot_rest(j) = c;
        }
    }

    /// The coordinate at `j`, if there is a place for it.
    #[inline(always)]
    pub fn find(&self, j: u32) -> Option<&C> {
        match self.dense.get(j as usize) {
            Some(c) => Some(c),
            None => self.find_rest(j),
        }
    }

    /// Prefetches the coordinates at some indices.
    #[inline(always)]
    pub fn prefetch(&self, indices: &[u32]) {
        if size_of_val(&*self.dense) > NEAR {
            prefetch_items(&self.dense, indices);
        }
    }

    /// The coordinate at `j`, to be changed.
    #[inline(always)]
    pub fn slot(&mut self, j: u32) -> &mut C {
        if (j as usize) < self.dense.len() {
            return &mut self.dense[j as usize];
        }
        self.slot_rest(j)
    }

    /// Writes a coordinate of a saved table to its place, which must be unused.
    pub(crate) fn fill(&mut self, j: u32, c: C) -> Result<(), StateError> {
        let is_new = if j < self.limit {
            self.get(j) == C::default()
        } else {
            !self.places.contains_key(&j)
        };
        fits(is_new, "a feature that comes twice")?;
        if j < self.limit && j as usize >= self.dense.len() {
            let len = room::grown(u64::from(j) + 1, self.limit);
            room::claim((len - self.dense.len() as u64).saturating_mul(size_of::<C>() as u64))?;
        }
        *self.slot(j) = c;
        Ok(())
    }

    /// Every coordinate that is not the default, with its index; the array in order of index, then
    /// the index in order of first sight.
    pub fn seen(&self) -> impl Iterator<Item = (u32, &C)> {
        let default = C::default();
        let array = (0u32..).zip(&self.dense);
        let index = self.ids.iter().copied().zip(&self.rest);
        array.chain(index).filter(move |(_, c)| **c != default)
    }

    /// Like [`seen`](Table::seen), but mutable.
    pub fn seen_mut(&mut self) -> impl Iterator<Item = (u32, &mut C)> {
        let default = C::default();
        let array = (0u32..).zip(&mut self.dense);
        let index = self.ids.iter().copied().zip(&mut self.rest);
        array.chain(index).filter(move |(_, c)| **c != default)
    }

    /// The entries from which the table can be restored: every coordinate that is not the default, and every
    /// place in the index, also those of default coordinates.
    ///
    /// INVARIANT: rules that pass over all coordinates add up in the order of first sight. A place that was freed
    /// would be assigned again at the end, and the sums would be rounded differently.
    pub fn places(&self) -> impl Iterator<Item = (u32, &C)> {
        let default = C::default();
        let array = (0u32..).zip(&self.dense).filter(move |(_, c)| **c != default);
        array.chain(self.ids.iter().copied().zip(&self.rest))
    }

    /// The bytes of the table once some rows are learned, at most, with those of a model or a checkpoint that is made of it.
    pub fn room(&self, coming: Coming) -> u64 {
        let (slots, seen) = self.after(coming);
        let slots = slots.max(self.dense.len() as u64).saturating_add(seen);
        // Most slots of an array may be empty.
        let coordinates = slots.min(coming.before.saturating_add(coming.features as u64));
        self.bare_room(coming).saturating_add(room::saved(coordinates, size_of::<C>()))
    }

    /// Like the method above, for a table that is not saved.
    pub(crate) fn bare_room(&self, coming: Coming) -> u64 {
        let (slots, seen) = self.after(coming);
        room::array(self.dense.len(), slots, size_of::<C>())
            .saturating_add(room::index(seen))
            .saturating_add(room::vector(seen, size_of::<u32>() + size_of::<C>()))
    }

    /// Returns the future length of the array and the number of coordinates in the index.
    fn after(&self, coming: Coming) -> (u64, u64) {
        let limit = u64::from(self.limit);
        let (end, new) = match self.limit {
            _ if coming.end <= limit => (coming.end, 0),
            FAR => (coming.near_end, coming.far),
            _ => (limit, coming.features),
        };
        let slots = if end == 0 { 0 } else { room::grown(end, self.limit) };
        (slots, (self.rest.len() + new) as u64)
    }

    /// Counts the coordinates that satisfy `is`, which the default must not.
    #[inline(always)]
    pub fn count(&self, is: impl Fn(u32, &C) -> bool) -> usize {
        let count = |start: u32, items: &[C]| {
            (start..).zip(items).map(|(j, c)| usize::from(is(j, c))).sum::<usize>()
        };
        let mut found = 0;
        if C::default().bits() == 0 {
            each_block(&self.dense, |start, block, groups| {
                // PERF: several coordinates are read at once; if most are seen, reading the unseen ones too is faster than a branch.
                if groups.len() * GROUP > block.len() / 4 {
                    found += count(start, block);
                } else {
                    visit_groups(start, block, groups, |j, c| found += usize::from(is(j, c)));
                }
            });
        } else {
            found += count(0, &self.dense);
        }
        let rest = self.ids.iter().zip(&self.rest);
        found + rest.map(|(&j, c)| usize::from(is(j, c))).sum::<usize>()
    }

    /// Calls `visit` for every coordinate that is not the default, in the order of [`seen`](Table::seen). Of a large table this is
    /// several times as fast.
    #[inline(always)]
    pub fn visit_seen(&self, mut visit: impl FnMut(u32, &C)) {
        visit_seen(&self.dense, &mut visit);
        let default = C::default();
        let rest = self.ids.iter().copied().zip(&self.rest);
        rest.filter(|(_, c)| **c != default).for_each(|(j, c)| visit(j, c));
    }

    #[cold]
    #[inline(never)]
    fn find_rest(&self, j: u32) -> Option<&C> {
        if j < self.limit {
            return None;
        }
        self.places.get(&j).map(|&place| &self.rest[place as usize])
    }

    #[cold]
    #[inline(never)]
    fn get_rest(&self, j: u32) -> C {
        self.find_rest(j).copied().unwrap_or_default()
    }

    #[cold]
    #[inline(never)]
    fn slot_rest(&mut self, j: u32) -> &mut C {
        if j < self.limit {
            let len = room::grown(u64::from(j) + 1, self.limit) as usize;
            let mut grown = huge::with_capacity(len);
            grown.extend_from_slice(&self.dense);
            grown.resize(len, C::default());
            self.dense = grown;
            return &mut self.dense[j as usize];
        }
        let place = *self.places.entry(j).or_insert_with(|| {
            self.ids.push(j);
            self.rest.push(C::default());
            (self.rest.len() - 1) as u32
        });
        &mut self.rest[place as usize]
    }
}

/// A fixed hash for indices, equal on every machine. The map is never iterated over.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Multiply(u64);

impl Hasher for Multiply {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.write_u32(u32::from(b));
        }
    }
    fn write_u32(&mut self, j: u32) {
        let h = (self.0 ^ u64::from(j)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = h ^ (h >> 32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows in one piece or in several, inside the array, across its end and beyond it.
    #[test]
    fn rows_are_copied_as_one_coordinate_after_the_other() {
        let rows: [&[u32]; 7] =
            [&[], &[3], &[0, 1, 2, 3], &[1, 2, 4], &[6, 7], &[7, 8, 9], &[u32::MAX - 1, u32::MAX]];
        for mut table in [Table::<f64>::dense(8), Table::growing()] {
            let mut twin = table.clone();
            for (indices, k) in rows.iter().zip(1..) {
                let mut found = vec![0.5; indices.len()];
                table.gather(indices, &mut found);
                let one_by_one: Vec<f64> = indices.iter().map(|&j| twin.get(j)).collect();
                assert_eq!(found, one_by_one, "{indices:?}");
                let new: Vec<f64> =
                    indices.iter().map(|&j| f64::from(k) + f64::from(j) / 16.0).collect();
                table.scatter(indices, &new);
                indices.iter().zip(&new).for_each(|(&j, c)| *twin.slot(j) = *c);
                let all =
                    |table: &Table<f64>| rows.concat().iter().map(|&j| table.get(j)).collect();
                let (found, wanted): (Vec<f64>, Vec<f64>) = (all(&table), all(&twin));
                assert_eq!(found, wanted, "{indices:?}");
            }
        }
    }

    /// Rows that lie one after the other are found as such, and no others.
    #[test]
    fn runs_are_the_coordinates_of_the_indices() {
        let ids = [7, 9, 12, 13, 14, 4_000_000_000];
        for mut table in [Table::<f64>::dense(16), Table::growing(), Table::index()] {
            for &j in &ids {
                *table.slot(j) = f64::from(j) + 0.5;
            }
            let mut runs = 0;
            for (start, end) in
                (0..ids.len()).flat_map(|a| (a + 1..=ids.len()).map(move |b| (a, b)))
            {
                let row = &ids[start..end];
                for place in [0, start as u32, 5, u32::MAX] {
                    let Some(run) = table.run(row, place).map(<[f64]>::to_vec) else { continue };
                    runs += 1;
                    assert_eq!(run, row.iter().map(|&j| table.get(j)).collect::<Vec<_>>());
                    assert_eq!(table.run_mut(row, place).map(|run| run.to_vec()), Some(run));
                }
            }
            assert!(runs > 0);
            assert_eq!(table.run(&[9, 7], 0), None);
            assert_eq!(table.run(&[13, 15], 3), None);
            if table.is_index() {
                assert_eq!(table.run(&ids, 0).map(<[f64]>::len), Some(ids.len()));
                assert_eq!(table.run(&ids[1..], 0), None);
            }
        }
    }

    /// Arrays of lengths around those of groups and blocks, with coordinates here and there, some of them -0.
    #[test]
    fn coordinates_visited_are_those_seen() {
        for len in [0, 1, 7, 8, 9, 511, 512, 513, 1024, 1500] {
            for every in [1, 2, 7, 64, 600] {
                let mut table = Table::<f64>::dense(len);
                for j in (0..len + 3).filter(|j| j % every == every / 2) {
                    *table.slot(j) = if j % 5 == 0 { -0.0 } else { f64::from(j) };
                }
                *table.slot(9_000_000) = 3.0;
                let mut visited = Vec::new();
                table.visit_seen(|j, &c| visited.push((j, c)));
                assert_eq!(visited, table.seen().map(|(j, &c)| (j, c)).collect::<Vec<_>>());
                let is_odd = |j: u32, c: &f64| j % 2 == 1 && *c != 0.0;
                let odd = visited.iter().filter(|(j, c)| is_odd(*j, c)).count();
                assert_eq!(table.count(is_odd), odd);
                let is_far = |(j, _): &(u32, f64)| *j >= len;
                assert!(visited.iter().filter(|v| !is_far(v)).all(|(_, c)| *c != 0.0));
            }
        }
    }

    /// A default that is not zero, and zeros that are not the default.
    #[test]
    fn no_default_is_visited() {
        #[derive(Clone, Copy, Debug, PartialEq)]
        struct Scale {
            scale: f64,
        }
        impl Default for Scale {
            fn default() -> Self {
                Self { scale: 1.0 }
            }
        }
        crate::state::state!(Scale { scale });
        let mut table = Table::<Scale>::dense(20);
        *table.slot(3) = Scale { scale: 0.0 };
        *table.slot(9) = Scale { scale: 2.0 };
        let mut visited = Vec::new();
        table.visit_seen(|j, c| visited.push((j, c.scale)));
        assert_eq!(visited, [(3, 0.0), (9, 2.0)]);
        assert_eq!(table.count(|_, c| c.scale != 1.0), 2);
    }

    #[test]
    fn the_kind_of_table_never_changes_an_answer() {
        let mut tables = [Table::<f64>::dense(64), Table::growing(), Table::index()];
        let writes =
            [(5, 1.0), (63, 2.0), (64, 3.0), (1_000_000, 4.0), (u32::MAX - 1, 5.0), (5, 6.0)];
        for table in &mut tables {
            for (j, v) in writes {
                *table.slot(j) = v;
            }
            for (j, v) in [(5, 6.0), (63, 2.0), (64, 3.0), (1_000_000, 4.0), (u32::MAX - 1, 5.0)] {
                assert_eq!(table.get(j), v);
            }
            assert_eq!((table.get(0), table.get(70_000_000)), (0.0, 0.0));
            let mut seen: Vec<_> = table.seen().map(|(j, &v)| (j, v)).collect();
            seen.sort_by_key(|&(j, _)| j);
            assert_eq!(seen.len(), 5);
        }
    }

    #[test]
    fn a_place_is_a_hint_and_never_changes_an_answer() {
        let (mut table, mut twin) = (Table::<f64>::index(), Table::<f64>::index());
        // Places of other coordinates, of none, and beyond the end.
        let mut places = [0, 1, 7, u32::MAX];
        for (round, ids) in
            [[9, 2, 5, 3], [9, 2, 5, 3], [3, 9, 2, 5], [3, 8, 2, 6]].iter().enumerate()
        {
            for (&j, place) in ids.iter().zip(&mut places) {
                assert_eq!(table.get_at(j, place), twin.get(j));
                let value = twin.get(j) + f64::from(j) + round as f64;
                table.put_at(j, *place, value);
                *twin.slot(j) = value;
            }
        }
        let all = |table: &Table<f64>| table.places().map(|(j, &v)| (j, v)).collect::<Vec<_>>();
        assert_eq!(all(&table), all(&twin));
    }
}
