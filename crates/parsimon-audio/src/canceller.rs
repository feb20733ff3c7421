//! The canceller: an adaptive filter, blocks in and out, and safeguards around them.

use serde::Serialize;

use crate::AudioError;
use crate::adaptive::{Adaptive, Learning};
use crate::config::{Config, Detection, OnDoubleTalk};
use crate::detector::{Detector, FarEnd, energy, peak};
use crate::guard::{Advice, Guard};
use crate::kalman::Kalman;
use crate::state::{Reader, Writer, state};

/// Louder than this is no sound of full scale 1, and its square would not fit the arithmetic.
const LOUDEST: f32 = 1e6;

/// A residual of more than this multiple of the microphone's energy (20 dB) is no residual.
const RUNAWAY: f32 = 100.0;

/// What has happened so far, in samples and in events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Status {
    /// Samples processed in whole blocks.
    pub samples: u64,
    /// Of these, with an active far end.
    pub active: u64,
    /// Of the active ones, with double talk in the detector's eyes.
    pub double_talk: u64,
    /// Not learned from because the far end was silent.
    pub frozen_silent: u64,
    /// Not learned from because of double talk.
    pub frozen_double_talk: u64,
    /// Not learned from because a sample of the block was beyond a million times full scale.
    pub frozen_too_loud: u64,
    /// Samples that were not finite and were taken for zero.
    pub not_finite: u64,
    /// Samples for which the output was the microphone because the residual was louder.
    pub bypassed: u64,
    /// Times the filter was called back to the last good one.
    pub fallbacks: u64,
    /// Times the filter took over its fast shadow, as after a change of the echo path.
    pub takeovers: u64,
    /// Times the filter was cleared because it was no longer finite, or harmful though called back.
    pub resets: u64,
}

impl Status {
    /// The share of active samples with double talk, 0 where there were none.
    pub fn double_talk_share(&self) -> f64 {
        if self.active == 0 { 0.0 } else { self.double_talk as f64 / self.active as f64 }
    }
}

