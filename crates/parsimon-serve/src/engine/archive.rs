//! The log of a model on disk, without the service: looked at, checked, copied out, learned again.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use parsimon::Trainer;
use parsimon::data::Format;
use parsimon_log::{Content, Directory, Epochs, Log, Options as LogOptions, Records};
use serde_json::{Value, json};

use super::id_table::{IdTable, ListedAside};
use super::label::id_of;
use super::open::{ARITHMETIC, OpenError, other};
use super::policy::Policy;
use super::record::{LoggedRows, SetAside, kind};
use super::replay::{Replay, Stop};
use super::replica::Version;
use super::rows::lines;

/// Rows to leave out of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Without {
    ids: Vec<String>,
    records: Vec<(u64, u64)>,
}

impl Without {
    /// Adds a selector: `id=A` or `id=A,B` for rows with these ids, `seq=7` or `seq=7-20` for the rows of these records.
    ///
    /// ```
    /// use parsimon_serve::Without;
    ///
    /// let mut without = Without::default();
    /// without.add("id=a,b").unwrap();
    /// without.add("seq=3-9").unwrap();
    /// assert_eq!(without.add("user=3").unwrap_err(), "a selector reads id=A,B or seq=FIRST-LAST, got \"user=3\"");
    /// ```
    pub fn add(&mut self, selector: &str) -> Result<(), String> {
        let wrong = || format!("a selector reads id=A,B or seq=FIRST-LAST, got {selector:?}");
        match selector.split_once('=') {
            Some(("id", ids)) if !ids.is_empty() => {
                self.ids.extend(ids.split(',').map(str::to_owned));
                Ok(())
            }
            Some(("seq", range)) => {
                let (first, last) = range.split_once('-').unwrap_or((range, range));
                let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
                let (first, last) = (number(first)?, number(last)?);
                self.records.push((first, last));
                if first <= last { Ok(()) } else { Err(wrong()) }
            }
            _ => Err(wrong()),
        }
    }

    pub(crate) fn has_record(&self, seq: u64) -> bool {
        self.records.iter().any(|(first, last)| (*first..=*last).contains(&seq))
    }

    /// The text without the rows that are left out; how many these are.
    pub(crate) fn filtered(&self, rows: &LoggedRows<'_>) -> (Vec<u8>, u64) {
        let (mut text, mut count) = (Vec::new(), 0);
        if self.ids.is_empty() || rows.format != Format::Jsonl {
            return (rows.text.to_vec(), 0);
        }
        for line in lines(rows.text) {
            match id_of(line).is_some_and(|id| self.ids.contains(&id)) {
                true => count += 1,
                false => {
                    text.extend_from_slice(line);
                    text.push(b'\n');
                }
            }
        }
        (text, count)
    }
}

/// Result of a replay.
pub struct Replayed {
    /// The learner.
    pub trainer: Trainer,
    /// The last record.
    pub version: Version,
    /// Rows that were learned, and rows that were left out.
    pub rows: u64,
    /// Rows that were left out.
    pub left_out: u64,
    /// The digest of the state.
    pub digest: u64,
}

/// Learns the rows of a model's log again, from its first record. The service must not be running.
pub fn replay(directory: &Path, without: &Without) -> Result<Replayed, OpenError> {
    check(directory)?;
    let options = LogOptions { arithmetic: ARITHMETIC, ..LogOptions::default() };
    let log = Log::open(directory, options)?;
    let again = |replay: Replay<'_>| from_the_first(&log, replay.without(without));
    match again(Replay::new(&log)) {
        Err(Stop::Diverged) => again(Replay::careful(&log)),
        replayed => replayed,
    }
    .map_err(|stop| stop.into_error(directory))
}

