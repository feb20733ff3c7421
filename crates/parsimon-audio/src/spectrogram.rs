//! A picture of a signal: power over time and frequency, small enough to plot.

use serde::Serialize;

use crate::fft::RealFft;

/// Log-magnitudes, row by row from low to high frequencies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spectrogram {
    /// Points in time.
    pub width: usize,
    /// Bands of frequency, equally wide, up to half the rate.
    pub height: usize,
    /// Seconds from the left to the right edge.
    pub seconds: f64,
    /// Hertz at the upper edge.
    pub top: f64,
    /// `height` rows of `width` values in dB of full scale, at least -120.
    pub decibels: Vec<f32>,
}

/// Power of nothing, in dB.
const LEAST: f64 = 1e-12;

impl Spectrogram {
    /// The spectrogram of `samples` in at most `width` by `height` cells, each the mean power of all that
    /// falls into it (Hann windows of about 32 ms, half overlapped).
    pub fn of(samples: &[f32], rate: u32, width: usize, height: usize) -> Self {
        let length = (rate as usize / 32).next_power_of_two().clamp(64, 1 << 16);
        let hop = length / 2;
        let frames = samples.len().div_ceil(hop).max(1);
        let (width, height) = (width.clamp(1, frames), height.clamp(1, length / 2));
        let window: Vec<f32> = (0..length)
            .map(|i| (0.5 - 0.5 * (std::f64::consts::TAU * i as f64 / length as f64).cos()) as f32)
            .collect();
        // A sine of full scale reads about 0 dB.
        let scale = 4.0 / (length as f64 / 2.0).powi(2);
        let mut fft = RealFft::new(length);
        let mut sums = vec![0.0f64; width * height];
        let mut counts = vec![0u32; width * height];
        for frame in 0..frames {
            let start = frame * hop;
            fft.forward((0..length).map(|i| samples.get(start + i).map_or(0.0, |v| v * window[i])));
            let column = frame * width / frames;
            for k in 0..length / 2 {
                let (re, im) = (f64::from(fft.spectrum_re[k][0]), f64::from(fft.spectrum_im[k][0]));
                let cell = (k * height / (length / 2)) * width + column;
                sums[cell] += scale * (re * re + im * im);
                counts[cell] += 1;
            }
        }
        let decibels = sums
            .iter()
            .zip(&counts)
            .map(|(sum, &n)| (10.0 * (sum / f64::from(n.max(1))).max(LEAST).log10()) as f32)
            .collect();
        let rate = f64::from(rate.max(1));
        Self { width, height, seconds: samples.len() as f64 / rate, top: rate / 2.0, decibels }
    }
}
