//! Diagnosis of the two signals: what keeps a canceller from working that no filter can mend.

use std::fmt;

use crate::AudioError;
use crate::config::Config;
use crate::level::{decay, energy};
use crate::state::{Reader, Writer};

/// Seconds of constant samples after which the microphone counts as silent.
const SILENT_SECONDS: f32 = 3.0;
/// Seconds without a sound from the loudspeaker after which the reference counts as missing, if it has never had one.
const NO_REFERENCE_SECONDS: f32 = 15.0;
/// Seconds of an active far end without a proven echo after which there is none.
const NO_ECHO_SECONDS: f32 = 8.0;
/// Seconds over which clipping and samples that are not finite are remembered.
const REMEMBER_SECONDS: f32 = 10.0;
/// A signal is clipped if this share of its samples is in runs of equal ones at its peak.
const CLIPPED: f32 = 1e-3;
/// Equal samples in a row that make a run, and the least peak that counts, of full scale 1.
const RUN: usize = 3;
const LEAST_PEAK: f32 = 0.02;
/// Samples beyond this are no sound.
const LOUDEST: f32 = 1e6;
/// Seconds over which the energies of microphone and residual are averaged.
const ERLE_SECONDS: f32 = 3.0;
/// Mean power of the reference below which there is no sound.
const NO_SOUND: f32 = 1e-9;

/// Something wrong with the signals of a [`Canceller`](crate::Canceller).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// Samples are not finite and count as zero.
    NotFinite,
    /// The microphone delivers a constant.
    SilentMicrophone,
    /// The reference has been silent from the start.
    SilentReference,
    /// The echo precedes the reference by this many seconds.
    LateReference {
        /// Seconds, positive.
        seconds: f32,
    },
    /// No echo of the reference is in the microphone.
    NoEcho,
    /// The microphone clips.
    ClippedMicrophone,
    /// The reference clips before it is played.
    ClippedReference,
    /// The microphone records, and nothing is played: the queue of [`Duplex`](crate::Duplex) has been empty for seconds.
    NothingPlayed,
    /// Samples are played, and nothing is recorded: the queue of [`Duplex`](crate::Duplex) is full.
    NothingRecorded,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFinite => {
                f.write_str("samples are not finite and count as zero; check the sound driver and the conversion of samples")
            }
            Self::SilentMicrophone => f.write_str(
                "the microphone delivers the same value all the time; check that it is connected and not muted",
            ),
            Self::SilentReference => f.write_str(
                "the reference has been silent from the start; pass the samples that the loudspeaker plays",
            ),
            Self::LateReference { seconds } => write!(
                f,
                "the reference comes {:.0} ms later than its echo; pass it before it is played, delay the microphone, or exchange the two signals if they are swapped",
                1000.0 * seconds
            ),
            Self::NoEcho => f.write_str(
                "no echo of the reference is in the microphone: a headset, a muted loudspeaker, an echo later than the longest delay, or the reference is not what plays",
            ),
            Self::ClippedMicrophone => {
                f.write_str("the microphone clips; lower its gain, or the volume of the loudspeaker")
            }
            Self::ClippedReference => f.write_str("the reference clips; lower its level"),
            Self::NothingPlayed => f.write_str(
                "the microphone records but nothing is played; the loudspeaker counts as silent",
            ),
            Self::NothingRecorded => f.write_str(
                "samples are played but nothing is recorded; the oldest ones are dropped",
            ),
        }
    }
}

/// Samples in flat runs at the peak of a signal.
#[derive(Clone, Debug)]
struct Flat {
    peak: f32,
    last: f32,
    run: usize,
    /// The share of such samples, averaged.
    share: f32,
    /// Blocks since there was one.
    since: u32,
}

impl Flat {
    fn new() -> Self {
        Self { peak: LEAST_PEAK, last: 0.0, run: 0, share: 0.0, since: u32::MAX }
    }

    fn observe(&mut self, block: &[f32], follow: f32) {
        let mut flat = 0usize;
        for &v in block {
            let v = v.clamp(-LOUDEST, LOUDEST);
            let size = v.abs();
            self.run = if v == self.last { self.run.saturating_add(1) } else { 1 };
            self.last = v;
            if size > self.peak {
                // A louder sample: what came before was no limit.
                (self.peak, self.share) = (size, 0.0);
            }
            // The samples of a run count once it is long enough.
            if size >= self.peak && self.run >= RUN {
                flat += if self.run == RUN { RUN } else { 1 };
            }
        }
        let share = flat as f32 / block.len().max(1) as f32;
        self.share += (share - self.share) * follow;
        self.since = if flat > 0 { 0 } else { self.since.saturating_add(1) };
    }

    fn is_clipped(&self) -> bool {
        self.share > CLIPPED
    }
}

#[derive(Clone, Debug)]
pub(super) struct Diagnosis {
    rate: f32,
    /// Blocks per second.
    blocks: f32,
    follow: f32,
    keep: f32,
    flat: [Flat; 2],
    /// Blocks in which the microphone was constant, in a row.
    constant: u32,
    last: f32,
    /// Blocks without a sound in the reference from the start; `None` after the first sound.
    unheard: Option<u32>,
    /// Blocks with an active far end since an echo was proven last.
    without_echo: u32,
    /// The onset of the echo that was found last, in samples.
    onset: Option<i64>,
    /// Blocks since a sample was not finite.
    since_not_finite: u32,
    /// Averaged energies of microphone and residual.
    heard: f32,
    left: f32,
}

