//! One block: prediction, errors, and what filter and shadow learn from them.

use super::{Kalman, LANES, LEAST, Row, Scratch};
use crate::fft::Fft;

/// Half of the power of a block of `2n` overlapped samples falls into the `n` that are kept.
const KEPT: f32 = 0.5;
/// The filter's regularization, as a share of the long-term power of the reference in all taps.
const DELTA: f32 = 0.01;
/// The same for the shadow.
const SHADOW_DELTA: f32 = 0.05;
/// Groups of partitions whose taps are made causal in a block, in turns.
const CONSTRAINED: usize = 1;

impl Kalman {
    /// What a group `g` of partitions sees in bin `k`: a part of the ring `x` of real or imaginary spectra.
    #[inline(always)]
    fn window(x: &[f32], slots: usize, head: usize, g: usize, k: usize) -> &Row {
        let at = k * 2 * slots + head + g * LANES;
        x[at..at + LANES].try_into().expect("a slice of LANES numbers")
    }

    /// Takes in the newest block of reference.
    pub(super) fn advance(&mut self, reference: &[f32]) {
        let (n, slots) = (self.n, self.slots());
        let s = &mut self.scratch;
        for i in 0..n / 2 {
            s.re[i] = lane(self.last[2 * i]);
            s.im[i] = lane(self.last[2 * i + 1]);
            s.re[n / 2 + i] = lane(reference[2 * i]);
            s.im[n / 2 + i] = lane(reference[2 * i + 1]);
        }
        self.last.copy_from_slice(reference);
        let b = &mut self.bins;
        self.fft.forward(&mut s.re, &mut s.im, &mut b.e_re, &mut b.e_im);
        self.head = (self.head + slots - 1) % slots;
        for k in 0..=n {
            for at in [k * 2 * slots + self.head, k * 2 * slots + self.head + slots] {
                self.x_re[at] = b.e_re[k][0];
                self.x_im[at] = b.e_im[k][0];
            }
        }
    }

    /// Predictions of filter and shadow, and the sums over partitions that the update needs.
    pub(super) fn predict(&mut self) {
        let (slots, head, bins) = (self.slots(), self.head, self.n + 1);
        for k in 0..bins {
            let mut y = [[0.0f32; LANES]; 4];
            let mut sums = [[0.0f32; LANES]; 3];
            for g in 0..self.groups {
                let row = g * bins + k;
                let xr = *Self::window(&self.x_re, slots, head, g, k);
                let xi = *Self::window(&self.x_im, slots, head, g, k);
                let (wr, wi) = (self.filter.re[row], self.filter.im[row]);
                let (vr, vi) = (self.shadow.re[row], self.shadow.im[row]);
                let doubt = self.doubt[row];
                let mask = if g + 1 == self.groups { self.mask } else { [1.0; LANES] };
                for l in 0..LANES {
                    y[0][l] += wr[l] * xr[l] - wi[l] * xi[l];
                    y[1][l] += wr[l] * xi[l] + wi[l] * xr[l];
                    y[2][l] += vr[l] * xr[l] - vi[l] * xi[l];
                    y[3][l] += vr[l] * xi[l] + vi[l] * xr[l];
                    let power = xr[l] * xr[l] + xi[l] * xi[l];
                    sums[0][l] += doubt[l] * power;
                    sums[1][l] += doubt[l];
                    sums[2][l] += mask[l] * power;
                }
            }
            let b = &mut self.bins;
            b.y_re[k] = [sum(&y[0]), sum(&y[2]), 0.0, 0.0];
            b.y_im[k] = [sum(&y[1]), sum(&y[3]), 0.0, 0.0];
            b.doubt_power[k] = sum(&sums[0]);
            b.doubt[k] = sum(&sums[1]);
            b.power[k] = sum(&sums[2]);
        }
    }

