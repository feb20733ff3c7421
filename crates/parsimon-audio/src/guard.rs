//! Protection against a filter that makes the output worse.

use crate::AudioError;
use crate::config::Config;
use crate::level::decay;
use crate::state::{Reader, Writer};

/// Seconds over which energies are compared.
const COMPARE_SECONDS: f32 = 0.1;
/// Seconds of good results after which a filter is stored.
const HEALTH_SECONDS: f32 = 1.0;
/// Seconds for which a filter may be harmful.
const HARM_SECONDS: f32 = 1.0;
/// The residual is harmful at this multiple of the microphone's energy (1 dB)...
const HARM: f32 = 1.26;
/// ...and is healthy at this share of it (3 dB).
const HEALTH: f32 = 0.5;

/// Recommendation after a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Continue.
    GoOn,
    /// The filter has worked well: store it.
    Keep,
    /// The filter was harmful for too long: restore the stored one.
    FallBack,
    /// The stored filter was harmful too: clear the filter.
    StartOver,
}

/// Compares the energies of microphone and residual.
///
/// A residual louder than the microphone is worse than no cancellation. While its smoothed energy is higher, the output
/// should be the microphone signal ([`bypass`](Self::bypass)). After a second the filter is replaced by
/// the last one that had left less than half of the microphone's energy for a second, and cleared if that
/// filter is no better.
#[derive(Clone, Debug)]
pub struct Guard {
    short: f32,
    long: f32,
    harm_blocks: u32,
    health_blocks: u32,
    /// Smoothed energies of microphone and residual, short-term and long-term.
    microphone: [f32; 2],
    residual: [f32; 2],
    harming: u32,
    healthy: u32,
    bypass: bool,
    /// Whether the filter was restored and has not yet worked well since.
    suspect: bool,
}

impl Guard {
    /// Returns a guard for blocks of [`Config::block`].
    pub fn new(config: &Config) -> Self {
        let blocks =
            |seconds: f32| (seconds * config.rate as f32 / config.block() as f32).ceil() as u32;
        Self {
            short: decay(config, COMPARE_SECONDS),
            long: decay(config, HEALTH_SECONDS),
            harm_blocks: blocks(HARM_SECONDS),
            health_blocks: blocks(HEALTH_SECONDS),
            microphone: [0.0; 2],
            residual: [0.0; 2],
            harming: 0,
            healthy: 0,
            bypass: false,
            suspect: false,
        }
    }

    /// Processes the energies of a block with an active far end.
    pub fn observe(&mut self, microphone: f32, residual: f32) -> Advice {
        for (i, keep) in [self.short, self.long].into_iter().enumerate() {
            self.microphone[i] = keep * self.microphone[i] + (1.0 - keep) * microphone;
            self.residual[i] = keep * self.residual[i] + (1.0 - keep) * residual;
        }
        let limit = if self.bypass { 1.0 } else { HARM };
        self.bypass = self.residual[0] > limit * self.microphone[0];
        if self.bypass {
            self.harming += 1;
            self.healthy = 0;
            if self.harming >= self.harm_blocks {
                self.harming = 0;
                // The errors of this filter do not count against the next one.
                self.residual = self.microphone;
                let advice = if self.suspect { Advice::StartOver } else { Advice::FallBack };
                self.suspect = !self.suspect;
                return advice;
            }
            return Advice::GoOn;
        }
        self.harming = 0;
        self.healthy =
            if self.residual[1] < HEALTH * self.microphone[1] { self.healthy + 1 } else { 0 };
        if self.healthy >= self.health_blocks {
            self.healthy = 0;
            self.suspect = false;
            return Advice::Keep;
        }
        Advice::GoOn
    }

    /// Returns whether the microphone signal is the better output.
    pub fn bypass(&self) -> bool {
        self.bypass
    }

    /// Clears all state.
    pub fn clear(&mut self) {
        (self.microphone, self.residual) = ([0.0; 2], [0.0; 2]);
        (self.harming, self.healthy) = (0, 0);
        (self.bypass, self.suspect) = (false, false);
    }

    pub(crate) fn save(&self, to: &mut Writer) {
        to.numbers(&self.microphone);
        to.numbers(&self.residual);
        let counts = [self.harming, self.healthy, self.bypass.into(), self.suspect.into()];
        counts.into_iter().for_each(|v| to.count(v.into()));
    }

    pub(crate) fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), AudioError> {
        from.numbers(&mut self.microphone)?;
        from.numbers(&mut self.residual)?;
        // A count beyond its limit in a forged state is clamped to the limit.
        self.harming = from.count()?.min(self.harm_blocks.into()) as u32;
        self.healthy = from.count()?.min(self.health_blocks.into()) as u32;
        self.bypass = from.count()? != 0;
        self.suspect = from.count()? != 0;
        Ok(())
    }
}
