//! Delay estimation: generalized cross-correlation with phase transform.
//!
//! Blocks of both signals are transformed, the phase of their cross-spectrum is kept and its magnitude
//! discarded (Knapp and Carter 1976), and the blocks are added up, weighted by the loudness of the
//! reference. The largest peak of the sum is the delay. The coloration of speech is common to both signals and cancels; the
//! direct sound remains. The strongest path need not be the first: the onset is the earliest lag within 30 ms before the
//! peak that also stands out.

use serde::Serialize;

use crate::AudioError;
use crate::fft::Fft;
use crate::state::{Reader, Writer};

/// Peaks below this multiple of the background are chance.
const RELIABLE: f64 = 8.0;
/// Blocks below this share of the reference's mean power are ignored.
pub(crate) const QUIET: f64 = 1e-3;

/// Longest time between the first sound and the strongest path.
pub(crate) const ONSET_SECONDS: f64 = 0.03;
/// An onset has at least this share of the peak...
const ONSET: f64 = 0.25;
/// ...and this multiple of the background.
const ONSET_RELIABLE: f64 = 5.0;

/// A delay with the confidence of its peak.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Delay {
    /// Samples by which the microphone lags the reference; negative if it leads.
    pub samples: i64,
    /// The earliest lag shortly before the peak that also stands out.
    pub onset: i64,
    /// Height of the peak relative to the root mean square over all searched lags. Noise gives 3 to 5.
    pub confidence: f64,
}

impl Delay {
    /// Returns whether the peak stands out enough to be trusted.
    pub fn is_reliable(&self) -> bool {
        self.confidence >= RELIABLE
    }
}

/// Searches delays up to `most` samples in either direction, with onsets up to `early` samples before the peak. Returns `None` if a signal is silent or empty.
///
/// ```
/// let mut noise = 1u32;
/// let far: Vec<f32> = (0..20_000)
///     .map(|_| {
///         noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
///         (noise >> 8) as f32 / 16_777_216.0 - 0.5
///     })
///     .collect();
/// let near: Vec<f32> = (0..far.len()).map(|i| if i < 300 { 0.0 } else { 0.4 * far[i - 300] }).collect();
/// let delay = parsimon_audio::delay::search(&far, &near, 1000, 480).unwrap();
/// assert_eq!(delay.samples, 300);
/// assert!(delay.is_reliable());
/// ```
pub fn search(reference: &[f32], microphone: &[f32], most: usize, early: usize) -> Option<Delay> {
    let mut search = Search::new(most);
    let total = reference.len().min(microphone.len());
    let floor = QUIET * power(&reference[..total]) / total.max(1) as f64;
    let (length, hop) = (search.length(), search.length() / 2);
    let frame = |start: usize| {
        let (start, end) = (total.min(start), total.min(start + length));
        (&reference[start..end], &microphone[start..end])
    };
    for start in (0..total).step_by(2 * hop) {
        search.add([frame(start), frame(start + hop)], floor);
    }
    search.best(early)
}

/// Returns the delay to add to the reference for an echo that begins at lag `onset`.
///
/// A path that begins in the first half of the filter is left alone; other paths are moved to a sixteenth of the filter.
pub(crate) fn shift(onset: i64, taps: usize) -> i64 {
    let taps = taps as i64;
    match onset {
        _ if onset < 0 => onset.saturating_sub(taps / 16),
        _ if onset <= taps / 2 => 0,
        _ => onset - taps / 16,
    }
}

fn power(v: &[f32]) -> f64 {
    v.iter().map(|&v| f64::from(v) * f64::from(v)).sum()
}

/// A running sum of cross-spectra of frames.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    most: i64,
    fft: Fft,
    window: Vec<f32>,
    re: Vec<[f32; 4]>,
    im: Vec<[f32; 4]>,
    sr: Vec<[f32; 4]>,
    si: Vec<[f32; 4]>,
    sum_re: Vec<[f32; 1]>,
    sum_im: Vec<[f32; 1]>,
    correlation: [Vec<[f32; 1]>; 2],
    heard: bool,
}

impl Search {
    /// Returns a search of delays up to `most` samples in either direction.
    pub(crate) fn new(most: usize) -> Self {
        let most = most.clamp(1, 1 << 24);
        let length = (4 * most).next_power_of_two().max(64);
        let n = length / 2;
        let window = |i: usize| {
            (0.5 - 0.5 * (std::f64::consts::TAU * i as f64 / length as f64).cos()) as f32
        };
        Self {
            most: most as i64,
            fft: Fft::new(n),
            window: (0..length).map(window).collect(),
            re: vec![[0.0; 4]; n],
            im: vec![[0.0; 4]; n],
            sr: vec![[0.0; 4]; n + 1],
            si: vec![[0.0; 4]; n + 1],
            sum_re: vec![[0.0]; n + 1],
            sum_im: vec![[0.0]; n + 1],
            correlation: [vec![[0.0]; n], vec![[0.0]; n]],
            heard: false,
        }
    }

