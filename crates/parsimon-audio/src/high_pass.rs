//! High-pass filters: they keep offsets from the adaptive filter and remove rumble from the output.

use crate::AudioError;
use crate::config::Config;
use crate::level::decay;
use crate::state::{Reader, Writer, state};

/// Corner frequency of the output.
const RUMBLE_HERTZ: f64 = 100.0;
/// Corner frequency of the adaptive filter's input. An offset spreads over all frequencies of a short block and slows
/// adaptation; a higher corner would turn the phase of voices and, undone at the output, amplify the residual echo there.
pub(crate) const OFFSET_HERTZ: f64 = 1.0;

/// A second-order Butterworth high-pass; the identity at rates that are too low for it.
#[derive(Clone, Debug)]
pub(crate) struct HighPass {
    gain: f64,
    feedback: [f64; 2],
    memory: [f64; 2],
    on: bool,
}

impl HighPass {
    pub(crate) fn new(rate: u32, hertz: f64, on: bool) -> Self {
        let w = (std::f64::consts::PI * hertz / f64::from(rate)).tan();
        let norm = 1.0 / (1.0 + std::f64::consts::SQRT_2 * w + w * w);
        Self {
            gain: norm,
            feedback: [
                2.0 * (w * w - 1.0) * norm,
                (1.0 - std::f64::consts::SQRT_2 * w + w * w) * norm,
            ],
            memory: [0.0; 2],
            on: on && f64::from(rate) > 8.0 * hertz,
        }
    }

    pub(crate) fn run(&mut self, samples: &mut [f32]) {
        if !self.on {
            return;
        }
        let [a1, a2] = self.feedback;
        let [mut m1, mut m2] = self.memory;
        for v in samples {
            let x = self.gain * f64::from(*v);
            let y = x + m1;
            m1 = -2.0 * x - a1 * y + m2;
            m2 = x - a2 * y;
            *v = y as f32;
        }
        // Values that have decayed are set to zero; subnormal numbers would be slow.
        // Values that are not finite come from an invalid state and would never decay.
        let lasts = |m: f64| m.is_finite() && m.abs() >= 1e-25;
        self.memory = [m1, m2].map(|m| if lasts(m) { m } else { 0.0 });
    }

    pub(crate) fn save(&self, to: &mut Writer) {
        self.memory.into_iter().for_each(|v| to.double(v));
    }

    pub(crate) fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), AudioError> {
        self.memory = memory(from)?;
        Ok(())
    }
}

/// Reads filter memory; rejects values beyond those of a signal at a million times full scale, whose output could overflow.
fn memory(from: &mut Reader<'_>) -> Result<[f64; 2], AudioError> {
    let memory = [from.double()?, from.double()?];
    let possible = memory.iter().all(|m| m.abs() <= 1e12);
    possible.then_some(memory).ok_or_else(|| state("the memory of the high-pass is too large"))
}

/// Removes constant rumble from the output.
///
/// A high-pass without latency turns the phase of a voice far above its corner, which distorts near-end speech more
/// than an echo does. So only constant hum and rumble are removed: the low part is added back
/// where it is louder than its background, in full above twice the background, and in full while its level fluctuates
/// as that of speech does: the quiet parts of words would otherwise count as background.
#[derive(Clone, Debug)]
pub(crate) struct Rumble {
    high_pass: HighPass,
    high: Vec<f32>,
    average: f32,
    rise: f32,
    power: f32,
    background: f32,
    /// Share by which the next two values follow, and the mean and the mean deviation of the power's logarithm.
    follow: f32,
    level: f32,
    deviation: f32,
    gain: f32,
}

/// Seconds over which the power of the low part is averaged.
const AVERAGE_SECONDS: f32 = 0.05;
/// Seconds in which the background follows a power that has risen.
const RISE_SECONDS: f32 = 24.0;
/// Seconds over which the fluctuation of the power is measured.
const FLUCTUATION_SECONDS: f32 = 2.0;
/// Mean deviations of the natural logarithm of the power: hum and rumble have less than the first, speech more than the second.
const STEADY: f32 = 0.5;
const SPEECH: f32 = 0.8;
/// The logarithm is taken of powers above this one.
const LEAST_POWER: f32 = 1e-20;
/// Block powers are clamped to this value.
const LOUDEST_POWER: f32 = 1e30;
/// The background's minimum understates its mean by this factor.
const UNDERSTATED: f32 = 3.0;

