//! Detectors of far-end activity and of double talk (near-end speech over the echo).

use crate::AudioError;
use crate::config::{Config, Detection};
use crate::leakage::Leakage;
use crate::level::{decay, energy, peak};
use crate::state::{Reader, Writer, state};

/// Seconds over which a detector averages.
const AVERAGE_SECONDS: f32 = 0.02;
/// Seconds for which double talk is reported after its last sign.
const HOLD_SECONDS: f32 = 0.05;
/// Seconds of uninterrupted double talk after which adaptation resumes: a changed echo path looks like double talk.
const PATIENCE_SECONDS: f32 = 1.5;
/// Seconds over which a filter must explain the microphone before the correlation detector trusts it.
const TRUST_SECONDS: f32 = 1.0;
/// Above this mismatch the filter is wrong and its residual is echo.
const MISMATCH: f32 = 0.15;
/// Seconds of a silent far end after which double talk is no longer reported.
const SILENT_SECONDS: f32 = 1.0;
/// Power below this share of the long-term power of the reference is silence.
const SILENCE: f32 = 1e-3;
/// Seconds of the long-term power.
const POWER_SECONDS: f32 = 4.0;

/// Detects far-end activity.
///
/// The reference is active if its mean power over the length of the filter is above
/// [`Config::floor`] and above a thousandth of its long-term power: a weaker echo is dominated by noise.
#[derive(Clone, Debug)]
pub struct FarEnd {
    floor: f32,
    follow: f32,
    recent: Vec<f32>,
    at: usize,
    long_term: f32,
    active: u64,
}

impl FarEnd {
    /// Returns a detector for blocks of [`Config::block`].
    pub fn new(config: &Config) -> Self {
        Self {
            floor: 10f32.powf(config.floor / 10.0),
            follow: 1.0 - decay(config, POWER_SECONDS),
            recent: vec![0.0; config.taps.div_ceil(config.block()) + 1],
            at: 0,
            long_term: 0.0,
            active: 0,
        }
    }

    /// Processes a block; returns whether the reference is active.
    pub fn observe(&mut self, reference: &[f32]) -> bool {
        self.recent[self.at] = energy(reference) / reference.len().max(1) as f32;
        self.at = (self.at + 1) % self.recent.len();
        let power = self.recent.iter().sum::<f32>() / self.recent.len() as f32;
        let active = power > self.floor && power > SILENCE * self.long_term;
        if active {
            self.active += 1;
            self.long_term += (power - self.long_term) * self.follow.max(1.0 / self.active as f32);
        }
        active
    }

    pub(crate) fn save(&self, to: &mut Writer) {
        to.numbers(&self.recent);
        to.number(self.long_term);
        to.count(self.at as u64);
        to.count(self.active);
    }

    pub(crate) fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), AudioError> {
        from.numbers(&mut self.recent)?;
        self.long_term = from.number()?;
        self.at = position(from.count()?, self.recent.len())?;
        self.active = from.count()?;
        Ok(())
    }
}

/// A double-talk detector that works with any adaptive filter.
///
/// The correlation detector relies on the filter, so it reports nothing until the filter has explained half of the part that the
/// threshold leaves open, averaged over a second: the error of a converging filter is not mistaken for
/// near-end speech. A changed echo path looks like double talk: [`freeze`](Self::freeze) therefore gives
/// up after a second and a half, until the filter explains the microphone again.
#[derive(Clone, Debug)]
pub struct Detector {
    kind: Detection,
    average: f32,
    trust: f32,
    hold: u32,
    patience: u32,
    /// `sum(d y)` and `sum(d^2)`, short-term and over a second.
    cross: [f32; 2],
    power: [f32; 2],
    peaks: Vec<f32>,
    at: usize,
    armed: bool,
    leakage: Leakage,
    /// Blocks for which double talk is still reported, and blocks since it began.
    holding: u32,
    lasted: u32,
    /// Consecutive blocks with a silent far end, and the number that ends double talk.
    silent: u32,
    silence: u32,
}

impl Detector {
    /// Returns a detector for blocks of [`Config::block`].
    pub fn new(config: &Config) -> Self {
        let blocks =
            |seconds: f32| (seconds * config.rate as f32 / config.block() as f32).ceil() as u32;
        Self {
            kind: config.detection,
            average: decay(config, AVERAGE_SECONDS),
            trust: decay(config, TRUST_SECONDS),
            hold: blocks(HOLD_SECONDS),
            patience: blocks(PATIENCE_SECONDS),
            cross: [0.0; 2],
            power: [0.0; 2],
            peaks: vec![0.0; config.taps.div_ceil(config.block()) + 1],
            at: 0,
            armed: false,
            leakage: Leakage::new(config),
            holding: 0,
            lasted: 0,
            silent: 0,
            silence: blocks(SILENT_SECONDS),
        }
    }

