//! The first rows of a new model without a schema: they are logged and acknowledged, and learned when they have shown the kinds of
//! their columns.
//!
//! Numbers on a common scale need columns, and a row of JSON does not say which of its numbers are codes. A [`Settle`] record ends
//! the wait: it holds the kinds, with the curves and pairs of columns that pay on these rows, and learning begins anew with the rows
//! before it. The record is in the log, so every replay ends in the same state. Rows of VW text and svmlight are features already; if
//! they come first, there is nothing to wait for.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use parsimon::data::{
    Ask, DataErrorKind, Format, Input, Kinds, Options, Reading, Run, TableSchema,
};
use parsimon::job::shaped;
use parsimon::serve::RowParser;
use parsimon::survey::{Found, survey, with_kinds};
use parsimon::workspace::{ColumnKind, Header, Kind};
use parsimon::{InputSchema, Settings};
use parsimon_log::{Content, Log};

use super::intake::Intake;
use super::learner::Step;
use super::model::Shared;
use super::open::{OpenError, fresh, settings_of};
use super::record::{KindsFrom, LoggedRows, Settle, Start, kind};
use super::replay::{FIRST, Stop};
use super::replica::Version;
use super::request_buffers::{RowOptions, RowReading};
use crate::answer::Task;
use crate::error::Refusal;

/// Rows whose columns have no kinds yet.
#[derive(Debug, Default)]
pub(crate) struct Warming {
    rows: usize,
    /// The log time of the first row.
    since: Option<u64>,
    /// The contents of the records of rows.
    records: Vec<Vec<u8>>,
}

impl Warming {
    /// Reads the rows that a log holds.
    pub(crate) fn of_log(log: &Log) -> Result<Self, Stop> {
        let last = log.opened().last;
        let mut warming = Self::default();
        let mut follower = log.replay(0, last).map_err(OpenError::from)?;
        let mut reached = 0;
        while reached < last {
            let record = follower.next_within(Duration::from_secs(60)).map_err(OpenError::from)?;
            let Some(record) = record else {
                return Err(Stop::Record(reached + 1, "cannot be read".into()));
            };
            reached = record.seq;
            if let Content::Data { kind: kind::LEARN, payload } = record.content {
                let rows = LoggedRows::decode(payload).map_or(0, |rows| rows.count());
                warming.collect(payload, rows as usize, record.time);
            }
        }
        Ok(warming)
    }

    /// Takes in a record of rows. Returns the number of rows so far.
    pub(crate) fn collect(&mut self, payload: &[u8], rows: usize, time: u64) -> usize {
        self.rows += rows;
        self.since.get_or_insert(time);
        self.records.push(payload.to_vec());
        self.rows
    }

    fn is_due(&self, rows: usize, patience: Duration, time: u64) -> bool {
        let is_old = |since: u64| since + patience.as_millis() as u64 <= time;
        self.rows >= rows || self.since.is_some_and(is_old)
    }

