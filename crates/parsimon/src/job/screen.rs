//! Which curves and pairs of columns pay: a step of Newton is fitted to residuals on one half of the rows and judged on the other.

use parsimon_core::Loss;
use parsimon_data::Points;

/// The weight of zero in a fit, as a number of rows. Rows say less of a class that is one of many: there this is the curvature itself.
const PRIOR: f64 = 4.0;
/// Standard errors by which a curve must gain, and a pair.
const LIKELY_CURVE: f64 = 0.5;
const LIKELY_PAIR: f64 = 2.0;
/// The columns that are paired with each other, at most.
const MOST_COLUMNS: usize = 40;
/// The pairs that are kept, at most: as many as there are columns, within these bounds.
const LEAST_PAIRS: usize = 6;
const MOST_PAIRS: usize = 60;
/// Numbers of knots that are tried, and the share of the best gain that is enough.
const KNOTS: [usize; 2] = [8, 16];
const ENOUGH: f64 = 0.95;
/// The bins of a number column.
const BINS: usize = 8;
/// Of the first rows, one in so many is predicted too early to tell.
const EARLY: usize = 6;

/// Slopes and curvatures of the loss at predictions that were made before the rows were learned.
pub(super) struct Residuals {
    loss: Loss,
    heads: usize,
    rows: Vec<usize>,
    /// Head after head of each row.
    slopes: Vec<f64>,
    curvatures: Vec<f64>,
}

impl Residuals {
    pub(super) fn new(loss: Loss) -> Self {
        Self { loss, heads: 1, rows: Vec::new(), slopes: Vec::new(), curvatures: Vec::new() }
    }

    /// Adds a row: its number, its margins, and its label.
    pub(super) fn push(&mut self, row: usize, margins: &[f64], y: f64, weight: f64) {
        const STEP: f64 = 1e-3;
        self.heads = margins.len();
        self.rows.push(row);
        if self.loss == Loss::Softmax && margins.len() > 1 {
            // The margins of classes count together: one alone is no log odds.
            for (class, p) in self.loss.probabilities(margins).into_iter().enumerate() {
                let is_own = if y == class as f64 { 1.0 } else { 0.0 };
                self.slopes.push(weight * (p - is_own));
                self.curvatures.push(weight * (p * (1.0 - p)).max(1e-6));
            }
            return;
        }
        for (class, &margin) in margins.iter().enumerate() {
            let y = match margins.len() {
                1 => y,
                _ if y == class as f64 => 1.0,
                _ => self.loss.other_label(),
            };
            let slope = |margin: f64| self.loss.slope(margin, y);
            let curvature = (slope(margin + STEP) - slope(margin - STEP)) / (2.0 * STEP);
            self.slopes.push(weight * slope(margin));
            self.curvatures.push(weight * curvature.max(1e-6));
        }
    }

    /// The places of the rows that tell.
    fn places(&self) -> std::ops::Range<usize> {
        self.rows.len() / EARLY..self.rows.len()
    }

    /// The curvature of the weight of zero.
    fn ridge(&self) -> f64 {
        let all = self.curvatures.iter().sum::<f64>();
        let mean = all / self.curvatures.len().max(1) as f64;
        if self.heads > 1 { PRIOR } else { PRIOR * mean }
    }

    fn at(&self, place: usize, head: usize) -> (f64, f64) {
        let k = place * self.heads + head;
        (self.slopes[k], self.curvatures[k])
    }
}

/// The drop of the loss of a row whose margin moves by a step.
fn drop_of((slope, curvature): (f64, f64), step: f64) -> f64 {
    -step * (slope + 0.5 * curvature * step)
}

/// Whether the sum of gains is this many standard errors above zero.
fn is_likely(gains: &[f64], errors: f64) -> bool {
    let n = gains.len().max(1) as f64;
    let mean = gains.iter().sum::<f64>() / n;
    let variance = gains.iter().map(|gain| (gain - mean).powi(2)).sum::<f64>() / n;
    mean > errors * (variance / n).sqrt()
}

