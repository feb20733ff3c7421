//! The partitioned frequency-domain Kalman filter with a fast shadow.
//!
//! The echo path is cut into partitions of one block; each bin `k` of each partition `p` is a state
//! `W[p,k]` with the error variance `P[p,k]`. With `X[p,k]` the spectra of the last blocks of reference, `E[k]` that
//! of the prediction error and `S[k]` the smoothed power of `E` (everything that is not echo, in the filter's
//! eyes), a block does
//!
//! ```text
//! D[k]   = sum_p P[p,k] |X[p,k]|^2 / 2 + S[k] + delta
//! W[p,k] += constrain(P[p,k] conj(X[p,k]) E[k] / D[k])
//! P[p,k] = a^2 (1 - P[p,k] |X[p,k]|^2 / (2 D[k])) P[p,k] + (1 - a^2) |W[p,k]|^2
//! ```
//!
//! (Enzner and Vary, Signal Processing 86, 2006; Kuech, Mabande and Enzner, ICASSP 2014). The step of a bin is the share
//! of its error that is believed to be echo, so double talk slows it down by itself. `constrain` keeps the part
//! of the gradient that is a causal filter of one block. The residual is taken after the update.
//!
//! The same belief makes the filter deaf to a sudden change of the path: the error grows, is taken for near-end
//! speech, and nothing moves. Therefore a second filter, the *shadow*, runs beside it: normalized LMS in the same
//! partitions, fast and naive, its gradient constrained for one partition per block. Where its error stays
//! clearly below the first one's, the filter takes over its taps and as much doubt as the two differed by;
//! where it stays clearly above, as in double talk, the shadow starts again from the filter (the idea is
//! that of Ochiai, Araseki and Ogihara 1977, and of the two-path canceller in Speex).
//!
//! It assumes samples of full scale 1 and an echo not much louder than the reference, in one place: the first
//! doubt `P = 1`. What is off by more is found by the shadow first. Nothing else knows a scale: the
//! regularization `delta` follows the long-term power of the reference.

use crate::adaptive::{Adaptive, Learning};
use crate::fft::Fft;
use crate::state::{Reader, Writer, state};
use crate::{AudioError, Config};

/// Partitions are computed this many at a time, and so are the one or two signals that are transformed alone: four
/// fill the registers of every machine, and more spill out of them.
const LANES: usize = 4;
type Row = [f32; LANES];

/// Half of the power of a block of `2n` overlapped samples falls into the `n` that are kept.
const KEPT: f32 = 0.5;
/// The filter's regularization, as a share of the long-term power of the reference in all taps.
const DELTA: f32 = 0.01;
/// The same for the shadow.
const SHADOW_DELTA: f32 = 0.05;
/// Seconds over which the power of what is not echo is smoothed; short, for near-end speech begins suddenly.
const NEAR_END_SECONDS: f32 = 0.0112;
/// Seconds over which the two errors are compared.
const COMPARISON_SECONDS: f32 = 0.1;
/// Seconds of the long-term power of the reference.
const POWER_SECONDS: f32 = 4.0;
/// The shadow takes the lead below this share of the filter's error energy...
const TAKE_OVER: f32 = 0.4;
/// ...and is sent back above this multiple of it.
const SEND_BACK: f32 = 2.0;
/// A doubt that never quite dies: keeps states away from subnormal numbers, which are slow.
const LEAST: f32 = 1e-20;

/// A spectrum of every partition: for each group of lanes, one row per bin.
#[derive(Clone, Debug)]
struct Taps {
    re: Vec<Row>,
    im: Vec<Row>,
}

impl Taps {
    fn zeros(rows: usize) -> Self {
        Self { re: vec![[0.0; LANES]; rows], im: vec![[0.0; LANES]; rows] }
    }

    fn copy_from(&mut self, other: &Taps) {
        self.re.copy_from_slice(&other.re);
        self.im.copy_from_slice(&other.im);
    }
}

/// What is known per bin. Lane 0 belongs to the filter, lane 1 to the shadow, the others are idle.
#[derive(Clone, Debug)]
struct Bins {
    /// Predicted echo.
    y_re: Vec<Row>,
    y_im: Vec<Row>,
    /// Errors.
    e_re: Vec<Row>,
    e_im: Vec<Row>,
    /// `sum_p P |X|^2`, `sum_p P`, `sum_p |X|^2`.
    doubt_power: Vec<f32>,
    doubt: Vec<f32>,
    power: Vec<f32>,
    /// `1 / D`.
    inverse: Vec<f32>,
}

/// Room for work.
#[derive(Clone, Debug)]
struct Scratch {
    /// Of one group of partitions.
    gradient: Taps,
    /// Packed samples on their way between time and frequency.
    re: Vec<Row>,
    im: Vec<Row>,
    /// The errors, packed, in the lanes of [`Bins`].
    error_re: Vec<Row>,
    error_im: Vec<Row>,
    /// The echo that the filter predicts after the update.
    echo: Vec<f32>,
}

