//! The follower's side: records of a leader go into the log and are learned as they were there, until the follower is promoted.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use parsimon_log::{Content as RecordContent, Record};
use serde_json::{Value, json};

use super::Limits;
use super::id_table::KeptRow;
use super::ids;
use super::intake::Intake;
use super::label::id_of;
use super::learner::Step;
use super::model::{Learning, Shared};
use super::record::{
    Evict, Forget, LoggedRows, Pause, Promote, Resume, SetAside, Settle, Start, kind,
};
use super::replica::Version;
use super::rows::lines;
use crate::content::{Content, Shape};
use crate::error::Refusal;

/// The file in the directory of a log that says that this process was promoted, and to which epoch.
const PROMOTED: &str = "PROMOTED";

/// Why a record of the leader was not taken.
#[derive(Debug)]
pub(crate) enum NotTaken {
    /// The queue or the disk is full: it can be tried again.
    Later(String),
    /// The record cannot follow what this log holds.
    Never(String),
    /// The follower was promoted, or the service ends.
    Ended,
}

/// Progress of a follower.
#[derive(Debug)]
pub(crate) struct Following {
    pub(crate) leader: String,
    /// The last durable record of the leader, as it said last.
    pub(crate) durable: AtomicU64,
    /// The last moment at which this log had everything that the leader's has.
    pub(crate) level: Mutex<Instant>,
    pub(crate) trouble: Mutex<Option<String>>,
    pub(crate) is_over: AtomicBool,
    /// Digests that were compared: equal, different.
    pub(crate) compared: [AtomicU64; 2],
}

impl Following {
    pub(crate) fn new(leader: &str) -> Self {
        Self {
            leader: leader.to_owned(),
            durable: AtomicU64::new(0),
            level: Mutex::new(Instant::now()),
            trouble: Mutex::new(None),
            is_over: AtomicBool::new(false),
            compared: Default::default(),
        }
    }
}

/// Distance of a follower from its leader.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lag {
    /// Durable records of the leader that scores do not include.
    pub records: u64,
    /// Seconds since scores included everything that the leader had acknowledged.
    pub seconds: f64,
}

impl Shared {
    /// Returns the state of following; `None` if the model has no leader, or was promoted.
    pub(crate) fn following(&self) -> Option<&Following> {
        self.following.get().filter(|following| !following.is_over.load(Ordering::Relaxed))
    }

    /// Returns the distance of this follower from its leader; `None` without a leader.
    pub(crate) fn lag(&self) -> Option<Lag> {
        let following = self.following()?;
        let visible = self.status.now().visible.seq;
        let records = following.durable.load(Ordering::Relaxed).saturating_sub(visible);
        let level = *following.level.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Lag { records, seconds: (level.elapsed().as_secs_f64() * 1e3).round() / 1e3 })
    }
}

impl Learning {
    /// Returns the state of following; `None` if the model has no leader, or was promoted.
    pub(crate) fn following(&self) -> Option<&Following> {
        self.shared.following()
    }

    /// Returns the distance of this follower from its leader; `None` without a leader.
    pub fn lag(&self) -> Option<Lag> {
        self.shared.lag()
    }

    /// The epoch to which this process was promoted. The log itself does not tell: a follower copies the epochs of its leader.
    pub(crate) fn promoted_to(&self) -> Option<u32> {
        let text = std::fs::read_to_string(self.shared.directory.join(PROMOTED)).ok()?;
        text.trim().parse().ok()
    }

    /// Notes on the disk that this process is promoted, before it is: a crash between must not leave a process that learns in the
    /// epoch of its leader.
    fn note_promotion(&self, epoch: u32) -> Result<(), Refusal> {
        let path = self.shared.directory.join(PROMOTED);
        let noted = std::fs::write(&path, format!("{epoch}\n"))
            .and_then(|()| std::fs::File::open(&path)?.sync_all())
            .and_then(|()| std::fs::File::open(&self.shared.directory)?.sync_all());
        noted.map_err(|e| Refusal::unavailable(format!("{}: {e}", path.display())))
    }

