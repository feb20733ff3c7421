//! The last samples of a signal, always contiguous.

use crate::state::{StateError, StateWriter};
use crate::vector::dot;
use crate::{Float, State};

use super::{restore_into, save_all};

/// A delay line: the newest sample first, `r` overlapping windows of `taps` samples.
#[derive(Clone, Debug)]
pub(super) struct Line<F> {
    /// Filled from the end; the newest sample is at `at`.
    buffer: Vec<F>,
    at: usize,
    taps: usize,
    /// `taps + r - 1`, the number of samples that must be kept.
    window: usize,
    count: u64,
    energy: f64,
    power: f64,
}

/// The long average of the power forgets beyond this many samples: some 16 s of speech at 16 kHz.
const HORIZON: u64 = 1 << 18;

impl<F: Float> Line<F> {
    pub(super) fn new(taps: usize, order: usize) -> Self {
        let window = taps + order - 1;
        // More than twice the window, so that the copy back to the end costs a fraction of a sample's work.
        let buffer = vec![F::ZERO; 2 * window + 256];
        let at = buffer.len() - window;
        Self { buffer, at, taps, window, count: 0, energy: 0.0, power: 0.0 }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, x: F) {
        if self.at == 0 {
            self.at = self.buffer.len() - self.window;
            self.buffer.copy_within(..self.window, self.at);
        }
        let leaving = self.buffer[self.at + self.taps - 1].to_f64();
        self.at -= 1;
        self.buffer[self.at] = x;
        self.count += 1;
        let square = x.to_f64() * x.to_f64();
        // NUMERICS: a sum that slides for hours drifts. It is made anew every `taps` samples, by the count, so that
        // the bits do not depend on how the signal was cut into blocks.
        self.energy = match self.count % self.taps as u64 {
            0 => dot(self.regressor(0), self.regressor(0)).to_f64(),
            _ => (self.energy + square - leaving * leaving).max(0.0),
        };
        let share = 1.0 / self.count.min(HORIZON) as f64;
        self.power += (square - self.power) * share;
    }

    /// Samples pushed so far.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    #[inline(always)]
    pub(super) fn regressor(&self, c: usize) -> &[F] {
        &self.buffer[self.at + c..self.at + c + self.taps]
    }

    #[inline(always)]
    pub(super) fn energy(&self) -> F {
        F::from_f64(self.energy)
    }

    /// Long average of the energy of a full window.
    #[inline(always)]
    pub(super) fn usual_energy(&self) -> F {
        F::from_f64(self.power * self.taps as f64)
    }

    pub(super) fn save(&self, out: &mut StateWriter) {
        self.count.write(out);
        self.energy.write(out);
        self.power.write(out);
        save_all(&self.buffer[self.at..self.at + self.window], out);
    }

    pub(super) fn restore(&mut self, input: &mut &[u8]) -> Result<(), StateError> {
        let named = |field| move |e: StateError| e.in_field(field);
        self.count = u64::read(input).map_err(named("the number of samples"))?;
        self.energy = f64::read(input).map_err(named("the energy"))?;
        self.power = f64::read(input).map_err(named("the power"))?;
        self.at = self.buffer.len() - self.window;
        restore_into(&mut self.buffer[self.at..], input, "the samples")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_comes_first_for_ever() {
        for order in 1..4 {
            let mut line = Line::<f64>::new(3, order);
            for t in 0..5000 {
                line.push(f64::from(t));
                if t < 6 {
                    continue;
                }
                for c in 0..order {
                    let newest = f64::from(t) - c as f64;
                    assert_eq!(line.regressor(c), [newest, newest - 1.0, newest - 2.0]);
                }
                let energy = dot(line.regressor(0), line.regressor(0));
                assert!((line.energy() - energy).abs() <= 1e-12 * energy);
            }
        }
    }
}
