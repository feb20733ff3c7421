//! Estimation of the clock drift: a loop that keeps the predicted echo aligned with the microphone.
//!
//! If the microphone is `s` samples later than the filter's model, the residual is `-s` times the slope
//! of its prediction. Least squares over a quarter of a second give `s`; the reference's lag is moved by a part of it,
//! and the rate at which the lag grows by another (a phase-locked loop of order two).
//!
//! An adapting filter follows a slow drift by itself, so its error shows nothing. Instead its
//! taps move. Every half second of active far end the taps are therefore compared with the earlier ones: if they have moved later by more
//! than the growth of the lag, the rate is corrected by the difference.
//!
//! The loop stays closed only while it pays. It opens again where the residual, while only the far end speaks, is louder than it was before
//! the loop closed, and where the rate turns out to be next to nothing: then what moves is the path, and moving the reference as well
//! would only disturb the filter. After that the loop stays open for a while, each time longer.

use crate::AudioError;
use crate::config::Config;
use crate::state::{Reader, Writer};

/// Seconds of active far end per measurement.
const MEASURE_SECONDS: f64 = 0.25;
/// Share of a measured distance by which the lag is corrected.
const MOVE: f64 = 0.5;
/// Initial share by which the rate is corrected, per second. It halves after this many measurements and keeps falling: a clock keeps
/// its rate, and a long-term mean is more accurate than any single measurement.
const TURN: f64 = 2.0;
const TURN_HALVED: f64 = 20.0;
const LEAST_TURN: f64 = 0.3;
/// After a pause longer than this many seconds the distance has accumulated over the whole pause...
const PAUSE_SECONDS: f64 = 2.0;
/// ...so the rate is corrected by this share of distance over time.
const TURN_AFTER_PAUSE: f64 = 0.5;
/// Seconds of active far end between two inspections of the taps.
const LOOK_SECONDS: f64 = 0.5;
/// The share of a rate difference corrected at first, the number of inspections that halve the share, and its minimum.
const CORRECT: f64 = 0.5;
const CORRECT_HALVED: f64 = 5.0;
const LEAST_CORRECT: f64 = 0.1;
/// The largest change of rate by one inspection.
const MOST_CORRECTION: f64 = 50e-6;
/// Number of inspections after which the loop may close, if the mean rate exceeds its standard error by this factor, and this minimal rate.
const FIRST_LOOKS: u32 = 6;
const SURE_LOOKS: f64 = 3.5;
const LEAST_RATE: f64 = 10e-6;
/// The largest supported clock drift.
pub(crate) const MOST: f64 = 600e-6;
/// Measurements after which a closed loop must have paid, and the time constant, in measurements, of the residuals that are compared.
const TRIAL: u32 = 20;
const COMPARED: f64 = 12.0;
/// The loop does not pay if the residual has become louder by this much (natural logarithm of a power, 2 dB)...
const LOUDER: f64 = 0.46;
/// ...or if the rate is below this.
const NO_RATE: f64 = 3e-6;
/// Measurements for which the loop stays open afterwards, doubled each time up to the second.
const HOLD: [u32; 2] = [40, 2400];
/// Measurements after which the loop may close.
const FIRST: u32 = 8;
/// The loop closes when the mean distance exceeds its standard error by this factor.
const SURE: f64 = 3.0;
/// ...and this many samples.
const LEAST: f64 = 0.003;
/// The expected distance, and the share of samples that count as independent: a noisy measurement
/// gets a lower weight.
const EXPECTED: f64 = 0.1;
const INDEPENDENT: f64 = 0.1;

/// A correction of the reference's delay.
pub(crate) struct Correction {
    /// Change of the lag in samples.
    pub(crate) step: f64,
    /// Growth of the lag per sample.
    pub(crate) rate: f64,
}

