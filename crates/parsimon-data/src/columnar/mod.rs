//! Apache Parquet and Arrow IPC (files and streams).
//!
//! A table of plain columns is read like CSV: a number is the feature `column` with that value, a text
//! the feature `column=text`, null is missing, true is 1. A table with a list column `indices` (and
//! `values`, else all ones) is read like svmlight: ids are kept by default. Dictionary columns are what
//! their values are. Rows stand for lines in messages.
//!
//! Under [`Kinds`](crate::Kinds) the column decides, as in CSV: its type, and for integers and texts its first rows.

mod kinds;

use std::collections::VecDeque;
use std::fs::File;
use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, LargeListArray, LargeStringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Float64Type, Int64Type, Schema};
use arrow::error::ArrowError;
use arrow::ipc::reader::{FileReader, StreamReader};
use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use parsimon_core::Repeats;

use crate::builder::Builder;
use crate::columns::{Columns, Role};
use crate::delimited::{self, Scratch};
use crate::error::{Bad, DataError, shown};
use crate::label::Found;
use crate::{DataErrorKind, Format, Kinds, Options, Space, TableSchema, ipc};

/// Where a table's bytes are.
pub(crate) enum Table {
    File(File),
    Memory(Bytes),
}

/// Record batches as they come, of one schema.
pub type BatchIterator = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// The batches of a table, in order.
pub(crate) struct Batches {
    iterator: Arrivals,
    /// Batches that were looked at for the kinds of columns, and are still to be read.
    waiting: VecDeque<RecordBatch>,
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
}

impl Arrivals {
    fn next(&mut self) -> Result<Option<RecordBatch>, DataError> {
        let next = guarded(|| self.iterator.next().transpose().map_err(|e| e.to_string()));
        next.map_err(|words| {
            DataError::damaged(&self.name, format!("is damaged: {}", first_line(&words)))
        })
    }
}

