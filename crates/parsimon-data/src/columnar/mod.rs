//! Apache Parquet and Arrow IPC (files and streams).
//!
//! A table of plain columns is read like CSV: a number is the feature `column` with that value, a text
//! the feature `column=text`, null is missing, true is 1. A table with a list column `indices` (and
//! `values`, else all ones) is read like svmlight: ids are kept by default. Dictionary columns are what
//! their values are. Rows stand for lines in messages.
//!
//! Under [`Kinds`](crate::Kinds) the column decides, as in CSV: its type, and for integers and texts its first rows. Dictionaries
//! and categories of pandas are categories whatever their values, each text or code of a list is a category, and the index
//! of a pandas frame is not read. Times are read in UTC, or with the hours of a fixed offset; durations are numbers of seconds.

mod cells;
mod flat;
mod kinds;
mod pandas;
mod parts;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::arrow::datatypes::{DataType, Schema};
use crate::arrow::error::ArrowError;
use crate::arrow::ipc::reader::{FileReader, StreamReader};
use crate::arrow::record_batch::RecordBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::builder::Builder;
use crate::columns::Columns;
use crate::delimited::Scratch;
use crate::error::DataError;
use crate::remedy::Message;
use crate::stored::Stored;
use crate::{Format, Kinds, Options, Space, TableSchema, ipc};
use cells::Converted;
use flat::Flat;

pub(crate) use crate::arrow::record_batch::RecordBatch as Batch;

/// More rows than this are read in several pieces.
const MOST_ROWS: usize = 1 << 12;

/// Record batches as they come, of one schema.
pub type BatchIterator = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// The batches of a table, in order.
pub(crate) struct Batches {
    iterator: Arrivals,
    /// Batches that were looked at for the kinds of columns, and are still to be read.
    waiting: VecDeque<RecordBatch>,
    /// The remaining rows of a batch that is read in several pieces.
    rest: Option<RecordBatch>,
    pub(crate) layout: Arc<Layout>,
    /// The kinds of columns, where columns have kinds.
    pub(crate) table: Option<Arc<TableSchema>>,
    /// Rows (Parquet) or batches (Arrow) read and in all, for progress.
    done: u64,
    total: Option<u64>,
    counts_rows: bool,
}

/// Batches as they come, with the name of their table for errors.
struct Arrivals {
    name: Arc<str>,
    iterator: BatchIterator,
    /// Conversion of nested columns to plain ones, if there are any.
    flat: Option<Flat>,
}

impl Arrivals {
    fn next(&mut self) -> Result<Option<RecordBatch>, DataError> {
        let next = guarded(|| self.iterator.next().transpose().map_err(|e| e.to_string()));
        let next = next.map_err(|words| {
            DataError::damaged(&self.name, format!("is damaged: {}", first_line(&words)))
        })?;
        next.map(|batch| self.flattened(batch)).transpose()
    }

    fn flattened(&self, batch: RecordBatch) -> Result<RecordBatch, DataError> {
        let Some(flat) = &self.flat else { return Ok(batch) };
        guarded(|| flat.batch(&batch)).map_err(|words| {
            DataError::columns(&self.name, format!("has columns that are not plain: {words}"))
        })
    }
}

/// The roles of the columns of a table.
#[derive(Debug)]
pub(crate) enum Layout {
    Wide(Columns),
    Lists { columns: Columns, indices: usize, values: Option<usize> },
}

impl Layout {
    fn new(
        schema: &Schema,
        options: &Options,
        table: Option<&TableSchema>,
    ) -> Result<Self, Message> {
        let names: Vec<String> = schema.fields().iter().map(|f| f.name().clone()).collect();
        let list = |name: &str| {
            names.iter().position(|n| n == name).filter(|&i| is_list(schema.field(i).data_type()))
        };
        let indices = list("indices");
        let columns = match (indices, table) {
            (None, Some(table)) => Columns::by_kind(&names, options, table)?,
            (None, None) => Columns::new(&names, options, Some(0))?,
            (Some(_), _) => Columns::new(&names, options, None)?,
        };
        let columns = columns.carry(&options.ask.carried)?;
        Ok(match indices {
            None => Layout::Wide(columns),
            Some(indices) => Layout::Lists { columns, indices, values: list("values") },
        })
    }

