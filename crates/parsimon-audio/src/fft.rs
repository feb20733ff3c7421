//! Real Fourier transforms of several signals in parallel.
//!
//! `L` signals of `2n` real samples are held as rows `[f32; L]`, one row per sample or bin, so that every
//! butterfly applies one operation to neighboring numbers and the compiler vectorizes it without platform-specific
//! code. No operation is fused or chosen at run time: the same input gives the same bits on
//! every platform.
//!
//! Time is *packed*: row `i` of `re` holds sample `2i`, row `i` of `im` sample `2i + 1`. A spectrum is `n + 1`
//! rows, from zero to the Nyquist frequency.

use std::f64::consts::PI;

/// Twiddles of one radix-4 butterfly: `w`, `w^2`, `w^3`, each as (re, im).
type Twiddles = [f32; 6];

/// A plan for signals of `2n` real samples, `n` a power of two.
#[derive(Clone, Debug)]
pub(crate) struct Fft {
    n: usize,
    /// One table per radix-4 stage, largest block first.
    stages: Vec<Vec<Twiddles>>,
    /// The position of frequency `k` in the output of the complex transform.
    place: Vec<usize>,
    /// `exp(-i pi k / n)` for `k` up to `n / 2`.
    split: Vec<(f32, f32)>,
}

impl Fft {
    /// Returns a plan for `2n` real samples.
    pub(crate) fn new(n: usize) -> Self {
        assert!(n >= 2 && n.is_power_of_two(), "a transform needs a power of two, got {n}");
        let mut stages = Vec::new();
        let mut block = n;
        while block >= 4 {
            let root = |j: usize| {
                let angle = -2.0 * PI * j as f64 / block as f64;
                (angle.cos() as f32, angle.sin() as f32)
            };
            let table = |i| {
                let (a, b, c) = (root(i), root(2 * i), root(3 * i));
                [a.0, a.1, b.0, b.1, c.0, c.1]
            };
            stages.push((0..block / 4).map(table).collect());
            block /= 4;
        }
        let mut place = vec![0; n];
        for (position, frequency) in order(n).into_iter().enumerate() {
            place[frequency] = position;
        }
        let split = (0..=n / 2)
            .map(|k| {
                let angle = -PI * k as f64 / n as f64;
                (angle.cos() as f32, angle.sin() as f32)
            })
            .collect();
        Self { n, stages, place, split }
    }

    /// Transforms packed samples (`n` rows, overwritten) to the spectrum (`n + 1` rows).
    pub(crate) fn forward<const L: usize>(
        &self,
        re: &mut [[f32; L]],
        im: &mut [[f32; L]],
        spectrum_re: &mut [[f32; L]],
        spectrum_im: &mut [[f32; L]],
    ) {
        self.decimate(re, im);
        let n = self.n;
        for (k, &(wr, wi)) in self.split.iter().enumerate() {
            let (a, b) = (self.place[k], self.place[(n - k) % n]);
            let (mut ar, mut ai, mut br, mut bi) = (re[a], im[a], re[b], im[b]);
            for l in 0..L {
                let (er, ei) = (0.5 * (ar[l] + br[l]), 0.5 * (ai[l] - bi[l]));
                let (or, oi) = (0.5 * (ai[l] + bi[l]), 0.5 * (br[l] - ar[l]));
                let (tr, ti) = (wr * or - wi * oi, wr * oi + wi * or);
                (ar[l], ai[l]) = (er + tr, ei + ti);
                (br[l], bi[l]) = (er - tr, ti - ei);
            }
            (spectrum_re[k], spectrum_im[k]) = (ar, ai);
            (spectrum_re[n - k], spectrum_im[n - k]) = (br, bi);
        }
    }

    /// Transforms the spectrum (`n + 1` rows) to packed samples (`n` rows); the inverse of [`forward`](Self::forward).
    pub(crate) fn inverse<const L: usize>(
        &self,
        spectrum_re: &[[f32; L]],
        spectrum_im: &[[f32; L]],
        re: &mut [[f32; L]],
        im: &mut [[f32; L]],
    ) {
        let n = self.n;
        let half = 0.5 / n as f32;
        for (k, &(wr, wi)) in self.split.iter().enumerate() {
            let (a, b) = (self.place[k], self.place[(n - k) % n]);
            let (mut ar, mut br) = (spectrum_re[k], spectrum_re[n - k]);
            let (mut ai, mut bi) = (spectrum_im[k], spectrum_im[n - k]);
            for l in 0..L {
                let (er, ei) = (half * (ar[l] + br[l]), half * (ai[l] - bi[l]));
                let (dr, di) = (half * (ar[l] - br[l]), half * (ai[l] + bi[l]));
                let (or, oi) = (wr * dr + wi * di, wr * di - wi * dr);
                (ar[l], ai[l]) = (er - oi, ei + or);
                (br[l], bi[l]) = (er + oi, or - ei);
            }
            // If both are one row, the first assignment must win.
            (re[b], im[b]) = (br, bi);
            (re[a], im[a]) = (ar, ai);
        }
        self.interpolate(re, im);
    }

