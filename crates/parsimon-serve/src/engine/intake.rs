//! Where rows come in: checked, looked up, put into the log, and handed to the learner.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::time::Instant;

use axum::http::StatusCode;
use parsimon::data::Format;
use parsimon::rows::Chunk;
use parsimon_log::{AppendError, Log};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::Limits;
use super::desk::Desk;
use super::ids::{self, Seen};
use super::learner::{self, Step};
use super::model::{Learning, Shared};
use super::record::{self, Origin, Paused, Rows, kind};
use super::replica::Version;
use super::tables::{Tables, each, lines};
use crate::content::Content;
use crate::error::Refusal;

/// What is changed in the order of the log. The holder appends.
pub(crate) struct Intake {
    pub(crate) tables: Tables,
    pub(crate) epoch: u32,
    pub(crate) steps: Sender<Step>,
    /// Why nothing is taken.
    pub(crate) closed: Option<String>,
    /// Set if rows that are appended now are not learned.
    pub(crate) paused: Option<Paused>,
    pub(crate) record: Vec<u8>,
}

/// What became of a request to learn.
#[derive(Debug, Default)]
pub struct Taken {
    /// The record of the rows; of rows that were there already, their last record.
    pub seq: u64,
    /// Rows that are learned by this request.
    pub learned: usize,
    /// Rows that were learned before: the row from 1, and the record.
    pub duplicates: Vec<(usize, u64)>,
    /// Rows that were refused, with `?partial`: the row from 1, and why.
    pub refused: Vec<(usize, Value)>,
}

impl Taken {
    /// The answer to the client.
    pub fn to_json(&self) -> Value {
        let mut answer = json!({"seq": self.seq, "learned": self.learned});
        if !self.duplicates.is_empty() {
            answer["duplicate"] = (self.learned == 0).into();
            let rows = self.duplicates.iter().map(|(row, seq)| json!({"row": row, "seq": seq}));
            answer["duplicates"] = rows.collect();
        }
        if !self.refused.is_empty() {
            let rows = self.refused.iter().map(|(row, why)| {
                let mut why = why.clone();
                why["row"] = (*row).into();
                why
            });
            answer["refused"] = rows.collect();
        }
        answer
    }
}

/// How a request is to be learned.
#[derive(Debug, Default)]
pub struct Request<'a> {
    /// What identifies it; empty if nothing does.
    pub key: &'a [u8],
    /// Whether good rows are learned where others are refused.
    pub is_partial: bool,
    /// Where the margins go that are predicted before the rows are learned.
    pub margins: Option<oneshot::Sender<Vec<f64>>>,
    /// Whether rows that are refused are sent again one by one, and count then.
    pub is_trial: bool,
}

impl Learning {
    /// Puts the rows of a request into the log. They are not durable yet: see [`acknowledged`](Learning::acknowledged).
    pub fn learn(
        &self,
        content: &Content<'_>,
        request: Request<'_>,
        limits: &Limits,
    ) -> Result<Taken, Refusal> {
        if request.key.len() > record::LONGEST_KEY {
            let most = record::LONGEST_KEY;
            return Err(Refusal::bad(format!("the idempotency key exceeds {most} bytes")));
        }
        let is_trial = request.is_trial;
        self.desks.at(|desk| {
            let taken = match request.is_partial {
                true => self.learn_partly(desk, content, request, limits),
                false => self.learn_whole(desk, content, request, limits),
            };
            if let Err(refusal) = &taken {
                // Names of rows that were not logged must be new to the parsers again.
                desk.forget_names();
                if !is_trial {
                    self.shared.count_refused(&self.log, refusal, content.rows());
                }
            }
            if let Ok(Taken { refused, .. }) = &taken
                && !refused.is_empty()
            {
                self.shared.count_refused(&self.log, &Refusal::bad(""), refused.len() as u64);
            }
            taken
        })
    }

    fn learn_whole(
        &self,
        desk: &mut Desk,
        content: &Content<'_>,
        request: Request<'_>,
        limits: &Limits,
    ) -> Result<Taken, Refusal> {
        self.shared.lend(&mut desk.chunks);
        let parser = desk.parse(content, self.desks.options(), limits)?;
        let names = parser.new_names().map(|(slot, name)| (slot, name.into())).collect();
        let chunks = std::mem::take(&mut desk.chunks);
        for ((chunk, i), row) in each(&chunks).zip(1..) {
            if chunk.label(i).is_none() {
                let words = format!("body:{row}: row {row} has no label; /score takes such rows");
                return Err(Refusal::bad(words).with("line", row));
            }
        }
        let rows = Rows {
            format: content.format,
            origin: Origin::Sent,
            key: request.key,
            content: if request.key.is_empty() { 0 } else { ids::content_of_all(&chunks) },
            text: &content.text,
        };
        self.shared.take(&self.log, &rows, chunks, names, request.margins)
    }

