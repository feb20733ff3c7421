//! Inputs opened one after the other, and cut into pieces that can be parsed on their own.

use std::collections::VecDeque;
use std::io::{Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parsimon_files::InputFile;
use parsimon_files::memory::{self, amount};

use crate::Labels;
use crate::cache::{BlockHead, Blocks, Contents, Seekable};
use crate::columnar::{Batch, Batches, Layout};
use crate::columns::Columns;
use crate::delimited::{self, Dialect, Head, Prelude};
use crate::error::{DataError, shown};
use crate::jsonl::FoundColumns;
use crate::line_blocks::{BlockError, Ends, LineBlocks, record_end};
use crate::listing::listed;
use crate::opened::{Opened, open, refuse_column_flags, refuse_interactions};
use crate::remarks::Remarks;
use crate::remedy::{Message, Remedy, Setting};
use crate::stored::Stored;
use crate::unmet::Unmet;
use crate::{Ask, Format, Input, Kinds, Options, Reading, Space, TableSchema, guesses, jsonl};

/// A part of the input that can be parsed without the parts before it.
pub(crate) struct Piece {
    pub(crate) name: Arc<str>,
    pub(crate) body: Body,
    /// The first piece of its input.
    pub(crate) is_first: bool,
    /// The last piece of its input.
    pub(crate) is_last: bool,
    /// Lines of the input before its first piece: a header's.
    pub(crate) lines_before: u64,
    /// The columns, in formats that have them.
    pub(crate) columns: Option<Arc<Columns>>,
    /// The description in the header of a cache, with its first piece.
    pub(crate) contents: Option<Arc<Contents>>,
    /// Bytes read of all inputs when this piece was cut.
    pub(crate) bytes: u64,
}

/// Contents of a piece.
pub(crate) enum Body {
    /// Whole lines: `buffer[..len]`.
    Text { buffer: Vec<u8>, len: usize },
    /// A block of a cache: its payload is `buffer[..head.len]`.
    Block { buffer: Vec<u8>, head: BlockHead, contents: Arc<Contents> },
    /// A batch of a table.
    Batch { batch: Batch, layout: Arc<Layout> },
    /// Nothing: the end of an input.
    End,
    /// The input broke here.
    Failed(DataError),
}

/// All inputs, one after the other.
pub(crate) struct Source {
    waiting: VecDeque<Input>,
    options: Options,
    first_name: Arc<str>,
    first_columns: Option<Arc<Columns>>,
    /// Whether the first input has JSON rows with few of many fields each.
    has_bags: bool,
    /// The columns of the first input: their names, whether one is the label, and those whose cells travel with the row.
    names: Option<Vec<String>>,
    has_label: bool,
    carried: Vec<String>,
    table: Option<Arc<TableSchema>>,
    format: Format,
    space: Space,
    current: Option<Current>,
    count: Arc<AtomicU64>,
    remarks: Arc<Remarks>,
    is_done: bool,
}

struct Current {
    name: Arc<str>,
    pieces: Pieces,
    is_first: bool,
    lines_before: u64,
    columns: Option<Arc<Columns>>,
    table: Option<Arc<TableSchema>>,
    /// Names to look for in all rows.
    unmet: Option<Arc<Unmet>>,
    /// Whether these are JSON rows with few of many fields each.
    has_bags: bool,
}

enum Pieces {
    Text(Box<LineBlocks>),
    /// With the bytes read before this input.
    Cache(Blocks, Arc<Contents>, u64),
    /// With the bytes read before this input, and its own.
    Table(Box<Batches>, u64, u64),
}

impl Source {
    /// Opens the first input; the others are opened when their turn comes.
    pub(crate) fn open(inputs: &[Input], options: &Options) -> Result<Self, DataError> {
        let count = Arc::new(AtomicU64::new(0));
        let Some((first, others)) = inputs.split_first() else {
            return Err(DataError::setting("no input was given"));
        };
        let remarks = Arc::new(Remarks::default());
        let opened = open(first, options, &count, &remarks)?;
        let (first_name, format) = (opened.name.clone(), opened.format);
        let current = Current::new(opened, first, options, &count, 0, others.is_empty())?;
        current.remark(&remarks);
        let space = options.reading.space.unwrap_or_else(|| current.default_space(format));
        current.check_space(space)?;
        let (names, has_label, carried) = current.named(options);
        Ok(Self {
            waiting: others.iter().cloned().collect(),
            // The first input decides the kinds of all, and what a pattern of columns stands for.
            options: Options {
                reading: Reading {
                    kinds: match &current.table {
                        Some(table) => Kinds::Known(table.clone()),
                        None => options.reading.kinds.clone(),
                    },
                    ..options.reading.clone()
                },
                ask: Ask { carried: carried.clone(), ..options.ask.clone() },
                ..options.clone()
            },
            first_name,
            first_columns: current.columns.clone(),
            has_bags: current.has_bags,
            names,
            has_label,
            carried,
            table: current.table.clone(),
            format,
            space,
            current: Some(current),
            count,
            remarks,
            is_done: false,
        })
    }

    /// Batches in memory, or from another program.
    #[cfg(feature = "columnar")]
    pub(crate) fn over(batches: Batches, name: Arc<str>, options: &Options) -> Self {
        let space = options.reading.space.unwrap_or_else(|| batches.layout.default_space());
        let table = batches.table.clone();
        let pieces = Pieces::Table(Box::new(batches), 0, 0);
        let first_name = name.clone();
        let columns = None;
        let current = Current {
            name,
            pieces,
            is_first: true,
            lines_before: 0,
            columns,
            table,
            unmet: None,
            has_bags: false,
        };
        let (names, has_label, carried) = current.named(options);
        Self {
            waiting: VecDeque::new(),
            options: options.clone(),
            first_name,
            first_columns: None,
            has_bags: false,
            names,
            has_label,
            carried,
            table: current.table.clone(),
            format: Format::Arrow,
            space,
            current: Some(current),
            count: Arc::new(AtomicU64::new(0)),
            remarks: Arc::default(),
            is_done: false,
        }
    }

    pub(crate) fn name(&self) -> &Arc<str> {
        &self.first_name
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    pub(crate) fn label_column(&self) -> Option<&str> {
        self.first_columns.as_deref().and_then(Columns::label)
    }

    pub(crate) fn has_label(&self) -> bool {
        self.has_label
    }

    /// Guesses about the first input; see [`Reader::guesses`](crate::Reader::guesses).
    pub(crate) fn guesses(&self) -> Vec<Message> {
        if self.has_bags {
            return vec![guesses::BAGS.into()];
        }
        let columns = self.first_columns.as_deref();
        columns.map_or_else(Vec::new, |columns| guesses::of(columns, self.format, &self.options))
    }

    pub(crate) fn column_names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    pub(crate) fn carried_columns(&self) -> &[String] {
        &self.carried
    }

    pub(crate) fn table(&self) -> Option<&Arc<TableSchema>> {
        self.table.as_ref()
    }

    pub(crate) fn space(&self) -> Space {
        self.space
    }

    pub(crate) fn remarks(&self) -> &Arc<Remarks> {
        &self.remarks
    }

    /// The next piece, in a buffer that may have been used before. After a failure there is none.
    pub(crate) fn next(&mut self, buffer: Vec<u8>) -> Option<Piece> {
        if self.is_done {
            return None;
        }
        if self.current.is_none() {
            let input = self.waiting.pop_front()?;
            match self.open_next(&input) {
                Ok(current) => self.current = Some(current),
                Err(e) => return Some(self.failed(e)),
            }
        }
        let current = self.current.as_mut()?;
        match current.next_body(buffer, &self.count) {
            Ok(body) => {
                let is_last = matches!(body, Body::End);
                let piece = Piece {
                    name: current.name.clone(),
                    body,
                    is_first: current.is_first,
                    is_last,
                    lines_before: current.lines_before,
                    columns: current.columns.clone(),
                    contents: current.contents().filter(|_| current.is_first),
                    bytes: self.count.load(Ordering::Relaxed),
                };
                current.is_first = false;
                if is_last {
                    self.current = None;
                }
                Some(piece)
            }
            Err(e) => Some(self.failed(e)),
        }
    }

    fn open_next(&mut self, input: &Input) -> Result<Current, DataError> {
        let before = self.count.load(Ordering::Relaxed);
        let opened = open(input, &self.options, &self.count, &self.remarks)?;
        if opened.format != self.format {
            let (this, first, name) = (opened.format, self.format, &self.first_name);
            return Err(DataError::format(
                &opened.name,
                format!("is {this}, but {name} is {first}: all inputs must be of one format"),
            ));
        }
        let current = Current::new(opened, input, &self.options, &self.count, before, false)?;
        current.remark(&self.remarks);
        current.check_space(self.space)?;
        // Ids are positions of columns; names, when hashed, find their slot wherever they stand.
        let is_same = match (&current.columns, &self.first_columns) {
            (Some(this), Some(first)) => this.columns == first.columns,
            (this, first) => this.is_none() && first.is_none(),
        };
        if self.space == Space::Ids && !is_same {
            let words = format!("has other columns than {}", self.first_name);
            return Err(DataError::columns(&current.name, words));
        }
        Ok(current)
    }

    fn failed(&mut self, error: DataError) -> Piece {
        self.is_done = true;
        Piece {
            name: Arc::from(error.name()),
            body: Body::Failed(error),
            is_first: false,
            is_last: false,
            lines_before: 0,
            columns: None,
            contents: None,
            bytes: self.count.load(Ordering::Relaxed),
        }
    }
}

/// Bytes of a column: its name in several lists, its kind, and the findings in its first cells.
const COLUMN: u64 = 2048;

/// Refuses a table with more columns than there is memory for.
fn check_columns(opened: &Opened, dialect: Dialect) -> Result<(), DataError> {
    let head = &opened.head;
    let record = &head[..record_end(head, dialect.ends()).unwrap_or(head.len())];
    // Of a CSV file it is not known yet which sign separates its cells.
    let count = |sign: u8| memchr::memchr_iter(sign, record).count();
    let signs = [dialect.delimiter, b',', b';', b'\t', b'|'];
    let columns = signs.map(count).into_iter().max().unwrap_or(0) as u64 + 1;
    memory::check(columns.saturating_mul(COLUMN)).map_err(|shortage| {
        let what = format!("a table of {columns} columns");
        let advice = Remedy::Advice("use svmlight or JSON lines".into());
        let words = Message::shortage(&shortage, &what, &[advice]);
        DataError::memory(&opened.name, words)
    })
}

/// A table of JSON rows.
struct Json {
    columns: Columns,
    table: Arc<TableSchema>,
    unmet: Option<Arc<Unmet>>,
}

impl Json {
    /// The table of an input whose rows are those of one.
    fn of(
        opened: &mut Opened,
        options: &Options,
        is_only: bool,
    ) -> Result<Option<Self>, DataError> {
        let name = opened.name.clone();
        let refuse = |words: Message| DataError::columns(&name, words);
        let table = match &options.reading.kinds {
            Kinds::ByCell => return Ok(None),
            Kinds::Known(table) => table.clone(),
            Kinds::Found => {
                let (seen, is_whole) = opened.read_judged()?;
                let head = &opened.head[..seen];
                match jsonl::found(head, is_whole && is_only, options).map_err(refuse)? {
                    FoundColumns::Table(table) => Arc::new(table),
                    FoundColumns::Fields | FoundColumns::Bags => return Ok(None),
                }
            }
        };
        let unmet = late_fields(&table, options);
        let columns = jsonl::columns_of(&table, options, &options.ask.carried);
        Ok(Some(Self { columns: columns.map_err(refuse)?, table, unmet }))
    }
}

/// The fields to be ignored that the first rows do not have.
fn late_fields(table: &TableSchema, options: &Options) -> Option<Arc<Unmet>> {
    if matches!(options.reading.labels, Labels::Optional(_)) {
        return None;
    }
    let late = options.reading.ignore.iter().filter(|name| table.select(name).is_err());
    let late = late.map(|name| {
        let words = format!("field {}", shown(name.as_bytes()));
        (words, serde_json::Value::from(name.as_str()).to_string())
    });
    let late: Vec<_> = late.collect();
    (!late.is_empty()).then(|| Arc::new(Unmet::new(late)))
}

/// The name of an input of text, and its pieces.
fn text_pieces(opened: Opened, ends: Ends) -> (Arc<str>, Pieces) {
    let mut cutter = LineBlocks::new(opened.head, opened.rest, ends);
    if opened.is_pipe {
        cutter = cutter.eager();
    }
    (opened.name, Pieces::Text(Box::new(cutter)))
}

/// The fields of JSON rows that options name and that the first rows do not have. Refuses a name that is mistyped or in no row.
fn absent_fields(opened: &mut Opened, options: &Options) -> Result<Option<Arc<Unmet>>, DataError> {
    if !jsonl::names_fields(options) {
        return Ok(None);
    }
    let (seen, is_whole) = opened.read_judged()?;
    let absent = jsonl::absent_fields(&opened.head[..seen], options);
    // Later rows may have a name that none is like.
    if let Some(absent) = absent.iter().find(|a| is_whole || !a.near.is_empty()) {
        let rows = if is_whole { "" } else { " in its first rows" };
        let words = format!("has no {}{}{rows}{}", absent.name, absent.near, absent.role);
        return Err(DataError::columns(&opened.name, words));
    }
    let names: Vec<_> = absent.into_iter().map(|a| (a.name + a.role, a.text)).collect();
    Ok((!names.is_empty()).then(|| Arc::new(Unmet::new(names))))
}

/// Refuses JSON rows without labels where labels are needed.
fn refuse_unlabeled(opened: &mut Opened, options: &Options) -> Result<(), DataError> {
    if !options.ask.needs_label || options.reading.label_column.is_some() {
        return Ok(());
    }
    let (seen, _) = opened.read_judged()?;
    match jsonl::without_label(&opened.head[..seen], options) {
        None => Ok(()),
        Some(fields) => {
            let message = Message::new("no row has a label").or(Remedy::NameLabelField { fields });
            Err(DataError::columns(&opened.name, message))
        }
    }
}

impl Current {
    fn new(
        mut opened: Opened,
        input: &Input,
        options: &Options,
        count: &Arc<AtomicU64>,
        before: u64,
        is_only: bool,
    ) -> Result<Self, DataError> {
        refuse_interactions(&opened, options)?;
        if !opened.format.is_text() {
            refuse_column_flags(&opened, options, false)?;
            return Self::binary(opened, input, options, count, before);
        }
        let mut unmet = None;
        let mut json = None;
        if opened.format == Format::Jsonl && options.reading.space != Some(Space::Ids) {
            json = Json::of(&mut opened, options, is_only)?;
        }
        let is_read_by_field = opened.format == Format::Jsonl && json.is_none();
        let has_bags =
            is_read_by_field && !opened.is_pipe && jsonl::are_bags(&opened.head, options);
        refuse_column_flags(&opened, options, json.is_some())?;
        if let Some(json) = json {
            return Ok(Self::of_json(opened, json, has_bags));
        }
        if opened.format == Format::Jsonl {
            unmet = absent_fields(&mut opened, options)?;
            refuse_unlabeled(&mut opened, options)?;
        }
        let dialect = match opened.format {
            Format::Csv => Some(Dialect::CSV),
            Format::Tsv => Some(Dialect::TSV),
            _ => None,
        };
        let (mut columns, mut lines_before, mut table) = (None, 0, None);
        let mut dialect = dialect;
        if let (Some(_), true) = (options.reading.separator, opened.format != Format::Csv) {
            let fact =
                format!("{} is {}, and only CSV has a separator", opened.name, opened.format);
            let leave_out = Remedy::LeaveOut(Setting::Separator);
            return Err(DataError::setting(Message::new(fact).or(leave_out)));
        }
        if let Some(dialect) = &mut dialect {
            opened.read_prelude()?;
            opened.read_first_record(dialect.ends())?;
            let (seen, is_whole) = match options.reading.kinds {
                Kinds::Found => opened.read_judged()?,
                // Predictions for the rows of a pipe should not wait for more rows.
                Kinds::Known(_) if !opened.is_pipe => opened.read_judged()?,
                _ => (opened.head.len(), false),
            };
            let separator = options.reading.separator;
            let prelude = Prelude::of(&opened.head[..seen], is_whole, opened.format, separator);
            opened.head.drain(..prelude.bytes);
            let seen = seen - prelude.bytes;
            let separator = separator.or(prelude.separator);
            check_columns(&opened, *dialect)?;
            if opened.format == Format::Csv {
                *dialect = delimited::sniff(&opened.head[..seen], is_whole, separator);
                dialect.is_careless &= options.reading.kinds != Kinds::ByCell;
                opened.read_first_record(dialect.ends())?;
            }
            let seen = if options.reading.kinds == Kinds::Found { seen } else { opened.head.len() };
            let before = prelude.lines;
            let head =
                Head::new(&opened.head[..seen], before, is_whole, is_only, *dialect, options)
                    .map_err(|words| DataError::columns(&opened.name, words))?;
            opened.head.drain(..head.bytes);
            columns = Some(Arc::new(head.columns));
            if let (Some(strays), Some(columns)) = (&opened.strays, &columns) {
                let _ = strays.columns.set((dialect.delimiter, columns.names()));
            }
            (lines_before, table) = (head.lines, head.table);
        }
        let ends = dialect.map_or(Ends::Newline, Dialect::ends);
        let (name, pieces) = text_pieces(opened, ends);
        Ok(Self { name, pieces, is_first: true, lines_before, columns, table, unmet, has_bags })
    }

    /// A table of JSON.
    fn of_json(opened: Opened, json: Json, has_bags: bool) -> Self {
        let (name, pieces) = text_pieces(opened, Ends::Newline);
        Self {
            name,
            pieces,
            is_first: true,
            lines_before: 0,
            columns: Some(Arc::new(json.columns)),
            table: Some(json.table),
            unmet: json.unmet,
            has_bags,
        }
    }

    /// Notes the columns that are not read, and those that are not there.
    fn remark(&self, remarks: &Remarks) {
        if let Some(unmet) = &self.unmet {
            remarks.watch_unmet(&self.name, unmet);
        }
        let Some(columns) = &self.columns else { return };
        let counted = |names: &[String], are: [&str; 2]| match names {
            [_] => format!("1 column {}", are[0]),
            _ => format!("{} columns {}", names.len(), are[1]),
        };
        if !columns.unknown.is_empty() {
            let are = [
                "is not in the schema and was not read",
                "are not in the schema and were not read",
            ];
            let words = counted(&columns.unknown, are);
            remarks.add(&self.name, &format!("{words}: {}", listed(columns.unknown.iter(), 8)));
        }
        if !columns.absent.is_empty() {
            let are = ["of the schema is absent", "of the schema are absent"];
            let words = counted(&columns.absent, are);
            let listed = listed(columns.absent.iter(), 8);
            remarks
                .add(&self.name, &format!("{words} and treated as missing in every row: {listed}"));
        }
    }

    /// Formats that are read from anywhere: a plain file is, everything else comes into memory first.
    fn binary(
        opened: Opened,
        input: &Input,
        options: &Options,
        count: &Arc<AtomicU64>,
        before: u64,
    ) -> Result<Self, DataError> {
        let Opened { name, mut head, mut rest, is_compressed, format, .. } = opened;
        let cannot = |e| DataError::io(&name, "cannot read", e);
        let stored = match input {
            Input::Path(path) if !is_compressed && path.is_file() => {
                Stored::File(InputFile::open(path).map_err(cannot)?)
            }
            _ => {
                let most = memory::left() / 2;
                rest.by_ref().take(most).read_to_end(&mut head).map_err(cannot)?;
                if head.len() as u64 >= most {
                    let fact = format!(
                        "holds more than {} when decompressed, and {format} is read from memory unless it is a plain file",
                        amount(most)
                    );
                    let message = Message::new(fact)
                        .or(Remedy::Advice("store it as a plain file".into()))
                        .or(Remedy::RaiseMemory(None));
                    return Err(DataError::memory(&name, message));
                }
                Stored::Memory(head.into())
            }
        };
        let size = match &stored {
            Stored::File(file) => file.metadata().map_err(cannot)?.len(),
            Stored::Memory(_) => count.load(Ordering::Relaxed) - before,
        };
        let pieces = if format == Format::Cache {
            let file: Box<dyn Seekable> = match stored {
                Stored::File(file) => Box::new(file),
                Stored::Memory(bytes) => Box::new(Cursor::new(bytes)),
            };
            let (blocks, contents) = Blocks::open(&name, file)?;
            if let Kinds::Known(known) = &options.reading.kinds
                && contents.table.as_ref() != Some(known)
            {
                let words = match contents.table {
                    Some(_) => "was recorded with other kinds of columns",
                    None => "was recorded without the kinds of columns",
                };
                let words = format!(
                    "{words} than are wanted here; pass the table itself, or convert it again"
                );
                return Err(DataError::file(&name, words));
            }
            Pieces::Cache(blocks, Arc::new(contents), before)
        } else {
            Pieces::Table(Box::new(Batches::open(&name, format, stored, options)?), before, size)
        };
        let table = match &pieces {
            Pieces::Table(batches, ..) => batches.table.clone(),
            Pieces::Cache(_, contents, _) => contents.table.clone(),
            Pieces::Text(_) => None,
        };
        let (columns, unmet) = (None, None);
        Ok(Self {
            name,
            pieces,
            is_first: true,
            lines_before: 0,
            columns,
            table,
            unmet,
            has_bags: false,
        })
    }

    /// The names of all columns, whether one is the label, and those whose cells travel with the row.
    fn named(&self, options: &Options) -> (Option<Vec<String>>, bool, Vec<String>) {
        let columns = match &self.pieces {
            Pieces::Table(batches, ..) => Some(batches.layout.columns()),
            _ => self.columns.as_deref(),
        };
        match columns {
            Some(columns) => (Some(columns.names()), columns.has_label, columns.carried()),
            None => (None, true, options.ask.carried.clone()),
        }
    }

    fn contents(&self) -> Option<Arc<Contents>> {
        match &self.pieces {
            Pieces::Cache(_, contents, _) => Some(contents.clone()),
            _ => None,
        }
    }

    fn default_space(&self, format: Format) -> Space {
        match &self.pieces {
            Pieces::Cache(_, contents, _) => contents.space,
            Pieces::Table(batches, ..) => batches.layout.default_space(),
            Pieces::Text(_) => format.default_space(),
        }
    }

    /// The slots of a cache cannot be changed any more.
    fn check_space(&self, space: Space) -> Result<(), DataError> {
        match &self.pieces {
            Pieces::Cache(_, contents, _) if contents.space != space => {
                let recorded = contents.space;
                let words = format!("was recorded with features {recorded}, not {space}");
                Err(DataError::file(&self.name, words))
            }
            _ => Ok(()),
        }
    }

    fn next_body(&mut self, mut buffer: Vec<u8>, count: &AtomicU64) -> Result<Body, DataError> {
        match &mut self.pieces {
            Pieces::Text(cutter) => match cutter.next(&mut buffer) {
                Ok(Some(len)) => {
                    if let Some(unmet) = &self.unmet {
                        unmet.look(&buffer[..len]);
                    }
                    Ok(Body::Text { buffer, len })
                }
                Ok(None) => Ok(Body::End),
                Err(BlockError::Io(e)) => Err(DataError::io(&self.name, "cannot read", e)),
                Err(BlockError::TooLong { limit }) => {
                    let name = &self.name;
                    Err(DataError::too_long(name, format!("a line is longer than {limit} bytes")))
                }
                Err(BlockError::Memory { line, shortage }) => {
                    let what = format!("a line of more than {line} bytes");
                    let advice = Remedy::Advice("check that lines end where rows do".into());
                    let words = Message::shortage(&shortage, &what, &[advice]);
                    Err(DataError::memory(&self.name, words))
                }
            },
            Pieces::Cache(blocks, contents, before) => {
                let next = blocks.next(&mut buffer)?;
                count.store(*before + blocks.position(), Ordering::Relaxed);
                Ok(match next {
                    Some(head) => Body::Block { buffer, head, contents: contents.clone() },
                    None => Body::End,
                })
            }
            Pieces::Table(batches, before, size) => {
                let next = batches.next()?;
                let part = if next.is_none() { 1.0 } else { batches.fraction() };
                count.store(*before + (part * *size as f64) as u64, Ordering::Relaxed);
                Ok(match next {
                    Some(batch) => Body::Batch { batch, layout: batches.layout.clone() },
                    None => Body::End,
                })
            }
        }
    }
}
