//! The rows of records as chunks, parsed by the thread that learns them or ahead of it.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::Scope;
use std::time::Duration;

use parsimon::data::{Format, Options};
use parsimon::rows::Chunk;
use parsimon::serve::RowParser;
use parsimon_log::{Content, Log, Record};

use super::archive::Without;
use super::open::OpenError;
use super::record::{LoggedRows, kind};
use super::replay::Stop;
use super::rows::lines;

/// A parser for each format that was met.
#[derive(Default)]
pub(crate) struct Parsers(Vec<(Format, RowParser)>);

/// The rows of one record.
#[derive(Default)]
pub(crate) struct Parsed {
    pub(crate) chunks: Vec<Chunk>,
    /// Names that no row before had.
    pub(crate) names: Vec<(u32, String)>,
    /// Rows that are left out.
    pub(crate) left_out: u64,
}

impl Parsers {
    /// Parses the rows of a record. The words of an error lack the record.
    pub(crate) fn parse(
        &mut self,
        rows: &LoggedRows<'_>,
        seq: u64,
        without: Option<&Without>,
        options: &Options,
        parsed: &mut Parsed,
    ) -> Result<(), String> {
        let filtered = without.map(|without| match without.has_record(seq) {
            true => (Vec::new(), lines(rows.text).count() as u64),
            false => without.filtered(rows),
        });
        let (text, left_out) = match &filtered {
            Some((text, count)) => (&text[..], *count),
            None => (rows.text, 0),
        };
        (parsed.left_out, parsed.names) = (left_out, Vec::new());
        if lines(text).next().is_none() {
            parsed.chunks.clear();
            return Ok(());
        }
        let place = match self.0.iter().position(|(format, _)| *format == rows.format) {
            Some(place) => place,
            None => {
                let parser =
                    RowParser::new("record", rows.format, options).map_err(|e| e.to_string())?;
                self.0.push((rows.format, parser));
                self.0.len() - 1
            }
        };
        let parser = &mut self.0[place].1;
        parser.parse(text, &mut parsed.chunks).map_err(|e| e.to_string())?;
        let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        parsed.names.extend(parser.new_names().map(|(slot, name)| (slot, text(name))));
        Ok(())
    }
}

/// Content of a record.
enum RecordKind {
    Data(u8),
    /// The reason for an epoch that starts from the state after a record.
    Epoch(u64),
}

/// A record that was read and parsed ahead.
pub(crate) struct ParsedRecord {
    seq: u64,
    epoch: u32,
    time: u64,
    content: RecordKind,
    bytes: Vec<u8>,
    pub(crate) parsed: Option<Parsed>,
}

impl Default for ParsedRecord {
    fn default() -> Self {
        let (bytes, parsed) = (Vec::new(), None);
        Self { seq: 0, epoch: 0, time: 0, content: RecordKind::Epoch(0), bytes, parsed }
    }
}

impl ParsedRecord {
    pub(crate) fn record(&self) -> Record<'_> {
        let bytes = &self.bytes[..];
        let content = match self.content {
            RecordKind::Data(kind) => Content::Data { kind, payload: bytes },
            RecordKind::Epoch(base) => Content::Epoch { base, reason: bytes },
        };
        Record { seq: self.seq, epoch: self.epoch, time: self.time, content }
    }

    fn fill(&mut self, record: &Record<'_>) {
        (self.seq, self.epoch, self.time) = (record.seq, record.epoch, record.time);
        let bytes = match record.content {
            Content::Data { kind, payload } => {
                self.content = RecordKind::Data(kind);
                payload
            }
            Content::Epoch { base, reason } => {
                self.content = RecordKind::Epoch(base);
                reason
            }
        };
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
    }
}

/// Records that may wait, parsed.
const AHEAD: usize = 4;

/// Records that a thread has read and parsed, in the order of the log, and the channel that returns its buffers.
pub(crate) struct Ahead {
    ready: Receiver<Result<ParsedRecord, Stop>>,
    used: Sender<ParsedRecord>,
}

impl Ahead {
    /// Starts to read after a record up to another one. `None` if no thread can be started.
    pub(crate) fn start<'scope>(
        scope: &'scope Scope<'scope, '_>,
        log: &'scope Log,
        (after, to): (u64, u64),
        without: Option<&'scope Without>,
        options: Options,
    ) -> Option<Self> {
        let (send, ready) = sync_channel(AHEAD);
        let (used, spare) = channel();
        let read = move || {
            if let Err(stop) = read(log, (after, to), without, &options, &send, &spare) {
                let _ = send.send(Err(stop));
            }
        };
        let thread = std::thread::Builder::new().name("read ahead".into());
        thread.spawn_scoped(scope, read).ok()?;
        Some(Self { ready, used })
    }

    /// The next record; `None` if there is none.
    pub(crate) fn next(&self) -> Option<Result<ParsedRecord, Stop>> {
        self.ready.recv().ok()
    }

    /// Gives the buffers of a record back.
    pub(crate) fn give_back(&self, ready: ParsedRecord) {
        let _ = self.used.send(ready);
    }
}

/// Reads and parses until the end, or until it is taken no more.
fn read(
    log: &Log,
    (after, to): (u64, u64),
    without: Option<&Without>,
    options: &Options,
    send: &SyncSender<Result<ParsedRecord, Stop>>,
    spare: &Receiver<ParsedRecord>,
) -> Result<(), Stop> {
    let mut follower = log.replay(after, to).map_err(OpenError::from)?;
    let (mut parsers, mut reached) = (Parsers::default(), after);
    while reached < to {
        let record = follower.next_within(Duration::from_secs(60)).map_err(OpenError::from)?;
        let Some(record) = record else {
            return Err(Stop::Record(reached + 1, "cannot be read".into()));
        };
        reached = record.seq;
        let mut ready = spare.try_recv().unwrap_or_default();
        ready.fill(&record);
        if let Content::Data { kind: kind::LEARN, payload } = record.content
            && let Some(rows) = LoggedRows::decode(payload)
        {
            let mut parsed = ready.parsed.take().unwrap_or_default();
            let bad = |what| Stop::Record(reached, what);
            parsers.parse(&rows, reached, without, options, &mut parsed).map_err(bad)?;
            ready.parsed = Some(parsed);
        } else {
            ready.parsed = None;
        }
        if send.send(Ok(ready)).is_err() {
            return Ok(());
        }
    }
    Ok(())
}