    /// Returns the length of a frame in samples.
    pub(crate) fn length(&self) -> usize {
        self.window.len()
    }

    /// Multiplies the sum so far by `keep`.
    pub(crate) fn fade(&mut self, keep: f32) {
        for v in self.sum_re.iter_mut().chain(&mut self.sum_im) {
            v[0] *= keep;
        }
    }

    /// Adds two frames of reference and microphone; frames whose reference has a mean power below `floor` are ignored.
    pub(crate) fn add(&mut self, frames: [(&[f32], &[f32]); 2], floor: f64) {
        let n = self.re.len();
        // PERF: four lanes cost less than two, so two frames of both signals are transformed at a time.
        let mut weights = [0.0f32; 2];
        for (which, (weight, (x, d))) in weights.iter_mut().zip(frames).enumerate() {
            let (loud_x, loud_d) = (power(x), power(d));
            // Each frame is scaled to power 1, so that the products neither overflow nor underflow.
            let (gx, gd) = ((1.0 / loud_x.sqrt()) as f32, (1.0 / loud_d.sqrt()) as f32);
            let usable = |g: f32| g.is_finite() && g > 0.0;
            let (gx, gd) = match usable(gx) && usable(gd) && loud_x >= floor * x.len() as f64 {
                true => {
                    *weight = (loud_x / x.len() as f64).sqrt().min(1e30) as f32;
                    (gx, gd)
                }
                false => (0.0, 0.0),
            };
            let at = |i: usize| match x.get(i) {
                Some(x) => [x * gx * self.window[i], d[i] * gd * self.window[i]],
                None => [0.0; 2],
            };
            for i in 0..n {
                let (even, odd) = (at(2 * i), at(2 * i + 1));
                [self.re[i][2 * which], self.re[i][2 * which + 1]] = even;
                [self.im[i][2 * which], self.im[i][2 * which + 1]] = odd;
            }
        }
        if weights == [0.0; 2] {
            return;
        }
        self.fft.forward(&mut self.re, &mut self.im, &mut self.sr, &mut self.si);
        for k in 0..=n {
            for (which, weight) in weights.into_iter().enumerate() {
                let (xr, dr) = (self.sr[k][2 * which], self.sr[k][2 * which + 1]);
                let (xi, di) = (self.si[k][2 * which], self.si[k][2 * which + 1]);
                let (cr, ci) = (dr * xr + di * xi, di * xr - dr * xi);
                let size = (cr * cr + ci * ci).sqrt();
                if size > f32::MIN_POSITIVE {
                    self.sum_re[k][0] += weight * cr / size;
                    self.sum_im[k][0] += weight * ci / size;
                    self.heard |= weight > 0.0;
                }
            }
        }
    }

    pub(crate) fn save(&self, to: &mut Writer) {
        to.numbers(self.sum_re.as_flattened());
        to.numbers(self.sum_im.as_flattened());
        to.count(u64::from(self.heard));
    }

    pub(crate) fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), AudioError> {
        from.numbers(self.sum_re.as_flattened_mut())?;
        from.numbers(self.sum_im.as_flattened_mut())?;
        self.heard = from.count()? != 0;
        Ok(())
    }

    /// Returns the largest peak so far, with its onset at most `early` samples before it.
    pub(crate) fn best(&mut self, early: usize) -> Option<Delay> {
        if !self.heard {
            return None;
        }
        let n = self.re.len();
        self.sum_im[0][0] = 0.0;
        self.sum_im[n][0] = 0.0;
        let [even, odd] = &mut self.correlation;
        self.fft.inverse(&self.sum_re, &self.sum_im, even, odd);
        let value = |lag: i64| {
            let i = lag.rem_euclid(2 * n as i64) as usize;
            f64::from(if i.is_multiple_of(2) { even[i / 2][0] } else { odd[i / 2][0] })
        };
        let most = self.most;
        let (mut best, mut squares) = (0, 0.0);
        for lag in -most..=most {
            squares += value(lag) * value(lag);
            // Among equal peaks the shorter delay is preferred.
            let (new, old) = (value(lag).abs(), value(best).abs());
            if new > old || (new == old && lag.abs() < best.abs()) {
                best = lag;
            }
        }
        let background = (squares / (2 * most + 1) as f64).sqrt();
        let peak = value(best).abs();
        let confidence = if background > 0.0 { peak / background } else { 0.0 };
        let stands_out =
            |lag: &i64| value(*lag).abs() >= (ONSET * peak).max(ONSET_RELIABLE * background);
        let onset =
            (best.saturating_sub(early as i64).max(-most)..best).find(stands_out).unwrap_or(best);
        Some(Delay { samples: best, onset, confidence })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_echo_always_falls_into_the_filter() {
        for taps in [64, 512, 1024] {
            for late in [-8000, -1, 0, 30, 400, 513, 8000, i64::MAX, i64::MIN] {
                let place = late.saturating_sub(shift(late, taps));
                assert!((0..=taps as i64 / 2).contains(&place), "{late} of {taps} at {place}");
            }
        }
    }
}
