//! Labels that come after the scores: rows are kept by their ids until a label joins them, or the time is over.

use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use parsimon::data::{Format, Options};
use parsimon::rows::Chunk;
use parsimon::serve::RowParser;
use parsimon_log::Log;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};

use super::Limits;
use super::ids::{self, Known};
use super::intake::Intake;
use super::model::{Learning, Shared};
use super::policy::{Labels, Policy};
use super::record::{Forget, Origin, Rows, Start, kind};
use super::tables::{each, lines};
use crate::content::Content;
use crate::error::Refusal;

/// The names under which rows have their labels, in the order in which the reader of JSON looks for them.
const USUAL: [&str; 5] = ["label", "target", "y", "click", "class"];

/// Rows that have waited too long are dealt with so many at a time.
const AT_ONCE: usize = 1000;

/// Between two looks at rows that wait. Rows of the default label that are learned many at a time pull the weights to and fro.
pub(super) const EXPIRY: Duration = Duration::from_millis(20);

/// How long a score waits for the table of waiting rows.
const A_MOMENT: Duration = Duration::from_millis(20);

/// What identifies a row.
pub(crate) fn id_of(line: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Row {
        id: Value,
    }
    match serde_json::from_slice::<Row>(line).ok()?.id {
        Value::String(text) => Some(text).filter(|text| !text.is_empty()),
        Value::Number(n) if n.is_u64() || n.is_i64() => Some(n.to_string()),
        _ => None,
    }
}

/// A label for a row that was scored.
struct Label {
    id: String,
    label: Value,
    weight: Option<Value>,
}

impl Label {
    fn read(line: &[u8], row: usize) -> Result<Self, Refusal> {
        let bad = |words: String| Refusal::bad(format!("body:{row}: {words}")).with("line", row);
        let mut fields: Map<String, Value> = serde_json::from_slice(line).map_err(|e| {
            let words = e.to_string();
            let words = words.split(" at line ").next().unwrap_or_default().to_owned();
            bad(format!("not a JSON object: {words}")).with("column", e.column())
        })?;
        let id =
            id_of(line).ok_or_else(|| bad("\"id\" must be a text or a whole number".into()))?;
        let label =
            fields.shift_remove("label").ok_or_else(|| bad("there is no \"label\"".into()))?;
        let weight = fields.shift_remove("weight");
        fields.shift_remove("id");
        match fields.keys().next() {
            Some(odd) => Err(bad(format!("{odd:?} is none of \"id\", \"label\" and \"weight\""))),
            None => Ok(Self { id, label, weight }),
        }
    }
}

/// A waiting row with its label, as a line of JSON.
fn joined(
    row: &[u8],
    label: &Value,
    weight: Option<&Value>,
    label_column: Option<&str>,
    weight_column: Option<&str>,
) -> Result<Vec<u8>, Refusal> {
    let unreadable = |_| Refusal::bad("the waiting row cannot be read");
    let mut fields: Map<String, Value> = serde_json::from_slice(row).map_err(unreadable)?;
    let usual = || match fields.contains_key("_label") {
        true => "_label",
        false => USUAL.into_iter().find(|name| fields.contains_key(*name)).unwrap_or("_label"),
    };
    let key = label_column.unwrap_or_else(usual).to_owned();
    fields.insert(key, label.clone());
    if let Some(weight) = weight {
        fields.insert(weight_column.unwrap_or("_weight").to_owned(), weight.clone());
    }
    Ok(Value::Object(fields).to_string().into_bytes())
}

