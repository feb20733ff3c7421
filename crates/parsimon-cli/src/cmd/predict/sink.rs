//! Outputs of predictions: lines of text, or a table.

use std::io::Write;

use parsimon::Model;
use parsimon::data::{Format, Names, Reader};
use parsimon::predict::{Contribution, Scorer};
use parsimon::rows::Chunk;
use parsimon::workspace::{Carried, Cell, ColumnType, TableFormat, TableWriter};

use super::shown::{Shown, Value};
use crate::args::PredictArgs;
use crate::fault::Fault;
use crate::output::Output;

/// Values known of a row.
pub(super) struct Predicted<'a> {
    pub(super) model: &'a Model,
    pub(super) chunk: &'a Chunk,
    pub(super) i: usize,
    pub(super) margins: &'a [f64],
    pub(super) parts: &'a [Contribution],
    /// Further terms of the margin.
    pub(super) rest: &'a [(&'static str, f64)],
}

/// Names of our columns: a column of the input with one of them gets a prefix.
const OURS: [&str; 4] = ["label", "prediction", "raw", "explanation"];

/// Identifier of a row.
enum Identifier {
    Nothing,
    Tag,
    Column(String),
}

/// Columns beside the predictions.
pub(super) struct OutputColumns {
    id: Identifier,
    has_label: bool,
    /// Columns of the input.
    kept: Vec<String>,
    is_explaining: bool,
}

impl OutputColumns {
    pub(super) fn new(args: &PredictArgs, reader: &Reader) -> Self {
        let carried = reader.carried_columns();
        let has_tags = matches!(reader.format(), Format::Vw | Format::Jsonl | Format::Cache);
        let (id, kept) = match (&args.id, carried) {
            (Some(_), [id, kept @ ..]) => (Identifier::Column(id.clone()), kept),
            _ if has_tags => (Identifier::Tag, carried),
            _ => (Identifier::Nothing, carried),
        };
        Self {
            id,
            has_label: reader.has_label(),
            kept: kept.to_vec(),
            is_explaining: args.explain.is_some(),
        }
    }

    fn has_id_column(&self) -> bool {
        matches!(self.id, Identifier::Column(_))
    }

    /// The identifier of a row, or its tag.
    fn id_of<'a>(&self, chunk: &'a Chunk, i: usize) -> &'a [u8] {
        match self.has_id_column() || !self.kept.is_empty() {
            true => {
                let place = usize::from(self.has_id_column());
                Carried::new(chunk.tag(i)).nth(place).flatten().unwrap_or_default()
            }
            false => chunk.tag(i),
        }
    }
}

/// Takes predictions.
pub(super) enum Sink {
    Lines(Output),
    Table(Box<Table>),
}

/// A table being written.
pub(super) struct Table {
    writer: TableWriter<Output>,
    columns: usize,
    /// Buffers of a row.
    parts: Vec<(String, f64, f64)>,
}

impl Sink {
    pub(super) fn lines(out: Output) -> Self {
        Self::Lines(out)
    }

    pub(super) fn table(
        out: Output,
        format: TableFormat,
        is_zipped: bool,
        model: &Model,
        shown: &Shown,
        place: &OutputColumns,
    ) -> Result<Self, Fault> {
        let is_class = model.is_binary() || model.is_multiclass();
        let kind = |is_text: bool| if is_text { ColumnType::Text } else { ColumnType::Number };
        let mut columns: Vec<(String, ColumnType)> = Vec::new();
        let mut add = |name: &str, kind: ColumnType| columns.push((name.to_owned(), kind));
        match &place.id {
            Identifier::Nothing => {}
            Identifier::Tag => add("tag", ColumnType::Text),
            Identifier::Column(id) if OURS.contains(&id.as_str()) => {
                add(&format!("input_{id}"), ColumnType::Text);
            }
            Identifier::Column(id) => add(id, ColumnType::Text),
        }
        if place.has_label {
            add("label", kind(is_class));
        }
        add("prediction", kind(shown.is_class()));
        if shown.is_calibrated {
            add("raw", ColumnType::Number);
        }
        if shown.is_multiclass() {
            for class in &shown.classes {
                add(&format!("{}_{class}", shown.per_class()), ColumnType::Number);
            }
        }
        if place.is_explaining {
            add("explanation", ColumnType::Contributions);
        }
        for name in &place.kept {
            // A column of the input may have the name of one of ours.
            let mut name = name.clone();
            while columns.iter().any(|(other, _)| *other == name) {
                name.insert_str(0, "input_");
            }
            columns.push((name, ColumnType::Text));
        }
        let count = columns.len();
        let writer = TableWriter::new(out, format, is_zipped, columns)?;
        Ok(Self::Table(Box::new(Table { writer, columns: count, parts: Vec::new() })))
    }

    /// Writes the row.
    pub(super) fn push(
        &mut self,
        row: &Predicted<'_>,
        shown: &Shown,
        place: &OutputColumns,
        names: &Names,
    ) -> Result<(), Fault> {
        match self {
            Self::Lines(out) => Ok(line(out, row, shown, place, names)?),
            Self::Table(table) => Ok(table.push(row, shown, place, names)?),
        }
    }

    /// Writes the answer to a bad row.
    pub(super) fn skipped(&mut self) -> Result<(), Fault> {
        match self {
            Self::Lines(out) => Ok(out.write_all(b"\n")?),
            Self::Table(table) => Ok(table.writer.push(&vec![Cell::Missing; table.columns])?),
        }
    }

