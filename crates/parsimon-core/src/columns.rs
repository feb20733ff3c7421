//! The moments of number columns, and rows with their cells standardized.
//!
//! ```text
//! m, d = mean and standard deviation of the column's cells so far, this row included
//! u    = (x - m) / d, clipped to [-4, 4]          0 while all cells are equal
//! ```
//!
//! A missing cell is no feature, and has the effect of a cell that equals the mean. Statistics are in `f64` and per column: they
//! survive timestamps, and columns whose names hash to one id. Clipping makes the model nonlinear in the cell, but an
//! outlier can then not decide a prediction.

use std::ops::Range;

use crate::fade::DIVIDED;
use crate::state::{State, StateError, StateWriter, read_bits};
use crate::wide::{Work, wide};
use crate::{Chunk, NumberColumn};

/// Cells are clipped at this distance from the mean, in standard deviations.
pub(crate) const LIMIT: f64 = 4.0;

/// Mean and deviation of a number column.
///
/// ```
/// use parsimon_core::ColumnMoments;
///
/// let mut column = ColumnMoments::default();
/// [1.0, 3.0].iter().for_each(|&x| column.push(x, 1.0));
/// assert_eq!((column.mean, column.deviation()), (2.0, 1.0));
/// assert_eq!([2.5, 100.0].map(|x| column.standardized(x)), [0.5, 4.0]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ColumnMoments {
    /// Identifies the column.
    pub key: u64,
    /// The feature that the column becomes.
    pub id: u32,
    /// The importance of the rows that had a cell.
    pub weight: f64,
    /// The weighted mean.
    pub mean: f64,
    /// The weighted sum of squared deviations from the mean.
    pub squares: f64,
}

impl State for ColumnMoments {
    fn write(&self, out: &mut StateWriter) {
        self.key.write(out);
        self.id.write(out);
        [self.weight, self.mean, self.squares].iter().for_each(|x| x.write(out));
    }
    fn read(input: &mut &[u8]) -> Result<Self, StateError> {
        let named = |field| move |e: StateError| e.in_field(field);
        Ok(Self {
            key: read_bits(input).map_err(named("ColumnMoments.key"))?,
            id: u32::read(input).map_err(named("ColumnMoments.id"))?,
            weight: f64::read(input).map_err(named("ColumnMoments.weight"))?,
            mean: f64::read(input).map_err(named("ColumnMoments.mean"))?,
            squares: f64::read(input).map_err(named("ColumnMoments.squares"))?,
        })
    }
}

impl ColumnMoments {
    /// Cells are clipped at this distance from the mean, in standard deviations.
    pub const REACH: f64 = LIMIT;

    fn new(column: NumberColumn) -> Self {
        Self { key: column.key, id: column.id, ..Self::default() }
    }

    /// Processes a cell of importance `h > 0` (West 1979).
    #[inline]
    pub fn push(&mut self, x: f64, h: f64) {
        self.weight += h;
        let d = x - self.mean;
        self.mean += h / self.weight * d;
        // NUMERICS: both factors have the same sign except for rounding errors.
        self.squares += (h * d * (x - self.mean)).max(0.0);
    }

    /// The standard deviation; 0 while all cells are equal.
    #[inline]
    pub fn deviation(&self) -> f64 {
        if self.weight > 0.0 { (self.squares / self.weight).sqrt() } else { 0.0 }
    }

    /// The standardized value of a cell, clipped to 4 standard deviations.
    #[inline]
    pub fn standardized(&self, x: f64) -> f64 {
        let u = (x - self.mean) / self.deviation();
        // NaN while all cells are equal.
        if u.is_nan() { 0.0 } else { u.clamp(-LIMIT, LIMIT) }
    }

    /// The range that cells are clipped to.
    pub fn range(&self) -> (f64, f64) {
        let reach = LIMIT * self.deviation();
        (self.mean - reach, self.mean + reach)
    }

    /// Adds the cells of another sample of the same column.
    pub fn add(&mut self, other: &Self) {
        if other.weight > 0.0 {
            [self.weight, self.mean, self.squares] = united(self.sample(), other.sample());
        }
    }

    /// The moments of the cells since `start`; `None` if no importance was added.
    pub fn since(&self, start: &Self) -> Option<Self> {
        if self.weight <= start.weight {
            return None;
        }
        let is_new = start.weight <= 0.0;
        let sample = if is_new { self.sample() } else { remaining(self.sample(), start.sample()) };
        let [weight, mean, squares] = sample;
        Some(Self { weight, mean, squares, ..*self })
    }

