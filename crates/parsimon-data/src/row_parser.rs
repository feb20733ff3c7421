//! Rows that are in memory, parsed where they are.

use std::sync::Arc;

use parsimon_core::Chunk;

use crate::builder::{Builder, Parsed, Spec};
use crate::columns::Columns;
use crate::delimited::{self, Dialect, Head, Prelude};
use crate::kinds::{Missing, NumberForm};
use crate::label::LabelReader;
use crate::remedy::{Message, Remedy};
use crate::role_names::is_label_name;
use crate::{DataError, Format, Kinds, Options, Space, jsonl, svmlight, vw};

/// Parses texts of one format in the calling thread, and keeps its buffers between them.
///
/// Rows, names and errors are those of a [`Reader`](crate::Reader) of a file with the same bytes, but a text is refused whole:
/// after an error it has no rows. Every text of CSV or TSV begins with a header.
///
/// ```
/// use parsimon_data::{Format, Options, RowParser};
///
/// let mut parser = RowParser::new("request", Format::Vw, &Options::default()).unwrap();
/// let mut chunks = Vec::new();
/// parser.parse(b"1 |u a b\n-1 |u c\n", &mut chunks).unwrap();
/// assert_eq!((chunks.len(), chunks[0].len()), (1, 2));
/// let error = parser.parse(b"1 |u a\n2 |u b\n", &mut chunks).unwrap_err();
/// assert_eq!(error.to_string(), "request:2:1: label \"2\" is neither \"-1\" nor \"1\"");
/// assert!(chunks.is_empty());
/// ```
pub struct RowParser {
    name: Arc<str>,
    format: Format,
    builder: Builder,
    parsed: Parsed,
    /// The columns of JSON rows.
    columns: Option<Arc<Columns>>,
}

impl RowParser {
    /// A parser of one format. Errors call the texts by `name`.
    pub fn new(name: &str, format: Format, options: &Options) -> Result<Self, DataError> {
        options.check()?;
        let name = Arc::from(name);
        if !format.is_text() {
            return Err(DataError::format(&name, format!("{format} is read from files only")));
        }
        if options.reading.kinds == Kinds::Found {
            return Err(DataError::setting("the kinds of columns must be known"));
        }
        let space = options.reading.space.unwrap_or_else(|| format.default_space());
        let labels = LabelReader::new(&options.reading.labels).map_err(DataError::setting)?;
        let table = match &options.reading.kinds {
            Kinds::Known(table) => Some(table),
            Kinds::ByCell | Kinds::Found => None,
        };
        let columns = match table {
            Some(table) if format == Format::Jsonl && space != Space::Ids => {
                let columns = jsonl::columns_of(table, options, &[]);
                Some(Arc::new(columns.map_err(|words| DataError::columns(&name, words))?))
            }
            _ => None,
        };
        let spec = Spec {
            space,
            labels,
            max_value: options.bounds.max_value,
            max_cell: options.max_cell(),
            max_label: options.max_label(),
            missing: Missing::of(table),
            label_form: NumberForm::of_label(table, options.reading.label_column.as_ref()),
            ngrams: table.and_then(|table| table.ngrams).map_or(1, usize::from),
            options: options.clone(),
            labels_only: false,
            carried: 0,
        };
        let builder = Builder::new(Arc::new(spec));
        Ok(Self { name, format, builder, parsed: Parsed::default(), columns })
    }

    /// Replaces what is in `chunks` by the rows of a text, at most [`Bounds::chunk_rows`](crate::Bounds::chunk_rows) in each.
    pub fn parse(&mut self, text: &[u8], chunks: &mut Vec<Chunk>) -> Result<(), DataError> {
        let mut shell = std::mem::take(&mut self.parsed);
        shell.chunks.append(chunks);
        self.builder.begin(shell);
        let headed = self.parse_text(text);
        self.parsed = self.builder.end();
        let lines_before = headed?;
        if let Some((_, line, bad)) = self.parsed.bad.drain(..).next() {
            return Err(DataError::row(&self.name, lines_before + line, bad));
        }
        if self.parsed.rows == 0 {
            return Err(DataError::empty(&self.name));
        }
        chunks.extend(self.parsed.chunks.drain(..self.parsed.len));
        Ok(())
    }

    /// Replaces what is in `chunks` by the good rows of a text. Returns the lines of the others, with what is wrong with them. Reading
    /// ends where there are more bad rows than [`Bounds::skip_bad`](crate::Bounds::skip_bad).
    pub fn parse_good(
        &mut self,
        text: &[u8],
        chunks: &mut Vec<Chunk>,
    ) -> Result<Vec<(u64, DataError)>, DataError> {
        let mut shell = std::mem::take(&mut self.parsed);
        shell.chunks.append(chunks);
        self.builder.begin(shell);
        let headed = self.parse_text(text);
        self.parsed = self.builder.end();
        let lines_before = headed?;
        let name = &self.name;
        let bad = self.parsed.bad.drain(..).map(|(_, line, bad)| {
            (lines_before + line, DataError::row(name, lines_before + line, bad))
        });
        let bad = bad.collect();
        chunks.extend(self.parsed.chunks.drain(..self.parsed.len));
        Ok(bad)
    }

