//! Signals for the tests: noise, something like speech, echo paths.

#![allow(dead_code, clippy::unwrap_used)] // Not every test uses every signal; a test may give up.

use parsimon_testing::Lcg32;

/// Uniform noise in [-0.5, 0.5).
pub(crate) fn noise(n: usize, seed: u32) -> Vec<f32> {
    let mut random = Lcg32::new(seed.wrapping_mul(2_654_435_761).wrapping_add(12_345));
    (0..n).map(|_| random.bits24() as f32 / 16_777_216.0 - 0.5).collect()
}

/// Colored noise that comes in syllables with pauses between, as speech does.
pub(crate) fn speech(n: usize, rate: usize, seed: u32) -> Vec<f32> {
    let (mut a, mut b) = (0.0f32, 0.0f32);
    let syllable = rate / 5;
    noise(n, seed)
        .into_iter()
        .enumerate()
        .map(|(i, v)| {
            // Two poles near 500 Hz at 16 kHz.
            let y = v + 1.82 * a - 0.86 * b;
            (b, a) = (a, y);
            let word = (i / syllable * 7 + seed as usize) % 5;
            let swell = (std::f32::consts::PI * (i % syllable) as f32 / syllable as f32).sin();
            if word == 0 { 0.0 } else { 0.05 * y * swell * word as f32 / 2.0 }
        })
        .collect()
}

/// A decaying room of `taps` taps behind `delay` samples.
pub(crate) fn room(taps: usize, delay: usize, seed: u32) -> Vec<f32> {
    let mut path = vec![0.0; delay];
    path.extend(
        noise(taps, seed)
            .iter()
            .enumerate()
            .map(|(i, v)| v * (-6.0 * i as f32 / taps as f32).exp()),
    );
    let norm = path.iter().map(|v| v * v).sum::<f32>().sqrt();
    path.iter().map(|v| v / norm * 0.7).collect()
}

pub(crate) fn convolve(x: &[f32], path: &[f32]) -> Vec<f32> {
    (0..x.len())
        .map(|i| path.iter().take(i + 1).enumerate().map(|(k, h)| h * x[i - k]).sum())
        .collect()
}

pub(crate) fn add(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

pub(crate) fn energy(v: &[f32]) -> f64 {
    v.iter().map(|&v| f64::from(v) * f64::from(v)).sum()
}

/// How much quieter `after` is than `before`, in dB.
pub(crate) fn gain(before: &[f32], after: &[f32]) -> f64 {
    10.0 * (energy(before) / energy(after).max(1e-20)).log10()
}