    /// Errors of filter and shadow, packed in `scratch.error_*`, behind a block of zeros as their
    /// transform wants them; returns their energies.
    pub(super) fn errors(&mut self, microphone: &[f32]) -> [f32; 2] {
        let (n, s) = (self.n, &mut self.scratch);
        self.fft.inverse(&self.bins.y_re, &self.bins.y_im, &mut s.error_re, &mut s.error_im);
        let mut energy = [0.0f32; LANES];
        for i in 0..n / 2 {
            for (rows, d) in
                [(&mut s.error_re, microphone[2 * i]), (&mut s.error_im, microphone[2 * i + 1])]
            {
                rows[i] = [0.0; LANES];
                let y = rows[n / 2 + i];
                let e = [d - y[0], d - y[1], 0.0, 0.0];
                for l in 0..LANES {
                    energy[l] += e[l] * e[l];
                }
                rows[n / 2 + i] = e;
            }
        }
        [energy[0], energy[1]]
    }

    /// Writes the error of the filter to `residual`.
    pub(super) fn unpack(&self, residual: &mut [f32]) {
        let (n, s) = (self.n, &self.scratch);
        for i in 0..n / 2 {
            residual[2 * i] = s.error_re[n / 2 + i][0];
            residual[2 * i + 1] = s.error_im[n / 2 + i][0];
        }
    }