    fn rows(&self) -> impl Iterator<Item = LoggedRows<'_>> {
        self.records.iter().filter_map(|payload| LoggedRows::decode(payload))
    }

    /// Returns what the model is once the kinds are known. Where the rows are no table, or contradict each other, each cell is
    /// understood on its own.
    fn settled(&self, before: &Start) -> Start {
        let by_cell = Start { kinds: KindsFrom::Rows, ..before.clone() };
        let schema = self.schema(before);
        let by_column = schema.map(|schema| Start { schema, ..by_cell.clone() });
        // A setting may name a column that the rows do not have.
        by_column.filter(|start| fresh(start).is_ok()).unwrap_or(by_cell)
    }

    /// The kinds of the columns and the labels, if every row fits them.
    fn schema(&self, before: &Start) -> Option<InputSchema> {
        let (settings, precision) = settings_of(before).ok()?;
        let mut groups = self.groups();
        groups.sort_by_key(|group| std::cmp::Reverse(group.rows));
        let mut schema: Option<InputSchema> = None;
        for group in groups {
            let found = group.schema(before, &settings)?;
            let Some(known) = &mut schema else {
                schema = Some(found);
                continue;
            };
            // Columns that only rows of another format have.
            let (known, found) = (known.table.as_mut()?, found.table?);
            let more = found.columns.into_iter().filter(|c| known.column(&c.name).is_none());
            let more: Vec<_> = more.collect();
            known.columns.extend(more);
        }
        let mut schema = schema?;
        // Every row is tried: later ones may have cells that the first ones contradict.
        while let Err((column, cell)) = self.fit(before, &settings, &schema, precision.max_value())
        {
            schema.table = Some(schema.table?.widened(&column, &cell)?);
        }
        Some(schema)
    }

    /// Parses all rows; else the column and the cell that contradict each other, which are empty for other errors.
    fn fit(
        &self,
        before: &Start,
        settings: &Settings,
        schema: &InputSchema,
        max_value: f64,
    ) -> Result<(), (String, String)> {
        let start = Start { schema: schema.clone(), ..before.clone() };
        let options = RowOptions::of_start(&start, settings, max_value);
        let none = |_| (String::new(), String::new());
        for rows in self.rows() {
            let mut parser =
                RowParser::new("row", rows.format, options.learning()).map_err(none)?;
            parser.parse(rows.text, &mut Vec::new()).map_err(|error| {
                match (error.kind(), error.field(), error.token()) {
                    (DataErrorKind::Kind, Some(column), Some(cell)) => {
                        (column.to_owned(), cell.to_owned())
                    }
                    _ => none(error),
                }
            })?;
        }
        Ok(())
    }

    /// The rows of tables: those of JSON together, and those of a header.
    fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for rows in self.rows() {
            let text = rows.text.trim_ascii_end();
            let head = match rows.format {
                Format::Jsonl => &[][..],
                Format::Csv | Format::Tsv => {
                    let text = text.trim_ascii_start();
                    text.split(|&b| b == b'\n').next().unwrap_or_default()
                }
                _ => continue,
            };
            let same = |group: &Group| group.format == rows.format && group.head == head;
            let place = groups.iter().position(same).unwrap_or_else(|| {
                let mut text = head.to_vec();
                if !head.is_empty() {
                    text.push(b'\n');
                }
                groups.push(Group { format: rows.format, head: head.to_vec(), text, rows: 0 });
                groups.len() - 1
            });
            let group = &mut groups[place];
            let text = if head.is_empty() { text } else { &text.trim_ascii_start()[head.len()..] };
            group.text.extend_from_slice(text.trim_ascii_start());
            group.text.push(b'\n');
            group.rows += rows.count();
        }
        groups
    }
}

/// Rows of a format and a header.
struct Group {
    format: Format,
    head: Vec<u8>,
    text: Vec<u8>,
    rows: u64,
}

impl Group {
    /// The schema that a file with these rows has.
    fn schema(&self, before: &Start, settings: &Settings) -> Option<InputSchema> {
        let given = &before.schema;
        let options = Options {
            reading: Reading {
                format: Some(self.format),
                kinds: Kinds::Found,
                header: Header::Present,
                space: Some(given.space()),
                interactions: given.interactions.clone(),
                label_column: given.label_column.clone(),
                weight_column: given.weight_column.clone(),
                ..Reading::default()
            },
            ask: Ask {
                id: Some("id".into()),
                keep_names: false,
                needs_label: true,
                ..Ask::default()
            },
            run: Run { threads: 1, ..Run::default() },
            ..Options::default()
        };
        let bytes = self.text.clone();
        let input = [Input::Bytes { name: format!("rows.{}", self.format), bytes }];
        let options = with_kinds(&input[..], &options).ok()?;
        let Kinds::Known(table) = &options.reading.kinds else { return None };
        let mut table = TableSchema::clone(table);
        let by_lines = table.clone();
        // It identifies the row.
        let is_id = |column: &ColumnKind| column.name == "id";
        table.columns.iter_mut().filter(|c| is_id(c)).for_each(|c| c.kind = Kind::Ignored);
        table = with_shape(&input, settings, &options, &table).unwrap_or(by_lines);
        table.columns.retain(|column| !is_id(column));
        // Labels of one class, and labels that are numbers, name no classes.
        let found = survey(std::slice::from_ref(settings), &input[..], &options);
        let classes = found.map_or_else(|_| given.found.classes.clone(), |found| found.classes);
        Some(InputSchema {
            table: Some(table),
            found: Found { classes, ..given.found.clone() },
            label_column: options.reading.label_column,
            weight_column: options.reading.weight_column,
            ..given.clone()
        })
    }
}

