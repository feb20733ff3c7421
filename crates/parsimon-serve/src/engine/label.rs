//! Labels that come after the scores: rows are kept by their ids until a label joins them, or the time is over.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use parsimon::data::{Format, Options};
use parsimon::rows::Chunk;
use parsimon::serve::RowParser;
use parsimon::workspace::label_field;
use parsimon_log::Log;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::Limits;
use super::id_table::{Answer, AsideRow, Entry, KeptRow, State};
use super::ids;
use super::intake::Intake;
use super::model::{Learning, Shared};
use super::policy::{Labels, Policy};
use super::record::{Evict, Forget, LoggedRows, Origin, SetAside, Start, kind};
use super::request_buffers::RowReading;
use super::rows::{each, lines};
use crate::answer::write_json;
use crate::content::Content;
use crate::error::Refusal;

/// Rows that have waited too long and are dealt with at a time, and rows of a request that are kept at a time.
const AT_ONCE: usize = 1000;

/// Between two looks at rows that wait. Rows of the default label that are learned many at a time pull the weights to and fro.
pub(super) const EXPIRY: Duration = Duration::from_millis(20);

/// Returns the id of a row.
pub(crate) fn id_of(line: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct RowWithId {
        id: Value,
    }
    match serde_json::from_slice::<RowWithId>(line).ok()?.id {
        Value::String(text) => Some(text).filter(|text| !text.is_empty()),
        Value::Number(n) if n.is_u64() || n.is_i64() => Some(n.to_string()),
        _ => None,
    }
}

/// A label for a row that was scored.
struct LabelOfRow {
    id: String,
    label: Value,
    weight: Option<Value>,
}

impl LabelOfRow {
    fn read(line: &[u8], row: usize) -> Result<Self, Refusal> {
        let bad = |words: String| Refusal::bad(format!("body:{row}: {words}")).with("line", row);
        let mut fields: Map<String, Value> = serde_json::from_slice(line).map_err(|e| {
            let words = e.to_string();
            let words = words.split(" at line ").next().unwrap_or_default().to_owned();
            bad(format!("not a JSON object: {words}")).with("column", e.column())
        })?;
        let id = id_of(line).ok_or_else(|| {
            bad("\"id\" must be a text that is not empty, or a whole number".into())
        })?;
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

/// Columns of the label and of the weight, where a schema names them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns {
    label: Option<String>,
    weight: Option<String>,
}

impl Columns {
    pub(crate) fn of(schema: &parsimon::InputSchema) -> Self {
        Self { label: schema.label_column.clone(), weight: schema.weight_column.clone() }
    }

    /// Returns a row with its label, as a line of JSON.
    fn joined(&self, row: &[u8], label: &Value, weight: Option<&Value>) -> Result<Vec<u8>, String> {
        // Numbers stay as they are spelled: digits may be a category.
        let Fields(fields) = serde_json::from_slice(row).map_err(|e| e.to_string())?;
        let by_name = || label_field(fields.iter().map(|(name, _)| name.as_str()));
        let label_key = self.label.as_deref().or_else(by_name).unwrap_or("_label");
        let weight_key = weight.map(|_| self.weight.as_deref().unwrap_or("_weight"));
        let mut out = vec![b'{'];
        for (name, value) in &fields {
            if name != label_key && Some(name.as_str()) != weight_key {
                write_json(&mut out, name);
                out.push(b':');
                out.extend_from_slice(value.get().as_bytes());
                out.push(b',');
            }
        }
        write_json(&mut out, label_key);
        out.push(b':');
        write_json(&mut out, label);
        if let (Some(key), Some(weight)) = (weight_key, weight) {
            out.push(b',');
            write_json(&mut out, key);
            out.push(b':');
            write_json(&mut out, weight);
        }
        out.push(b'}');
        Ok(out)
    }
}

/// The fields of a JSON object, with their values as they are spelled.
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;

        impl<'de> Visitor<'de> for Collect {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(fields)
            }
        }

        deserializer.deserialize_map(Collect).map(Self)
    }
}

