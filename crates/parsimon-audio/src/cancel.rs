//! Whole recordings: find the delay, cancel, measure.

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

/// Where the delay of the echo comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alignment {
    /// Searched, up to so many seconds either way.
    Search {
        /// Positive and finite, at most 60.
        seconds: f64,
    },
    /// Known: the microphone is so many samples later than the reference.
    Known(i64),
}

impl Default for Alignment {
    fn default() -> Self {
        Self::Search { seconds: 0.5 }
    }
}

/// All that was found, for a reader or a machine.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The name of the filter.
    pub algorithm: &'static str,
    /// The settings it ran with.
    pub settings: Config,
    /// The length of its echo path, in whole blocks.
    pub taps: usize,
    /// Samples of microphone, and of reference as given.
    pub samples: usize,
    /// Samples of reference; where there are fewer than of microphone, silence follows.
    pub reference_samples: usize,
    /// Seconds of microphone.
    pub seconds: f64,
    /// The delay that was found; `None` where it was known or could not be found.
    pub delay: Option<Delay>,
    /// By how many samples the reference was made later for the filter to reach its echo.
    pub shift: i64,
    /// How much quieter the microphone has become, its rumble taken out as well.
    pub erle: Erle,
    /// What happened on the way.
    pub status: Status,
    /// The share of active samples with double talk.
    pub double_talk_share: f64,
    /// The share of blocks with double talk, for every window of `erle`.
    pub double_talk_over_time: Vec<f64>,
    /// How much faster the reference's clock was found to run than the microphone's, in millionths.
    pub drift_ppm: f64,
}

/// A canceled recording.
#[derive(Clone, Debug)]
pub struct Canceled {
    /// As long as the microphone and aligned with it.
    pub clean: Vec<f32>,
    /// The echo path at the end, behind `shift` samples of delay.
    pub echo_path: Vec<f32>,
    /// Whether the detector heard double talk, for every block of [`Config::block`] samples.
    pub double_talk: Vec<bool>,
    /// What was found.
    pub report: Report,
}

/// Removes from `microphone` the echo of `reference`, with [`Kalman`].
///
/// The output is aligned with the microphone: the latency of the canceller is taken out.
pub fn cancel(
    reference: &[f32],
    microphone: &[f32],
    config: Config,
    alignment: Alignment,
) -> Result<Canceled, AudioError> {
    let filter = Kalman::new(&config)?;
    cancel_with(Box::new(filter), reference, microphone, config, alignment)
}

/// The same with any filter.
pub fn cancel_with(
    filter: Box<dyn Adaptive>,
    reference: &[f32],
    microphone: &[f32],
    config: Config,
    alignment: Alignment,
) -> Result<Canceled, AudioError> {
    let (algorithm, taps) = (filter.name(), filter.taps());
    // The canceller reads the reference as much late as it is handed over early, so that it can follow a drift either way.
    let ahead = if config.drift { HALF + (MOST * microphone.len() as f64) as usize } else { 0 };
    let given = config;
    let config = Config { delay: config.delay + ahead, search: 0.0, ..config };
    let mut canceller = Canceller::with(filter, config)?;
    let (delay, shift) = match alignment {
        Alignment::Known(samples) => (None, samples),
        Alignment::Search { seconds } if seconds > 0.0 && seconds <= 60.0 => {
            let most = (seconds * f64::from(config.rate)).ceil() as usize;
            let early = (ONSET_SECONDS * f64::from(config.rate)) as usize;
            let delay = delay::search(reference, microphone, most, early);
            let onset = delay.filter(Delay::is_reliable).map_or(0, |d| d.onset);
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
            // What lies behind the end of the microphone only drives the last block out.
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

    // What would have left the canceller without an echo to remove.
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
    };
    Ok(Canceled { clean, echo_path: canceller.echo_path(), double_talk, report })
}