    /// Parses a text, and gives the number of lines before its first row.
    fn parse_text(&mut self, text: &[u8]) -> Result<u64, DataError> {
        let builder = &mut self.builder;
        match self.format {
            Format::Svmlight => svmlight::parse(builder, text),
            Format::Vw => vw::parse(builder, text),
            Format::Jsonl => jsonl::parse(builder, text, self.columns.as_ref()),
            _ => {
                let separator = builder.spec.options.reading.separator;
                let prelude = Prelude::of(text, true, self.format, separator);
                let (text, before) = (&text[prelude.bytes..], prelude.lines);
                let dialect = match self.format {
                    Format::Tsv => Dialect::TSV,
                    _ => delimited::sniff(text, true, separator.or(prelude.separator)),
                };
                let head = Head::new(text, before, true, true, dialect, &builder.spec.options)
                    .map_err(|words| DataError::columns(&self.name, words))?;
                let options = &builder.spec.options;
                let is_found = head.table.is_some()
                    || options.reading.label_column.is_some()
                    || head.columns.label().is_none_or(is_label_name);
                if options.ask.needs_label && !is_found {
                    let columns = head.columns.names();
                    let message = Message::new("has no column that is surely the label")
                        .or(Remedy::NameLabel { columns });
                    return Err(DataError::columns(&self.name, message));
                }
                let rows = &text[head.bytes..];
                let dialect = Dialect { tails: head.columns.tails, ..dialect };
                delimited::parse(builder, rows, &head.columns, dialect);
                return Ok(head.lines);
            }
        }
        Ok(0)
    }

    /// The names that the last text was the first to have, with their slots, in order.
    pub fn new_names(&self) -> impl Iterator<Item = (u32, &[u8])> {
        self.parsed.news.iter()
    }

    /// Forgets all names, so that they are new again: what the last text taught is not kept elsewhere.
    pub fn forget_names(&mut self) {
        self.builder.forget_names();
    }

    /// How many cells of the last text were taken for missing because they contradict the kind of their column.
    pub fn unfit_cells(&self) -> u64 {
        self.parsed.unfit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::rows;
    use crate::{Ask, Bounds, Reading};
    use crate::{ColumnKind, Header, Kind, Labels, Points, TableSchema};

    fn parsed(format: Format, options: &Options, text: &str) -> Result<Vec<Chunk>, String> {
        let mut parser = RowParser::new("x", format, options).unwrap();
        let mut chunks = Vec::new();
        // A text before leaves nothing behind.
        let _ = parser.parse(b"1 2:3 4:5\n{", &mut chunks);
        parser.parse(text.as_bytes(), &mut chunks).map_err(|e| e.to_string())?;
        Ok(chunks)
    }

    #[test]
    fn rows_are_those_of_a_file() {
        let texts = [
            (Format::Svmlight, "1 1:0.5 3:2\n\n-1 2:1\n1 7:1"),
            (Format::Vw, "1 2.5 'a|u x y:2\n-1 |v z\n|u x"),
            (
                Format::Jsonl,
                "{\"label\":1,\"a\":2,\"b\":\"c\"}\r\n{\"label\":-1,\"n\":{\"d\":1}}\n",
            ),
            (Format::Csv, "y,a,b\n1,2,x\n0,\"3\",\"y\nz\"\n"),
            (Format::Tsv, "y\ta\n1\t2\n0\tq\n"),
        ];
        for (format, text) in texts {
            let options = Options {
                reading: Reading { format: Some(format), ..Reading::default() },
                bounds: Bounds { chunk_rows: 2, ..Bounds::default() },
                ..Options::default()
            };
            let file = rows(text.as_bytes(), &options).unwrap();
            let chunks = parsed(format, &options, text).unwrap();
            assert!(chunks.iter().all(|chunk| (1..=2).contains(&chunk.len())));
            let all = || chunks.iter().flat_map(|c| (0..c.len()).map(move |i| (c, i)));
            assert_eq!(all().map(|(c, i)| c.label(i)).collect::<Vec<_>>(), file.labels);
            let features = all().map(|(c, i)| c.row(i).iter().collect::<Vec<_>>());
            assert_eq!(features.collect::<Vec<_>>(), file.rows);
            let names: Vec<_> = {
                let mut parser = RowParser::new("x", format, &options).unwrap();
                parser.parse(text.as_bytes(), &mut Vec::new()).unwrap();
                parser.new_names().map(|(slot, name)| (slot, name.to_vec())).collect()
            };
            assert_eq!(names.len(), file.names.len());
        }
    }

    #[test]
    fn errors_are_those_of_a_file_and_leave_no_rows() {
        let texts = [
            (Format::Svmlight, "1 1:1\n1 1:x\n", "x:2:5: \"x\" is not a number"),
            (Format::Csv, "y,a\n1,2\n5,1\n", "x:3:1: label \"5\" is neither \"-1\" nor \"1\""),
            (Format::Vw, "\n\n", "x: is empty: no rows"),
            (
                Format::Csv,
                "y,y\n1,2\n",
                "x: columns 1 and 2 are both called \"y\"; rename one of the two",
            ),
        ];
        for (format, text, expected) in texts {
            assert_eq!(parsed(format, &Options::default(), text).unwrap_err(), expected);
        }
        assert!(RowParser::new("x", Format::Parquet, &Options::default()).is_err());
    }

    #[test]
    fn good_rows_are_parsed_beside_bad_ones() {
        let mut options = Options::default();
        options.bounds.skip_bad = u64::MAX;
        let mut parser = RowParser::new("x", Format::Vw, &options).unwrap();
        let mut chunks = Vec::new();
        let text = b"1 |a b\n7 |a b\n\n-1 |a c\n1 |a b:x\n";
        let bad = parser.parse_good(text, &mut chunks).unwrap();
        assert_eq!(bad.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 5]);
        let labels: Vec<_> = (0..2).map(|i| chunks[0].label(i)).collect();
        assert_eq!((chunks[0].len(), labels), (2, vec![Some(1.0), Some(-1.0)]));
        assert!(parser.parse_good(b"7 |a b\n", &mut chunks).unwrap().len() == 1);
        assert!(chunks.iter().all(Chunk::is_empty));
    }

