//! Scores: what a model says about rows.

use std::io::Write as _;

use parsimon::data::{Bounds, Format, Names, Options};
use parsimon::rows::Chunk;
use parsimon::serve::RowParser;
use serde_json::{Value, json};

use super::model::Learning;
use super::replica::{Replica, Version};
use super::request_buffers::RequestBuffers;
use super::{Limits, Model};
use crate::answer::write_json;
use crate::content::Content;
use crate::error::Refusal;
use crate::wait::blocking;

/// A row that was scored.
pub struct Scored<'a> {
    /// The bytes that identify the row; empty if nothing does.
    pub id: &'a [u8],
    /// Its margins, one or one per class.
    pub margins: &'a [f64],
    /// Number of its features that have a weight; `None` where the model is not linear. With 0 the score is the prior.
    pub known: Option<usize>,
    /// The state it was scored with.
    pub version: Version,
    /// Whether the model collects its first rows: the score is that of a model without any.
    pub is_warming: bool,
}

impl Model {
    /// Scores the rows of a request, one after the other. Nothing is written; a few hundred rows at a time are scored with one
    /// state of the model.
    pub fn score(
        &self,
        content: &Content<'_>,
        limits: &Limits,
        mut each: impl FnMut(&Scored<'_>),
    ) -> Result<(), Refusal> {
        self.score_all(content, limits, |_| (), |row, ()| each(row))
    }

    /// Scores rows. `prepare` gets them before.
    fn score_all<T>(
        &self,
        content: &Content<'_>,
        limits: &Limits,
        prepare: impl Fn(&[Chunk]) -> T,
        mut each: impl FnMut(&Scored<'_>, &T),
    ) -> Result<(), Refusal> {
        let (mut done, mut prepared) = (0, None);
        loop {
            let is_warming = self.pair.read().is_warming();
            let pool = &self.readings.of(is_warming).scores;
            let is_scored = pool.lend(|buffers| {
                buffers.parse(content, pool.options(), limits)?;
                let RequestBuffers { chunks, margins, weights, .. } = buffers;
                let prepared = &*prepared.get_or_insert_with(|| prepare(chunks));
                for chunk in chunks.iter().skip(done) {
                    let each = |row: &Scored<'_>| each(row, prepared);
                    if !self.score_chunk(chunk, is_warming, margins, weights, each) {
                        return Ok(false);
                    }
                    done += 1;
                }
                Ok::<_, Refusal>(true)
            })?;
            // Otherwise the kinds of columns have become known since the rows were parsed. That happens once.
            if is_scored {
                return Ok(());
            }
        }
    }

    /// Scores rows, and keeps the rows that have ids until their labels arrive. `each` gets whether a row is kept; `None` if it has no id.
    pub fn score_tracked(
        &self,
        content: &Content<'_>,
        limits: &Limits,
        mut each: impl FnMut(&Scored<'_>, Option<bool>),
    ) -> Result<(), Refusal> {
        let Ok(learning) = self.learner() else {
            return self.score(content, limits, |row| each(row, None));
        };
        let has_id = |chunk: &Chunk| (0..chunk.len()).any(|i| !chunk.tag(i).is_empty());
        let track =
            |chunks: &[Chunk]| match content.format == Format::Jsonl && chunks.iter().any(has_id) {
                true => blocking(|| learning.track(content, chunks)),
                false => Vec::new(),
            };
        let mut k = 0;
        self.score_all(content, limits, track, |row, tracked| {
            let kept = tracked.get(k).copied().filter(|_| !row.id.is_empty());
            each(row, kept);
            k += 1;
        })
    }

    /// Scores at most a few hundred rows with one state of the model. False if the model reads rows in another way by now.
    pub(crate) fn score_chunk(
        &self,
        chunk: &Chunk,
        is_warming: bool,
        margins: &mut Vec<f64>,
        weights: &mut Vec<f64>,
        mut each: impl FnMut(&Scored<'_>),
    ) -> bool {
        margins.clear();
        weights.clear();
        let outputs = self.task().outputs();
        let replica = self.pair.read();
        if replica.is_warming() != is_warming {
            return false;
        }
        let version = replica.version();
        replica.score(chunk, margins);
        let mut ends = Vec::with_capacity(chunk.len());
        for i in 0..chunk.len() {
            replica.weights_of(chunk.row(i).indices(), weights);
            ends.push(weights.len());
        }
        let cells = known_cells(&replica, chunk);
        // Answers are written after the replica was let go.
        drop(replica);
        let mut start = 0;
        for (i, end) in ends.into_iter().enumerate() {
            let of_row = &weights[start..end];
            let is_linear = end > start || chunk.row(i).is_empty();
            let known = of_row.chunks(outputs).filter(|w| w.iter().any(|w| *w != 0.0)).count();
            let known = is_linear.then_some(known + cells.get(i).copied().unwrap_or(0));
            let margins = &margins[i * outputs..(i + 1) * outputs];
            each(&Scored { id: chunk.tag(i), margins, known, version, is_warming });
            start = end;
        }
        true
    }

    /// Scores the rows of a request and lists what each feature contributes, the largest contribution first: a JSON object each.
    /// With several classes, these are the contributions to the largest margin.
    pub fn explain(&self, content: &Content<'_>, limits: &Limits) -> Result<Vec<Vec<u8>>, Refusal> {
        let is_warming = self.pair.read().is_warming();
        let options = self.readings.of(is_warming).scores.options_with_names();
        let _held = limits.admit(content)?;
        let options = Options {
            bounds: Bounds { products: limits.features as u64, ..options.bounds },
            ..options
        };
        let mut parser = RowParser::new("body", content.format, &options)?;
        let mut chunks = Vec::new();
        parser.parse(&content.text, &mut chunks)?;
        limits.check(&chunks)?;
        let names: Vec<(u32, String)> = parser
            .new_names()
            .map(|(slot, name)| (slot, String::from_utf8_lossy(name).into_owned()))
            .collect();
        let names: Names = names.iter().map(|(slot, name)| (*slot, name.as_str())).collect();
        let mut rows: Vec<Vec<u8>> = Vec::new();
        let (mut margins, mut weights) = (Vec::new(), Vec::new());
        for chunk in &chunks {
            let first = rows.len();
            let is_scored =
                self.score_chunk(chunk, is_warming, &mut margins, &mut weights, |row| {
                    let mut out = Vec::new();
                    self.write(row, &mut out);
                    rows.push(out);
                });
            if !is_scored {
                // The kinds of columns have become known. That happens once.
                return self.explain(content, limits);
            }
            let replica = self.pair.read();
            let features = replica.features(chunk);
            for (i, row) in rows[first..].iter_mut().enumerate() {
                let best = self.task().best(&margins[i * self.task().outputs()..]);
                let contributions = self.contributions(&replica, &features, i, best, &names);
                row.extend_from_slice(b",\"contributions\":");
                write_json(row, &contributions);
                row.push(b'}');
            }
        }
        Ok(rows)
    }

    fn contributions(
        &self,
        replica: &Replica,
        chunk: &Chunk,
        i: usize,
        best: usize,
        names: &Names,
    ) -> Vec<Value> {
        let row = chunk.row(i);
        let mut weights = Vec::new();
        replica.weights_of(row.indices(), &mut weights);
        let of_class = weights.chunks(self.task().outputs()).map(|weights| weights[best]);
        let mut parts: Vec<(u32, f64, f64)> =
            row.iter().zip(of_class).map(|((j, v), w)| (j, v, w)).filter(|p| p.2 != 0.0).collect();
        parts.sort_by(|a, b| (b.1 * b.2).abs().total_cmp(&(a.1 * a.2).abs()).then(a.0.cmp(&b.0)));
        let name = |j: u32| match names.name(j) {
            Some(name) => name.to_owned(),
            None => j.to_string(),
        };
        let part = |(j, v, w): (u32, f64, f64)| json!({"feature": name(j), "value": v, "weight": w, "contribution": v * w});
        parts.into_iter().map(part).collect()
    }

    /// Appends a scored row as a JSON object that is still open.
    pub fn write(&self, row: &Scored<'_>, out: &mut Vec<u8>) {
        out.push(b'{');
        if !row.id.is_empty() {
            out.extend_from_slice(b"\"id\":");
            write_json(out, &*String::from_utf8_lossy(row.id));
            out.push(b',');
        }
        self.task().write(row.margins, out);
        if let Some(known) = row.known {
            out.extend_from_slice(b",\"known\":");
            write_json(out, &known);
        }
        if row.is_warming {
            out.extend_from_slice(b",\"warming\":true");
        }
        if let Some(lag) = self.learner().ok().and_then(Learning::lag) {
            let _ = write!(out, ",\"lag_records\":{},\"lag_seconds\":{}", lag.records, lag.seconds);
        }
        out.extend_from_slice(b",\"version\":");
        write_json(out, &row.version);
    }
}

/// Number of cells of number columns that have a weight, for each row; empty if rows have no such columns.
fn known_cells(replica: &Replica, chunk: &Chunk) -> Vec<usize> {
    if chunk.columns().is_empty() {
        return Vec::new();
    }
    let mut weights = Vec::new();
    let ids: Vec<u32> = chunk.columns().iter().map(|column| column.id).collect();
    replica.weights_of(&ids, &mut weights);
    let heads = weights.len() / ids.len().max(1);
    let has_weight = |k: usize| weights[k * heads..(k + 1) * heads].iter().any(|w| *w != 0.0);
    let known = |i: usize| {
        let cells = chunk.numbers(i).iter().enumerate();
        cells.filter(|(k, x)| !x.is_nan() && has_weight(*k)).count()
    };
    (0..chunk.len()).map(known).collect()
}