    /// Adds samples of many columns, matched by their keys. New columns come last.
    ///
    /// ```
    /// use parsimon_core::ColumnMoments;
    ///
    /// let column = |key: u64, mean: f64| ColumnMoments { key, id: 1, weight: 2.0, mean, squares: 1.0 };
    /// let mut all = vec![column(8, 5.0), column(3, 0.0)];
    /// ColumnMoments::add_all(&mut all, &[column(1, 7.0), column(3, 4.0)]);
    /// let both = ColumnMoments { weight: 4.0, squares: 18.0, ..column(3, 2.0) };
    /// assert_eq!(all, [column(8, 5.0), both, column(1, 7.0)]);
    /// ```
    pub fn add_all(columns: &mut Vec<Self>, added: &[Self]) {
        for (k, more) in added.iter().enumerate() {
            match place_of(columns, k, more.key) {
                Some(place) => columns[place].add(more),
                None => columns.push(*more),
            }
        }
    }

    /// Returns the changes of many columns since `start`. Columns without new cells are left out.
    pub fn all_since(columns: &[Self], start: &[Self]) -> Vec<Self> {
        let since = |(k, column): (usize, &Self)| {
            let before = place_of(start, k, column.key).map_or(Self::default(), |k| start[k]);
            column.since(&before)
        };
        columns.iter().enumerate().filter_map(since).collect()
    }

    fn sample(&self) -> [f64; 3] {
        [self.weight, self.mean, self.squares]
    }

    /// Whether the numbers are valid moments: finite, without negative sums.
    pub fn is_sound(&self) -> bool {
        let sums = [self.weight, self.squares];
        self.mean.is_finite() && sums.iter().all(|x| x.is_finite() && *x >= 0.0)
    }
}

/// The place of the column with this key, usually `expected`, because most chunks have their columns in one order.
fn place_of(columns: &[ColumnMoments], expected: usize, key: u64) -> Option<usize> {
    let here = columns.get(expected).is_some_and(|m| m.key == key).then_some(expected);
    here.or_else(|| columns.iter().position(|m| m.key == key))
}

/// Combines weight, mean and squared deviations of two samples. The second has a weight above 0.
pub(crate) fn united([n, mean, squares]: [f64; 3], [m, other, more]: [f64; 3]) -> [f64; 3] {
    let (d, weight) = (other - mean, n + m);
    let share = m / weight;
    [weight, mean + d * share, squares + (more + d * d * n * share)]
}

/// Inverse of [`united`]: returns the part of `all` that was added to `start`. Both weights, and their difference, are above 0.
pub(crate) fn remaining([n, mean, squares]: [f64; 3], [n0, mean0, squares0]: [f64; 3]) -> [f64; 3] {
    let weight = n - n0;
    let added = mean + n0 / weight * (mean - mean0);
    let d = added - mean0;
    let between = d * d * n0 * (weight / n);
    [weight, added, (squares - squares0 - between).max(0.0)]
}

/// Turns chunks with number columns into chunks without.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    moments: Vec<ColumnMoments>,
    /// Flags of the moments that do not change any more. Missing flags are false.
    fixed: Vec<bool>,
    /// The columns of the last chunk, the place of each among the moments, and their order by id.
    last: Vec<NumberColumn>,
    places: Vec<usize>,
    order: Vec<usize>,
    /// Values of one row.
    features: Vec<(u32, f64)>,
    abreast: Abreast,
}

impl Columns {
    /// Transforms with these moments.
    pub fn new(moments: Vec<ColumnMoments>) -> Self {
        Self { moments, ..Self::default() }
    }

    /// The moments of the column at a place of a chunk; those of a column without cells if it is not known.
    pub(crate) fn moments_of(&self, place: usize, column: NumberColumn) -> ColumnMoments {
        let place = place_of(&self.moments, place, column.key);
        place.map_or_else(|| ColumnMoments::new(column), |place| self.moments[place])
    }

    /// Moments of all columns met so far.
    pub fn moments(&self) -> &[ColumnMoments] {
        &self.moments
    }

    /// Adds samples of columns. Places of columns that are known do not change.
    pub(crate) fn add(&mut self, added: &[ColumnMoments]) {
        ColumnMoments::add_all(&mut self.moments, added);
    }

    /// Keeps the moments of these columns as they are from here on. A column whose cells were all equal has no deviation: it is
    /// still measured.
    pub(crate) fn fix(&mut self, moments: &[ColumnMoments]) {
        for (k, column) in moments.iter().enumerate() {
            let place = place_of(&self.moments, k, column.key).unwrap_or_else(|| {
                self.moments.push(*column);
                self.moments.len() - 1
            });
            if column.deviation() > 0.0 {
                self.moments[place] = *column;
                self.fixed.resize(self.moments.len(), false);
                self.fixed[place] = true;
            }
        }
    }

