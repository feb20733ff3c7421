//! Rows that fade: a row of age `k` counts `2^(-k/ROWS)`, where `ROWS` is the half-life and age is counted in learned rows.
//!
//! Sums are not multiplied in every round. Instead the importance of new rows grows: the row of round `t` counts `2^(t/ROWS)` times, and so do
//! the penalties, which are compared with the rows. Whenever the growth reaches `2^16`, all sums are divided by it. The division is
//! exact in floating point, and happens at fixed counts of learned rows: results do not depend on chunks, and streams may be endless.
//!
//! Every part of a learner that keeps sums (the rule, the scales of the features, the moments of the labels) counts learned
//! rows itself. All parts count the same rows, so their growth is equal.

use std::num::NonZeroU64;

use crate::State;
use crate::exponential::exp;
use crate::state::{StateError, StateWriter};

/// Number of half-lives between divisions.
///
/// NUMERICS: squares of `f32` grow by `2^32` in that time, which leaves a quarter of the exponents for growth and the rest for the data.
const HALF_LIVES: u64 = 16;
/// A sum in units of the growth at a division.
pub(crate) const DIVIDED: f64 = 1.0 / (1u64 << HALF_LIVES) as f64;

/// The number of learned rows after which a row counts half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HalfLife(NonZeroU64);

impl HalfLife {
    /// Fading with a half-life of `rows`, at least 1.
    pub fn new(rows: u64) -> Option<Self> {
        NonZeroU64::new(rows).map(Self)
    }

    /// The growth in round `t >= 1`, in units of that at the last division before it: above 1, and `2^16` at most.
    #[inline]
    pub(crate) fn growth(self, t: u64) -> f64 {
        let (rows, before) = (self.0.get(), t.saturating_sub(1));
        let (halvings, part) = (before / rows % HALF_LIVES, before % rows + 1);
        let whole = (1u64 << halvings) as f64;
        // A whole half-life is an exact factor.
        if part == rows {
            return 2.0 * whole;
        }
        whole * exp(part as f64 / rows as f64 * std::f64::consts::LN_2)
    }

    /// Whether all sums are divided at the end of round `t >= 1`.
    #[inline]
    pub(crate) fn divides(self, t: u64) -> bool {
        let rows = self.0.get();
        t.is_multiple_of(rows) && (t / rows).is_multiple_of(HALF_LIVES)
    }

    /// The growth between the rounds `t` and `t + 1`, after a division.
    pub(crate) fn growth_after(self, t: u64) -> f64 {
        if t == 0 || self.divides(t) { 1.0 } else { self.growth(t) }
    }
}

/// The learned rows that a part of a learner has counted, if its rows fade.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fade {
    half_life: Option<HalfLife>,
    t: u64,
}

impl Fade {
    pub(crate) fn new(half_life: Option<HalfLife>) -> Self {
        Self { half_life, t: 0 }
    }

    /// Begins the round of a learned row and returns the factor of its importance: 1 if rows do not fade.
    #[inline]
    pub(crate) fn tick(&mut self) -> f64 {
        let Some(half_life) = self.half_life else { return 1.0 };
        self.t += 1;
        half_life.growth(self.t)
    }

    /// Whether rows fade, so that they have to be counted.
    pub(crate) fn counts(&self) -> bool {
        self.half_life.is_some()
    }

    /// Whether sums must be multiplied by [`DIVIDED`] at the end of the round.
    #[inline]
    pub(crate) fn divides(&self) -> bool {
        self.half_life.is_some_and(|half_life| half_life.divides(self.t))
    }

    /// Appends the count; nothing if rows do not fade.
    pub(crate) fn save(&self, out: &mut StateWriter) {
        if self.half_life.is_some() {
            self.t.write(out);
        }
    }

    pub(crate) fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError> {
        if self.half_life.is_some() {
            self.t = u64::read(input).map_err(|e| e.in_field("the number of rows"))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_doubles_by_the_half_life_and_starts_again_at_a_division() {
        for rows in [1, 2, 7, 1000] {
            let half_life = HalfLife::new(rows).unwrap();
            for t in 1..100 * rows.min(100) {
                let since = (t - 1) % (HALF_LIVES * rows) + 1;
                let expected = (since as f64 / rows as f64).exp2();
                let growth = half_life.growth(t);
                assert!((growth / expected - 1.0).abs() < 1e-15, "{rows} {t}: {growth}");
                assert_eq!(half_life.divides(t), growth == 65536.0, "{rows} {t}");
                let after = if growth == 65536.0 { 1.0 } else { growth };
                assert_eq!(half_life.growth_after(t), after);
            }
        }
        assert_eq!(HalfLife::new(0), None);
        // Neither the count nor the half-life can overflow.
        assert_eq!(HalfLife::new(1).unwrap().growth(u64::MAX), 32768.0);
        assert_eq!(HalfLife::new(u64::MAX).unwrap().growth(u64::MAX), 2.0);
    }
}
