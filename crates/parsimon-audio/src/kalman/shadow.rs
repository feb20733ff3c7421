//! Comparison of filter and shadow, and the choice between them.

use super::update::constrain;
use super::{Kalman, LANES, LEAST, WIDTH};

/// The shadow takes the lead below this share of the filter's error energy...
const TAKE_OVER: f32 = 0.4;
/// ...or, after a change of the path, below this one...
const TAKE_OVER_CHANGED: f32 = 0.95;
/// ...and is sent back above this multiple of it.
const SEND_BACK: f32 = 2.0;
/// The doubt after a takeover, as a share of the first doubt, where the filter had removed nothing.
const DOUBT_AGAIN: f32 = 0.3;

impl Kalman {
    /// Compares the smoothed errors. Returns whether the filter took over the shadow.
    pub(super) fn compare(&mut self, energy: [f32; 2], heard: f32) -> bool {
        let c = self.compare;
        self.microphone_energy = c * self.microphone_energy + (1.0 - c) * heard;
        self.filter_energy = c * self.filter_energy + (1.0 - c) * energy[0];
        self.shadow_energy = c * self.shadow_energy + (1.0 - c) * energy[1];
        let changed = self.mismatch.has_changed();
        let enough = if changed { TAKE_OVER_CHANGED } else { TAKE_OVER };
        if self.shadow_energy < enough * self.filter_energy {
            self.take_over();
            self.mismatch.start_again(changed);
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