    /// Finds the moments of a chunk's columns, and creates them for new columns.
    pub(crate) fn meet(&mut self, columns: &[NumberColumn]) {
        if self.last == columns {
            return;
        }
        self.places.clear();
        for (k, column) in columns.iter().enumerate() {
            let known = place_of(&self.moments, k, column.key);
            self.places.push(known.unwrap_or(self.moments.len()));
            if known.is_none() {
                self.moments.push(ColumnMoments::new(*column));
            }
        }
        self.order = (0..columns.len()).collect();
        self.order.sort_by_key(|&k| columns[k].id);
        self.last = columns.to_vec();
        self.abreast = Abreast::new(&self.order, &self.places, &self.moments);
    }

    /// Appends rows to `out` with their cells standardized, as [`push`](Self::push) does row by row, where rows do not fade.
    pub(crate) fn push_rows(&mut self, chunk: &Chunk, rows: Range<usize>, out: &mut Chunk) {
        if self.abreast.ids.is_empty() || self.fixed.contains(&true) {
            for i in rows {
                let is_learned = chunk.label(i).is_some() && chunk.weight(i) > 0.0;
                self.push(chunk, i, is_learned.then_some(1.0), out);
            }
            return;
        }
        let Self { abreast, moments, order, places, .. } = self;
        abreast.load(moments, order, places);
        for i in rows {
            abreast.push(chunk, i, order, out);
        }
        abreast.store(moments, order, places);
    }

    /// Appends row `i` to `out` with its cells standardized. A row that will be learned is taken into the moments first, with `growth`
    /// times its importance; a row that is only read has none.
    pub(crate) fn push(&mut self, chunk: &Chunk, i: usize, growth: Option<f64>, out: &mut Chunk) {
        let (label, h) = (chunk.label(i), chunk.weight(i));
        let cells = chunk.numbers(i);
        self.features.clear();
        for &k in &self.order {
            let (x, place) = (cells[k], self.places[k]);
            if x.is_nan() {
                continue;
            }
            let is_fixed = self.fixed.get(place) == Some(&true);
            let moments = &mut self.moments[place];
            if let Some(growth) = growth.filter(|_| !is_fixed) {
                moments.push(x, growth * h);
            }
            let u = moments.standardized(x);
            if u != 0.0 {
                self.features.push((moments.id, u));
            }
        }
        out.push_merged(chunk.row(i), &self.features, label, h);
        out.copy_base(chunk, i);
    }

    /// Scales the sums after a division; mean and deviation do not change.
    pub(crate) fn divide(&mut self) {
        for (place, moments) in self.moments.iter_mut().enumerate() {
            if self.fixed.get(place) != Some(&true) {
                moments.weight *= DIVIDED;
                moments.squares *= DIVIDED;
            }
        }
    }

    /// Replaces the contents of `out` by rows of a chunk with their cells standardized, which changes no moment.
    pub fn apply(&mut self, chunk: &Chunk, rows: Range<usize>, out: &mut Chunk) {
        out.clear();
        self.meet(chunk.columns());
        rows.for_each(|i| self.push(chunk, i, None, out));
    }
}

/// The moments of all columns as one array per statistic, in the order of the column ids.
///
/// PERF: a row then updates several of its columns at once. Measured in `record/python.md`.
#[derive(Clone, Debug, Default)]
struct Abreast {
    /// `None` if columns share an id or moments.
    ids: Vec<u32>,
    weight: Vec<f64>,
    mean: Vec<f64>,
    squares: Vec<f64>,
    /// The cells of one row, standardized afterwards.
    cells: Vec<f64>,
    /// The features of one row.
    features: Vec<(u32, f64)>,
}

impl Abreast {
    fn new(order: &[usize], places: &[usize], moments: &[ColumnMoments]) -> Self {
        let ids: Vec<u32> = order.iter().map(|&k| moments[places[k]].id).collect();
        let mut sorted = places.to_vec();
        sorted.sort_unstable();
        let is_plain = ids.is_sorted_by(|a, b| a < b) && sorted.is_sorted_by(|a, b| a < b);
        Self { ids: if is_plain { ids } else { Vec::new() }, ..Self::default() }
    }

    fn load(&mut self, moments: &[ColumnMoments], order: &[usize], places: &[usize]) {
        let fill = |list: &mut Vec<f64>, read: fn(&ColumnMoments) -> f64| {
            list.clear();
            list.extend(order.iter().map(|&k| read(&moments[places[k]])));
        };
        fill(&mut self.weight, |m| m.weight);
        fill(&mut self.mean, |m| m.mean);
        fill(&mut self.squares, |m| m.squares);
    }

    fn store(&self, moments: &mut [ColumnMoments], order: &[usize], places: &[usize]) {
        let sums = self.weight.iter().zip(&self.mean).zip(&self.squares);
        for (&k, ((&weight, &mean), &squares)) in order.iter().zip(sums) {
            let column = &mut moments[places[k]];
            (column.weight, column.mean, column.squares) = (weight, mean, squares);
        }
    }

