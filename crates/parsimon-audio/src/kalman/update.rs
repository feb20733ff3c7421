//! One block: prediction, errors, and what filter and shadow learn from them.

use super::{Bins, Kalman, LANES, LEAST, Lanes, Row, Scratch, Taps, WIDTH};
use crate::fft::Fft;
use parsimon_core::wide::{Work, wide};

/// Half of the power of a block of `2n` overlapped samples falls into the `n` that are kept.
const KEPT: f32 = 0.5;
/// The filter's regularization, as a share of the long-term power of the reference in all taps: at first, and once the filter is trusted.
const DELTA: [f32; 2] = [0.01, 0.1];
/// The power of what is not echo counts this many times once the filter is trusted; before, it is mostly echo. The formulas take it for noise that is new in every block; voices
/// resemble each other for a tenth of a second, and disturb the filter more than such noise (record/echo-double-talk.md).
const CAUTION: f32 = 3.0;
/// The shadow's regularization, as a share of that power.
const SHADOW_DELTA: f32 = 0.05;

/// Sums over all partitions, for every row of bins.
struct Predict<'a> {
    most: usize,
    used: usize,
    head: usize,
    x: &'a Taps,
    filter: &'a Taps,
    shadow: &'a Taps,
    earlier: &'a Taps,
    doubt: &'a [Row],
    bins: &'a mut Bins,
}

impl Work for Predict<'_> {
    type Output = ();

    #[inline(always)]
    fn work(self) {
        let b = self.bins;
        for c in 0..b.power.len() {
            let at = c * self.most;
            let own = at..at + self.used;
            let seen = 2 * at + self.head..2 * at + self.head + self.used;
            let x = self.x.re[seen.clone()].iter().zip(&self.x.im[seen]);
            let w = self.filter.re[own.clone()].iter().zip(&self.filter.im[own.clone()]);
            let v = self.shadow.re[own.clone()].iter().zip(&self.shadow.im[own.clone()]);
            let h = self.earlier.re[own.clone()].iter().zip(&self.earlier.im[own.clone()]);
            let zero = [0.0f32; WIDTH];
            let (mut yr, mut yi, mut ur, mut ui) = (zero, zero, zero, zero);
            let (mut sr, mut si) = (zero, zero);
            let (mut doubt_power, mut doubts, mut powers) = (zero, zero, zero);
            let others = v.zip(h).zip(&self.doubt[own]);
            for (((xr, xi), (wr, wi)), (((vr, vi), (hr, hi)), doubt)) in x.zip(w).zip(others) {
                for l in 0..WIDTH {
                    yr[l] += wr[l] * xr[l] - wi[l] * xi[l];
                    yi[l] += wr[l] * xi[l] + wi[l] * xr[l];
                    ur[l] += vr[l] * xr[l] - vi[l] * xi[l];
                    ui[l] += vr[l] * xi[l] + vi[l] * xr[l];
                    sr[l] += hr[l] * xr[l] - hi[l] * xi[l];
                    si[l] += hr[l] * xi[l] + hi[l] * xr[l];
                    let power = xr[l] * xr[l] + xi[l] * xi[l];
                    doubt_power[l] += doubt[l] * power;
                    doubts[l] += doubt[l];
                    powers[l] += power;
                }
            }
            (b.y_re[c], b.y_im[c]) = (yr, yi);
            (b.doubt_power[c], b.doubt[c], b.power[c]) = (doubt_power, doubts, powers);
            let lanes = b.re.iter_mut().zip(&mut b.im).skip(c * WIDTH).take(WIDTH);
            for (l, (re, im)) in lanes.enumerate() {
                *re = [yr[l], ur[l], 0.0, sr[l]];
                *im = [yi[l], ui[l], 0.0, si[l]];
            }
        }
    }
}

/// The update of filter, shadow and doubt by the errors in `bins`, without any constraint.
struct Update<'a> {
    most: usize,
    used: usize,
    head: usize,
    x: &'a Taps,
    filter: &'a mut Taps,
    shadow: &'a mut Taps,
    doubt: &'a mut [Row],
    bins: &'a Bins,
}

