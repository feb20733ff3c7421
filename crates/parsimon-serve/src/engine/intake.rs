//! Intake of rows: they are checked, looked up, appended to the log, and handed to the learner.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;
use std::time::Instant;

use axum::http::StatusCode;
use parsimon::data::{Bounds, DataError, Format, Options};
use parsimon::rows::Chunk;
use parsimon::serve::RowParser;
use parsimon_log::{AppendError, Log, Ticket};
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::Limits;
use super::id_table::{Entry, IdTable, State};
use super::ids;
use super::learner::{self, Step};
use super::model::{Learning, Shared};
use super::record::{self, LoggedRows, Origin, Paused, kind};
use super::replica::Version;
use super::request_buffers::{RequestBuffers, RowReading};
use super::rows::{each, lines};
use super::status::Status;
use super::warming::Warming;
use crate::content::Content;
use crate::error::Refusal;
use crate::memory::Held;

/// State that changes in the order of the log. The holder of the lock appends.
pub(crate) struct Intake {
    pub(crate) table: IdTable,
    pub(crate) epoch: u32,
    pub(crate) steps: Sender<Step>,
    /// Why nothing is taken.
    pub(crate) closed: Option<String>,
    /// Set if rows that are appended now are not learned.
    pub(crate) paused: Option<Paused>,
    pub(crate) record: Vec<u8>,
    /// The first rows, while they are collected to find the kinds of their columns.
    pub(crate) warming: Option<Warming>,
    /// The record before which rows were identified by their cells alone; 0 if there is none.
    pub(crate) settled: u64,
    /// The leader, if this is a follower: nothing else is taken.
    pub(crate) leader: Option<String>,
    /// The log time of a record of the leader that is taken now.
    pub(crate) copied: Option<u64>,
    /// The memory of the rows that are appended next.
    pub(crate) held: Held,
}

/// The result of a request to learn.
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

