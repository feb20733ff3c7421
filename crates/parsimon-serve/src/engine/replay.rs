//! Records, learned again: at a start, by `parsimon log replay`, and when learning is resumed.

use std::path::Path;
use std::time::Duration;

use parsimon::Trainer;
use parsimon::data::{Names, Options};
use parsimon::rows::Chunk;
use parsimon_log::{Content, Log, Record};

use super::archive::Without;
use super::id_table::{IdTable, KeptRow};
use super::ids;
use super::label::id_of;
use super::open::{OpenError, fresh, other};
use super::parsed::{Ahead, Parsed, Parsers};
use super::policy::Policy;
use super::record::{
    Backlog, Evict, Forget, LoggedRows, Pause, Paused, Promote, Resume, SetAside, Settle, Start,
    kind,
};
use super::replica::{Live, Spoiled, Version};
use super::request_buffers::RowOptions;
use super::rows::lines;
use super::snapshot::Snapshot;

/// The record that says what the model is.
pub(crate) const FIRST: u64 = 1;

/// Why a replay stopped.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A record has to be skipped, and there is no copy of the state before it: see [`Replay::careful`].
    Diverged,
    /// The message does not name the directory.
    Record(u64, String),
    Open(OpenError),
}

impl From<OpenError> for Stop {
    fn from(error: OpenError) -> Self {
        Self::Open(error)
    }
}

impl Stop {
    pub(crate) fn into_error(self, directory: &Path) -> OpenError {
        let place = directory.display();
        match self {
            Self::Diverged => other(format!("{place}: the weights diverge")),
            Self::Record(seq, what) => other(format!("{place}: record {seq}: {what}")),
            Self::Open(OpenError::Other(words)) if !words.starts_with(&place.to_string()) => {
                other(format!("{place}: {words}"))
            }
            Self::Open(error) => error,
        }
    }
}

/// Learns records again. What is in the log was accepted before, so that nothing is refused.
pub(crate) struct Replay<'a> {
    log: &'a Log,
    without: Option<&'a Without>,
    is_careful: bool,
    /// Whether the learner is a shadow, whom the promotion of shadows does not concern.
    is_shadow: bool,
    /// The state before the present record, if it is kept.
    twin: Option<Trainer>,
    options: Option<Options>,
    parsers: Parsers,
    /// The rows of the present record.
    parsed: Parsed,
    /// Whether they were parsed ahead.
    is_parsed: bool,
    names: Vec<(u32, String)>,
    /// Rows that were learned, and rows that were left out.
    pub(crate) rows: u64,
    pub(crate) left_out: u64,
}

impl<'a> Replay<'a> {
    /// A replay that stops at a record that must be skipped.
    pub(crate) fn new(log: &'a Log) -> Self {
        Self {
            log,
            without: None,
            is_careful: false,
            is_shadow: false,
            twin: None,
            options: None,
            parsers: Parsers::default(),
            parsed: Parsed::default(),
            is_parsed: false,
            names: Vec::new(),
            rows: 0,
            left_out: 0,
        }
    }

    /// A replay that learns everything twice, so that it can go back before a record that is skipped.
    pub(crate) fn careful(log: &'a Log) -> Self {
        Self { is_careful: true, ..Self::new(log) }
    }

    /// A replay for a shadow of the model.
    pub(crate) fn shadow(log: &'a Log, is_careful: bool) -> Self {
        Self { is_careful, is_shadow: true, ..Self::new(log) }
    }

    /// Leaves rows out.
    pub(crate) fn without(self, without: &'a Without) -> Self {
        Self { without: Some(without), ..self }
    }

