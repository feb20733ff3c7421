//! Rows of named columns to a table: CSV, TSV, JSON lines, Parquet or Arrow.
//!
//! The readers of this crate read what is written here. A missing cell is an empty one in CSV and TSV and null elsewhere. TSV has
//! no quotes: a tab or a line end within a cell becomes a blank.

#[cfg_attr(not(feature = "columnar"), path = "batch_left_out.rs")]
mod batch;
mod text;

use std::io::{self, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use batch::BatchTable;
use text::TextTable;

/// A format of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// Comma-separated values with a header.
    Csv,
    /// Tab-separated values with a header.
    Tsv,
    /// One JSON object per line.
    Jsonl,
    /// Apache Parquet.
    Parquet,
    /// An Apache Arrow IPC file.
    Arrow,
}

impl TableFormat {
    /// Returns the format of a file extension, and whether the file is compressed with gzip; `None` for other names.
    ///
    /// ```
    /// use std::path::Path;
    /// use parsimon_data::TableFormat;
    ///
    /// assert_eq!(TableFormat::of_path(Path::new("p.csv.gz")), Some((TableFormat::Csv, true)));
    /// assert_eq!(TableFormat::of_path(Path::new("p.txt")), None);
    /// ```
    pub fn of_path(path: &Path) -> Option<(Self, bool)> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        let (name, is_zipped) = match name.strip_suffix(".gz") {
            Some(name) => (name, true),
            None => (&name[..], false),
        };
        let format = match name.rsplit_once('.')?.1 {
            "csv" => Self::Csv,
            "tsv" => Self::Tsv,
            "jsonl" | "json" | "ndjson" => Self::Jsonl,
            // These are compressed inside.
            "parquet" if !is_zipped => Self::Parquet,
            "arrow" | "feather" | "ipc" if !is_zipped => Self::Arrow,
            _ => return None,
        };
        Some((format, is_zipped))
    }
}

/// Kinds of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Numbers.
    Number,
    /// Texts.
    Text,
    /// Lists of features with their values and contributions; in CSV and TSV a text.
    Contributions,
}

/// A cell of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// No value.
    Missing,
    /// A number. One that is not finite is missing in JSON.
    Number(f64),
    /// A text.
    Text(&'a [u8]),
    /// Features, each with its value and what it adds to the margin.
    Contributions(&'a [(String, f64, f64)]),
}

/// Writes a table row by row.
///
/// ```
/// use parsimon_data::{Cell, ColumnType, TableFormat, TableWriter};
///
/// let columns = vec![("id".to_owned(), ColumnType::Text), ("p".to_owned(), ColumnType::Number)];
/// let mut table = TableWriter::new(Vec::new(), TableFormat::Csv, false, columns).unwrap();
/// table.push(&[Cell::Text(b"a,b"), Cell::Number(0.5)]).unwrap();
/// table.push(&[Cell::Missing, Cell::Missing]).unwrap();
/// assert_eq!(table.finish().unwrap(), b"id,p\n\"a,b\",0.5\n,\n");
/// ```
pub struct TableWriter<W: Write + Send>(Body<W>);

enum Body<W: Write + Send> {
    Text(TextTable, W),
    Zipped(TextTable, Box<GzEncoder<W>>),
    Batch(BatchTable<W>),
}

impl<W: Write + Send> TableWriter<W> {
    /// Begins a table. Text formats may be compressed with gzip.
    pub fn new(
        out: W,
        format: TableFormat,
        is_zipped: bool,
        columns: Vec<(String, ColumnType)>,
    ) -> io::Result<Self> {
        let table = match format {
            TableFormat::Parquet | TableFormat::Arrow => {
                let is_parquet = format == TableFormat::Parquet;
                return Ok(Self(Body::Batch(BatchTable::new(out, is_parquet, &columns)?)));
            }
            TableFormat::Csv => TextTable::new(text::Style::Csv, columns),
            TableFormat::Tsv => TextTable::new(text::Style::Tsv, columns),
            TableFormat::Jsonl => TextTable::new(text::Style::Json, columns),
        };
        let mut body = match is_zipped {
            true => Body::Zipped(table, Box::new(GzEncoder::new(out, Compression::default()))),
            false => Body::Text(table, out),
        };
        match &mut body {
            Body::Text(table, out) => table.begin(out)?,
            Body::Zipped(table, out) => table.begin(out)?,
            Body::Batch(_) => {}
        }
        Ok(Self(body))
    }

    /// Writes a row: a cell per column.
    pub fn push(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        match &mut self.0 {
            Body::Text(table, out) => table.push(cells, out),
            Body::Zipped(table, out) => table.push(cells, out),
            Body::Batch(table) => table.push(cells),
        }
    }

    /// Hands on what was written. Rows of Parquet and Arrow wait until there are enough of them.
    pub fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Body::Text(_, out) => out.flush(),
            Body::Zipped(_, out) => out.flush(),
            Body::Batch(_) => Ok(()),
        }
    }

    /// Ends the table.
    pub fn finish(self) -> io::Result<W> {
        match self.0 {
            Body::Text(_, out) => Ok(out),
            Body::Zipped(_, out) => out.finish(),
            Body::Batch(table) => table.finish(),
        }
    }
}