impl Rumble {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            high_pass: HighPass::new(config.rate, RUMBLE_HERTZ, config.high_pass),
            high: vec![0.0; config.block()],
            average: decay(config, AVERAGE_SECONDS),
            rise: 1.0 - decay(config, RISE_SECONDS),
            power: 0.0,
            background: 0.0,
            follow: 1.0 - decay(config, FLUCTUATION_SECONDS),
            level: 0.0,
            deviation: 0.0,
            gain: 0.0,
        }
    }

    /// Processes a block of the output in place.
    pub(crate) fn run(&mut self, samples: &mut [f32]) {
        if !self.high_pass.on {
            return;
        }
        let high = &mut self.high[..samples.len()];
        high.copy_from_slice(samples);
        self.high_pass.run(high);
        let low: f32 = samples.iter().zip(&*high).map(|(v, h)| (v - h) * (v - h)).sum();
        // An overflowing output must not turn the gain into NaN.
        let low = low.min(LOUDEST_POWER);
        self.power = self.average * self.power + (1.0 - self.average) * low;
        self.background += (self.power - self.background) * self.rise;
        self.background = self.background.min(self.power);
        let level = (self.power + LEAST_POWER).ln();
        self.level += (level - self.level) * self.follow;
        self.deviation += ((level - self.level).abs() - self.deviation) * self.follow;
        let fluctuating = ((self.deviation - STEADY) / (SPEECH - STEADY)).clamp(0.0, 1.0);
        let loud = (self.power / (UNDERSTATED * self.background + 1e-20) - 1.0).clamp(0.0, 1.0);
        let gain = loud.max(fluctuating);
        let n = samples.len() as f32;
        for (i, (v, high)) in samples.iter_mut().zip(&*high).enumerate() {
            let gain = self.gain + (gain - self.gain) * (i + 1) as f32 / n;
            *v = high + gain * (*v - high);
        }
        self.gain = gain;
    }

    pub(crate) fn save(&self, to: &mut Writer) {
        self.high_pass.save(to);
        for v in [self.power, self.background, self.level, self.deviation, self.gain] {
            to.number(v);
        }
    }

    pub(crate) fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), AudioError> {
        self.high_pass.restore(from)?;
        (self.power, self.background) = (from.number()?, from.number()?);
        (self.level, self.deviation) = (from.number()?, from.number()?);
        self.gain = from.number()?;
        // Larger powers would turn the gain into NaN.
        let possible = (0.0..=1.0).contains(&self.gain)
            && (0.0..=LOUDEST_POWER).contains(&self.power)
            && (0.0..=LOUDEST_POWER).contains(&self.background)
            && self.level.abs() <= 100.0
            && (0.0..=200.0).contains(&self.deviation);
        possible.then_some(()).ok_or_else(|| state("a power or a gain is out of range"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gain(hertz: f64, rate: u32) -> f64 {
        let mut filter = HighPass::new(rate, RUMBLE_HERTZ, true);
        let mut x: Vec<f32> = (0..rate)
            .map(|i| (std::f64::consts::TAU * hertz * f64::from(i) / f64::from(rate)).sin() as f32)
            .collect();
        filter.run(&mut x);
        let late = &x[x.len() / 2..];
        let power: f64 = late.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
        10.0 * (2.0 * power / late.len() as f64).log10()
    }

    #[test]
    fn the_corner_is_at_100_hertz() {
        for rate in [8000, 16_000, 48_000] {
            assert!((gain(100.0, rate) + 3.01).abs() < 0.05);
            assert!(gain(25.0, rate) < -22.0);
            assert!(gain(1000.0, rate).abs() < 0.01);
        }
    }

    /// The power of the last second of twelve, in dB of the input's.
    fn left(signal: impl Fn(f64) -> f64) -> f64 {
        let config = Config::default();
        let mut rumble = Rumble::new(&config);
        let x: Vec<f32> = (0..192_000).map(|i| signal(f64::from(i) / 16_000.0) as f32).collect();
        let mut y = x.clone();
        y.chunks_mut(config.block()).for_each(|block| rumble.run(block));
        let power = |v: &[f32]| v[176_000..].iter().map(|&v| f64::from(v).powi(2)).sum::<f64>();
        10.0 * (power(&y) / power(&x)).log10()
    }

    #[test]
    fn hum_goes_and_what_comes_and_goes_stays() {
        let hum = |t: f64| 0.1 * (std::f64::consts::TAU * 50.0 * t).sin();
        assert!(left(hum) < -10.0, "{} dB of the hum", left(hum));
        let word = |t: f64| if t % 0.5 < 0.2 { hum(t) } else { 0.0 };
        assert!(left(word).abs() < 0.1, "{} dB of the words", left(word));
    }

    #[test]
    fn switched_off_it_changes_nothing() {
        let mut x = [0.25f32, 0.5, -1.0];
        HighPass::new(16_000, RUMBLE_HERTZ, false).run(&mut x);
        assert_eq!(x, [0.25, 0.5, -1.0]);
    }
}
