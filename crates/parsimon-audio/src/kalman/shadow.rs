//! Filter and shadow compared: which of them goes on.

use super::update::constrain;
use super::{Kalman, LANES, LEAST, Row};

/// The shadow takes the lead below this share of the filter's error energy...
const TAKE_OVER: f32 = 0.4;
/// ...and is sent back above this multiple of it.
const SEND_BACK: f32 = 2.0;
/// The doubt after a takeover, as a share of the first doubt, where the filter had removed nothing.
const DOUBT_AGAIN: f32 = 0.3;

impl Kalman {
    /// Compares the smoothed errors; true where the filter took over the shadow.
    pub(super) fn compare(&mut self, energy: [f32; 2], heard: f32) -> bool {
        let c = self.compare;
        self.microphone_energy = c * self.microphone_energy + (1.0 - c) * heard;
        self.filter_energy = c * self.filter_energy + (1.0 - c) * energy[0];
        self.shadow_energy = c * self.shadow_energy + (1.0 - c) * energy[1];
        if self.shadow_energy < TAKE_OVER * self.filter_energy {
            self.take_over();
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
        let bins = self.n + 1;
        let left = (self.filter_energy / (self.microphone_energy + LEAST)).min(1.0);
        for g in 0..self.groups {
            let mask = if g + 1 == self.groups { self.mask } else { [1.0; LANES] };
            let again: Row =
                std::array::from_fn(|l| DOUBT_AGAIN * left * mask[l] * self.first_doubt[g][l]);
            let rows = g * bins..(g + 1) * bins;
            let gradient = &mut self.scratch.gradient;
            gradient.re.copy_from_slice(&self.shadow.re[rows.clone()]);
            gradient.im.copy_from_slice(&self.shadow.im[rows.clone()]);
            constrain(&self.fft, &mut self.scratch);
            for (k, row) in rows.enumerate() {
                let (vr, vi) = (self.scratch.gradient.re[k], self.scratch.gradient.im[k]);
                for (l, again) in again.into_iter().enumerate() {
                    let dr = self.shadow.re[row][l] - self.filter.re[row][l];
                    let di = self.shadow.im[row][l] - self.filter.im[row][l];
                    self.doubt[row][l] = self.doubt[row][l].max(dr * dr + di * di).max(again);
                }
                self.filter.re[row] = vr;
                self.filter.im[row] = vi;
            }
        }
    }
}
