//! The residual echo suppressor: a gain per frequency for what the linear filter left of the echo.
//!
//! It works on overlapping frames (square root of a Hann window, a block apart). With `E` the spectrum of the
//! canceller's output, `Y` that of the echo that was removed and `Y'` its power held with the decay of a room, the echo
//! that is left is estimated as
//!
//! ```text
//! R[k] = c leak[b] (Y'[k] + a share of the mean over k) + X'[k] while the filter knows nothing yet
//! G[k] = A[k] / (A[k] + R[k]),   A[k] = h |G E|^2 of the frame before + (1 - h) max(|E[k]|^2 - R[k], 0)
//! ```
//!
//! (the decision-directed rule of Ephraim and Malah 1984). `leak[b]` is the canceller's leakage in the band `b` of bin
//! `k`: the ratio of the powers of `E` and `Y'`, which falls quickly and rises slowly while the near end speaks, for
//! near-end speech raises the ratio and never lowers it. A common leakage for all bands, the regression of the
//! changes of `|E|^2` on those of `|Y|^2` (Valin 2007), is a lower bound: near-end speech does not correlate with the echo.
//!
//! Two things keep the near end. Where the output is louder than the echo explains in enough bands, the near end speaks,
//! and the factor `c` falls from [`ALONE`] to [`TOGETHER`]. And no bin is attenuated below the background noise, so the
//! noise does not pump. With a silent far end `R` is zero and the gain is one.
//!
//! The constants were chosen on one half of the scenes of `bench/echo_suppress.py` and measured on the other half
//! (`record/echo.md`).

use crate::AudioError;
use crate::config::Config;
use crate::fft::Fft;
use crate::level::decay;
use crate::state::{Reader, Writer, state};

/// Most milliseconds by which the suppressor makes the output later.
pub(crate) const LATENCY_MS: usize = 16;
/// The leakage is multiplied by this while only the far end speaks...
const ALONE: f32 = 80.0;
/// ...and by this while the near end speaks as well.
const TOGETHER: f32 = 1.5;
/// The least gain while only the far end speaks, and while the near end speaks as well.
const FLOOR_ALONE: f32 = 0.01;
const FLOOR_TOGETHER: f32 = 0.3;
/// Seconds over which the clean power of the last frames enters the present one's.
const HISTORY_SECONDS: f32 = 0.003;
/// Seconds in which the held powers of echo and reference fall by 60 dB.
const REVERBERATION_SECONDS: f32 = 0.8;
/// Power that a distorting loudspeaker spreads over all frequencies, as a share of the mean power of the echo.
const SPREAD: f32 = 0.0015;
/// Seconds over which powers of bands are averaged for the leakage.
const POWER_SECONDS: f32 = 0.04;
/// Seconds in which the leakage falls, rises while the near end is silent, and rises while it speaks.
const FALL_SECONDS: f32 = 0.2;
const RISE_SECONDS: f32 = 0.3;
const SLOW_RISE_SECONDS: f32 = 20.0;
/// The common leakage enters every band multiplied by this, and its regression follows by at most this share per second.
const COMMON: f32 = 2.0;
const PACE: f32 = 2.0;
/// The leakage of a filter that knows nothing, and the least that is believed.
const LEAK: f32 = 1.0;
const LEAST_LEAK: f32 = 1e-4;
/// Seconds of an active far end in which the reference itself counts as echo.
const START_SECONDS: f32 = 1.0;
/// Above this mismatch of the filter the path has changed, and this share of the reference counts as echo again.
const CHANGED: f32 = 0.3;
const FRESH_AGAIN: f32 = 0.3;
/// How many times faster the reference ceases to count as echo while the canceller finds none.
const FORGET_REFERENCE: i32 = 8;
/// A band holds near-end speech above this multiple of the estimated echo, and this multiple of the noise.
const OVER_ECHO: f32 = 15.0;
const OVER_NOISE: f32 = 6.0;
/// Shares of such bands at which the near end may speak, and certainly does.
const SOME_BANDS: f32 = 0.15;
const MANY_BANDS: f32 = 0.25;
/// Seconds that a verdict of near-end speech takes to fade.
const HANGOVER_SECONDS: f32 = 1.0;
/// The background noise: what a minimum rises by per second (3 dB; half a dB where there is echo), and its ratio to the mean.
const NOISE_RISE: f32 = 2.0;
const SLOW_NOISE_RISE: f32 = 1.12;
const NOISE_BIAS: f32 = 1.5;
/// Powers below are nothing; keeps subnormal numbers away, which are slow.
const LEAST: f32 = 1e-20;
/// Louder than this is no sound, and its square would not fit the arithmetic.
const LOUDEST: f32 = 1e6;