impl Learning {
    /// Keeps rows that were scored and have ids, until their labels come. Returns for each row whether it is kept; rows without an
    /// id are not. Where the table is full the oldest rows that wait leave.
    pub(crate) fn track(&self, content: &Content<'_>, chunks: &[Chunk]) -> Vec<bool> {
        let mut tracked = vec![false; chunks.iter().map(Chunk::len).sum()];
        if content.format != Format::Jsonl {
            return tracked;
        }
        let rows: Vec<(usize, &[u8], &[u8])> = each(chunks)
            .zip(lines(&content.text))
            .enumerate()
            .map(|(k, ((chunk, i), line))| (k, chunk.tag(i), line))
            .filter(|(_, id, _)| !id.is_empty())
            .collect();
        for part in rows.chunks(AT_ONCE) {
            // Let go between parts: a large request does not hold up the others.
            self.track_part(part, &mut tracked);
        }
        tracked
    }

    fn track_part(&self, rows: &[(usize, &[u8], &[u8])], tracked: &mut [bool]) {
        let mut intake = self.intake();
        if intake.check().is_err() {
            return;
        }
        let (mut text, mut fresh, mut met) = (Vec::new(), Vec::new(), FxHashSet::default());
        for (k, id, line) in rows {
            let id = ids::row_id(id);
            // The first score of an id stays, whether it waits or has been learned.
            match intake.table.get(id).map(|entry| entry.state) {
                Some(state) => tracked[*k] = state != State::SetAside,
                None if met.insert(id) => {
                    text.extend_from_slice(line);
                    text.push(b'\n');
                    fresh.push((*k, id, *line));
                }
                None => tracked[*k] = true,
            }
        }
        if fresh.is_empty() {
            return;
        }
        let surplus = intake.table.surplus(fresh.len(), text.len());
        #[cfg(test)]
        let surplus = match self.shared.policy.fault {
            Some(super::id_check::Fault::FullRefuses) => surplus.filter(|surplus| *surplus == 0),
            _ => surplus,
        };
        // Where the log is full or has failed the score is answered nevertheless.
        let kept = surplus.is_some_and(|surplus| self.keep(&mut intake, &text, &fresh, surplus));
        for (k, id, _) in &fresh {
            tracked[*k] = kept && intake.table.get(*id).is_some();
        }
        for (k, id, _) in rows {
            tracked[*k] &= intake.table.get(ids::row_id(id)).is_some();
        }
        self.shared.status.count_ids(&intake.table);
    }

    /// Logs rows that wait from now on, and makes room for them. False if the log takes nothing.
    fn keep(
        &self,
        intake: &mut Intake,
        text: &[u8],
        fresh: &[(usize, u64, &[u8])],
        surplus: usize,
    ) -> bool {
        if surplus > 0 {
            let evict = serde_json::to_vec(&Evict { oldest: surplus as u64 }).unwrap_or_default();
            let Ok((version, _)) = intake.append_other(&self.log, kind::EVICT, &evict) else {
                return false;
            };
            let left = intake.table.evict(surplus as u64, version.seq);
            self.shared.status.evicted.fetch_add(left, Ordering::Relaxed);
        }
        let rows =
            LoggedRows { format: Format::Jsonl, origin: Origin::Sent, key: b"", content: 0, text };
        let mut bytes = Vec::new();
        rows.encode(&mut bytes);
        let Ok((version, time)) = intake.append_other(&self.log, kind::PENDING, &bytes) else {
            return false;
        };
        for (index, (_, id, line)) in (0..).zip(fresh) {
            let row = KeptRow { at: (version.seq, index), time, text: (*line).into() };
            assert!(intake.table.score(*id, row), "an id of the table is not fresh");
        }
        intake.table.release(self.shared.status.now().visible.seq);
        true
    }

    /// Joins labels with the rows that wait for them. All labels of a request are taken, or none.
    pub fn label(&self, content: &Content<'_>, limits: &Limits) -> Result<Labelled, Refusal> {
        self.join(content, limits).inspect_err(|refusal| {
            self.shared.count_refused(&self.log, refusal, content.rows());
        })
    }

