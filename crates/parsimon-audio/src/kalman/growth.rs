//! A filter that becomes longer where the end of its path is loud.
//!
//! The echo of a room dies away exponentially. If the last quarter of the first length still holds a noticeable share of the
//! path's energy, in two looks one after the other (a filter that has just begun is wrong everywhere), the echo goes on
//! behind the last tap, and the filter becomes longer. Partitions that are not in use cost no time.

use super::{Kalman, LANES, mask};

/// The end of the path is the last quarter of the first length.
const END: usize = 4;
/// The filter grows by half of its first length.
const GROWN: usize = 2;
/// The end of the path is loud above this share of the energy of the whole (-25 dB), record/2026-11-16-echo.md.
const LOUD: f32 = 3e-3;

impl Kalman {
    /// Makes the filter longer where the end of its path is loud.
    pub(super) fn grow(&mut self) {
        let length = (self.first / END).max(1);
        let bins = self.n + 1;
        let (mut all, mut end) = (0.0f32, 0.0f32);
        for p in 0..self.partitions {
            let (g, l) = (p / LANES, p % LANES);
            let rows = g * bins..(g + 1) * bins;
            let taps = self.filter.re[rows.clone()].iter().zip(&self.filter.im[rows]);
            let energy: f32 = taps.map(|(re, im)| re[l] * re[l] + im[l] * im[l]).sum();
            all += energy;
            if p + length >= self.partitions {
                end += energy;
            }
        }
        let loud = end > LOUD * all;
        if loud && self.loud {
            let before = self.partitions;
            self.reach((before + (self.first / GROWN).max(1)).min(self.most));
            self.doubt_from(before);
        }
        self.loud = loud && !self.loud;
    }

    /// Uses so many partitions.
    pub(super) fn reach(&mut self, partitions: usize) {
        self.partitions = partitions;
        self.groups = partitions.div_ceil(LANES);
        self.mask = mask(partitions);
        self.turn %= partitions;
        self.rotation %= self.groups;
    }
}