/// The filter of the module page. Handed to [`Canceller`](crate::Canceller) by default.
#[derive(Clone, Debug)]
pub struct Kalman {
    n: usize,
    partitions: usize,
    groups: usize,
    step: f32,
    forget: f32,
    smooth: f32,
    compare: f32,
    follow: f32,
    fft: Fft,
    /// 1 for the lanes of the last group that are partitions, 0 for the rest.
    mask: Row,

    // What the next block depends on.
    filter: Taps,
    doubt: Vec<Row>,
    shadow: Taps,
    kept: Taps,
    /// Spectra of the reference, twice side by side for each bin, so that a window of them is one slice.
    x_re: Vec<f32>,
    x_im: Vec<f32>,
    head: usize,
    last: Vec<f32>,
    near_end: Vec<f32>,
    long_term: f32,
    learned: u64,
    turn: usize,
    filter_energy: f32,
    shadow_energy: f32,
    takeovers: u64,

    bins: Bins,
    scratch: Scratch,
}

impl Kalman {
    /// The filter for a checked configuration.
    pub fn new(config: &Config) -> Result<Self, AudioError> {
        config.check()?;
        let n = config.block();
        let partitions = config.taps.div_ceil(n);
        let groups = partitions.div_ceil(LANES);
        let rows = groups * (n + 1);
        let slots = groups * LANES;
        let decay =
            |seconds: f32| (-(n as f64) / f64::from(config.rate) / f64::from(seconds)).exp() as f32;
        let full = partitions - (groups - 1) * LANES;
        let mut kalman = Self {
            n,
            partitions,
            groups,
            step: config.step,
            forget: decay(config.memory).powi(2),
            smooth: decay(NEAR_END_SECONDS),
            compare: decay(COMPARISON_SECONDS),
            follow: 1.0 - decay(POWER_SECONDS),
            fft: Fft::new(n),
            mask: std::array::from_fn(|l| if l < full { 1.0 } else { 0.0 }),
            filter: Taps::zeros(rows),
            doubt: vec![[0.0; LANES]; rows],
            shadow: Taps::zeros(rows),
            kept: Taps::zeros(rows),
            x_re: vec![0.0; (n + 1) * 2 * slots],
            x_im: vec![0.0; (n + 1) * 2 * slots],
            head: 0,
            last: vec![0.0; n],
            near_end: vec![0.0; n + 1],
            long_term: 0.0,
            learned: 0,
            turn: 0,
            filter_energy: 0.0,
            shadow_energy: 0.0,
            takeovers: 0,
            bins: Bins {
                y_re: vec![[0.0; LANES]; n + 1],
                y_im: vec![[0.0; LANES]; n + 1],
                e_re: vec![[0.0; LANES]; n + 1],
                e_im: vec![[0.0; LANES]; n + 1],
                doubt_power: vec![0.0; n + 1],
                doubt: vec![0.0; n + 1],
                power: vec![0.0; n + 1],
                inverse: vec![0.0; n + 1],
            },
            scratch: Scratch {
                gradient: Taps::zeros(n + 1),
                re: vec![[0.0; LANES]; n],
                im: vec![[0.0; LANES]; n],
                error_re: vec![[0.0; LANES]; n],
                error_im: vec![[0.0; LANES]; n],
                echo: vec![0.0; n],
            },
        };
        kalman.doubt_everything();
        Ok(kalman)
    }

    fn doubt_everything(&mut self) {
        let bins = self.n + 1;
        for (row, doubt) in self.doubt.iter_mut().enumerate() {
            *doubt = if row / bins + 1 == self.groups { self.mask } else { [1.0; LANES] };
        }
    }

    fn slots(&self) -> usize {
        self.groups * LANES
    }

    /// What a group `g` of partitions sees in bin `k`: a part of the ring `x` of real or imaginary spectra.
    #[inline(always)]
    fn window(x: &[f32], slots: usize, head: usize, g: usize, k: usize) -> &Row {
        let at = k * 2 * slots + head + g * LANES;
        x[at..at + LANES].try_into().expect("a slice of LANES numbers")
    }

