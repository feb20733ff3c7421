//! What the filter says about the echo path: its taps, and by how much they have moved.

use super::{Kalman, LANES, WIDTH};
use crate::adaptive::Adaptive;

/// Filters that are less alike than this (a correlation) do not show by how much the path has moved.
const ALIKE: f64 = 0.5;

impl Kalman {
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
