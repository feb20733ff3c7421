//! Whole recordings: find the delay, cancel, measure.

use serde::Serialize;

use crate::AudioError;
use crate::adaptive::Adaptive;
use crate::canceller::{Canceller, Status};
use crate::config::Config;
use crate::delay::{self, Delay};
use crate::erle::{self, Erle};
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
    /// How much quieter the microphone has become.
    pub erle: Erle,
    /// What happened on the way.
    pub status: Status,
    /// The share of active samples with double talk.
    pub double_talk_share: f64,
}

/// A canceled recording.
#[derive(Clone, Debug)]
pub struct Canceled {
    /// As long as the microphone and aligned with it.
    pub clean: Vec<f32>,
    /// The echo path at the end, behind `shift` samples of delay.
    pub echo_path: Vec<f32>,
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
    let mut canceller = Canceller::with(filter, config)?;
    let (delay, shift) = match alignment {
        Alignment::Known(samples) => (None, samples),
        Alignment::Search { seconds } if seconds > 0.0 && seconds <= 60.0 => {
            let most = (seconds * f64::from(config.rate)).ceil() as usize;
            let delay = delay::search(reference, microphone, most);
            let late = delay.filter(Delay::is_reliable).map_or(0, |d| d.samples);
            (delay, shift(late, taps))
        }
        Alignment::Search { seconds } => {
            let message =
                format!("the longest delay must be above 0 and at most 60 seconds, got {seconds}");
            return Err(AudioError::Setting(message));
        }
    };

    let (total, latency) = (microphone.len(), canceller.latency());
    let mut clean = Vec::with_capacity(total);
    let mut far = vec![0.0f32; PIECE];
    let mut near = vec![0.0f32; PIECE];
    for start in (0..total + latency).step_by(PIECE) {
        let n = PIECE.min(total + latency - start);
        for i in 0..n {
            let at = (start + i) as i64;
            // What lies behind the end of the microphone only drives the last block out.
            let wanted = if at < total as i64 { at.checked_sub(shift) } else { None };
            let wanted = wanted.and_then(|at| usize::try_from(at).ok());
            far[i] = wanted.and_then(|at| reference.get(at)).copied().unwrap_or(0.0);
            near[i] = microphone.get(start + i).copied().unwrap_or(0.0);
        }
        let out = canceller.push(&far[..n], &near[..n]);
        clean.extend_from_slice(&out[latency.saturating_sub(start).min(n)..]);
    }

    let mut heard: Vec<f32> = reference[..reference.len().min(total)].to_vec();
    heard.resize(total, 0.0);
    let status = canceller.status();
    let report = Report {
        algorithm,
        settings: config,
        taps,
        samples: total,
        reference_samples: reference.len(),
        seconds: total as f64 / f64::from(config.rate),
        delay,
        shift,
        erle: erle::measure(&heard, microphone, &clean, config.rate, 1.0),
        status,
        double_talk_share: status.double_talk_share(),
    };
    Ok(Canceled { clean, echo_path: canceller.echo_path(), report })
}

/// Samples pushed at once; a multiple of every block.
const PIECE: usize = 4096;

/// By how much the reference must be made later for an echo `late` samples behind it.
///
/// Sound may arrive well before the strongest path, so a delay that falls into the first half of the filter is
/// left alone; others are moved to a sixteenth. A delay that is known is taken at its word.
fn shift(late: i64, taps: usize) -> i64 {
    let taps = taps as i64;
    match late {
        _ if late < 0 => late.saturating_sub(taps / 16),
        _ if late <= taps / 2 => 0,
        _ => late - taps / 16,
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
