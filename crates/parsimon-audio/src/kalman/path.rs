//! What the filter says about the echo path: its taps, and by how much they have moved.

use super::{Kalman, LANES};
use crate::adaptive::Adaptive;

/// Filters that are less alike than this (a correlation) do not show by how much the path has moved.
const ALIKE: f64 = 0.5;

impl Kalman {
    pub(super) fn path(&self) -> Vec<f32> {
        let (n, bins) = (self.n, self.n + 1);
        let mut path = Vec::with_capacity(self.groups * LANES * n);
        let (mut re, mut im) = (vec![[0.0; LANES]; n], vec![[0.0; LANES]; n]);
        for g in 0..self.groups {
            let rows = g * bins..(g + 1) * bins;
            self.fft.inverse(
                &self.filter.re[rows.clone()],
                &self.filter.im[rows],
                &mut re,
                &mut im,
            );
            for l in 0..LANES {
                path.extend((0..n / 2).flat_map(|i| [re[i][l], im[i][l]]));
            }
        }
        path.truncate(self.taps());
        path
    }

    pub(super) fn movement(&mut self) -> Option<f64> {
        // A path that is `s` samples later has its bins turned by `-s` times their angle; least squares over all bins,
        // weighted by what the reference shows of them, give `s`.
        let bins = self.n + 1;
        let (mut turned, mut alike) = (0.0f64, 0.0f64);
        let mut powers = [0.0f64; 2];
        for row in 0..self.groups * bins {
            let k = row % bins;
            let (ar, ai) = (self.before.re[row], self.before.im[row]);
            let (br, bi) = (self.filter.re[row], self.filter.im[row]);
            let mut sums = [0.0f32; 4];
            for l in 0..LANES {
                sums[0] += ar[l] * br[l] + ai[l] * bi[l];
                sums[1] += ar[l] * bi[l] - ai[l] * br[l];
                sums[2] += ar[l] * ar[l] + ai[l] * ai[l];
                sums[3] += br[l] * br[l] + bi[l] * bi[l];
            }
            let angle = std::f64::consts::PI * k as f64 / self.n as f64;
            let [real, imaginary, before, now] =
                sums.map(|v| f64::from(self.weight[k] * v) * angle);
            turned -= imaginary;
            alike += angle * real;
            powers[0] += angle * before;
            powers[1] += angle * now;
        }
        self.before.copy_from(&self.filter);
        self.weight.fill(0.0);
        (alike > ALIKE * (powers[0] * powers[1]).sqrt()).then(|| turned / alike)
    }
}
