//! A snapshot: a model after a record, with everything that continuing needs.
//!
//! The length of a JSON head in 8 bytes, the head, the checkpoint of the learner, and the table of ids to the end (`id_save`).

use std::io::{self, Read, Write};

use parsimon::Trainer;
use serde::{Deserialize, Serialize};

use super::id_table::IdTable;
use super::policy::Policy;
use super::record::{Paused, Start};
use super::replica::{Live, Skipped, Version};

/// Header of a snapshot.
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
    /// Bytes of the checkpoint.
    pub(crate) checkpoint: u64,
}

/// A snapshot in memory.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(crate) head: Head,
    pub(crate) checkpoint: Vec<u8>,
    /// The table of ids, of a snapshot that was read.
    pub(crate) ids: Vec<u8>,
}

impl Snapshot {
    pub(crate) fn new(start: &Start, live: &Live) -> Self {
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
            checkpoint: checkpoint.len() as u64,
        };
        Self { head, checkpoint, ids: Vec::new() }
    }

    /// Writes everything but the table of ids, or the table that was read.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let head = serde_json::to_vec(&self.head)?;
        out.write_all(&(head.len() as u64).to_le_bytes())?;
        out.write_all(&head)?;
        out.write_all(&self.checkpoint)?;
        out.write_all(&self.ids)
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
        let (mut checkpoint, mut ids) = (Vec::new(), Vec::new());
        (&mut *input).take(head.checkpoint).read_to_end(&mut checkpoint)?;
        if checkpoint.len() as u64 != head.checkpoint {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        input.read_to_end(&mut ids)?;
        Ok(Self { head, checkpoint, ids })
    }

    /// Returns the table of ids; `None` if it makes no sense.
    pub(crate) fn table(&self, policy: &Policy) -> Option<IdTable> {
        let mut table = IdTable::new(policy);
        table.restore(&self.ids)?;
        Some(table)
    }

    /// A learner that continues from the snapshot.
    pub(crate) fn live(&self) -> Result<Live, parsimon::Error> {
        let version = Version { epoch: self.head.epoch, seq: self.head.seq };
        let mut live = Live::new(Trainer::from_checkpoint(&self.checkpoint)?, version);
        live.skipped = self.head.skipped;
        live.paused.clone_from(&self.head.paused);
        live.is_warming = self.head.start.is_warming();
        Ok(live)
    }
}

fn within(length: u64, most: u64) -> io::Result<usize> {
    match length <= most {
        true => Ok(length as usize),
        false => Err(io::Error::new(io::ErrorKind::InvalidData, "the head is too long")),
    }
}