/// The state of the loop.
#[derive(Clone, Debug)]
pub(crate) struct Drift {
    per_second: f64,
    blocks: u32,
    /// `sum(e y')`, `sum(y'^2)`, `sum(e^2)`, blocks.
    cross: f64,
    slope: f64,
    error: f64,
    seen: u32,
    /// Exponentially weighted measurements: their sum, the sum of their squares, and their weight.
    sums: [f64; 3],
    measured: u32,
    closed: bool,
    /// Measurements since the loop closed.
    steered: u32,
    rate: f64,
    /// Time in samples and lag of the last inspection of the taps; `None` after a pause.
    looked: Option<(u64, f64)>,
    /// Exponentially weighted observed rates, in the form of `sums`.
    rates: [f64; 3],
    looks: u32,
    /// Time of the last correction of the lag, in samples.
    last: u64,
    /// `sum(d^2)` of the measurement, and whether there was double talk in it.
    heard: f64,
    talked: bool,
    /// The averaged logarithm of residual over microphone while the loop is open and while it is closed, without double talk.
    left: [f64; 2],
    /// Measurements in each of them.
    compared: [u32; 2],
    /// Measurements for which the loop must stay open, and those of the next time.
    hold: u32,
    next_hold: u32,
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
            heard: 0.0,
            talked: false,
            left: [0.0; 2],
            compared: [0; 2],
            hold: 0,
            next_hold: HOLD[0],
        }
    }

    /// Processes a block that the filter has adapted to, at time `now` in samples.
    pub(crate) fn observe(
        &mut self,
        now: u64,
        microphone: &[f32],
        residual: &[f32],
        double_talk: bool,
    ) -> Option<Correction> {
        self.talked |= double_talk;
        for (d, e) in microphone.windows(3).zip(residual.windows(3)) {
            let slope = f64::from(0.5 * ((d[2] - e[2]) - (d[0] - e[0])));
            let error = f64::from(e[1]);
            self.cross += error * slope;
            self.slope += slope * slope;
            self.error += error * error;
            self.heard += f64::from(d[1]) * f64::from(d[1]);
        }
        self.seen += 1;
        if self.seen < self.blocks {
            return None;
        }
        let samples = f64::from(self.seen) * residual.len() as f64;
        // The variance of the distance if the residual were noise.
        let variance = self.error / (self.slope * INDEPENDENT * samples + 1e-12);
        let trust = EXPECTED * EXPECTED / (EXPECTED * EXPECTED + variance);
        let distance = trust * (-self.cross / (self.slope + 1e-12)).clamp(-1.0, 1.0);
        let pays = self.compare();
        (self.cross, self.slope, self.error, self.seen) = (0.0, 0.0, 0.0, 0);
        (self.heard, self.talked) = (0.0, false);
        if !pays {
            return Some(self.open());
        }
        if self.hold > 0 {
            self.hold -= 1;
            return None;
        }
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

    /// Takes in the residual of a measurement. Returns false if the loop is closed and does not pay.
    fn compare(&mut self) -> bool {
        if !self.talked && self.heard > 0.0 {
            let left = (self.error / self.heard).max(1e-12).ln();
            let which = usize::from(self.closed);
            self.compared[which] = self.compared[which].saturating_add(1);
            let share = 1.0 / f64::from(self.compared[which]).min(COMPARED);
            self.left[which] += share * (left - self.left[which]);
        }
        let trial =
            self.closed && self.compared[1] >= TRIAL && self.compared[1].is_multiple_of(TRIAL);
        if !trial || self.talked {
            return true;
        }
        let is_louder = self.compared[0] >= FIRST && self.left[1] > self.left[0] + LOUDER;
        !is_louder && self.rate.abs() >= NO_RATE
    }

    /// Opens the loop for a while: the lag stays where it is.
    fn open(&mut self) -> Correction {
        (self.closed, self.rate, self.steered, self.looks) = (false, 0.0, 0, 0);
        (self.sums, self.rates, self.looked) = ([0.0; 3], [0.0; 3], None);
        (self.measured, self.compared) = (0, [0; 2]);
        self.hold = self.next_hold;
        self.next_hold = (2 * self.next_hold).min(HOLD[1]);
        Correction { step: 0.0, rate: 0.0 }
    }

    /// Records that the far end is silent or adaptation is suspended.
    pub(crate) fn pause(&mut self) {
        self.looked = None;
    }

    /// Returns whether the taps should be inspected at time `now`.
    pub(crate) fn is_due(&self, now: u64) -> bool {
        let wait = LOOK_SECONDS * self.per_second;
        self.looked.is_none_or(|(then, _)| now.saturating_sub(then) as f64 >= wait)
    }

    /// Processes the movement of the path in samples and the lag; returns a new rate.
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
            self.closed = self.hold == 0
                && self.looks >= FIRST_LOOKS
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
            self.heard,
            self.left[0],
            self.left[1],
        ];
        sums.into_iter().for_each(|v| to.double(v));
        to.count(self.looked.map_or(u64::MAX, |(then, _)| then));
        to.count(self.last);
        let [open, closed] = self.compared;
        let counts = [self.seen, self.measured, self.steered, self.looks, self.closed.into()];
        let more = [self.talked.into(), open, closed, self.hold, self.next_hold];
        counts.into_iter().chain(more).for_each(|v| to.count(v.into()));
    }

    pub(crate) fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), AudioError> {
        (self.cross, self.slope, self.error) = (from.double()?, from.double()?, from.double()?);
        self.sums = [from.double()?, from.double()?, from.double()?];
        self.rate = from.double()?;
        self.rates = [from.double()?, from.double()?, from.double()?];
        let lag = from.double()?;
        self.heard = from.double()?;
        self.left = [from.double()?, from.double()?];
        let then = from.count()?;
        self.looked = (then != u64::MAX).then_some((then, lag));
        self.last = from.count()?;
        (self.seen, self.measured) = (from.count()? as u32, from.count()? as u32);
        (self.steered, self.looks) = (from.count()? as u32, from.count()? as u32);
        self.closed = from.count()? != 0;
        self.talked = from.count()? != 0;
        self.compared = [from.count()? as u32, from.count()? as u32];
        self.hold = from.count()? as u32;
        self.next_hold = (from.count()? as u32).clamp(HOLD[0], HOLD[1]);
        Ok(())
    }
}