    /// Learns the records after one up to another. Without a state the first record says what to begin with.
    pub(crate) fn run(
        &mut self,
        after: u64,
        to: u64,
        state: &mut Option<(Start, Live)>,
        table: &mut IdTable,
    ) -> Result<(), Stop> {
        let mut reached = after;
        // The reading of rows is known once there is a state, which is after the first record at the latest.
        let mut follower = self.log.replay(after, to).map_err(OpenError::from)?;
        while reached < to && state.is_none() {
            let record = follower.next_within(Duration::from_secs(60)).map_err(OpenError::from)?;
            let Some(record) = record else {
                return Err(Stop::Record(reached + 1, "cannot be read".into()));
            };
            assert!(record.seq > reached, "record {} after {reached}", record.seq);
            reached = record.seq;
            self.step(&record, state, Some(&mut *table))?;
        }
        drop(follower);
        while reached < to {
            reached = self.run_ahead((reached, to), state, table)?;
        }
        Ok(())
    }

    /// Learns records while another thread reads and parses the next ones, up to a record or one that changes how rows are read.
    /// Returns the last record.
    fn run_ahead(
        &mut self,
        (mut reached, to): (u64, u64),
        state: &mut Option<(Start, Live)>,
        table: &mut IdTable,
    ) -> Result<u64, Stop> {
        let Some((start, live)) = &*state else { return Ok(to) };
        let options = RowOptions::of(start, &live.trainer).learning().clone();
        let (log, without) = (self.log, self.without);
        std::thread::scope(|scope| {
            let ahead = Ahead::start(scope, log, (reached, to), without, options)
                .ok_or_else(|| other("a thread that reads the log cannot be started"))?;
            while reached < to {
                let Some(ready) = ahead.next() else {
                    return Err(Stop::Record(reached + 1, "cannot be read".into()));
                };
                let mut ready = ready?;
                if let Some(parsed) = &mut ready.parsed {
                    std::mem::swap(parsed, &mut self.parsed);
                    self.is_parsed = true;
                }
                let seq = ready.record().seq;
                assert!(seq > reached, "record {seq} after {reached}");
                reached = seq;
                self.step(&ready.record(), state, Some(&mut *table))?;
                self.is_parsed = false;
                if matches!(ready.record().content, Content::Data { kind: kind::SETTLE, .. }) {
                    break;
                }
                ahead.give_back(ready);
            }
            Ok(reached)
        })
    }

    /// Learns one record.
    pub(crate) fn step(
        &mut self,
        record: &Record<'_>,
        state: &mut Option<(Start, Live)>,
        table: Option<&mut IdTable>,
    ) -> Result<(), Stop> {
        let version = Version { epoch: record.epoch, seq: record.seq };
        let bad = |what: String| Stop::Record(record.seq, what);
        match (record.content, &mut *state) {
            (Content::Data { kind: kind::START, payload }, None) => {
                let start: Start = serde_json::from_slice(payload)
                    .map_err(|e| bad(format!("the first record cannot be read: {e}")))?;
                let mut live = match start.checkpoint {
                    None => Live::new(fresh(&start)?, version),
                    Some(_) => self.first_snapshot(version).map_err(bad)?,
                };
                live.is_warming = start.is_warming();
                *state = Some((start, live));
            }
            (_, None) => return Err(bad("the log does not begin with what the model is".into())),
            (Content::Data { kind: kind::PROMOTE, payload }, Some(state)) if !self.is_shadow => {
                let Promote { start, after, .. } = read(payload).map_err(bad)?;
                *state = self.relearned(start, after, version)?.0;
            }
            (Content::Data { kind: kind::SETTLE, payload }, Some(state)) if state.1.is_warming => {
                let Settle { start } = read(payload).map_err(bad)?;
                // A shadow reads rows as the model does, and has its own settings.
                let start = Start {
                    settings: if self.is_shadow {
                        state.0.settings.clone()
                    } else {
                        start.settings
                    },
                    settled: Some(record.seq),
                    ..start
                };
                let (settled, [rows, left_out]) = self.relearned(start, FIRST, version)?;
                *state = settled;
                (self.rows, self.left_out) = (self.rows + rows, self.left_out + left_out);
                (self.options, self.parsers) = (None, Parsers::default());
                if let Some(table) = table {
                    table.release(record.seq);
                }
            }
            (Content::Data { kind, payload }, Some((start, live))) => {
                self.apply(kind, payload, record.time, version, (start, live), table)?;
            }
            (Content::Epoch { .. }, Some((_, live))) => live.version = version,
        }
        Ok(())
    }

