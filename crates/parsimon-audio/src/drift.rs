//! How fast the two clocks drift apart: a loop that holds the predicted echo and the microphone together.
//!
//! Where the microphone is `s` samples later than the filter believes, what the filter leaves is `-s` times the slope
//! of its prediction. Least squares over a quarter of a second give `s`; the reference's lag is moved by a part of it,
//! and the rate at which the lag grows by another (a phase-locked loop of order two).
//!
//! A filter that adapts follows a slow drift by itself and leaves nothing to measure in its error. What it does then is
//! move its taps. So every half second of active far end the taps are compared with the earlier ones: by as much as they have become later,
//! beyond what the lag grew, the rate is off.

use crate::AudioError;
use crate::config::Config;
use crate::state::{Reader, Writer};

/// Seconds of active far end per measurement.
const MEASURE_SECONDS: f64 = 0.25;
/// Share of a measured distance by which the lag is moved.
const MOVE: f64 = 0.5;
/// Share by which the rate is, per second, at first. It is halved after so many measurements and goes on falling: a clock keeps
/// its rate, and the mean over a long time is more exact than any measurement.
const TURN: f64 = 2.0;
const TURN_HALVED: f64 = 20.0;
const LEAST_TURN: f64 = 0.3;
/// After a pause of more seconds than this the distance has grown over all of it...
const PAUSE_SECONDS: f64 = 2.0;
/// ...so that the rate is turned by this share of distance over time.
const TURN_AFTER_PAUSE: f64 = 0.5;
/// Seconds of active far end between two looks at the filter.
const LOOK_SECONDS: f64 = 0.5;
/// The share of a difference in rate that a look corrects at first, the number of looks that halve it, and its least.
const CORRECT: f64 = 0.5;
const CORRECT_HALVED: f64 = 5.0;
const LEAST_CORRECT: f64 = 0.1;
/// The most that one look changes the rate by.
const MOST_CORRECTION: f64 = 50e-6;
/// Looks after which they may close the loop, where the mean rate exceeds its standard error by a factor and this rate.
const FIRST_LOOKS: u32 = 6;
const SURE_LOOKS: f64 = 3.5;
const LEAST_RATE: f64 = 10e-6;
/// The largest difference of two clocks.
pub(crate) const MOST: f64 = 300e-6;
/// Measurements after which the loop may close.
const FIRST: u32 = 8;
/// The loop closes when the mean distance exceeds its standard error by this factor.
const SURE: f64 = 3.0;
/// ...and so many samples.
const LEAST: f64 = 0.003;
/// The distance that is expected, and the share of samples that count as independent: a measurement among noise is
/// taken for less.
const EXPECTED: f64 = 0.1;
const INDEPENDENT: f64 = 0.1;

/// What to do to the reference.
pub(crate) struct Correction {
    /// Samples by which its lag is moved.
    pub(crate) step: f64,
    /// How much the lag grows per sample.
    pub(crate) rate: f64,
}

/// The loop.
#[derive(Clone, Debug)]
pub(crate) struct Drift {
    per_second: f64,
    blocks: u32,
    /// `sum(e y')`, `sum(y'^2)`, `sum(e^2)`, blocks.
    cross: f64,
    slope: f64,
    error: f64,
    seen: u32,
    /// Recent measurements, forgotten slowly: their sum, that of their squares and their weight.
    sums: [f64; 3],
    measured: u32,
    closed: bool,
    /// Measurements since the loop closed.
    steered: u32,
    rate: f64,
    /// When, in samples, and at which lag the filter was last looked at; `None` after a pause.
    looked: Option<(u64, f64)>,
    /// As `sums`, of the rates seen.
    rates: [f64; 3],
    looks: u32,
    /// After how many samples the lag was last corrected.
    last: u64,
}