    #[test]
    fn an_id_is_the_tag_and_no_feature() {
        let options = Options::from(Ask { id: Some("id".into()), ..Ask::default() });
        let text = "{\"label\":1,\"id\":\"r7\",\"a\":1}\n{\"label\":1,\"id\":12,\"a\":1}\n{\"label\":1,\"a\":1}";
        let chunks = parsed(Format::Jsonl, &options, text).unwrap();
        assert_eq!([0, 1, 2].map(|i| chunks[0].tag(i)), [&b"r7"[..], b"12", b""]);
        assert!((0..3).all(|i| chunks[0].row(i).len() == 1));
        let error = parsed(Format::Jsonl, &options, "{\"id\":[1]}").unwrap_err();
        assert_eq!(
            error,
            "x:1: \"id\" is \"[1]\" instead of a text that is not empty, or a whole number"
        );
    }

    #[test]
    fn json_fields_are_read_by_the_kinds_of_columns_as_cells_are() {
        let column = |name: &str, kind| ColumnKind {
            name: name.into(),
            kind,
            form: None,
            missing: Vec::new(),
            knots: Points::default(),
            cuts: Points::default(),
        };
        let columns = vec![
            column("y", Kind::Category),
            column("age", Kind::Number),
            column("hour", Kind::Category),
            column("note", Kind::Text),
            column("code", Kind::Ignored),
        ];
        let schema = TableSchema { columns, label: Some("y".into()), ..TableSchema::default() };
        let options = Options::from(Reading {
            kinds: Kinds::Known(Arc::new(schema)),
            numbers_apart: true,
            header: Header::Present,
            ..Reading::default()
        });
        let csv = "y,age,hour,note,code\n1,31.5,14,Big red,q\n-1,,3,,z\n";
        let json = concat!(
            r#"{"y":1,"age":31.5,"hour":14,"note":"Big red","code":"q"}"#,
            "\n",
            r#"{"y":-1,"age":null,"hour":"3","features":{"hour":3}}"#,
        );
        let (table, fields) = (
            parsed(Format::Csv, &options, csv).unwrap(),
            parsed(Format::Jsonl, &options, json).unwrap(),
        );
        for i in 0..2 {
            assert_eq!(table[0].label(i), fields[0].label(i));
            assert_eq!(table[0].row(i), fields[0].row(i));
            let bits = |c: &Chunk| c.numbers(i).iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&table[0]), bits(&fields[0]));
        }
        let refused = parsed(Format::Jsonl, &options, r#"{"y":1,"age":"old"}"#).unwrap_err();
        assert!(refused.contains("column \"age\": \"old\" is not a number"), "{refused}");
        let lenient = Options {
            reading: Reading {
                labels: Labels::Optional(Box::new(Labels::binary())),
                ..options.reading
            },
            ask: Ask { unfit_is_missing: true, ..options.ask },
            ..options
        };
        let rows = parsed(Format::Jsonl, &lenient, r#"{"age":"old","hour":14}"#).unwrap();
        assert_eq!((rows[0].label(0), rows[0].row(0).len()), (None, 1));
    }
}