/// The gains of the rows of a curve with these knots, each judged on the half that it was not fitted to.
fn gains_of_curve(residuals: &Residuals, cells: &[f64], knots: &[f64]) -> Vec<f64> {
    let hats = |place: usize| {
        let x = cells.get(residuals.rows[place]).copied().filter(|x| !x.is_nan())?;
        Some(hats_of(x, knots))
    };
    let hats: Vec<_> = residuals.places().map(hats).collect();
    let first = residuals.places().start;
    let mut gains = vec![0.0; hats.len()];
    let ridge = residuals.ridge();
    for half in 0..2 {
        for head in 0..residuals.heads {
            let mut fit = Tridiagonal::new(knots.len(), ridge);
            for (i, hat) in hats.iter().enumerate().filter(|(i, _)| i % 2 == half) {
                let Some((k, t)) = hat else { continue };
                fit.add(*k, *t, residuals.at(first + i, head));
            }
            let curve = fit.solve();
            for (i, hat) in hats.iter().enumerate().filter(|(i, _)| i % 2 != half) {
                let Some((k, t)) = *hat else { continue };
                let step = (1.0 - t) * curve[k] + t * curve[k + 1];
                gains[i] += drop_of(residuals.at(first + i, head), step);
            }
        }
    }
    gains
}

/// The number of knots of a column's curve: the fewest that gain nearly as much as any. `None` where no curve lowers the loss of
/// rows it was not fitted to.
pub(super) fn knots_that_pay(residuals: &Residuals, cells: &[f64]) -> Option<usize> {
    let gains: Vec<(usize, Vec<f64>)> = KNOTS
        .iter()
        .map(|&count| (count, Points::knots(cells, count)))
        .filter(|(_, knots)| !knots.is_empty())
        .map(|(count, knots)| (count, gains_of_curve(residuals, cells, knots.values())))
        .collect();
    let total = |gains: &[f64]| gains.iter().sum::<f64>();
    let best = gains.iter().map(|(_, gains)| total(gains)).fold(0.0, f64::max);
    let enough = gains.iter().find(|(_, gains)| total(gains) >= ENOUGH * best)?;
    is_likely(&enough.1, LIKELY_CURVE).then_some(enough.0)
}

/// The segment of a cell, and its share of the right end.
fn hats_of(x: f64, knots: &[f64]) -> (usize, f64) {
    let last = knots.len() - 2;
    let k = knots.partition_point(|knot| *knot <= x).saturating_sub(1).min(last);
    (k, ((x - knots[k]) / (knots[k + 1] - knots[k])).clamp(0.0, 1.0))
}

/// The normal equations of hats, each of which meets its neighbours alone.
struct Tridiagonal {
    diagonal: Vec<f64>,
    /// Between `k` and `k + 1`.
    beside: Vec<f64>,
    right: Vec<f64>,
}

impl Tridiagonal {
    fn new(len: usize, ridge: f64) -> Self {
        Self {
            diagonal: vec![ridge.max(1e-12); len],
            beside: vec![0.0; len],
            right: vec![0.0; len],
        }
    }

    fn add(&mut self, k: usize, t: f64, (slope, curvature): (f64, f64)) {
        let s = 1.0 - t;
        self.diagonal[k] += curvature * s * s;
        self.diagonal[k + 1] += curvature * t * t;
        self.beside[k] += curvature * s * t;
        self.right[k] -= slope * s;
        self.right[k + 1] -= slope * t;
    }

    fn solve(mut self) -> Vec<f64> {
        let len = self.diagonal.len();
        for k in 1..len {
            let factor = self.beside[k - 1] / self.diagonal[k - 1];
            self.diagonal[k] -= factor * self.beside[k - 1];
            self.right[k] -= factor * self.right[k - 1];
        }
        for k in (0..len).rev() {
            if k + 1 < len {
                self.right[k] -= self.beside[k] * self.right[k + 1];
            }
            self.right[k] /= self.diagonal[k];
        }
        self.right
    }
}

/// A column of pairs: the value of each row as a number from 1, 0 where it is missing.
pub(super) struct Column {
    name: String,
    codes: Vec<u32>,
    values: u32,
}

