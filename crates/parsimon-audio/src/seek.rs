//! The delay of the echo, looked for while the signals arrive.

use crate::AudioError;
use crate::config::Config;
use crate::delay::{Delay, ONSET_SECONDS, QUIET, Search};
use crate::level::energy;
use crate::state::{Reader, Writer, state};

/// Factor on the weight of older frames at every new pair of frames.
const FADE: f32 = 0.5;
/// Two successive results agree if they differ by at most this many seconds.
const AGREE_SECONDS: f64 = 0.002;

/// The echo that was found: lags of its onset and of its strongest path in samples.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) onset: i64,
    pub(crate) peak: i64,
}

/// Searches in frames of about four times the longest delay; two reliable findings in a row that agree count.
#[derive(Clone, Debug)]
pub(crate) struct Seek {
    search: Search,
    /// A frame and a half of both signals.
    far: Vec<f32>,
    near: Vec<f32>,
    filled: usize,
    early: usize,
    agree: i64,
    /// The mean power of the reference, and frames that it was taken over.
    power: f64,
    frames: u64,
    last: Option<i64>,
}

impl Seek {
    pub(crate) fn new(config: &Config) -> Self {
        let rate = f64::from(config.rate);
        let search = Search::new((f64::from(config.search) * rate).ceil() as usize);
        let length = search.length() * 3 / 2;
        Self {
            search,
            far: vec![0.0; length],
            near: vec![0.0; length],
            filled: 0,
            early: (ONSET_SECONDS * rate) as usize,
            agree: (AGREE_SECONDS * rate) as i64,
            power: 0.0,
            frames: 0,
            last: None,
        }
    }

    /// Processes a block of both signals. Returns the echo when it has been found again.
    pub(crate) fn observe(&mut self, far: &[f32], near: &[f32]) -> Option<Found> {
        let mut found = None;
        // A block may reach beyond the end of a frame, never beyond that of two.
        let n = far.len().min(self.far.len() - self.filled);
        self.take(&far[..n], &near[..n]);
        if self.filled == self.far.len() {
            found = self.look();
        }
        self.take(&far[n..], &near[n..]);
        found
    }

    fn take(&mut self, far: &[f32], near: &[f32]) {
        let to = self.filled..self.filled + far.len();
        self.far[to.clone()].copy_from_slice(far);
        self.near[to].copy_from_slice(near);
        self.filled += far.len();
    }

    fn look(&mut self) -> Option<Found> {
        let length = self.search.length();
        let hop = length / 2;
        self.frames += 1;
        let power = f64::from(energy(&self.far)) / self.far.len() as f64;
        self.power += (power - self.power) / self.frames.min(8) as f64;
        self.search.fade(FADE);
        let frame = |at: usize| (&self.far[at..at + length], &self.near[at..at + length]);
        self.search.add([frame(0), frame(hop)], (QUIET * self.power).max(1e-12));
        self.far.copy_within(length.., 0);
        self.near.copy_within(length.., 0);
        self.filled = hop;
        let new = self.search.best(self.early).filter(Delay::is_reliable);
        let old = std::mem::replace(&mut self.last, new.map(|d| d.onset));
        let (old, new) = (old?, new?);
        let found = Found { onset: new.onset, peak: new.samples };
        ((old - new.onset).abs() <= self.agree).then_some(found)
    }

    pub(crate) fn save(&self, to: &mut Writer) {
        self.search.save(to);
        to.numbers(&self.far);
        to.numbers(&self.near);
        to.count(self.filled as u64);
        to.double(self.power);
        to.count(self.frames);
        to.count(u64::from(self.last.is_some()));
        to.double(self.last.unwrap_or(0) as f64);
    }

    pub(crate) fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), AudioError> {
        self.search.restore(from)?;
        from.numbers(&mut self.far)?;
        from.numbers(&mut self.near)?;
        let filled = from.count()?;
        if filled >= self.far.len() as u64 {
            return Err(state("a position is outside of its frame"));
        }
        self.filled = filled as usize;
        self.power = from.double()?;
        self.frames = from.count()?;
        let (known, last) = (from.count()? != 0, from.double()?);
        self.last = known.then_some(last as i64);
        Ok(())
    }
}
