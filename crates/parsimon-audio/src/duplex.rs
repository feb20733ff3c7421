//! The canceller behind two callbacks: one that plays and one that records, each at its own times and sizes; several loudspeakers and microphones.

use std::collections::VecDeque;

use crate::state::{Reader, Writer, state};
use crate::{AudioError, Canceller, Config, Warning};

/// Seconds of the reference that wait for the microphone at most.
const MOST_SECONDS: usize = 2;
/// Seconds without a played or without a recorded sample after which [`Duplex::warning`] reports it.
const WARN_SECONDS: u64 = 3;
/// Frames that are handed to the cancellers at once.
const PIECE: usize = 512;
/// Loudspeakers or microphones at most.
const MOST_CHANNELS: usize = 64;

/// A [`Canceller`] with a queue between the loudspeaker and the microphone.
///
/// Sound interfaces call one function that plays and another that records. [`play`](Self::play) takes what goes to the
/// loudspeaker, [`record`](Self::record) takes as much of the microphone as there is and returns the same number of samples without
/// the echo, delayed by [`latency`](Self::latency). The queue is bounded: where `play` runs without `record`, the oldest
/// samples are dropped; where `record` runs without `play`, the loudspeaker counts as silent. Both are counted.
/// [`Config::search`] should not be 0, so that the delay between the two callbacks is found.
///
/// ```
/// use parsimon_audio::{Config, Duplex};
///
/// let mut duplex = Duplex::new(Config { search: 0.5, ..Config::at(16_000) })?;
/// duplex.play(&[0.0; 320]);
/// assert_eq!(duplex.record(&[0.0; 160]).len(), 160);
/// assert_eq!(duplex.record(&[0.0; 200]).len(), 200);
/// assert_eq!((duplex.waiting(), duplex.missing()), (0, 40));
/// # Ok::<(), parsimon_audio::AudioError>(())
/// ```
///
/// With several loudspeakers or microphones ([`with_channels`](Self::with_channels)) samples are interleaved, and counts are of frames. Each
/// microphone has cancellers of its own: one for the difference of each further loudspeaker from the mean of all, then
/// one for the mean, which is the one that suppresses.
#[derive(Debug)]
pub struct Duplex {
    config: Config,
    speakers: usize,
    /// One for each microphone.
    chains: Vec<Chain>,
    /// Frames that were played and not yet used, one queue for each loudspeaker.
    waiting: Vec<VecDeque<f32>>,
    /// Frames that wait at most.
    most: usize,
    references: Vec<Vec<f32>>,
    output: Vec<f32>,
    linear: Vec<f32>,
    missing: u64,
    dropped: u64,
    /// Recorded frames in a row without a played one, and frames that were dropped since the last record.
    starved: u64,
    flooded: u64,
}

/// The cancellers of one microphone, one after the other, and the references that the later ones wait with.
#[derive(Debug)]
struct Chain {
    stages: Vec<Canceller>,
    /// For each stage: the samples by which the stages before it are late.
    late: Vec<VecDeque<f32>>,
    microphone: Vec<f32>,
    reference: Vec<f32>,
}

impl Chain {
    fn new(config: Config, speakers: usize) -> Result<Self, AudioError> {
        let mut stages = Vec::with_capacity(speakers);
        let mut late = Vec::with_capacity(speakers);
        let mut latency = 0;
        for stage in 0..speakers {
            let is_last = stage + 1 == speakers;
            let canceller = Canceller::new(Config {
                suppress: config.suppress && is_last,
                high_pass: config.high_pass && is_last,
                ..config
            })?;
            late.push(std::iter::repeat_n(0.0, latency).collect());
            latency += canceller.latency();
            stages.push(canceller);
        }
        let room = || Vec::with_capacity(PIECE);
        Ok(Self { stages, late, microphone: room(), reference: room() })
    }

    /// The canceller of the mean of the loudspeakers.
    fn last(&self) -> &Canceller {
        &self.stages[self.stages.len() - 1]
    }

    /// Cleans the samples in `microphone`.
    fn run(&mut self, references: &[Vec<f32>]) {
        for (stage, (canceller, late)) in self.stages.iter_mut().zip(&mut self.late).enumerate() {
            self.reference.clear();
            self.reference.extend_from_slice(&references[stage]);
            if !late.is_empty() {
                for v in &mut self.reference {
                    late.push_back(*v);
                    *v = late.pop_front().unwrap_or(0.0);
                }
            }
            let out = canceller.push(&self.reference, &self.microphone);
            self.microphone.copy_from_slice(out);
        }
    }
}