impl Drift {
    pub(crate) fn new(config: &Config) -> Self {
        let per_second = f64::from(config.rate);
        Self {
            per_second,
            blocks: (MEASURE_SECONDS * per_second / config.block() as f64).ceil() as u32,
            cross: 0.0,
            slope: 0.0,
            error: 0.0,
            seen: 0,
            sums: [0.0; 3],
            measured: 0,
            closed: false,
            steered: 0,
            rate: 0.0,
            looked: None,
            rates: [0.0; 3],
            looks: 0,
            last: 0,
        }
    }

    /// Takes in a block that the filter has learned from, after `now` samples.
    pub(crate) fn observe(
        &mut self,
        now: u64,
        microphone: &[f32],
        residual: &[f32],
    ) -> Option<Correction> {
        for (d, e) in microphone.windows(3).zip(residual.windows(3)) {
            let slope = f64::from(0.5 * ((d[2] - e[2]) - (d[0] - e[0])));
            let error = f64::from(e[1]);
            self.cross += error * slope;
            self.slope += slope * slope;
            self.error += error * error;
        }
        self.seen += 1;
        if self.seen < self.blocks {
            return None;
        }
        let samples = f64::from(self.seen) * residual.len() as f64;
        // The variance of the distance, were the residual noise.
        let variance = self.error / (self.slope * INDEPENDENT * samples + 1e-12);
        let trust = EXPECTED * EXPECTED / (EXPECTED * EXPECTED + variance);
        let distance = trust * (-self.cross / (self.slope + 1e-12)).clamp(-1.0, 1.0);
        (self.cross, self.slope, self.error, self.seen) = (0.0, 0.0, 0.0, 0);
        self.measured = self.measured.saturating_add(1);
        let (mean, error) = average(&mut self.sums, distance, 1e-9);
        if !self.closed {
            self.closed = self.measured >= FIRST && mean.abs() > SURE * error && mean.abs() > LEAST;
            if !self.closed {
                return None;
            }
        }
        let elapsed = now.saturating_sub(self.last) as f64 / self.per_second;
        self.last = now;
        let turn = falling(TURN, self.steered, TURN_HALVED, LEAST_TURN) * MEASURE_SECONDS;
        self.steered = self.steered.saturating_add(1);
        let paused = elapsed > PAUSE_SECONDS;
        let (turn, step) = match paused {
            true => (turn.min(TURN_AFTER_PAUSE / elapsed), distance),
            false => (turn, MOVE * distance),
        };
        self.rate = (self.rate + turn * distance / self.per_second).clamp(-MOST, MOST);
        Some(Correction { step, rate: self.rate })
    }

    /// The far end is silent, or the filter stands still.
    pub(crate) fn pause(&mut self) {
        self.looked = None;
    }

    /// Whether the filter should be looked at, after `now` samples.
    pub(crate) fn is_due(&self, now: u64) -> bool {
        let wait = LOOK_SECONDS * self.per_second;
        self.looked.is_none_or(|(then, _)| now.saturating_sub(then) as f64 >= wait)
    }

    /// Takes in by how many samples the path has become later, and the lag; returns a new rate.
    pub(crate) fn look(&mut self, now: u64, lag: f64, moved: Option<f64>) -> Option<f64> {
        let last = self.looked.replace((now, lag));
        let ((then, from), moved) = (last?, moved?);
        let rate = (lag - from + moved) / now.saturating_sub(then).max(1) as f64;
        if self.closed {
            let share = falling(CORRECT, self.looks, CORRECT_HALVED, LEAST_CORRECT);
            self.looks = self.looks.saturating_add(1);
            self.rate += (share * (rate - self.rate)).clamp(-MOST_CORRECTION, MOST_CORRECTION);
        } else {
            self.looks = self.looks.saturating_add(1);
            let (mean, error) = average(&mut self.rates, rate, 1e-21);
            self.closed = self.looks >= FIRST_LOOKS
                && mean.abs() > SURE_LOOKS * error
                && mean.abs() > LEAST_RATE;
            if !self.closed {
                return None;
            }
            self.rate = mean;
        }
        self.rate = self.rate.clamp(-MOST, MOST);
        Some(self.rate)
    }

