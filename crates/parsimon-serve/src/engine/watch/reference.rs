//! A frozen model that the live one is compared with, and the weights that have moved since.

use std::collections::BinaryHeap;

use parsimon::predict::Scorer;
use parsimon::rows::Chunk;
use parsimon::workspace::Head;
use serde::Serialize;

use super::super::replica::{Live, Version};

/// Number of weights that are shown.
const SHOWN: usize = 12;

/// The weights of a model as they were.
pub(crate) struct Reference {
    pub(crate) version: Version,
    /// Rows it had learned.
    pub(crate) rows: u64,
    scorer: Scorer,
    heads: Vec<Head>,
}

impl Reference {
    /// The present model.
    pub(crate) fn of(live: &Live) -> Self {
        let (trainer, online) = (&live.trainer, live.trainer.online());
        let frozen = online.freeze();
        let scorer = frozen.scorer(trainer.options().precision).with_range(online.label_range());
        let scorer = match trainer.settings().is_normalized() {
            true => scorer.with_columns(online.columns()),
            false => scorer,
        };
        let rows = trainer.progressive().rows();
        Self { version: live.version, rows, scorer, heads: frozen.into_heads() }
    }

    /// Appends the margins of every row.
    pub(crate) fn margins(&self, chunk: &Chunk, margins: &mut Vec<f64>) {
        self.scorer.margins(chunk, margins);
    }
}

/// A weight that has moved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Moved {
    pub(crate) feature: String,
    #[serde(skip)]
    pub(crate) index: u32,
    /// The class of the weight, if there are several classes.
    pub(crate) head: usize,
    pub(crate) before: f64,
    pub(crate) now: f64,
}

/// A candidate, ordered by how little it has moved: the top of a heap is the one to be replaced.
struct Candidate(f64, Moved);

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}
impl Eq for Candidate {}
impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.0.total_cmp(&self.0).then(self.1.index.cmp(&other.1.index))
    }
}

/// The current nonzero weights, and the weights that moved most since the reference (from zero, if there is none).
pub(crate) fn moved(live: &Live, reference: Option<&Reference>) -> (usize, Vec<Moved>) {
    let now = live.trainer.online().freeze();
    let nonzeros = now.nonzeros();
    let empty = Head::default();
    let mut most = BinaryHeap::with_capacity(SHOWN + 1);
    for (k, head) in now.heads().iter().enumerate() {
        let before = reference.and_then(|reference| reference.heads.get(k)).unwrap_or(&empty);
        let (mut old, mut new) = (before.iter().peekable(), head.iter().peekable());
        loop {
            let index = match (old.peek(), new.peek()) {
                (Some((i, _)), Some((j, _))) => *i.min(j),
                (Some((i, _)), None) => *i,
                (None, Some((j, _))) => *j,
                (None, None) => break,
            };
            let weight = |side: &mut std::iter::Peekable<_>| match side.peek() {
                Some((j, _)) if *j == index => side.next().map_or(0.0, |(_, w): (u32, f64)| w),
                _ => 0.0,
            };
            let (before, now) = (weight(&mut old), weight(&mut new));
            let by = (now - before).abs();
            let is_more =
                most.len() < SHOWN || most.peek().is_some_and(|least: &Candidate| by > least.0);
            if by > 0.0 && is_more {
                let feature = String::new();
                most.push(Candidate(by, Moved { feature, index, head: k, before, now }));
                if most.len() > SHOWN {
                    most.pop();
                }
            }
        }
    }
    let sorted = most.into_sorted_vec();
    (nonzeros, sorted.into_iter().map(|candidate| candidate.1).collect())
}
