//! Checkpoints written while learning goes on.
//!
//! The learner only copies its state: the header, and the numbers as bytes in memory that is used again and again. Names, checksum, file
//! and disk are the business of a thread. The bytes are those of [`Trainer::save_checkpoint`].

use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use parsimon_core::StateWriter;
use parsimon_data::{Names, NewNames, Reader};
use serde_json::Value;

use super::Trainer;
use super::checkpoint::to_container;
use crate::FormatError;
use crate::container::{self, Kind};
use crate::model::encode_names;

/// Writes checkpoints to one file, one at a time.
pub(super) struct Saver {
    path: PathBuf,
    /// What the thread works with. It is here while no thread runs.
    desk: Option<Desk>,
    writing: Option<JoinHandle<(Desk, Result<(), FormatError>)>>,
}

/// The part of a checkpoint that is kept from one to the next.
#[derive(Default)]
struct Desk {
    state: Vec<u8>,
    /// Names from before this pass over the data.
    names: Names,
    /// Names met in this pass.
    met: NewNames,
    /// Both as sections, while no new name was met.
    sections: Option<[Vec<u8>; 3]>,
}

impl Saver {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.into(), desk: Some(Desk::default()), writing: None }
    }

    /// Begins to write the state of a learner and returns. False if the checkpoint before is still being written: come back later.
    pub(super) fn save(&mut self, trainer: &Trainer, reader: &Reader) -> Result<bool, FormatError> {
        if self.writing.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return Ok(false);
        }
        self.wait()?;
        let mut desk = self.desk.take().unwrap_or_default();
        let about = trainer.about();
        let mut state = StateWriter::reusing(std::mem::take(&mut desk.state));
        trainer.online().save(&mut state);
        trainer.check(&about, &state, &self.path)?;
        desk.state = state.into_bytes();
        // Another pass over the data begins without names, and with those that the passes before have left.
        if desk.met.len() > reader.names_met() || desk.names.len() != trainer.names().len() {
            desk.names = trainer.names().clone();
            (desk.met, desk.sections) = (NewNames::default(), None);
        }
        if reader.names_met() > desk.met.len() {
            desk.met.append(&reader.names_since(desk.met.len()));
            desk.sections = None;
        }
        let path = self.path.clone();
        self.writing = Some(std::thread::spawn(move || desk.write(about, &path)));
        Ok(true)
    }

    /// Waits until the last checkpoint is on the disk.
    pub(super) fn wait(&mut self) -> Result<(), FormatError> {
        let Some(thread) = self.writing.take() else { return Ok(()) };
        let (desk, written) =
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        self.desk = Some(desk);
        written
    }
}

/// A checkpoint that was begun is finished, whatever ends the run.
impl Drop for Saver {
    fn drop(&mut self) {
        if let Some(thread) = self.writing.take() {
            let _ = thread.join();
        }
    }
}

impl Desk {
    fn write(mut self, about: Value, path: &Path) -> (Self, Result<(), FormatError>) {
        let names = self.sections.take().unwrap_or_else(|| {
            let mut names = self.names.clone();
            names.extend(&Names::from(&self.met));
            encode_names(names.iter())
        });
        let container = to_container(about, &self.state, &names);
        let written = container::write(&container, path, Kind::Checkpoint);
        drop(container);
        self.sections = Some(names);
        (self, written)
    }
}