    pub(crate) fn save(&self, to: &mut Writer) {
        let sums = [
            self.cross,
            self.slope,
            self.error,
            self.sums[0],
            self.sums[1],
            self.sums[2],
            self.rate,
            self.rates[0],
            self.rates[1],
            self.rates[2],
            self.looked.map_or(0.0, |(_, lag)| lag),
        ];
        sums.into_iter().for_each(|v| to.double(v));
        to.count(self.looked.map_or(u64::MAX, |(then, _)| then));
        to.count(self.last);
        [self.seen, self.measured, self.steered, self.looks, self.closed.into()]
            .into_iter()
            .for_each(|v| to.count(v.into()));
    }

    pub(crate) fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), AudioError> {
        (self.cross, self.slope, self.error) = (from.double()?, from.double()?, from.double()?);
        self.sums = [from.double()?, from.double()?, from.double()?];
        self.rate = from.double()?;
        self.rates = [from.double()?, from.double()?, from.double()?];
        let (lag, then) = (from.double()?, from.count()?);
        self.looked = (then != u64::MAX).then_some((then, lag));
        self.last = from.count()?;
        (self.seen, self.measured) = (from.count()? as u32, from.count()? as u32);
        (self.steered, self.looks) = (from.count()? as u32, from.count()? as u32);
        self.closed = from.count()? != 0;
        Ok(())
    }
}

/// A share that is `first`, half of that after `halved` steps, and falls on to `least`.
fn falling(first: f64, steps: u32, halved: f64, least: f64) -> f64 {
    (first / (1.0 + f64::from(steps) / halved)).max(least)
}

/// Adds to sums of values, their squares and their weight, which are forgotten slowly; returns the mean and its standard error.
fn average(sums: &mut [f64; 3], value: f64, least_variance: f64) -> (f64, f64) {
    for (sum, v) in sums.iter_mut().zip([value, value * value, 1.0]) {
        *sum = 0.9 * *sum + v;
    }
    let mean = sums[0] / sums[2];
    let variance = (sums[1] / sums[2] - mean * mean).max(least_variance);
    (mean, (variance / sums[2]).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A measurement of an echo that is `distance` samples later than predicted, at the end of `now` samples.
    fn measure(drift: &mut Drift, now: u64, distance: f32) -> Option<Correction> {
        let echo = |i: usize| (i as f32 * 0.3).sin();
        let slope = |i: usize| 0.5 * (echo(i + 1) - echo(i - 1));
        let residual: Vec<f32> = (1..65).map(|i| -distance * slope(i)).collect();
        let microphone: Vec<f32> = (1..65).map(|i| echo(i) - distance * slope(i)).collect();
        (0..drift.blocks).filter_map(|_| drift.observe(now, &microphone, &residual)).last()
    }

    #[test]
    fn a_pause_moves_the_lag_and_hardly_the_rate() {
        let mut drift = Drift::new(&Config::default());
        let mut now = 0;
        for i in 0..100 {
            now += 4000;
            // The sign alternates: the rate is right.
            let distance = if i < 12 { 0.1 } else { 0.002 * (-1.0f32).powi(i) };
            measure(&mut drift, now, distance);
        }
        assert!(drift.closed);
        let before = drift.rate;
        now += 10 * 16_000;
        let after = measure(&mut drift, now, 0.3).expect("the loop is closed");
        assert!((after.step - 0.3).abs() < 0.03, "moved by {}", after.step);
        let turned = after.rate - before;
        assert!((turned - 0.5 * after.step / 160_000.0).abs() < 1e-7, "turned by {turned:e}");
        let soon = measure(&mut drift, now + 4000, 0.3).expect("the loop is closed");
        assert!(soon.step < 0.2 && soon.rate - after.rate > turned, "moved by {}", soon.step);
    }
}