impl Learning {
    /// Keeps rows that were scored and have ids, until their labels come. Gives for each row whether it is kept; rows without an id
    /// are not.
    pub(crate) fn track(&self, content: &Content<'_>, chunks: &[Chunk]) -> Vec<bool> {
        let mut tracked = vec![false; chunks.iter().map(Chunk::len).sum()];
        if content.format != Format::Jsonl {
            return tracked;
        }
        let Some(mut intake) = self.intake_soon() else { return tracked };
        let mut text = Vec::new();
        let mut fresh: Vec<(usize, &[u8], &[u8])> = Vec::new();
        for (k, ((chunk, i), line)) in each(chunks).zip(lines(&content.text)).enumerate() {
            let id = chunk.tag(i);
            if id.is_empty() || intake.closed.is_some() {
                continue;
            }
            // The first score of an id stays, whether it waits or has been learned.
            let is_known = intake.tables.pending.contains(id)
                || intake.tables.ids.get(ids::row_id(id)).is_some()
                || fresh.iter().any(|(_, other, _)| *other == id);
            if is_known {
                tracked[k] = true;
            } else if intake.tables.pending.has_room(id, line) {
                text.extend_from_slice(line);
                text.push(b'\n');
                fresh.push((k, id, line));
            }
        }
        if fresh.is_empty() {
            return tracked;
        }
        let rows =
            Rows { format: Format::Jsonl, origin: Origin::Sent, key: b"", content: 0, text: &text };
        let mut bytes = Vec::new();
        rows.encode(&mut bytes);
        // Where the log is full or has failed the score is answered all the same.
        let Ok((version, time)) = intake.append_other(&self.log, kind::PENDING, &bytes) else {
            return tracked;
        };
        for (k, id, line) in fresh {
            let row = super::pending::Waiting { text: line.into(), seq: version.seq, time };
            intake.tables.pending.insert(id, row);
            tracked[k] = true;
        }
        tracked
    }

    /// The intake, if it is free within a moment. A score does not wait for a snapshot of a large table of ids.
    fn intake_soon(&self) -> Option<MutexGuard<'_, Intake>> {
        let start = Instant::now();
        loop {
            match self.shared.intake.try_lock() {
                Ok(intake) => return Some(intake),
                Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) if start.elapsed() > A_MOMENT => return None,
                Err(TryLockError::WouldBlock) => std::thread::yield_now(),
            }
        }
    }

    /// Joins labels with the rows that wait for them. All labels of a request are taken, or none.
    pub fn label(&self, content: &Content<'_>, limits: &Limits) -> Result<Labelled, Refusal> {
        self.join(content, limits).inspect_err(|refusal| {
            self.shared.count_refused(&self.log, refusal, content.rows());
        })
    }

    fn join(&self, content: &Content<'_>, limits: &Limits) -> Result<Labelled, Refusal> {
        if content.format != Format::Jsonl {
            return Err(Refusal::bad("labels are JSON objects with \"id\" and \"label\""));
        }
        let labels: Vec<Label> = lines(&content.text)
            .zip(1..)
            .map(|(line, row)| Label::read(line, row))
            .collect::<Result<_, _>>()?;
        if labels.is_empty() {
            return Err(Refusal::bad("body: is empty: no rows"));
        }
        if labels.len() > limits.rows {
            let words = format!("{} rows exceed the limit of {}", labels.len(), limits.rows);
            return Err(Refusal::new(axum::http::StatusCode::PAYLOAD_TOO_LARGE, words));
        }
        let mut intake = self.shared.intake.lock().unwrap_or_else(PoisonError::into_inner);
        intake.check()?;
        let schema = self.shared.schema();
        let (mut text, mut rows) = (Vec::new(), Vec::new());
        let mut met: FxHashMap<&str, &Label> = FxHashMap::default();
        for (label, row) in labels.iter().zip(1..) {
            match met.insert(&label.id, label) {
                None => {}
                Some(first) if (&first.label, &first.weight) == (&label.label, &label.weight) => {
                    rows.push((row, Fate::Repeated));
                    continue;
                }
                Some(_) => {
                    let words =
                        format!("body:{row}: the id {:?} has two labels in this request", label.id);
                    return Err(Refusal::conflict(words)
                        .with("line", row)
                        .with("token", label.id.clone()));
                }
            }
            let known = intake.tables.ids.get(ids::row_id(label.id.as_bytes()));
            let is_late = known.is_some_and(|known| known.is_default);
            let waiting = match intake.tables.pending.get(label.id.as_bytes()) {
                Some(waiting) => Some(waiting.text.clone()),
                None if is_late && self.shared.learns_late() => {
                    self.shared.late_row(label.id.as_bytes())
                }
                None => None,
            };
            match (waiting, known) {
                (Some(waiting), _) => {
                    let (label_column, weight_column) =
                        (schema.label_column.as_deref(), schema.weight_column.as_deref());
                    let weight = label.weight.as_ref();
                    let line = joined(&waiting, &label.label, weight, label_column, weight_column)?;
                    text.extend_from_slice(&line);
                    text.push(b'\n');
                    rows.push((row, Fate::Learned));
                }
                (None, Some(known)) => rows.push((row, Fate::Known(known))),
                (None, None) => {
                    let words = format!(
                        "body:{row}: the id {:?} is unknown: it was not scored with an id, or too long ago",
                        label.id
                    );
                    return Err(Refusal::missing(words)
                        .with("line", row)
                        .with("token", label.id.clone()));
                }
            }
        }
        let mut seq = None;
        if !text.is_empty() {
            let mut parser = RowParser::new("body", Format::Jsonl, self.desks.options())?;
            let mut chunks = Vec::new();
            parser.parse(&text, &mut chunks)?;
            let names = parser.new_names().map(|(slot, name)| (slot, name.into())).collect();
            let rows = Rows {
                format: Format::Jsonl,
                origin: Origin::Labelled,
                key: b"",
                content: 0,
                text: &text,
            };
            seq =
                Some(intake.append_rows(&self.log, &rows, chunks, names, &self.shared, None)?.seq);
        }
        drop(intake);
        Ok(Labelled { seq, rows })
    }
}