impl Column {
    /// A number column, by bins.
    pub(super) fn binned(name: &str, cells: &[f64]) -> Self {
        let cuts = Points::cuts(cells, BINS);
        let bin = |x: &f64| match x.is_nan() {
            true => 0,
            false => cuts.values().partition_point(|cut| cut <= x) as u32 + 1,
        };
        let codes = cells.iter().map(bin).collect();
        Self { name: name.to_owned(), codes, values: cuts.values().len() as u32 + 1 }
    }

    /// A category.
    pub(super) fn coded(name: &str, codes: &[u32]) -> Self {
        let values = codes.iter().copied().max().unwrap_or(0);
        Self { name: name.to_owned(), codes: codes.to_vec(), values }
    }
}

/// The gains of rows of a step for each cell, judged on the half that it was not fitted to. `cells` has the cell of each place
/// below `count`, or `count` where there is none.
fn gains_of(residuals: &Residuals, cells: &[usize], count: usize) -> Vec<f64> {
    let first = residuals.places().start;
    let prior = residuals.ridge();
    let mut gains = vec![0.0; cells.len()];
    let mut sums = vec![(0.0, 0.0); count];
    for half in 0..2 {
        for head in 0..residuals.heads {
            sums.fill((0.0, 0.0));
            for (i, &cell) in cells.iter().enumerate().filter(|(i, _)| i % 2 == half) {
                if let Some(sum) = sums.get_mut(cell) {
                    let (slope, curvature) = residuals.at(first + i, head);
                    *sum = (sum.0 - slope, sum.1 + curvature);
                }
            }
            for (i, cell) in cells.iter().enumerate().filter(|(i, _)| i % 2 != half) {
                if let Some((slope, curvature)) = sums.get(*cell) {
                    let step = slope / (curvature + prior);
                    gains[i] += drop_of(residuals.at(first + i, head), step);
                }
            }
        }
    }
    gains
}

