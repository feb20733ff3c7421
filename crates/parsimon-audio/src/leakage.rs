//! Double talk as what the echo does not explain: bands of the residual beside bands of the predicted echo.

use crate::AudioError;
use crate::config::Config;
use crate::fft::Fft;
use crate::level::decay;
use crate::state::{Reader, Writer};

/// Edges of the bands in Hz.
const EDGES: [f32; 9] = [100.0, 300.0, 500.0, 800.0, 1200.0, 1800.0, 2700.0, 4000.0, 7000.0];
const BANDS: usize = EDGES.len() - 1;
/// Seconds over which powers are averaged.
const AVERAGE_SECONDS: f32 = 0.03;
/// Seconds in which the echo of a band dies away by a factor of e, at most: reverberation outlasts the prediction.
const REVERBERATION_SECONDS: f32 = 0.1;
/// Seconds of the long-term power of a predicted band.
const POWER_SECONDS: f32 = 4.0;
/// A predicted band below this share of its long-term power teaches nothing.
const QUIET: f32 = 0.05;
/// The share of blocks whose residual the leakage covers.
const COVERED: f32 = 0.7;
/// Rate at which the leakage estimate adapts, in factors of e per second; slower in double talk.
const FOLLOW: f32 = 4.0;
const FOLLOW_IN_DOUBLE_TALK: f32 = 0.3;
/// Largest rise of the background estimate, in factors of e per second.
const RISE: f32 = 0.5;
/// A residual below this multiple of its background is background.
const BACKGROUND: f32 = 4.0;
/// The share of the residual that must be unexplained.
const UNEXPLAINED: f32 = 0.5;

/// Estimates of one frequency band.
#[derive(Clone, Copy, Debug, Default)]
struct Band {
    /// Averaged powers of residual and predicted echo.
    residual: f32,
    echo: f32,
    /// The echo with its reverberation, and over the long term.
    lasting: f32,
    long_term: f32,
    /// The natural logarithm of residual over lasting echo while the near end is silent.
    leakage: f32,
    background: f32,
}

/// Watches how much of the predicted echo leaks into the residual, band by band.
#[derive(Clone, Debug)]
pub(crate) struct Leakage {
    fft: Fft,
    window: Vec<f32>,
    /// The last block of residual and predicted echo.
    last: [Vec<f32>; 2],
    re: Vec<[f32; 2]>,
    im: Vec<[f32; 2]>,
    spectrum_re: Vec<[f32; 2]>,
    spectrum_im: Vec<[f32; 2]>,
    /// First bin of every band, and the end of the last.
    edges: [usize; BANDS + 1],
    seconds: f32,
    average: f32,
    reverberation: f32,
    power: f32,
    bands: [Band; BANDS],
    heard: u64,
}

impl Leakage {
    pub(crate) fn new(config: &Config) -> Self {
        let n = config.block();
        let bin = config.rate as f32 / (2 * n) as f32;
        let window = |i: usize| {
            let angle = std::f64::consts::PI * (i as f64 + 0.5) / (2 * n) as f64;
            (angle.sin() * angle.sin()) as f32
        };
        Self {
            fft: Fft::new(n),
            window: (0..2 * n).map(window).collect(),
            last: [vec![0.0; n], vec![0.0; n]],
            re: vec![[0.0; 2]; n],
            im: vec![[0.0; 2]; n],
            spectrum_re: vec![[0.0; 2]; n + 1],
            spectrum_im: vec![[0.0; 2]; n + 1],
            edges: EDGES.map(|hertz| ((hertz / bin).ceil() as usize).min(n + 1)),
            seconds: n as f32 / config.rate as f32,
            average: decay(config, AVERAGE_SECONDS),
            reverberation: decay(config, REVERBERATION_SECONDS),
            power: decay(config, POWER_SECONDS),
            bands: [Band::default(); BANDS],
            heard: 0,
        }
    }

    fn transform(&mut self, microphone: &[f32], residual: &[f32]) {
        let n = residual.len();
        let at = |i: usize, last: &[Vec<f32>; 2]| {
            let v = match i.checked_sub(n) {
                None => [last[0][i], last[1][i]],
                Some(i) => [residual[i], microphone[i] - residual[i]],
            };
            v.map(|v| v * self.window[i])
        };
        for i in 0..n {
            self.re[i] = at(2 * i, &self.last);
            self.im[i] = at(2 * i + 1, &self.last);
        }
        for i in 0..n {
            self.last[0][i] = residual[i];
            self.last[1][i] = microphone[i] - residual[i];
        }
        self.fft.forward(&mut self.re, &mut self.im, &mut self.spectrum_re, &mut self.spectrum_im);
    }

    /// Processes a block. Returns whether the residual exceeds what leaks, by `threshold` in power. `double_talk`: the
    /// present verdict is double talk, and not for too long.
    pub(crate) fn observe(
        &mut self,
        microphone: &[f32],
        residual: &[f32],
        threshold: f32,
        double_talk: bool,
    ) -> bool {
        self.transform(microphone, residual);
        self.heard += 1;
        let follow = if double_talk { FOLLOW_IN_DOUBLE_TALK } else { FOLLOW } * self.seconds;
        let long = (1.0 - self.power).max(1.0 / self.heard as f32);
        let (mut unexplained, mut all) = (0.0, 0.0);
        for (b, band) in self.bands.iter_mut().enumerate() {
            let (mut e, mut y) = (0.0f32, 0.0f32);
            for k in self.edges[b]..self.edges[b + 1] {
                let (re, im) = (self.spectrum_re[k], self.spectrum_im[k]);
                e += re[0] * re[0] + im[0] * im[0];
                y += re[1] * re[1] + im[1] * im[1];
            }
            let a = self.average;
            band.residual = a * band.residual + (1.0 - a) * e;
            band.echo = a * band.echo + (1.0 - a) * y;
            band.lasting = band.echo.max(self.reverberation * band.lasting);
            band.long_term += (y - band.long_term) * long;
            let risen = band.background * (1.0 + RISE * self.seconds);
            band.background =
                if self.heard == 1 { band.residual } else { band.residual.min(risen + 1e-20) };
            all += band.residual;
            let leaked = threshold * band.leakage.exp() * band.lasting;
            unexplained += (band.residual - leaked - BACKGROUND * band.background).max(0.0);
            if band.echo > QUIET * band.long_term && band.residual > 2.0 * band.background {
                let above = band.residual > band.leakage.exp() * band.lasting;
                band.leakage += follow * if above { COVERED } else { COVERED - 1.0 };
                band.leakage = band.leakage.clamp(-8.0, 2.0);
            }
        }
        unexplained > UNEXPLAINED * all
    }

    pub(crate) fn save(&self, to: &mut Writer) {
        self.last.iter().for_each(|v| to.numbers(v));
        for b in &self.bands {
            to.numbers(&[b.residual, b.echo, b.lasting, b.long_term, b.leakage, b.background]);
        }
        to.count(self.heard);
    }

    pub(crate) fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), AudioError> {
        for v in &mut self.last {
            from.numbers(v)?;
        }
        for b in &mut self.bands {
            let mut v = [0.0; 6];
            from.numbers(&mut v)?;
            let [residual, echo, lasting, long_term, leakage, background] = v;
            *b = Band { residual, echo, lasting, long_term, leakage, background };
        }
        self.heard = from.count()?;
        Ok(())
    }
}
