//! A model with a name.

use std::path::Path;

use parsimon::Model as ModelFile;
use parsimon::core::Chunk;
use serde_json::{Value, json};

use super::desk::{Desks, Reading};
use super::pair::Pair;
use super::replica::{Replica, Version};
use crate::answer::Task;
use crate::error::Refusal;

/// Checks the name of a model, which is a part of addresses and the name of a directory.
pub fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    match !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain) && !name.starts_with('.') {
        true => Ok(()),
        false => Err(format!(
            "the name of a model is up to 64 letters, digits, dashes, dots and underscores, got {name:?}"
        )),
    }
}

/// A model that is served under a name.
pub struct Model {
    pub(super) name: String,
    pub(super) task: Task,
    pub(super) pair: Pair<Replica>,
    pub(super) desks: Desks,
    /// The settings, as JSON.
    settings: Value,
    /// Whether features are ids, not names.
    has_ids: bool,
}

impl Model {
    /// Serves a model file. It cannot learn.
    pub fn read_only(name: &str, path: &Path) -> Result<Self, parsimon::FormatError> {
        let file = ModelFile::load(path)?;
        let task = Task::new(file.settings(), file.schema());
        let reading = Reading::new(file.settings(), file.schema(), file.precision().max_value());
        let settings = json!({
            "settings": file.settings().completed(&file.schema().found),
            "precision": file.precision().to_string(),
            "provenance": file.provenance(),
        });
        let has_ids = file.schema().bits.is_none();
        let replica = Replica::frozen(file);
        let second = replica.shared().unwrap_or_else(|| unreachable!("it is frozen"));
        let pair = Pair::new(replica, second);
        let desks = Desks::for_scores(&reading);
        Ok(Self { name: name.to_owned(), task, pair, desks, settings, has_ids })
    }

    /// The name it is served under.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How its margins are read.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// Whether features are ids, not names.
    pub fn has_ids(&self) -> bool {
        self.has_ids
    }

    /// The state that scores are made with now.
    pub fn version(&self) -> Version {
        self.pair.read().version()
    }

    /// Whether the model learns at all.
    pub fn learns(&self) -> bool {
        false
    }

    /// What the service tells about the model.
    pub fn about(&self) -> Value {
        json!({
            "name": self.name,
            "learns": self.learns(),
            "accepting": false,
            "loss": self.task.loss_name(),
            "classes": self.task.classes(),
            "version": self.version(),
            "model": self.settings,
        })
    }

    /// Scores rows that are ids already.
    pub fn score_rows(&self, chunk: &Chunk, each: impl FnMut(&super::Scored<'_>)) {
        self.score_chunk(chunk, &mut Vec::new(), &mut Vec::new(), each);
    }

    /// The model file as it is now.
    pub fn download(&self) -> Result<Vec<u8>, Refusal> {
        match &*self.pair.read() {
            Replica::Frozen(frozen) => Ok(frozen.0.to_bytes()),
            Replica::Live(live) => Ok(live.trainer.model().to_bytes()),
        }
    }
}
