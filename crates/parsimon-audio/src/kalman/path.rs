//! Estimates derived from the filter: the taps of the echo path, how far they have moved, and where they begin.

use super::{Kalman, LANES, LEAST, POOR, Row, WIDTH};
use crate::adaptive::Adaptive;

/// Filters that are less alike than this (a correlation) do not show by how much the path has moved.
const ALIKE: f64 = 0.5;

/// Partitions before the first one with this share of the energy of the loudest one (-25 dB) are silent...
const SILENT: f32 = 3e-3;
/// ...or with this multiple of the share of the microphone's energy that the filter leaves: what it holds there is error.
const ERROR: f32 = 0.5;
/// Partitions of silence that are kept.
const MARGIN: usize = 1;

impl Kalman {
    /// The number of silent partitions at the beginning that can be left out.
    pub(super) fn silent_lead(&self) -> usize {
        let square = |row: &Row| row.iter().map(|v| v * v).sum::<f32>();
        let energy = |p: usize| -> f32 {
            let taps = (0..self.rows).map(|c| c * self.most + p);
            taps.map(|at| square(&self.filter.re[at]) + square(&self.filter.im[at])).sum()
        };
        let loudest = (0..self.partitions).map(energy).fold(0.0f32, f32::max);
        let left = (self.left / (self.heard + LEAST)).min(POOR);
        let silent = SILENT.max(ERROR * left) * loudest;
        let first = (0..self.partitions).position(|p| energy(p) > silent);
        first.unwrap_or(0).saturating_sub(MARGIN)
    }

    /// Moves all that belongs to partitions to the front by `blocks`. The spectra of the reference move as well, so the next block
    /// is predicted as before.
    pub(super) fn leave_out(&mut self, blocks: usize) -> bool {
        let (most, used) = (self.most, self.partitions);
        if blocks == 0 || blocks >= used {
            return false;
        }
        // The newest block of the later reference is the second half of the spectrum that was `blocks` ago.
        let (n, s) = (self.n, &mut self.scratch);
        for (k, (re, im)) in s.part_re.iter_mut().zip(&mut s.part_im).enumerate() {
            let at = k / WIDTH * 2 * most + self.head + blocks;
            *re = [self.x.re[at][k % WIDTH], 0.0, 0.0, 0.0];
            *im = [self.x.im[at][k % WIDTH], 0.0, 0.0, 0.0];
        }
        self.fft.inverse(&s.part_re, &s.part_im, &mut s.re, &mut s.im);
        for i in 0..n / 2 {
            self.last[2 * i] = s.re[n / 2 + i][0];
            self.last[2 * i + 1] = s.im[n / 2 + i][0];
        }
        self.head = (self.head + blocks) % most;
        let taps = [
            &mut self.filter,
            &mut self.shadow,
            &mut self.earlier,
            &mut self.kept,
            &mut self.before,
        ];
        for taps in taps {
            for rows in [&mut taps.re, &mut taps.im] {
                for bins in rows.chunks_exact_mut(most) {
                    bins[..used].rotate_left(blocks);
                    bins[used - blocks..used].fill([0.0; WIDTH]);
                }
            }
        }
        for doubt in self.doubt.chunks_exact_mut(most) {
            doubt[..used].rotate_left(blocks);
        }
        self.doubt_from(used - blocks);
        true
    }

    pub(super) fn path(&self) -> Vec<f32> {
        let n = self.n;
        let mut path = Vec::with_capacity((self.partitions + LANES) * n);
        let mut s = self.scratch.clone();
        for first in (0..self.partitions).step_by(LANES) {
            Self::gather(&mut s, &self.filter, self.most, first, self.partitions);
            self.fft.inverse(&s.part_re, &s.part_im, &mut s.re, &mut s.im);
            for l in 0..LANES {
                path.extend((0..n / 2).flat_map(|i| [s.re[i][l], s.im[i][l]]));
            }
        }
        path.truncate(self.taps());
        path
    }

    pub(super) fn movement(&mut self) -> Option<f64> {
        // A path that is `s` samples later has its bins turned by `-s` times their angle; least squares over all bins,
        // weighted by what the reference shows of them, give `s`.
        let (mut turned, mut alike) = (0.0f64, 0.0f64);
        let mut powers = [0.0f64; 2];
        for c in 0..self.rows {
            let mut sums = [[0.0f32; WIDTH]; 4];
            for at in c * self.most..c * self.most + self.partitions {
                let (ar, ai) = (self.before.re[at], self.before.im[at]);
                let (br, bi) = (self.filter.re[at], self.filter.im[at]);
                for l in 0..WIDTH {
                    sums[0][l] += ar[l] * br[l] + ai[l] * bi[l];
                    sums[1][l] += ar[l] * bi[l] - ai[l] * br[l];
                    sums[2][l] += ar[l] * ar[l] + ai[l] * ai[l];
                    sums[3][l] += br[l] * br[l] + bi[l] * bi[l];
                }
            }
            for l in 0..WIDTH {
                let angle = std::f64::consts::PI * (c * WIDTH + l) as f64 / self.n as f64;
                let [real, imaginary, before, now] =
                    sums.map(|v| f64::from(self.weight[c][l] * v[l]) * angle);
                turned -= imaginary;
                alike += angle * real;
                powers[0] += angle * before;
                powers[1] += angle * now;
            }
        }
        self.before.copy_from(&self.filter);
        self.weight.fill([0.0; WIDTH]);
        (alike > ALIKE * (powers[0] * powers[1]).sqrt()).then(|| turned / alike)
    }
}
