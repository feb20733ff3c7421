//! A method fed by a delay line: an adaptive filter, sample by sample.

use super::line::Line;
use super::{Method, Past, restore_into, save_all};
use crate::state::{StateError, StateWriter};
use crate::vector::{dot, norm1};
use crate::wide::{Work, wide};
use crate::{Float, State};

/// An adaptive filter. It reads a reference signal, predicts the observed signal, and returns the residual.
///
/// Samples come in blocks of any size; the same samples come out for any blocks, bit for bit. Nothing is
/// allocated once the largest block has been seen. For every finite input the output is finite: a filter that
/// diverges restarts from zero and counts the restart; a sample that is not finite counts as zero.
pub trait Filter<F: Float>: Send {
    /// Filters and adapts: the residual, observed minus predicted, one sample for each. The slice is good until the
    /// next call.
    ///
    /// # Panics
    /// The two blocks differ in length.
    fn push(&mut self, reference: &[F], observed: &[F]) -> &[F];
    /// The taps, the newest sample's first.
    fn taps(&self) -> &[F];
    /// Takes other taps.
    ///
    /// # Panics
    /// The number of weights differs from [`taps`](Filter::taps).
    fn set_taps(&mut self, taps: &[F]);
    /// Whether to adapt; a filter that does not adapt still filters.
    fn set_adapting(&mut self, adapting: bool);
    /// Number of times that the filter diverged and restarted from zero.
    fn resets(&self) -> u64;
    /// Number of samples that were not finite.
    fn refused(&self) -> u64;
    /// Appends everything that filtering needs to continue, bit for bit.
    fn save(&self, out: &mut StateWriter);
    /// Restores the bytes of [`save`](Filter::save). After an error the learner must not be used.
    fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError>;
}

/// A [`Method`] behind a delay line of as many samples as it has weights.
///
/// ```
/// use parsimon_core::filter::lms::Lms;
/// use parsimon_core::filter::{Filter, Tapped};
///
/// let mut filter = Tapped::new(Lms::new(2, 0.1));
/// let residual = filter.push(&[1.0f32, 0.0], &[0.5, 0.25]);
/// assert_eq!(residual, [0.5, 0.25]); // nothing is known of the echo yet
/// assert_eq!(filter.taps(), [0.05, 0.025]);
/// ```
#[derive(Clone, Debug)]
pub struct Tapped<F: Float, M> {
    method: M,
    line: Line<F>,
    /// The observed samples of the last rounds, the newest first.
    targets: Vec<F>,
    adapting: bool,
    resets: u64,
    refused: u64,
    residual: Vec<F>,
}

struct Recent<'a, F> {
    line: &'a Line<F>,
    targets: &'a [F],
    len: usize,
}

impl<F: Float> Past<F> for Recent<'_, F> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.len
    }
    #[inline(always)]
    fn round(&self) -> u64 {
        self.line.count()
    }
    #[inline(always)]
    fn regressor(&self, c: usize) -> &[F] {
        self.line.regressor(c)
    }
    #[inline(always)]
    fn target(&self, c: usize) -> F {
        self.targets[c]
    }
    #[inline(always)]
    fn energy(&self) -> F {
        self.line.energy()
    }
    #[inline(always)]
    fn usual_energy(&self) -> F {
        self.line.usual_energy()
    }
}

impl<F: Float, M: Method<F>> Tapped<F, M> {
    /// A filter with as many taps as the method has weights.
    pub fn new(method: M) -> Self {
        let (taps, order) = (method.weights().len().max(1), method.order().max(1));
        Self {
            method,
            line: Line::new(taps, order),
            targets: vec![F::ZERO; order],
            adapting: true,
            resets: 0,
            refused: 0,
            residual: Vec::new(),
        }
    }

    #[inline(always)]
    fn finite(&mut self, sample: F) -> F {
        if is_finite(sample) {
            return sample;
        }
        self.refused += 1;
        F::ZERO
    }

    #[inline(always)]
    fn step(&mut self, x: F, y: F) -> F {
        let (x, y) = (self.finite(x), self.finite(y));
        self.line.push(x);
        let order = self.targets.len();
        self.targets.copy_within(..order - 1, 1);
        self.targets[0] = y;
        let mut p = dot(self.method.weights(), self.line.regressor(0));
        // One weight that is not finite makes the sum not finite, so this check works for any input.
        if !is_finite(y - p) {
            self.method.reset();
            self.resets += 1;
            p = F::ZERO;
        }
        if self.adapting {
            let len = self.line.count().min(order as u64) as usize;
            let past = Recent { line: &self.line, targets: &self.targets, len };
            self.method.adapt(&past, p, F::ONE);
        }
        y - p
    }

    #[inline(always)]
    fn run(&mut self, reference: &[F], observed: &[F]) {
        self.residual.clear();
        for (&x, &y) in reference.iter().zip(observed) {
            let e = self.step(x, y);
            self.residual.push(e);
        }
        // An overflow is detected at the next sample; readers of the taps must not see it before.
        if !is_finite(norm1(self.method.weights())) {
            self.method.reset();
            self.resets += 1;
        }
    }
}

struct Push<'a, F: Float, M> {
    filter: &'a mut Tapped<F, M>,
    reference: &'a [F],
    observed: &'a [F],
}

impl<F: Float, M: Method<F>> Work for Push<'_, F, M> {
    type Output = ();
    #[inline(always)]
    fn work(self) {
        self.filter.run(self.reference, self.observed);
    }
}

#[inline(always)]
fn is_finite<F: Float>(x: F) -> bool {
    // NUMERICS: 0 for a finite number and NaN for any other, without a detour through f64.
    x * F::ZERO == F::ZERO
}

impl<F: Float, M: Method<F>> Filter<F> for Tapped<F, M> {
    fn push(&mut self, reference: &[F], observed: &[F]) -> &[F] {
        assert_eq!(reference.len(), observed.len(), "the two blocks differ in length");
        wide(Push { filter: self, reference, observed });
        &self.residual
    }
    fn taps(&self) -> &[F] {
        self.method.weights()
    }
    fn set_taps(&mut self, taps: &[F]) {
        assert_eq!(taps.len(), self.taps().len(), "the number of taps does not change");
        self.method.set_weights(taps);
    }
    fn set_adapting(&mut self, adapting: bool) {
        self.adapting = adapting;
    }
    fn resets(&self) -> u64 {
        self.resets
    }
    fn refused(&self) -> u64 {
        self.refused
    }

    fn save(&self, out: &mut StateWriter) {
        self.method.save(out);
        self.line.save(out);
        save_all(&self.targets, out);
        u32::from(self.adapting).write(out);
        self.resets.write(out);
        self.refused.write(out);
    }

    fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError> {
        self.method.restore(input)?;
        self.line.restore(input)?;
        restore_into(&mut self.targets, input, "the targets")?;
        let named = |field| move |e: StateError| e.in_field(field);
        self.adapting = u32::read(input).map_err(named("whether the filter adapts"))? != 0;
        self.resets = u64::read(input).map_err(named("the number of resets"))?;
        self.refused = u64::read(input).map_err(named("the number of refused samples"))?;
        Ok(())
    }
}