    fn join(&self, content: &Content<'_>, limits: &Limits) -> Result<Labelled, Refusal> {
        let labels = read_labels(content, limits)?;
        let reading = self.shared.readings.latest();
        let answers = Self::answers(reading, &labels)?;
        let mut intake = self.intake();
        intake.check()?;
        // What a label says is the same before and after the kinds of columns are known; its column may not be.
        let RowReading { columns, learning, .. } = self.shared.readings.latest();
        let (mut joins, mut rows) = (Vec::new(), Vec::new());
        let mut met: FxHashMap<&str, usize> = FxHashMap::default();
        for (k, label) in labels.iter().enumerate() {
            let conflict = |words: String| {
                let words = format!("body:{}: the id {:?} {words}", k + 1, label.id);
                Refusal::conflict(words).with("line", k + 1).with("token", label.id.clone())
            };
            if let Some(first) = met.insert(&label.id, k) {
                let is_same = answers[first] == answers[k]
                    && labels[first].weight.is_some() == label.weight.is_some();
                if !is_same {
                    return Err(conflict("has two labels in this request".into()));
                }
                rows.push((k + 1, Fate::Repeated));
                continue;
            }
            let id = ids::row_id(label.id.as_bytes());
            let entry = intake.table.get(id).ok_or_else(|| {
                let words = format!(
                    "body:{}: the id {:?} is unknown: it was not scored with an id, or too long ago",
                    k + 1,
                    label.id
                );
                Refusal::missing(words).with("line", k + 1).with("token", label.id.clone())
            })?;
            let is_same = entry.agrees(Answer::new(answers[k].0, answers[k].1), label);
            #[cfg(test)]
            let is_same = is_same
                || self.shared.policy.fault == Some(super::id_check::Fault::AnyLabelIsDuplicate);
            let fate = match (entry.state, intake.table.row(id)) {
                (State::Scored | State::Expired, Some(row)) => {
                    joins.push((k, row.text.clone()));
                    Fate::Learned
                }
                (State::Expired, None) => Fate::Late(entry),
                _ if is_same => Fate::Known(entry),
                (State::SetAside, _) if intake.is_aside_expired(entry.seq, &label.id) => {
                    Fate::Known(entry)
                }
                _ => {
                    let words =
                        format!("came with another label or weight in record {}", entry.seq);
                    return Err(conflict(words).with("seq", entry.seq));
                }
            };
            rows.push((k + 1, fate));
        }
        let joins = joins.iter().map(|(k, text)| Join {
            id: &labels[*k].id,
            row: text,
            label: &labels[*k].label,
            weight: labels[*k].weight.as_ref(),
            answer: answers[*k],
            number: k + 1,
        });
        let joins: Vec<Join<'_>> = joins.collect();
        let origin = Origin::Labelled;
        let done = intake.learn_joined(
            &self.log,
            &self.shared,
            learning.options(),
            columns,
            origin,
            &joins,
        )?;
        for (row, fate) in &mut rows {
            if done.aside.contains(row) {
                *fate = Fate::SetAside;
            }
        }
        let late = rows.iter().filter(|(_, fate)| matches!(fate, Fate::Late(_))).count() as u64;
        self.shared.status.late.fetch_add(late, Ordering::Relaxed);
        self.shared.status.count_ids(&intake.table);
        Ok(Labelled { seq: done.seq, rows })
    }

    /// Returns labels and weights as numbers. A label that no row could be learned with is refused.
    fn answers(reading: &RowReading, labels: &[LabelOfRow]) -> Result<Vec<(f64, f64)>, Refusal> {
        let mut text = Vec::new();
        for label in labels {
            let line = reading.columns.joined(b"{}", &label.label, label.weight.as_ref());
            text.extend_from_slice(&line.map_err(Refusal::bad)?);
            text.push(b'\n');
        }
        let mut parser = RowParser::new("body", Format::Jsonl, reading.learning.options())?;
        let mut chunks = Vec::new();
        parser.parse(&text, &mut chunks)?;
        let answers: Vec<(f64, f64)> = each(&chunks)
            .map(|(chunk, i)| (chunk.label(i).unwrap_or(f64::NAN), chunk.weight(i)))
            .collect();
        match answers.iter().position(|(label, _)| label.is_nan()) {
            Some(k) => {
                let words = format!("body:{}: the label is missing", k + 1);
                Err(Refusal::bad(words).with("line", k + 1))
            }
            None => Ok(answers),
        }
    }

