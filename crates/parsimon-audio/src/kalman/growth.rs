//! A filter that becomes longer where the end of its path is loud.
//!
//! The echo of a room dies away exponentially. If the last quarter of the first length still holds a noticeable share of the
//! path's energy, in two looks one after the other (a filter that has just begun is wrong everywhere), the echo continues
//! behind the last tap, and the filter becomes longer. Partitions that are not in use cost no time.

use super::{Kalman, LANES, Row};

/// The end of the path is the last quarter of the first length.
const END: usize = 4;
/// The filter grows by half of its first length.
const GROWN: usize = 2;
/// The end of the path is loud above this share of the energy of the whole (-25 dB), record/echo.md.
const LOUD: f32 = 3e-3;

impl Kalman {
    /// Makes the filter longer where the end of its path is loud.
    pub(super) fn grow(&mut self) {
        let end_of_path = self.partitions - (self.first / END).max(1);
        let (mut all, mut end) = (0.0f32, 0.0f32);
        for p in 0..self.partitions {
            let taps = (0..self.rows).map(|c| c * self.most + p);
            let energy: f32 =
                taps.map(|at| square(&self.filter.re[at]) + square(&self.filter.im[at])).sum();
            all += energy;
            if p >= end_of_path {
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

    /// Sets the number of partitions in use.
    pub(super) fn reach(&mut self, partitions: usize) {
        self.partitions = partitions;
        self.turn %= partitions;
        self.rotation %= partitions.div_ceil(LANES);
    }
}

fn square(row: &Row) -> f32 {
    row.iter().map(|v| v * v).sum()
}