    /// Refuses changes from now on, except those of a leader.
    pub(crate) fn begin_following(&self, leader: &str) {
        let _ = self.shared.following.set(Following::new(leader));
        self.intake().leader = Some(leader.to_owned());
    }

    /// A follower goes on without its leader, in a new epoch.
    pub fn promote_follower(&self) -> Result<Version, Refusal> {
        let mut intake = self.intake();
        let Some(leader) = &intake.leader else {
            return Err(Refusal::conflict("the model follows no leader"));
        };
        if let Some(why) = &intake.closed {
            return Err(Refusal::unavailable(why.clone()));
        }
        let last = self.log.last();
        self.log.wait_durable(last).map_err(|e| Refusal::unavailable(e.to_string()))?;
        let reason = format!("promoted: this was a follower of {leader}");
        self.note_promotion(intake.epoch + 1)?;
        let ticket = self.begin_epoch(&intake, last, &reason)?;
        let epoch = self.log.epochs().of(ticket.seq).number;
        let version = Version { epoch, seq: ticket.seq };
        (intake.epoch, intake.leader) = (epoch, None);
        if let Some(following) = self.shared.following.get() {
            following.is_over.store(true, Ordering::Relaxed);
        }
        tracing::warn!(model = %self.shared.name, ?version, "the follower is promoted");
        let _ = intake.steps.send(Step::Pass(version));
        Ok(version)
    }

    /// Takes in a record of the leader's log. `fetch` copies a snapshot of the leader into the directory.
    pub(crate) fn copy(
        &self,
        record: &Record<'_>,
        fetch: &mut dyn FnMut((u32, u64)) -> Result<(), String>,
    ) -> Result<(), NotTaken> {
        let mut intake = self.intake();
        if intake.leader.is_none() {
            return Err(NotTaken::Ended);
        }
        if intake.closed.is_some() {
            return Err(NotTaken::Ended);
        }
        let expected = self.log.last() + 1;
        if record.seq != expected {
            let words = format!("record {} came instead of record {expected}", record.seq);
            return Err(NotTaken::Never(words));
        }
        intake.copied = Some(record.time);
        let taken = self.copy_in(&mut intake, record, fetch);
        intake.copied = None;
        let patience = self.shared.policy.labels.patience().as_millis() as u64;
        intake.table.drop_late(record.time.saturating_sub(2 * patience));
        self.shared.status.count_ids(&intake.table);
        taken?;
        let last = self.log.last();
        match last == record.seq {
            true => Ok(()),
            false => Err(NotTaken::Never(format!("record {} became record {last}", record.seq))),
        }
    }

