//! Delay line that moves the reference to the microphone's clock: whole samples of delay, and resampling by a few parts per million.

use crate::AudioError;
use crate::state::{Reader, Writer, state};

/// Number of reference samples used on either side of an interpolated point.
pub(crate) const HALF: usize = 12;
const WIDTH: usize = 2 * HALF;
/// Number of tabulated kernel phases between two samples; values in between are interpolated linearly.
const PHASES: usize = 128;

/// A ring buffer of the reference, read `lag` samples late; `lag` grows by `rate` per sample.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    ring: Vec<f32>,
    /// The position at which the next sample is written.
    at: usize,
    lag: f64,
    rate: f64,
    most: f64,
    /// Row `p` interpolates `p / PHASES` samples after the middle.
    kernel: Vec<[f32; WIDTH]>,
}

impl Clock {
    /// Returns a delay line with a lag of `delay` samples, which may grow to `most` samples, for blocks of `block`.
    pub(crate) fn new(delay: usize, most: usize, block: usize) -> Self {
        let most = most.max(delay).max(HALF);
        let length = (most + block + WIDTH + 1).next_power_of_two();
        let kernel = (0..=PHASES)
            .map(|p| {
                std::array::from_fn(|j| {
                    // The distance of sample j from the interpolated point.
                    let u = p as f64 / PHASES as f64 - (j as f64 - (HALF as f64 - 1.0));
                    let window = (std::f64::consts::PI * u / (2 * HALF + 1) as f64).cos().powi(2);
                    let sinc = if u == 0.0 {
                        1.0
                    } else {
                        let v = std::f64::consts::PI * u;
                        v.sin() / v
                    };
                    (sinc * window) as f32
                })
            })
            .collect();
        Self {
            ring: vec![0.0; length],
            at: 0,
            lag: delay as f64,
            rate: 0.0,
            most: most as f64,
            kernel,
        }
    }

    /// Returns the lag in samples.
    pub(crate) fn lag(&self) -> f64 {
        self.lag
    }

    /// Returns the largest lag in samples.
    pub(crate) fn most(&self) -> f64 {
        self.most
    }

    /// Returns the growth of the lag per sample.
    pub(crate) fn rate(&self) -> f64 {
        self.rate
    }

    /// Sets the lag.
    pub(crate) fn jump(&mut self, lag: f64) {
        self.lag = lag.clamp(0.0, self.most);
    }

    /// Changes the lag by `step` samples and sets its growth per sample to `rate`.
    pub(crate) fn steer(&mut self, step: f64, rate: f64) {
        // Interpolation between two samples reads ahead of the point.
        self.lag = (self.lag + step).clamp(HALF as f64, self.most);
        self.rate = rate;
    }

    /// Writes a block to the ring and replaces it by the delayed samples.
    pub(crate) fn run(&mut self, block: &mut [f32]) {
        let mask = self.ring.len() - 1;
        for (i, v) in block.iter().enumerate() {
            self.ring[(self.at + i) & mask] = *v;
        }
        for (i, v) in block.iter_mut().enumerate() {
            let whole = self.lag.ceil();
            let part = whole - self.lag;
            // INVARIANT: the lag is between 0 and `most`, which the ring holds.
            let newest = self.at + i + self.ring.len() - whole as usize;
            *v = if part == 0.0 {
                self.ring[newest & mask]
            } else {
                let phase = part * PHASES as f64;
                let (row, share) = (phase as usize, (phase - phase.floor()) as f32);
                let (low, high) = (&self.kernel[row], &self.kernel[row + 1]);
                let start = newest + 1 + self.ring.len() - HALF;
                let mut sum = 0.0;
                for j in 0..WIDTH {
                    sum += self.ring[(start + j) & mask] * (low[j] + share * (high[j] - low[j]));
                }
                sum
            };
            if self.rate != 0.0 {
                self.lag = (self.lag + self.rate).clamp(HALF as f64, self.most);
            }
        }
        self.at = (self.at + block.len()) & mask;
    }

    pub(crate) fn save(&self, to: &mut Writer) {
        to.numbers(&self.ring);
        to.count(self.at as u64);
        to.double(self.lag);
        to.double(self.rate);
    }

    pub(crate) fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), AudioError> {
        from.numbers(&mut self.ring)?;
        let at = from.count()?;
        (self.lag, self.rate) = (from.double()?, from.double()?);
        if at >= self.ring.len() as u64
            || !(0.0..=self.most).contains(&self.lag)
            || self.rate.abs() > 1e-3
            || (self.rate != 0.0 || self.lag.fract() != 0.0) && self.lag < HALF as f64
            || self.ring.iter().any(|v| v.abs() > 1e6)
        {
            return Err(state(
                "a position is outside of the reference, or the reference is too loud",
            ));
        }
        self.at = at as usize;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_samples_are_copied() {
        let mut clock = Clock::new(3, 3, 4);
        let mut a = [1.0, 2.0, 3.0, 4.0];
        let mut b = [5.0, 6.0, 7.0, 8.0];
        clock.run(&mut a);
        clock.run(&mut b);
        assert_eq!((a, b), ([0.0, 0.0, 0.0, 1.0], [2.0, 3.0, 4.0, 5.0]));
    }

    #[test]
    fn a_sine_is_read_between_its_samples() {
        let rate = 1e-4;
        let mut clock = Clock::new(20, 100, 64);
        clock.steer(0.25, rate);
        let wave = |t: f64| (0.9 * t).sin();
        for start in (0..6400).step_by(64) {
            let mut block: Vec<f32> =
                (start..start + 64).map(|t| wave(f64::from(t)) as f32).collect();
            clock.run(&mut block);
            for (i, v) in block.iter().enumerate().filter(|_| start > 128) {
                let t = f64::from(start) + i as f64;
                let expected = wave(t - 20.25 - rate * t);
                assert!((f64::from(*v) - expected).abs() < 2e-3, "{v} for {expected} at {t}");
            }
        }
    }
}
