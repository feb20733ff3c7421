//! The partitioned frequency-domain Kalman filter with a fast shadow.
//!
//! The echo path is cut into partitions of one block; each bin `k` of each partition `p` is a state
//! `W[p,k]` with the error variance `P[p,k]`. With `X[p,k]` the spectra of the last blocks of reference, `E[k]` that
//! of the prediction error and `S[k]` the smoothed power of `E` (everything that is not echo, in the filter's
//! eyes), a block does
//!
//! ```text
//! D[k]   = sum_p P[p,k] |X[p,k]|^2 / 2 + c max(S[k], |E[k]|^2) + delta
//! W[p,k] += constrain(P[p,k] conj(X[p,k]) E[k] / D[k])
//! P[p,k] = a^2 (1 - P[p,k] |X[p,k]|^2 / (2 D[k])) P[p,k] + (1 - a^2) |W[p,k]|^2
//! ```
//!
//! (Enzner and Vary, Signal Processing 86, 2006; Kuech, Mabande and Enzner, ICASSP 2014). The step of a bin is the share
//! of its error that is believed to be echo, so double talk slows it down by itself. `c` is 1 at first and 3 once the filter is trusted: voices disturb it more than the independent
//! noise of the formulas. `constrain` keeps the part
//! of the gradient that is a causal filter of one block; it is applied to the taps of a few partitions per block, in turns. The
//! residual is taken after the update. The better the echo is predicted, over two seconds, the closer `a` is to 1: the
//! path counts as forgotten after [`Config::memory`] where 30 dB are removed, after 3 seconds where it is 10 dB or less.
//! Near-end speech must not count as a bad prediction, or the doubt grows while little can be learned. Therefore `1 - a^2` is
//! multiplied, bin by bin, by the usual error over the present one where the error is louder than usual, unless the
//! filter has become better than its copy of half a second ago (`evidence.rs`): only a path that moves does that.
//!
//! The small step also makes the filter slow to follow a sudden change of the path: the error grows, is taken for near-end
//! speech, and nothing moves. Therefore a second filter, the *shadow*, runs beside it: normalized LMS in the same
//! partitions, fast and naive, its gradient constrained for one partition per block. Where its error stays
//! clearly below the first one's, the filter takes over its taps and as much doubt as the two differed by;
//! where it stays clearly above, as in double talk, the shadow starts again from the filter (the idea is
//! that of Ochiai, Araseki and Ogihara 1977, and of the two-path canceller in Speex). Where the microphone contradicts the
//! prediction of a filter that was right before (`mismatch.rs`) and the shadow is better at all, the path has changed: the filter keeps the share of its
//! taps that the microphone confirms, and begins again.
//!
//! The path is as long as [`Config::taps`] at first. Where its end is found to be loud, it becomes longer by half of that length, up to
//! [`Config::growth`] times.
//!
//! It assumes samples of full scale 1 and an echo not much louder than the reference, in one place: the first
//! doubt `P`, which is 1 at the start of the path and falls by 100 dB per second of it, as the echo of a room does. What is off by more is found by the shadow first. Nothing else knows a scale: the
//! regularization `delta` follows the long-term power of the reference.

mod evidence;
mod growth;
mod mismatch;
mod path;
mod saved;
mod shadow;
mod update;

use self::evidence::Evidence;
use self::mismatch::Mismatch;
use crate::adaptive::{Adaptive, Learning};
use crate::fft::Fft;
use crate::state::{Reader, Writer};
use crate::{AudioError, Config};

/// Neighboring bins that are computed together: a register of eight numbers, or two of four.
const WIDTH: usize = 8;
type Row = [f32; WIDTH];

/// Signals that are transformed together: four fill the registers of every machine.
const LANES: usize = 4;
type Lanes = [f32; LANES];

