//! The echo canceller: an adaptive filter with block buffering and safeguards.

mod diagnosis;
mod saved;
mod status;

pub use diagnosis::Warning;
pub use status::Status;

use self::diagnosis::Diagnosis;
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
use crate::seek::{Found, Seek};
use crate::suppress::Suppressor;

/// Samples beyond this are no valid sound (full scale is 1), and their squares would overflow `f32`.
const LOUDEST: f32 = 1e6;

/// A residual with more than this multiple of the microphone's energy (20 dB) is discarded.
const RUNAWAY: f32 = 100.0;

/// An acoustic echo canceller that accepts pieces of any length.
///
/// The output lags by [`latency`](Self::latency) samples (one block, and up to 16 ms more with
/// [`Config::suppress`]) and has the same bits however the
/// input is cut into pieces. With a silent reference the output is the microphone signal, without rumble if
/// [`Config::high_pass`] is set. The output is finite for any finite input;
/// samples that are not finite are replaced by zero and counted.
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
    /// For the reference and for the microphone.
    high_pass: [HighPass; 2],
    rumble: Rumble,
    far_end: FarEnd,
    detector: Detector,
    guard: Guard,
    suppressor: Option<Suppressor>,
    /// With a suppressor: the output before it, as late as the output.
    linear: Option<Linear>,
    diagnosis: Diagnosis,
    status: Status,
    /// Whether adaptation was suspended by double talk in the last block.
    was_frozen: bool,
    /// The residual's share in the last output sample; the rest is the microphone signal.
    share: f32,
    reference: Vec<f32>,
    microphone: Vec<f32>,
    residual: Vec<f32>,
    ready: Vec<f32>,
    filled: usize,
    output: Vec<f32>,
    /// Length of the last piece.
    length: usize,
}

/// The output without the suppressor, delayed by the suppressor's latency.
struct Linear {
    rumble: Rumble,
    waiting: Vec<f32>,
    output: Vec<f32>,
}

impl Linear {
    /// Takes in a block.
    fn take(&mut self, block: &[f32], is_sound: bool) {
        let n = block.len();
        self.waiting.copy_within(n.., 0);
        let at = self.waiting.len() - n;
        self.waiting[at..].copy_from_slice(block);
        if is_sound {
            self.rumble.run(&mut self.waiting[at..]);
        }
    }
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
    /// Returns a canceller that uses [`Kalman`].
    pub fn new(config: Config) -> Result<Self, AudioError> {
        let filter = Kalman::new(&config)?;
        Self::with(Box::new(filter), config)
    }