/// Options of a request that is learned.
#[derive(Debug, Default)]
pub struct Request<'a> {
    /// The bytes that identify the row; empty if nothing does.
    pub key: &'a [u8],
    /// Whether good rows are learned where others are refused.
    pub is_partial: bool,
    /// Receiver of the margins that are predicted before the rows are learned.
    pub margins: Option<oneshot::Sender<Vec<f64>>>,
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
        let reading = self.shared.readings.latest();
        reading.learning.lend(|buffers| {
            let taken = match request.is_partial {
                true => self.learn_partly(reading, buffers, content, request, limits),
                false => self.learn_whole(reading, buffers, content, request, limits),
            };
            if let Err(refusal) = &taken {
                // Names of rows that were not logged must be new to the parsers again.
                buffers.forget_names();
                self.shared.count_refused(&self.log, refusal, content.rows());
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
        reading: &RowReading,
        buffers: &mut RequestBuffers,
        content: &Content<'_>,
        request: Request<'_>,
        limits: &Limits,
    ) -> Result<Taken, Refusal> {
        self.shared.lend(&mut buffers.chunks);
        let parser = buffers.parse(content, reading.learning.options(), limits)?;
        let names = parser.new_names().map(|(slot, name)| (slot, name.into())).collect();
        let chunks = std::mem::take(&mut buffers.chunks);
        self.learn_parsed(content, request, ParsedRows { reading, chunks, names })
    }

    /// Looks parsed rows up, and puts those that are new into the log.
    fn learn_parsed(
        &self,
        content: &Content<'_>,
        request: Request<'_>,
        parsed: ParsedRows<'_>,
    ) -> Result<Taken, Refusal> {
        let chunks = &parsed.chunks;
        for ((chunk, i), row) in each(chunks).zip(1..) {
            if chunk.label(i).is_none() {
                let words = format!("body:{row}: row {row} has no label; /score takes such rows");
                return Err(Refusal::bad(words).with("line", row));
            }
        }
        let rows = LoggedRows {
            format: content.format,
            origin: Origin::Sent,
            key: request.key,
            content: if request.key.is_empty() { 0 } else { ids::content_of_all(chunks) },
            text: &content.text,
        };
        self.shared.take(&self.log, &rows, parsed, request.margins)
    }

    /// Parses row by row; bad rows are left out.
    fn learn_partly(
        &self,
        reading: &RowReading,
        buffers: &mut RequestBuffers,
        content: &Content<'_>,
        request: Request<'_>,
        limits: &Limits,
    ) -> Result<Taken, Refusal> {
        if matches!(content.format, Format::Csv | Format::Tsv) {
            return Err(Refusal::bad("?partial is for formats with a row on each line"));
        }
        // Parsed once, and only the good rows again, so that a bad row costs the others little.
        let bad = buffers.parse_good(content, reading.learning.options(), limits)?;
        let names = buffers.names_of_good(content.format);
        let is_labelled = each(&buffers.chunks).all(|(chunk, i)| chunk.label(i).is_some());
        let has_rows = buffers.chunks.iter().any(|chunk| !chunk.is_empty());
        if bad.is_empty() && is_labelled && has_rows {
            let chunks = std::mem::take(&mut buffers.chunks);
            return self.learn_parsed(content, request, ParsedRows { reading, chunks, names });
        }
        let bad: FxHashMap<u64, DataError> = bad.into_iter().collect();
        let mut parsed = each(&buffers.chunks);
        let (mut text, mut bad_text) = (Vec::new(), Vec::new());
        let (mut refused, mut places) = (Vec::new(), Vec::new());
        let mut row = 0;
        for (line, number) in content.text.split(|&b| b == b'\n').zip(1..) {
            if line.trim_ascii().is_empty() {
                continue;
            }
            row += 1;
            let why = match bad.get(&number) {
                Some(error) => Refusal::from_error(error),
                None if parsed.next().is_some_and(|(chunk, i)| chunk.label(i).is_some()) => {
                    text.extend_from_slice(line.trim_ascii());
                    text.push(b'\n');
                    places.push(row);
                    continue;
                }
                None => Refusal::bad("the row has no label"),
            };
            bad_text.extend_from_slice(line);
            bad_text.push(b'\n');
            let mut why = why.into_json();
            why["line"] = number.into();
            refused.push((row, why));
        }
        drop(parsed);
        let options = reading.learning.options();
        let can_stay = is_labelled
            && has_rows
            && !has_names(content.format, options, &bad_text, &names).unwrap_or(true);
        if !can_stay {
            // Parsed again as one text, with all names new: some of them are names of bad rows.
            buffers.forget_names();
        }
        if places.is_empty() {
            return Ok(Taken { refused, ..Taken::default() });
        }
        let good = Content { format: content.format, text: text.into(), shape: content.shape };
        let taken = if can_stay {
            let chunks = std::mem::take(&mut buffers.chunks);
            self.learn_parsed(&good, request, ParsedRows { reading, chunks, names })?
        } else {
            self.learn_whole(reading, buffers, &good, request, limits)?
        };
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
        rows: &LoggedRows<'_>,
        parsed: ParsedRows<'_>,
        margins: Option<oneshot::Sender<Vec<f64>>>,
    ) -> Result<Taken, Refusal> {
        let ParsedRows { reading, chunks, names } = parsed;
        let count: usize = chunks.iter().map(Chunk::len).sum();
        if self.status.waiting.load(Ordering::Relaxed) + count > self.policy.queue_rows.max(count) {
            return Err(Refusal::busy("too many rows wait to be learned; try again later"));
        }
        let mut held = Held::counted(chunks.iter().map(Chunk::room).sum());
        let mut intake = self.intake.lock().unwrap_or_else(PoisonError::into_inner);
        intake.check()?;
        let (mut rows, mut chunks, mut names) = (*rows, chunks, names);
        let latest = self.readings.latest();
        if !std::ptr::eq(reading, latest) {
            // The kinds of columns were found since the rows were parsed.
            (chunks, names) = parsed_with(latest.learning.options(), &rows)?;
            if !rows.key.is_empty() {
                rows.content = ids::content_of_all(&chunks);
            }
        }
        let rows = &rows;
        let found = match intake.look_up(rows, &chunks, None) {
            // A row from before the kinds were known is identified by its cells.
            Err(_) if intake.settled > 0 => {
                let old = self.by_cell().and_then(|options| parsed_with(&options, rows).ok());
                intake.look_up(rows, &chunks, old.as_ref().map(|(old, _)| &old[..]))?
            }
            found => found?,
        };
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
        intake.held = std::mem::take(&mut held);
        let version = match &found.rows[..] {
            [] => intake.append_rows(log, rows, chunks, names, self, margins)?,
            duplicates => {
                let (text, fresh) = without(rows.text, &chunks, duplicates);
                let rows = LoggedRows { text: &text, ..*rows };
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
    /// Refuses all further rows.
    pub(crate) fn close(&mut self, status: &Status, why: &str) {
        self.closed.get_or_insert_with(|| why.to_owned());
        status.set_closed(why);
    }

    /// Refuses everything once learning has ended.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        if let Some(leader) = &self.leader {
            let words = format!("this is a follower, which only scores; its leader is {leader}");
            return Err(Refusal::conflict(words).with("leader", leader.clone()));
        }
        self.closed.as_ref().map_or(Ok(()), |why| Err(Refusal::unavailable(why.clone())))
    }

    /// Looks up the rows of a request. `old` has them as they were read before the kinds of columns were known.
    fn look_up(
        &self,
        rows: &LoggedRows<'_>,
        chunks: &[Chunk],
        old: Option<&[Chunk]>,
    ) -> Result<FoundRows, Refusal> {
        let table = &self.table;
        let old_request = old.map(ids::content_of_all);
        let old_rows: Vec<u64> =
            old.map_or_else(Vec::new, |old| each(old).map(|(c, i)| ids::content(c, i)).collect());
        let is_old = |known: &Entry| known.seq < self.settled;
        let conflict = |what: String, seq: u64| {
            let words = format!("{what} was learned with other content in record {seq}");
            Err(Refusal::conflict(words).with("seq", seq))
        };
        if !rows.key.is_empty() {
            match table.get(ids::request_key(rows.key)) {
                None => {}
                Some(known)
                    if known.content == rows.content
                        || (is_old(&known) && Some(known.content) == old_request) =>
                {
                    return Ok(FoundRows { request: Some(known.seq), rows: Vec::new() });
                }
                Some(known) => {
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
                // Rows that wait are learned with what the request has, and so are rows that were set aside.
                let is_open =
                    |known: &Entry| matches!(known.state, State::Scored | State::SetAside);
                match (table.get(id).filter(|known| !is_open(known)), fresh.get(&id)) {
                    (Some(known), _)
                        if known.content == content
                            || (is_old(&known)
                                && old_rows.get(row - 1) == Some(&known.content)) =>
                    {
                        found.push((row, known.seq));
                    }
                    (Some(known), _) => return conflict(name(), known.seq),
                    (None, None) => {
                        fresh.insert(id, content);
                    }
                    // A row that is repeated in one request has the record that is about to be written.
                    (None, Some(&same)) if same == content => found.push((row, 0)),
                    (None, Some(_)) => {
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
        rows: &LoggedRows<'_>,
        chunks: Vec<Chunk>,
        names: Vec<(u32, Box<[u8]>)>,
        shared: &Shared,
        margins: Option<oneshot::Sender<Vec<f64>>>,
    ) -> Result<Version, Refusal> {
        let held = std::mem::take(&mut self.held);
        self.settle_without_kinds(rows, log, shared);
        let mut bytes = std::mem::take(&mut self.record);
        rows.encode(&mut bytes);
        let ticket = self.append(log, kind::LEARN, &bytes);
        let collected = match (&ticket, &mut self.warming) {
            (Ok(ticket), Some(warming)) => {
                warming.collect(&bytes, chunks.iter().map(Chunk::len).sum(), ticket.time)
            }
            _ => 0,
        };
        bytes.clear();
        bytes.shrink_to(1 << 20);
        self.record = bytes;
        let ticket = ticket?;
        let visible = shared.status.now().visible;
        assert!(ticket.seq > visible.seq, "record {} is appended after {visible:?}", ticket.seq);
        self.table.learned_rows(rows, &chunks, ticket.seq, ticket.time);
        self.table.release(visible.seq);
        shared.status.count_ids(&self.table);
        let version = Version { epoch: self.epoch, seq: ticket.seq };
        let count = chunks.iter().map(Chunk::len).sum();
        shared.status.waiting.fetch_add(count, Ordering::Relaxed);
        let appended = Instant::now();
        let reason = shared.gauge.learned(&chunks);
        let (time, origin) = (ticket.time, rows.origin);
        let step = learner::RowBatch {
            version,
            time,
            origin,
            chunks,
            names,
            appended,
            margins,
            _held: held,
        };
        // Without a learner the log has failed, and acknowledgements say so.
        let _ = self.steps.send(Step::Rows(Box::new(step)));
        self.trip(log, &shared.status, reason);
        if collected >= shared.policy.warm_rows && self.leader.is_none() {
            self.settle(log, shared);
        }
        Ok(version)
    }

    /// Appends a record with the present log time, or with that of the leader's record.
    pub(crate) fn append(&self, log: &Log, kind: u8, payload: &[u8]) -> Result<Ticket, Refusal> {
        match self.copied {
            Some(time) => log.append_copy(kind, payload, time),
            None => log.append(kind, payload),
        }
        .map_err(|error| refused(&error))
    }

    /// Appends a record whose step the caller sends.
    pub(crate) fn append_step(
        &self,
        log: &Log,
        kind: u8,
        payload: &[u8],
    ) -> Result<Version, Refusal> {
        let ticket = self.append(log, kind, payload)?;
        Ok(Version { epoch: self.epoch, seq: ticket.seq })
    }

    /// Appends a record that changes no weight.
    pub(crate) fn append_other(
        &mut self,
        log: &Log,
        kind: u8,
        payload: &[u8],
    ) -> Result<(Version, u64), Refusal> {
        let ticket = self.append(log, kind, payload)?;
        let version = Version { epoch: self.epoch, seq: ticket.seq };
        let _ = self.steps.send(Step::Pass(version));
        Ok((version, ticket.time))
    }
}

/// The rows of a request, and how they were read.
pub(crate) struct ParsedRows<'a> {
    reading: &'a RowReading,
    chunks: Vec<Chunk>,
    names: NewNames,
}

/// Names that were met for the first time, with their slots.
type NewNames = Vec<(u32, Box<[u8]>)>;

/// Parses rows that were accepted before, in another way.
fn parsed_with(
    options: &Options,
    rows: &LoggedRows<'_>,
) -> Result<(Vec<Chunk>, NewNames), Refusal> {
    let mut parser = RowParser::new("body", rows.format, options)?;
    let mut chunks = Vec::new();
    parser.parse(rows.text, &mut chunks)?;
    let names = parser.new_names().map(|(slot, name)| (slot, name.into())).collect();
    Ok((chunks, names))
}

/// Whether rows that are refused have some of the names. Such a name may be that of no row of the log.
fn has_names(
    format: Format,
    options: &Options,
    text: &[u8],
    names: &NewNames,
) -> Result<bool, DataError> {
    if names.is_empty() {
        return Ok(false);
    }
    let bounds = Bounds { skip_bad: u64::MAX, ..options.bounds.clone() };
    let options = Options { bounds, ..options.clone() };
    let mut parser = RowParser::new("body", format, &options)?;
    parser.parse_good(text, &mut Vec::new())?;
    let known: FxHashSet<&[u8]> = names.iter().map(|(_, name)| &**name).collect();
    Ok(parser.new_names().any(|(_, name)| known.contains(name)))
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