    /// Returns the latest rows that could not be learned, newest first, and how many there are.
    pub fn set_aside(&self) -> Value {
        let intake = self.intake();
        let rows: Vec<Value> = intake.table.aside().map(|row| json!(row)).collect();
        json!({"count": intake.table.count(State::SetAside), "rows": rows})
    }
}

impl Entry {
    /// Whether a label is the one that the id came with before. A label without a weight agrees with every weight.
    fn agrees(&self, answer: Answer, label: &LabelOfRow) -> bool {
        self.answer.label == answer.label
            && (label.weight.is_none() || self.answer.weight == answer.weight)
    }
}

fn read_labels(content: &Content<'_>, limits: &Limits) -> Result<Vec<LabelOfRow>, Refusal> {
    if content.format != Format::Jsonl {
        return Err(Refusal::bad("labels are JSON objects with \"id\" and \"label\""));
    }
    let rows = content.rows();
    if rows > limits.rows as u64 {
        return Err(limits.too_many(rows));
    }
    let labels: Vec<LabelOfRow> = lines(&content.text)
        .zip(1..)
        .map(|(line, row)| LabelOfRow::read(line, row))
        .collect::<Result<_, _>>()?;
    if labels.is_empty() {
        return Err(Refusal::bad("body: is empty: no rows"));
    }
    Ok(labels)
}

/// A row and the label that it is to be learned with.
struct Join<'a> {
    id: &'a str,
    row: &'a [u8],
    label: &'a Value,
    weight: Option<&'a Value>,
    answer: (f64, f64),
    /// The label's row in the request, from 1.
    number: usize,
}

/// The outcome of joining rows with labels.
#[derive(Default)]
struct Joined {
    /// The last record, if there was a row.
    seq: Option<u64>,
    /// The numbers of rows that were set aside.
    aside: FxHashSet<usize>,
}

