//! Tables as record batches: Parquet and Arrow.

use std::io::{self, Write};
use std::sync::Arc;

use crate::arrow::array::{ArrayRef, Float64Builder, ListBuilder, StringBuilder, StructBuilder};
use crate::arrow::datatypes::{DataType, Field, Fields, Schema};
use crate::arrow::ipc::writer::FileWriter;
use crate::arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;

use super::{Cell, ColumnType};

/// Rows that are written together.
const ROWS: usize = 8192;

/// The batches of a table.
pub(super) struct BatchTable<W: Write + Send> {
    schema: Arc<Schema>,
    columns: Vec<Column>,
    rows: usize,
    out: Out<W>,
}

enum Out<W: Write + Send> {
    Parquet(Box<ArrowWriter<W>>),
    Arrow(Box<FileWriter<W>>),
}

enum Column {
    Numbers(Float64Builder),
    Texts(StringBuilder),
    Contributions(ListBuilder<StructBuilder>),
}

impl Column {
    fn new(kind: ColumnType) -> Self {
        match kind {
            ColumnType::Number => Self::Numbers(Float64Builder::new()),
            ColumnType::Text => Self::Texts(StringBuilder::new()),
            ColumnType::Contributions => {
                Self::Contributions(ListBuilder::new(StructBuilder::from_fields(parts(), 0)))
            }
        }
    }

    fn push(&mut self, cell: &Cell<'_>) {
        match (self, cell) {
            (Self::Numbers(column), Cell::Number(x)) => column.append_value(*x),
            (Self::Numbers(column), _) => column.append_null(),
            (Self::Texts(column), Cell::Text(text)) => {
                column.append_value(String::from_utf8_lossy(text));
            }
            (Self::Texts(column), _) => column.append_null(),
            (Self::Contributions(column), Cell::Contributions(list)) => {
                for (name, value, contribution) in *list {
                    let row = column.values();
                    if let Some(names) = row.field_builder::<StringBuilder>(0) {
                        names.append_value(name);
                    }
                    for (k, x) in [(1, value), (2, contribution)] {
                        if let Some(numbers) = row.field_builder::<Float64Builder>(k) {
                            numbers.append_value(*x);
                        }
                    }
                    row.append(true);
                }
                column.append(true);
            }
            (Self::Contributions(column), _) => column.append_null(),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Numbers(column) => Arc::new(column.finish()),
            Self::Texts(column) => Arc::new(column.finish()),
            Self::Contributions(column) => Arc::new(column.finish()),
        }
    }
}

/// Fields of a contribution.
fn parts() -> Fields {
    Fields::from(vec![
        Field::new("feature", DataType::Utf8, true),
        Field::new("value", DataType::Float64, true),
        Field::new("contribution", DataType::Float64, true),
    ])
}

fn type_of(kind: ColumnType) -> DataType {
    match kind {
        ColumnType::Number => DataType::Float64,
        ColumnType::Text => DataType::Utf8,
        ColumnType::Contributions => {
            DataType::List(Arc::new(Field::new_list_field(DataType::Struct(parts()), true)))
        }
    }
}

impl<W: Write + Send> BatchTable<W> {
    pub(super) fn new(
        out: W,
        is_parquet: bool,
        columns: &[(String, ColumnType)],
    ) -> io::Result<Self> {
        let fields = columns.iter().map(|(name, kind)| Field::new(name, type_of(*kind), true));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let out = match is_parquet {
            true => {
                let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
                let writer = ArrowWriter::try_new(out, schema.clone(), Some(properties.build()));
                Out::Parquet(Box::new(writer.map_err(io_error)?))
            }
            false => Out::Arrow(Box::new(FileWriter::try_new(out, &schema).map_err(io_error)?)),
        };
        let columns = columns.iter().map(|(_, kind)| Column::new(*kind)).collect();
        Ok(Self { schema, columns, rows: 0, out })
    }

    pub(super) fn push(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        self.columns.iter_mut().zip(cells).for_each(|(column, cell)| column.push(cell));
        self.rows += 1;
        if self.rows == ROWS { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> io::Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        self.rows = 0;
        let arrays = self.columns.iter_mut().map(Column::finish).collect();
        let batch = RecordBatch::try_new(self.schema.clone(), arrays).map_err(io_error)?;
        match &mut self.out {
            Out::Parquet(out) => out.write(&batch).map_err(io_error),
            Out::Arrow(out) => out.write(&batch).map_err(io_error),
        }
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        self.write()?;
        match self.out {
            Out::Parquet(out) => out.into_inner().map_err(io_error),
            Out::Arrow(out) => out.into_inner().map_err(io_error),
        }
    }
}

/// The error of the system where there is one, so that a closed pipe is recognized.
fn io_error(error: impl std::error::Error + Send + Sync + 'static) -> io::Error {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            return io::Error::new(error.kind(), error.to_string());
        }
        cause = error.source();
    }
    io::Error::other(error)
}