/// Seconds over which the power of what is not echo is smoothed; short, for near-end speech begins suddenly.
const NEAR_END_SECONDS: f32 = 0.0112;
/// Seconds over which the two errors are compared.
const COMPARISON_SECONDS: f32 = 0.1;
/// Seconds over which the filter is judged.
const JUDGE_SECONDS: f32 = 2.0;
/// Shares of the microphone's energy that an excellent and a poor filter leave (30 and 10 dB).
const EXCELLENT: f32 = 0.001;
const POOR: f32 = 0.1;
/// Seconds after which a path that is predicted poorly counts as forgotten, where the setting is not shorter.
const POOR_SECONDS: f32 = 3.0;
/// An error is tolerated up to this multiple of the usual one while the path is static, and while it moves; beyond,
/// the path is forgotten more slowly, bin by bin.
const STATIC: f32 = 3.0;
const MOVING: f32 = 30.0;
/// Over all bins, forgetting on a static path slows down above this multiple of the usual error.
const EXCESS: f32 = 4.0;
/// Seconds of the long-term power of the reference.
const POWER_SECONDS: f32 = 4.0;
/// By how many dB per second of the path the first doubt falls: the echo of a room dies away.
const FIRST_DOUBT_FALL: f32 = 100.0;
/// Seconds between two looks at the end of the path.
const LOOK_SECONDS: f32 = 0.5;
/// A doubt that never quite dies: keeps states away from subnormal numbers, which are slow.
const LEAST: f32 = 1e-20;

/// A spectrum of every partition: for each row of bins, all partitions one after the other.
#[derive(Clone, Debug)]
struct Taps {
    re: Vec<Row>,
    im: Vec<Row>,
}

impl Taps {
    fn zeros(rows: usize) -> Self {
        Self { re: vec![[0.0; WIDTH]; rows], im: vec![[0.0; WIDTH]; rows] }
    }

    fn copy_from(&mut self, other: &Taps) {
        self.re.copy_from_slice(&other.re);
        self.im.copy_from_slice(&other.im);
    }

    fn clear(&mut self) {
        self.re.fill([0.0; WIDTH]);
        self.im.fill([0.0; WIDTH]);
    }
}

/// State per frequency bin.
#[derive(Clone, Debug)]
struct Bins {
    /// Spectra as they are transformed. Lane 0 belongs to the filter, lane 1 to the shadow, lane 2 to the predicted echo,
    /// lane 3 to the filter's earlier copy.
    re: Vec<Lanes>,
    im: Vec<Lanes>,
    /// Predicted echo of the filter.
    y_re: Vec<Row>,
    y_im: Vec<Row>,
    /// Errors of filter and shadow, times their steps.
    e_re: Vec<Row>,
    e_im: Vec<Row>,
    f_re: Vec<Row>,
    f_im: Vec<Row>,
    /// `sum_p P |X|^2`, `sum_p P`, `sum_p |X|^2`.
    doubt_power: Vec<Row>,
    doubt: Vec<Row>,
    power: Vec<Row>,
    /// `1 / D`.
    inverse: Vec<Row>,
    /// `a^2`.
    forget: Vec<Row>,
}

/// Room for work.
#[derive(Clone, Debug)]
struct Scratch {
    /// Spectra of [`LANES`] partitions.
    part_re: Vec<Lanes>,
    part_im: Vec<Lanes>,
    /// Packed samples on their way between time and frequency.
    re: Vec<Lanes>,
    im: Vec<Lanes>,
    /// The errors, packed, in the lanes of [`Bins`].
    error_re: Vec<Lanes>,
    error_im: Vec<Lanes>,
    /// The echo that the filter predicts after the update.
    echo: Vec<f32>,
}

/// The filter of the module page. Handed to [`Canceller`](crate::Canceller) by default.
#[derive(Clone, Debug)]
pub struct Kalman {
    n: usize,
    /// Partitions in use: at first, now, and at most.
    first: usize,
    partitions: usize,
    most: usize,
    /// Rows of bins.
    rows: usize,
    /// Blocks between two looks at the end of the path.
    look: u64,
    step: f32,
    /// For a path that is predicted well, and poorly.
    forget: [f32; 2],
    judge: f32,
    smooth: f32,
    compare: f32,
    follow: f32,
    fft: Fft,
    /// By partition.
    first_doubt: Vec<f32>,

    // The state on which the next block depends.
    filter: Taps,
    doubt: Vec<Row>,
    shadow: Taps,
    /// The filter some time ago (`evidence.rs`).
    earlier: Taps,
    kept: Taps,
    /// The filter when [`Adaptive::moved`] was last called, and the power of the reference since, by bin.
    before: Taps,
    weight: Vec<Row>,
    /// Spectra of the reference, twice one after the other for each row, so that a window of them is one slice.
    x: Taps,
    head: usize,
    last: Vec<f32>,
    near_end: Vec<Row>,
    /// The smoothed power of the prediction.
    echo_power: Vec<Row>,
    long_term: f32,
    learned: u64,
    turn: usize,
    rotation: usize,
    filter_energy: f32,
    /// Smoothed energies of the microphone and of what the filter leaves.
    heard: f32,
    left: f32,
    shadow_energy: f32,
    microphone_energy: f32,
    takeovers: u64,
    mismatch: Mismatch,
    evidence: Evidence,
    /// Whether the end of the path was loud in the last look.
    loud: bool,

