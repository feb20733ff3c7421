//! Piecewise-linear features of number columns, and indicator features of pairs of columns.
//!
//! A cell `x` of a column with the knots `k[0] < ... < k[n-1]` has two features beside its number: `column~k[i]` with the value
//! `1 - t` and `column~k[i+1]` with the value `t`, where `k[i] <= x < k[i+1]` and `t = (x - k[i]) / (k[i+1] - k[i])`. Below the
//! first knot and beyond the last, it has one feature, of that knot, with the value 1. Features of value zero are left out, and a
//! missing cell has none.
//!
//! A pair of columns has the feature `a*b` with the value 1, where `a` and `b` are the bin of a number, such as `age=20..30`, or
//! the feature of a category, such as `city=Paris`.

use rustc_hash::FxHashMap;

use crate::hash;
use crate::kinds::Points;

/// A feature whose name is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Named {
    pub(crate) hash: u64,
    pub(crate) name: Box<[u8]>,
}

impl Named {
    fn new(name: String) -> Self {
        Self { hash: hash::feature(0, name.as_bytes()), name: name.into_bytes().into() }
    }
}

/// The curve of a number column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Curve {
    knots: Vec<f64>,
    hats: Vec<Named>,
}

impl Curve {
    /// The hats of a cell with their values: two, or the same twice with a value of zero.
    #[inline]
    pub(crate) fn hats(&self, x: f64) -> [(&Named, f64); 2] {
        let after = self.knots.partition_point(|knot| *knot <= x);
        let last = self.knots.len() - 1;
        if after == 0 || after > last {
            let end = &self.hats[after.min(last)];
            return [(end, 1.0), (end, 0.0)];
        }
        let (left, right) = (self.knots[after - 1], self.knots[after]);
        let t = (x - left) / (right - left);
        [(&self.hats[after - 1], 1.0 - t), (&self.hats[after], t)]
    }
}

/// The bins of a number column that is in a pair.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bins {
    cuts: Vec<f64>,
    bins: Vec<Named>,
}

impl Bins {
    /// The bin of a cell.
    #[inline]
    pub(crate) fn of(&self, x: f64) -> &Named {
        &self.bins[self.cuts.partition_point(|cut| *cut <= x)]
    }
}

/// The curves and pairs of a table, ready to make features.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shape {
    /// By the place among the number columns.
    pub(crate) curves: Vec<Option<Curve>>,
    /// The same, with the place among the columns of pairs.
    pub(crate) bins: Vec<Option<(usize, Bins)>>,
    /// The places of categories among the columns of pairs.
    pub(crate) categories: FxHashMap<String, usize>,
    /// Pairs of places.
    pub(crate) pairs: Vec<[usize; 2]>,
    /// Number of columns in pairs.
    pub(crate) sides: usize,
}

impl Shape {
    /// Begins with a number of number columns.
    pub(crate) fn new(numbers: usize) -> Self {
        Self { curves: vec![None; numbers], bins: vec![None; numbers], ..Self::default() }
    }

    /// Gives a number column a curve.
    pub(crate) fn add_curve(&mut self, k: usize, column: &str, knots: &Points) {
        if let Some(curve) = self.curves.get_mut(k).filter(|_| knots.values().len() > 1) {
            let hats = knots.values().iter().map(|&knot| Named::new(knot_name(column, knot)));
            *curve = Some(Curve { knots: knots.values().to_vec(), hats: hats.collect() });
        }
    }

    /// Adds a number column to those of pairs, and returns its place.
    pub(crate) fn add_bins(&mut self, k: usize, column: &str, cuts: &Points) -> usize {
        let place = self.sides;
        self.sides += 1;
        if let Some(bins) = self.bins.get_mut(k) {
            let cuts = cuts.values().to_vec();
            let names = (0..=cuts.len()).map(|i| Named::new(bin_name(column, &cuts, i)));
            *bins = Some((place, Bins { bins: names.collect(), cuts }));
        }
        place
    }

    /// Adds a category to the columns of pairs, and returns its place.
    pub(crate) fn add_category(&mut self, column: &str) -> usize {
        let place = self.sides;
        self.sides += 1;
        self.categories.insert(column.to_owned(), place);
        place
    }

    /// Whether it makes no features.
    pub(crate) fn is_empty(&self) -> bool {
        self.pairs.is_empty() && self.curves.iter().all(Option::is_none)
    }
}

/// The name of the feature that a knot of a column's curve is.
///
/// ```
/// assert_eq!(parsimon_data::knot_name("age", 23.5), "age~23.5");
/// ```
#[must_use]
pub fn knot_name(column: &str, knot: f64) -> String {
    format!("{column}~{}", written(knot))
}

/// The name of the feature of bin `i` of a column with these cuts.
///
/// ```
/// assert_eq!(parsimon_data::bin_name("age", &[20.0, 30.0], 1), "age=20..30");
/// ```
#[must_use]
pub fn bin_name(column: &str, cuts: &[f64], i: usize) -> String {
    match (i.checked_sub(1).map(|before| cuts[before]), cuts.get(i)) {
        (None, None) => format!("{column}=any"),
        (None, Some(&to)) => format!("{column}<{}", written(to)),
        (Some(from), None) => format!("{column}>={}", written(from)),
        (Some(from), Some(&to)) => format!("{column}={}..{}", written(from), written(to)),
    }
}

/// A number in the shortest form that reads back as itself.
fn written(x: f64) -> String {
    let is_usual = x == 0.0 || (1e-5..1e15).contains(&x.abs());
    if is_usual { format!("{x}") } else { format!("{x:e}") }
}

/// The columns of pairs in the row under construction.
#[derive(Debug, Default)]
pub(crate) struct PairedRow {
    /// Hash and name of each side, where it has a value.
    sides: Vec<Option<(u64, usize, usize)>>,
    text: Vec<u8>,
}

impl PairedRow {
    /// Prepares for a number of columns.
    pub(crate) fn begin(&mut self, sides: usize) {
        self.sides.clear();
        self.sides.resize(sides, None);
        self.text.clear();
    }

    /// Takes in the value of a column.
    #[inline]
    pub(crate) fn put(&mut self, place: usize, hash: u64, name: &[u8]) {
        if let Some(side) = self.sides.get_mut(place) {
            let start = self.text.len();
            self.text.extend_from_slice(name);
            *side = Some((hash, start, self.text.len()));
        }
    }

    /// Calls `push(hash, a, b)` for each pair that has both values, and forgets the row.
    pub(crate) fn generate(
        &mut self,
        pairs: &[[usize; 2]],
        mut push: impl FnMut(u64, &[u8], &[u8]),
    ) {
        for &[a, b] in pairs {
            if let (Some(a), Some(b)) = (self.sides[a], self.sides[b]) {
                push(hash::cross(a.0, b.0), &self.text[a.1..a.2], &self.text[b.1..b.2]);
            }
        }
        self.clear();
    }

    /// Forgets the row.
    pub(crate) fn clear(&mut self) {
        self.sides.fill(None);
        self.text.clear();
    }
}

#[cfg(test)]
mod tests;
