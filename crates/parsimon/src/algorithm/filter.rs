//! An algorithm as a filter: its method behind a delay line.

use parsimon_core::filter::{Filter, Method, Tapped};
use parsimon_core::{Float, Loss};

use super::recipe::FilterComposer;

/// A delay line with this many taps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DelayLine {
    pub(crate) taps: usize,
    pub(crate) relative: f64,
    pub(crate) loss: Loss,
}

impl<F: Float> FilterComposer<F> for DelayLine {
    type Output = Box<dyn Filter<F>>;
    fn loss(&self) -> Loss {
        self.loss
    }
    fn method<M: Method<F>>(self, new: impl Fn(usize, usize, F) -> M) -> Self::Output {
        Box::new(Tapped::new(new(self.taps, self.taps, F::from_f64(self.relative))))
    }
}

/// A composer that determines whether there is a method, and builds nothing.
pub(super) struct Probe;

impl<F: Float> FilterComposer<F> for Probe {
    type Output = ();
    fn loss(&self) -> Loss {
        Loss::Squared
    }
    fn method<M: Method<F>>(self, _: impl Fn(usize, usize, F) -> M) {}
}
