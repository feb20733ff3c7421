//! Rows on a common scale: every feature divided by its root mean square, every row multiplied by one level.

use crate::space::Space;

/// The most importance that a mean square remembers.
const MEMORY: f64 = 4096.0;

/// The learned rows, from which scales and level are computed again whenever they are read.
pub(crate) struct Normalizer {
    space: Space,
    /// Per feature, importance and value of every learned row that has the feature.
    values: Vec<Vec<(f64, f64)>>,
    /// Per learned row, its importance and the sum of squares of its values after division.
    rows: Vec<(f64, f64)>,
}

impl Normalizer {
    pub(crate) fn new(space: &Space) -> Self {
        let values = vec![Vec::new(); space.dimension];
        Normalizer { space: space.clone(), values, rows: Vec::new() }
    }

    /// Counts a row that is about to be learned.
    pub(crate) fn count(&mut self, x: &[(usize, f64)], h: f64) {
        // A row of a chunk has no explicit zeros: a zero is a feature that did not occur.
        let occurred = || x.iter().filter(|(_, value)| *value != 0.0);
        for &(j, value) in occurred() {
            self.values[j].push((h, value));
        }
        let squares: f64 = occurred().map(|&(j, value)| (value / self.scale(j)).powi(2)).sum();
        self.rows.push((h, squares + f64::from(u8::from(self.space.bias))));
    }

    /// `s_j`: the root mean square of a feature where it occurred, with the capped weight `n_j`.
    pub(crate) fn scale(&self, j: usize) -> f64 {
        let (mut n, mut square) = (0.0_f64, 0.0_f64);
        for (h, value) in &self.values[j] {
            n = (n + h).min(MEMORY);
            square += (h / n).min(1.0) * (value * value - square);
        }
        square.sqrt()
    }

    /// `a = sqrt(T/S)`; 1 while nothing but empty rows was learned, where no value depends on it.
    pub(crate) fn level(&self) -> f64 {
        let total: f64 = self.rows.iter().map(|(h, _)| h).sum();
        let squares: f64 = self.rows.iter().map(|(h, squares)| h * squares).sum();
        if squares > 0.0 { (total / squares).sqrt() } else { 1.0 }
    }

    /// Whether the weight of a feature is read: at least two learned rows had it.
    fn is_read(&self, j: usize) -> bool {
        self.values[j].len() >= 2
    }

    /// The dense row of the inner method: `a x_j / s_j`, and 1 for the bias. In a row that is not learned, features whose
    /// weights are not read are left out.
    pub(crate) fn row(&self, x: &[(usize, f64)], is_learned: bool) -> Vec<f64> {
        let (level, mut row) = (self.level(), self.space.zeros());
        for &(j, value) in x {
            let scale = self.scale(j);
            row[j] = if scale > 0.0 && (is_learned || self.is_read(j)) {
                level * (value / scale)
            } else {
                0.0
            };
        }
        if self.space.bias {
            row[self.space.dimension] = 1.0;
        }
        row
    }

    /// Weights of normalized rows as weights of the rows as given: `w_j a / s_j`, zero while one learned row had the feature; the bias as
    /// it is.
    pub(crate) fn in_units_of_features(&self, w: &[f64]) -> Vec<f64> {
        let level = self.level();
        let weight = |j: usize, w: f64| match j == self.space.dimension || w == 0.0 {
            true => w,
            false if self.is_read(j) => w * level / self.scale(j),
            false => 0.0,
        };
        w.iter().enumerate().map(|(j, &w)| weight(j, w)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_rows_by_hand() {
        let mut normalizer = Normalizer::new(&Space::new(2, true));
        normalizer.count(&[(0, 3.0)], 1.0);
        // u = 1: S = 2, T = 1.
        assert_eq!(normalizer.scale(0), 3.0);
        assert_eq!(normalizer.level(), 0.5_f64.sqrt());
        assert_eq!(normalizer.row(&[(0, 6.0), (1, 5.0)], true), [2.0 * 0.5_f64.sqrt(), 0.0, 1.0]);
        assert_eq!(normalizer.row(&[(0, 6.0), (1, 5.0)], false), [0.0, 0.0, 1.0]);
        normalizer.count(&[(0, 4.0)], 3.0);
        // The mean of 9 and three times 16 is 14.25.
        assert!((normalizer.scale(0) - 14.25_f64.sqrt()).abs() < 1e-15);
        let squares = 2.0_f64 + 3.0 * (16.0 / 14.25 + 1.0);
        assert!((normalizer.level() - (4.0 / squares).sqrt()).abs() < 1e-15);
        // More importance than is remembered: only this row counts.
        normalizer.count(&[(0, 7.0)], 5000.0);
        assert_eq!(normalizer.scale(0), 7.0);
    }

    #[test]
    fn the_mean_square_forgets_beyond_its_memory() {
        let mut normalizer = Normalizer::new(&Space::new(1, false));
        (0..5000).for_each(|_| normalizer.values[0].push((1.0, 1.0)));
        normalizer.values[0].push((1.0, 3.0));
        assert_eq!(normalizer.scale(0), (1.0 + 8.0 / 4096.0_f64).sqrt());
    }
}
