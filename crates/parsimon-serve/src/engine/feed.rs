//! The leader's side of a follower: records are sent, what the follower holds is noted, and a higher epoch ends learning.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use parsimon_log::{Error, Follower, Record};
use serde_json::json;

use super::frame;
use super::model::Learning;
use crate::error::Refusal;

/// Request of a follower.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pull {
    /// The last record that the follower has, durable.
    pub(crate) after: u64,
    /// The checksum of that record; 0 if the follower has a snapshot instead of it.
    pub(crate) sum: u64,
    /// The epoch of the follower.
    pub(crate) epoch: u32,
}

/// The place in the log that a follower has come to.
pub(crate) struct Feed {
    follower: Follower,
    after: u64,
    sum: u64,
}

/// Followers whose places are remembered.
const REMEMBERED: usize = 4;

/// Bytes of an answer.
const ENOUGH: usize = 1 << 20;

/// A follower that has not asked for this long has gone: no marks are logged for it.
pub(crate) const GONE: Duration = Duration::from_secs(30);

impl Learning {
    /// Notes what a follower has, and refuses one whose log is not a part of this one.
    pub(crate) fn welcome(&self, pull: &Pull) -> Result<(), Refusal> {
        let own = self.intake().epoch;
        if pull.epoch > own {
            let words =
                format!("a follower of this model is in epoch {}, and it is in {own}", pull.epoch);
            self.fence(pull.epoch, &words);
            return Err(Refusal::conflict(words).with("epoch", pull.epoch));
        }
        let mut feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        let known = feeds.iter().any(|feed| feed.after == pull.after && feed.sum == pull.sum);
        if !known {
            let feed = self.open_feed(pull)?;
            feeds.push(feed);
            if feeds.len() > REMEMBERED {
                feeds.remove(0);
            }
        }
        drop(feeds);
        *self.shared.status.pulled.lock().unwrap_or_else(PoisonError::into_inner) =
            Some(Instant::now());
        self.shared.status.confirm(pull.after);
        Ok(())
    }

