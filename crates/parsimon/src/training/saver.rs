//! Checkpoints written while learning continues.
//!
//! The learner only copies its state: the header, and the numbers as bytes in memory that is used again and again. Names, checksum, file
//! and disk are handled by a thread. The bytes are those of [`Trainer::save_checkpoint`].

use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Instant;

use parsimon_core::StateWriter;
use parsimon_data::{Names, NewNames, Reader};
use parsimon_files::Stamp;
use serde_json::Value;

use super::checkpoint::{commit_over, to_container};
use super::{Pauses, Trainer};
use crate::container::{self, Kind};
use crate::error::FormatError;
use crate::model::encode_names;

/// Writes checkpoints to one file, one at a time.
pub(super) struct Saver {
    path: PathBuf,
    /// State of the thread. It is here while no thread runs.
    buffers: Option<Buffers>,
    writing: Option<JoinHandle<(Buffers, Result<(), FormatError>)>>,
    pauses: Pauses,
}

/// The part of a checkpoint that is kept from one to the next.
#[derive(Default)]
struct Buffers {
    state: Vec<u8>,
    /// Names of the passes before this one.
    names: Names,
    /// Names met in this pass.
    met: NewNames,
    /// Both as sections, while no new name was met.
    sections: Option<[Vec<u8>; 3]>,
    /// The state of the file after the last checkpoint.
    stamp: Option<Stamp>,
}

impl Saver {
    /// A saver of checkpoints to a file that had this stamp, if it may not be another one.
    pub(super) fn new(path: &Path, stamp: Option<Stamp>) -> Self {
        Self {
            path: path.into(),
            buffers: Some(Buffers { stamp, ..Buffers::default() }),
            writing: None,
            pauses: Pauses::default(),
        }
    }

    /// Starts to write the state of a learner in the background. Returns false if the previous checkpoint is still being written.
    pub(super) fn save(&mut self, trainer: &Trainer, reader: &Reader) -> Result<bool, FormatError> {
        if self.writing.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return Ok(false);
        }
        let start = Instant::now();
        self.wait()?;
        let mut buffers = self.buffers.take().unwrap_or_default();
        let about = trainer.about();
        let mut state = StateWriter::reusing(std::mem::take(&mut buffers.state));
        trainer.online().save(&mut state);
        Trainer::check(&about, &state, &self.path)?;
        buffers.state = state.into_bytes();
        // Another pass over the data begins without names, and with those that the passes before have left.
        if buffers.met.len() > reader.names_met() || buffers.names.len() != trainer.names().len() {
            buffers.names = trainer.names().clone();
            (buffers.met, buffers.sections) = (NewNames::default(), None);
        }
        if reader.names_met() > buffers.met.len() {
            buffers.met.append(&reader.names_since(buffers.met.len()));
            buffers.sections = None;
        }
        let path = self.path.clone();
        self.writing = Some(std::thread::spawn(move || buffers.write(about, &path)));
        self.pauses.add(start.elapsed());
        Ok(true)
    }

    /// Duration of [`save`](Self::save).
    pub(super) fn pauses(&self) -> Pauses {
        self.pauses
    }

    /// The state of the file after the last checkpoint that was waited for.
    pub(super) fn stamp(&self) -> Option<Stamp> {
        self.buffers.as_ref().and_then(|buffers| buffers.stamp.clone())
    }

    /// Waits until the last checkpoint is on the disk.
    pub(super) fn wait(&mut self) -> Result<(), FormatError> {
        let Some(thread) = self.writing.take() else { return Ok(()) };
        let (buffers, written) =
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        self.buffers = Some(buffers);
        written
    }
}

/// A checkpoint that was begun is finished even if the run fails.
impl Drop for Saver {
    fn drop(&mut self) {
        if let Some(thread) = self.writing.take() {
            let _ = thread.join();
        }
    }
}