    /// Returns a canceller that uses the given filter.
    pub fn with(filter: Box<dyn Adaptive>, config: Config) -> Result<Self, AudioError> {
        config.check()?;
        let block = config.block();
        let most =
            config.delay + ((1.0 + f64::from(config.search)) * f64::from(config.rate)) as usize;
        let suppressor = config.suppress.then(|| Suppressor::new(&config));
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
            linear: suppressor.as_ref().map(|s| Linear {
                rumble: Rumble::new(&config),
                waiting: vec![0.0; s.latency() + block],
                output: vec![0.0; block],
            }),
            suppressor,
            diagnosis: Diagnosis::new(&config),
            status: Status::default(),
            was_frozen: false,
            share: 1.0,
            reference: vec![0.0; block],
            microphone: vec![0.0; block],
            residual: vec![0.0; block],
            ready: vec![0.0; block],
            filled: 0,
            output: vec![0.0; block],
            length: 0,
            config,
            filter,
        })
    }

    /// Returns the latency of the output in samples.
    pub fn latency(&self) -> usize {
        self.config.block() + self.suppressor.as_ref().map_or(0, Suppressor::latency)
    }

    /// Returns the settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns counts of samples and events so far.
    pub fn status(&self) -> Status {
        Status { takeovers: self.filter.takeovers(), ..self.status }
    }

    /// Returns the estimated clock drift in parts per million; positive if the reference's clock is faster.
    pub fn drift_ppm(&self) -> f64 {
        0.0 - 1e6 * self.clock.rate()
    }

    /// Returns the delay, in samples, applied to the reference before the filter.
    pub fn delay(&self) -> f64 {
        self.clock.lag()
    }

    /// Returns the length of the modeled echo path in samples.
    pub fn taps(&self) -> usize {
        self.filter.taps()
    }

    /// Returns whether double talk was detected in the last complete block.
    pub fn double_talk(&self) -> bool {
        self.detector.double_talk()
    }

    /// Returns the estimated echo path, after a delay of [`delay`](Self::delay) samples.
    pub fn echo_path(&self) -> Vec<f32> {
        self.filter.echo_path()
    }

    /// Processes a piece of both signals and returns the same number of output samples, delayed by
    /// [`latency`](Self::latency) samples.
    ///
    /// Allocates only if the piece is longer than all earlier ones.
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
        if let Some(linear) = &mut self.linear
            && linear.output.len() < length
        {
            linear.output.resize(length, 0.0);
        }
        self.length = length;
        let mut at = 0;
        while at < length {
            let n = (block - self.filled).min(length - at);
            let (from, to) = (at..at + n, self.filled..self.filled + n);
            self.output[from.clone()].copy_from_slice(&self.ready[to.clone()]);
            if let Some(linear) = &mut self.linear {
                linear.output[from.clone()].copy_from_slice(&linear.waiting[to.clone()]);
            }
            self.reference[to.clone()].copy_from_slice(&reference[from.clone()]);
            self.microphone[to].copy_from_slice(&microphone[from]);
            at += n;
            self.filled += n;
            if self.filled == block {
                self.filled = 0;
                let is_sound = self.process();
                if let Some(linear) = &mut self.linear {
                    linear.take(&self.ready, is_sound);
                }
                if let Some(suppressor) = &mut self.suppressor {
                    let (pays, mismatch) = (self.filter.is_echo_proven(), self.filter.mismatch());
                    let (far, near) = (&self.reference, &self.microphone);
                    let blocks = (suppressor.latency() / block) as u32 + 1;
                    let clips = self.diagnosis.microphone_clips(blocks);
                    suppressor.process(far, near, pays, mismatch, clips, &mut self.ready);
                }
                if is_sound {
                    self.rumble.run(&mut self.ready);
                }
            }
        }
        &self.output[..length]
    }

    /// Returns what the last [`push`](Self::push) would have returned without the suppressor: the microphone minus a filtered reference, as late as
    /// the output. Without [`Config::suppress`] it is the output.
    pub fn linear(&self) -> &[f32] {
        match &self.linear {
            Some(linear) => &linear.output[..self.length],
            None => &self.output[..self.length],
        }
    }

    /// Returns by how many dB the linear filter has made the microphone quieter, over the last seconds with an active far end; `None`
    /// before the first. Near-end speech lowers it.
    pub fn recent_erle(&self) -> Option<f32> {
        self.diagnosis.erle()
    }

    /// Returns what is wrong with the signals, if something is.
    pub fn warning(&self) -> Option<Warning> {
        self.diagnosis.warning()
    }

    /// Processes one block from `reference` and `microphone` into `ready`. Returns false if the block is too loud and was passed through.
    fn process(&mut self) -> bool {
        let n = self.config.block() as u64;
        self.clear_samples_that_are_not_finite();
        self.status.samples += n;
        self.diagnosis.observe(&self.reference, &self.microphone);
        if peak(&self.reference) > LOUDEST || peak(&self.microphone) > LOUDEST {
            self.status.frozen_too_loud += n;
            self.pass_too_loud();
            return false;
        }
        self.look_for_the_echo();
        self.clock.run(&mut self.reference);
        self.high_pass[0].run(&mut self.reference);
        self.high_pass[1].run(&mut self.microphone);
        let active = self.far_end.observe(&self.reference);
        let frozen = self.config.on_double_talk == OnDoubleTalk::Freeze && self.detector.freeze();
        let learning = if active && !frozen { Learning::Adapt } else { Learning::Freeze };
        // Double talk is detected some milliseconds after it begins; by then the filter has adapted to the first word.
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
            if self.config.drift && learning == Learning::Adapt {
                self.follow_drift();
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
        if active {
            let proven = self.filter.is_echo_proven();
            self.diagnosis.judge(energy(&self.microphone), energy(&self.residual), proven);
        }
        true
    }

    /// Moves the reference with the clock of the microphone.
    fn follow_drift(&mut self) {
        let (talks, now) = (self.detector.double_talk(), self.status.samples);
        if let Some(c) = self.drift.observe(now, &self.microphone, &self.residual, talks) {
            self.make_room(c.rate);
            self.clock.steer(c.step, c.rate);
        }
        if self.drift.is_due(now) {
            let moved = self.filter.moved();
            if let Some(rate) = self.drift.look(now, self.clock.lag(), moved) {
                self.make_room(rate);
                self.clock.steer(0.0, rate);
            }
        }
    }

    /// Delays the reference by whole blocks before it is read at an earlier and earlier point, as far as the filter begins with silence: the lag cannot
    /// fall below what interpolation needs. The taps are moved by as much, so the prediction stays the same.
    fn make_room(&mut self, rate: f64) {
        let block = self.config.block();
        if rate >= 0.0 || self.clock.lag() > 2.0 * block as f64 {
            return;
        }
        let blocks =
            self.filter.lead().min((self.clock.most() - self.clock.lag()) as usize / block);
        if blocks > 0 && self.filter.skip(blocks) {
            self.clock.jump(self.clock.lag() + (blocks * block) as f64);
            self.drift.pause();
        }
    }

    fn clear_samples_that_are_not_finite(&mut self) {
        for signal in [&mut self.reference, &mut self.microphone] {
            for v in signal.iter_mut().filter(|v| !v.is_finite()) {
                *v = 0.0;
                self.status.not_finite += 1;
                self.diagnosis.not_finite();
            }
        }
    }

    /// Passes the microphone's block, in which no echo is removed, and gives the filter silence in its place.
    fn pass_too_loud(&mut self) {
        self.ready.copy_from_slice(&self.microphone);
        self.reference.fill(0.0);
        self.microphone.fill(0.0);
        self.clock.run(&mut self.reference);
        self.far_end.observe(&self.reference);
        self.filter.cancel(&self.reference, &self.microphone, Learning::Freeze, &mut self.residual);
        self.recover();
        self.microphone.copy_from_slice(&self.ready);
    }

    /// Changes the reference's delay if the observed echo path is outside of the filter's range.
    fn look_for_the_echo(&mut self) {
        let Some(Found { onset, peak }) =
            self.seek.as_mut().and_then(|s| s.observe(&self.reference, &self.microphone))
        else {
            return;
        };
        self.diagnosis.found(onset);
        if onset < 0 {
            // The echo precedes the reference: no causal filter removes it, and the peak may be chance.
            return;
        }
        let lag = self.clock.lag();
        let after = |lag_of_echo: i64| lag_of_echo - lag.round() as i64;
        // An onset is a guess. It does not move a filter that reaches the strongest path.
        let onset = if after(peak) < 0 { after(onset) } else { after(onset).max(0) };
        let by = shift(onset, self.filter.taps());
        // An echo that precedes the reference cannot be modeled.
        let wanted = (lag.round() as i64).saturating_add(by).max(0);
        if by != 0 && wanted != lag.round() as i64 {
            self.clock.jump(wanted as f64);
            self.filter.clear();
            self.guard.clear();
            self.status.realignments += 1;
        }
    }

    /// Clears the filter if its residual is not finite. Returns whether it did.
    fn recover(&mut self) -> bool {
        if self.residual.iter().all(|v| v.is_finite()) {
            return false;
        }
        self.filter.clear();
        self.guard.clear();
        self.status.resets += 1;
        true
    }

    /// Outputs the residual or, while the residual is harmful or no echo is proven, the microphone signal; cross-fades within one block.
    fn mix(&mut self) {
        // A block that has become far louder is dropped at once instead of faded out.
        if energy(&self.residual) > RUNAWAY * energy(&self.microphone) {
            self.ready.copy_from_slice(&self.microphone);
            self.status.bypassed += self.ready.len() as u64;
            self.share = 0.0;
            return;
        }
        let pays = self.filter.is_echo_proven() && !self.guard.bypass();
        let target = if pays { 1.0 } else { 0.0 };
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