    fn open_feed(&self, pull: &Pull) -> Result<Feed, Refusal> {
        let Pull { after, sum, .. } = *pull;
        let held = |error: Error| match error {
            Error::NotHeld { first, last, .. } if after > last => Refusal::conflict(format!(
                "the follower has record {after}, and the log of the leader ends with record {last}"
            ))
            .with("first", first),
            error => {
                Refusal::conflict(format!("{error}; start the follower with an empty directory"))
            }
        };
        if sum == 0 {
            return Ok(Feed { follower: self.log.every(after).map_err(held)?, after, sum });
        }
        let mut follower = self.log.every(after.saturating_sub(1)).map_err(held)?;
        let found = follower.next_within(Duration::from_secs(5)).map_err(held)?;
        let own = found.map(|record: Record<'_>| frame::encode(&record, &mut Vec::new()));
        match own == Some(sum) {
            true => Ok(Feed { follower, after, sum }),
            false => Err(Refusal::conflict(format!(
                "record {after} of the follower is not that of the leader: their logs contradict each other"
            ))
            .with("record", after)),
        }
    }

    /// Returns what the leader is and the durable records after those that the follower has, as bytes.
    pub(crate) fn feed(&self, pull: &Pull) -> Result<Vec<u8>, Refusal> {
        let reached = self.reached();
        let marks = self.shared.status.marks();
        let head = json!({
            "log": format!("{:032x}", self.log.opened().log),
            "durable": reached.durable,
            "epoch": reached.visible.epoch,
            "marks": marks.iter().map(|(seq, digest)| json!([seq, format!("{digest:016x}")])).collect::<Vec<_>>(),
        });
        let mut out = head.to_string().into_bytes();
        out.push(b'\n');
        let taken = {
            let mut feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
            let place = feeds.iter().position(|f| f.after == pull.after && f.sum == pull.sum);
            place.map(|place| feeds.remove(place))
        };
        let mut feed = match taken {
            Some(feed) => feed,
            None => self.open_feed(pull)?,
        };
        let unreadable = |e: Error| Refusal::unavailable(e.to_string());
        while out.len() < ENOUGH {
            let Some(record) = feed.follower.next_within(Duration::ZERO).map_err(unreadable)?
            else {
                break;
            };
            feed.after = record.seq;
            feed.sum = frame::encode(&record, &mut out);
        }
        let mut feeds = self.feeds.lock().unwrap_or_else(PoisonError::into_inner);
        feeds.push(feed);
        if feeds.len() > REMEMBERED {
            feeds.remove(0);
        }
        Ok(out)
    }

    /// Waits until there are records after one, but not longer than a time.
    pub(crate) async fn wait_for_more(&self, after: u64, wait: Duration) {
        let mut watch = self.shared.status.watch();
        let more = watch.wait_for(|reached| reached.failed.is_some() || reached.durable > after);
        let _ = tokio::time::timeout(wait, more).await;
    }

    /// Ends learning for good: another process goes on with this model. Scores go on.
    pub(crate) fn fence(&self, epoch: u32, words: &str) {
        let mut intake = self.intake();
        if intake.closed.is_some() {
            return;
        }
        let why = format!("{words}; learning goes on there");
        tracing::error!(model = %self.shared.name, epoch, why, "learning has ended");
        let note = json!({"epoch": epoch, "why": why});
        let path = self.shared.directory.join(super::model::FENCED);
        if let Err(error) = std::fs::write(&path, note.to_string()) {
            tracing::error!(path = %path.display(), %error, "the end of learning cannot be noted");
        }
        // Those who wait for an acknowledgement look again when learning is closed.
        self.shared.status.fenced.store(true, Ordering::Relaxed);
        intake.close(&self.shared.status, &why);
    }

    /// A snapshot as it is on the disk: its length, and its bytes from a place.
    pub(crate) fn snapshot_part(
        &self,
        (epoch, seq): (u32, u64),
        from: u64,
    ) -> Result<(u64, Vec<u8>), Refusal> {
        use std::io::{Read as _, Seek as _};
        let kept = self.log.snapshots().map_err(|e| Refusal::unavailable(e.to_string()))?;
        if !kept.contains(&(epoch, seq)) {
            return Err(Refusal::missing(format!(
                "there is no snapshot of epoch {epoch} and record {seq}"
            )));
        }
        let read = || {
            let name = parsimon_log::Snapshot { log: 0, arithmetic: 0, epoch, seq }.name();
            let mut file = std::fs::File::open(self.shared.directory.join(name))?;
            let length = file.metadata()?.len();
            file.seek(std::io::SeekFrom::Start(from))?;
            let mut bytes = Vec::new();
            file.take(4 << 20).read_to_end(&mut bytes)?;
            Ok((length, bytes))
        };
        read().map_err(|e: std::io::Error| {
            Refusal::unavailable(format!("the snapshot is unreadable: {e}"))
        })
    }

    /// Returns the state with which a new follower begins, as JSON.
    pub(crate) fn origin(&self) -> Result<serde_json::Value, Refusal> {
        let opened = self.log.opened();
        let present = self.reached().durable;
        let kept = self.log.snapshots().map_err(|e| Refusal::unavailable(e.to_string()))?;
        let epochs = self.log.epochs();
        let newest =
            kept.into_iter().find(|(_, seq)| epochs.leads(*seq, present) && *seq <= present);
        Ok(json!({
            "log": format!("{:032x}", opened.log),
            "arithmetic": self.shared.policy.arithmetic,
            "snapshot": newest.map(|(epoch, seq)| json!({"epoch": epoch, "seq": seq})),
            "first": opened.first,
        }))
    }

    /// Whether a follower asks for records.
    pub(crate) fn is_followed(&self) -> bool {
        self.shared.status.is_pulled(GONE)
    }
}