    /// Takes in the newest block of reference.
    fn advance(&mut self, reference: &[f32]) {
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
    fn predict(&mut self) {
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
    fn errors(&mut self, microphone: &[f32]) -> [f32; 2] {
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
    fn unpack(&self, residual: &mut [f32]) {
        let (n, s) = (self.n, &self.scratch);
        for i in 0..n / 2 {
            residual[2 * i] = s.error_re[n / 2 + i][0];
            residual[2 * i + 1] = s.error_im[n / 2 + i][0];
        }
    }

    /// Compares the smoothed errors; true where the filter took over the shadow.
    fn compare(&mut self, energy: [f32; 2]) -> bool {
        let c = self.compare;
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

    /// The shadow, made causal, becomes the filter; the doubt is at least what the two differ by.
    fn take_over(&mut self) {
        let bins = self.n + 1;
        for g in 0..self.groups {
            let rows = g * bins..(g + 1) * bins;
            let gradient = &mut self.scratch.gradient;
            gradient.re.copy_from_slice(&self.shadow.re[rows.clone()]);
            gradient.im.copy_from_slice(&self.shadow.im[rows.clone()]);
            constrain(&self.fft, &mut self.scratch);
            for (k, row) in rows.enumerate() {
                let (vr, vi) = (self.scratch.gradient.re[k], self.scratch.gradient.im[k]);
                for l in 0..LANES {
                    let dr = self.shadow.re[row][l] - self.filter.re[row][l];
                    let di = self.shadow.im[row][l] - self.filter.im[row][l];
                    self.doubt[row][l] = self.doubt[row][l].max(dr * dr + di * di);
                }
                self.filter.re[row] = vr;
                self.filter.im[row] = vi;
            }
        }
    }

    /// One update of filter and shadow from the errors in `scratch.error_*`. Leaves the filter's new prediction in
    /// `scratch.echo`. `fresh`: the filter has just taken over the shadow.
    fn learn(&mut self, fresh: bool) {
        let (n, bins, slots, head) = (self.n, self.n + 1, self.slots(), self.head);
        let forget = self.forget;
        let (s, b) = (&mut self.scratch, &mut self.bins);
        self.fft.forward(&mut s.error_re, &mut s.error_im, &mut b.e_re, &mut b.e_im);

        let power: f32 = b.power.iter().sum::<f32>() / (bins * self.partitions) as f32;
        self.learned += 1;
        self.long_term += (power - self.long_term) * self.follow.max(1.0 / self.learned as f32);
        let floor = self.long_term * self.partitions as f32;
        for k in 0..bins {
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
            constrain(&self.fft, s);
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
fn constrain(fft: &Fft, s: &mut Scratch) {
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

impl Adaptive for Kalman {
    fn name(&self) -> &'static str {
        "kalman"
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
        self.advance(reference);
        self.predict();
        let mut energy = self.errors(microphone);
        if learning == Learning::Freeze {
            self.unpack(residual);
            return;
        }
        let fresh = self.compare(energy);
        if fresh {
            self.predict();
            energy = self.errors(microphone);
        }
        if energy.iter().any(|e| !e.is_finite()) {
            // The canceller sees it in the residual and clears the filter.
            self.unpack(residual);
            return;
        }
        self.learn(fresh);
        for ((e, d), y) in residual.iter_mut().zip(microphone).zip(&self.scratch.echo) {
            *e = d - y;
        }
    }

    fn keep(&mut self) {
        self.kept.copy_from(&self.filter);
    }

    fn fall_back(&mut self) {
        self.filter.copy_from(&self.kept);
        self.shadow.copy_from(&self.kept);
        // A filter that had to be called back deserves the first doubt.
        self.doubt_everything();
        self.filter_energy = 0.0;
        self.shadow_energy = 0.0;
    }

    fn clear(&mut self) {
        for taps in [&mut self.filter, &mut self.shadow, &mut self.kept] {
            taps.re.fill([0.0; LANES]);
            taps.im.fill([0.0; LANES]);
        }
        for v in [&mut self.x_re, &mut self.x_im, &mut self.last, &mut self.near_end] {
            v.fill(0.0);
        }
        self.doubt_everything();
        (self.long_term, self.learned) = (0.0, 0);
        (self.filter_energy, self.shadow_energy) = (0.0, 0.0);
    }

    fn echo_path(&self) -> Vec<f32> {
        let (n, bins) = (self.n, self.n + 1);
        let mut path = Vec::with_capacity(self.slots() * n);
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

    fn takeovers(&self) -> u64 {
        self.takeovers
    }

    fn save(&self, to: &mut Writer) {
        for taps in [&self.filter, &self.shadow, &self.kept] {
            to.numbers(taps.re.as_flattened());
            to.numbers(taps.im.as_flattened());
        }
        to.numbers(self.doubt.as_flattened());
        for v in [&self.x_re, &self.x_im, &self.last, &self.near_end] {
            to.numbers(v);
        }
        for v in [self.long_term, self.filter_energy, self.shadow_energy] {
            to.number(v);
        }
        for v in [self.head as u64, self.turn as u64, self.learned, self.takeovers] {
            to.count(v);
        }
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), AudioError> {
        for taps in [&mut self.filter, &mut self.shadow, &mut self.kept] {
            from.numbers(taps.re.as_flattened_mut())?;
            from.numbers(taps.im.as_flattened_mut())?;
        }
        from.numbers(self.doubt.as_flattened_mut())?;
        for v in [&mut self.x_re, &mut self.x_im, &mut self.last, &mut self.near_end] {
            from.numbers(v)?;
        }
        for v in [&mut self.long_term, &mut self.filter_energy, &mut self.shadow_energy] {
            *v = from.number()?;
        }
        let (head, turn) = (from.count()?, from.count()?);
        if head >= self.slots() as u64 || turn >= self.partitions as u64 {
            return Err(state("a position is outside of the filter"));
        }
        (self.head, self.turn) = (head as usize, turn as usize);
        (self.learned, self.takeovers) = (from.count()?, from.count()?);
        Ok(())
    }
}