/// Signals that are transformed side by side: output, removed echo, reference, and one that is idle.
const LANES: usize = 4;
type Row = [f32; LANES];

/// The suppressor of the module page: blocks in, blocks out, [`latency`](Self::latency) samples later.
#[derive(Clone, Debug)]
pub(crate) struct Suppressor {
    block: usize,
    frame: usize,
    rate: f32,
    fft: Fft,
    window: Vec<f32>,
    /// First bins of the bands, and the end of the last.
    edges: Vec<usize>,
    /// Bands between 200 Hz and 5 kHz, where speech is.
    speech: std::ops::Range<usize>,
    hold: f32,
    history: f32,
    average: f32,
    fall: f32,
    rise: f32,
    slow_rise: f32,
    start: f32,
    hangover: f32,
    noise_rise: f32,
    slow_noise_rise: f32,

    // The state on which the next block depends.
    input: Vec<Row>,
    overlap: Vec<f32>,
    echo: Vec<f32>,
    reference: Vec<f32>,
    clean: Vec<f32>,
    noise: Vec<f32>,
    smooth: Vec<f32>,
    leak: Vec<f32>,
    band_output: Vec<f32>,
    band_echo: Vec<f32>,
    /// Means of `|E|^2` and `|Y|^2` of the bands over a second, for the regression.
    mean_output: Vec<f32>,
    mean_echo: Vec<f32>,
    /// Covariance and variance of the regression, the share of reference at the start, near-end presence.
    cross: f32,
    square: f32,
    fresh: f32,
    presence: f32,
    heard: u64,

    re: Vec<Row>,
    im: Vec<Row>,
    spectrum_re: Vec<Row>,
    spectrum_im: Vec<Row>,
    out_re: Vec<[f32; 1]>,
    out_im: Vec<[f32; 1]>,
    time_re: Vec<[f32; 1]>,
    time_im: Vec<[f32; 1]>,
    powers: Vec<[f32; 2]>,
}