    /// Complex transform, decimated in frequency: input in natural order, output in the order of `place`.
    fn decimate<const L: usize>(&self, re: &mut [[f32; L]], im: &mut [[f32; L]]) {
        let mut block = self.n;
        for table in &self.stages {
            let quarter = block / 4;
            for (re, im) in re.chunks_exact_mut(block).zip(im.chunks_exact_mut(block)) {
                let ([r0, r1, r2, r3], [i0, i1, i2, i3]) = (quarters(re), quarters(im));
                for i in 0..quarter {
                    let [ur, ui, vr, vi, wr, wi] = table[i];
                    // PERF: whole rows are copied out and back; otherwise the compiler must assume that they overlap.
                    let (mut a, mut b, mut c, mut d) = (r0[i], r1[i], r2[i], r3[i]);
                    let (mut e, mut f, mut g, mut h) = (i0[i], i1[i], i2[i], i3[i]);
                    for l in 0..L {
                        let (ar, ai) = (a[l] + c[l], e[l] + g[l]);
                        let (br, bi) = (a[l] - c[l], e[l] - g[l]);
                        let (cr, ci) = (b[l] + d[l], f[l] + h[l]);
                        let (dr, di) = (f[l] - h[l], d[l] - b[l]);
                        (a[l], e[l]) = (ar + cr, ai + ci);
                        let (sr, si) = (br + dr, bi + di);
                        (b[l], f[l]) = (ur * sr - ui * si, ur * si + ui * sr);
                        let (sr, si) = (ar - cr, ai - ci);
                        (c[l], g[l]) = (vr * sr - vi * si, vr * si + vi * sr);
                        let (sr, si) = (br - dr, bi - di);
                        (d[l], h[l]) = (wr * sr - wi * si, wr * si + wi * sr);
                    }
                    (r0[i], r1[i], r2[i], r3[i]) = (a, b, c, d);
                    (i0[i], i1[i], i2[i], i3[i]) = (e, f, g, h);
                }
            }
            block = quarter;
        }
        if block == 2 {
            pairs(re);
            pairs(im);
        }
    }

    /// Inverse of [`decimate`](Self::decimate), scaled by `n`.
    fn interpolate<const L: usize>(&self, re: &mut [[f32; L]], im: &mut [[f32; L]]) {
        let mut block = self.n >> (2 * self.stages.len());
        if block == 2 {
            pairs(re);
            pairs(im);
        }
        for table in self.stages.iter().rev() {
            let quarter = block;
            block *= 4;
            for (re, im) in re.chunks_exact_mut(block).zip(im.chunks_exact_mut(block)) {
                let ([r0, r1, r2, r3], [i0, i1, i2, i3]) = (quarters(re), quarters(im));
                for i in 0..quarter {
                    let [ur, ui, vr, vi, wr, wi] = table[i];
                    let (mut a, mut b, mut c, mut d) = (r0[i], r1[i], r2[i], r3[i]);
                    let (mut e, mut f, mut g, mut h) = (i0[i], i1[i], i2[i], i3[i]);
                    for l in 0..L {
                        let (pr, pi) = (ur * b[l] + ui * f[l], ur * f[l] - ui * b[l]);
                        let (qr, qi) = (vr * c[l] + vi * g[l], vr * g[l] - vi * c[l]);
                        let (sr, si) = (wr * d[l] + wi * h[l], wr * h[l] - wi * d[l]);
                        let (ar, ai) = (a[l] + qr, e[l] + qi);
                        let (cr, ci) = (a[l] - qr, e[l] - qi);
                        let (br, bi) = (pr + sr, pi + si);
                        let (dr, di) = (si - pi, pr - sr);
                        (a[l], e[l]) = (ar + br, ai + bi);
                        (b[l], f[l]) = (cr + dr, ci + di);
                        (c[l], g[l]) = (ar - br, ai - bi);
                        (d[l], h[l]) = (cr - dr, ci - di);
                    }
                    (r0[i], r1[i], r2[i], r3[i]) = (a, b, c, d);
                    (i0[i], i1[i], i2[i], i3[i]) = (e, f, g, h);
                }
            }
        }
    }
}

