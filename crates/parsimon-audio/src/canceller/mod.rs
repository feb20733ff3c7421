//! The canceller: an adaptive filter, blocks in and out, and safeguards around them.

mod saved;
mod status;

pub use status::Status;

use crate::AudioError;
use crate::adaptive::{Adaptive, Learning};
use crate::clock::Clock;
use crate::config::{Config, OnDoubleTalk};
use crate::delay::shift;
use crate::detector::{Detector, FarEnd};
use crate::drift::Drift;
use crate::guard::{Advice, Guard};
use crate::high_pass::{HighPass, OFFSET_HERTZ, Rumble};
use crate::kalman::Kalman;
use crate::level::{energy, peak};
use crate::seek::Seek;
use crate::suppress::Suppressor;

/// Louder than this is no sound of full scale 1, and its square would not fit the arithmetic.
const LOUDEST: f32 = 1e6;

/// A residual of more than this multiple of the microphone's energy (20 dB) is no residual.
const RUNAWAY: f32 = 100.0;

/// An acoustic echo canceller, fed in pieces of any length.
///
/// The output is [`latency`](Self::latency) samples late (one block, and up to 16 ms more with
/// [`Config::suppress`]) and the same, bit for bit, however the
/// input is cut into pieces. With a silent reference it is the microphone, without its rumble where
/// [`Config::high_pass`] is set. It is finite for any finite input;
/// samples that are not finite are taken for zero and counted.
///
/// ```
/// use parsimon_audio::{Canceller, Config};
///
/// let mut canceller = Canceller::new(Config { taps: 128, ..Config::at(16_000) }).unwrap();
/// let mut noise = 1u32;
/// let mut left = 0.0;
/// let mut last = 0.0;
/// for _ in 0..2000 {
///     let far: Vec<f32> = (0..80)
///         .map(|_| {
///             noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
///             (noise >> 8) as f32 / 16_777_216.0 - 0.5
///         })
///         .collect();
///     let near: Vec<f32> = far.iter().map(|x| 0.5 * x).collect(); // an echo without delay
///     left = canceller.push(&far, &near).iter().map(|e| e * e).sum();
///     last = near.iter().map(|d| d * d).sum();
/// }
/// assert!(left < 1e-3 * last);
/// assert!((canceller.echo_path()[0] - 0.5).abs() < 1e-3);
/// ```
pub struct Canceller {
    config: Config,
    filter: Box<dyn Adaptive>,
    clock: Clock,
    drift: Drift,
    seek: Option<Seek>,
    /// Of reference and microphone.
    high_pass: [HighPass; 2],
    rumble: Rumble,
    far_end: FarEnd,
    detector: Detector,
    guard: Guard,
    suppressor: Option<Suppressor>,
    status: Status,
    /// Whether the filter stood still for double talk in the last block.
    was_frozen: bool,
    /// The share of the residual in the last output sample; the rest is microphone.
    share: f32,
    reference: Vec<f32>,
    microphone: Vec<f32>,
    residual: Vec<f32>,
    ready: Vec<f32>,
    filled: usize,
    output: Vec<f32>,
}

impl std::fmt::Debug for Canceller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Canceller")
            .field("filter", &self.filter.name())
            .field("config", &self.config)
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}

impl Canceller {
    /// A canceller around [`Kalman`].
    pub fn new(config: Config) -> Result<Self, AudioError> {
        let filter = Kalman::new(&config)?;
        Self::with(Box::new(filter), config)
    }

    /// A canceller around any filter.
    pub fn with(filter: Box<dyn Adaptive>, config: Config) -> Result<Self, AudioError> {
        config.check()?;
        let block = config.block();
        let most =
            config.delay + ((1.0 + f64::from(config.search)) * f64::from(config.rate)) as usize;
        Ok(Self {
            clock: Clock::new(config.delay, most, block),
            drift: Drift::new(&config),
            seek: (config.search > 0.0).then(|| Seek::new(&config)),
            high_pass: [
                HighPass::new(config.rate, OFFSET_HERTZ, config.high_pass),
                HighPass::new(config.rate, OFFSET_HERTZ, config.high_pass),
            ],
            rumble: Rumble::new(&config),
            far_end: FarEnd::new(&config),
            detector: Detector::new(&config),
            guard: Guard::new(&config),
            suppressor: config.suppress.then(|| Suppressor::new(&config)),
            status: Status::default(),
            was_frozen: false,
            share: 1.0,
            reference: vec![0.0; block],
            microphone: vec![0.0; block],
            residual: vec![0.0; block],
            ready: vec![0.0; block],
            filled: 0,
            output: vec![0.0; block],
            config,
            filter,
        })
    }