/// Returns a share that starts at `first`, halves after `halved` steps, and falls to `least`.
fn falling(first: f64, steps: u32, halved: f64, least: f64) -> f64 {
    (first / (1.0 + f64::from(steps) / halved)).max(least)
}

/// Adds a value to exponentially weighted sums; returns the mean and its standard error.
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
        (0..drift.blocks).filter_map(|_| drift.observe(now, &microphone, &residual, false)).last()
    }

    #[test]
    fn a_loop_that_does_not_pay_opens() {
        for (rate, louder, pays) in [(50e-6, 1.0f32, true), (50e-6, 4.0, false), (1e-7, 1.0, false)]
        {
            let mut drift = Drift::new(&Config::default());
            let noise = |i: usize| ((i * 7919 % 1009) as f32 / 504.5 - 1.0) * 0.1;
            let echo = |i: usize| (i as f32 * 0.3).sin();
            let feed = |drift: &mut Drift, size: f32| {
                let residual: Vec<f32> = (1..65).map(|i| size * noise(i)).collect();
                let microphone: Vec<f32> = (1..65).map(|i| echo(i) + size * noise(i)).collect();
                (0..drift.blocks)
                    .filter_map(|_| drift.observe(0, &microphone, &residual, false))
                    .last()
            };
            for _ in 0..12 {
                feed(&mut drift, 1.0);
            }
            drift.closed = true;
            for _ in 0..TRIAL {
                drift.rate = rate;
                feed(&mut drift, louder);
            }
            assert_eq!(drift.closed, pays, "rate {rate}, residual {louder}");
            assert_eq!(drift.hold, if pays { 0 } else { HOLD[0] });
        }
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