    /// Returns the state that begins anew after a record and learns the records before another: that of a shadow that takes the
    /// model's place, or of the model itself once the kinds of its columns are known. With the numbers of rows that were learned and left out.
    pub(crate) fn relearned(
        &mut self,
        start: Start,
        after: u64,
        version: Version,
    ) -> Result<((Start, Live), [u64; 2]), Stop> {
        let mut shadow = Self::shadow(self.log, self.is_careful);
        shadow.without = self.without;
        let mut live = Live::new(fresh(&start)?, version);
        live.is_warming = start.is_warming();
        let mut state = Some((start, live));
        let mut none = IdTable::new(&Policy::new(""));
        shadow.run(after, version.seq - 1, &mut state, &mut none)?;
        self.names.append(&mut shadow.names);
        self.twin = None;
        let (start, mut live) = state.ok_or(Stop::Diverged)?;
        live.version = version;
        Ok(((start, live), [shadow.rows, shadow.left_out]))
    }

    /// The state of a model that began with a checkpoint.
    fn first_snapshot(&self, version: Version) -> Result<Live, String> {
        let missing = |e: String| {
            format!("the model began with a checkpoint, and its snapshot is missing: {e}")
        };
        let (_, mut bytes) = self
            .log
            .open_snapshot(version.epoch, version.seq)
            .map_err(|e| missing(e.to_string()))?;
        let snapshot = Snapshot::read(&mut bytes).map_err(|e| missing(e.to_string()))?;
        snapshot.live().map_err(|e| missing(e.to_string()))
    }

    fn apply(
        &mut self,
        kind: u8,
        payload: &[u8],
        time: u64,
        version: Version,
        (start, live): (&Start, &mut Live),
        mut table: Option<&mut IdTable>,
    ) -> Result<(), Stop> {
        let seq = version.seq;
        let bad = |what: String| Stop::Record(seq, what);
        let unreadable = || bad("the rows cannot be read".into());
        match kind {
            kind::LEARN => {
                let rows = LoggedRows::decode(payload).ok_or_else(unreadable)?;
                let count = self.parse(&rows, seq, (start, live)).map_err(bad)?;
                if let Some(table) = &mut table {
                    table.learned_rows(&rows, &self.parsed.chunks, seq, time);
                }
                if live.learns_now() {
                    self.left_out += count;
                    self.learn(live, seq)?;
                }
            }
            kind::PENDING => {
                let rows = LoggedRows::decode(payload).ok_or_else(unreadable)?;
                // Waiting rows have no labels; their ids alone are needed.
                let Some(table) = &mut table else { return Ok(()) };
                for (index, line) in (0..).zip(lines(rows.text)) {
                    // An earlier version took ids that no label can name.
                    let Some(id) = id_of(line) else { continue };
                    let row = KeptRow { at: (seq, index), time, text: line.into() };
                    table.score(ids::row_id(id.as_bytes()), row);
                }
            }
            kind::FORGET => {
                let forget: Forget = read(payload).map_err(bad)?;
                if let Some(table) = &mut table {
                    table.forget(forget.until, seq);
                }
            }
            kind::EVICT => {
                let evict: Evict = read(payload).map_err(bad)?;
                if let Some(table) = &mut table {
                    table.evict(evict.oldest, seq);
                }
            }
            kind::SET_ASIDE => {
                let aside: SetAside = read(payload).map_err(bad)?;
                if let Some(table) = &mut table {
                    for row in aside.rows {
                        table.set_aside(ids::row_id(row.id.as_bytes()), row, seq, time);
                    }
                }
            }
            kind::PAUSE => {
                let Pause { reason } = read(payload).map_err(bad)?;
                live.paused = Some(Paused { since: seq, reason });
            }
            kind::RESUME => {
                let Resume { backlog } = read(payload).map_err(bad)?;
                let paused = live.paused.take();
                if let (Backlog::Learn, Some(Paused { since, .. })) = (backlog, paused) {
                    self.catch_up(since, seq, (start, live))?;
                }
            }
            kind::START | kind::PROMOTE | kind::SETTLE | kind::MARK => {}
            unknown => {
                return Err(bad(format!("is of kind {unknown}, which this version does not know")));
            }
        }
        live.version = version;
        if let Some(table) = table {
            table.release(seq);
        }
        Ok(())
    }