/// Contributions in one line: `age=50:+0.25; city=Paris:-1.5`.
///
/// The value is written unless it is 1, the value of categories and words.
pub(crate) fn contributions(parts: &[(String, f64, f64)], separator: &str, out: &mut Vec<u8>) {
    for (k, (name, value, contribution)) in parts.iter().enumerate() {
        if k > 0 {
            out.extend_from_slice(separator.as_bytes());
        }
        out.extend_from_slice(name.as_bytes());
        // Writing into memory does not fail.
        let _ = match *value == 1.0 {
            true => write!(out, ":{contribution:+}"),
            false => write!(out, "={value}:{contribution:+}"),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ask, Carried, Format, Input, Labels, Options, Reader, Reading};
    use parsimon_core::Chunk;

    fn columns() -> Vec<(String, ColumnType)> {
        [("id", ColumnType::Text), ("p", ColumnType::Number), ("why", ColumnType::Contributions)]
            .map(|(name, kind)| (name.to_owned(), kind))
            .to_vec()
    }

    fn written(format: TableFormat, is_zipped: bool, rows: usize) -> Vec<u8> {
        let mut table = TableWriter::new(Vec::new(), format, is_zipped, columns()).unwrap();
        for i in 0..rows {
            let id = format!("row \"{i}\",\t\n;");
            let why = [("age".to_owned(), 50.0, 0.25), ("city=Rome".to_owned(), 1.0, -1.5)];
            let cells =
                [Cell::Text(id.as_bytes()), Cell::Number(i as f64), Cell::Contributions(&why)];
            table.push(&cells).unwrap();
        }
        table.push(&[Cell::Text(b"last"), Cell::Missing, Cell::Missing]).unwrap();
        table.finish().unwrap()
    }

    /// The first two columns, as our readers see them.
    fn read(bytes: Vec<u8>, format: Format) -> Vec<Vec<Option<String>>> {
        let options = Options {
            reading: Reading {
                format: Some(format),
                labels: Labels::Optional(Box::new(Labels::Real)),
                ignore: match format {
                    Format::Jsonl => vec!["why".into()],
                    _ => vec!["why".into(), "id".into(), "p".into()],
                },
                ..Reading::default()
            },
            ask: Ask { carried: vec!["id".into(), "p".into()], ..Ask::default() },
            ..Options::default()
        };
        let input = Input::Bytes { name: "t".into(), bytes };
        let mut reader = Reader::open(&[input], &options).unwrap();
        let (mut chunk, mut rows) = (Chunk::new(), Vec::new());
        let text = |cell: Option<&[u8]>| cell.map(|c| String::from_utf8_lossy(c).into_owned());
        while reader.read(&mut chunk).unwrap() {
            for i in 0..chunk.len() {
                rows.push(Carried::new(chunk.tag(i)).skip(1).map(text).collect());
            }
        }
        rows
    }

    #[test]
    fn what_is_written_is_read_again() {
        // More rows than a batch has.
        let many = 10_000;
        for (format, is_zipped, back) in [
            (TableFormat::Csv, false, Format::Csv),
            (TableFormat::Csv, true, Format::Csv),
            (TableFormat::Tsv, false, Format::Tsv),
            (TableFormat::Jsonl, true, Format::Jsonl),
            (TableFormat::Parquet, false, Format::Parquet),
            (TableFormat::Arrow, false, Format::Arrow),
        ] {
            let rows = read(written(format, is_zipped, many), back);
            assert_eq!(rows.len(), many + 1, "{format:?}");
            let id = match format {
                TableFormat::Tsv => "row \"7\",  ;",
                _ => "row \"7\",\t\n;",
            };
            assert_eq!(rows[7][0].as_deref(), Some(id), "{format:?}");
            assert_eq!(rows[7][1].as_ref().unwrap().parse::<f64>().unwrap(), 7.0, "{format:?}");
            assert_eq!(rows[many], [Some("last".to_owned()), None], "{format:?}");
        }
    }

    #[test]
    fn contributions_are_a_text_or_a_list() {
        let text = |format| String::from_utf8(written(format, false, 1)).unwrap();
        assert!(text(TableFormat::Tsv).contains("\tage=50:+0.25; city=Rome:-1.5\n"));
        let json = text(TableFormat::Jsonl);
        let row: serde_json::Value = serde_json::from_str(json.lines().next().unwrap()).unwrap();
        assert_eq!(row["why"][0]["feature"], "age");
        assert_eq!(row["why"][0]["value"], 50.0);
        assert_eq!(row["why"][1]["contribution"], -1.5);
        assert!(json.ends_with("{\"id\":\"last\",\"p\":null,\"why\":null}\n"), "{json}");
    }

    #[test]
    fn no_rows_are_a_table_with_columns() {
        for format in [TableFormat::Csv, TableFormat::Parquet, TableFormat::Arrow] {
            let table = TableWriter::new(Vec::new(), format, false, columns()).unwrap();
            assert!(!table.finish().unwrap().is_empty());
        }
    }
}
