//! Normalized LMS in the frequency domain, in partitions of one block.
//!
//! The path is cut into partitions of `n` samples. With `X[p,k]` the spectra of the last blocks of reference (two blocks each,
//! overlap-save), `E[k]` that of the error behind a block of zeros, a block does
//!
//! ```text
//! W[p,k] += constrain(mu conj(X[p,k]) E[k] / (sum_p |X[p,k]|^2 / 2 + delta))
//! ```
//!
//! where `constrain` keeps what is a causal filter of one block (J. J. Shynk, IEEE Signal Processing Magazine 9, 1992). A sample costs
//! `O(taps/n log n)` instead of `O(taps)`. Every bin has a step of its own, so a colored reference slows it down less than NLMS.

use crate::AudioError;
use crate::adaptive::{Adaptive, Learning};
use crate::fft::Fft;
use crate::state::{Reader, Writer, state};

/// Half of the power of two overlapped blocks falls into the one that is kept.
const KEPT: f32 = 0.5;
/// Blocks over which the usual power of the reference is averaged.
const USUAL: f32 = 256.0;
const LEAST: f32 = 1e-20;
/// Longest path, and largest block.
const MOST_TAPS: usize = 1 << 20;
const MOST_BLOCK: usize = 1 << 14;

type Bin = [f32; 1];

/// A spectrum of every partition, one after the other.
#[derive(Clone, Debug)]
struct Spectra {
    re: Vec<Bin>,
    im: Vec<Bin>,
}

impl Spectra {
    fn zeros(n: usize) -> Self {
        Self { re: vec![[0.0]; n], im: vec![[0.0]; n] }
    }

    fn clear(&mut self) {
        self.re.fill([0.0]);
        self.im.fill([0.0]);
    }
}

/// The filter of the module page. As an [`Adaptive`] it takes the place of [`Kalman`](crate::Kalman); [`run`](Self::run) uses it alone.
///
/// ```
/// use parsimon_audio::BlockNlms;
///
/// let mut filter = BlockNlms::new(64, 256, 0.5, 0.01)?;
/// let mut noise = 1u32;
/// let mut residual = vec![0.0; 64];
/// for _ in 0..2000 {
///     let x: Vec<f32> = (0..64)
///         .map(|_| {
///             noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
///             (noise >> 8) as f32 / 16_777_216.0 - 0.5
///         })
///         .collect();
///     let d: Vec<f32> = x.iter().map(|v| 0.5 * v).collect();
///     filter.run(&x, &d, true, &mut residual);
/// }
/// assert!((filter.path()[0] - 0.5).abs() < 1e-3 && filter.path()[1].abs() < 1e-3);
/// # Ok::<(), parsimon_audio::AudioError>(())
/// ```
#[derive(Clone, Debug)]
pub struct BlockNlms {
    n: usize,
    partitions: usize,
    step: f32,
    share: f32,
    fft: Fft,
    x: Spectra,
    /// The partition of `x` that holds the newest block.
    newest: usize,
    last: Vec<f32>,
    filter: Spectra,
    kept: Spectra,
    /// The usual mean of `sum_p |X|^2` over the bins, and blocks that it was taken over.
    usual: f32,
    heard: u64,
    // Room for work.
    power: Vec<f32>,
    sum: Spectra,
    part: Spectra,
    time: Spectra,
}

impl BlockNlms {
    /// Returns a filter at rest. `block` is a power of two; the path has `taps` samples, rounded up to blocks; `step` is
    /// inside (0, 2), and `regularization` a share of the usual power of the reference.
    pub fn new(
        block: usize,
        taps: usize,
        step: f32,
        regularization: f32,
    ) -> Result<Self, AudioError> {
        let refuse = |message: String| Err(AudioError::Setting(message));
        if !(block.is_power_of_two() && (4..=MOST_BLOCK).contains(&block)) {
            return refuse(format!(
                "block must be a power of two between 4 and {MOST_BLOCK}, got {block}"
            ));
        }
        if !(1..=MOST_TAPS).contains(&taps) {
            return refuse(format!("taps must be between 1 and {MOST_TAPS}, got {taps}"));
        }
        if !(step > 0.0 && step < 2.0) {
            return refuse(format!("step must be between 0 and 2, both excluded, got {step}"));
        }
        if !(regularization >= 0.0 && regularization.is_finite()) {
            return refuse(format!(
                "regularization must be a finite number >= 0, got {regularization}"
            ));
        }
        let (partitions, bins) = (taps.div_ceil(block), block + 1);
        Ok(Self {
            n: block,
            partitions,
            step,
            share: regularization,
            fft: Fft::new(block),
            x: Spectra::zeros(partitions * bins),
            newest: 0,
            last: vec![0.0; block],
            filter: Spectra::zeros(partitions * bins),
            kept: Spectra::zeros(partitions * bins),
            usual: 0.0,
            heard: 0,
            power: vec![0.0; bins],
            sum: Spectra::zeros(bins),
            part: Spectra::zeros(bins),
            time: Spectra::zeros(block),
        })
    }

