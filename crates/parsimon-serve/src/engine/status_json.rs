//! Status of a learning model as JSON and as metrics.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::id_table::State;
use super::model::Learning;
use super::status::{REASONS, Status};
use crate::metrics::head;

impl Learning {
    /// Adds what is known about learning.
    pub(super) fn describe(&self, about: &mut Value) {
        let (reached, stopped) = (self.reached(), self.stopped());
        about["accepting"] = stopped.is_none().into();
        if let Some(why) = stopped {
            about["stopped"] = why.into();
        }
        about["durable_seq"] = reached.durable.into();
        about["visible_seq"] = reached.visible.seq.into();
        about["waiting_rows"] = self.waiting().into();
        let status = &self.shared.status;
        about["pending_labels"] = status.id_count(State::Scored).into();
        let known = State::ALL[1..].iter().map(|state| status.id_count(*state)).sum::<u64>();
        about["known_ids"] = known.into();
        about["set_aside"] = status.id_count(State::SetAside).into();
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
            if let Some(following) = self.describe_following() {
                about["following"] = following;
            }
            if live.is_warming {
                about["warming"] = true.into();
            }
            if let Some(paused) = &live.paused {
                about["paused"] = json!(paused);
            }
        }
    }

    /// The numbers of this model that metrics show: name, kind, help, labels, value.
    #[expect(clippy::too_many_lines, reason = "a table, with a line for each number")]
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
        let waiting = status.id_count(State::Scored) as f64;
        one("parsimon_pending_labels", "gauge", help, waiting);
        let help = "Waiting rows that left a full table; the oldest leave first.";
        one("parsimon_evicted_rows_total", "counter", help, count(&status.evicted));
        let help = "Rows whose label window ended without a label.";
        one("parsimon_expired_rows_total", "counter", help, count(&status.expired));
        let help = "Rows that waited for a label for too long and were forgotten.";
        one("parsimon_forgotten_rows_total", "counter", help, count(&status.forgotten));
        let help = "Labels that came after their window and were not learned.";
        one("parsimon_late_labels_total", "counter", help, count(&status.late));
        let help = "Rows that could not be learned with their label.";
        one("parsimon_set_aside_rows_total", "counter", help, count(&status.set_aside));
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
        let help = "Rows that may wait to be learned.";
        one("parsimon_queue_limit_rows", "gauge", help, self.shared.policy.queue_rows as f64);
        let help = "Rows that may wait for their labels.";
        one("parsimon_pending_limit_rows", "gauge", help, self.shared.policy.pending_rows as f64);
        let disk = DiskUse::of(&self.shared.directory);
        one(
            "parsimon_log_bytes",
            "gauge",
            "Bytes of the log and its snapshots.",
            disk.bytes as f64,
        );
        if let Some(age) = disk.snapshot_age {
            let help = "Seconds since the newest snapshot was written.";
            one("parsimon_snapshot_age_seconds", "gauge", help, age);
        }
        if let Some(free) = disk.free {
            let help = "Bytes that are free on the disk of the log.";
            one("parsimon_disk_free_bytes", "gauge", help, free as f64);
        }
        if let Some(lag) = self.lag() {
            let help = "Durable records of the leader that scores do not include.";
            one("parsimon_lag_records", "gauge", help, lag.records as f64);
            let help = "Seconds since scores included everything of the leader.";
            one("parsimon_lag_seconds", "gauge", help, lag.seconds);
            let differ = self.following().map_or(0, |f| f.compared[1].load(Ordering::Relaxed));
            let help = "Digests of this follower that differ from those of the leader.";
            one("parsimon_digests_different", "gauge", help, differ as f64);
        }
        let help = "Whether a follower asks for records.";
        one("parsimon_followed", "gauge", help, f64::from(u8::from(self.is_followed())));
        let fenced = f64::from(u8::from(status.fenced.load(Ordering::Relaxed)));
        let help = "Whether another process goes on with this model.";
        one("parsimon_fenced", "gauge", help, fenced);
        let replica = self.shared.pair.read();
        if let Some(live) = replica.live() {
            let help = "Records that were not learned: weights that are not finite would have come of them.";
            one("parsimon_skipped_records_total", "counter", help, live.skipped.records as f64);
            one(
                "parsimon_warming",
                "gauge",
                "Whether the first rows are collected and not learned yet.",
                f64::from(u8::from(live.is_warming)),
            );
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
        write_rows_and_ids(status, &labels, out);
        head(out, "parsimon_wal_sync_seconds", "histogram", "From append to durability.");
        status.commit.write("parsimon_wal_sync_seconds", &labels, out);
        head(out, "parsimon_visible_lag_seconds", "histogram", "From durability to the scores.");
        status.visible.write("parsimon_visible_lag_seconds", &labels, out);
    }
}

/// Refused rows by reason, and ids by state.
fn write_rows_and_ids(status: &Status, labels: &str, out: &mut String) {
    let name = "parsimon_refused_rows_total";
    head(out, name, "counter", "Rows to be learned that were refused.");
    for (reason, refused) in REASONS.iter().zip(&status.refused) {
        let refused = refused.load(Ordering::Relaxed);
        let _ = writeln!(out, "{name}{{{labels},reason=\"{reason}\"}} {refused}");
    }
    let name = "parsimon_ids";
    head(out, name, "gauge", "Ids that are known, by state.");
    for state in State::ALL {
        let (count, state) = (status.id_count(state), state.name());
        let _ = writeln!(out, "{name}{{{labels},state=\"{state}\"}} {count}");
    }
    let name = "parsimon_id_bytes";
    head(out, name, "gauge", "Memory of ids, and of rows that wait for their labels.");
    for (of, bytes) in ["ids", "pending"].iter().zip(&status.id_bytes) {
        let bytes = bytes.load(Ordering::Relaxed);
        let _ = writeln!(out, "{name}{{{labels},of=\"{of}\"}} {bytes}");
    }
}

fn one_of(out: &mut String, labels: &str, name: &str, help: &str, count: u64) {
    head(out, name, "gauge", help);
    let _ = writeln!(out, "{name}{{{labels}}} {count}");
}

/// The use of the disk by a log.
#[derive(Default)]
struct DiskUse {
    bytes: u64,
    free: Option<u64>,
    /// Seconds since the newest snapshot was written.
    snapshot_age: Option<f64>,
}

impl DiskUse {
    /// Looks at a directory. What cannot be read is not there.
    fn of(directory: &Path) -> Self {
        let mut found = Self::default();
        for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
            let Ok(about) = entry.metadata() else { continue };
            found.bytes += about.len();
            let is_snapshot = entry.file_name().to_string_lossy().starts_with("snap-");
            let age = about.modified().ok().and_then(|time| time.elapsed().ok());
            if let (true, Some(age)) = (is_snapshot, age) {
                let age = age.as_secs_f64();
                found.snapshot_age = Some(found.snapshot_age.map_or(age, |least| least.min(age)));
            }
        }
        found.free = free_bytes(directory);
        found
    }
}

#[cfg(unix)]
fn free_bytes(directory: &Path) -> Option<u64> {
    let about = rustix::fs::statvfs(directory).ok()?;
    Some(about.f_bavail * about.f_frsize)
}

#[cfg(not(unix))]
fn free_bytes(_: &Path) -> Option<u64> {
    None
}