impl Suppressor {
    /// For a checked configuration.
    pub(crate) fn new(config: &Config) -> Self {
        let block = config.block();
        let most = config.rate as usize * LATENCY_MS / 1000;
        let mut frame = 2 * block;
        while 2 * frame - block < most {
            frame *= 2;
        }
        let bins = frame / 2 + 1;
        let mut edges = vec![0];
        while let Some(&last) = edges.last()
            && last < bins
        {
            edges.push((last + (last / 5).max(2)).min(bins));
        }
        let bands = edges.len() - 1;
        let hertz = config.rate as f32 / frame as f32;
        let band_at = |f: f32| edges.iter().take_while(|&&k| (k as f32 * hertz) < f).count();
        let speech = band_at(200.0).min(bands - 1)..band_at(5000.0).min(bands);
        let window = (0..frame)
            .map(|i| (std::f64::consts::PI * i as f64 / frame as f64).sin() as f32)
            .collect();
        let hop = block as f32 / config.rate as f32;
        Self {
            block,
            frame,
            rate: config.rate as f32,
            fft: Fft::new(frame / 2),
            window,
            edges,
            speech,
            hold: 10f32.powf(-6.0 * hop / REVERBERATION_SECONDS),
            history: decay(config, HISTORY_SECONDS),
            average: decay(config, POWER_SECONDS),
            fall: 1.0 - decay(config, FALL_SECONDS),
            rise: 1.0 - decay(config, RISE_SECONDS),
            slow_rise: 1.0 - decay(config, SLOW_RISE_SECONDS),
            start: decay(config, START_SECONDS),
            hangover: decay(config, HANGOVER_SECONDS),
            noise_rise: NOISE_RISE.powf(hop),
            slow_noise_rise: SLOW_NOISE_RISE.powf(hop),
            input: vec![[0.0; LANES]; frame],
            overlap: vec![0.0; frame],
            echo: vec![0.0; bins],
            reference: vec![0.0; bins],
            clean: vec![0.0; bins],
            noise: vec![0.0; bins],
            smooth: vec![0.0; bins],
            leak: vec![LEAK; bands],
            band_output: vec![0.0; bands],
            band_echo: vec![0.0; bands],
            mean_output: vec![0.0; bands],
            mean_echo: vec![0.0; bands],
            cross: 0.0,
            square: 0.0,
            fresh: 1.0,
            presence: 0.0,
            heard: 0,
            re: vec![[0.0; LANES]; frame / 2],
            im: vec![[0.0; LANES]; frame / 2],
            spectrum_re: vec![[0.0; LANES]; bins],
            spectrum_im: vec![[0.0; LANES]; bins],
            out_re: vec![[0.0]; bins],
            out_im: vec![[0.0]; bins],
            time_re: vec![[0.0]; frame / 2],
            time_im: vec![[0.0]; frame / 2],
            powers: vec![[0.0; 2]; bins],
        }
    }

    /// By how many samples the output is later than the input.
    pub(crate) fn latency(&self) -> usize {
        self.frame - self.block
    }

    /// Replaces a block of the canceller's output by the suppressed one of [`latency`](Self::latency) samples ago.
    /// The canceller removed `microphone - output`.
    /// `pays`: whether the canceller removes an echo; otherwise the reference does not count as one for long. `mismatch`: how strongly the
    /// microphone contradicts the prediction; where it does, the path has changed and the reference counts as echo again. `clips`: whether the microphone
    /// clips, which spreads over all frequencies and is not near-end speech.
    pub(crate) fn process(
        &mut self,
        reference: &[f32],
        microphone: &[f32],
        pays: bool,
        mismatch: f32,
        clips: bool,
        output: &mut [f32],
    ) {
        // Without an echo the prediction is chance, and so is what contradicts it.
        if pays && mismatch > CHANGED {
            // Unexpected sound in the output is echo and not the near end.
            self.fresh = self.fresh.max(FRESH_AGAIN);
            self.presence = 0.0;
        }
        if !pays {
            self.fresh = above(self.fresh * self.start.powi(FORGET_REFERENCE));
        }
        let (n, frame) = (self.block, self.frame);
        self.input.copy_within(n.., 0);
        for (i, row) in self.input[frame - n..].iter_mut().enumerate() {
            let e = output[i].clamp(-LOUDEST, LOUDEST);
            let y = (microphone[i] - output[i]).clamp(-LOUDEST, LOUDEST);
            *row = [e, y, reference[i].clamp(-LOUDEST, LOUDEST), 0.0];
        }
        for i in 0..frame / 2 {
            let (even, odd) = (self.input[2 * i], self.input[2 * i + 1]);
            let (a, b) = (self.window[2 * i], self.window[2 * i + 1]);
            self.re[i] = even.map(|v| a * v);
            self.im[i] = odd.map(|v| b * v);
        }
        self.fft.forward(&mut self.re, &mut self.im, &mut self.spectrum_re, &mut self.spectrum_im);
        self.observe();
        self.estimate_leakage(clips);
        self.suppress();
        self.fft.inverse(&self.out_re, &self.out_im, &mut self.time_re, &mut self.time_im);
        self.overlap.copy_within(n.., 0);
        self.overlap[frame - n..].fill(0.0);
        // Squared windows that are `n` apart add up to `frame / (2 n)`.
        let scale = 2.0 * n as f32 / frame as f32;
        for i in 0..frame / 2 {
            self.overlap[2 * i] += scale * self.window[2 * i] * self.time_re[i][0];
            self.overlap[2 * i + 1] += scale * self.window[2 * i + 1] * self.time_im[i][0];
        }
        output.copy_from_slice(&self.overlap[..n]);
    }