/// What the columns of a table are for.
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
    ) -> Result<Self, String> {
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
        let columns = columns.carry(&options.carried_columns)?;
        Ok(match indices {
            None => Layout::Wide(columns),
            Some(indices) => Layout::Lists { columns, indices, values: list("values") },
        })
    }

    /// What the columns are for.
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
        table: Table,
        options: &Options,
    ) -> Result<Self, DataError> {
        let refuse = |words: String| {
            DataError::damaged(name, format!("is not valid {format}: {}", first_line(&words)))
        };
        let opened = guarded(|| match (format, table) {
            (Format::Parquet, Table::File(file)) => open_parquet(file),
            (Format::Parquet, Table::Memory(bytes)) => open_parquet(bytes),
            (_, Table::File(file)) => open_arrow(std::io::BufReader::new(file)),
            (_, Table::Memory(bytes)) => open_arrow(Cursor::new(bytes)),
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
        let mut iterator = Arrivals { name: name.clone(), iterator };
        let (mut waiting, mut is_whole) = (VecDeque::new(), false);
        let mut table = None;
        if !has_ids(schema) {
            let mut rows = 0;
            while options.kinds == Kinds::Found && rows <= crate::kinds::ROWS && !is_whole {
                match iterator.next()? {
                    Some(batch) => {
                        rows += batch.num_rows();
                        waiting.push_back(batch);
                    }
                    None => is_whole = true,
                }
            }
            let seen = waiting.make_contiguous();
            table = kinds::schema_of(schema, seen, is_whole, options).map_err(refuse)?;
        }
        let layout = Layout::new(schema, options, table.as_deref()).map_err(refuse)?;
        let layout = Arc::new(layout);
        Ok(Self { iterator, waiting, layout, table, done: 0, total, counts_rows })
    }

    /// The next batch.
    pub(crate) fn next(&mut self) -> Result<Option<RecordBatch>, DataError> {
        let next = match self.waiting.pop_front() {
            Some(batch) => Some(batch),
            None => self.iterator.next()?,
        };
        if let Some(batch) = &next {
            self.done += if self.counts_rows { batch.num_rows() as u64 } else { 1 };
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
        ipc::Kind::File => {
            let reader = FileReader::try_new(input, None).map_err(|e| e.to_string())?;
            let (schema, batches) = (reader.schema(), reader.num_batches() as u64);
            Ok((Box::new(reader), schema, Some(batches)))
        }
        ipc::Kind::Stream => {
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
    let converted = guarded(|| Converted::new(batch, layout))
        .map_err(|words| DataError::columns(name, first_line(&words)))?;
    if let Layout::Wide(columns) = layout {
        builder.begin_table(columns.numbers());
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

/// A column in one of the few types that rows are built from.
enum Cells {
    Numbers(Float64Array),
    Texts(LargeStringArray),
    Indices(LargeListArray),
    Values(LargeListArray),
    Nothing,
}

struct Converted {
    cells: Vec<Cells>,
    /// The columns whose cells travel with the row, as texts.
    carried: Vec<(u32, LargeStringArray)>,
}

impl Converted {
    fn new(batch: &RecordBatch, layout: &Layout) -> Result<Self, String> {
        let (columns, lists) = match layout {
            Layout::Wide(columns) => (columns, None),
            Layout::Lists { columns, indices, values } => (columns, Some((*indices, *values))),
        };
        let cells = columns.columns.iter().zip(batch.columns()).enumerate();
        let cells = cells.map(|(i, (column, array))| match (lists, column.role) {
            (Some((indices, _)), _) if i == indices => {
                list(array, DataType::Int64).map(Cells::Indices)
            }
            (Some((_, Some(values))), _) if i == values => {
                list(array, DataType::Float64).map(Cells::Values)
            }
            (_, Role::Ignored) | (Some(_), Role::Feature { .. }) => Ok(Cells::Nothing),
            (
                _,
                Role::Feature { is_text: true, .. }
                | Role::Category
                | Role::Boolean
                | Role::Words
                | Role::Time { .. }
                | Role::Empty,
            ) => texts(array).map(Cells::Texts),
            _ => plain(array).map_err(|kind| {
                let name = shown(column.name.as_bytes());
                format!("column {name} is of type {kind}, neither number nor text: ignore it")
            }),
        });
        let carried = columns.columns.iter().zip(batch.columns());
        let carried = carried.filter_map(|(column, array)| Some((column, column.carried?, array)));
        let carried = carried.map(|(column, k, array)| match texts(array) {
            Ok(texts) => Ok((k, texts)),
            Err(_) => {
                let (name, kind) = (shown(column.name.as_bytes()), array.data_type());
                Err(format!("column {name} is of type {kind}, which has no text to keep"))
            }
        });
        let carried = carried.collect::<Result<_, _>>()?;
        Ok(Self { cells: cells.collect::<Result<_, _>>()?, carried })
    }

    fn parse_row(
        &self,
        builder: &mut Builder,
        layout: &Layout,
        row: usize,
        text: &mut Scratch,
    ) -> Result<(), Bad> {
        let columns = layout.columns();
        let mut label = None;
        let mut weight = 1.0;
        for (k, texts) in &self.carried {
            if texts.is_valid(row) {
                builder.carry(*k, texts.value(row).as_bytes());
            }
        }
        for (column, cells) in columns.columns.iter().zip(&self.cells) {
            let named = |bad: Bad| bad.in_field(&column.name);
            let found = match cells {
                Cells::Numbers(numbers) if numbers.is_valid(row) => {
                    Found::Number(numbers.value(row))
                }
                Cells::Texts(texts) if texts.is_valid(row) => {
                    Found::Text(texts.value(row).as_bytes())
                }
                _ => {
                    if column.role == Role::Label {
                        builder.no_label(0).map_err(named)?;
                    }
                    continue;
                }
            };
            match column.role {
                Role::Label => label = builder.label(found, 0).map_err(named)?,
                Role::Weight => {
                    let read = match found {
                        Found::Number(v) => builder.importance(format!("{v:e}").as_bytes(), 0),
                        Found::Text(word) => builder.importance(word, 0),
                    };
                    weight = read.map_err(named)?;
                }
                Role::Feature { .. } if matches!(found, Found::Number(v) if !v.is_finite()) => {
                    let name = shown(column.name.as_bytes());
                    let words = format!("column {name} is not a finite number");
                    return Err(named(Bad::new(DataErrorKind::Number, 0, words)));
                }
                Role::Feature { id, .. } => {
                    delimited::push(builder, &column.name, id, found, 0, &mut text.name)
                        .map_err(named)?;
                }
                role => delimited::push_kind(builder, &column.name, role, found, 0, text)
                    .map_err(named)?,
            }
        }
        if !columns.has_label {
            builder.no_label(0)?;
        }
        if let Layout::Lists { indices, values, .. } = layout {
            self.push_list(builder, row, *indices, *values)?;
            let repeats = if builder.is_ids() { Repeats::Refuse } else { Repeats::Add };
            return builder.finish(label, weight, repeats, |e| {
                Bad::new(DataErrorKind::Index, 0, e.to_string())
            });
        }
        builder.finish_adding(label, weight, b"")
    }

    fn push_list(
        &self,
        builder: &mut Builder,
        row: usize,
        indices: usize,
        values: Option<usize>,
    ) -> Result<(), Bad> {
        let Some(Cells::Indices(lists)) = self.cells.get(indices) else { return Ok(()) };
        if lists.is_null(row) {
            return Ok(());
        }
        let ids = lists.value(row);
        let ids = ids.as_primitive::<Int64Type>();
        let numbers = match values.and_then(|v| self.cells.get(v)) {
            Some(Cells::Values(lists)) if lists.is_valid(row) => Some(lists.value(row)),
            Some(_) if !ids.is_empty() => {
                return Err(Bad::new(DataErrorKind::Malformed, 0, "the values are missing"));
            }
            _ => None,
        };
        let numbers = numbers.as_ref().map(AsArray::as_primitive::<Float64Type>);
        if let Some(numbers) = numbers
            && numbers.len() != ids.len()
        {
            let (i, v) = (ids.len(), numbers.len());
            let words = format!("there are {i} indices but {v} values");
            return Err(Bad::new(DataErrorKind::Malformed, 0, words));
        }
        let max = builder.spec.max_value;
        for k in 0..ids.len() {
            let id = if ids.is_null(k) { "null".to_owned() } else { ids.value(k).to_string() };
            let id_number = crate::svmlight::parse_id(id.as_bytes(), 0)?;
            let value = match numbers {
                None => 1.0,
                Some(numbers) if numbers.is_null(k) => continue,
                Some(numbers) => numbers.value(k),
            };
            if !value.is_finite() {
                let words = format!("the value of feature {id} is not a finite number");
                return Err(Bad::new(DataErrorKind::Number, 0, words));
            }
            if value.abs() > max {
                return Err(crate::number::too_large(format!("{value:e}").as_bytes(), 0, max));
            }
            if builder.is_ids() {
                builder.push_id(id_number, value);
            } else {
                builder.push_named(0, b"", id.as_bytes(), value);
            }
        }
        Ok(())
    }
}

/// A plain column as numbers or texts, or the type it has instead.
fn plain(array: &ArrayRef) -> Result<Cells, String> {
    let mut kind = array.data_type();
    while let DataType::Dictionary(_, values) = kind {
        kind = values;
    }
    match kind {
        DataType::Null => Ok(Cells::Nothing),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => texts(array).map(Cells::Texts),
        kind if kind.is_numeric() || *kind == DataType::Boolean => {
            let cast = cast(array, &DataType::Float64).map_err(|e| e.to_string())?;
            Ok(Cells::Numbers(cast.as_primitive::<Float64Type>().clone()))
        }
        kind => Err(kind.to_string()),
    }
}

fn texts(array: &ArrayRef) -> Result<LargeStringArray, String> {
    let cast = cast(array, &DataType::LargeUtf8).map_err(|e| e.to_string())?;
    Ok(cast.as_string::<i64>().clone())
}

fn list(array: &ArrayRef, kind: DataType) -> Result<LargeListArray, String> {
    let field = Arc::new(Field::new_list_field(kind, true));
    let cast = cast(array, &DataType::LargeList(field)).map_err(|e| e.to_string())?;
    Ok(cast.as_list::<i64>().clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Rows, error, rows};
    use arrow::array::{
        BooleanArray, DictionaryArray, Float32Array, Int32Array, ListBuilder, PrimitiveBuilder,
        StringArray, TimestampSecondArray, UInt64Array,
    };
    use arrow::datatypes::{Float32Type, Int32Type, UInt32Type};
    use arrow::ipc::writer::{FileWriter, StreamWriter};
    use parquet::arrow::ArrowWriter;

    fn wide() -> RecordBatch {
        let city: DictionaryArray<Int32Type> =
            [Some("Rome"), None, Some("Oslo")].into_iter().collect();
        RecordBatch::try_from_iter([
            ("age", Arc::new(Float32Array::from(vec![Some(1.5), Some(2.0), None])) as ArrayRef),
            ("city", Arc::new(city)),
            ("new", Arc::new(BooleanArray::from(vec![true, false, true]))),
            ("y", Arc::new(Int32Array::from(vec![1, 0, 1]))),
            ("weight", Arc::new(UInt64Array::from(vec![1, 2, 3]))),
        ])
        .unwrap()
    }

    fn lists() -> RecordBatch {
        let mut indices = ListBuilder::new(PrimitiveBuilder::<UInt32Type>::new());
        let mut values = ListBuilder::new(PrimitiveBuilder::<Float32Type>::new());
        for (ids, numbers) in [(&[7, 3][..], &[0.5, 2.0][..]), (&[], &[]), (&[9], &[1.0])] {
            indices.append_value(ids.iter().map(|&j| Some(j)));
            values.append_value(numbers.iter().map(|&v| Some(v)));
        }
        RecordBatch::try_from_iter([
            ("label", Arc::new(StringArray::from(vec!["1", "-1", "1"])) as ArrayRef),
            ("indices", Arc::new(indices.finish())),
            ("values", Arc::new(values.finish())),
        ])
        .unwrap()
    }

    fn parquet(batch: &RecordBatch) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
        writer.write(batch).unwrap();
        writer.close().unwrap();
        bytes
    }

    fn arrow_file(batch: &RecordBatch) -> Vec<u8> {
        let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
        writer.into_inner().unwrap()
    }

    fn arrow_stream(batch: &RecordBatch) -> Vec<u8> {
        let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
        writer.into_inner().unwrap()
    }

    fn every(batch: &RecordBatch) -> [Vec<u8>; 3] {
        [parquet(batch), arrow_file(batch), arrow_stream(batch)]
    }

    fn named(all: &Rows, row: usize) -> Vec<(&str, f64)> {
        let name = |j: u32| all.names.iter().find(|(k, _)| *k == j).unwrap().1.as_str();
        let mut row: Vec<_> = all.rows[row].iter().map(|&(j, v)| (name(j), v)).collect();
        row.sort_by(|a, b| a.0.cmp(b.0));
        row
    }

    #[test]
    fn plain_columns_are_read_like_csv() {
        let csv = b"age,city,new,y,weight\n1.5,Rome,1,1,1\n2,,0,0,2\n,Oslo,1,1,3\n";
        let mut expected =
            rows(csv, &Options { format: Some(Format::Csv), ..Options::default() }).unwrap();
        for bytes in every(&wide()) {
            let all = rows(&bytes, &Options::default()).unwrap();
            assert_eq!(named(&all, 0), [("age", 1.5), ("city=Rome", 1.0), ("new", 1.0)]);
            expected.names.clone_from(&all.names);
            assert_eq!(all, expected);
        }
    }

    #[test]
    fn list_columns_are_ids() {
        for bytes in every(&lists()) {
            let all = rows(&bytes, &Options::default()).unwrap();
            assert_eq!(all.rows, [vec![(3, 2.0), (7, 0.5)], vec![], vec![(9, 1.0)]]);
            assert_eq!(all.labels, [Some(1.0), Some(-1.0), Some(1.0)]);
            let hashed = Options { space: Some(Space::Hashed { bits: 20 }), ..Options::default() };
            let all = rows(&bytes, &hashed).unwrap();
            assert_eq!(named(&all, 0), [("3", 2.0), ("7", 0.5)]);
        }
    }

    #[test]
    fn batches_in_memory_are_read_like_files_of_them() {
        for batch in [wide(), lists()] {
            let parts = vec![Ok(batch.slice(0, 2)), Ok(batch.slice(2, 1))];
            let (schema, options) = (batch.schema(), Options::default());
            let mut reader =
                crate::Reader::over_batches("x", &schema, Box::new(parts.into_iter()), &options)
                    .unwrap();
            let expected = rows(&parquet(&batch), &options).unwrap();
            let (mut chunk, mut met) = (parsimon_core::Chunk::new(), Vec::new());
            while reader.read(&mut chunk).unwrap() {
                let row = |i| (chunk.row(i).iter().collect::<Vec<_>>(), chunk.label(i));
                met.extend((0..chunk.len()).map(row));
            }
            let expected = expected.rows.into_iter().zip(expected.labels);
            assert_eq!(met, expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_row() {
        let numbers = |v: Vec<f64>| Arc::new(Float64Array::from(v)) as ArrayRef;
        let batch = RecordBatch::try_from_iter([
            ("y", numbers(vec![1.0, 1.0])),
            ("a", numbers(vec![1.0, f64::NAN])),
        ])
        .unwrap();
        for bytes in every(&batch) {
            let words = error(&bytes, &Options::default());
            assert_eq!(words, "x:2: column \"a\" is not a finite number");
        }
        let time = Arc::new(TimestampSecondArray::from(vec![1, 2])) as ArrayRef;
        let batch =
            RecordBatch::try_from_iter([("y", numbers(vec![1.0, 1.0])), ("t", time)]).unwrap();
        let words = error(&parquet(&batch), &Options::default());
        assert!(words.starts_with("x: column \"t\" is of type Timestamp"), "{words}");
        let ignoring = Options { ignored_columns: vec!["t".into()], ..Options::default() };
        assert_eq!(rows(&parquet(&batch), &ignoring).unwrap().rows.len(), 2);
    }

    #[test]
    fn damage_is_an_error() {
        for (bytes, format) in
            every(&wide()).into_iter().zip([Format::Parquet, Format::Arrow, Format::Arrow])
        {
            let options = Options { format: Some(format), skip_bad: 100, ..Options::default() };
            for cut in [1, 7, bytes.len() / 3, bytes.len() / 2] {
                let words = error(&bytes[..cut], &options);
                assert!(words.starts_with("x: is "), "{words}");
                assert_eq!(words.lines().count(), 1);
            }
        }
    }

    #[test]
    fn any_flipped_bit_is_survived() {
        let formats = [Format::Parquet, Format::Arrow, Format::Arrow];
        for batch in [wide(), lists()] {
            for (bytes, format) in every(&batch).into_iter().zip(formats) {
                let options = Options {
                    format: Some(format),
                    space: Some(Space::Hashed { bits: 4 }),
                    skip_bad: 100,
                    ..Options::default()
                };
                for bit in 0..8 * bytes.len() {
                    let mut broken = bytes.clone();
                    broken[bit / 8] ^= 1 << (bit % 8);
                    // Not every bit is covered by a checksum: what is read may be wrong, but is rows.
                    let _ = rows(&broken, &options);
                }
            }
        }
    }
}
