//! Echo return loss enhancement (ERLE): the attenuation of the microphone signal in dB.
//!
//! `10 log10(sum(d^2) / sum(e^2))` over the samples with an active far end: those in frames of 20 ms whose
//! mean reference power is above a thousandth of the whole file's mean. Near-end speech counts like
//! echo: during double talk that speech bounds the value, and a canceller can raise it by removing
//! speech.

use serde::Serialize;

/// Frames below this share of the mean power of the reference are silence.
const SILENCE: f64 = 1e-3;
/// Frames per second.
const FRAMES: u32 = 50;
/// 120 dB: keeps the value finite for a residual of zero.
const LEAST: f64 = 1e-12;

/// The attenuation over a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Erle {
    /// Over all active samples; `None` if there are none or the microphone is silent in them.
    pub overall: Option<f64>,
    /// Over the second half, when the filter should have converged.
    pub second_half: Option<f64>,
    /// The share of samples at which the far end is active.
    pub active: f64,
    /// Seconds per entry of `over_time`.
    pub window: f64,
    /// Over consecutive windows; the last may be shorter.
    pub over_time: Vec<Option<f64>>,
}

/// Measures `residual` against `microphone`, in windows of `window` seconds.
///
/// ```
/// let far = vec![0.5f32; 16_000];
/// let near = vec![0.2f32; 16_000];
/// let left = vec![0.02f32; 16_000];
/// let erle = parsimon_audio::erle::measure(&far, &near, &left, 16_000, 0.5);
/// assert!((erle.overall.unwrap() - 20.0).abs() < 1e-3);
/// assert_eq!(erle.over_time.len(), 2);
/// ```
pub fn measure(
    reference: &[f32],
    microphone: &[f32],
    residual: &[f32],
    rate: u32,
    window: f64,
) -> Erle {
    let total = reference.len().min(microphone.len()).min(residual.len());
    let frame = (rate / FRAMES).max(1) as usize;
    let mean = squares(&reference[..total]) / total.max(1) as f64;

    let length = ((window * f64::from(rate)) as usize).max(frame);
    let mut over_time = vec![[0.0; 2]; total.div_ceil(length)];
    let (mut overall, mut half, mut active) = ([0.0; 2], [0.0; 2], 0usize);
    for start in (0..total).step_by(frame) {
        let end = total.min(start + frame);
        let power = squares(&reference[start..end]);
        // A frame cut off by the end of the file is skipped.
        if end - start < frame || power <= SILENCE * mean * frame as f64 {
            continue;
        }
        active += frame;
        let mut i = start;
        while i < end {
            // To the end of the frame, of the half or of the window, whichever comes first.
            let half_end = if i < total / 2 { total / 2 } else { end };
            let next = end.min(half_end).min((i / length + 1) * length);
            let pair = [squares(&microphone[i..next]), squares(&residual[i..next])];
            let second = (i >= total / 2).then_some(&mut half);
            for sums in
                [Some(&mut overall), second, Some(&mut over_time[i / length])].into_iter().flatten()
            {
                sums[0] += pair[0];
                sums[1] += pair[1];
            }
            i = next;
        }
    }
    Erle {
        overall: decibels(overall),
        second_half: decibels(half),
        active: active as f64 / total.max(1) as f64,
        window: length as f64 / f64::from(rate.max(1)),
        over_time: over_time.into_iter().map(decibels).collect(),
    }
}

fn squares(samples: &[f32]) -> f64 {
    samples.iter().map(|&v| f64::from(v) * f64::from(v)).sum()
}

fn decibels([microphone, residual]: [f64; 2]) -> Option<f64> {
    (microphone > 0.0).then(|| 10.0 * (microphone / residual.max(LEAST * microphone)).log10())
}
