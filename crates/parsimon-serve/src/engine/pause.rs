//! Learning is paused and resumed. Rows that come meanwhile are logged and acknowledged, and learned later or never.

use parsimon_log::Log;

use super::intake::{Intake, refused};
use super::learner::Step;
use super::model::{Learning, Shared};
use super::record::{Backlog, Pause, Paused, Resume, kind};
use super::replica::Version;
use crate::error::Refusal;

impl Learning {
    /// Pauses learning: a record of the log says so, and rows after it wait.
    pub fn pause(&self, reason: &str) -> Result<Version, Refusal> {
        let mut intake = self.intake();
        intake.check()?;
        match &intake.paused {
            Some(Paused { since, reason }) => {
                let words = format!("learning has been paused since record {since}: {reason}");
                Err(Refusal::conflict(words).with("since", *since))
            }
            None => intake.pause(&self.log, reason),
        }
    }

    /// Resumes learning.
    pub fn resume(&self, backlog: Backlog) -> Result<Version, Refusal> {
        let mut intake = self.intake();
        intake.check()?;
        let Some(Paused { since, .. }) = intake.paused else {
            return Err(Refusal::conflict("learning is not paused"));
        };
        let json = serde_json::to_vec(&Resume { backlog }).unwrap_or_default();
        let ticket = self.log.append(kind::RESUME, &json).map_err(|error| refused(&error))?;
        let version = Version { epoch: intake.epoch, seq: ticket.seq };
        intake.paused = None;
        self.shared.gauge.reset();
        let _ = intake.steps.send(Step::Resume(version, since, backlog));
        Ok(version)
    }

    /// Whether learning is paused.
    pub fn is_paused(&self) -> bool {
        self.intake().paused.is_some()
    }
}

impl Intake {
    /// Pauses learning, if it is not paused already.
    fn pause(&mut self, log: &Log, reason: &str) -> Result<Version, Refusal> {
        let json = serde_json::to_vec(&Pause { reason: reason.into() }).unwrap_or_default();
        let ticket = log.append(kind::PAUSE, &json).map_err(|error| refused(&error))?;
        let paused = Paused { since: ticket.seq, reason: reason.into() };
        let version = Version { epoch: self.epoch, seq: ticket.seq };
        self.paused = Some(paused.clone());
        let _ = self.steps.send(Step::Pause(version, paused));
        Ok(version)
    }

    /// The breaker has found a reason to pause.
    pub(crate) fn trip(&mut self, log: &Log, reason: Option<String>) {
        if let (Some(reason), None, None) = (reason, &self.paused, &self.closed) {
            // Where the log takes nothing there is nothing to pause.
            let _ = self.pause(log, &format!("the breaker: {reason}"));
        }
    }
}

impl Shared {
    /// Counts rows that were refused because they are bad, or because there is too much to do.
    pub(crate) fn count_refused(&self, log: &Log, refusal: &Refusal, rows: u64) {
        let is_busy = matches!(refusal.status().as_u16(), 429 | 503);
        self.status.refused[usize::from(is_busy)]
            .fetch_add(rows, std::sync::atomic::Ordering::Relaxed);
        if !is_busy && let Some(reason) = self.gauge.refused(rows) {
            let mut intake = self.intake.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            intake.trip(log, Some(reason));
        }
    }
}
