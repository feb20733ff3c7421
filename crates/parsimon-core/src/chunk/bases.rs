//! Base values: parts of a margin that are known before the learner adds the rest.

use super::Chunk;

/// The base value of a row without one.
const NO_BASE: f64 = -0.0;

impl Chunk {
    /// The base value of row `i`: a known part of its margin, to which the learner adds the rest.
    ///
    /// NUMERICS: a row without one has -0, because adding that changes no number, not even the sign of a zero.
    #[inline]
    pub fn base(&self, i: usize) -> f64 {
        if self.bases.is_empty() { NO_BASE } else { self.bases[i] }
    }

    /// The base value of row `i` for one of several classes.
    #[inline]
    pub fn base_of(&self, i: usize, class: usize) -> f64 {
        match self.base_width {
            1 => self.base(i),
            width => self.bases[i * width + class],
        }
    }

    /// Gives all rows base values, one for each or as many as there are classes. They must be finite.
    ///
    /// # Panics
    /// If there are not as many for each row.
    pub fn set_bases(&mut self, bases: &[f64]) {
        let width = bases.len() / self.len().max(1);
        assert_eq!(bases.len(), width * self.len(), "every row has as many base values");
        self.base_width = width.max(1);
        self.bases.clear();
        self.bases.extend_from_slice(bases);
    }

    /// Whether a row has a base value.
    #[inline]
    pub fn has_bases(&self) -> bool {
        !self.bases.is_empty()
    }

    /// Returns the rows without base values.
    pub(crate) fn without_bases(&self) -> Chunk {
        Chunk { bases: Vec::new(), ..self.clone() }
    }

    /// Adds the base values to the margins of all rows, `margins.len() / self.len()` for each.
    pub(crate) fn add_bases(&self, margins: &mut [f64]) {
        if self.has_bases() {
            let width = margins.len() / self.len().max(1);
            for (i, of_row) in margins.chunks_exact_mut(width.max(1)).enumerate() {
                of_row.iter_mut().enumerate().for_each(|(class, p)| *p += self.base_of(i, class));
            }
        }
    }

    /// Gives the row just finished a base value, which must be finite.
    pub fn base_last(&mut self, base: f64) {
        let Some(last) = self.len().checked_sub(1) else {
            return;
        };
        self.bases.resize(last, NO_BASE);
        self.bases.push(base);
    }

    /// Gives the row just finished the base value of row `i` of `other`.
    #[inline]
    pub(crate) fn copy_base(&mut self, other: &Chunk, i: usize) {
        if other.base_width > 1 {
            self.copy_wide_base(other, i);
        } else if other.has_bases() {
            self.base_last(other.bases[i]);
        }
    }

    fn copy_wide_base(&mut self, other: &Chunk, i: usize) {
        let (width, last) = (other.base_width, self.len().saturating_sub(1));
        self.base_width = width;
        self.bases.resize(last * width, NO_BASE);
        self.bases.extend_from_slice(&other.bases[i * width..(i + 1) * width]);
    }

    /// Reserves the base value of a row, which has none yet.
    pub(super) fn open_base(&mut self) {
        if self.has_bases() {
            self.bases.resize(self.bases.len() + self.base_width, NO_BASE);
        }
    }
}