    /// Roles of the columns.
    pub(crate) fn columns(&self) -> &Columns {
        let (Layout::Wide(columns) | Layout::Lists { columns, .. }) = self;
        columns
    }

    /// The feature space when none is asked for.
    pub(crate) fn default_space(&self) -> Space {
        match self {
            Layout::Wide(_) => Space::Hashed { bits: Space::DEFAULT_BITS },
            Layout::Lists { .. } => Space::Ids,
        }
    }
}

/// Whether rows are lists of ids and values: these have no kinds.
fn has_ids(schema: &Schema) -> bool {
    schema.field_with_name("indices").is_ok_and(|field| is_list(field.data_type()))
}

fn is_list(kind: &DataType) -> bool {
    matches!(kind, DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(_, _))
}

/// Runs code of the Arrow libraries, which promise results but have been seen to panic on damage.
fn guarded<T>(work: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err("its structure is broken".to_owned()))
}

impl Batches {
    /// Opens a table.
    pub(crate) fn open(
        name: &Arc<str>,
        format: Format,
        stored: Stored,
        options: &Options,
    ) -> Result<Self, DataError> {
        let refuse = |words: String| {
            DataError::damaged(name, format!("is not valid {format}: {}", first_line(&words)))
        };
        let opened = guarded(|| match (format, stored) {
            (Format::Parquet, Stored::File(file)) => open_parquet(parts::Parts(file)),
            (Format::Parquet, Stored::Memory(bytes)) => open_parquet(bytes),
            (_, Stored::File(file)) => open_arrow(std::io::BufReader::new(file)),
            (_, Stored::Memory(bytes)) => open_arrow(Cursor::new(bytes)),
        });
        let (iterator, schema, total) = opened.map_err(refuse)?;
        Self::new(name, &schema, iterator, options, total, format == Format::Parquet)
    }

    /// Batches that another reader reads.
    pub(crate) fn over(
        name: &Arc<str>,
        schema: &Schema,
        iterator: BatchIterator,
        options: &Options,
    ) -> Result<Self, DataError> {
        Self::new(name, schema, iterator, options, None, true)
    }

    fn new(
        name: &Arc<str>,
        schema: &Schema,
        iterator: BatchIterator,
        options: &Options,
        total: Option<u64>,
        counts_rows: bool,
    ) -> Result<Self, DataError> {
        let refuse = |words| DataError::columns(name, words);
        let mut iterator = Arrivals { name: name.clone(), iterator, flat: None };
        let (mut waiting, mut is_whole) = (VecDeque::new(), false);
        let mut table = None;
        let mut schema = Cow::Borrowed(schema);
        if !has_ids(&schema) {
            let known = match &options.reading.kinds {
                Kinds::Known(known) => Some(&**known),
                Kinds::ByCell | Kinds::Found => None,
            };
            let looks = options.reading.kinds == Kinds::Found
                || known.is_none() && flat::has_open_lists(&schema);
            let mut rows = 0;
            while looks && rows <= crate::kinds::ROWS && !is_whole {
                match iterator.next()? {
                    Some(batch) => {
                        rows += batch.num_rows();
                        waiting.push_back(batch);
                    }
                    None => is_whole = true,
                }
            }
            let seen = waiting.make_contiguous();
            iterator.flat = Flat::new(&schema, seen, known);
            if let Some(flat) = &iterator.flat {
                schema = Cow::Owned(Schema::clone(&flat.schema));
                for batch in &mut waiting {
                    *batch = iterator.flattened(batch.clone())?;
                }
            }
            let seen = waiting.make_contiguous();
            table = kinds::schema_of(&schema, seen, is_whole, options).map_err(refuse)?;
        }
        let layout = Layout::new(&schema, options, table.as_deref()).map_err(refuse)?;
        let layout = Arc::new(layout);
        let (rest, done) = (None, 0);
        Ok(Self { iterator, waiting, rest, layout, table, done, total, counts_rows })
    }

