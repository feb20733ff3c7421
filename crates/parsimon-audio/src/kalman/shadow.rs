//! Comparison of filter and shadow, and the choice between them.

use super::update::constrain;
use super::{Kalman, LANES, LEAST, WIDTH};

/// The shadow takes the lead below this share of the filter's error energy...
const TAKE_OVER: f32 = 0.4;
/// After a change of the path, the filter begins again where the shadow has less than this share of its error.
const BETTER_CHANGED: f32 = 0.95;
/// The shadow is sent back above this multiple of it.
const SEND_BACK: f32 = 2.0;
/// The doubt after a takeover, as a share of the first doubt, where the filter had removed nothing.
const DOUBT_AGAIN: f32 = 0.3;
/// The doubt after a change of the path: the first doubt over the power of the usual path.
const DOUBT_CHANGED: f32 = 40.0;

impl Kalman {
    /// Compares the smoothed errors. Returns whether the filter is another one: it took over the shadow, or began again.
    pub(super) fn compare(&mut self, energy: [f32; 2], heard: f32) -> bool {
        let c = self.compare;
        self.microphone_energy = c * self.microphone_energy + (1.0 - c) * heard;
        self.filter_energy = c * self.filter_energy + (1.0 - c) * energy[0];
        self.shadow_energy = c * self.shadow_energy + (1.0 - c) * energy[1];
        if self.mismatch.has_changed() && self.shadow_energy < BETTER_CHANGED * self.filter_energy {
            self.begin_again(self.mismatch.confirmed_share());
            self.takeovers += 1;
            return true;
        }
        if self.shadow_energy < TAKE_OVER * self.filter_energy {
            self.take_over();
            self.mismatch.start_again(false);
            self.filter_energy = self.shadow_energy;
            self.takeovers += 1;
            return true;
        }
        if self.shadow_energy > SEND_BACK * self.filter_energy {
            self.shadow.copy_from(&self.filter);
            for rows in [&mut self.scratch.error_re, &mut self.scratch.error_im] {
                rows.iter_mut().for_each(|e| e[1] = e[0]);
            }
            self.shadow_energy = self.filter_energy;
        }
        false
    }

    /// Keeps the share of the filter that the microphone confirms and doubts it as at first: a filter with another path finds the new one more slowly than
    /// one that knows nothing (record/echo-double-talk.md).
    fn begin_again(&mut self, confirmed: f32) {
        let all: f32 = self.first_doubt[..self.partitions].iter().sum();
        for c in 0..self.rows {
            let own = c * self.most..c * self.most + self.partitions;
            let mut power = [0.0f32; WIDTH];
            for (re, im) in self.filter.re[own.clone()].iter().zip(&self.filter.im[own.clone()]) {
                for l in 0..WIDTH {
                    power[l] += re[l] * re[l] + im[l] * im[l];
                }
            }
            for (doubt, first) in self.doubt[own].iter_mut().zip(&self.first_doubt) {
                for l in 0..WIDTH {
                    doubt[l] = doubt[l].max(DOUBT_CHANGED * power[l] / all * first);
                }
            }
        }
        for taps in [&mut self.filter, &mut self.shadow] {
            for row in taps.re.iter_mut().chain(&mut taps.im) {
                *row = row.map(|v| confirmed * v);
            }
        }
        self.mismatch.start_again(true);
        self.filter_energy = self.microphone_energy;
        self.shadow_energy = self.microphone_energy;
    }

    /// The shadow, made causal, becomes the filter; the doubt is at least what the two differ by, and the more like
    /// the first doubt the less the filter had removed: the shadow has only begun to find a new path.
    pub(super) fn take_over(&mut self) {
        let left = (self.filter_energy / (self.microphone_energy + LEAST)).min(1.0);
        for c in 0..self.rows {
            for p in 0..self.partitions {
                let (at, again) = (c * self.most + p, DOUBT_AGAIN * left * self.first_doubt[p]);
                let (vr, vi) = (self.shadow.re[at], self.shadow.im[at]);
                let (wr, wi) = (self.filter.re[at], self.filter.im[at]);
                let mut doubt = self.doubt[at];
                for l in 0..WIDTH {
                    let (dr, di) = (vr[l] - wr[l], vi[l] - wi[l]);
                    doubt[l] = doubt[l].max(dr * dr + di * di).max(again);
                }
                self.doubt[at] = doubt;
            }
        }
        for first in (0..self.partitions).step_by(LANES) {
            let s = &mut self.scratch;
            Self::gather(s, &self.shadow, self.most, first, self.partitions);
            constrain(&self.fft, s);
            for (k, (re, im)) in s.part_re.iter().zip(&s.part_im).enumerate() {
                for l in 0..LANES.min(self.partitions - first) {
                    let at = k / WIDTH * self.most + first + l;
                    self.filter.re[at][k % WIDTH] = re[l];
                    self.filter.im[at][k % WIDTH] = im[l];
                }
            }
        }
    }
}