/// An acoustic echo canceller, fed in pieces of any length.
///
/// The output is [`latency`](Self::latency) samples late (one block) and the same, bit for bit, however the
/// input is cut into pieces. With a silent reference it is the microphone. It is finite for any finite input;
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
    far_end: FarEnd,
    detector: Detector,
    guard: Guard,
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
        Ok(Self {
            far_end: FarEnd::new(&config),
            detector: Detector::new(&config),
            guard: Guard::new(&config),
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
        self.config.block()
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What has happened so far.
    pub fn status(&self) -> Status {
        Status { takeovers: self.filter.takeovers(), ..self.status }
    }

    /// The echo path as the filter believes it to be.
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
                self.process();
            }
        }
        &self.output[..length]
    }

    /// One whole block from `reference` and `microphone` to `ready`.
    fn process(&mut self) {
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
            self.far_end.observe(&self.reference);
            self.filter.cancel(
                &self.reference,
                &self.microphone,
                Learning::Freeze,
                &mut self.residual,
            );
            self.recover();
            return;
        }
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
            return;
        }
        if active {
            self.status.active += n;
            if self.detector.observe(&self.reference, &self.microphone, &self.residual) {
                self.status.double_talk += n;
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
        self.mix();
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

    /// All that the next sample depends on. [`restore`](Self::restore) goes on from it bit for bit.
    pub fn save(&self) -> Vec<u8> {
        let mut to = Writer::new();
        to.text(self.filter.name());
        let c = &self.config;
        to.count(c.taps as u64);
        to.count(c.rate.into());
        [c.memory, c.step, c.floor].into_iter().for_each(|v| to.number(v));
        let (kind, threshold) = match c.detection {
            Detection::Off => (0, 0.0),
            Detection::Correlation { threshold } => (1, threshold),
            Detection::Geigel { threshold } => (2, threshold),
        };
        to.count(kind);
        to.number(threshold);
        to.count(u64::from(c.on_double_talk == OnDoubleTalk::Freeze));

        self.filter.save(&mut to);
        self.far_end.save(&mut to);
        self.detector.save(&mut to);
        self.guard.save(&mut to);
        self.counts().into_iter().for_each(|v| to.count(v));
        to.count(u64::from(self.was_frozen));
        to.number(self.share);
        to.count(self.filled as u64);
        // INVARIANT: a piece may end inside a block with numbers that are not finite; they count as zero
        // when the block is whole, so they are zero here, and counted.
        for signal in [&self.reference, &self.microphone] {
            let finite: Vec<f32> =
                signal.iter().map(|v| if v.is_finite() { *v } else { 0.0 }).collect();
            to.numbers(&finite);
        }
        to.numbers(&self.ready);
        to.finish()
    }

    /// Goes on where [`save`](Self::save) stopped, around [`Kalman`].
    ///
    /// ```
    /// use parsimon_audio::{Canceller, Config};
    ///
    /// let mut one = Canceller::new(Config::default()).unwrap();
    /// let far: Vec<f32> = (0..1000).map(|i| (i as f32 * 0.1).sin()).collect();
    /// let near: Vec<f32> = far.iter().map(|x| 0.3 * x).collect();
    /// one.push(&far, &near);
    /// let mut other = Canceller::restore(&one.save()).unwrap();
    /// assert_eq!(one.push(&far, &near), other.push(&far, &near));
    /// ```
    pub fn restore(bytes: &[u8]) -> Result<Self, AudioError> {
        Self::restore_with(bytes, |config| Ok(Box::new(Kalman::new(config)?)))
    }

    /// The same around any filter; `make` builds it for the saved settings.
    pub fn restore_with(
        bytes: &[u8],
        make: impl FnOnce(&Config) -> Result<Box<dyn Adaptive>, AudioError>,
    ) -> Result<Self, AudioError> {
        let mut from = Reader::new(bytes)?;
        let name = from.text()?;
        let taps = usize::try_from(from.count()?).map_err(|_| state("too many taps"))?;
        let rate = u32::try_from(from.count()?).map_err(|_| state("too high a rate"))?;
        let (memory, step, floor) = (from.number()?, from.number()?, from.number()?);
        let (kind, threshold) = (from.count()?, from.number()?);
        let detection = match kind {
            0 => Detection::Off,
            1 => Detection::Correlation { threshold },
            2 => Detection::Geigel { threshold },
            _ => return Err(state(format!("no detector has the number {kind}"))),
        };
        let on_double_talk = match from.count()? {
            0 => OnDoubleTalk::Report,
            1 => OnDoubleTalk::Freeze,
            v => return Err(state(format!("no reaction to double talk has the number {v}"))),
        };
        let config = Config { taps, rate, memory, step, floor, detection, on_double_talk };
        config.check()?;
        let filter = make(&config)?;
        if filter.name() != name {
            return Err(state(format!("is of the filter {name}, not of {}", filter.name())));
        }
        let mut canceller = Self::with(filter, config)?;
        canceller.filter.restore(&mut from)?;
        canceller.far_end.restore(&mut from)?;
        canceller.detector.restore(&mut from)?;
        canceller.guard.restore(&mut from)?;
        for count in canceller.counts_mut() {
            *count = from.count()?;
        }
        canceller.was_frozen = from.count()? != 0;
        canceller.share = from.number()?;
        let filled = from.count()?;
        if filled >= config.block() as u64 {
            return Err(state("a position is outside of its block"));
        }
        canceller.filled = filled as usize;
        from.numbers(&mut canceller.reference)?;
        from.numbers(&mut canceller.microphone)?;
        from.numbers(&mut canceller.ready)?;
        from.finish()?;
        Ok(canceller)
    }

    fn counts(&self) -> [u64; 10] {
        let s = &self.status;
        let waiting = [&self.reference, &self.microphone];
        let waiting =
            waiting.iter().flat_map(|v| &v[..self.filled]).filter(|v| !v.is_finite()).count();
        [
            s.samples,
            s.active,
            s.double_talk,
            s.frozen_silent,
            s.frozen_double_talk,
            s.frozen_too_loud,
            s.not_finite + waiting as u64,
            s.bypassed,
            s.fallbacks,
            s.resets,
        ]
    }

    fn counts_mut(&mut self) -> [&mut u64; 10] {
        let s = &mut self.status;
        [
            &mut s.samples,
            &mut s.active,
            &mut s.double_talk,
            &mut s.frozen_silent,
            &mut s.frozen_double_talk,
            &mut s.frozen_too_loud,
            &mut s.not_finite,
            &mut s.bypassed,
            &mut s.fallbacks,
            &mut s.resets,
        ]
    }
}