impl Work for Update<'_> {
    type Output = ();

    #[inline(always)]
    fn work(self) {
        let b = self.bins;
        for c in 0..b.power.len() {
            let at = c * self.most;
            let own = at..at + self.used;
            let seen = 2 * at + self.head..2 * at + self.head + self.used;
            let x = self.x.re[seen.clone()].iter().zip(&self.x.im[seen]);
            let w = self.filter.re[own.clone()].iter_mut().zip(&mut self.filter.im[own.clone()]);
            let v = self.shadow.re[own.clone()].iter_mut().zip(&mut self.shadow.im[own.clone()]);
            let (er, ei, fr, fi) = (b.e_re[c], b.e_im[c], b.f_re[c], b.f_im[c]);
            let (inverse, forget) = (b.inverse[c].map(|v| KEPT * v), b.forget[c]);
            for ((((xr, xi), w), v), doubts) in x.zip(w).zip(v).zip(&mut self.doubt[own]) {
                // PERF: rows are copied out and back whole, or the compiler must fear that they overlap.
                let (mut wr, mut wi, mut vr, mut vi) = (*w.0, *w.1, *v.0, *v.1);
                let mut doubt = *doubts;
                for l in 0..WIDTH {
                    let (gr, gi) = (xr[l] * er[l] + xi[l] * ei[l], xr[l] * ei[l] - xi[l] * er[l]);
                    wr[l] += doubt[l] * gr;
                    wi[l] += doubt[l] * gi;
                    vr[l] += xr[l] * fr[l] + xi[l] * fi[l];
                    vi[l] += xr[l] * fi[l] - xi[l] * fr[l];
                    let power = xr[l] * xr[l] + xi[l] * xi[l];
                    let rest = (1.0 - inverse[l] * doubt[l] * power).max(0.0);
                    doubt[l] = doubt[l] * (forget[l] * rest)
                        + (1.0 - forget[l]) * (wr[l] * wr[l] + wi[l] * wi[l])
                        + LEAST;
                }
                (*w.0, *w.1, *v.0, *v.1) = (wr, wi, vr, vi);
                *doubts = doubt;
            }
        }
    }
}

impl Kalman {
    /// Processes the newest block of reference.
    pub(super) fn advance(&mut self, reference: &[f32]) {
        let (n, most) = (self.n, self.most);
        let s = &mut self.scratch;
        for i in 0..n / 2 {
            s.re[i] = lane(self.last[2 * i]);
            s.im[i] = lane(self.last[2 * i + 1]);
            s.re[n / 2 + i] = lane(reference[2 * i]);
            s.im[n / 2 + i] = lane(reference[2 * i + 1]);
        }
        self.last.copy_from_slice(reference);
        let b = &mut self.bins;
        self.fft.forward(&mut s.re, &mut s.im, &mut b.re, &mut b.im);
        self.head = (self.head + most - 1) % most;
        for (k, (re, im)) in b.re.iter().zip(&b.im).enumerate() {
            let at = k / WIDTH * 2 * most + self.head;
            for at in [at, at + most] {
                self.x.re[at][k % WIDTH] = re[0];
                self.x.im[at][k % WIDTH] = im[0];
            }
        }
    }

    /// Predictions of filter and shadow, and the sums over partitions that the update needs.
    pub(super) fn predict(&mut self) {
        wide(Predict {
            most: self.most,
            used: self.partitions,
            head: self.head,
            x: &self.x,
            filter: &self.filter,
            shadow: &self.shadow,
            earlier: &self.earlier,
            doubt: &self.doubt,
            bins: &mut self.bins,
        });
    }