/// What became of the label of a row.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Learned,
    /// The same label stands in this request before.
    Repeated,
    /// The row was learned before.
    Known(Known),
}

/// What became of labels.
#[derive(Debug)]
pub struct Labelled {
    /// The record of the rows that are learned.
    pub seq: Option<u64>,
    rows: Vec<(usize, Fate)>,
}

impl Labelled {
    /// The answer to the client.
    pub fn to_json(&self) -> Value {
        let learned = self.rows.iter().filter(|(_, fate)| matches!(fate, Fate::Learned)).count();
        let of_known = |(row, fate): &(usize, Fate)| match fate {
            Fate::Learned => None,
            Fate::Repeated => Some(json!({"row": row, "seq": self.seq})),
            Fate::Known(known) if known.is_default => {
                Some(json!({"row": row, "seq": known.seq, "late": true}))
            }
            Fate::Known(known) => Some(json!({"row": row, "seq": known.seq})),
        };
        let known: Vec<Value> = self.rows.iter().filter_map(of_known).collect();
        let last = known.iter().filter_map(|row| row["seq"].as_u64()).max();
        let mut answer = json!({"seq": self.seq.or(last), "learned": learned});
        if !known.is_empty() {
            answer["duplicate"] = (learned == 0).into();
            answer["duplicates"] = known.into();
        }
        answer
    }
}

/// Refuses a default label that no row could be learned with.
pub(crate) fn check_default(
    policy: &Policy,
    start: &Start,
    options: &Options,
) -> Result<(), String> {
    let Labels::Window { default, .. } = &policy.labels else { return Ok(()) };
    let words = |e: &dyn std::fmt::Display| format!("the default label {default:?}: {e}");
    let (label, weight) =
        (start.schema.label_column.as_deref(), start.schema.weight_column.as_deref());
    let line = joined(b"{}", &as_json(default), None, label, weight);
    let line = line.map_err(|refusal| words(&refusal.message()))?;
    let mut parser =
        RowParser::new("--label-default", Format::Jsonl, options).map_err(|e| words(&e))?;
    parser.parse(&line, &mut Vec::new()).map_err(|e| words(&e))
}

/// A label of the command line as JSON: a number if it is one, else a text.
fn as_json(label: &str) -> Value {
    serde_json::from_str(label).unwrap_or_else(|_| json!(label))
}

