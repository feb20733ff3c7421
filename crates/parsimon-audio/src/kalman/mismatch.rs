//! Mismatch between the microphone and the prediction of the filter.
//!
//! The residual of a filter with the right path does not correlate with its prediction, whether the near end speaks or not. After a
//! change of the path the error holds the prediction of the old path with its sign turned. With `E` the error, `Y` the predicted
//! echo, and weights that keep loud bins from dominating, the mismatch is
//!
//! ```text
//! -sum Re(E conj(Y)) / sum |Y|^2
//! ```
//!
//! over a tenth of a second: around 0 for the right path, 1 for a path that has nothing in common with the filter's.

use super::{LEAST, Lanes, Row, WIDTH};
use crate::AudioError;
use crate::state::{Reader, Writer};

/// Seconds over which error and prediction are compared.
pub(super) const SECONDS: f32 = 0.1;
/// A prediction below this share of the average one is not evaluated.
const QUIET: f32 = 0.1;
/// The prediction is confirmed below this mismatch...
const CONFIRMED: f32 = 0.2;
/// ...and a filter is trusted after this many seconds below it. The mismatch is large while the filter converges.
pub(super) const TRUST_SECONDS: f32 = 3.0;
/// Above this mismatch the path of a trusted filter has changed...
const CHANGED: f32 = 0.25;
/// ...unless the error has more than this multiple of the power of the prediction, or of the part of it that is contradicted: then
/// the near end speaks. A path as loud as the old one that has nothing in common with it makes the error twice as loud as the prediction.
const CHANGED_ERROR: [f32; 2] = [2.0, 3.0];
/// The limit for [`Mismatch::share`], a multiple of the part that is contradicted.
const SHARE_ERROR: f32 = 5.0;
/// The logarithm of the usual error falls and, where the filter is wrong, rises by at most this much per second...
const FALL: f32 = 4.0;
/// ...and otherwise rises by at most this much: near-end speech has pauses, and it only raises the error.
const RISE: f32 = 0.1;
/// Above this mismatch the filter is wrong.
const WRONG: f32 = 0.15;
/// Bounds of the logarithm of the usual error.
const LEFT: [f32; 2] = [-10.0, 2.0];

#[derive(Clone, Debug)]
pub(super) struct Mismatch {
    keep: f32,
    trusted_after: u64,
    /// The long-term power of the predicted echo.
    long_term: Vec<Row>,
    /// The weights of the bins in the last block.
    pub(super) weights: Vec<Row>,
    /// Weighted and smoothed: `Re(E conj(Y))`, `|Y|^2`, `|E|^2`.
    cross: f32,
    echo: f32,
    error: f32,
    /// The long-term mean of the weighted `|Y|^2`.
    usual: f32,
    /// Blocks in which the prediction was confirmed.
    confirmed: u64,
    /// The natural logarithm of the error's power over that of the prediction while the near end is silent.
    usual_left: f32,
    /// Seconds of a block.
    seconds: f32,
}

impl Mismatch {
    /// `keep`: the share of an average that survives a block of `seconds`. The filter is trusted after `trusted_after` blocks.
    pub(super) fn new(rows: usize, keep: f32, trusted_after: u64, seconds: f32) -> Self {
        Self {
            keep,
            trusted_after,
            long_term: vec![[0.0; WIDTH]; rows],
            weights: vec![[0.0; WIDTH]; rows],
            cross: 0.0,
            echo: 0.0,
            error: 0.0,
            usual: 0.0,
            confirmed: 0,
            usual_left: LEFT[1],
            seconds,
        }
    }