impl Duplex {
    /// Returns a canceller for one loudspeaker and one microphone, with an empty queue.
    pub fn new(config: Config) -> Result<Self, AudioError> {
        Self::with_channels(config, 1, 1)
    }

    /// Returns a canceller for several loudspeakers and microphones, 64 of each at most.
    pub fn with_channels(
        config: Config,
        speakers: usize,
        microphones: usize,
    ) -> Result<Self, AudioError> {
        for (name, count) in [("loudspeakers", speakers), ("microphones", microphones)] {
            if !(1..=MOST_CHANNELS).contains(&count) {
                return Err(AudioError::Setting(format!(
                    "the number of {name} must be between 1 and {MOST_CHANNELS}, got {count}"
                )));
            }
        }
        let most = MOST_SECONDS * config.rate as usize;
        let chains =
            (0..microphones).map(|_| Chain::new(config, speakers)).collect::<Result<_, _>>()?;
        Ok(Self {
            config,
            speakers,
            chains,
            waiting: vec![VecDeque::with_capacity(most); speakers],
            most,
            references: vec![Vec::with_capacity(PIECE); speakers],
            output: Vec::with_capacity(PIECE * microphones),
            linear: Vec::with_capacity(PIECE * microphones),
            missing: 0,
            dropped: 0,
            starved: 0,
            flooded: 0,
        })
    }

    /// Takes samples that go to the loudspeakers, frame by frame. The rest of an incomplete frame is not used.
    pub fn play(&mut self, reference: &[f32]) {
        let frames = reference.len() / self.speakers;
        // Of a piece that is longer than the queue only the end fits.
        let first = frames.saturating_sub(self.most);
        let excess = (self.waiting() + frames - first).saturating_sub(self.most);
        for (channel, waiting) in self.waiting.iter_mut().enumerate() {
            waiting.drain(..excess);
            waiting.extend(
                reference.iter().skip(first * self.speakers + channel).step_by(self.speakers),
            );
            waiting.truncate(self.most);
        }
        let dropped = (excess + first) as u64;
        self.dropped += dropped;
        self.flooded += dropped;
    }

    /// Takes samples of the microphones, frame by frame, and returns the same number of samples without the echo. The rest of an
    /// incomplete frame is not used and not returned.
    ///
    /// Allocates only if the piece is longer than all earlier ones.
    pub fn record(&mut self, microphone: &[f32]) -> &[f32] {
        let microphones = self.chains.len();
        let total = microphone.len() / microphones * microphones;
        self.output.resize(total, 0.0);
        if self.config.suppress {
            self.linear.resize(total, 0.0);
        }
        if total > 0 {
            self.flooded = 0;
        }
        let mut at = 0;
        for piece in microphone[..total].chunks(PIECE * microphones) {
            let frames = piece.len() / microphones;
            self.take(frames);
            for (channel, chain) in self.chains.iter_mut().enumerate() {
                chain.microphone.clear();
                chain.microphone.extend(piece.iter().skip(channel).step_by(microphones));
                chain.run(&self.references);
                let places = (at + channel..at + piece.len()).step_by(microphones);
                for (to, v) in places.clone().zip(&chain.microphone) {
                    self.output[to] = *v;
                }
                if self.config.suppress {
                    for (to, v) in places.zip(chain.last().linear()) {
                        self.linear[to] = *v;
                    }
                }
            }
            at += piece.len();
        }
        &self.output
    }

    /// Takes frames from the queues: the differences of the further loudspeakers from the mean, then the mean.
    fn take(&mut self, frames: usize) {
        let known = self.waiting().min(frames);
        for (waiting, reference) in self.waiting.iter_mut().zip(&mut self.references) {
            reference.clear();
            reference.extend(waiting.drain(..known));
            reference.resize(frames, 0.0);
        }
        if self.speakers > 1 {
            let share = 1.0 / self.speakers as f32;
            for i in 0..frames {
                let mean = share * self.references.iter().map(|r| r[i]).sum::<f32>();
                for stage in 0..self.speakers - 1 {
                    self.references[stage][i] = self.references[stage + 1][i] - mean;
                }
                self.references[self.speakers - 1][i] = mean;
            }
        }
        let missing = (frames - known) as u64;
        self.missing += missing;
        self.starved = if known > 0 { missing } else { self.starved + missing };
    }

    /// Starts over with the same settings: new cancellers, and empty queues.
    pub fn reset(&mut self) -> Result<(), AudioError> {
        *self = Self::with_channels(self.config, self.speakers, self.chains.len())?;
        Ok(())
    }