impl Shared {
    /// How rows are read, which shadows have in common with the model.
    fn schema(&self) -> parsimon::InputSchema {
        self.start.lock().unwrap_or_else(PoisonError::into_inner).schema.clone()
    }

    fn learns_late(&self) -> bool {
        matches!(self.policy.labels, Labels::Window { learn_late: true, .. })
    }

    /// A row that was learned with the default label not long ago.
    fn late_row(&self, id: &[u8]) -> Option<Box<[u8]>> {
        let late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
        late.iter().find(|(known, ..)| **known == *id).map(|(_, _, text)| text.clone())
    }

    /// Deals with rows that have waited for as long as they may: with a window they are learned with the default label, otherwise
    /// they are forgotten. Called by the learner now and then; what it does is in the log.
    pub(crate) fn expire(&self, log: &Log) {
        let now = Instant::now();
        {
            let mut due = self.expiry_due.lock().unwrap_or_else(PoisonError::into_inner);
            if now < *due {
                return;
            }
            *due = now + EXPIRY.min(self.policy.labels.patience() / 4);
        }
        let mut intake = self.intake.lock().unwrap_or_else(PoisonError::into_inner);
        if intake.closed.is_some() || intake.tables.pending.len() == 0 {
            return;
        }
        let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let clock = clock.map_or(0, |since| since.as_millis() as u64);
        let until = clock.saturating_sub(self.policy.labels.patience().as_millis() as u64);
        let old = intake.tables.pending.since(until, AT_ONCE);
        let Some((_, last)) = old.last() else { return };
        if old.len() == AT_ONCE {
            // There are more.
            *self.expiry_due.lock().unwrap_or_else(PoisonError::into_inner) = now;
        }
        let Labels::Window { default, .. } = &self.policy.labels else {
            let forget = Forget { until: last.time };
            let json = serde_json::to_vec(&forget).unwrap_or_default();
            if let Ok((version, _)) = intake.append_other(log, kind::FORGET, &json) {
                intake.tables.pending.forget(forget.until, version.seq);
                intake.tables.pending.settle(self.status.now().visible.seq);
            }
            return;
        };
        let schema = self.schema();
        let default = as_json(default);
        let mut text = Vec::new();
        for (_, row) in &old {
            let (label, weight) = (schema.label_column.as_deref(), schema.weight_column.as_deref());
            if let Ok(line) = joined(&row.text, &default, None, label, weight) {
                text.extend_from_slice(&line);
                text.push(b'\n');
            }
        }
        let mut chunks = Vec::new();
        let parsed = RowParser::new("waiting rows", Format::Jsonl, &self.learning_options)
            .and_then(|mut parser| {
                parser.parse(&text, &mut chunks)?;
                Ok(parser.new_names().map(|(slot, name)| (slot, name.into())).collect())
            });
        // The default label was checked at the start, and the rows when they were scored.
        let Ok(names) = parsed else { return };
        let rows = Rows {
            format: Format::Jsonl,
            origin: Origin::Expired,
            key: b"",
            content: 0,
            text: &text,
        };
        if intake.append_rows(log, &rows, chunks, names, self, None).is_ok() && self.learns_late() {
            let mut late = self.late.lock().unwrap_or_else(PoisonError::into_inner);
            late.retain(|(_, then, _)| now.duration_since(*then) < self.policy.labels.patience());
            late.extend(old.into_iter().map(|(id, row)| (id, now, row.text)));
            let most = self.policy.pending_rows;
            while late.len() > most {
                late.pop_front();
            }
        }
    }
}

impl Learning {
    /// How many rows wait for their labels.
    pub(crate) fn pending(&self) -> usize {
        let intake = self.shared.intake.lock().unwrap_or_else(PoisonError::into_inner);
        intake.tables.pending.len()
    }

    /// How many ids are remembered.
    pub(crate) fn known_ids(&self) -> usize {
        self.shared.intake.lock().unwrap_or_else(PoisonError::into_inner).tables.ids.len()
    }

    /// Rows that wait to be learned.
    pub(crate) fn waiting(&self) -> usize {
        self.shared.status.waiting.load(Ordering::Relaxed)
    }
}
