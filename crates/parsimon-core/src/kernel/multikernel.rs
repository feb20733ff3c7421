//! The learner: PDA and APFBS over a dictionary that grows and is refined.

use std::ops::Range;

use crate::dictionary::{Centers, Dictionary, Kernel, Meeting};
use crate::online::bare;
use crate::room::{self, Coming};
use crate::state::{StateError, StateWriter, fits};
use crate::{Chunk, Float, Frozen, Online, Row, State};

/// Step from a projection to the coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// PDA: the sum of all gradients is kept, and the coefficients are read off it (A.32, A.33).
    DualAveraging,
    /// APFBS: a step from the coefficients unchanged, then the proximal map (A.30, A.31).
    ForwardBackward,
}

/// The settings of a multikernel filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// PDA or APFBS.
    pub update: Update,
    /// `eta`; > 0. Below 2 the forward-backward steps are stable.
    pub rate: f64,
    /// `lambda`, the strength of the sum of the columns' norms; >= 0.
    pub l1: f64,
    /// Added to `|K|^2`; >= 0.
    pub delta: f64,
    /// `r_max`: from this size on the dictionary is refined after every round. It is no upper limit.
    pub dictionary_max: usize,
    /// `epsilon_J`: refining drops the columns whose norm is below it; >= 0.
    pub dictionary_threshold: f64,
}

/// A multikernel adaptive filter.
///
/// `F` is what centers and coefficients are stored in; kernels and sums are computed in `f64`, because the squares in `|K|^2` leave
/// the range of `f32` with features of a few hundred thousand.
///
/// Every row with a label and a weight > 0 joins the dictionary before its update. A row whose update would not be finite
/// (it takes features or labels beyond anything a reader lets pass) changes nothing and does not join.
///
/// ```
/// use parsimon_core::kernel::{Tuning, Kernel, Multikernel, Update};
/// use parsimon_core::{Chunk, Online, Repeats};
///
/// // y = x^2, which no linear model can follow.
/// let mut chunk = Chunk::new();
/// for i in 0..400 {
///     let x = f64::from(i * 7 % 40) / 20.0 - 1.0;
///     chunk.push_feature(1, x);
///     chunk.finish_row(Some(x * x), 1.0, Repeats::Refuse).unwrap();
/// }
/// let tuning = Tuning {
///     update: Update::DualAveraging,
///     rate: 0.3,
///     l1: 2e-3,
///     delta: 1e-5,
///     dictionary_max: 20,
///     dictionary_threshold: 1e-6,
/// };
/// let kernels = vec![Kernel::Gaussian { variance: 0.1 }];
/// let mut learner = Multikernel::<f64>::new(tuning, kernels);
/// let mut margins = Vec::new();
/// learner.learn(&chunk, &mut margins);
/// assert_eq!(margins[0], 0.0); // predicted before learning
///
/// let error = |i: usize| (margins[i] - chunk.label(i).unwrap()).abs();
/// let last: f64 = (360..400).map(error).sum::<f64>() / 40.0;
/// assert!(last < 0.06); // the best constant is wrong by 0.27
/// assert!(learner.len() < 100); // of the 400 rows
/// ```
pub struct Multikernel<F> {
    tuning: Tuning,
    kernels: Vec<Kernel>,
    centers: Centers<F>,
    /// `S` or `H`, column by column: the state from which the coefficients are computed.
    columns: Vec<F>,
    /// `K`, column by column: a scratch of the current row.
    k: Vec<f64>,
}

impl<F: Float> Multikernel<F> {
    /// A filter with an empty dictionary.
    pub fn new(tuning: Tuning, kernels: Vec<Kernel>) -> Self {
        Self { tuning, kernels, centers: Centers::default(), columns: Vec::new(), k: Vec::new() }
    }

    /// `r_t`, the number of rows in the dictionary, those with zero coefficients included.
    pub fn len(&self) -> usize {
        self.centers.len()
    }

