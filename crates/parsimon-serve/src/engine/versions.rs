//! Versions of a model: the snapshots that are kept, and the way back to one.

use std::time::{Duration, Instant};

use parsimon_log::{AppendError, Ticket};
use serde_json::{Value, json};

use super::intake::{Intake, refused};
use super::learner::Step;
use super::model::Learning;
use super::replica::Version;
use super::snapshot::Snapshot;
use crate::error::Refusal;

/// Time in which a segment must be prepared.
const PATIENCE: Duration = Duration::from_secs(20);

impl Learning {
    /// The snapshots that are kept, newest first.
    pub fn versions(&self) -> Result<Vec<Value>, Refusal> {
        let kept = self.log.snapshots().map_err(|e| Refusal::unavailable(e.to_string()))?;
        let epochs = self.log.epochs();
        let present = self.reached().visible.seq;
        let version = |(epoch, seq): (u32, u64)| {
            let head = self.log.open_snapshot(epoch, seq).map_err(|e| e.to_string());
            let head = head.and_then(|(_, mut bytes)| {
                Snapshot::read_head(&mut bytes).map_err(|e| e.to_string())
            });
            match head {
                Ok(head) => json!({
                    "epoch": epoch,
                    "seq": seq,
                    "rows": head.rows,
                    "progressive_loss": head.loss,
                    "digest": head.digest,
                    "proof": self.shared.prover.of((epoch, seq)),
                    "abandoned": !epochs.leads(seq, present),
                }),
                Err(error) => json!({"epoch": epoch, "seq": seq, "error": error}),
            }
        };
        Ok(kept.into_iter().map(version).collect())
    }

    /// Goes back to a snapshot that is kept: weights, ids and waiting rows are as they were. Learning continues in a new epoch; what was
    /// learned since stays in the log as an abandoned branch.
    pub fn go_back(&self, to: Version, why: &str) -> Result<Version, Refusal> {
        let mut intake = self.intake();
        intake.check()?;
        self.restore_snapshot(&mut intake, to, why)
    }

    /// Begins an epoch after a record, with the present log time or that of the leader's record. The segment that it starts may
    /// still be prepared: that is waited for.
    pub(super) fn begin_epoch(
        &self,
        intake: &Intake,
        base: u64,
        why: &str,
    ) -> Result<Ticket, Refusal> {
        let begun = Instant::now();
        loop {
            let ticket = match intake.copied {
                Some(time) => self.log.copy_epoch(base, why, time),
                None => self.log.begin_epoch(base, why),
            };
            match ticket {
                Err(AppendError::Overloaded) if begun.elapsed() < PATIENCE => {
                    std::thread::sleep(Duration::from_millis(2));
                }
                ticket => return ticket.map_err(|error| refused(&error)),
            }
        }
    }

    /// Begins an epoch from a snapshot.
    pub(super) fn restore_snapshot(
        &self,
        intake: &mut Intake,
        to: Version,
        why: &str,
    ) -> Result<Version, Refusal> {
        let kept = self.log.snapshots().map_err(|e| Refusal::unavailable(e.to_string()))?;
        if !kept.contains(&(to.epoch, to.seq)) {
            let words = format!("there is no snapshot of epoch {} and record {}", to.epoch, to.seq);
            return Err(Refusal::missing(words));
        }
        let unreadable =
            |e: String| Refusal::unavailable(format!("the snapshot is unreadable: {e}"));
        let (_, mut bytes) =
            self.log.open_snapshot(to.epoch, to.seq).map_err(|e| unreadable(e.to_string()))?;
        let snapshot = Snapshot::read(&mut bytes).map_err(|e| unreadable(e.to_string()))?;
        let live = || snapshot.live().map_err(|e| unreadable(e.to_string()));
        let copies = [live()?, live()?];
        let senseless = || unreadable("its table of ids makes no sense".into());
        let table = snapshot.table(&self.shared.policy).ok_or_else(senseless)?;
        if snapshot.head.start.is_warming() {
            let words = "the snapshot is from before the kinds of the columns were known";
            return Err(Refusal::conflict(words));
        }
        let ticket = self.begin_epoch(intake, to.seq, why)?;
        let epoch = self.log.epochs().of(ticket.seq).number;
        let version = Version { epoch, seq: ticket.seq };
        (intake.table, intake.epoch) = (table, epoch);
        self.shared.status.count_ids(&intake.table);
        intake.paused.clone_from(&snapshot.head.paused);
        self.shared.status.set_paused(intake.paused.is_some());
        let _ = intake.steps.send(Step::Restore(version, Box::new(copies)));
        Ok(version)
    }
}