fn quarters<T>(rows: &mut [T]) -> [&mut [T]; 4] {
    let quarter = rows.len() / 4;
    let (front, back) = rows.split_at_mut(2 * quarter);
    let (a, b) = front.split_at_mut(quarter);
    let (c, d) = back.split_at_mut(quarter);
    [a, b, c, d]
}

fn pairs<const L: usize>(rows: &mut [[f32; L]]) {
    for pair in rows.chunks_exact_mut(2) {
        let (a, b) = (pair[0], pair[1]);
        pair[0] = std::array::from_fn(|l| a[l] + b[l]);
        pair[1] = std::array::from_fn(|l| a[l] - b[l]);
    }
}

/// Returns the frequency at each position after the decimated transform of `n` points.
fn order(n: usize) -> Vec<usize> {
    match n {
        1 => vec![0],
        2 => vec![0, 1],
        _ => {
            let inner = order(n / 4);
            (0..4).flat_map(|j| inner.iter().map(move |&k| 4 * k + j)).collect()
        }
    }
}

/// A transform of one real signal to `samples.len() / 2 + 1` bins as (re, im).
pub(crate) struct RealFft {
    fft: Fft,
    re: Vec<[f32; 1]>,
    im: Vec<[f32; 1]>,
    pub(crate) spectrum_re: Vec<[f32; 1]>,
    pub(crate) spectrum_im: Vec<[f32; 1]>,
}

impl RealFft {
    /// Returns a transform of `length` samples, a power of two.
    pub(crate) fn new(length: usize) -> Self {
        let n = length / 2;
        Self {
            fft: Fft::new(n),
            re: vec![[0.0]; n],
            im: vec![[0.0]; n],
            spectrum_re: vec![[0.0]; n + 1],
            spectrum_im: vec![[0.0]; n + 1],
        }
    }

    /// Transforms `samples` into the spectrum fields.
    pub(crate) fn forward(&mut self, samples: impl Iterator<Item = f32>) {
        for (i, v) in samples.enumerate().take(2 * self.re.len()) {
            if i % 2 == 0 { self.re[i / 2][0] = v } else { self.im[i / 2][0] = v }
        }
        self.fft.forward(&mut self.re, &mut self.im, &mut self.spectrum_re, &mut self.spectrum_im);
    }
}

#[cfg(test)]
mod tests {
    use parsimon_testing::Lcg32;

    use super::*;

    fn noise(n: usize, seed: u32) -> Vec<f32> {
        let mut random = Lcg32::new(seed);
        (0..n).map(|_| random.bits24() as f32 / 8_388_608.0 - 1.0).collect()
    }

    #[test]
    fn the_spectrum_is_that_of_the_definition() {
        for length in [4, 8, 16, 32, 64, 128, 256, 512] {
            let x = noise(length, 7);
            let mut fft = RealFft::new(length);
            fft.forward(x.iter().copied());
            for k in 0..=length / 2 {
                let (mut re, mut im) = (0.0, 0.0);
                for (i, &v) in x.iter().enumerate() {
                    let angle = -2.0 * PI * (k * i % length) as f64 / length as f64;
                    re += f64::from(v) * angle.cos();
                    im += f64::from(v) * angle.sin();
                }
                let off = (f64::from(fft.spectrum_re[k][0]) - re).abs()
                    + (f64::from(fft.spectrum_im[k][0]) - im).abs();
                assert!(off < 1e-4, "length {length} bin {k}: off by {off}");
            }
            fft.fft.inverse(&fft.spectrum_re, &fft.spectrum_im, &mut fft.re, &mut fft.im);
            let back: Vec<f32> =
                fft.re.iter().zip(&fft.im).flat_map(|(a, b)| [a[0], b[0]]).collect();
            assert!(back.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-5), "length {length}");
        }
    }

    #[test]
    fn lanes_do_not_touch_each_other() {
        let (n, x, y) = (32, noise(64, 1), noise(64, 2));
        let fft = Fft::new(n);
        let rows = |o: usize| (0..n).map(|i| [x[2 * i + o], y[2 * i + o]]).collect::<Vec<_>>();
        let (mut re, mut im) = (rows(0), rows(1));
        let (mut sr, mut si) = (vec![[0.0; 2]; n + 1], vec![[0.0; 2]; n + 1]);
        fft.forward(&mut re, &mut im, &mut sr, &mut si);
        for (lane, signal) in [x, y].into_iter().enumerate() {
            let mut one = RealFft::new(2 * n);
            one.forward(signal.into_iter());
            for k in 0..=n {
                assert_eq!(
                    (sr[k][lane], si[k][lane]),
                    (one.spectrum_re[k][0], one.spectrum_im[k][0])
                );
            }
        }
    }
}
