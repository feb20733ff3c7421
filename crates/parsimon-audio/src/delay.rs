//! By how much the echo is late: generalized cross-correlation with phase transform.
//!
//! Blocks of both signals are transformed, the phase of their cross-spectrum is kept and its magnitude
//! thrown away (Knapp and Carter 1976), and the blocks are added up, weighted by the loudness of the
//! reference. The largest peak of the sum is the delay. Speech colors both signals alike and drops out; the
//! direct sound stays.

use serde::Serialize;

use crate::fft::{Fft, RealFft};

/// Peaks below this many times the background are chance.
const RELIABLE: f64 = 8.0;
/// Blocks below this share of the mean power of the reference say nothing.
const QUIET: f64 = 1e-3;

/// A delay and how far its peak stands out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Delay {
    /// By how many samples the microphone is later than the reference; negative where it is earlier.
    pub samples: i64,
    /// Height of the peak over the root mean square of all that were searched. Noise gives 3 to 5.
    pub confidence: f64,
}

impl Delay {
    /// Whether the peak stands out enough to be believed.
    pub fn is_reliable(&self) -> bool {
        self.confidence >= RELIABLE
    }
}

/// Searches delays up to `most` samples either way. `None` where a signal is silent or empty.
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
/// let delay = parsimon_audio::delay::search(&far, &near, 1000).unwrap();
/// assert_eq!(delay.samples, 300);
/// assert!(delay.is_reliable());
/// ```
pub fn search(reference: &[f32], microphone: &[f32], most: usize) -> Option<Delay> {
    let most = most.clamp(1, 1 << 24);
    let length = (4 * most).next_power_of_two().max(64);
    let n = length / 2;
    let fft = Fft::new(n);
    let window: Vec<f32> = (0..length)
        .map(|i| (0.5 - 0.5 * (std::f64::consts::TAU * i as f64 / length as f64).cos()) as f32)
        .collect();
    let total = reference.len().min(microphone.len());
    let power = |v: &[f32]| v.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>();
    let floor = QUIET * power(&reference[..total]) / total.max(1) as f64;

    // PERF: four lanes cost less than two, so two blocks of both signals are transformed at a time.
    let (mut re, mut im) = (vec![[0.0; 4]; n], vec![[0.0; 4]; n]);
    let (mut sr, mut si) = (vec![[0.0; 4]; n + 1], vec![[0.0; 4]; n + 1]);
    let mut back = RealFft::new(length);
    let mut heard = false;
    for start in (0..total).step_by(2 * n) {
        let mut weights = [0.0f32; 2];
        for (which, weight) in weights.iter_mut().enumerate() {
            let start = total.min(start + which * n);
            let end = total.min(start + length);
            let (x, d) = (&reference[start..end], &microphone[start..end]);
            let (loud_x, loud_d) = (power(x), power(d));
            // Each is scaled to 1, so that no amplitude is too large or too small for the products.
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
                Some(x) => [x * gx * window[i], d[i] * gd * window[i]],
                None => [0.0; 2],
            };
            for i in 0..n {
                (
                    [re[i][2 * which], re[i][2 * which + 1]],
                    [im[i][2 * which], im[i][2 * which + 1]],
                ) = (at(2 * i), at(2 * i + 1));
            }
        }
        if weights == [0.0; 2] {
            continue;
        }
        fft.forward(&mut re, &mut im, &mut sr, &mut si);
        for k in 0..=n {
            for (which, weight) in weights.into_iter().enumerate() {
                let (xr, dr) = (sr[k][2 * which], sr[k][2 * which + 1]);
                let (xi, di) = (si[k][2 * which], si[k][2 * which + 1]);
                let (cr, ci) = (dr * xr + di * xi, di * xr - dr * xi);
                let size = (cr * cr + ci * ci).sqrt();
                if size > f32::MIN_POSITIVE {
                    back.spectrum_re[k][0] += weight * cr / size;
                    back.spectrum_im[k][0] += weight * ci / size;
                    heard |= weight > 0.0;
                }
            }
        }
    }
    if !heard {
        return None;
    }
    back.spectrum_im[0][0] = 0.0;
    back.spectrum_im[n][0] = 0.0;
    let correlation = back.inverse();
    let most = most as i64;
    let value = |lag: i64| f64::from(correlation[lag.rem_euclid(length as i64) as usize]);
    let (mut best, mut squares) = (0, 0.0);
    for lag in -most..=most {
        squares += value(lag) * value(lag);
        // Where peaks are equal the shorter delay is the simpler story.
        let (new, old) = (value(lag).abs(), value(best).abs());
        if new > old || (new == old && lag.abs() < best.abs()) {
            best = lag;
        }
    }
    let background = (squares / (2 * most + 1) as f64).sqrt();
    let confidence = if background > 0.0 { value(best).abs() / background } else { 0.0 };
    Some(Delay { samples: best, confidence })
}
