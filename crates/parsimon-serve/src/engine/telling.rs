//! What a model that learns tells: about itself as JSON, and numbers for metrics.

use std::fmt::Write as _;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::model::Learning;
use super::status::REASONS;
use crate::metrics::head;

impl Learning {
    /// Adds what is known about learning.
    pub(super) fn tell(&self, about: &mut Value) {
        let (reached, stopped) = (self.reached(), self.stopped());
        about["accepting"] = stopped.is_none().into();
        if let Some(why) = stopped {
            about["stopped"] = why.into();
        }
        about["durable_seq"] = reached.durable.into();
        about["visible_seq"] = reached.visible.seq.into();
        about["waiting_rows"] = self.waiting().into();
        about["pending_labels"] = self.pending().into();
        about["known_ids"] = self.known_ids().into();
        let status = &self.shared.status;
        about["alarms"] = status.board.alarms().to_json();
        if let Some(trouble) = &*status.trouble.lock().unwrap_or_else(PoisonError::into_inner) {
            about["snapshot_trouble"] = trouble.as_str().into();
        }
        let replica = self.shared.pair.read();
        if let Some(live) = replica.live() {
            let trainer = &live.trainer;
            about["model"]["settings"] =
                json!(trainer.settings().completed(&trainer.schema().found));
            about["rows"] = trainer.progressive().rows().into();
            about["progressive_loss"] = trainer.progressive().average().into();
            about["constant_loss"] = trainer.constant_loss().into();
            if live.skipped.records > 0 {
                about["skipped"] = json!(live.skipped);
            }
            if let Some(paused) = &live.paused {
                about["paused"] = json!(paused);
            }
        }
    }

    /// The numbers of this model that metrics show: name, kind, help, labels, value.
    pub(crate) fn write_metrics(&self, model: &str, out: &mut String) {
        let (status, labels) = (&self.shared.status, format!("model=\"{model}\""));
        let mut one = |name: &str, kind: &str, help: &str, value: f64| {
            head(out, name, kind, help);
            let _ = writeln!(out, "{name}{{{labels}}} {value}");
        };
        let count = |n: &std::sync::atomic::AtomicU64| n.load(Ordering::Relaxed) as f64;
        one("parsimon_learned_rows_total", "counter", "Rows learned.", count(&status.learned));
        let help = "Rows that were in the log already.";
        one("parsimon_duplicate_rows_total", "counter", help, count(&status.duplicates));
        let help = "Rows that wait for their labels.";
        one("parsimon_pending_labels", "gauge", help, self.pending() as f64);
        let help = "Rows that wait to be learned.";
        one("parsimon_waiting_rows", "gauge", help, self.waiting() as f64);
        let help = "Nonzero weights, as of the last look at them.";
        one("parsimon_model_nonzeros", "gauge", help, count(&status.nonzeros));
        let reached = self.reached();
        let help = "The last record that is durable.";
        one("parsimon_durable_seq", "gauge", help, reached.durable as f64);
        let help = "The last record that scores include.";
        one("parsimon_visible_seq", "gauge", help, reached.visible.seq as f64);
        let accepting = f64::from(u8::from(self.stopped().is_none()));
        one("parsimon_accepting", "gauge", "Whether the model learns.", accepting);
        let replica = self.shared.pair.read();
        if let Some(live) = replica.live() {
            let help = "Records that were not learned: weights that are not finite would have come of them.";
            one("parsimon_skipped_records_total", "counter", help, live.skipped.records as f64);
            let help = "Whether rows are kept but not learned.";
            one("parsimon_paused", "gauge", help, f64::from(u8::from(live.paused.is_some())));
            if let Some(loss) = live.trainer.progressive().average() {
                let help = "Progressive loss: each row is predicted before it is learned.";
                one("parsimon_progressive_logloss", "gauge", help, loss);
            }
            if live.sums.happened > 0.0 {
                let ratio = live.sums.predicted / live.sums.happened;
                let name = "parsimon_calibration_ratio";
                head(
                    out,
                    name,
                    "gauge",
                    "Sum of predicted probabilities by the number of positives.",
                );
                let _ = writeln!(out, "{name}{{{labels},slice=\"all\"}} {ratio}");
            }
        }
        drop(replica);
        let [held, failed] = self.shared.prover.counts();
        let help = "Snapshots that the log was seen to lead to.";
        one_of(out, &labels, "parsimon_snapshots_proved", help, held);
        let help = "Snapshots that the log does not lead to: one of them is damaged.";
        one_of(out, &labels, "parsimon_snapshots_disproved", help, failed);
        status.board.alarms().write_metrics(&labels, out);
        let name = "parsimon_refused_rows_total";
        head(out, name, "counter", "Rows to be learned that were refused.");
        for (reason, refused) in REASONS.iter().zip(&status.refused) {
            let refused = refused.load(Ordering::Relaxed);
            let _ = writeln!(out, "{name}{{{labels},reason=\"{reason}\"}} {refused}");
        }
        head(out, "parsimon_wal_sync_seconds", "histogram", "From append to durability.");
        status.commit.write("parsimon_wal_sync_seconds", &labels, out);
        head(out, "parsimon_visible_lag_seconds", "histogram", "From durability to the scores.");
        status.visible.write("parsimon_visible_lag_seconds", &labels, out);
    }
}

fn one_of(out: &mut String, labels: &str, name: &str, help: &str, count: u64) {
    head(out, name, "gauge", help);
    let _ = writeln!(out, "{name}{{{labels}}} {count}");
}