    /// Whether the dictionary is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The coefficients of center `j`, one per kernel.
    pub fn coefficients(&self, j: usize) -> impl ExactSizeIterator<Item = f64> + '_ {
        let column = self.column(j);
        let factor = self.factor(column);
        column.iter().map(move |s| factor * s.to_f64())
    }

    fn column(&self, j: usize) -> &[F] {
        let m = self.kernels.len();
        &self.columns[j * m..(j + 1) * m]
    }

    /// Factor from a column of the state to a column of coefficients; 0 if and only if all coefficients are zero.
    fn factor(&self, column: &[F]) -> f64 {
        match self.tuning.update {
            Update::DualAveraging => {
                let norm = self.tuning.rate * norm(column.iter().map(|s| s.to_f64()));
                -self.tuning.rate * self.shrink(norm)
            }
            Update::ForwardBackward => f64::from(u8::from(column.iter().any(|h| *h != F::ZERO))),
        }
    }

    /// The proximal map of `eta l1 |.|` multiplies a column of that norm with this.
    fn shrink(&self, norm: f64) -> f64 {
        if norm > 0.0 { (1.0 - self.tuning.l1 * self.tuning.rate / norm).max(0.0) } else { 0.0 }
    }

    /// Predicts one row. Columns of zeros are skipped, which never changes a sum.
    pub fn predict_row(&self, x: Row<'_>) -> f64 {
        let mut p = 0.0;
        for j in 0..self.len() {
            let factor = self.factor(self.column(j));
            if factor == 0.0 {
                continue;
            }
            let meeting = Meeting::new::<F, F>(x, self.centers.get(j));
            for (s, kernel) in self.column(j).iter().zip(&self.kernels) {
                p += factor * s.to_f64() * kernel.value(meeting.distance2, meeting.dot);
            }
        }
        p
    }

    /// Predicts and then learns row `i`. Returns the margin made before learning.
    fn learn_row(&mut self, chunk: &Chunk, i: usize) -> f64 {
        let (x, weight) = (chunk.row(i), chunk.weight(i));
        match chunk.label(i) {
            // A row of weight 0 changes nothing.
            Some(y) if weight > 0.0 => {
                let p = self.gather(x);
                self.absorb(x, weight * (p - y));
                self.refine();
                p
            }
            _ => self.predict_row(x),
        }
    }

    /// Fills the scratch with `K`, the row's own column last, and returns `<H, K>`.
    fn gather(&mut self, x: Row<'_>) -> f64 {
        let mut k = std::mem::take(&mut self.k);
        k.clear();
        let mut p = 0.0;
        for j in 0..self.len() {
            let meeting = Meeting::new::<F, F>(x, self.centers.get(j));
            let start = k.len();
            k.extend(self.kernels.iter().map(|one| one.value(meeting.distance2, meeting.dot)));
            let factor = self.factor(self.column(j));
            if factor != 0.0 {
                for (s, k) in self.column(j).iter().zip(&k[start..]) {
                    p += factor * s.to_f64() * k;
                }
            }
        }
        let own = Meeting::own::<F>(x);
        k.extend(self.kernels.iter().map(|one| one.value(own.distance2, own.dot)));
        self.k = k;
        p
    }

    /// Lets the row join the dictionary and takes the step of the error `e = v (<H, K> - y)`.
    fn absorb(&mut self, x: Row<'_>, e: f64) {
        let Tuning { update, rate, delta, .. } = self.tuning;
        let norm2: f64 = self.k.iter().map(|k| k * k).sum();
        // A row that is zero under every kernel has no hyperplane and moves nothing.
        let step = if norm2 > 0.0 { e / (norm2 + delta) } else { 0.0 };
        let step = if update == Update::DualAveraging { step } else { -rate * step };
        let old = self.columns.len();
        self.columns.resize(self.k.len(), F::ZERO);
        let moved = |s: F, k: f64| F::from_f64(s.to_f64() + step * k);
        let mut all = self.columns.iter().zip(&self.k);
        if !all.all(|(&s, &k)| moved(s, k).to_f64().is_finite()) {
            self.columns.truncate(old);
            return;
        }
        for (s, &k) in self.columns.iter_mut().zip(&self.k) {
            *s = moved(*s, k);
        }
        self.centers.push(x.iter());
        if update == Update::ForwardBackward && self.tuning.l1 > 0.0 {
            self.shrink_columns();
        }
    }

    fn shrink_columns(&mut self) {
        let m = self.kernels.len();
        for start in (0..self.columns.len()).step_by(m) {
            let column = start..start + m;
            let norm = norm(self.columns[column.clone()].iter().map(|v| v.to_f64()));
            let shrink = self.shrink(norm);
            self.columns[column].iter_mut().for_each(|v| *v = F::from_f64(shrink * v.to_f64()));
        }
    }

    /// Drops the columns below the threshold, if the dictionary is large enough for that.
    fn refine(&mut self) {
        let (len, m) = (self.len(), self.kernels.len());
        if len < self.tuning.dictionary_max {
            return;
        }
        let mut kept = 0;
        for j in 0..len {
            if norm(self.coefficients(j)) < self.tuning.dictionary_threshold {
                continue;
            }
            if kept < j {
                self.centers.move_down(j, kept);
                self.columns.copy_within(j * m..(j + 1) * m, kept * m);
            }
            kept += 1;
        }
        self.centers.truncate(kept);
        self.columns.truncate(kept * m);
    }
}