    /// Learns the rows that came while learning was paused.
    fn catch_up(
        &mut self,
        since: u64,
        to: u64,
        (start, live): (&Start, &mut Live),
    ) -> Result<(), Stop> {
        let log = self.log;
        for_backlog(log, since, to, |seq, rows| {
            let bad = |what: String| Stop::Record(seq, what);
            self.left_out += self.parse(rows, seq, (start, live)).map_err(bad)?;
            self.learn(live, seq)
        })
    }

    /// Learns the rows that were parsed last.
    fn learn(&mut self, live: &mut Live, seq: u64) -> Result<(), Stop> {
        let broken = |e: parsimon::Error| Stop::Open(e.into());
        if self.is_careful && self.twin.is_none() {
            self.twin = Some(live.copied().map_err(broken)?.trainer);
        }
        match (live.learn(&self.parsed.chunks, None), &mut self.twin) {
            (Ok(()), None) => {}
            (Ok(()), Some(twin)) => {
                for chunk in &self.parsed.chunks {
                    twin.learn(chunk, &mut |_| {}).map_err(broken)?;
                }
            }
            (Err(Spoiled::Memory(words)), _) => return Err(Stop::Record(seq, words)),
            (Err(Spoiled::Diverged), None) => return Err(Stop::Diverged),
            (Err(Spoiled::Diverged), Some(twin)) => {
                live.trainer = Trainer::from_checkpoint(&twin.checkpoint()).map_err(broken)?;
                live.skip(seq);
                return Ok(());
            }
        }
        self.rows += self.parsed.chunks.iter().map(Chunk::len).sum::<usize>() as u64;
        Ok(())
    }

    /// Parses the rows of a record, unless they are; how many of them are left out.
    fn parse(
        &mut self,
        rows: &LoggedRows<'_>,
        seq: u64,
        (start, live): (&Start, &Live),
    ) -> Result<u64, String> {
        if !std::mem::take(&mut self.is_parsed) {
            // A shadow that takes the model's place reads rows in the same way.
            let options = self
                .options
                .get_or_insert_with(|| RowOptions::of(start, &live.trainer).learning().clone());
            self.parsers.parse(rows, seq, self.without, options, &mut self.parsed)?;
        }
        self.names.append(&mut self.parsed.names);
        Ok(self.parsed.left_out)
    }

    /// The names that were met.
    pub(crate) fn names(&self) -> Names {
        self.names.iter().map(|(slot, name)| (*slot, name.as_str())).collect()
    }
}

fn read<T: serde::de::DeserializeOwned>(payload: &[u8]) -> Result<T, String> {
    serde_json::from_slice(payload).map_err(|e| e.to_string())
}

/// Hands out the rows of records between a pause and what resumed it, with their sequence numbers.
pub(crate) fn for_backlog<E: From<OpenError>>(
    log: &Log,
    since: u64,
    to: u64,
    mut each: impl FnMut(u64, &LoggedRows<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut follower = log.replay(since, to).map_err(OpenError::from)?;
    loop {
        let record = follower.next_within(Duration::from_secs(60)).map_err(OpenError::from)?;
        let Some(record) = record else { return Ok(()) };
        if let Content::Data { kind: kind::LEARN, payload } = record.content {
            let rows = LoggedRows::decode(payload)
                .ok_or_else(|| other(format!("record {}: the rows cannot be read", record.seq)))?;
            each(record.seq, &rows)?;
        }
    }
}
