//! Learning is paused and resumed. Rows that come meanwhile are logged and acknowledged, and learned later or never.

use std::sync::atomic::Ordering;

use parsimon_log::Log;

use super::intake::Intake;
use super::learner::Step;
use super::model::{Learning, Shared};
use super::record::{Backlog, Pause, Paused, Resume, kind};
use super::replica::Version;
use super::status::Status;
use crate::error::Refusal;

impl Learning {
    /// Pauses learning: a record of the log says so, and rows after it wait.
    pub fn pause(&self, reason: &str) -> Result<Version, Refusal> {
        let mut intake = self.intake();
        intake.check()?;
        if intake.warming.is_some() {
            let words = "the model collects its first rows, and learns nothing yet";
            return Err(Refusal::conflict(words));
        }
        match &intake.paused {
            Some(Paused { since, reason }) => {
                let words = format!("learning has been paused since record {since}: {reason}");
                Err(Refusal::conflict(words).with("since", *since))
            }
            None => intake.pause(&self.log, &self.shared.status, reason),
        }
    }

    /// Resumes learning.
    pub fn resume(&self, backlog: Backlog) -> Result<Version, Refusal> {
        let mut intake = self.intake();
        intake.check()?;
        intake.resume(&self.log, &self.shared, backlog)
    }

    /// Whether learning is paused.
    pub fn is_paused(&self) -> bool {
        self.shared.status.is_paused.load(Ordering::Relaxed)
    }
}

impl Intake {
    /// Pauses learning, if it is not paused already.
    pub(super) fn pause(
        &mut self,
        log: &Log,
        status: &Status,
        reason: &str,
    ) -> Result<Version, Refusal> {
        let json = serde_json::to_vec(&Pause { reason: reason.into() }).unwrap_or_default();
        let ticket = self.append(log, kind::PAUSE, &json)?;
        let paused = Paused { since: ticket.seq, reason: reason.into() };
        let version = Version { epoch: self.epoch, seq: ticket.seq };
        self.paused = Some(paused.clone());
        status.set_paused(true);
        let _ = self.steps.send(Step::Pause(version, paused));
        Ok(version)
    }

    /// Resumes learning.
    pub(super) fn resume(
        &mut self,
        log: &Log,
        shared: &Shared,
        backlog: Backlog,
    ) -> Result<Version, Refusal> {
        let Some(Paused { since, .. }) = self.paused else {
            return Err(Refusal::conflict("learning is not paused"));
        };
        let json = serde_json::to_vec(&Resume { backlog }).unwrap_or_default();
        let version = self.append_step(log, kind::RESUME, &json)?;
        self.paused = None;
        shared.status.set_paused(false);
        shared.gauge.reset();
        let _ = self.steps.send(Step::Resume(version, since, backlog));
        Ok(version)
    }

    /// The breaker has found a reason to pause.
    pub(crate) fn trip(&mut self, log: &Log, status: &Status, reason: Option<String>) {
        let is_open = self.closed.is_none() && self.leader.is_none() && self.warming.is_none();
        if let (Some(reason), None, true) = (reason, &self.paused, is_open) {
            // A log that accepts no rows needs no pause.
            let _ = self.pause(log, status, &format!("the breaker: {reason}"));
        }
    }
}

impl Shared {
    /// Counts rows that were refused because they are bad, or because the service is overloaded.
    pub(crate) fn count_refused(&self, log: &Log, refusal: &Refusal, rows: u64) {
        let is_busy = matches!(refusal.status().as_u16(), 429 | 503);
        self.status.refused[usize::from(is_busy)].fetch_add(rows, Ordering::Relaxed);
        if !is_busy && let Some(reason) = self.gauge.refused(rows) {
            let mut intake = self.intake.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            intake.trip(log, &self.status, Some(reason));
        }
    }
}