    /// Processes a block: the spectra of the error in lane 0 and of the prediction in lane 2, the smoothed power of the error,
    /// and the share by which long-term means follow.
    pub(super) fn observe(&mut self, re: &[Lanes], im: &[Lanes], near_end: &[Row], follow: f32) {
        // Bins far below the mean say little about the path and much about noise.
        let mean = self.long_term.as_flattened().iter().sum::<f32>() / re.len() as f32;
        let (mut cross, mut echo, mut error) = (0.0f32, 0.0f32, 0.0f32);
        for (k, (re, im)) in re.iter().zip(im).enumerate() {
            let (c, l) = (k / WIDTH, k % WIDTH);
            let power = re[2] * re[2] + im[2] * im[2];
            let long_term = &mut self.long_term[c][l];
            *long_term += (power - *long_term) * follow;
            let weight = 1.0 / (near_end[c][l] + *long_term + mean + LEAST);
            self.weights[c][l] = weight;
            cross += weight * (re[0] * re[2] + im[0] * im[2]);
            echo += weight * power;
            error += weight * (re[0] * re[0] + im[0] * im[0]);
        }
        let keep = self.keep;
        self.cross = keep * self.cross + (1.0 - keep) * cross;
        self.echo = keep * self.echo + (1.0 - keep) * echo;
        self.error = keep * self.error + (1.0 - keep) * error;
        self.usual += (echo - self.usual) * follow;
        if self.is_heard() {
            let rise = if self.share() > WRONG { FALL } else { RISE };
            let step = self.left().max(LEAST).ln() - self.usual_left;
            let step = step.clamp(-FALL * self.seconds, rise * self.seconds);
            self.usual_left = (self.usual_left + step).clamp(LEFT[0], LEFT[1]);
        }
        if self.is_heard() && -self.cross < CONFIRMED * self.echo {
            self.confirmed = self.confirmed.saturating_add(1);
        }
    }

    fn is_heard(&self) -> bool {
        self.echo > QUIET * self.usual
    }

    /// The mismatch, between 0 and 1; 0 where nothing is known.
    pub(super) fn share(&self) -> f32 {
        if self.is_heard() && self.error < -SHARE_ERROR * self.cross {
            (-self.cross / (self.echo + LEAST)).clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// Whether the path has changed under a filter that was right before.
    pub(super) fn has_changed(&self) -> bool {
        self.confirmed >= self.trusted_after
            && self.is_heard()
            && -self.cross > CHANGED * self.echo
            && self.error < (CHANGED_ERROR[0] * self.echo).max(-CHANGED_ERROR[1] * self.cross)
    }

    /// From 0 to 1, where the filter was confirmed for long enough.
    pub(super) fn trust(&self) -> f32 {
        (self.confirmed as f32 / self.trusted_after.max(1) as f32).min(1.0)
    }

    /// Which share of the filter the microphone confirms.
    pub(super) fn confirmed_share(&self) -> f32 {
        (1.0 + self.cross / (self.echo + LEAST)).clamp(0.0, 1.0)
    }

    /// The power of the error over that of the prediction.
    pub(super) fn left(&self) -> f32 {
        self.error / (self.echo + LEAST)
    }

    /// Value of [`left`](Self::left) while the near end is silent.
    pub(super) fn usual_left(&self) -> f32 {
        self.usual_left.exp()
    }

    /// Notes that the filter was replaced. With `distrust` its trust starts again from zero.
    pub(super) fn start_again(&mut self, distrust: bool) {
        (self.cross, self.echo, self.error) = (0.0, 0.0, 0.0);
        if distrust {
            self.confirmed = 0;
            self.usual_left = LEFT[1];
        }
    }

    pub(super) fn clear(&mut self) {
        self.start_again(true);
        self.long_term.fill([0.0; WIDTH]);
        self.usual = 0.0;
    }

    pub(super) fn save(&self, to: &mut Writer) {
        to.numbers(self.long_term.as_flattened());
        [self.cross, self.echo, self.error, self.usual, self.usual_left]
            .into_iter()
            .for_each(|v| to.number(v));
        to.count(self.confirmed);
    }

    pub(super) fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), AudioError> {
        from.numbers(self.long_term.as_flattened_mut())?;
        for v in [
            &mut self.cross,
            &mut self.echo,
            &mut self.error,
            &mut self.usual,
            &mut self.usual_left,
        ] {
            *v = from.number()?;
        }
        self.usual_left = self.usual_left.clamp(LEFT[0], LEFT[1]);
        self.confirmed = from.count()?;
        Ok(())
    }
}