    /// The next batch.
    pub(crate) fn next(&mut self) -> Result<Option<RecordBatch>, DataError> {
        let mut next = match self.rest.take().or_else(|| self.waiting.pop_front()) {
            Some(batch) => Some(batch),
            None => self.iterator.next()?,
        };
        // What is made of a batch is bounded: two thousand million rows of nulls are a file of some hundred bytes.
        if let Some(batch) = next.take_if(|batch| batch.num_rows() > MOST_ROWS) {
            self.rest = Some(batch.slice(MOST_ROWS, batch.num_rows() - MOST_ROWS));
            next = Some(batch.slice(0, MOST_ROWS));
        }
        if let Some(batch) = &next {
            let is_whole = self.rest.is_none();
            self.done += if self.counts_rows { batch.num_rows() as u64 } else { is_whole.into() };
        }
        Ok(next)
    }

    /// The part of the table that has been read, from 0 to 1.
    pub(crate) fn fraction(&self) -> f64 {
        self.total.map_or(0.0, |total| (self.done as f64 / total.max(1) as f64).min(1.0))
    }
}

type OpenedTable = (BatchIterator, Arc<Schema>, Option<u64>);

fn open_parquet<R: parquet::file::reader::ChunkReader + 'static>(
    input: R,
) -> Result<OpenedTable, String> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(input).map_err(|e| e.to_string())?;
    let rows = builder.metadata().file_metadata().num_rows().max(0) as u64;
    let schema = builder.schema().clone();
    let reader = builder.with_batch_size(4096).build().map_err(|e| e.to_string())?;
    Ok((Box::new(reader), schema, Some(rows)))
}

fn open_arrow<R: std::io::Read + std::io::Seek + Send + 'static>(
    mut input: R,
) -> Result<OpenedTable, String> {
    match ipc::check(&mut input)? {
        ipc::IpcLayout::File => {
            let reader = FileReader::try_new(input, None).map_err(|e| e.to_string())?;
            let (schema, batches) = (reader.schema(), reader.num_batches() as u64);
            Ok((Box::new(reader), schema, Some(batches)))
        }
        ipc::IpcLayout::Stream => {
            let reader = StreamReader::try_new(input, None).map_err(|e| e.to_string())?;
            let schema = reader.schema();
            Ok((Box::new(reader), schema, None))
        }
    }
}

fn first_line(words: &str) -> String {
    words.lines().next().unwrap_or_default().chars().take(200).collect()
}

/// Builds the rows of a batch.
pub(crate) fn parse(
    builder: &mut Builder,
    batch: &RecordBatch,
    layout: &Layout,
    name: &Arc<str>,
) -> Result<(), DataError> {
    let converted = guarded(|| Ok(Converted::new(batch, layout)))
        .unwrap_or_else(|words| Err(words.into()))
        .map_err(|message| DataError::columns(name, message))?;
    if let Layout::Wide(columns) = layout {
        builder.begin_table(columns);
        if converted.parse_numbers(builder, columns, batch.num_rows()) {
            builder.out.lines += batch.num_rows() as u64;
            return Ok(());
        }
    }
    let mut text = Scratch::default();
    for i in 0..batch.num_rows() {
        if let Err(bad) = converted.parse_row(builder, layout, i, &mut text)
            && !builder.refuse(i as u64 + 1, bad)
        {
            break;
        }
    }
    builder.out.lines += batch.num_rows() as u64;
    Ok(())
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod types_tests;