fn norm(column: impl Iterator<Item = f64>) -> f64 {
    column.map(|h| h * h).sum::<f64>().sqrt()
}

impl<F: Float> Online for Multikernel<F> {
    bare!(all_rows no_scales no_race no_penalty_scale_or_base one_head unbounded);
    bare!(weights_of_frozen);
    bare!(@unmergeable "every learner gathers a dictionary of rows of its own");

    fn is_linear(&self) -> bool {
        false
    }

    fn learn_rows(&mut self, chunk: &Chunk, rows: Range<usize>, margins: &mut Vec<f64>) {
        margins.reserve(rows.len());
        for i in rows {
            let p = self.learn_row(chunk, i);
            margins.push(p);
        }
    }

    fn predict(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        margins.extend((0..chunk.len()).map(|i| self.predict_row(chunk.row(i))));
    }

    /// The number of centers with a coefficient that is not zero.
    fn nonzeros(&self) -> usize {
        (0..self.len()).filter(|&j| self.factor(self.column(j)) != 0.0).count()
    }

    fn nonzeros_by_head(&self) -> Vec<usize> {
        vec![self.nonzeros()]
    }

    fn freeze(&self) -> Frozen {
        let mut dictionary = Dictionary::new(self.kernels.clone());
        for j in (0..self.len()).filter(|&j| self.factor(self.column(j)) != 0.0) {
            dictionary.push(self.centers.get(j), self.coefficients(j));
        }
        Frozen::Kernel(dictionary)
    }

    fn room(&self, coming: Coming) -> u64 {
        let kernels = self.kernels.len();
        let centers = (self.len() + coming.rows) as u64;
        let features = (self.centers.indices().len() + coming.features) as u64;
        let each = size_of::<u64>() + kernels * (size_of::<F>() + size_of::<f64>());
        room::vector(centers, each)
            .saturating_add(room::vector(features, size_of::<u32>() + size_of::<F>()))
            .saturating_add(room::saved(features, size_of::<F>()))
            .saturating_add(room::saved(centers.saturating_mul(kernels as u64), size_of::<F>()))
    }

    fn save(&self, out: &mut StateWriter) {
        let write = |numbers: &[F], out: &mut StateWriter| {
            (numbers.len() as u64).write(out);
            numbers.iter().for_each(|number| number.write(out));
        };
        self.centers.ends().to_vec().write(out);
        self.centers.indices().to_vec().write(out);
        write(self.centers.values(), out);
        write(&self.columns, out);
    }

    fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError> {
        let named = |field| move |e: StateError| e.in_field(field);
        let ends = State::read(input).map_err(named("the ends of the centers"))?;
        let indices = State::read(input).map_err(named("the features of the centers"))?;
        let values = State::read(input).map_err(named("the values of the centers"))?;
        let centers = Centers::from_parts(ends, indices, values)
            .ok_or(StateError::inconsistent("the dictionary"))?;
        let columns: Vec<F> = State::read(input).map_err(named("the coefficients"))?;
        let numbers = centers.len().checked_mul(self.kernels.len());
        fits(Some(columns.len()) == numbers, "the number of coefficients")?;
        (self.centers, self.columns) = (centers, columns);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use parsimon_testing::Lcg64;

    use super::*;
    use crate::{Precision, Repeats};

    const PLAIN: Tuning = Tuning {
        update: Update::ForwardBackward,
        rate: 0.5,
        l1: 0.0,
        delta: 0.0,
        dictionary_max: 100,
        dictionary_threshold: 0.0,
    };
    const BOTH: [Update; 2] = [Update::DualAveraging, Update::ForwardBackward];

    fn chunk(rows: &[(f64, f64)]) -> Chunk {
        let mut chunk = Chunk::new();
        for &(x, y) in rows {
            chunk.push_feature(1, x);
            chunk.finish_row(Some(y), 1.0, Repeats::Refuse).unwrap();
        }
        chunk
    }

    /// Rows of one to three features with a label that is no linear function of them.
    fn stream(rows: u32) -> Chunk {
        let mut chunk = Chunk::new();
        let mut random = Lcg64::new(7);
        let mut random = || random.unit24();
        for i in 0..rows {
            let x = random();
            chunk.push_feature(1, x);
            if i % 3 > 0 {
                chunk.push_feature(2 + i % 5, random() - 0.5);
            }
            let y = (-20.0 * (x - 0.1) * (x - 0.1)).exp() - 0.5 * x + 0.1 * (random() - 0.5);
            let label = (i % 11 != 4).then_some(y);
            let weight = [1.0, 1.0, 0.5, 2.0, 1.0, 0.0][i as usize % 6];
            chunk.finish_row(label, weight, Repeats::Refuse).unwrap();
        }
        chunk
    }

    fn bank() -> Vec<Kernel> {
        vec![
            Kernel::Gaussian { variance: 0.01 },
            Kernel::Gaussian { variance: 0.3 },
            Kernel::Linear,
            Kernel::Polynomial { degree: 2 },
        ]
    }

    fn pruning(update: Update) -> Tuning {
        let (l1, dictionary_threshold) = (1e-4, 1e-4);
        Tuning { update, l1, delta: 1e-5, dictionary_max: 20, dictionary_threshold, ..PLAIN }
    }

    fn learned<F: Float>(
        tuning: Tuning,
        kernels: &[Kernel],
        rows: &Chunk,
    ) -> (Multikernel<F>, Vec<f64>) {
        let (mut learner, mut margins) = (Multikernel::new(tuning, kernels.to_vec()), Vec::new());
        learner.learn(rows, &mut margins);
        (learner, margins)
    }

    fn all_coefficients<F: Float>(learner: &Multikernel<F>) -> Vec<f64> {
        (0..learner.len()).flat_map(|j| learner.coefficients(j).collect::<Vec<_>>()).collect()
    }

    fn assert_near(found: &[f64], expected: &[f64]) {
        let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-14;
        let same = found.len() == expected.len() && found.iter().zip(expected).all(near);
        assert!(same, "found {found:?}, expected {expected:?}");
    }

    // Origin of the numbers, by hand, with the linear kernel. Row 1: K = [4], G = -4/16 [4] = [-1]. Row 2: K = [2, 1], |K|^2 = 5,
    // and the error is 2 h_1 - 3.
    const TWO: [(f64, f64); 2] = [(2.0, 4.0), (1.0, 3.0)];

    #[test]
    fn two_rounds_without_a_penalty() {
        for update in BOTH {
            let tuning = Tuning { update, ..PLAIN };
            let (learner, margins) = learned::<f64>(tuning, &[Kernel::Linear], &chunk(&TWO));
            assert_near(&margins, &[0.0, 1.0]);
            assert_near(&all_coefficients(&learner), &[0.9, 0.2]);
        }
    }

    #[test]
    fn two_rounds_with_a_penalty() {
        // l1 eta = 0.1, so h_1 = 0.4 after one round and the error is -2.2: G = [-0.88, -0.44].
        for (update, expected) in [
            (Update::ForwardBackward, [0.4 + 0.44 - 0.1, 0.22 - 0.1]),
            (Update::DualAveraging, [0.5 * 1.88 - 0.1, 0.22 - 0.1]),
        ] {
            let tuning = Tuning { update, l1: 0.2, ..PLAIN };
            let (learner, margins) = learned::<f64>(tuning, &[Kernel::Linear], &chunk(&TWO));
            assert_near(&margins, &[0.0, 0.8]);
            assert_near(&all_coefficients(&learner), &expected);
        }
    }

    #[test]
    fn a_column_shrinks_as_a_whole() {
        // K = [4, 5], |K|^2 = 41, V = 0.5 4/41 [4, 5] with norm 2/sqrt(41).
        let kernels = [Kernel::Linear, Kernel::Polynomial { degree: 1 }];
        for update in BOTH {
            let tuning = Tuning { update, l1: 0.2, ..PLAIN };
            let (learner, _) = learned::<f64>(tuning, &kernels, &chunk(&TWO[..1]));
            let shrink = 1.0 - 0.1 / (2.0 / f64::sqrt(41.0));
            assert_near(&all_coefficients(&learner), &[shrink * 8.0 / 41.0, shrink * 10.0 / 41.0]);
            // Refined, but with the threshold 0: a norm of 0 is not below it.
            let heavy = Tuning { l1: 100.0, dictionary_max: 1, ..tuning };
            let (learner, _) = learned::<f64>(heavy, &kernels, &chunk(&TWO));
            assert_eq!((learner.len(), learner.nonzeros()), (2, 0));
        }
    }

    #[test]
    fn refining_begins_at_its_size_and_takes_the_sum_along() {
        // As in `two_rounds_with_a_penalty`: the second column has norm 0.12.
        for (update, first) in [(Update::ForwardBackward, 0.74), (Update::DualAveraging, 0.84)] {
            for (dictionary_max, kept) in [(1, 1), (2, 1), (3, 2)] {
                let dictionary_threshold = 0.15;
                let tuning =
                    Tuning { update, l1: 0.2, dictionary_max, dictionary_threshold, ..PLAIN };
                let (learner, _) = learned::<f64>(tuning, &[Kernel::Linear], &chunk(&TWO));
                let found = all_coefficients(&learner);
                assert_eq!(found.len(), kept);
                assert_near(&found[..1], &[first]);
                assert_eq!(learner.centers.get(0).1, [2.0]);
            }
        }
    }

    #[test]
    fn a_row_that_leaves_makes_room_for_those_behind_it() {
        // Two rows that do not see each other, the first of which says nothing. 1.5 is half of the way to 3.
        let kernels = [Kernel::Gaussian { variance: 0.01 }, Kernel::Gaussian { variance: 0.02 }];
        for update in BOTH {
            let tuning = Tuning { update, dictionary_max: 2, dictionary_threshold: 1e-9, ..PLAIN };
            let rows = chunk(&[(1.0, 0.0), (10.0, 3.0)]);
            let (learner, _) = learned::<f64>(tuning, &kernels, &rows);
            assert_eq!((learner.len(), learner.centers.get(0).1), (1, &[10.0][..]));
            assert_near(&[learner.predict_row(rows.row(1))], &[1.5]);
        }
    }

    #[test]
    fn delta_is_added_to_the_norm() {
        // G = -4/(16 + 4) [4]
        let tuning = Tuning { delta: 4.0, ..PLAIN };
        let (learner, _) = learned::<f64>(tuning, &[Kernel::Linear], &chunk(&TWO[..1]));
        assert_near(&all_coefficients(&learner), &[0.4]);
    }

    #[test]
    fn a_full_forward_backward_step_satisfies_the_row() {
        // The law of projections: with rate 1 and nothing else, <H, K> = y afterward.
        let tuning = Tuning { rate: 1.0, ..PLAIN };
        let rows = stream(60);
        let mut learner = Multikernel::<f64>::new(tuning, bank());
        let mut margins = Vec::new();
        for i in 0..rows.len() {
            learner.learn_rows(&rows, i..i + 1, &mut margins);
            if let Some(y) = rows.label(i).filter(|_| rows.weight(i) == 1.0) {
                let p = learner.predict_row(rows.row(i));
                assert!((p - y).abs() < 1e-12, "row {i}: {p} is not {y}");
            }
        }
    }

    #[test]
    fn an_importance_weight_multiplies_the_step_and_zero_is_nothing() {
        let mut rows = Chunk::new();
        for (label, weight) in [(Some(4.0), 0.0), (None, 1.0), (Some(4.0), 0.5)] {
            rows.push_feature(1, 2.0);
            rows.finish_row(label, weight, Repeats::Refuse).unwrap();
        }
        for update in BOTH {
            let tuning = Tuning { update, ..PLAIN };
            let (learner, margins) = learned::<f64>(tuning, &[Kernel::Linear], &rows);
            assert_eq!(margins, [0.0; 3]);
            assert_eq!(all_coefficients(&learner), [0.25]);
        }
    }

    #[test]
    fn a_row_of_nothing_moves_nothing() {
        let mut rows = Chunk::new();
        rows.finish_row(Some(1.0), 1.0, Repeats::Refuse).unwrap();
        let (learner, _) = learned::<f64>(PLAIN, &[Kernel::Linear], &rows);
        assert_eq!(all_coefficients(&learner), [0.0]);
    }

    #[test]
    fn a_row_beyond_the_numbers_leaves_the_model_as_it_was() {
        for update in BOTH {
            let tuning = Tuning { update, ..PLAIN };
            let kernels = [Kernel::Linear, Kernel::Polynomial { degree: 9 }];
            let (mut learner, mut margins) = learned::<f32>(tuning, &kernels, &chunk(&TWO));
            let before = all_coefficients(&learner);
            learner.learn(&chunk(&[(1.0, f64::MAX)]), &mut margins);
            assert_eq!(all_coefficients(&learner), before);
            assert_eq!(learner.columns.len(), before.len());
            // Huge features saturate instead: the row is learned and nothing is infinite.
            learner.learn(&chunk(&[(1e30, 1.0), (-1e30, 1.0), (1.0, 2.0)]), &mut margins);
            assert_eq!(learner.len(), 5);
            assert!(all_coefficients(&learner).iter().chain(&margins).all(|h| h.is_finite()));
        }
    }

    #[test]
    fn chunks_and_checkpoints_change_no_bit() {
        fn check<F: Float>(tuning: Tuning) {
            let rows = stream(120);
            let (whole, expected) = learned::<F>(tuning, &bank(), &rows);
            assert!(whole.len() > 20, "{}", whole.len());
            for size in [1, 7, 50] {
                let (mut learner, mut margins) =
                    (Multikernel::<F>::new(tuning, bank()), Vec::new());
                for start in (0..rows.len()).step_by(size) {
                    let end = rows.len().min(start + size);
                    learner.learn_rows(&rows, start..end, &mut margins);
                    let mut state = StateWriter::new();
                    learner.save(&mut state);
                    learner = Multikernel::new(tuning, bank());
                    let mut input = state.as_bytes();
                    learner.restore(&mut input).unwrap();
                    assert!(input.is_empty());
                }
                assert_eq!(margins, expected);
                assert_eq!(learner.columns, whole.columns);
                assert_eq!(learner.centers, whole.centers);
            }
        }
        for update in BOTH {
            check::<f64>(pruning(update));
            check::<f32>(pruning(update));
        }
    }

    #[test]
    fn what_is_frozen_predicts_the_same_bits() {
        fn check<F: Float>(tuning: Tuning, precision: Precision) {
            let rows = stream(120);
            let (learner, _) = learned::<F>(tuning, &bank(), &rows);
            let (frozen, mut ours, mut theirs) = (learner.freeze(), Vec::new(), Vec::new());
            learner.predict(&rows, &mut ours);
            frozen.scorer(precision).margins(&rows, &mut theirs);
            assert_eq!(ours, theirs);
            assert_eq!(frozen.nonzeros(), learner.nonzeros());
            assert_eq!(frozen.dictionary().unwrap().len(), learner.nonzeros());
        }
        for update in BOTH {
            check::<f64>(pruning(update), Precision::F64);
            check::<f32>(pruning(update), Precision::F32);
        }
    }

    #[test]
    fn a_state_that_makes_no_sense_is_refused() {
        let (learner, _) = learned::<f64>(PLAIN, &[Kernel::Linear], &chunk(&TWO));
        let mut out = StateWriter::new();
        learner.save(&mut out);
        let mut state = out.into_bytes();
        for cut in 0..state.len() {
            let mut fresh = Multikernel::<f64>::new(PLAIN, vec![Kernel::Linear]);
            assert!(fresh.restore(&mut &state[..cut]).is_err(), "cut at {cut}");
        }
        let mut other = Multikernel::<f64>::new(PLAIN, vec![Kernel::Linear; 2]);
        assert!(other.restore(&mut &state[..]).is_err(), "the columns are too short");
        let last = state.len() - 8;
        state[last..].copy_from_slice(&f64::NAN.to_le_bytes());
        let mut fresh = Multikernel::<f64>::new(PLAIN, vec![Kernel::Linear]);
        assert!(fresh.restore(&mut &state[..]).is_err(), "not a number");
    }
}