fn from_the_first(log: &Log, mut replay: Replay<'_>) -> Result<Replayed, Stop> {
    let mut table = IdTable::new(&Policy::new(""));
    let (first, last) = (log.opened().first, log.opened().last);
    if first > 1 {
        return Err(
            other("the beginning of the log was removed; it cannot be learned again").into()
        );
    }
    let mut state = None;
    replay.run(0, last, &mut state, &mut table)?;
    let (_, mut live) = state.ok_or_else(|| other("the log has no records"))?;
    live.trainer.note_names(replay.names());
    let (version, digest) = (live.version, live.digest());
    let (rows, left_out) = (replay.rows, replay.left_out);
    Ok(Replayed { trainer: live.trainer, version, rows, left_out, digest })
}

/// Refuses a directory that has no log, which opening would start.
pub(crate) fn check(directory: &Path) -> Result<(), OpenError> {
    let found = parsimon_log::inspect(&Directory::existing(directory))?;
    match found.segments.is_empty() {
        true => Err(other(format!(
            "{}: there is no log; the log of a model is in DATA/NAME",
            directory.display()
        ))),
        false => Ok(()),
    }
}

/// Returns the content of a directory as JSON. The service may be running.
pub fn inspect(directory: &Path) -> Result<Value, OpenError> {
    check(directory)?;
    let disk = Directory::existing(directory);
    let found = parsimon_log::inspect(&disk)?;
    let mut records = Records::open(Arc::new(disk), 0)?;
    let (mut counts, mut start) =
        (std::collections::BTreeMap::<&str, (u64, u64)>::new(), Value::Null);
    let (mut first_time, mut last_time, mut last) = (0, 0, 0);
    while records.advance()? {
        let Some(record) = records.record() else { break };
        if first_time == 0 {
            first_time = record.time;
        }
        (last_time, last) = (record.time, record.seq);
        let (name, rows) = match record.content {
            Content::Epoch { .. } => ("epoch", 0),
            Content::Data { kind: kind::START, payload } => {
                start = serde_json::from_slice(payload).unwrap_or(Value::Null);
                ("start", 0)
            }
            Content::Data { kind: kind::LEARN, payload } => {
                ("learn", LoggedRows::decode(payload).map_or(0, |rows| rows.count()))
            }
            Content::Data { kind: kind::PENDING, payload } => {
                ("pending", LoggedRows::decode(payload).map_or(0, |rows| rows.count()))
            }
            Content::Data { kind: kind::FORGET, .. } => ("forget", 0),
            Content::Data { kind: kind::EVICT, .. } => ("evict", 0),
            Content::Data { kind: kind::SET_ASIDE, payload } => {
                let rows =
                    serde_json::from_slice(payload).map_or(0, |SetAside { rows }| rows.len());
                ("set_aside", rows as u64)
            }
            Content::Data { kind: kind::PAUSE, .. } => ("pause", 0),
            Content::Data { kind: kind::RESUME, .. } => ("resume", 0),
            Content::Data { kind: kind::PROMOTE, .. } => ("promote", 0),
            Content::Data { kind: kind::SETTLE, .. } => ("settle", 0),
            Content::Data { kind: kind::MARK, .. } => ("mark", 0),
            Content::Data { .. } => ("unknown", 0),
        };
        let count = counts.entry(name).or_default();
        (count.0, count.1) = (count.0 + 1, count.1 + rows);
    }
    let tail = records.tail()?;
    let epochs = found.epochs.iter().flat_map(Epochs::all).map(|epoch| {
        json!({"number": epoch.number, "first": epoch.first, "base": epoch.base, "reason": epoch.reason})
    });
    let counted = counts.iter().map(|(name, (records, rows))| {
        ((*name).to_owned(), json!({"records": records, "rows": rows}))
    });
    Ok(json!({
        "directory": directory.display().to_string(),
        "segments": found.segments.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "last": last,
        "torn_bytes": tail.torn,
        "first_time": first_time,
        "last_time": last_time,
        "records": counted.collect::<serde_json::Map<_, _>>(),
        "epochs": epochs.collect::<Vec<_>>(),
        "snapshots": found.snapshots.iter().map(|(e, s)| json!({"epoch": e, "seq": s})).collect::<Vec<_>>(),
        "start": start,
    }))
}