    /// Returns by how many samples the output is later than the microphone.
    pub fn latency(&self) -> usize {
        self.chains[0].stages.iter().map(Canceller::latency).sum()
    }

    /// Returns the number of loudspeakers.
    pub fn speakers(&self) -> usize {
        self.speakers
    }

    /// Returns the number of microphones.
    pub fn microphones(&self) -> usize {
        self.chains.len()
    }

    /// Returns what the last [`record`](Self::record) would have returned without the suppressor, sample for sample beside it.
    pub fn linear(&self) -> &[f32] {
        if self.config.suppress { &self.linear } else { &self.output }
    }

    /// Returns what is wrong with the signals or with the calls, if something is.
    pub fn warning(&self) -> Option<Warning> {
        let limit = WARN_SECONDS * u64::from(self.config.rate);
        if self.flooded > 0 {
            Some(Warning::NothingRecorded)
        } else if self.starved > limit {
            Some(Warning::NothingPlayed)
        } else {
            self.chains.iter().find_map(|chain| chain.last().warning())
        }
    }

    /// Returns the canceller of the first microphone, for its status. With several loudspeakers it is that of their mean.
    pub fn canceller(&self) -> &Canceller {
        self.chains[0].last()
    }

    /// Returns the number of frames that were played and not yet used.
    pub fn waiting(&self) -> usize {
        self.waiting[0].len()
    }

    /// Returns the number of recorded frames without a played one.
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// Returns the number of played frames that were dropped because nothing was recorded.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Returns the complete state as bytes, the queues included. [`restore`](Self::restore) continues from it bit for bit.
    pub fn save(&self) -> Vec<u8> {
        let mut to = Writer::new();
        to.count(self.speakers as u64);
        to.count(self.chains.len() as u64);
        to.count(self.waiting() as u64);
        for waiting in &self.waiting {
            // Samples that are not finite count as zero when they are used.
            waiting.iter().for_each(|v| to.number(if v.is_finite() { *v } else { 0.0 }));
        }
        let counts = [self.missing, self.dropped, self.starved, self.flooded];
        counts.into_iter().for_each(|v| to.count(v));
        for chain in &self.chains {
            for (stage, late) in chain.stages.iter().zip(&chain.late) {
                to.bytes(&stage.save());
                let late: Vec<f32> =
                    late.iter().map(|v| if v.is_finite() { *v } else { 0.0 }).collect();
                to.numbers(&late);
            }
        }
        to.finish()
    }

    /// Restores the bytes of [`save`](Self::save).
    pub fn restore(bytes: &[u8]) -> Result<Self, AudioError> {
        let mut from = Reader::new(bytes)?;
        let size = |v: u64| usize::try_from(v).map_err(|_| state("holds an impossible count"));
        let (speakers, microphones) = (size(from.count()?)?, size(from.count()?)?);
        let frames = size(from.count()?)?;
        let possible = 1..=MOST_CHANNELS;
        if !possible.contains(&speakers) || !possible.contains(&microphones) || frames > bytes.len()
        {
            return Err(state("holds an impossible number of channels or samples"));
        }
        let mut waiting = Vec::with_capacity(speakers);
        for _ in 0..speakers {
            waiting.push((0..frames).map(|_| from.number()).collect::<Result<VecDeque<_>, _>>()?);
        }
        let counts = [from.count()?, from.count()?, from.count()?, from.count()?];
        let mut chains = Vec::with_capacity(microphones);
        for _ in 0..microphones {
            let (mut stages, mut lates) = (Vec::new(), Vec::new());
            let mut latency = 0;
            for _ in 0..speakers {
                let canceller = Canceller::restore(from.bytes()?)?;
                let mut late = vec![0.0; latency];
                from.numbers(&mut late)?;
                latency += canceller.latency();
                stages.push(canceller);
                lates.push(late.into());
            }
            let room = || Vec::with_capacity(PIECE);
            chains.push(Chain { stages, late: lates, microphone: room(), reference: room() });
        }
        from.finish()?;
        let last: &Canceller = chains[0].last();
        let mut duplex = Self::with_channels(*last.config(), speakers, microphones)?;
        if frames > duplex.most {
            return Err(state("holds more samples than the queue"));
        }
        for (queue, restored) in duplex.waiting.iter_mut().zip(waiting) {
            queue.extend(restored);
        }
        duplex.chains = chains;
        [duplex.missing, duplex.dropped, duplex.starved, duplex.flooded] = counts;
        Ok(duplex)
    }
}