    /// Processes a block and its residual; returns whether there is double talk.
    pub fn observe(&mut self, reference: &[f32], microphone: &[f32], residual: &[f32]) -> bool {
        self.observe_with(reference, microphone, residual, 0.0)
    }

    /// Processes a block of a filter with a [`mismatch`](crate::Adaptive::mismatch): a large mismatch rules out double talk.
    pub(crate) fn observe_with(
        &mut self,
        reference: &[f32],
        microphone: &[f32],
        residual: &[f32],
        mismatch: f32,
    ) -> bool {
        let sign = match self.kind {
            Detection::Off => false,
            Detection::Correlation { threshold } => {
                let cross: f32 = microphone.iter().zip(residual).map(|(d, e)| d * (d - e)).sum();
                for (k, keep) in [self.average, self.trust].into_iter().enumerate() {
                    self.cross[k] = keep * self.cross[k] + (1.0 - keep) * cross;
                    self.power[k] = keep * self.power[k] + (1.0 - keep) * energy(microphone);
                }
                let half_way = 0.5 * (1.0 + threshold);
                self.armed |= self.cross[1] >= half_way * self.power[1] && self.power[1] > 0.0;
                self.armed && self.cross[0] < threshold * self.power[0]
            }
            Detection::Leakage { threshold } => {
                let patient = self.freeze();
                self.leakage.observe(microphone, residual, threshold, patient)
            }
            Detection::Geigel { threshold } => {
                self.peaks[self.at] = peak(reference);
                self.at = (self.at + 1) % self.peaks.len();
                peak(microphone) > threshold * peak(&self.peaks)
            }
        };
        self.silent = 0;
        self.holding = match sign {
            _ if mismatch > MISMATCH => 0,
            true => self.hold,
            false => self.holding.saturating_sub(1),
        };
        self.lasted = if self.double_talk() { self.lasted.saturating_add(1) } else { 0 };
        if self.lasted > self.patience {
            self.armed = false;
        }
        self.double_talk()
    }

    /// Records a block with a silent far end.
    pub(crate) fn rest(&mut self) {
        self.silent = self.silent.saturating_add(1);
        if self.silent > self.silence {
            self.holding = 0;
        }
    }

    /// Returns whether double talk is reported.
    pub fn double_talk(&self) -> bool {
        self.holding > 0
    }

    /// Returns whether the filter should suspend adaptation.
    pub fn freeze(&self) -> bool {
        self.double_talk() && self.lasted <= self.patience
    }

    pub(crate) fn save(&self, to: &mut Writer) {
        to.numbers(&self.peaks);
        to.numbers(&self.cross);
        to.numbers(&self.power);
        self.leakage.save(to);
        let counts =
            [self.at as u64, u64::from(self.armed), self.holding.into(), self.lasted.into()];
        to.count(self.silent.into());
        counts.into_iter().for_each(|v| to.count(v));
    }

    pub(crate) fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), AudioError> {
        from.numbers(&mut self.peaks)?;
        from.numbers(&mut self.cross)?;
        from.numbers(&mut self.power)?;
        self.leakage.restore(from)?;
        self.silent = from.count()? as u32;
        self.at = position(from.count()?, self.peaks.len())?;
        self.armed = from.count()? != 0;
        self.holding = from.count()? as u32;
        self.lasted = from.count()? as u32;
        Ok(())
    }
}

fn position(at: u64, length: usize) -> Result<usize, AudioError> {
    if at < length as u64 {
        Ok(at as usize)
    } else {
        Err(state("a position is outside of its ring"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detector() -> Detector {
        let detection = Detection::Geigel { threshold: 0.5 };
        Detector::new(&Config { detection, ..Config::default() })
    }

    #[test]
    fn a_verdict_ends_after_a_second_of_silence() {
        let mut detector = detector();
        assert!(detector.observe(&[0.1; 64], &[0.9; 64], &[0.9; 64]));
        (0..250).for_each(|_| detector.rest());
        assert!(detector.double_talk());
        detector.rest();
        assert!(!detector.double_talk());
    }

    #[test]
    fn a_filter_with_the_wrong_path_sees_no_double_talk() {
        let mut detector = detector();
        let (far, near) = ([0.1; 64], [0.9; 64]);
        assert!(!detector.observe_with(&far, &near, &near, 0.5));
        assert!(detector.observe_with(&far, &near, &near, 0.1));
        assert!(!detector.observe_with(&far, &near, &near, 0.5));
    }
}
