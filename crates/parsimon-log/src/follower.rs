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
/// Records that a later epoch had abandoned when following began are passed over. The start of an epoch that comes later is a
/// record ([`Content::Epoch`](crate::Content::Epoch)): a follower whose state is not that of its base has to go back to it.
pub struct Follower {
    shared: Arc<Shared>,
    records: Records,
    /// The records to give of those that were there at the start, and the last of these.
    path: Vec<(u64, u64)>,
    known: u64,
}

impl Follower {
    pub(crate) fn new(
        shared: Arc<Shared>,
        after: u64,
        path: Vec<(u64, u64)>,
    ) -> Result<Self, Error> {
        let records = Records::open(shared.disk.clone(), after)?;
        let known = path.last().map_or(0, |range| range.1);
        Ok(Self { shared, records, path, known })
    }

    /// Waits for the next record. `None` if none came in time, or if the log is closed or has failed and there are no more.
    pub fn next_within(&mut self, timeout: Duration) -> Result<Option<Record<'_>>, Error> {
        let until = Instant::now() + timeout;
        loop {
            let next = self.records.next_seq();
            if !self.shared.wait(Some(until), |progress| progress.durable >= next).unwrap_or(false) {
                return Ok(None);
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
        Ok(self.records.record())
    }
}
