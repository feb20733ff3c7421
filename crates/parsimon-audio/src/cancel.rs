//! Echo cancellation of whole recordings: estimate the delay, cancel, measure.

use serde::Serialize;

use crate::AudioError;
use crate::adaptive::Adaptive;
use crate::canceller::{Canceller, Status};
use crate::clock::HALF;
use crate::config::Config;
use crate::delay::{self, Delay, ONSET_SECONDS, shift};
use crate::drift::MOST;
use crate::erle::{self, Erle};
use crate::high_pass::Rumble;
use crate::kalman::Kalman;

/// Source of the echo delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alignment {
    /// Search for the delay, up to this many seconds in either direction.
    Search {
        /// Positive and finite, at most 60.
        seconds: f64,
    },
    /// The delay is known: the microphone lags the reference by this many samples.
    Known(i64),
}

impl Default for Alignment {
    fn default() -> Self {
        Self::Search { seconds: 0.5 }
    }
}

/// Results of a cancellation, for people and programs.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The name of the filter.
    pub algorithm: &'static str,
    /// The settings in effect.
    pub settings: Config,
    /// The length of the echo path, a multiple of the block length.
    pub taps: usize,
    /// Number of microphone samples.
    pub samples: usize,
    /// Number of reference samples as given; a reference shorter than the microphone is padded with silence.
    pub reference_samples: usize,
    /// Length of the microphone signal in seconds.
    pub seconds: f64,
    /// The estimated delay; `None` if it was given or could not be estimated.
    pub delay: Option<Delay>,
    /// Samples by which the reference was delayed to bring the echo within reach of the filter.
    pub shift: i64,
    /// Echo attenuation. The removed rumble does not count.
    pub erle: Erle,
    /// Counters of the canceller.
    pub status: Status,
    /// The share of active samples that contain double talk.
    pub double_talk_share: f64,
    /// The share of blocks with double talk, one value per window of `erle`.
    pub double_talk_over_time: Vec<f64>,
    /// Estimated clock drift in parts per million; positive if the reference's clock is faster.
    pub drift_ppm: f64,
    /// The faults of the signals in words, if there are any.
    pub warning: Option<String>,
}

/// Seconds from the beginning on which a negative delay is tried.
const TRIED_SECONDS: usize = 30;
/// A negative delay is believed if with it at least this much of the microphone is removed, in dB...
const PROOF: f64 = 6.0;
/// ...and the signals count as swapped if the opposite order removes this much more.
const SWAPPED: f64 = 3.0;

/// Decides about an echo that seems to precede the reference: it may be chance, a recorder that started late, or swapped signals.
/// Returns whether the delay is believed, and what is wrong.
fn judge_negative(
    reference: &[f32],
    microphone: &[f32],
    config: &Config,
    onset: i64,
) -> Result<(bool, Option<String>), AudioError> {
    let n = reference.len().min(microphone.len()).min(TRIED_SECONDS * config.rate as usize);
    let plain = Config { drift: false, suppress: false, delay: 0, search: 0.0, ..*config };
    let removed = |far: &[f32], near: &[f32], onset: i64| {
        let by = Alignment::Known(shift(onset, config.taps));
        let done = cancel(&far[..n], &near[..n], plain, by)?;
        Ok::<f64, AudioError>(done.report.erle.second_half.unwrap_or(0.0))
    };
    let straight = removed(reference, microphone, onset)?;
    let swapped = removed(microphone, reference, -onset)?;
    let ms = -1000.0 * onset as f64 / f64::from(config.rate);
    if swapped > PROOF && swapped > straight + SWAPPED {
        let words = format!(
            "the reference and the microphone seem to be swapped: the other way round {swapped:.0} dB are removed, this way {straight:.0} dB; exchange the two"
        );
        return Ok((false, Some(words)));
    }
    if straight >= PROOF {
        return Ok((
            true,
            Some(format!("the reference comes {ms:.0} ms later than its echo; it was shifted")),
        ));
    }
    let words = format!(
        "the reference may come {ms:.0} ms later than its echo, but with that delay no echo is removed, so none is assumed; pass a delay if it is known"
    );
    Ok((false, Some(words)))
}

/// The result for one recording.
#[derive(Clone, Debug)]
pub struct Canceled {
    /// The output, as long as the microphone signal and aligned with it.
    pub clean: Vec<f32>,
    /// The final echo path, after a delay of `shift` samples.
    pub echo_path: Vec<f32>,
    /// Whether double talk was detected, one value per block of [`Config::block`] samples.
    pub double_talk: Vec<bool>,
    /// Measurements and settings.
    pub report: Report,
}