impl Buffers {
    fn write(mut self, about: Value, path: &Path) -> (Self, Result<(), FormatError>) {
        let names = self.sections.take().unwrap_or_else(|| {
            let mut names = self.names.clone();
            names.extend(&Names::from(&self.met));
            encode_names(names.iter())
        });
        let container = to_container(about, &self.state, &names);
        let written = container::prepare(&container, path, Kind::Checkpoint)
            .and_then(|prepared| commit_over(prepared, path, self.stamp.as_ref()));
        self.stamp = self.stamp.take().map(|_| Stamp::of(path));
        drop(container);
        // The state grows as features are met; learning should not wait for memory.
        self.state.reserve(self.state.len() / 4);
        self.sections = Some(names);
        (self, written)
    }
}

#[cfg(test)]
mod tests {
    use parsimon_core::Chunk;
    use parsimon_data::{Input, Options, Run};

    use super::*;
    use crate::options::LearnerOptions;
    use crate::settings::Spec;
    use crate::survey::InputSchema;

    /// A reader of rows with hashed names, in which every row has a new name.
    fn reader(rows: std::ops::Range<u32>) -> Reader {
        let row = |i: u32| {
            format!("{} |w word{} common\n", if i.is_multiple_of(2) { 1 } else { -1 }, i / 3)
        };
        let bytes = rows.map(row).collect::<String>().into_bytes();
        let options = Options::from(Run { threads: 1, ..Run::default() });
        Reader::open(&[Input::Bytes { name: "rows.vw".into(), bytes }], &options).unwrap()
    }

    fn trainer() -> Trainer {
        let settings = Spec::new("ftrl").set("l1", 0.0).resolve().unwrap();
        let reading = InputSchema { bits: Some(22), ..InputSchema::default() };
        Trainer::new(settings, LearnerOptions::default(), reading).unwrap()
    }

    /// The bytes of the same checkpoint, written while the learner waits.
    fn expected(trainer: &Trainer, reader: &Reader) -> Vec<u8> {
        let mut twin = Trainer::from_checkpoint(&trainer.checkpoint()).unwrap();
        twin.note_names(reader.names().clone());
        twin.checkpoint()
    }

    #[test]
    fn the_bytes_are_those_of_a_checkpoint_that_was_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.ckpt");
        let (mut saver, mut trainer) = (Saver::new(&path, None), trainer());
        // The second pass meets other names first, and more of them.
        for rows in [0..5000, 4000..12_000, 0..12_000] {
            let (mut reader, mut chunk) = (reader(rows), Chunk::new());
            let mut saved = 0;
            while reader.read(&mut chunk).unwrap() {
                trainer.learn(&chunk, &mut |_| {}).unwrap();
                for _ in 0..2 {
                    assert!(saver.save(&trainer, &reader).unwrap());
                    saver.wait().unwrap();
                    assert!(std::fs::read(&path).unwrap() == expected(&trainer, &reader));
                    saved += 1;
                }
            }
            assert!(saved >= 2);
            trainer.note_names(reader.into_names());
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn learning_goes_on_while_a_checkpoint_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.ckpt");
        let (mut saver, mut trainer) = (Saver::new(&path, None), trainer());
        let (mut reader, mut chunk) = (reader(0..3000), Chunk::new());
        assert!(reader.read(&mut chunk).unwrap());
        trainer.learn(&chunk, &mut |_| {}).unwrap();
        assert!(saver.save(&trainer, &reader).unwrap());
        let expected = expected(&trainer, &reader);
        trainer.learn(&chunk, &mut |_| {}).unwrap();
        drop(saver);
        assert!(std::fs::read(&path).unwrap() == expected, "dropping waits");
    }

    #[test]
    fn an_error_is_reported_when_the_checkpoint_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("missing/state.ckpt");
        let (mut saver, trainer) = (Saver::new(&path, None), trainer());
        assert!(saver.save(&trainer, &reader(0..10)).unwrap());
        let error = saver.wait().unwrap_err().to_string();
        assert!(error.contains("missing/state.ckpt: cannot be written: "), "{error}");
        // The next one is tried again.
        std::fs::create_dir(folder.path().join("missing")).unwrap();
        assert!(saver.save(&trainer, &reader(0..10)).unwrap());
        saver.wait().unwrap();
        assert!(path.exists());
    }
}
