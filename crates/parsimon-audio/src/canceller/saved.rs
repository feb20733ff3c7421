//! Serialization of a canceller.

use super::Canceller;
use crate::AudioError;
use crate::adaptive::Adaptive;
use crate::config::{Config, Detection, OnDoubleTalk};
use crate::kalman::Kalman;
use crate::state::{Reader, Writer, state};

impl Canceller {
    /// Returns the complete state as bytes. [`restore`](Self::restore) continues from it bit for bit.
    pub fn save(&self) -> Vec<u8> {
        let mut to = Writer::new();
        to.text(self.filter.name());
        let c = &self.config;
        to.count(c.taps as u64);
        to.count(c.growth as u64);
        to.count(c.rate.into());
        [c.memory, c.step, c.floor].into_iter().for_each(|v| to.number(v));
        let (kind, threshold) = match c.detection {
            Detection::Off => (0, 0.0),
            Detection::Correlation { threshold } => (1, threshold),
            Detection::Geigel { threshold } => (2, threshold),
            Detection::Leakage { threshold } => (3, threshold),
        };
        to.count(kind);
        to.number(threshold);
        to.count(u64::from(c.on_double_talk == OnDoubleTalk::Freeze));
        to.count(u64::from(c.suppress));
        to.count(u64::from(c.high_pass));
        to.count(u64::from(c.drift));
        to.count(c.delay as u64);
        to.number(c.search);

        self.filter.save(&mut to);
        self.clock.save(&mut to);
        self.drift.save(&mut to);
        self.seek.iter().for_each(|s| s.save(&mut to));
        self.high_pass.iter().for_each(|h| h.save(&mut to));
        self.rumble.save(&mut to);
        self.far_end.save(&mut to);
        self.detector.save(&mut to);
        self.guard.save(&mut to);
        self.suppressor.iter().for_each(|s| s.save(&mut to));
        if let Some(linear) = &self.linear {
            linear.rumble.save(&mut to);
            to.numbers(&linear.waiting);
        }
        self.diagnosis.save(&mut to);
        self.counts().into_iter().for_each(|v| to.count(v));
        to.count(u64::from(self.was_frozen));
        to.number(self.share);
        to.count(self.filled as u64);
        // INVARIANT: a piece may end inside a block that contains values that are not finite. A complete block replaces
        // them by zero and counts them; the same is done here.
        for signal in [&self.reference, &self.microphone] {
            let finite: Vec<f32> =
                signal.iter().map(|v| if v.is_finite() { *v } else { 0.0 }).collect();
            to.numbers(&finite);
        }
        to.numbers(&self.ready);
        to.finish()
    }

    /// Restores a canceller that uses [`Kalman`] from the bytes of [`save`](Self::save).
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

    /// Restores a canceller with any filter; `make` builds the filter from the saved settings.
    pub fn restore_with(
        bytes: &[u8],
        make: impl FnOnce(&Config) -> Result<Box<dyn Adaptive>, AudioError>,
    ) -> Result<Self, AudioError> {
        let mut from = Reader::new(bytes)?;
        let name = from.text()?;
        let taps = usize::try_from(from.count()?).map_err(|_| state("too many taps"))?;
        let growth = usize::try_from(from.count()?).map_err(|_| state("too large a growth"))?;
        let rate = u32::try_from(from.count()?).map_err(|_| state("too high a rate"))?;
        let (memory, step, floor) = (from.number()?, from.number()?, from.number()?);
        let (kind, threshold) = (from.count()?, from.number()?);
        let detection = match kind {
            0 => Detection::Off,
            1 => Detection::Correlation { threshold },
            2 => Detection::Geigel { threshold },
            3 => Detection::Leakage { threshold },
            _ => return Err(state(format!("no detector has the number {kind}"))),
        };
        let on_double_talk = match from.count()? {
            0 => OnDoubleTalk::Report,
            1 => OnDoubleTalk::Freeze,
            v => return Err(state(format!("no reaction to double talk has the number {v}"))),
        };
        let suppress = from.count()? != 0;
        let (high_pass, drift) = (from.count()? != 0, from.count()? != 0);
        let delay = usize::try_from(from.count()?).map_err(|_| state("too long a delay"))?;
        let search = from.number()?;
        let config = Config {
            taps,
            growth,
            rate,
            memory,
            step,
            floor,
            detection,
            on_double_talk,
            suppress,
            high_pass,
            drift,
            delay,
            search,
        };
        config.check()?;
        let filter = make(&config)?;
        if filter.name() != name {
            return Err(state(format!("is of the filter {name}, not of {}", filter.name())));
        }
        let mut canceller = Self::with(filter, config)?;
        canceller.filter.restore(&mut from)?;
        canceller.clock.restore(&mut from)?;
        canceller.drift.restore(&mut from)?;
        if let Some(seek) = &mut canceller.seek {
            seek.restore(&mut from)?;
        }
        for high_pass in &mut canceller.high_pass {
            high_pass.restore(&mut from)?;
        }
        canceller.rumble.restore(&mut from)?;
        canceller.far_end.restore(&mut from)?;
        canceller.detector.restore(&mut from)?;
        canceller.guard.restore(&mut from)?;
        if let Some(suppressor) = &mut canceller.suppressor {
            suppressor.restore(&mut from)?;
        }
        if let Some(linear) = &mut canceller.linear {
            linear.rumble.restore(&mut from)?;
            from.numbers(&mut linear.waiting)?;
        }
        canceller.diagnosis.restore(&mut from)?;
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

    fn counts(&self) -> [u64; 11] {
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
            s.realignments,
        ]
    }

    fn counts_mut(&mut self) -> [&mut u64; 11] {
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
            &mut s.realignments,
        ]
    }
}