    /// The same row by row: bad ones are left out.
    fn learn_partly(
        &self,
        desk: &mut Desk,
        content: &Content<'_>,
        request: Request<'_>,
        limits: &Limits,
    ) -> Result<Taken, Refusal> {
        if matches!(content.format, Format::Csv | Format::Tsv) {
            return Err(Refusal::bad("?partial is for formats with a row on each line"));
        }
        let (mut text, mut refused, mut places) = (Vec::new(), Vec::new(), Vec::new());
        for (line, row) in lines(&content.text).zip(1..) {
            let one = Content { format: content.format, text: line.into(), shape: content.shape };
            let parsed = desk.parse(&one, self.desks.options(), limits).map(|_| ());
            let has_label = desk.chunks.first().is_some_and(|chunk| chunk.label(0).is_some());
            match parsed {
                Ok(()) if has_label => {
                    text.extend_from_slice(line);
                    text.push(b'\n');
                    places.push(row);
                }
                Ok(()) => refused.push((row, Refusal::bad("the row has no label").into_json())),
                Err(refusal) => {
                    let mut why = refusal.into_json();
                    why["line"] = row.into();
                    refused.push((row, why));
                }
            }
        }
        // Parsed again as one text, with all names new.
        desk.forget_names();
        if places.is_empty() {
            return Ok(Taken { refused, ..Taken::default() });
        }
        let good = Content { format: content.format, text: text.into(), shape: content.shape };
        let taken = self.learn_whole(desk, &good, request, limits)?;
        let place = |(row, seq): (usize, u64)| (places.get(row - 1).copied().unwrap_or(row), seq);
        let duplicates = taken.duplicates.into_iter().map(place).collect();
        Ok(Taken { duplicates, refused, ..taken })
    }
}

impl Shared {
    /// Looks rows up, appends those that are new, and hands them to the learner.
    pub(crate) fn take(
        &self,
        log: &Log,
        rows: &Rows<'_>,
        chunks: Vec<Chunk>,
        names: Vec<(u32, Box<[u8]>)>,
        margins: Option<oneshot::Sender<Vec<f64>>>,
    ) -> Result<Taken, Refusal> {
        let count: usize = chunks.iter().map(Chunk::len).sum();
        if self.status.waiting.load(Ordering::Relaxed) + count > self.policy.queue_rows.max(count) {
            return Err(Refusal::busy("too many rows wait to be learned; try again later"));
        }
        let mut intake = self.intake.lock().unwrap_or_else(PoisonError::into_inner);
        intake.check()?;
        let found = intake.look_up(rows, &chunks)?;
        if let Some(seq) = found.request {
            self.status.duplicates.fetch_add(count as u64, Ordering::Relaxed);
            let duplicates = (1..=count).map(|row| (row, seq)).collect();
            return Ok(Taken { seq, duplicates, ..Taken::default() });
        }
        self.status.duplicates.fetch_add(found.rows.len() as u64, Ordering::Relaxed);
        if found.rows.len() == count {
            let seq = found.rows.iter().map(|(_, seq)| *seq).max().unwrap_or(0);
            return Ok(Taken { seq, duplicates: found.rows, ..Taken::default() });
        }
        let version = match &found.rows[..] {
            [] => intake.append_rows(log, rows, chunks, names, self, margins)?,
            duplicates => {
                let (text, fresh) = without(rows.text, &chunks, duplicates);
                let rows = Rows { text: &text, ..*rows };
                intake.append_rows(log, &rows, fresh, names, self, margins)?
            }
        };
        let learned = count - found.rows.len();
        let here = |(row, seq)| (row, if seq == 0 { version.seq } else { seq });
        let duplicates = found.rows.into_iter().map(here).collect();
        Ok(Taken { seq: version.seq, learned, duplicates, refused: Vec::new() })
    }

    /// Adds buffers that are free.
    fn lend(&self, chunks: &mut Vec<Chunk>) {
        if chunks.is_empty() {
            chunks.extend(self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop());
        }
    }

    /// Makes the buffers of chunks available again.
    pub(crate) fn give_back(&self, chunks: Vec<Chunk>) {
        // Chunks of a usual size are reused by the next request.
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let room = 64usize.saturating_sub(spare.len());
        spare.extend(chunks.into_iter().filter(|c| c.nonzeros() < 1 << 16).take(room));
    }
}

/// Rows that are in the log already.
struct FoundRows {
    /// The record of the whole request.
    request: Option<u64>,
    /// Rows from 1, with their records.
    rows: Vec<(usize, u64)>,
}

