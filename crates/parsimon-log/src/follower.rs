//! Following a log that is being written: the learner, a shadow of it, or a copy elsewhere.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::files;
use crate::reader::Records;
use crate::record::Record;
use crate::shared::Shared;

/// The durable records of a log, in order, each once. It reads what replaying will read, from the system's memory as a rule, so that a
/// slow follower costs no memory and what it sees is what the log holds.
///
/// Records that a later epoch had abandoned when following began are skipped. The start of an epoch that comes later is a
/// record ([`Content::Epoch`](crate::Content::Epoch)): a follower whose state is not that of its base has to go back to it.
pub struct Follower {
    shared: Arc<Shared>,
    records: Records,
    /// The records to give of those up to `known`.
    path: Vec<(u64, u64)>,
    known: u64,
    /// The last record to give.
    end: u64,
    /// The last record that was known to be durable.
    durable: u64,
}

impl Follower {
    /// The records after record `after` on a path, and all after its end up to `end`.
    pub(crate) fn new(
        shared: Arc<Shared>,
        after: u64,
        path: Vec<(u64, u64)>,
        end: u64,
    ) -> Result<Self, Error> {
        let records = Records::open(shared.disk.clone(), after)?;
        let known = path.last().map_or(0, |range| range.1);
        Ok(Self { shared, records, path, known, end, durable: 0 })
    }

    /// Waits for the next record. `None` if none came in time, if there are no more to give, or if the log is closed or has failed.
    pub fn next_within(&mut self, timeout: Duration) -> Result<Option<Record<'_>>, Error> {
        let until = Instant::now() + timeout;
        loop {
            let next = self.records.next_seq();
            if next > self.end {
                return Ok(None);
            }
            if next > self.durable {
                let waited = self.shared.wait(Some(until), |progress| progress.durable >= next);
                let Ok(Some(progress)) = waited else { return Ok(None) };
                self.durable = progress.durable;
            }
            if !self.records.advance()? {
                let why = format!("record {next} was durable and cannot be read any more");
                return Err(files::damaged(&*self.shared.disk, "", 0, &why));
            }
            let abandoned = next <= self.known
                && !self.path.iter().any(|&(first, last)| (first..=last).contains(&next));
            if !abandoned {
                break;
            }
        }
        let record = self.records.record();
        let seq = record.map_or(0, |record| record.seq);
        // A state is named by its last record: a gap here would give two states one name.
        assert!(seq + 1 == self.records.next_seq() && seq <= self.durable, "record {seq}");
        Ok(record)
    }
}