    /// One update of filter and shadow from the errors in `scratch.error_*`. Leaves the filter's new prediction in
    /// `scratch.echo`. `fresh`: the filter has just taken over the shadow.
    pub(super) fn learn(&mut self, fresh: bool) {
        let (n, bins, slots, head) = (self.n, self.n + 1, self.slots(), self.head);
        let forget = self.forget();
        let (s, b) = (&mut self.scratch, &mut self.bins);
        self.fft.forward(&mut s.error_re, &mut s.error_im, &mut b.e_re, &mut b.e_im);

        let power: f32 = b.power.iter().sum::<f32>() / (bins * self.partitions) as f32;
        self.learned += 1;
        self.long_term += (power - self.long_term) * self.follow.max(1.0 / self.learned as f32);
        let floor = self.long_term * self.partitions as f32;
        for k in 0..bins {
            self.weight[k] += b.power[k];
            let error = b.e_re[k][0] * b.e_re[k][0] + b.e_im[k][0] * b.e_im[k][0];
            // After a change of filter the old error says nothing about the near end.
            let before = if fresh { self.near_end[k].min(error) } else { self.near_end[k] };
            self.near_end[k] = self.smooth * before + (1.0 - self.smooth) * error;
            let delta = KEPT * DELTA * self.long_term * b.doubt[k];
            b.inverse[k] = 1.0 / (KEPT * b.doubt_power[k] + self.near_end[k] + delta + LEAST);
            let step = self.step / (KEPT * b.power[k] + SHADOW_DELTA * floor + LEAST);
            b.e_re[k][0] *= b.inverse[k];
            b.e_im[k][0] *= b.inverse[k];
            b.e_re[k][1] *= step;
            b.e_im[k][1] *= step;
        }

        b.y_re.fill([0.0; LANES]);
        b.y_im.fill([0.0; LANES]);
        for g in 0..self.groups {
            let mask = if g + 1 == self.groups { self.mask } else { [1.0; LANES] };
            for k in 0..bins {
                let row = g * bins + k;
                let xr = *Self::window(&self.x_re, slots, head, g, k);
                let xi = *Self::window(&self.x_im, slots, head, g, k);
                let ([er, fr, ..], [ei, fi, ..]) = (b.e_re[k], b.e_im[k]);
                let inverse = KEPT * b.inverse[k];
                // PERF: rows are copied out and back whole, or the compiler must fear that they overlap.
                let mut doubt = self.doubt[row];
                let (mut gr, mut gi) = ([0.0; LANES], [0.0; LANES]);
                let (mut vr, mut vi) = (self.shadow.re[row], self.shadow.im[row]);
                for l in 0..LANES {
                    gr[l] = doubt[l] * (xr[l] * er + xi[l] * ei);
                    gi[l] = doubt[l] * (xr[l] * ei - xi[l] * er);
                    vr[l] += mask[l] * (xr[l] * fr + xi[l] * fi);
                    vi[l] += mask[l] * (xr[l] * fi - xi[l] * fr);
                    let power = xr[l] * xr[l] + xi[l] * xi[l];
                    let rest = (1.0 - inverse * doubt[l] * power).max(0.0);
                    doubt[l] *= forget * rest;
                }
                self.doubt[row] = doubt;
                (s.gradient.re[k], s.gradient.im[k]) = (gr, gi);
                (self.shadow.re[row], self.shadow.im[row]) = (vr, vi);
            }
            // PERF: the gradients of most partitions stay as they are; what is not causal in them goes when it is
            // their turn and the taps themselves are constrained.
            if (g + self.groups - self.rotation) % self.groups < CONSTRAINED {
                for k in 0..bins {
                    let row = g * bins + k;
                    let (wr, wi) = (self.filter.re[row], self.filter.im[row]);
                    for l in 0..LANES {
                        s.gradient.re[k][l] += wr[l];
                        s.gradient.im[k][l] += wi[l];
                    }
                    self.filter.re[row] = [0.0; LANES];
                    self.filter.im[row] = [0.0; LANES];
                }
                constrain(&self.fft, s);
            }
            for k in 0..bins {
                let row = g * bins + k;
                let xr = *Self::window(&self.x_re, slots, head, g, k);
                let xi = *Self::window(&self.x_im, slots, head, g, k);
                let (mut wr, mut wi) = (self.filter.re[row], self.filter.im[row]);
                let (gr, gi) = (s.gradient.re[k], s.gradient.im[k]);
                let mut doubt = self.doubt[row];
                let (mut yr, mut yi) = ([0.0f32; LANES], [0.0f32; LANES]);
                for l in 0..LANES {
                    wr[l] += gr[l];
                    wi[l] += gi[l];
                    yr[l] = wr[l] * xr[l] - wi[l] * xi[l];
                    yi[l] = wr[l] * xi[l] + wi[l] * xr[l];
                    doubt[l] += (1.0 - forget) * (wr[l] * wr[l] + wi[l] * wi[l]) + LEAST * mask[l];
                }
                (self.filter.re[row], self.filter.im[row]) = (wr, wi);
                self.doubt[row] = doubt;
                b.y_re[k][0] += sum(&yr);
                b.y_im[k][0] += sum(&yi);
            }
        }

        self.rotation = (self.rotation + CONSTRAINED) % self.groups;
        // One partition of the shadow is made causal per block; it need not be exact, only fast. It rides along
        // with the filter's new prediction.
        let (g, l) = (self.turn / LANES, self.turn % LANES);
        self.turn = (self.turn + 1) % self.partitions;
        for k in 0..bins {
            b.y_re[k][1] = self.shadow.re[g * bins + k][l];
            b.y_im[k][1] = self.shadow.im[g * bins + k][l];
        }
        self.fft.inverse(&b.y_re, &b.y_im, &mut s.re, &mut s.im);
        for i in 0..n / 2 {
            s.echo[2 * i] = s.re[n / 2 + i][0];
            s.echo[2 * i + 1] = s.im[n / 2 + i][0];
        }
        s.re[n / 2..].fill([0.0; LANES]);
        s.im[n / 2..].fill([0.0; LANES]);
        self.fft.forward(&mut s.re, &mut s.im, &mut b.y_re, &mut b.y_im);
        for k in 0..bins {
            self.shadow.re[g * bins + k][l] = b.y_re[k][1];
            self.shadow.im[g * bins + k][l] = b.y_im[k][1];
        }
    }
}

/// Keeps of the gradient what is a causal filter of one block.
pub(super) fn constrain(fft: &Fft, s: &mut Scratch) {
    fft.inverse(&s.gradient.re, &s.gradient.im, &mut s.re, &mut s.im);
    let half = s.re.len() / 2;
    s.re[half..].fill([0.0; LANES]);
    s.im[half..].fill([0.0; LANES]);
    fft.forward(&mut s.re, &mut s.im, &mut s.gradient.re, &mut s.gradient.im);
}

#[inline(always)]
fn sum(row: &Row) -> f32 {
    (row[0] + row[2]) + (row[1] + row[3])
}

/// A signal alone in lane 0.
#[inline(always)]
fn lane(v: f32) -> Row {
    [v, 0.0, 0.0, 0.0]
}