    /// Errors of filter and shadow and the filter's prediction, packed in `scratch.error_*`, behind a block of zeros as
    /// their transform wants them; returns the energies of the errors.
    pub(super) fn errors(&mut self, microphone: &[f32]) -> [f32; 2] {
        let (n, s) = (self.n, &mut self.scratch);
        self.fft.inverse(&self.bins.re, &self.bins.im, &mut s.error_re, &mut s.error_im);
        let mut energy = [0.0f32; LANES];
        for i in 0..n / 2 {
            for (rows, d) in
                [(&mut s.error_re, microphone[2 * i]), (&mut s.error_im, microphone[2 * i + 1])]
            {
                rows[i] = [0.0; LANES];
                let y = rows[n / 2 + i];
                let e = [d - y[0], d - y[1], y[0], d - y[3]];
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
        let (n, most) = (self.n, self.most);
        let (s, b) = (&mut self.scratch, &mut self.bins);
        self.fft.forward(&mut s.error_re, &mut s.error_im, &mut b.re, &mut b.im);

        let power: f32 =
            b.power.as_flattened().iter().sum::<f32>() / ((n + 1) * self.partitions) as f32;
        self.learned += 1;
        self.long_term += (power - self.long_term) * self.follow.max(1.0 / self.learned as f32);
        let floor = self.long_term * self.partitions as f32;
        let follow = self.follow.max(1.0 / self.learned as f32);
        self.mismatch.observe(&b.re, &b.im, &self.near_end, follow);
        let renew = self.evidence.observe(&b.re, &b.im, &self.mismatch.weights);
        let forget = self.forget();
        let trust = self.mismatch.trust();
        let regularized = DELTA[0] + trust * (DELTA[1] - DELTA[0]);
        let tolerated = self.tolerance() * self.mismatch.usual_left();
        let (s, b) = (&mut self.scratch, &mut self.bins);
        for (k, (re, im)) in b.re.iter().zip(&b.im).enumerate() {
            let (c, l) = (k / WIDTH, k % WIDTH);
            self.weight[c][l] += b.power[c][l];
            let error = re[0] * re[0] + im[0] * im[0];
            // After a change of filter the old error says nothing about the near end.
            let before = if fresh { self.near_end[c][l].min(error) } else { self.near_end[c][l] };
            self.near_end[c][l] = self.smooth * before + (1.0 - self.smooth) * error;
            let predicted = re[2] * re[2] + im[2] * im[2];
            self.echo_power[c][l] =
                self.smooth * self.echo_power[c][l] + (1.0 - self.smooth) * predicted;
            let share = tolerated * self.echo_power[c][l] / (self.near_end[c][l] + LEAST);
            b.forget[c][l] = 1.0 - (1.0 - forget) * share.min(1.0);
            let delta = KEPT * regularized * self.long_term * b.doubt[c][l];
            // A word begins within a block, before the smoothed power knows of it.
            let begun = trust * (error - self.near_end[c][l]).max(0.0);
            let near_end = (1.0 + trust * (CAUTION - 1.0)) * (self.near_end[c][l] + begun);
            let inverse = 1.0 / (KEPT * b.doubt_power[c][l] + near_end + delta + LEAST);
            let step = self.step / (KEPT * b.power[c][l] + SHADOW_DELTA * floor + LEAST);
            b.inverse[c][l] = inverse;
            (b.e_re[c][l], b.e_im[c][l]) = (inverse * re[0], inverse * im[0]);
            (b.f_re[c][l], b.f_im[c][l]) = (step * re[1], step * im[1]);
        }

        wide(Update {
            most,
            used: self.partitions,
            head: self.head,
            x: &self.x,
            filter: &mut self.filter,
            shadow: &mut self.shadow,
            doubt: &mut self.doubt,
            bins: b,
        });
        // PERF: what the update adds to the prediction is `E / D` times the sum of `P |X|^2`, which is known.
        for c in 0..self.rows {
            for l in 0..WIDTH {
                b.y_re[c][l] += b.e_re[c][l] * b.doubt_power[c][l];
                b.y_im[c][l] += b.e_im[c][l] * b.doubt_power[c][l];
            }
        }

        // PERF: the gradients of most partitions stay as they are; what is not causal in them goes when it is their turn
        // and the taps themselves are constrained.
        let first = self.rotation * LANES;
        self.rotation = (self.rotation + 1) % self.partitions.div_ceil(LANES);
        let end = (first + LANES).min(self.partitions);
        Self::gather(s, &self.filter, most, first, end);
        constrain(&self.fft, s);
        for (k, (re, im)) in s.part_re.iter().zip(&s.part_im).enumerate() {
            let (c, l) = (k / WIDTH, k % WIDTH);
            for p in first..end {
                let (at, seen) = (c * most + p, 2 * c * most + self.head + p);
                let (wr, wi) = (re[p - first], im[p - first]);
                let (was_re, was_im) = (self.filter.re[at][l], self.filter.im[at][l]);
                let (dr, di) = (wr - was_re, wi - was_im);
                let (xr, xi) = (self.x.re[seen][l], self.x.im[seen][l]);
                b.y_re[c][l] += dr * xr - di * xi;
                b.y_im[c][l] += dr * xi + di * xr;
                let grown = wr * wr + wi * wi - was_re * was_re - was_im * was_im;
                self.doubt[at][l] = (self.doubt[at][l] + (1.0 - b.forget[c][l]) * grown).max(LEAST);
                (self.filter.re[at][l], self.filter.im[at][l]) = (wr, wi);
            }
        }

        if renew {
            self.earlier.copy_from(&self.filter);
        }

        self.predict_and_constrain_shadow();
    }

    /// Writes the filter's new prediction to `scratch.echo`. One partition of the shadow is made causal in the same transforms; it
    /// need not be exact, only fast.
    fn predict_and_constrain_shadow(&mut self) {
        let (n, most, turn) = (self.n, self.most, self.turn);
        self.turn = (turn + 1) % self.partitions;
        let (s, b) = (&mut self.scratch, &mut self.bins);
        for k in 0..=n {
            let (c, l) = (k / WIDTH, k % WIDTH);
            b.re[k] = [b.y_re[c][l], self.shadow.re[c * most + turn][l], 0.0, 0.0];
            b.im[k] = [b.y_im[c][l], self.shadow.im[c * most + turn][l], 0.0, 0.0];
        }
        self.fft.inverse(&b.re, &b.im, &mut s.re, &mut s.im);
        for i in 0..n / 2 {
            s.echo[2 * i] = s.re[n / 2 + i][0];
            s.echo[2 * i + 1] = s.im[n / 2 + i][0];
        }
        s.re[n / 2..].fill([0.0; LANES]);
        s.im[n / 2..].fill([0.0; LANES]);
        self.fft.forward(&mut s.re, &mut s.im, &mut b.re, &mut b.im);
        for k in 0..=n {
            self.shadow.re[k / WIDTH * most + turn][k % WIDTH] = b.re[k][1];
            self.shadow.im[k / WIDTH * most + turn][k % WIDTH] = b.im[k][1];
        }
    }
}

/// Keeps of `scratch.part_*` what are causal filters of one block.
pub(super) fn constrain(fft: &Fft, s: &mut Scratch) {
    fft.inverse(&s.part_re, &s.part_im, &mut s.re, &mut s.im);
    let half = s.re.len() / 2;
    s.re[half..].fill([0.0; LANES]);
    s.im[half..].fill([0.0; LANES]);
    fft.forward(&mut s.re, &mut s.im, &mut s.part_re, &mut s.part_im);
}

/// A signal alone in lane 0.
#[inline(always)]
fn lane(v: f32) -> Lanes {
    [v, 0.0, 0.0, 0.0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Adaptive, Config, Learning};

    fn wave(i: usize) -> f32 {
        (i as f32 * 0.37).sin() * (i as f32 * 0.011).cos()
    }

    #[test]
    fn narrow_registers_give_the_same_bits() {
        let config = Config { taps: 1000, ..Config::default() };
        let n = config.block();
        let mut wide = Kalman::new(&config).expect("the settings are right");
        let mut residual = vec![0.0; n];
        for block in 0..40 {
            let x: Vec<f32> = (block * n..(block + 1) * n).map(wave).collect();
            let d: Vec<f32> = x.iter().map(|v| 0.4 * v + 0.01).collect();
            wide.cancel(&x, &d, Learning::Adapt, &mut residual);
        }
        let mut narrow = wide.clone();
        wide.predict();
        narrow_predict(&mut narrow);
        let bits = |rows: &[Row]| -> Vec<u32> {
            rows.as_flattened().iter().map(|v| v.to_bits()).collect()
        };
        for rows in [
            |k: &Kalman| k.bins.y_re.clone(),
            |k: &Kalman| k.bins.doubt_power.clone(),
            |k: &Kalman| k.bins.power.clone(),
        ] {
            assert_eq!(bits(&rows(&wide)), bits(&rows(&narrow)));
        }
        update(&mut wide, true);
        update(&mut narrow, false);
        for rows in [
            |k: &Kalman| k.filter.re.clone(),
            |k: &Kalman| k.shadow.im.clone(),
            |k: &Kalman| k.doubt.clone(),
        ] {
            assert_eq!(bits(&rows(&wide)), bits(&rows(&narrow)));
        }
    }

    fn narrow_predict(k: &mut Kalman) {
        Predict {
            most: k.most,
            used: k.partitions,
            head: k.head,
            x: &k.x,
            filter: &k.filter,
            shadow: &k.shadow,
            earlier: &k.earlier,
            doubt: &k.doubt,
            bins: &mut k.bins,
        }
        .work();
    }

    fn update(k: &mut Kalman, is_wide: bool) {
        let work = Update {
            most: k.most,
            used: k.partitions,
            head: k.head,
            x: &k.x,
            filter: &mut k.filter,
            shadow: &mut k.shadow,
            doubt: &mut k.doubt,
            bins: &k.bins,
        };
        if is_wide { wide(work) } else { work.work() }
    }
}