    bins: Bins,
    scratch: Scratch,
}

impl Bins {
    /// Zeros for blocks of `n` samples; `one` has a number for each bin.
    fn new(n: usize, one: Vec<[f32; WIDTH]>) -> Self {
        Self {
            re: vec![[0.0; LANES]; n + 1],
            im: vec![[0.0; LANES]; n + 1],
            y_re: one.clone(),
            y_im: one.clone(),
            e_re: one.clone(),
            e_im: one.clone(),
            f_re: one.clone(),
            f_im: one.clone(),
            doubt_power: one.clone(),
            doubt: one.clone(),
            power: one.clone(),
            inverse: one.clone(),
            forget: one,
        }
    }
}

impl Scratch {
    /// Zeros for blocks of `n` samples.
    fn new(n: usize) -> Self {
        Self {
            part_re: vec![[0.0; LANES]; n + 1],
            part_im: vec![[0.0; LANES]; n + 1],
            re: vec![[0.0; LANES]; n],
            im: vec![[0.0; LANES]; n],
            error_re: vec![[0.0; LANES]; n],
            error_im: vec![[0.0; LANES]; n],
            echo: vec![0.0; n],
        }
    }
}

impl Kalman {
    /// The filter for a checked configuration.
    pub fn new(config: &Config) -> Result<Self, AudioError> {
        config.check()?;
        let n = config.block();
        let partitions = config.taps.div_ceil(n);
        let most = config.longest().div_ceil(n).max(partitions);
        let rows = (n + 1).div_ceil(WIDTH);
        let (one, all) = ([[0.0; WIDTH]].repeat(rows), rows * most);
        let decay =
            |seconds: f32| (-(n as f64) / f64::from(config.rate) / f64::from(seconds)).exp() as f32;
        let blocks = |seconds: f32| (seconds * config.rate as f32 / n as f32).ceil() as u64;
        let mut kalman = Self {
            n,
            first: partitions,
            partitions,
            most,
            rows,
            look: blocks(LOOK_SECONDS),
            step: config.step,
            forget: [config.memory, config.memory.min(POOR_SECONDS)]
                .map(|seconds| decay(seconds).powi(2)),
            judge: decay(JUDGE_SECONDS),
            smooth: decay(NEAR_END_SECONDS),
            compare: decay(COMPARISON_SECONDS),
            follow: 1.0 - decay(POWER_SECONDS),
            fft: Fft::new(n),
            first_doubt: (0..most)
                .map(|p| {
                    let seconds = (p * n) as f32 / config.rate as f32;
                    10f32.powf(-0.1 * FIRST_DOUBT_FALL * seconds).max(LEAST)
                })
                .collect(),
            filter: Taps::zeros(all),
            doubt: vec![[0.0; WIDTH]; all],
            shadow: Taps::zeros(all),
            earlier: Taps::zeros(all),
            kept: Taps::zeros(all),
            before: Taps::zeros(all),
            weight: one.clone(),
            x: Taps::zeros(2 * all),
            head: 0,
            last: vec![0.0; n],
            near_end: one.clone(),
            echo_power: one.clone(),
            long_term: 0.0,
            learned: 0,
            turn: 0,
            rotation: 0,
            filter_energy: 0.0,
            heard: 0.0,
            left: 0.0,
            shadow_energy: 0.0,
            microphone_energy: 0.0,
            takeovers: 0,
            evidence: Evidence::new(
                [evidence::MOVING_SECONDS, evidence::ECHO_SECONDS].map(decay),
                blocks(evidence::RENEW_SECONDS),
                evidence::EXPECT_SECONDS.map(blocks),
            ),
            mismatch: Mismatch::new(
                rows,
                decay(mismatch::SECONDS),
                blocks(mismatch::TRUST_SECONDS),
                n as f32 / config.rate as f32,
            ),
            loud: false,
            bins: Bins::new(n, one),
            scratch: Scratch::new(n),
        };
        kalman.doubt_everything();
        Ok(kalman)
    }

    fn doubt_everything(&mut self) {
        self.doubt_from(0);
    }