impl Intake {
    /// Logs rows with their labels, to be learned. A row that cannot be learned is set aside and holds up no other.
    fn learn_joined(
        &mut self,
        log: &Log,
        shared: &Shared,
        options: &Options,
        columns: &Columns,
        origin: Origin,
        joins: &[Join<'_>],
    ) -> Result<Joined, Refusal> {
        let mut done = Joined::default();
        if joins.is_empty() {
            return Ok(done);
        }
        let mut parser = RowParser::new("row", Format::Jsonl, options)?;
        let (mut chunks, mut text, mut aside) = (Vec::new(), Vec::new(), Vec::new());
        let lines: Vec<Result<Vec<u8>, String>> =
            joins.iter().map(|join| columns.joined(join.row, join.label, join.weight)).collect();
        let append = |text: &mut Vec<u8>, line: &[u8]| {
            text.extend_from_slice(line);
            text.push(b'\n');
        };
        lines.iter().flatten().for_each(|line| append(&mut text, line));
        let is_whole = lines.iter().all(Result::is_ok) && parser.parse(&text, &mut chunks).is_ok();
        if !is_whole {
            #[cfg(test)]
            if shared.policy.fault == Some(super::id_check::Fault::OneBadRowBlocks) {
                return Err(Refusal::bad("planted: one row that cannot be read stops the others"));
            }
            // Row by row, to find those that cannot be learned.
            text.clear();
            for (join, line) in joins.iter().zip(lines) {
                let parsed = line.and_then(|line| {
                    let parsed = parser.parse(&line, &mut chunks).map_err(|e| e.to_string());
                    parsed.map(|()| line)
                });
                match parsed {
                    Ok(line) => append(&mut text, &line),
                    Err(why) => aside.push(join.set_aside(why, origin)),
                }
            }
            parser.forget_names();
            chunks.clear();
            if !text.is_empty() {
                parser.parse(&text, &mut chunks)?;
            }
        }
        if !text.is_empty() {
            let names = parser.new_names().map(|(slot, name)| (slot, name.into())).collect();
            let rows =
                LoggedRows { format: Format::Jsonl, origin, key: b"", content: 0, text: &text };
            done.seq = Some(self.append_rows(log, &rows, chunks, names, shared, None)?.seq);
        }
        if !aside.is_empty() {
            let numbers = aside.iter().map(|(number, _)| *number).collect();
            let record = SetAside { rows: aside.into_iter().map(|(_, row)| row).collect() };
            let json = serde_json::to_vec(&record).unwrap_or_default();
            let (version, time) = self.append_other(log, kind::SET_ASIDE, &json)?;
            let count = record.rows.len() as u64;
            shared.status.set_aside.fetch_add(count, Ordering::Relaxed);
            for row in record.rows {
                let id = ids::row_id(row.id.as_bytes());
                self.table.set_aside(id, row, version.seq, time);
            }
            (done.seq, done.aside) = (Some(version.seq), numbers);
        }
        Ok(done)
    }

    /// Whether a row was set aside when its window ended: no label contradicts that.
    fn is_aside_expired(&self, seq: u64, id: &str) -> bool {
        let mut aside = self.table.aside();
        aside.find(|row| row.seq == seq && row.row.id == id).is_some_and(|row| row.row.is_expired)
    }
}

impl Join<'_> {
    fn set_aside(&self, why: String, origin: Origin) -> (usize, AsideRow) {
        let text = || Value::String(String::from_utf8_lossy(self.row).into_owned());
        let row = AsideRow {
            id: self.id.to_owned(),
            why,
            label: self.label.clone(),
            answer: self.answer,
            is_expired: origin == Origin::Expired,
            row: serde_json::from_slice(self.row).unwrap_or_else(|_| text()),
        };
        (self.number, row)
    }
}

/// The outcome of the label of a row.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Learned,
    /// The row cannot be learned.
    SetAside,
    /// An equal label occurs earlier in this request.
    Repeated,
    /// The row came with this label before.
    Known(Entry),
    /// The row was learned with the default label.
    Late(Entry),
}

/// The outcome of labels.
#[derive(Debug)]
pub struct Labelled {
    /// The last record of the rows that are learned or set aside.
    pub seq: Option<u64>,
    rows: Vec<(usize, Fate)>,
}

impl Labelled {
    /// Returns the answer to the client.
    pub fn to_json(&self) -> Value {
        let learned = self.rows.iter().filter(|(_, fate)| matches!(fate, Fate::Learned)).count();
        let of_known = |(row, fate): &(usize, Fate)| match fate {
            Fate::Learned | Fate::SetAside => None,
            Fate::Repeated => Some(json!({"row": row, "seq": self.seq})),
            Fate::Late(entry) => Some(json!({"row": row, "seq": entry.seq, "late": true})),
            Fate::Known(entry) if entry.state == State::SetAside => {
                Some(json!({"row": row, "seq": entry.seq, "set_aside": true}))
            }
            Fate::Known(entry) => Some(json!({"row": row, "seq": entry.seq})),
        };
        let known: Vec<Value> = self.rows.iter().filter_map(of_known).collect();
        let last = known.iter().filter_map(|row| row["seq"].as_u64()).max();
        let mut answer = json!({"seq": self.seq.or(last), "learned": learned});
        let is_aside = |(row, fate): &(usize, Fate)| {
            matches!(fate, Fate::SetAside).then_some(json!({"row": row}))
        };
        let aside: Vec<Value> = self.rows.iter().filter_map(is_aside).collect();
        if !known.is_empty() {
            answer["duplicate"] = (learned == 0 && aside.is_empty()).into();
            answer["duplicates"] = known.into();
        }
        if !aside.is_empty() {
            answer["set_aside"] = aside.into();
        }
        answer
    }
}