    /// How many samples the output is late.
    pub fn latency(&self) -> usize {
        self.config.block() + self.suppressor.as_ref().map_or(0, Suppressor::latency)
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What has happened so far.
    pub fn status(&self) -> Status {
        Status { takeovers: self.filter.takeovers(), ..self.status }
    }

    /// How much faster the reference's clock is found to run than the microphone's, in millionths.
    pub fn drift_ppm(&self) -> f64 {
        0.0 - 1e6 * self.clock.rate()
    }

    /// By how many samples the reference is held back before the filter sees it.
    pub fn delay(&self) -> f64 {
        self.clock.lag()
    }

    /// The length of the modeled echo path in samples.
    pub fn taps(&self) -> usize {
        self.filter.taps()
    }

    /// Whether the last whole block holds double talk in the detector's eyes.
    pub fn double_talk(&self) -> bool {
        self.detector.double_talk()
    }

    /// The echo path as the filter believes it to be, behind [`delay`](Self::delay) samples.
    pub fn echo_path(&self) -> Vec<f32> {
        self.filter.echo_path()
    }

    /// Takes in a piece of both signals and returns as many samples of output, which are
    /// [`latency`](Self::latency) samples late.
    ///
    /// Allocates only where a piece is longer than every one before it.
    ///
    /// # Panics
    ///
    /// If the pieces differ in length.
    pub fn push(&mut self, reference: &[f32], microphone: &[f32]) -> &[f32] {
        assert_eq!(reference.len(), microphone.len(), "reference and microphone differ in length");
        let (block, length) = (self.config.block(), reference.len());
        if self.output.len() < length {
            self.output.resize(length, 0.0);
        }
        let mut at = 0;
        while at < length {
            let n = (block - self.filled).min(length - at);
            let (from, to) = (at..at + n, self.filled..self.filled + n);
            self.output[from.clone()].copy_from_slice(&self.ready[to.clone()]);
            self.reference[to.clone()].copy_from_slice(&reference[from.clone()]);
            self.microphone[to].copy_from_slice(&microphone[from]);
            at += n;
            self.filled += n;
            if self.filled == block {
                self.filled = 0;
                let is_sound = self.process();
                if let Some(suppressor) = &mut self.suppressor {
                    suppressor.process(&self.reference, &self.microphone, &mut self.ready);
                }
                if is_sound {
                    self.rumble.run(&mut self.ready);
                }
            }
        }
        &self.output[..length]
    }

    /// One whole block from `reference` and `microphone` to `ready`. False if it is too loud for any sound, and was passed through.
    fn process(&mut self) -> bool {
        let n = self.config.block() as u64;
        for signal in [&mut self.reference, &mut self.microphone] {
            for v in signal.iter_mut().filter(|v| !v.is_finite()) {
                *v = 0.0;
                self.status.not_finite += 1;
            }
        }
        self.status.samples += n;
        if peak(&self.reference) > LOUDEST || peak(&self.microphone) > LOUDEST {
            self.status.frozen_too_loud += n;
            self.ready.copy_from_slice(&self.microphone);
            self.reference.fill(0.0);
            self.microphone.fill(0.0);
            self.clock.run(&mut self.reference);
            self.far_end.observe(&self.reference);
            self.filter.cancel(
                &self.reference,
                &self.microphone,
                Learning::Freeze,
                &mut self.residual,
            );
            self.recover();
            // Nothing was removed from such a block.
            self.microphone.copy_from_slice(&self.ready);
            return false;
        }
        self.look_for_the_echo();
        self.clock.run(&mut self.reference);
        self.high_pass[0].run(&mut self.reference);
        self.high_pass[1].run(&mut self.microphone);
        let active = self.far_end.observe(&self.reference);
        let frozen = self.config.on_double_talk == OnDoubleTalk::Freeze && self.detector.freeze();
        let learning = if active && !frozen { Learning::Adapt } else { Learning::Freeze };
        // The verdict comes some milliseconds after the first word, which the filter has taken for echo by then.
        if frozen && !self.was_frozen {
            self.filter.fall_back();
        }
        self.was_frozen = frozen;
        if !active {
            self.status.frozen_silent += n;
        } else if frozen {
            self.status.frozen_double_talk += n;
        }
        self.filter.cancel(&self.reference, &self.microphone, learning, &mut self.residual);
        if self.recover() {
            self.ready.copy_from_slice(&self.microphone);
            return true;
        }
        if active {
            self.status.active += n;
            let mismatch = self.filter.mismatch();
            if self.detector.observe_with(
                &self.reference,
                &self.microphone,
                &self.residual,
                mismatch,
            ) {
                self.status.double_talk += n;
            }
            if self.config.drift
                && learning == Learning::Adapt
                && let Some(c) =
                    self.drift.observe(self.status.samples, &self.microphone, &self.residual)
            {
                self.clock.steer(c.step, c.rate);
            }
            if self.config.drift
                && learning == Learning::Adapt
                && self.drift.is_due(self.status.samples)
            {
                let moved = self.filter.moved();
                if let Some(rate) = self.drift.look(self.status.samples, self.clock.lag(), moved) {
                    self.clock.steer(0.0, rate);
                }
            }
            match self.guard.observe(energy(&self.microphone), energy(&self.residual)) {
                Advice::GoOn => {}
                Advice::Keep => self.filter.keep(),
                Advice::FallBack => {
                    self.filter.fall_back();
                    self.status.fallbacks += 1;
                }
                Advice::StartOver => {
                    self.filter.clear();
                    self.status.resets += 1;
                }
            }
        }
        if !active {
            self.detector.rest();
        }
        if learning == Learning::Freeze {
            self.drift.pause();
        }
        self.mix();
        true
    }

    /// Moves the reference where the filter cannot hold the path that is heard.
    fn look_for_the_echo(&mut self) {
        let Some(onset) =
            self.seek.as_mut().and_then(|s| s.observe(&self.reference, &self.microphone))
        else {
            return;
        };
        let lag = self.clock.lag();
        let by = shift(onset - lag.round() as i64, self.filter.taps());
        // An echo before the reference is out of reach.
        let wanted = (lag.round() as i64).saturating_add(by).max(0);
        if by != 0 && wanted != lag.round() as i64 {
            self.clock.jump(wanted as f64);
            self.filter.clear();
            self.guard.clear();
            self.status.realignments += 1;
        }
    }

    /// Clears a filter whose residual is not finite.
    fn recover(&mut self) -> bool {
        if self.residual.iter().all(|v| v.is_finite()) {
            return false;
        }
        self.filter.clear();
        self.guard.clear();
        self.status.resets += 1;
        true
    }

    /// Residual or, while it does harm, microphone; from one to the other within a block.
    fn mix(&mut self) {
        // A block that has got far louder is not faded out, it is not played at all.
        if energy(&self.residual) > RUNAWAY * energy(&self.microphone) {
            self.ready.copy_from_slice(&self.microphone);
            self.status.bypassed += self.ready.len() as u64;
            self.share = 0.0;
            return;
        }
        let target = if self.guard.bypass() { 0.0 } else { 1.0 };
        if target == 1.0 && self.share == 1.0 {
            self.ready.copy_from_slice(&self.residual);
            return;
        }
        let (n, start) = (self.ready.len(), self.share);
        for (i, out) in self.ready.iter_mut().enumerate() {
            let share = start + (target - start) * (i + 1) as f32 / n as f32;
            *out = self.microphone[i] + share * (self.residual[i] - self.microphone[i]);
        }
        self.share = target;
        self.status.bypassed += n as u64;
    }
}