    /// Powers of the frame: of bins, held, and of the background noise.
    fn observe(&mut self) {
        self.heard = self.heard.saturating_add(1);
        for (k, (re, im)) in self.spectrum_re.iter().zip(&self.spectrum_im).enumerate() {
            let power: [f32; 3] = std::array::from_fn(|l| re[l] * re[l] + im[l] * im[l]);
            self.powers[k] = [power[0], power[1]];
            self.echo[k] = above(power[1].max(self.hold * self.echo[k]));
            self.reference[k] = above(power[2].max(self.hold * self.reference[k]));
            self.smooth[k] = above(self.average * self.smooth[k] + (1.0 - self.average) * power[0]);
            // Before the first frame is full, and after digital silence, there is nothing to go by. Where there is
            // echo, its pauses are no noise.
            let rise =
                if self.echo[k] < self.noise[k] { self.noise_rise } else { self.slow_noise_rise };
            self.noise[k] = match self.heard < 20 || self.noise[k] == 0.0 {
                true => self.smooth[k],
                false => above(self.smooth[k].min(rise * self.noise[k])),
            };
        }
    }

    /// The leakage of every band, and whether the near end speaks.
    fn estimate_leakage(&mut self, clips: bool) {
        let bins = self.powers.len();
        let spread = SPREAD * self.echo.iter().sum::<f32>() / bins as f32;
        let (mut speaking, mut counted) = (0.0, 0.0);
        let mut sums = [0.0f32; 4];
        let hop = self.block as f32 / self.rate;
        for b in 0..self.leak.len() {
            let range = self.edges[b]..self.edges[b + 1];
            let mean = |v: &[f32]| v.iter().sum::<f32>() / v.len() as f32;
            let width = range.len() as f32;
            let output = self.powers[range.clone()].iter().map(|p| p[0]).sum::<f32>() / width;
            let removed = self.powers[range.clone()].iter().map(|p| p[1]).sum::<f32>() / width;
            let echo = mean(&self.echo[range.clone()]) + spread;
            let reference = self.fresh * mean(&self.reference[range.clone()]);
            let noise = NOISE_BIAS * mean(&self.noise[range.clone()]);
            let keep = self.average;
            self.band_output[b] = above(keep * self.band_output[b] + (1.0 - keep) * output);
            self.band_echo[b] = above(keep * self.band_echo[b] + (1.0 - keep) * echo);
            if self.speech.contains(&b) {
                counted += 1.0;
                let explained = OVER_ECHO * (self.leak[b] * echo + reference) + OVER_NOISE * noise;
                speaking += f32::from(u8::from(output > explained));
            }
            if self.band_echo[b] > noise {
                let left = (self.band_output[b] - noise).max(0.0);
                let ratio = (left / self.band_echo[b]).clamp(LEAST_LEAK, LEAK);
                let step = if ratio < self.leak[b] {
                    self.fall
                } else {
                    self.rise + (self.slow_rise - self.rise) * self.presence
                };
                // NUMERICS: rounding may leave the range by a hair, and a saved state must be read back.
                let leak = self.leak[b] * (ratio / self.leak[b]).powf(step);
                self.leak[b] = leak.clamp(LEAST_LEAK, LEAK);
            }
            // Changes against the mean of a second, for the regression over all bands.
            let (de, dy) = (output - self.mean_output[b], removed - self.mean_echo[b]);
            self.mean_output[b] = above(self.mean_output[b] + hop * de);
            self.mean_echo[b] = above(self.mean_echo[b] + hop * dy);
            sums[0] += de * dy;
            sums[1] += dy * dy;
            sums[2] += output;
            sums[3] += removed;
        }
        let share = if counted > 0.0 { speaking / counted } else { 0.0 };
        let now = if clips { 0.0 } else { share };
        let now = ((now - SOME_BANDS) / (MANY_BANDS - SOME_BANDS)).clamp(0.0, 1.0);
        self.presence = above(now.max(self.hangover * self.presence));
        if sums[3] > LEAST {
            // Slower where the echo does not dominate: then most of what changes is the near end.
            let pace = hop * (2.0 * sums[3] / (sums[2] + LEAST)).min(PACE);
            let norm = (sums[1] + LEAST).sqrt();
            self.cross += pace * (sums[0] / norm - self.cross);
            self.square += pace * (norm - self.square);
            self.fresh = above(self.fresh * self.start);
        }
    }

