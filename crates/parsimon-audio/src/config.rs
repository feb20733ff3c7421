//! Settings of a canceller, with one set of defaults for all recordings.

use serde::Serialize;

use crate::AudioError;

/// Method that detects near-end speech over the echo (see [`Detector`](crate::Detector)).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Detection {
    /// No detection.
    Off,
    /// Power that the predicted echo does not explain: double talk if, over the frequency bands, half of the residual
    /// exceeds `threshold` times the usual leakage of the predicted echo.
    Leakage {
        /// Around 8, as a ratio of powers; above 1.
        threshold: f32,
    },
    /// By the correlation of predicted echo and microphone (Benesty, Morgan and Cho 2000): double talk
    /// where `sum(d y) / sum(d^2)` is below the threshold, between 0 and 1.
    Correlation {
        /// Around 0.7.
        threshold: f32,
    },
    /// By Geigel's comparison of peaks (Duttweiler 1978): double talk where the microphone is louder than the
    /// threshold times the loudest recent reference. Only for paths known to attenuate.
    Geigel {
        /// 0.5 for a path that attenuates by 6 dB or more.
        threshold: f32,
    },
}

/// Reaction of the filter to double talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnDoubleTalk {
    /// Only count it. Suits [`Kalman`](crate::Kalman), which slows down by itself.
    Report,
    /// Suspend adaptation. Suits filters whose step does not depend on the near end.
    Freeze,
}

/// Settings of a [`Canceller`](crate::Canceller).
///
/// ```
/// use parsimon_audio::Config;
///
/// let config = Config::at(8000);
/// assert_eq!((config.taps, config.block()), (2048, 64));
/// assert!(Config { memory: f32::NAN, ..config }.check().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Config {
    /// Length of the modeled echo path in samples at the start, rounded up to whole blocks. Default: 256 ms.
    pub taps: usize,
    /// Largest length of [`Kalman`](crate::Kalman) as a multiple of `taps`, used if the echo path is longer; 1 for a fixed length. Default: 2.
    pub growth: usize,
    /// Samples per second, at least 1000. Default: 16000.
    pub rate: u32,
    /// Time constant, in seconds, for forgetting an echo path that is predicted well (30 dB). Default: 24.
    pub memory: f32,
    /// Step of the fast shadow filter, inside (0, 2). Default: 0.7.
    pub step: f32,
    /// Mean power of the reference, in dB of full scale, at or below which it counts as silence and the filter does
    /// not adapt. Default: -70.
    pub floor: f32,
    /// Detection of double talk. Default: by leakage, threshold 8.
    pub detection: Detection,
    /// Reaction to double talk. Default: count it.
    pub on_double_talk: OnDoubleTalk,
    /// Whether the residual echo is attenuated after the linear filter, frequency by frequency. This adds up to
    /// 16 ms of latency, and the output is no longer linear. Default: no.
    pub suppress: bool,
    /// Whether offsets and constant rumble below 100 Hz are removed. Speech keeps its low frequencies. Default: yes.
    pub high_pass: bool,
    /// Whether a drift between the two clocks is estimated and compensated, up to 600 ppm. Default: yes.
    pub drift: bool,
    /// Delay of the reference before the filter in samples, at most one minute. Default: 0.
    pub delay: usize,
    /// Longest delay, in seconds, that a [`Canceller`](crate::Canceller) searches for while it runs; at most 60, and
    /// 0 for no search. [`cancel`](crate::cancel()) searches the whole recording beforehand instead. Default: 0.
    pub search: f32,
}

const MOST_TAPS: usize = 1 << 20;
const MOST_GROWTH: usize = 16;
/// Below, a block is too long to follow speech.
const LOWEST_RATE: u32 = 1000;
/// A frame of the suppressor has two blocks; one of them is its latency.
const LEAST_RATE: u32 = 4000;

impl Default for Config {
    fn default() -> Self {
        Self::at(16_000)
    }
}

impl Config {
    /// Returns the defaults for `rate` samples per second.
    pub fn at(rate: u32) -> Self {
        Self {
            taps: (rate as usize * 256).div_ceil(1000).clamp(1, MOST_TAPS),
            growth: 2,
            rate,
            memory: 24.0,
            step: 0.7,
            floor: -70.0,
            detection: Detection::Leakage { threshold: 8.0 },
            on_double_talk: OnDoubleTalk::Report,
            suppress: false,
            high_pass: true,
            drift: true,
            delay: 0,
            search: 0.0,
        }
    }

    /// Returns the block length in samples: 64 up to 24 kHz, 256 up to 48 kHz, then 512.
    pub fn block(&self) -> usize {
        match self.rate {
            0..=24_000 => 64,
            24_001..=48_000 => 256,
            _ => 512,
        }
    }

    /// Returns the longest path that the filter may grow to, in samples.
    pub fn longest(&self) -> usize {
        self.taps.saturating_mul(self.growth).min(MOST_TAPS)
    }

    /// Checks all settings; the error names the setting that is out of range.
    pub fn check(&self) -> Result<(), AudioError> {
        let refuse = |message: String| Err(AudioError::Setting(message));
        if self.taps == 0 || self.taps > MOST_TAPS {
            return refuse(format!("taps must be between 1 and {MOST_TAPS}, got {}", self.taps));
        }
        if !(1..=MOST_GROWTH).contains(&self.growth) {
            return refuse(format!(
                "growth must be between 1 and {MOST_GROWTH}, got {}",
                self.growth
            ));
        }
        if !(LOWEST_RATE..=768_000).contains(&self.rate) {
            return refuse(format!(
                "rate must be between {LOWEST_RATE} and 768000 samples per second, got {}",
                self.rate
            ));
        }
        if self.suppress && self.rate < LEAST_RATE {
            return refuse(format!(
                "the suppressor needs a rate of at least {LEAST_RATE}, got {}",
                self.rate
            ));
        }
        if !(self.memory.is_finite() && self.memory > 0.0) {
            return refuse(format!(
                "memory must be a finite number of seconds > 0, got {}",
                self.memory
            ));
        }
        if !(self.step > 0.0 && self.step < 2.0) {
            return refuse(format!(
                "step must be between 0 and 2, both excluded, got {}",
                self.step
            ));
        }
        if !self.floor.is_finite() {
            return refuse(format!("floor must be a finite number of dB, got {}", self.floor));
        }
        if !(0.0..=60.0).contains(&self.search) {
            return refuse(format!("search must be between 0 and 60 seconds, got {}", self.search));
        }
        if self.delay > 60 * self.rate as usize {
            return refuse(format!(
                "delay must be at most a minute ({} samples), got {}",
                60 * self.rate as usize,
                self.delay
            ));
        }
        match self.detection {
            Detection::Correlation { threshold } if !(threshold > 0.0 && threshold < 1.0) => {
                refuse(format!(
                    "the correlation threshold must be between 0 and 1, both excluded, got {threshold}"
                ))
            }
            Detection::Leakage { threshold } if !(threshold.is_finite() && threshold > 1.0) => {
                refuse(format!(
                    "the leakage threshold must be a finite number > 1, got {threshold}"
                ))
            }
            Detection::Geigel { threshold } if !(threshold.is_finite() && threshold > 0.0) => {
                refuse(format!("the Geigel threshold must be a finite number > 0, got {threshold}"))
            }
            _ => Ok(()),
        }
    }
}