/// Removes the echo of `reference` from `microphone`, using [`Kalman`].
///
/// The output is aligned with the microphone: the canceller's latency is compensated.
pub fn cancel(
    reference: &[f32],
    microphone: &[f32],
    config: Config,
    alignment: Alignment,
) -> Result<Canceled, AudioError> {
    let filter = Kalman::new(&config)?;
    cancel_with(Box::new(filter), reference, microphone, config, alignment)
}

/// Removes the echo of `reference` from `microphone`, using the given filter.
pub fn cancel_with(
    filter: Box<dyn Adaptive>,
    reference: &[f32],
    microphone: &[f32],
    config: Config,
    alignment: Alignment,
) -> Result<Canceled, AudioError> {
    let (algorithm, taps) = (filter.name(), filter.taps());
    // The reference is passed early and the canceller delays it by the same amount, so that it can follow a drift in either direction.
    let ahead = if config.drift { HALF + (MOST * microphone.len() as f64) as usize } else { 0 };
    let given = config;
    let config = Config { delay: config.delay + ahead, search: 0.0, ..config };
    let mut canceller = Canceller::with(filter, config)?;
    let mut warning = None;
    let (delay, shift) = match alignment {
        Alignment::Known(samples) => (None, samples),
        Alignment::Search { seconds } if seconds > 0.0 && seconds <= 60.0 => {
            let most = (seconds * f64::from(config.rate)).ceil() as usize;
            let early = (ONSET_SECONDS * f64::from(config.rate)) as usize;
            let delay = delay::search(reference, microphone, most, early);
            let mut onset = delay.filter(Delay::is_reliable).map_or(0, |d| d.onset);
            // Two milliseconds are within what recorders are off by.
            if onset < -i64::from(config.rate / 500) {
                let (believed, words) = judge_negative(reference, microphone, &given, onset)?;
                warning = words;
                onset = if believed { onset } else { 0 };
            }
            (delay, shift(onset, taps))
        }
        Alignment::Search { seconds } => {
            let message =
                format!("the longest delay must be above 0 and at most 60 seconds, got {seconds}");
            return Err(AudioError::Setting(message));
        }
    };

    let (total, latency, block) = (microphone.len(), canceller.latency(), config.block());
    let mut clean = Vec::with_capacity(total);
    let mut double_talk = Vec::with_capacity(total / block + 1);
    let mut far = vec![0.0f32; block];
    let mut near = vec![0.0f32; block];
    for start in (0..total + latency).step_by(block) {
        let n = block.min(total + latency - start);
        for i in 0..n {
            let at = (start + i) as i64;
            // Input after the end of the microphone signal only flushes the last block.
            let wanted = if at < total as i64 {
                at.checked_sub(shift.saturating_sub(ahead as i64))
            } else {
                None
            };
            let wanted = wanted.and_then(|at| usize::try_from(at).ok());
            far[i] = wanted.and_then(|at| reference.get(at)).copied().unwrap_or(0.0);
            near[i] = microphone.get(start + i).copied().unwrap_or(0.0);
        }
        let out = canceller.push(&far[..n], &near[..n]);
        clean.extend_from_slice(&out[latency.saturating_sub(start).min(n)..]);
        if start < total {
            double_talk.push(canceller.double_talk());
        }
    }

    // The output that the canceller would give if there were no echo to remove.
    let mut passed = microphone.to_vec();
    let mut rumble = Rumble::new(&config);
    passed.chunks_mut(config.block()).for_each(|block| rumble.run(block));
    let mut heard: Vec<f32> = reference[..reference.len().min(total)].to_vec();
    heard.resize(total, 0.0);
    let status = canceller.status();
    let window = (f64::from(config.rate) / block as f64).round().max(1.0) as usize;
    let share =
        |blocks: &[bool]| blocks.iter().filter(|&&talk| talk).count() as f64 / blocks.len() as f64;
    let report = Report {
        algorithm,
        settings: given,
        taps: canceller.taps(),
        samples: total,
        reference_samples: reference.len(),
        seconds: total as f64 / f64::from(config.rate),
        delay,
        shift,
        erle: erle::measure(&heard, &passed, &clean, config.rate, 1.0),
        status,
        double_talk_share: status.double_talk_share(),
        double_talk_over_time: double_talk.chunks(window).map(share).collect(),
        drift_ppm: canceller.drift_ppm(),
        warning: warning.or_else(|| canceller.warning().map(|w| w.to_string())),
    };
    Ok(Canceled { clean, echo_path: canceller.echo_path(), double_talk, report })
}