/// Reads every record and checks its chain: the last record, and the bytes of unfinished ones behind it.
pub fn verify(directory: &Path) -> Result<(u64, u64), OpenError> {
    check(directory)?;
    let tail = parsimon_log::verify(Arc::new(Directory::existing(directory)))?;
    Ok((tail.last, tail.torn))
}

/// Copies the rows that were learned out of a log, as they came; how many. Rows of one format: that which is asked for, or the only
/// one. Those after a record only.
pub fn export(
    directory: &Path,
    format: Option<Format>,
    after: u64,
    out: &mut dyn Write,
) -> Result<u64, OpenError> {
    check(directory)?;
    let mut records = Records::open(Arc::new(Directory::existing(directory)), after)?;
    let (mut chosen, mut count) = (format, 0);
    let mut header: Vec<u8> = Vec::new();
    while records.advance()? {
        let Some(record) = records.record() else { break };
        let Content::Data { kind: kind::LEARN, payload } = record.content else { continue };
        let Some(rows) = LoggedRows::decode(payload) else { continue };
        match chosen {
            None => chosen = Some(rows.format),
            Some(chosen) if chosen == rows.format => {}
            Some(_) if format.is_some() => continue,
            Some(first) => {
                return Err(other(format!(
                    "{}: the log has rows of {first} and of {}; pass --format to export one of them, or --output for a file of each",
                    directory.display(),
                    rows.format
                )));
            }
        }
        let mut text = rows.text.trim_ascii_end();
        if matches!(rows.format, Format::Csv | Format::Tsv) {
            let end = text.iter().position(|&b| b == b'\n').unwrap_or(text.len());
            match text[..end] == header[..] {
                true => text = text.get(end + 1..).unwrap_or_default(),
                false => header = text[..end].to_vec(),
            }
        }
        count += rows.count();
        let written = out.write_all(text).and_then(|()| out.write_all(b"\n"));
        written.map_err(|e| other(format!("cannot write: {e}")))?;
    }
    Ok(count)
}

/// Returns the formats of the rows that were learned by records after one, in the order in which they came.
pub fn formats(directory: &Path, after: u64) -> Result<Vec<Format>, OpenError> {
    check(directory)?;
    let mut records = Records::open(Arc::new(Directory::existing(directory)), after)?;
    let mut formats = Vec::new();
    while records.advance()? {
        let Some(record) = records.record() else { break };
        if let Content::Data { kind: kind::LEARN, payload } = record.content
            && let Some(rows) = LoggedRows::decode(payload)
            && !formats.contains(&rows.format)
        {
            formats.push(rows.format);
        }
    }
    Ok(formats)
}

/// Copies the rows that could not be learned out of a log, a JSON object on each line with the reason; how many.
pub fn export_set_aside(directory: &Path, out: &mut dyn Write) -> Result<u64, OpenError> {
    check(directory)?;
    let mut records = Records::open(Arc::new(Directory::existing(directory)), 0)?;
    let mut count = 0;
    while records.advance()? {
        let Some(record) = records.record() else { break };
        let Content::Data { kind: kind::SET_ASIDE, payload } = record.content else { continue };
        let unreadable = |e: serde_json::Error| other(format!("record {}: {e}", record.seq));
        let SetAside { rows } = serde_json::from_slice(payload).map_err(unreadable)?;
        for row in rows {
            let listed = ListedAside { seq: record.seq, time: record.time, row };
            let json = serde_json::to_string(&listed).map_err(unreadable)?;
            writeln!(out, "{json}").map_err(|e| other(format!("cannot write: {e}")))?;
            count += 1;
        }
    }
    Ok(count)
}
