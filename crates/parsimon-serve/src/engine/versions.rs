//! Versions of a model: the snapshots that are kept, and the way back to one.

use serde_json::{Value, json};

use super::intake::refused;
use super::learner::Step;
use super::model::Learning;
use super::replica::Version;
use super::snapshot::Snapshot;
use crate::error::Refusal;

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

    /// Goes back to a snapshot that is kept: weights, ids and waiting rows are as they were. Learning goes on in a new epoch; what was
    /// learned since stays in the log as an abandoned branch.
    pub fn go_back(&self, to: Version, why: &str) -> Result<Version, Refusal> {
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
        let senseless = || unreadable("its tables make no sense".into());
        let tables = snapshot.tables(&self.shared.policy).ok_or_else(senseless)?;
        let mut intake = self.intake();
        intake.check()?;
        let ticket = self.log.begin_epoch(to.seq, why).map_err(|error| refused(&error))?;
        let epoch = self.log.epochs().of(ticket.seq).number;
        let version = Version { epoch, seq: ticket.seq };
        (intake.tables, intake.epoch) = (tables, epoch);
        intake.paused.clone_from(&snapshot.head.paused);
        let _ = intake.steps.send(Step::Restore(version, Box::new(copies)));
        Ok(version)
    }
}