    fn copy_in(
        &self,
        intake: &mut Intake,
        record: &Record<'_>,
        fetch: &mut dyn FnMut((u32, u64)) -> Result<(), String>,
    ) -> Result<(), NotTaken> {
        let (kind, payload) = match record.content {
            RecordContent::Data { kind, payload } => (kind, payload),
            RecordContent::Epoch { base, reason } => {
                let reason = String::from_utf8_lossy(reason);
                return self.copy_epoch(intake, base, &reason, fetch);
            }
        };
        let bad = |what: &str| NotTaken::Never(format!("record {}: {what}", record.seq));
        match kind {
            kind::LEARN => {
                let rows = LoggedRows::decode(payload).ok_or_else(|| bad("has no rows"))?;
                return self.copy_rows(intake, &rows);
            }
            kind::PENDING => {
                let rows = LoggedRows::decode(payload).ok_or_else(|| bad("has no rows"))?;
                let (version, time) = intake.append_other(&self.log, kind, payload)?;
                for (index, line) in (0..).zip(lines(rows.text)) {
                    // An earlier version took ids that no label can name.
                    let Some(id) = id_of(line) else { continue };
                    let row = KeptRow { at: (version.seq, index), time, text: line.into() };
                    intake.table.score(ids::row_id(id.as_bytes()), row);
                }
            }
            kind::FORGET => {
                let forget: Forget = read(payload).map_err(|e| bad(&e))?;
                let (version, _) = intake.append_other(&self.log, kind, payload)?;
                let left = intake.table.forget(forget.until, version.seq);
                self.shared.status.forgotten.fetch_add(left, Ordering::Relaxed);
            }
            kind::EVICT => {
                let evict: Evict = read(payload).map_err(|e| bad(&e))?;
                let (version, _) = intake.append_other(&self.log, kind, payload)?;
                let left = intake.table.evict(evict.oldest, version.seq);
                self.shared.status.evicted.fetch_add(left, Ordering::Relaxed);
            }
            kind::SET_ASIDE => {
                let aside: SetAside = read(payload).map_err(|e| bad(&e))?;
                let (version, time) = intake.append_other(&self.log, kind, payload)?;
                let count = aside.rows.len() as u64;
                self.shared.status.set_aside.fetch_add(count, Ordering::Relaxed);
                for row in aside.rows {
                    let id = ids::row_id(row.id.as_bytes());
                    intake.table.set_aside(id, row, version.seq, time);
                }
            }
            kind::PAUSE => {
                let Pause { reason } = read(payload).map_err(|e| bad(&e))?;
                intake.pause(&self.log, &self.shared.status, &reason)?;
            }
            kind::RESUME => {
                let Resume { backlog } = read(payload).map_err(|e| bad(&e))?;
                intake.resume(&self.log, &self.shared, backlog)?;
            }
            kind::PROMOTE => {
                let Promote { start, after, .. } = read(payload).map_err(|e| bad(&e))?;
                let version = intake.append_step(&self.log, kind, payload)?;
                let _ = intake.steps.send(Step::Relearn(version, Box::new(start), after));
            }
            kind::SETTLE => {
                let Settle { start } = read(payload).map_err(|e| bad(&e))?;
                intake.settle_as(&self.log, &self.shared, start)?;
            }
            kind::MARK => {
                let version = intake.append_step(&self.log, kind, payload)?;
                let _ = intake.steps.send(Step::Mark(version));
            }
            kind::START => {
                let _: Start = read(payload).map_err(|e| bad(&e))?;
                return Err(bad("begins another log"));
            }
            _ => {
                return Err(bad(
                    "is of a kind that this version does not know; use a newer program",
                ));
            }
        }
        intake.table.release(self.shared.status.now().visible.seq);
        Ok(())
    }

    fn copy_rows(&self, intake: &mut Intake, rows: &LoggedRows<'_>) -> Result<(), NotTaken> {
        let reading = self.shared.readings.latest();
        let content = Content { format: rows.format, text: rows.text.into(), shape: Shape::Lines };
        // Records that a leader has accepted are within its limits.
        let limits = Limits { rows: usize::MAX, features: usize::MAX, ..Limits::default() };
        reading.learning.lend(|buffers| {
            let parser = buffers.parse(&content, reading.learning.options(), &limits)?;
            let names = parser.new_names().map(|(slot, name)| (slot, name.into())).collect();
            let chunks = std::mem::take(&mut buffers.chunks);
            intake.append_rows(&self.log, rows, chunks, names, &self.shared, None)?;
            Ok(())
        })
    }