/// The columns with the curves and pairs that pay on some rows, if any do.
fn with_shape(
    input: &[Input],
    settings: &Settings,
    options: &Options,
    table: &TableSchema,
) -> Option<TableSchema> {
    let kinds = Kinds::Known(Arc::new(table.clone()));
    let reading = Reading { kinds, ..options.reading.clone() };
    let options = Options { reading, ..options.clone() };
    shaped(&input.to_vec(), settings, &options).ok().flatten()
}

impl Intake {
    /// Settles the kinds of columns before rows that have none, if no row came before.
    pub(crate) fn settle_without_kinds(
        &mut self,
        rows: &LoggedRows<'_>,
        log: &Log,
        shared: &Shared,
    ) {
        let is_first = self.warming.as_ref().is_some_and(|warming| warming.rows == 0);
        if is_first && self.leader.is_none() && matches!(rows.format, Format::Vw | Format::Svmlight)
        {
            self.settle(log, shared);
        }
    }

    /// Logs the kinds of columns, and reads rows by them from now on. A log that takes nothing now is tried again later.
    pub(crate) fn settle(&mut self, log: &Log, shared: &Shared) {
        let Some(warming) = &self.warming else { return };
        let before = shared.start.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let settled = warming.settled(&before);
        if let Err(refusal) = self.settle_as(log, shared, settled) {
            let why = refusal.message();
            tracing::warn!(model = %shared.name, why, "the kinds of columns are not logged yet");
        }
    }

    /// Logs that the model is this from here on, and reads rows by it.
    pub(crate) fn settle_as(
        &mut self,
        log: &Log,
        shared: &Shared,
        settled: Start,
    ) -> Result<(), Refusal> {
        let (settings, precision) =
            settings_of(&settled).map_err(|e| Refusal::bad(e.to_string()))?;
        let json = serde_json::to_vec(&Settle { start: settled.clone() }).unwrap_or_default();
        let ticket = self.append(log, kind::SETTLE, &json)?;
        let settled = Start { settled: Some(ticket.seq), ..settled };
        let options = RowOptions::of_start(&settled, &settings, precision.max_value());
        let task = Task::new(&settings, &settled.schema);
        shared.readings.settle(RowReading::new(options, &settled.schema, task));
        *shared.start.lock().unwrap_or_else(PoisonError::into_inner) = settled.clone();
        (self.warming, self.settled) = (None, ticket.seq);
        let version = Version { epoch: self.epoch, seq: ticket.seq };
        let _ = self.steps.send(Step::Relearn(version, Box::new(settled), FIRST));
        Ok(())
    }
}

impl Shared {
    /// Settles the kinds of columns if enough rows came, or enough time has passed since the first. Called by the learner.
    pub(crate) fn settle_if_due(&self, log: &Log) {
        let mut intake = self.intake.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(warming) = &intake.warming else { return };
        if intake.leader.is_some() {
            return;
        }
        let (rows, patience) = (self.policy.warm_rows, self.policy.warm_time);
        if warming.is_due(rows, patience, log.time()) && intake.closed.is_none() {
            intake.settle(log, self);
        }
    }

    /// Returns how a row was read before the kinds of its columns were known.
    pub(crate) fn by_cell(&self) -> Option<Options> {
        let start = self.start.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (settings, precision) = settings_of(&start).ok()?;
        let classes = settings.classes().map(<[String]>::to_vec).unwrap_or_default();
        let found = Found { classes, ..start.schema.found.clone() };
        let schema = InputSchema { table: None, found, ..start.schema.clone() };
        let before = Start { schema, ..start };
        Some(RowOptions::of_start(&before, &settings, precision.max_value()).learning().clone())
    }
}