    fn push(&mut self, chunk: &Chunk, i: usize, order: &[usize], out: &mut Chunk) {
        let (label, h) = (chunk.label(i), chunk.weight(i));
        let numbers = chunk.numbers(i);
        self.cells.clear();
        self.cells.extend(order.iter().map(|&k| numbers[k]));
        let learned = if label.is_some() { h } else { 0.0 };
        let are_all = wide(Standardize { columns: self, h: learned });
        let row = chunk.row(i);
        if are_all && row.indices().is_empty() {
            out.push_ordered(&self.ids, &self.cells, label, h);
        } else {
            let features = self.ids.iter().copied().zip(self.cells.iter().copied());
            self.features.clear();
            self.features.extend(features.filter(|&(_, u)| u != 0.0));
            out.push_merged(row, &self.features, label, h);
        }
        out.copy_base(chunk, i);
    }
}

/// Adds the cells of one row to the moments with importance `h`, if that is above 0, and standardizes them.
struct Standardize<'a> {
    columns: &'a mut Abreast,
    h: f64,
}

impl Work for Standardize<'_> {
    /// Whether every cell is a feature. Missing cells have become 0.
    type Output = bool;

    /// INVARIANT: the arithmetic of [`ColumnMoments::push`] and [`ColumnMoments::standardized`], without branches.
    #[inline(always)]
    fn work(self) -> bool {
        let Self { columns: Abreast { weight, mean, squares, cells, .. }, h } = self;
        let mut are_all = true;
        let sums = weight.iter_mut().zip(mean).zip(squares);
        for (cell, ((weight, mean), squares)) in cells.iter_mut().zip(sums) {
            let x = *cell;
            let is_taken = !x.is_nan() & (h > 0.0);
            let sum = *weight + h;
            let d = x - *mean;
            let moved = *mean + h / sum * d;
            let more = h * d * (x - moved);
            let more = *squares + if more > 0.0 { more } else { 0.0 };
            *weight = if is_taken { sum } else { *weight };
            *mean = if is_taken { moved } else { *mean };
            *squares = if is_taken { more } else { *squares };
            let deviation = (*squares / *weight).sqrt();
            let deviation = if *weight > 0.0 { deviation } else { 0.0 };
            let u = (x - *mean) / deviation;
            let u = if u < -LIMIT { -LIMIT } else { u };
            let u = if u > LIMIT { LIMIT } else { u };
            // NaN while all cells are equal, or without cells.
            *cell = if u.is_nan() { 0.0 } else { u };
            are_all &= *cell != 0.0;
        }
        are_all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Repeats;

    #[test]
    fn columns_abreast_have_the_bits_of_one_after_the_other() {
        let columns: Vec<_> = [9u32, 4, 7, 1, 6, 2, 3]
            .iter()
            .map(|&id| NumberColumn { key: id.into(), id })
            .collect();
        let mut chunk = Chunk::new();
        chunk.set_columns(&columns);
        for i in 0..300u32 {
            for (k, cell) in chunk.open_numbers().iter_mut().enumerate() {
                let x = f64::from(i * 7 + k as u32).sin() * 10f64.powi(k as i32 * 3 - 6);
                *cell = match (i + k as u32) % 11 {
                    0 => f64::NAN,
                    1 => 0.0,
                    2 => 1e9,
                    _ => x + 1e6,
                };
            }
            chunk.open_numbers()[2] = 5.0;
            if i.is_multiple_of(13) {
                chunk.push_feature(5, 2.0);
            }
            let label = (!i.is_multiple_of(7)).then_some(1.0);
            chunk.finish_row(label, f64::from(i % 4), Repeats::Refuse).unwrap();
        }
        let (mut one, mut many) = (Columns::default(), Columns::default());
        let (mut rows, mut twins) = (Chunk::new(), Chunk::new());
        for block in [0..1, 1..120, 120..300] {
            [&mut one, &mut many].iter_mut().for_each(|c| c.meet(chunk.columns()));
            for i in block.clone() {
                let is_learned = chunk.label(i).is_some() && chunk.weight(i) > 0.0;
                one.push(&chunk, i, is_learned.then_some(1.0), &mut twins);
            }
            many.push_rows(&chunk, block, &mut rows);
        }
        assert_eq!(one.moments, many.moments);
        assert_eq!(rows.len(), 300);
        for i in 0..300 {
            assert_eq!(rows.row(i).indices(), twins.row(i).indices());
            let bits =
                |row: crate::Row<'_>| row.values().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(rows.row(i)), bits(twins.row(i)));
            assert_eq!((rows.label(i), rows.weight(i)), (twins.label(i), twins.weight(i)));
        }
    }
}