    /// Returns the block length.
    pub fn block(&self) -> usize {
        self.n
    }

    /// Writes `observed` minus its prediction from `reference` to `residual`, and learns from it if `learns`. All have the length of a block.
    ///
    /// # Panics
    ///
    /// If one of them has another length.
    pub fn run(&mut self, reference: &[f32], observed: &[f32], learns: bool, residual: &mut [f32]) {
        let (n, bins) = (self.n, self.n + 1);
        assert!(
            reference.len() == n && observed.len() == n && residual.len() == n,
            "a block has {n} samples"
        );
        self.newest = (self.newest + self.partitions - 1) % self.partitions;
        let t = &mut self.time;
        for i in 0..n / 2 {
            (t.re[i], t.im[i]) = ([self.last[2 * i]], [self.last[2 * i + 1]]);
            (t.re[n / 2 + i], t.im[n / 2 + i]) = ([reference[2 * i]], [reference[2 * i + 1]]);
        }
        self.last.copy_from_slice(reference);
        let at = self.newest * bins;
        let (re, im) = (&mut self.x.re[at..at + bins], &mut self.x.im[at..at + bins]);
        self.fft.forward(&mut t.re, &mut t.im, re, im);

        self.sum.clear();
        self.power.fill(0.0);
        for p in 0..self.partitions {
            let seen = (self.newest + p) % self.partitions * bins;
            let own = p * bins;
            for k in 0..bins {
                let ([xr], [xi]) = (self.x.re[seen + k], self.x.im[seen + k]);
                let ([wr], [wi]) = (self.filter.re[own + k], self.filter.im[own + k]);
                self.sum.re[k][0] += wr * xr - wi * xi;
                self.sum.im[k][0] += wr * xi + wi * xr;
                self.power[k] += xr * xr + xi * xi;
            }
        }
        let t = &mut self.time;
        self.fft.inverse(&self.sum.re, &self.sum.im, &mut t.re, &mut t.im);
        for i in 0..n / 2 {
            residual[2 * i] = observed[2 * i] - t.re[n / 2 + i][0];
            residual[2 * i + 1] = observed[2 * i + 1] - t.im[n / 2 + i][0];
        }
        if learns && residual.iter().all(|v| v.is_finite()) {
            self.learn(residual);
        }
    }

    fn learn(&mut self, residual: &[f32]) {
        let (n, bins) = (self.n, self.n + 1);
        let mean = self.power.iter().sum::<f32>() / bins as f32;
        self.heard += 1;
        self.usual += (mean - self.usual) * (1.0 / USUAL).max(1.0 / self.heard as f32);
        let t = &mut self.time;
        for i in 0..n / 2 {
            (t.re[i], t.im[i]) = ([0.0], [0.0]);
            (t.re[n / 2 + i], t.im[n / 2 + i]) = ([residual[2 * i]], [residual[2 * i + 1]]);
        }
        self.fft.forward(&mut t.re, &mut t.im, &mut self.sum.re, &mut self.sum.im);
        for k in 0..bins {
            let step = self.step / (KEPT * self.power[k] + self.share * self.usual + LEAST);
            self.sum.re[k][0] *= step;
            self.sum.im[k][0] *= step;
        }
        for p in 0..self.partitions {
            let seen = (self.newest + p) % self.partitions * bins;
            for k in 0..bins {
                let ([xr], [xi]) = (self.x.re[seen + k], self.x.im[seen + k]);
                let ([er], [ei]) = (self.sum.re[k], self.sum.im[k]);
                self.part.re[k] = [xr * er + xi * ei];
                self.part.im[k] = [xr * ei - xi * er];
            }
            let (part, t) = (&mut self.part, &mut self.time);
            self.fft.inverse(&part.re, &part.im, &mut t.re, &mut t.im);
            t.re[n / 2..].fill([0.0]);
            t.im[n / 2..].fill([0.0]);
            self.fft.forward(&mut t.re, &mut t.im, &mut part.re, &mut part.im);
            for k in 0..bins {
                self.filter.re[p * bins + k][0] += part.re[k][0];
                self.filter.im[p * bins + k][0] += part.im[k][0];
            }
        }
    }

    /// Returns the coefficients, the first for zero delay.
    pub fn path(&self) -> Vec<f32> {
        let (n, bins) = (self.n, self.n + 1);
        let mut time = self.time.clone();
        let mut path = Vec::with_capacity(self.partitions * n);
        for p in 0..self.partitions {
            let own = p * bins..(p + 1) * bins;
            let (re, im) = (&self.filter.re[own.clone()], &self.filter.im[own]);
            self.fft.inverse(re, im, &mut time.re, &mut time.im);
            path.extend((0..n / 2).flat_map(|i| [time.re[i][0], time.im[i][0]]));
        }
        path
    }
}