    fn copy_epoch(
        &self,
        intake: &mut Intake,
        base: u64,
        reason: &str,
        fetch: &mut dyn FnMut((u32, u64)) -> Result<(), String>,
    ) -> Result<(), NotTaken> {
        let last = self.log.last();
        if base == last {
            self.log.wait_durable(last).map_err(|e| NotTaken::Never(e.to_string()))?;
            let ticket = self.begin_epoch(intake, base, reason)?;
            intake.epoch = self.log.epochs().of(ticket.seq).number;
            let version = Version { epoch: intake.epoch, seq: ticket.seq };
            let _ = intake.steps.send(Step::Pass(version));
            return Ok(());
        }
        let to = Version { epoch: self.log.epochs().of(base).number, seq: base };
        let kept = self.log.snapshots().map_err(|e| NotTaken::Never(e.to_string()))?;
        if !kept.contains(&(to.epoch, to.seq)) {
            fetch((to.epoch, to.seq)).map_err(NotTaken::Later)?;
        }
        self.restore_snapshot(intake, to, reason)?;
        Ok(())
    }

    /// The last durable record, once everything that was taken is.
    pub(crate) fn last_durable(&self) -> Result<u64, String> {
        let last = self.log.last();
        self.log.wait_durable(last).map_err(|e| e.to_string())?;
        Ok(last)
    }

    /// The checksum of a record that this log holds; 0 if a snapshot stands for it.
    pub(crate) fn sum_of(&self, seq: u64) -> Result<u64, String> {
        if seq < self.log.opened().first || seq == 0 {
            return Ok(0);
        }
        let mut records = self.log.every(seq - 1).map_err(|e| e.to_string())?;
        let record = records.next_within(Duration::from_secs(60)).map_err(|e| e.to_string())?;
        Ok(record.map_or(0, |record| super::frame::encode(&record, &mut Vec::new())))
    }

    /// The present epoch.
    pub(crate) fn epoch(&self) -> u32 {
        self.intake().epoch
    }

    /// The number of the log.
    pub(crate) fn log_id(&self) -> String {
        format!("{:032x}", self.log.opened().log)
    }

    /// The directory of the log.
    pub(crate) fn directory(&self) -> PathBuf {
        self.shared.directory.clone()
    }

    /// Notes the last durable record of the leader, and whether this log has it.
    pub(crate) fn noted(&self, durable: u64) {
        let Some(following) = self.following() else { return };
        following.durable.store(durable, Ordering::Relaxed);
        if self.shared.status.now().visible.seq >= durable {
            *following.level.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        }
    }

    /// Compares digests of the leader with those that this process computed after the same records.
    pub(crate) fn compare(&self, marks: &[(u64, u64)]) -> Result<(), String> {
        let Some(following) = self.following() else { return Ok(()) };
        let mut compared = following.compared[0].load(Ordering::Relaxed);
        let own = self.shared.status.marks();
        for (seq, digest) in marks {
            match own.iter().find(|(known, _)| known == seq) {
                Some((_, own)) if own == digest => compared = compared.max(*seq),
                Some((_, own)) => {
                    following.compared[1].fetch_add(1, Ordering::Relaxed);
                    return Err(format!(
                        "the digest after record {seq} is {own:016x}, and that of the leader is {digest:016x}: one of the two machines is at fault"
                    ));
                }
                None => {}
            }
        }
        following.compared[0].store(compared, Ordering::Relaxed);
        Ok(())
    }

    /// The state of following as JSON.
    pub(crate) fn describe_following(&self) -> Option<Value> {
        let (following, lag) = (self.following()?, self.lag()?);
        let trouble = following.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Some(json!({
            "leader": following.leader,
            "lag_records": lag.records,
            "lag_seconds": lag.seconds,
            "digest_equal_at": following.compared[0].load(Ordering::Relaxed),
            "digests_differ": following.compared[1].load(Ordering::Relaxed) > 0,
            "trouble": trouble,
        }))
    }
}

impl From<Refusal> for NotTaken {
    fn from(refusal: Refusal) -> Self {
        match refusal.status().as_u16() {
            429 | 503 => Self::Later(refusal.message().to_owned()),
            _ => Self::Never(refusal.message().to_owned()),
        }
    }
}

fn read<T: serde::de::DeserializeOwned>(payload: &[u8]) -> Result<T, String> {
    serde_json::from_slice(payload).map_err(|e| e.to_string())
}