impl Diagnosis {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            rate: config.rate as f32,
            blocks: config.rate as f32 / config.block() as f32,
            follow: 1.0 - decay(config, REMEMBER_SECONDS),
            keep: decay(config, ERLE_SECONDS),
            flat: [Flat::new(), Flat::new()],
            constant: 0,
            last: 0.0,
            unheard: Some(0),
            without_echo: 0,
            onset: None,
            since_not_finite: u32::MAX,
            heard: 0.0,
            left: 0.0,
        }
    }

    /// Takes in a block of both signals as they arrive, samples that are not finite replaced.
    pub(super) fn observe(&mut self, reference: &[f32], microphone: &[f32]) {
        for (flat, signal) in self.flat.iter_mut().zip([reference, microphone]) {
            flat.observe(signal, self.follow);
        }
        let is_constant = microphone.iter().all(|v| *v == self.last);
        self.last = microphone.last().map_or(self.last, |v| v.clamp(-LOUDEST, LOUDEST));
        self.constant = if is_constant { self.constant.saturating_add(1) } else { 0 };
        let sounds = energy(reference) > NO_SOUND * reference.len() as f32;
        self.unheard = self.unheard.filter(|_| !sounds).map(|n| n.saturating_add(1));
        self.since_not_finite = self.since_not_finite.saturating_add(1);
    }

    /// Whether the microphone clips in this block or in one of the `blocks` before it.
    pub(super) fn microphone_clips(&self, blocks: u32) -> bool {
        let flat = &self.flat[1];
        flat.is_clipped() && flat.since <= blocks
    }

    /// Takes note of samples that are not finite.
    pub(super) fn not_finite(&mut self) {
        self.since_not_finite = 0;
    }

    /// Takes in the energies of a block with an active far end, and whether an echo is proven.
    pub(super) fn judge(&mut self, microphone: f32, residual: f32, proven: bool) {
        // A state with an infinite number could not be read back.
        let bounded = |v: f32| if v.is_finite() { v.min(1e30) } else { 1e30 };
        self.heard = self.keep * self.heard + (1.0 - self.keep) * bounded(microphone);
        self.left = self.keep * self.left + (1.0 - self.keep) * bounded(residual);
        self.without_echo = if proven { 0 } else { self.without_echo.saturating_add(1) };
    }

    /// Takes in the onset of the echo that a search has found.
    pub(super) fn found(&mut self, onset: i64) {
        self.onset = Some(onset);
    }

    pub(super) fn erle(&self) -> Option<f32> {
        let known = self.heard > 0.0 && self.left.is_finite();
        known.then(|| 10.0 * (self.heard / self.left.max(1e-12 * self.heard)).log10())
    }

    pub(super) fn warning(&self) -> Option<Warning> {
        let over = |count: u32, seconds: f32| count as f32 > seconds * self.blocks;
        let is_lost = over(self.without_echo, NO_ECHO_SECONDS);
        if (self.since_not_finite as f32) < REMEMBER_SECONDS * self.blocks {
            Some(Warning::NotFinite)
        } else if over(self.constant, SILENT_SECONDS) {
            Some(Warning::SilentMicrophone)
        } else if self.unheard.is_some_and(|n| over(n, NO_REFERENCE_SECONDS)) {
            Some(Warning::SilentReference)
        } else if let Some(onset) = self.onset.filter(|o| *o < 0) {
            Some(Warning::LateReference { seconds: -(onset as f32) / self.rate })
        } else if is_lost {
            Some(Warning::NoEcho)
        } else if self.flat[1].is_clipped() {
            Some(Warning::ClippedMicrophone)
        } else if self.flat[0].is_clipped() {
            Some(Warning::ClippedReference)
        } else {
            None
        }
    }

    pub(super) fn save(&self, to: &mut Writer) {
        for flat in &self.flat {
            [flat.peak, flat.last, flat.share].into_iter().for_each(|v| to.number(v));
            to.count(flat.run as u64);
            to.count(flat.since.into());
        }
        [self.last, self.heard, self.left].into_iter().for_each(|v| to.number(v));
        for count in [self.constant, self.without_echo, self.since_not_finite] {
            to.count(count.into());
        }
        to.count(self.unheard.map_or(u64::MAX, u64::from));
        to.count(u64::from(self.onset.is_some()));
        to.double(self.onset.unwrap_or(0) as f64);
    }

    pub(super) fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), AudioError> {
        for flat in &mut self.flat {
            (flat.peak, flat.last, flat.share) = (from.number()?, from.number()?, from.number()?);
            (flat.run, flat.since) = (from.count()? as usize, from.count()? as u32);
        }
        (self.last, self.heard, self.left) = (from.number()?, from.number()?, from.number()?);
        for count in [&mut self.constant, &mut self.without_echo, &mut self.since_not_finite] {
            *count = from.count()? as u32;
        }
        self.unheard = u32::try_from(from.count()?).ok();
        let (known, onset) = (from.count()? != 0, from.double()?);
        self.onset = known.then_some(onset as i64);
        Ok(())
    }
}