    /// Writes every contribution to the margin of a head, the largest first: name, value, weight, product.
    pub(super) fn audit(
        &mut self,
        scorer: &Scorer,
        row: &Predicted<'_>,
        head: usize,
        names: &Names,
    ) -> Result<(), Fault> {
        let Self::Lines(out) = self else { return Ok(()) };
        let mut chunk = Chunk::new();
        chunk.copy_row(row.chunk, row.i);
        let features = scorer.features(&chunk);
        let head = &row.model.heads()[head];
        let features = features.row(0);
        let mut parts: Vec<(u32, f64, f64)> = features
            .iter()
            .map(|(j, v)| (j, v, head.weight(j)))
            .filter(|(_, _, w)| *w != 0.0)
            .collect();
        parts.sort_by(|a, b| (b.1 * b.2).abs().total_cmp(&(a.1 * a.2).abs()).then(a.0.cmp(&b.0)));
        let base = row.chunk.base(row.i);
        if base != 0.0 {
            writeln!(out, "\t(base)\t1\t{base}\t{base}")?;
        }
        if head.bias() != 0.0 {
            writeln!(out, "\t(bias)\t1\t{}\t{}", head.bias(), head.bias())?;
        }
        for (j, v, w) in parts {
            let name = names.name(j).map_or_else(|| row.model.name(j), Into::into);
            writeln!(out, "\t{name}\t{v}\t{w}\t{}", v * w)?;
        }
        Ok(())
    }

    pub(super) fn flush(&mut self) -> Result<(), Fault> {
        match self {
            Self::Lines(out) => Ok(out.flush()?),
            Self::Table(table) => Ok(table.writer.flush()?),
        }
    }

    pub(super) fn finish(self) -> Result<(), Fault> {
        match self {
            Self::Lines(out) => out.finish(),
            Self::Table(table) => table.writer.finish()?.finish(),
        }
    }
}

/// The prediction, the identifier behind a blank, contributions behind tabs.
fn line(
    out: &mut Output,
    row: &Predicted<'_>,
    shown: &Shown,
    place: &OutputColumns,
    names: &Names,
) -> std::io::Result<()> {
    match shown.value(row.model, row.margins) {
        Value::Number(x) => write!(out, "{x}")?,
        Value::Class(class) => out.write_all(class.as_bytes())?,
        Value::Numbers(numbers) => {
            for (k, x) in numbers.iter().enumerate() {
                write!(out, "{}{x}", if k == 0 { "" } else { " " })?;
            }
        }
    }
    let id = place.id_of(row.chunk, row.i);
    if !id.is_empty() {
        out.write_all(b" ")?;
        // An identifier with a line end would be two lines.
        let plain = id.iter().map(|&b| if matches!(b, b'\n' | b'\r') { b' ' } else { b });
        out.write_all(&plain.collect::<Vec<u8>>())?;
    }
    for part in row.parts {
        let name = row.model.name_in(part.feature, names);
        match part.value == 1.0 {
            true => write!(out, "\t{name}:{:+}", part.contribution)?,
            false => write!(out, "\t{name}={}:{:+}", part.value, part.contribution)?,
        }
    }
    for (name, contribution) in row.rest {
        write!(out, "\t{name}:{contribution:+}")?;
    }
    out.write_all(b"\n")
}

impl Table {
    fn push(
        &mut self,
        row: &Predicted<'_>,
        shown: &Shown,
        place: &OutputColumns,
        names: &Names,
    ) -> std::io::Result<()> {
        let number = |x: f64| if x.is_nan() { Cell::Missing } else { Cell::Number(x) };
        let mut cells = Vec::with_capacity(self.columns);
        if !matches!(place.id, Identifier::Nothing) {
            let id = place.id_of(row.chunk, row.i);
            cells.push(if id.is_empty() { Cell::Missing } else { Cell::Text(id) });
        }
        if place.has_label {
            cells.push(match row.chunk.label(row.i) {
                None => Cell::Missing,
                Some(y) => match shown.class_of(y) {
                    Some(class) => Cell::Text(class.as_bytes()),
                    None => number(y),
                },
            });
        }
        let per_class = if shown.is_multiclass() { shown.of_classes(row.margins) } else { vec![] };
        match shown.value(row.model, row.margins) {
            Value::Number(x) => cells.push(number(x)),
            Value::Class(class) => cells.push(Cell::Text(class.as_bytes())),
            Value::Numbers(_) => {
                let class = &shown.classes[super::shown::best(row.margins)];
                cells.push(Cell::Text(class.as_bytes()));
            }
        }
        if shown.is_calibrated {
            cells.push(number(shown.raw(row.margins[0])));
        }
        cells.extend(per_class.iter().map(|x| number(*x)));
        if place.is_explaining {
            self.parts.clear();
            self.parts.extend(row.parts.iter().map(|part| {
                let name = row.model.name_in(part.feature, names).into_owned();
                (name, part.value, part.contribution)
            }));
            self.parts.extend(row.rest.iter().map(|(name, x)| ((*name).to_owned(), 1.0, *x)));
            cells.push(Cell::Contributions(&self.parts));
        }
        if !place.kept.is_empty() {
            let before = 1 + usize::from(place.has_id_column());
            let kept = Carried::new(row.chunk.tag(row.i)).skip(before);
            cells.extend(kept.map(|cell| cell.map_or(Cell::Missing, Cell::Text)));
        }
        self.writer.push(&cells)
    }
}