/// Returns the default label as a number; an error if no row could be learned with it.
pub(crate) fn check_default(
    policy: &Policy,
    start: &Start,
    options: &Options,
) -> Result<(), String> {
    let Labels::Window { default, .. } = &policy.labels else { return Ok(()) };
    default_answer(default, &Columns::of(&start.schema), options).map(|_| ())
}

fn default_answer(
    default: &str,
    columns: &Columns,
    options: &Options,
) -> Result<(f64, f64), String> {
    let words = |e: &dyn std::fmt::Display| format!("the default label {default:?}: {e}");
    let line = columns.joined(b"{}", &as_json(default), None).map_err(|e| words(&e))?;
    let mut parser =
        RowParser::new("default label", Format::Jsonl, options).map_err(|e| words(&e))?;
    let mut chunks = Vec::new();
    parser.parse(&line, &mut chunks).map_err(|e| words(&e))?;
    let answer = each(&chunks).next().and_then(|(c, i)| Some((c.label(i)?, c.weight(i))));
    answer.ok_or_else(|| words(&"is no label"))
}

/// Returns a label of the command line as JSON: a number if it is one, else a text.
fn as_json(label: &str) -> Value {
    serde_json::from_str(label).unwrap_or_else(|_| json!(label))
}

impl Shared {
    /// Deals with rows that have waited for as long as they may, if it is time to look at them. Called by the learner.
    pub(crate) fn expire(&self, log: &Log) {
        let now = Instant::now();
        {
            let mut due = self.expiry_due.lock().unwrap_or_else(PoisonError::into_inner);
            if now < *due {
                return;
            }
            *due = now + EXPIRY.min(self.policy.labels.patience() / 4);
        }
        if self.expire_now(log) {
            // There are more.
            *self.expiry_due.lock().unwrap_or_else(PoisonError::into_inner) = now;
        }
    }

    /// Deals with rows that have waited for as long as they may: with a window they are learned with the default label, otherwise
    /// they are forgotten. The log has what it does. True if there are more.
    pub(crate) fn expire_now(&self, log: &Log) -> bool {
        let mut intake = self.intake.lock().unwrap_or_else(PoisonError::into_inner);
        if intake.check().is_err() {
            return false;
        }
        let patience = self.policy.labels.patience().as_millis() as u64;
        let until = log.time().saturating_sub(patience);
        intake.table.drop_late(until.saturating_sub(patience));
        let old = intake.table.since(until, AT_ONCE);
        let Some((_, last)) = old.last() else { return false };
        let has_more = old.len() == AT_ONCE;
        let Labels::Window { default, .. } = &self.policy.labels else {
            let forget = Forget { until: last.time };
            let json = serde_json::to_vec(&forget).unwrap_or_default();
            if let Ok((version, _)) = intake.append_other(log, kind::FORGET, &json) {
                let left = intake.table.forget(forget.until, version.seq);
                self.status.forgotten.fetch_add(left, Ordering::Relaxed);
                intake.table.release(self.status.now().visible.seq);
                self.status.count_ids(&intake.table);
            }
            return has_more;
        };
        let RowReading { columns, options, .. } = self.readings.latest();
        let options = options.learning();
        let label = as_json(default);
        // The default label was checked at the start.
        let Ok(answer) = default_answer(default, columns, options) else {
            return false;
        };
        let ids: Vec<String> =
            old.iter().map(|(_, row)| id_of(&row.text).unwrap_or_default()).collect();
        let joins: Vec<Join<'_>> = old
            .iter()
            .zip(&ids)
            .map(|((_, row), id)| Join {
                id,
                row: &row.text,
                label: &label,
                weight: None,
                answer,
                number: 0,
            })
            .collect();
        let done = intake.learn_joined(log, self, options, columns, Origin::Expired, &joins);
        if done.is_ok() {
            self.status.expired.fetch_add(old.len() as u64, Ordering::Relaxed);
        }
        self.status.count_ids(&intake.table);
        has_more && done.is_ok()
    }
}

impl Learning {
    /// Returns the number of rows that wait to be learned.
    pub(crate) fn waiting(&self) -> usize {
        self.shared.status.waiting.load(Ordering::Relaxed)
    }
}