impl Intake {
    /// Refuses everything once learning has ended.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        self.closed.as_ref().map_or(Ok(()), |why| Err(Refusal::unavailable(why.clone())))
    }

    fn look_up(&self, rows: &Rows<'_>, chunks: &[Chunk]) -> Result<FoundRows, Refusal> {
        let ids = &self.tables.ids;
        let conflict = |what: String, seq: u64| {
            let words = format!("{what} was learned with other content in record {seq}");
            Err(Refusal::conflict(words).with("seq", seq))
        };
        if !rows.key.is_empty() {
            match ids.look(ids::request_key(rows.key), rows.content) {
                Seen::Never => {}
                Seen::Same(known) => {
                    return Ok(FoundRows { request: Some(known.seq), rows: Vec::new() });
                }
                Seen::Other(known) => {
                    let key = String::from_utf8_lossy(rows.key);
                    return conflict(format!("the request with the key {key:?}"), known.seq);
                }
            }
        }
        let mut found = Vec::new();
        if rows.format == Format::Jsonl {
            // Ids of the request that are new, with their contents.
            let mut fresh = rustc_hash::FxHashMap::default();
            for ((chunk, i), row) in each(chunks).zip(1..) {
                if chunk.tag(i).is_empty() {
                    continue;
                }
                let (id, content) = (ids::row_id(chunk.tag(i)), ids::content(chunk, i));
                let name =
                    || format!("the row with the id {:?}", String::from_utf8_lossy(chunk.tag(i)));
                match (ids.look(id, content), fresh.get(&id)) {
                    (Seen::Same(known), _) => found.push((row, known.seq)),
                    (Seen::Other(known), _) => return conflict(name(), known.seq),
                    (Seen::Never, None) => {
                        fresh.insert(id, content);
                    }
                    // The same row twice in one request: its record is the one to come.
                    (Seen::Never, Some(&same)) if same == content => found.push((row, 0)),
                    (Seen::Never, Some(_)) => {
                        let words = format!("{} stands in the request twice, and differs", name());
                        return Err(Refusal::conflict(words).with("line", row));
                    }
                }
            }
        }
        Ok(FoundRows { request: None, rows: found })
    }

    /// Appends rows that are new.
    pub(crate) fn append_rows(
        &mut self,
        log: &Log,
        rows: &Rows<'_>,
        chunks: Vec<Chunk>,
        names: Vec<(u32, Box<[u8]>)>,
        shared: &Shared,
        margins: Option<oneshot::Sender<Vec<f64>>>,
    ) -> Result<Version, Refusal> {
        let mut bytes = std::mem::take(&mut self.record);
        rows.encode(&mut bytes);
        let ticket = log.append(kind::LEARN, &bytes).map_err(|error| refused(&error));
        bytes.clear();
        bytes.shrink_to(1 << 20);
        self.record = bytes;
        let ticket = ticket?;
        self.tables.learned(rows, &chunks, ticket.seq, ticket.time);
        self.tables.pending.settle(shared.status.now().visible.seq);
        let version = Version { epoch: self.epoch, seq: ticket.seq };
        let count = chunks.iter().map(Chunk::len).sum();
        shared.status.waiting.fetch_add(count, Ordering::Relaxed);
        let appended = Instant::now();
        let reason = shared.gauge.learned(&chunks);
        let (time, origin) = (ticket.time, rows.origin);
        let step = learner::Rows { version, time, origin, chunks, names, appended, margins };
        // Without a learner the log has failed, and acknowledgements say so.
        let _ = self.steps.send(Step::Rows(Box::new(step)));
        self.trip(log, reason);
        Ok(version)
    }

    /// Appends a record that changes no weight.
    pub(crate) fn append_other(
        &mut self,
        log: &Log,
        kind: u8,
        payload: &[u8],
    ) -> Result<(Version, u64), Refusal> {
        let ticket = log.append(kind, payload).map_err(|error| refused(&error))?;
        let version = Version { epoch: self.epoch, seq: ticket.seq };
        let _ = self.steps.send(Step::Pass(version));
        Ok((version, ticket.time))
    }
}

/// Why a record was not taken.
pub(crate) fn refused(error: &AppendError) -> Refusal {
    match error {
        AppendError::Overloaded => Refusal::busy(error.to_string()),
        AppendError::TooLarge { .. } => {
            Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, error.to_string())
        }
        _ => Refusal::unavailable(error.to_string()),
    }
}

/// The lines and rows that are not among the duplicates.
fn without(text: &[u8], chunks: &[Chunk], duplicates: &[(usize, u64)]) -> (Vec<u8>, Vec<Chunk>) {
    let (mut kept, mut fresh, mut next) = (Vec::new(), vec![Chunk::new()], 0);
    for (((chunk, i), line), row) in each(chunks).zip(lines(text)).zip(1..) {
        if duplicates.get(next).is_some_and(|(duplicate, _)| *duplicate == row) {
            next += 1;
            continue;
        }
        kept.extend_from_slice(line);
        kept.push(b'\n');
        if fresh.last().is_some_and(|chunk| chunk.len() >= super::AT_ONCE) {
            fresh.push(Chunk::new());
        }
        if let Some(last) = fresh.last_mut() {
            last.copy_row(chunk, i);
        }
    }
    (kept, fresh)
}