    /// The first doubt for the partitions in use from `first` on.
    fn doubt_from(&mut self, first: usize) {
        for doubt in self.doubt.chunks_exact_mut(self.most) {
            let used = first..self.partitions;
            for (row, v) in doubt[used.clone()].iter_mut().zip(&self.first_doubt[used]) {
                *row = [*v; WIDTH];
            }
        }
    }

    /// Which share of the taps' certainty survives a block: the worse the echo is predicted, the sooner the path counts as
    /// forgotten. Near-end speech makes the prediction look worse than it is; unless the path moves, the usual
    /// error counts.
    fn forget(&self) -> f32 {
        let [best, worst] = self.forget;
        let left = (self.left / (self.heard + LEAST)).clamp(EXCELLENT, POOR);
        let quiet = left.min(self.mismatch.usual_left()).max(EXCELLENT);
        let left = quiet + (left - quiet) * self.evidence.movement();
        let share = (left - EXCELLENT) / (POOR - EXCELLENT);
        best + share * (worst - best)
    }

    /// By how many times the error may exceed the usual one before forgetting slows down. Forgetting adds doubt that only what
    /// the microphone reveals about the path can remove, and over near-end speech that is little.
    fn tolerance(&self) -> f32 {
        let movement = self.evidence.movement();
        let excess = EXCESS * self.mismatch.usual_left() / (self.mismatch.left() + LEAST);
        let alone = excess.min(1.0).powi(2).max(movement);
        alone * STATIC * (MOVING / STATIC).powf(movement)
    }

    /// Copies the spectra of up to [`LANES`] partitions from `first` on from `taps` to `scratch.part_*`; lanes without a
    /// partition are silent.
    fn gather(s: &mut Scratch, taps: &Taps, most: usize, first: usize, end: usize) {
        for (k, (re, im)) in s.part_re.iter_mut().zip(&mut s.part_im).enumerate() {
            let at = k / WIDTH * most + first;
            for l in 0..LANES {
                let inside = first + l < end;
                re[l] = if inside { taps.re[at + l][k % WIDTH] } else { 0.0 };
                im[l] = if inside { taps.im[at + l][k % WIDTH] } else { 0.0 };
            }
        }
    }
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
        let heard: f32 = microphone.iter().map(|d| d * d).sum();
        self.heard = self.judge * self.heard + (1.0 - self.judge) * heard;
        self.left = self.judge * self.left + (1.0 - self.judge) * energy[0];
        let fresh = self.compare(energy, heard);
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
        if self.learned.is_multiple_of(self.look) && self.partitions < self.most {
            self.grow();
        }
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
        self.earlier.copy_from(&self.kept);
        self.evidence.start_again();
        // A filter that had to be called back deserves the first doubt.
        self.doubt_everything();
        self.filter_energy = 0.0;
        self.shadow_energy = 0.0;
        self.mismatch.start_again(true);
    }

    fn clear(&mut self) {
        let taps = [
            &mut self.filter,
            &mut self.shadow,
            &mut self.earlier,
            &mut self.kept,
            &mut self.before,
            &mut self.x,
        ];
        taps.into_iter().for_each(Taps::clear);
        self.evidence.clear();
        self.last.fill(0.0);
        self.near_end.fill([0.0; WIDTH]);
        self.echo_power.fill([0.0; WIDTH]);
        self.weight.fill([0.0; WIDTH]);
        self.doubt.fill([0.0; WIDTH]);
        self.reach(self.first);
        self.doubt_everything();
        (self.long_term, self.learned) = (0.0, 0);
        (self.filter_energy, self.shadow_energy, self.microphone_energy) = (0.0, 0.0, 0.0);
        (self.heard, self.left) = (0.0, 0.0);
        self.loud = false;
        self.mismatch.clear();
    }

    fn echo_path(&self) -> Vec<f32> {
        self.path()
    }

    fn moved(&mut self) -> Option<f64> {
        self.movement()
    }

    fn mismatch(&self) -> f32 {
        self.mismatch.share()
    }

    fn lead(&self) -> usize {
        self.silent_lead()
    }

    fn skip(&mut self, blocks: usize) -> bool {
        self.leave_out(blocks)
    }

    fn is_echo_proven(&self) -> bool {
        self.evidence.is_echo_proven()
    }

    fn takeovers(&self) -> u64 {
        self.takeovers
    }

    fn save(&self, to: &mut Writer) {
        self.write(to);
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), AudioError> {
        self.read(from)
    }
}