impl Adaptive for BlockNlms {
    fn name(&self) -> &'static str {
        "fdnlms"
    }

    fn taps(&self) -> usize {
        self.partitions * self.n
    }

    fn cancel(
        &mut self,
        reference: &[f32],
        microphone: &[f32],
        learning: Learning,
        residual: &mut [f32],
    ) {
        self.run(reference, microphone, learning == Learning::Adapt, residual);
    }

    fn keep(&mut self) {
        self.kept.re.copy_from_slice(&self.filter.re);
        self.kept.im.copy_from_slice(&self.filter.im);
    }

    fn fall_back(&mut self) {
        self.filter.re.copy_from_slice(&self.kept.re);
        self.filter.im.copy_from_slice(&self.kept.im);
    }

    fn clear(&mut self) {
        [&mut self.x, &mut self.filter, &mut self.kept].into_iter().for_each(Spectra::clear);
        self.last.fill(0.0);
        (self.usual, self.heard) = (0.0, 0);
    }

    fn echo_path(&self) -> Vec<f32> {
        self.path()
    }

    fn save(&self, to: &mut Writer) {
        for spectra in [&self.x, &self.filter, &self.kept] {
            to.numbers(spectra.re.as_flattened());
            to.numbers(spectra.im.as_flattened());
        }
        to.numbers(&self.last);
        to.number(self.usual);
        to.count(self.heard);
        to.count(self.newest as u64);
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), AudioError> {
        for spectra in [&mut self.x, &mut self.filter, &mut self.kept] {
            from.numbers(spectra.re.as_flattened_mut())?;
            from.numbers(spectra.im.as_flattened_mut())?;
        }
        from.numbers(&mut self.last)?;
        (self.usual, self.heard) = (from.number()?, from.count()?);
        let newest = from.count()?;
        if newest >= self.partitions as u64 {
            return Err(state("a position is outside of its ring"));
        }
        self.newest = newest as usize;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(n: usize, mut seed: u32) -> Vec<f32> {
        let next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) as f32 / 16_777_216.0 - 0.5
        };
        std::iter::repeat_with(next).take(n).collect()
    }

    fn convolve(x: &[f32], h: &[f32]) -> Vec<f32> {
        let at = |t: usize| h.iter().take(t + 1).enumerate().map(|(i, w)| w * x[t - i]).sum();
        (0..x.len()).map(at).collect()
    }

    fn energy(v: &[f32]) -> f32 {
        v.iter().map(|v| v * v).sum()
    }

    fn run(filter: &mut BlockNlms, x: &[f32], d: &[f32], learns: bool) -> Vec<f32> {
        let n = filter.block();
        let mut out = vec![0.0; x.len()];
        let blocks = x.chunks_exact(n).zip(d.chunks_exact(n)).zip(out.chunks_exact_mut(n));
        blocks.for_each(|((x, d), e)| filter.run(x, d, learns, e));
        out
    }

    #[test]
    fn the_residual_is_that_of_the_path_and_the_path_is_found() {
        for (block, taps) in [(4, 4), (16, 100), (64, 64), (128, 200)] {
            let h = noise(taps, 7);
            let x = noise(256 * 200, 1);
            let d = convolve(&x, &h);
            let mut filter = BlockNlms::new(block, taps, 0.5, 1e-3).expect("right settings");
            let learned = run(&mut filter, &x, &d, true);
            let end = x.len() / 2..;
            let left = energy(&learned[end.clone()]) / energy(&d[end]);
            assert!(left < 1e-5, "block {block}: {left}");
            let path = filter.path();
            assert!(path.len() >= taps && path.len() < taps + block);
            let off: f32 = path.iter().zip(&h).map(|(a, b)| (a - b) * (a - b)).sum();
            assert!(off < 1e-5 * energy(&h), "block {block}: {off}");
            // A fixed filter is its path, in the time domain.
            let mut fixed = filter.clone();
            let (x, d) = (noise(block * 40, 3), noise(block * 40, 5));
            let found = run(&mut fixed, &x, &d, false);
            let late = convolve(&x, &path);
            let start = filter.taps() + block;
            for t in start..x.len() {
                assert!((found[t] - (d[t] - late[t])).abs() < 1e-4, "block {block}, sample {t}");
            }
        }
    }

    #[test]
    fn a_restored_filter_continues_with_the_same_bits() {
        let (x, d) = (noise(64 * 40, 1), noise(64 * 40, 2));
        let mut one = BlockNlms::new(64, 300, 0.5, 0.01).expect("right settings");
        run(&mut one, &x, &d, true);
        let mut to = Writer::new();
        one.save(&mut to);
        let bytes = to.finish();
        let mut other = BlockNlms::new(64, 300, 0.5, 0.01).expect("right settings");
        other.restore(&mut Reader::new(&bytes).expect("valid")).expect("the same settings");
        assert!(run(&mut one, &x, &d, true) == run(&mut other, &x, &d, true));
    }

    #[test]
    fn impossible_settings_are_refused() {
        for (block, taps, step, share) in [
            (48, 10, 0.5, 0.0),
            (2, 10, 0.5, 0.0),
            (64, 0, 0.5, 0.0),
            (64, 10, 2.0, 0.0),
            (64, 10, f32::NAN, 0.0),
            (64, 10, 0.5, -1.0),
        ] {
            assert!(BlockNlms::new(block, taps, step, share).is_err());
        }
    }
}