    /// The gain of every bin, applied.
    fn suppress(&mut self) {
        let bins = self.powers.len();
        let common = (self.cross.max(0.0) / (self.square + LEAST)).min(LEAK);
        let over = ALONE * (TOGETHER / ALONE).powf(self.presence);
        let floor = FLOOR_ALONE * (FLOOR_TOGETHER / FLOOR_ALONE).powf(self.presence);
        let spread = SPREAD * self.echo.iter().sum::<f32>() / bins as f32;
        for b in 0..self.leak.len() {
            let leak = over * self.leak[b].max(COMMON * common);
            for k in self.edges[b]..self.edges[b + 1] {
                let [power, _] = self.powers[k];
                let residual = leak * (self.echo[k] + spread) + self.fresh * self.reference[k];
                let clean = self.history * self.clean[k]
                    + (1.0 - self.history) * (power - residual).max(0.0);
                let gain = if residual > 0.0 { clean / (clean + residual) } else { 1.0 };
                let quiet = (NOISE_BIAS * self.noise[k] / (power + LEAST)).sqrt().min(1.0);
                let gain = gain.max(floor).max(quiet);
                self.clean[k] = above(gain * gain * power);
                self.out_re[k] = [gain * self.spectrum_re[k][0]];
                self.out_im[k] = [gain * self.spectrum_im[k][0]];
            }
        }
    }

    fn numbers(&self) -> [&[f32]; 12] {
        [
            self.input.as_flattened(),
            &self.overlap,
            &self.echo,
            &self.reference,
            &self.clean,
            &self.noise,
            &self.smooth,
            &self.leak,
            &self.band_output,
            &self.band_echo,
            &self.mean_output,
            &self.mean_echo,
        ]
    }

    pub(crate) fn save(&self, to: &mut Writer) {
        self.numbers().into_iter().for_each(|v| to.numbers(v));
        [self.cross, self.square, self.fresh, self.presence].into_iter().for_each(|v| to.number(v));
        to.count(self.heard);
    }

    pub(crate) fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), AudioError> {
        for v in [
            self.input.as_flattened_mut(),
            &mut self.overlap,
            &mut self.echo,
            &mut self.reference,
            &mut self.clean,
            &mut self.noise,
            &mut self.smooth,
            &mut self.leak,
            &mut self.band_output,
            &mut self.band_echo,
            &mut self.mean_output,
            &mut self.mean_echo,
        ] {
            from.numbers(v)?;
        }
        for v in [&mut self.cross, &mut self.square, &mut self.fresh, &mut self.presence] {
            *v = from.number()?;
        }
        self.heard = from.count()?;
        // A logarithm is taken of the leakage.
        if self.leak.iter().any(|v| !(LEAST_LEAK..=LEAK).contains(v)) {
            return Err(state("holds a leakage that is out of range"));
        }
        Ok(())
    }
}

/// Returns zero for values below [`LEAST`].
#[inline(always)]
fn above(v: f32) -> f32 {
    if v > LEAST { v } else { 0.0 }
}
