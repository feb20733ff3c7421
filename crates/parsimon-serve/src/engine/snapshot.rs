//! A snapshot: a model after a record, with everything that going on needs.
//!
//! The length of a JSON head in 8 bytes, the head, and three parts: the checkpoint of the learner, the ids, the rows that wait.

use std::io::{self, Read, Write};

use parsimon::Trainer;
use serde::{Deserialize, Serialize};

use super::ids::Ids;
use super::policy::Policy;
use super::record::{Paused, Start};
use super::replica::{Live, Skipped, Version};
use super::tables::Tables;

/// What a snapshot says about itself.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) start: Start,
    pub(crate) epoch: u32,
    pub(crate) seq: u64,
    /// Rows learned.
    pub(crate) rows: u64,
    /// The progressive loss.
    pub(crate) loss: Option<f64>,
    /// The digest of the state, in hexadecimal digits.
    pub(crate) digest: String,
    /// Records that were not learned because of what they would have done to the weights.
    #[serde(default)]
    pub(crate) skipped: Skipped,
    /// Set if learning was paused.
    #[serde(default)]
    pub(crate) paused: Option<Paused>,
    /// Bytes of the three parts.
    pub(crate) parts: [u64; 3],
}

/// A snapshot in memory.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) head: Head,
    pub(crate) checkpoint: Vec<u8>,
    pub(crate) ids: Vec<u8>,
    pub(crate) pending: Vec<u8>,
}

impl Snapshot {
    pub(crate) fn new(start: &Start, live: &Live, ids: Vec<u8>, pending: Vec<u8>) -> Self {
        let checkpoint = live.trainer.checkpoint();
        let progressive = live.trainer.progressive();
        let head = Head {
            start: start.clone(),
            epoch: live.version.epoch,
            seq: live.version.seq,
            rows: progressive.rows(),
            loss: progressive.average(),
            digest: format!("{:016x}", live.digest()),
            skipped: live.skipped,
            paused: live.paused.clone(),
            parts: [checkpoint.len() as u64, ids.len() as u64, pending.len() as u64],
        };
        Self { head, checkpoint, ids, pending }
    }

    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let head = serde_json::to_vec(&self.head)?;
        out.write_all(&(head.len() as u64).to_le_bytes())?;
        out.write_all(&head)?;
        [&self.checkpoint, &self.ids, &self.pending]
            .into_iter()
            .try_for_each(|part| out.write_all(part))
    }

    /// Reads the head alone.
    pub(crate) fn read_head(input: &mut dyn Read) -> io::Result<Head> {
        let mut length = [0; 8];
        input.read_exact(&mut length)?;
        let mut head = vec![0; within(u64::from_le_bytes(length), 1 << 30)?];
        input.read_exact(&mut head)?;
        Ok(serde_json::from_slice(&head)?)
    }

    pub(crate) fn read(input: &mut dyn Read) -> io::Result<Self> {
        let head = Self::read_head(input)?;
        let mut part = |k: usize| {
            let mut bytes = Vec::new();
            let length = head.parts[k];
            (&mut *input).take(length).read_to_end(&mut bytes)?;
            match bytes.len() as u64 == length {
                true => Ok(bytes),
                false => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
            }
        };
        let (checkpoint, ids, pending) = (part(0)?, part(1)?, part(2)?);
        Ok(Self { head, checkpoint, ids, pending })
    }

    /// The ids and the waiting rows; `None` if they make no sense.
    pub(crate) fn tables(&self, policy: &Policy) -> Option<Tables> {
        let mut tables = Tables::new(policy);
        tables.ids = Ids::restore(&self.ids)?;
        tables.pending.restore(&self.pending)?;
        Some(tables)
    }

    /// A learner that goes on from the snapshot.
    pub(crate) fn live(&self) -> Result<Live, parsimon::Error> {
        let version = Version { epoch: self.head.epoch, seq: self.head.seq };
        let mut live = Live::new(Trainer::from_checkpoint(&self.checkpoint)?, version);
        live.skipped = self.head.skipped;
        live.paused.clone_from(&self.head.paused);
        Ok(live)
    }
}

fn within(length: u64, most: u64) -> io::Result<usize> {
    match length <= most {
        true => Ok(length as usize),
        false => Err(io::Error::new(io::ErrorKind::InvalidData, "the head is too long")),
    }
}