/// The pairs whose cells lower the loss of rows they were not fitted to by more than the two columns do, the strongest first.
pub(super) fn strongest_pairs(residuals: &Residuals, columns: &[Column]) -> Vec<[String; 2]> {
    let places = residuals.places();
    let code = |column: &Column, place: usize| {
        column.codes.get(residuals.rows[place]).copied().unwrap_or(0) as usize
    };
    let mut known: Vec<(&Column, Vec<f64>)> = columns
        .iter()
        .filter(|column| column.values > 1)
        .map(|column| {
            let count = column.values as usize;
            let cell = |place| code(column, place).checked_sub(1).unwrap_or(count);
            let cells: Vec<usize> = places.clone().map(cell).collect();
            (column, gains_of(residuals, &cells, count))
        })
        .collect();
    let total = |gains: &[f64]| gains.iter().sum::<f64>();
    if known.len() > MOST_COLUMNS {
        known.sort_by(|a, b| total(&b.1).total_cmp(&total(&a.1)));
        known.truncate(MOST_COLUMNS);
    }
    let mut found: Vec<(f64, [String; 2])> = Vec::new();
    for (i, (a, alone_a)) in known.iter().enumerate() {
        for (b, alone_b) in &known[i + 1..] {
            let width = u64::from(b.values);
            let key = |place: usize| {
                let (a, b) = (code(a, place).checked_sub(1)?, code(b, place).checked_sub(1)?);
                Some(a as u64 * width + b as u64)
            };
            let keys: Vec<Option<u64>> = places.clone().map(key).collect();
            let mut all: Vec<u64> = keys.iter().flatten().copied().collect();
            all.sort_unstable();
            all.dedup();
            let place = |key: &Option<u64>| {
                key.and_then(|key| all.binary_search(&key).ok()).unwrap_or(all.len())
            };
            let cells: Vec<usize> = keys.iter().map(place).collect();
            let mut gains = gains_of(residuals, &cells, all.len());
            for (gain, (a, b)) in gains.iter_mut().zip(alone_a.iter().zip(alone_b)) {
                *gain -= a + b;
            }
            if is_likely(&gains, LIKELY_PAIR) {
                found.push((total(&gains), [a.name.clone(), b.name.clone()]));
            }
        }
    }
    // Sorting keeps the order of the columns among equals.
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.truncate(columns.len().clamp(LEAST_PAIRS, MOST_PAIRS));
    found.into_iter().map(|(_, pair)| pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn residuals(y: &dyn Fn(usize) -> f64) -> Residuals {
        let mut residuals = Residuals::new(Loss::Squared);
        (0..3000).for_each(|row| residuals.push(row, &[0.0], y(row), 1.0));
        residuals
    }

    /// Numbers in [0, 1) that look random.
    fn noise(row: usize, salt: usize) -> f64 {
        let mixed = (row * 7 + salt + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f64
            / f64::from(1 << 24)
    }

    #[test]
    fn a_curve_pays_where_residuals_follow_it() {
        let cells: Vec<f64> = (0..3000).map(|row| noise(row, 1)).collect();
        let bent = residuals(&|row| (noise(row, 1) - 0.5).abs() + 0.3 * noise(row, 2));
        assert_eq!(knots_that_pay(&bent, &cells), Some(8));
        let flat = residuals(&|row| noise(row, 2) - 0.5);
        assert_eq!(knots_that_pay(&flat, &cells), None);
        // A curve that turns often needs more knots than one that turns once.
        let wavy = residuals(&|row| (25.0 * noise(row, 1)).sin());
        assert_eq!(knots_that_pay(&wavy, &cells), Some(16));
    }

    #[test]
    fn a_pair_pays_where_two_columns_decide_together() {
        let columns: Vec<Column> = (0..4)
            .map(|k| {
                let cells: Vec<f64> = (0..3000).map(|row| noise(row, 10 + k)).collect();
                Column::binned(&format!("c{k}"), &cells)
            })
            .collect();
        let sign = |row: usize, k: usize| (noise(row, 10 + k) - 0.5).signum();
        let together = residuals(&|row| sign(row, 1) * sign(row, 3) + noise(row, 2));
        let found = strongest_pairs(&together, &columns);
        assert_eq!(found, [["c1".to_owned(), "c3".to_owned()]]);
        // Each on its own is no pair.
        let apart = residuals(&|row| sign(row, 1) + sign(row, 3) + noise(row, 2));
        assert!(strongest_pairs(&apart, &columns).is_empty());
    }

    #[test]
    fn a_pair_pays_where_two_columns_decide_between_classes() {
        let columns: Vec<Column> = (0..4)
            .map(|k| {
                let cells: Vec<f64> = (0..3000).map(|row| noise(row, 20 + k)).collect();
                Column::binned(&format!("c{k}"), &cells)
            })
            .collect();
        let half = |row: usize, k: usize| noise(row, 20 + k) > 0.5;
        let mut residuals = Residuals::new(Loss::Softmax);
        for row in 0..3000 {
            let class = match noise(row, 2) {
                u if u < 0.6 => f64::from(u8::from(half(row, 0) != half(row, 2))),
                u => (10.0 * u).floor() - 4.0,
            };
            // Margins of softmax have no level: the same probabilities at any.
            residuals.push(row, &[7.0, 7.0, 6.0, 6.0, 6.0, 6.0], class, 1.0);
        }
        let found = strongest_pairs(&residuals, &columns);
        assert_eq!(found, [["c0".to_owned(), "c2".to_owned()]]);
    }

    #[test]
    fn normal_equations_of_neighbours_are_solved() {
        let mut fit = Tridiagonal::new(3, 1e-9);
        // Points of the curve 1, 3, 2 at the knots 0, 1, 2.
        for (k, t, y) in [(0, 0.0, 1.0), (0, 0.5, 2.0), (0, 1.0, 3.0), (1, 0.5, 2.5), (1, 1.0, 2.0)]
        {
            fit.add(k, t, (-y, 1.0));
        }
        let curve = fit.solve();
        for (found, expected) in curve.iter().zip([1.0, 3.0, 2.0]) {
            assert!((found - expected).abs() < 1e-6, "{curve:?}");
        }
    }
}
