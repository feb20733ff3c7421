//! Inputs to chunks.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use parsimon_core::Chunk;
use parsimon_files::memory::Claim;
use parsimon_files::threads;

use crate::builder::{Parsed, Spec};
use crate::engine::{Done, Engine};
use crate::error::DataError;
use crate::kinds::{Missing, NumberForm};
use crate::label::{LabelReader, LabelTexts, code};
use crate::listing::listed;
use crate::names::{NewNames, News, Unnamed};
use crate::opened::check_inputs;
use crate::remarks::Remarks;
use crate::remedy::{Message, Remedy};
use crate::selector::Selector;
use crate::source::Source;
use crate::{Ask, Format, Input, Kinds, Names, Options, Space, Stop, TableSchema};

/// Reads examples from inputs of one format, in order, chunk by chunk.
///
/// The rows, their order, the names and the errors do not depend on the number of threads; where one
/// chunk ends and the next begins may.
///
/// ```
/// use parsimon_core::Chunk;
/// use parsimon_data::{Input, Options, Reader};
///
/// let bytes = b"+1 1:0.5 7:1\n-1 2:1\n".to_vec();
/// let input = Input::Bytes { name: "tiny.svm".into(), bytes };
/// let mut reader = Reader::open(&[input], &Options::default()).unwrap();
/// let mut chunk = Chunk::new();
/// let mut rows = 0;
/// while reader.read(&mut chunk).unwrap() {
///     for i in 0..chunk.len() {
///         println!("{:?} {:?}", chunk.label(i), chunk.row(i));
///     }
///     rows += chunk.len();
/// }
/// assert_eq!((rows, reader.largest_index()), (2, 7));
/// ```
pub struct Reader {
    /// Of the first input.
    name: Arc<str>,
    /// The inputs that are files, for errors.
    files: Vec<PathBuf>,
    engine: Engine,
    format: Format,
    space: Space,
    label_column: Option<String>,
    column_names: Option<Vec<String>>,
    guesses: Vec<Message>,
    has_label: bool,
    carried: Vec<String>,
    table: Option<Arc<TableSchema>>,
    remarks: Arc<Remarks>,
    unfit: u64,
    /// Fields of JSON rows that are no columns of the table.
    unknown: BTreeSet<Box<str>>,
    total: Option<u64>,
    /// PERF: names are only collected while rows are read, and put in order when somebody asks.
    news: News,
    named: Unnamed,
    /// The memory of names, in the reader and in each parser.
    names_claim: Claim,
    parsers: usize,
    names: OnceLock<Names>,
    label_texts: LabelTexts,
    current: Option<Current>,
    rows: u64,
    bytes: u64,
    largest: u32,
    keep_names: bool,
    skip_bad: u64,
    skipped: Vec<DataError>,
    skipped_rows: u64,
    /// The places of skipped rows that were not fetched yet: how many good rows came before. `None` if they are not kept.
    gaps: Option<VecDeque<u64>>,
    /// Good rows of the pieces received.
    received: u64,
    /// The words of interactions that must select a namespace, and the namespaces met.
    wanted: Vec<String>,
    namespaces: Vec<String>,
    /// Of the input being read: rows met, good or bad, and lines passed.
    input_rows: u64,
    input_lines: u64,
    /// How many inputs were begun, and how many rows of the last were delivered.
    inputs_begun: usize,
    input_delivered: u64,
    stop: Option<Stop>,
    is_done: bool,
}

/// A parsed piece on its way out.
struct Current {
    parsed: Parsed,
    delivered: usize,
    /// Rows that may still be delivered before the failure.
    allowed: u64,
    failure: Option<DataError>,
}

/// Progress of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Rows delivered.
    pub rows: u64,
    /// Bytes read, as stored: compressed where the input is.
    pub bytes: u64,
    /// Bytes of all inputs, when that can be known.
    pub total: Option<u64>,
}

/// Number of errors of skipped rows that are kept.
const KEPT: usize = 10;

impl Reader {
    /// Opens the first input and checks that the others are there.
    pub fn open(inputs: &[Input], options: &Options) -> Result<Self, DataError> {
        Self::open_for(inputs, options, false)
    }

    /// Opens inputs for a scan of the labels: features are skipped where the format allows it.
    pub fn open_labels(inputs: &[Input], options: &Options) -> Result<Self, DataError> {
        Self::open_for(inputs, options, true)
    }

    fn open_for(inputs: &[Input], options: &Options, labels_only: bool) -> Result<Self, DataError> {
        options.check()?;
        let open = || {
            let total = check_inputs(inputs)?;
            let source = Source::open(inputs, options)?;
            Self::of(source, options, total, labels_only)
        };
        let files: Vec<_> = inputs.iter().filter_map(Input::path).map(Path::to_owned).collect();
        match open() {
            Ok(reader) => Ok(Self { files, ..reader }),
            Err(_) if is_stopped(options.run.stop.as_ref()) => Err(DataError::stopped()),
            Err(error) => Err(error.of(&files)),
        }
    }

    /// Reads record batches that are in memory, or that another program makes, as a file of them is read.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use parsimon_core::Chunk;
    /// use parsimon_data::arrow::array::{ArrayRef, Float64Array, RecordBatch};
    /// use parsimon_data::{Options, Reader};
    ///
    /// let column = |v: [f64; 2]| Arc::new(Float64Array::from(v.to_vec())) as ArrayRef;
    /// let batch = RecordBatch::try_from_iter([("age", column([30.0, 40.0])), ("y", column([1.0, 0.0]))]).unwrap();
    /// let (schema, batches) = (batch.schema(), vec![Ok(batch)]);
    /// let mut reader =
    ///     Reader::over_batches("people", &schema, Box::new(batches.into_iter()), &Options::default()).unwrap();
    /// let mut chunk = Chunk::new();
    /// assert!(reader.read(&mut chunk).unwrap());
    /// assert_eq!((chunk.len(), chunk.label(1)), (2, Some(-1.0)));
    /// ```
    #[cfg(feature = "columnar")]
    pub fn over_batches(
        name: &str,
        schema: &crate::arrow::datatypes::Schema,
        batches: crate::BatchIterator,
        options: &Options,
    ) -> Result<Self, DataError> {
        options.check()?;
        let name: Arc<str> = Arc::from(name);
        let batches = crate::columnar::Batches::over(&name, schema, batches, options)?;
        Self::of(Source::over(batches, name, options), options, None, false)
    }

    fn of(
        source: Source,
        options: &Options,
        total: Option<u64>,
        labels_only: bool,
    ) -> Result<Self, DataError> {
        let labels = LabelReader::new(&options.reading.labels).map_err(DataError::setting)?;
        let format = source.format();
        let space = source.space();
        let label_column = source.label_column().map(str::to_owned);
        let column_names = source.column_names().map(<[String]>::to_vec);
        let guesses = source.guesses();
        let carried = source.carried_columns().to_vec();
        let has_label = source.has_label();
        let table = source.table().cloned();
        refuse_interactions(format, space, options)?;
        let is_checked = options.ask.needs_namespaces && !labels_only && label_column.is_none();
        let wanted = match is_checked && format != Format::Cache {
            true => options.reading.interactions.concat(),
            false => Vec::new(),
        };
        let options_of_rows = Options {
            ask: Ask { carried: carried.clone(), ..options.ask.clone() },
            ..options.clone()
        };
        let spec = Arc::new(spec(space, labels, options_of_rows, table.as_ref(), labels_only));
        let remarks = source.remarks().clone();
        if let Some(notice) = threads::notice(options.run.threads) {
            remarks.add_sentence(notice);
        }
        Ok(Self {
            name: source.name().clone(),
            files: Vec::new(),
            engine: Engine::new(source, &spec, options.run.threads),
            format,
            space,
            label_column,
            column_names,
            guesses,
            has_label,
            carried,
            table,
            remarks,
            unfit: 0,
            unknown: BTreeSet::new(),
            total,
            news: News::default(),
            named: Unnamed::new(options.ask.named_slots.as_deref()),
            names_claim: Claim::default(),
            parsers: threads::usable(options.run.threads),
            names: OnceLock::new(),
            label_texts: LabelTexts::default(),
            current: None,
            rows: 0,
            bytes: 0,
            largest: 0,
            keep_names: options.ask.keep_names && !labels_only,
            skip_bad: options.bounds.skip_bad,
            skipped: Vec::new(),
            skipped_rows: 0,
            gaps: options.ask.mark_skipped.then(VecDeque::new),
            received: 0,
            wanted,
            namespaces: Vec::new(),
            input_rows: 0,
            input_lines: 0,
            inputs_begun: 0,
            input_delivered: 0,
            stop: options.run.stop.clone(),
            is_done: false,
        })
    }

    /// Replaces what is in `chunk` by the next rows; false, and an empty chunk, at the end.
    ///
    /// Rows before a bad one are delivered before its error. After an error the reader is at its end.
    pub fn read(&mut self, chunk: &mut Chunk) -> Result<bool, DataError> {
        chunk.clear();
        while !self.is_done {
            if is_stopped(self.stop.as_ref()) {
                self.is_done = true;
                return Err(DataError::stopped());
            }
            if let Some(current) = &mut self.current {
                if current.deliver(chunk) {
                    self.rows += chunk.len() as u64;
                    self.input_delivered += chunk.len() as u64;
                    return Ok(true);
                }
                let failure = current.failure.take();
                if let Some(current) = self.current.take() {
                    self.engine.give_back(current.parsed);
                }
                if let Some(failure) = failure {
                    self.is_done = true;
                    return Err(match is_stopped(self.stop.as_ref()) {
                        true => DataError::stopped(),
                        false => failure.of(&self.files),
                    });
                }
                // The answer to a skipped row of a pipe does not wait for the next row.
                if self.gaps.as_ref().is_some_and(|gaps| !gaps.is_empty()) {
                    return Ok(true);
                }
            }
            match self.engine.next() {
                Some(done) => self.receive(done),
                None => {
                    self.is_done = true;
                    Selector::check_all(&self.wanted, &self.namespaces, "namespace")
                        .map_err(|words| DataError::columns(&self.name, words).of(&self.files))?;
                }
            }
        }
        Ok(false)
    }

    /// Processes a parsed piece: names, places of bad rows, and whether to continue after it.
    fn receive(&mut self, mut done: Done) {
        if done.is_first {
            self.inputs_begun += 1;
            (self.input_rows, self.input_delivered) = (0, 0);
            self.input_lines = done.lines_before;
        }
        if let Some(contents) = done.contents.take()
            && self.keep_names
        {
            for (slot, name) in contents.names.iter().filter(|(slot, _)| self.named.takes(*slot)) {
                self.news.push(slot, b"", name.as_bytes());
            }
            self.names.take();
        }
        let parsed = &mut done.parsed;
        if !parsed.news.is_empty() && self.named.append(&parsed.news, &mut self.news) {
            self.names.take();
        }
        let shortage = self.names_claim.raise(self.news.room(self.parsers)).err();
        for text in &parsed.label_news {
            self.label_texts.remember(code(text.as_bytes()), text);
        }
        for namespace in parsed.namespaces.drain(..) {
            if !self.namespaces.contains(&namespace) {
                self.namespaces.push(namespace);
            }
        }
        self.bytes = done.bytes;
        self.largest = self.largest.max(parsed.largest);
        self.unfit += parsed.unfit;
        for field in parsed.unknown.drain(..) {
            self.unknown.insert(field);
        }
        self.input_rows += parsed.rows + parsed.bad.len() as u64;
        let mut allowed = parsed.rows;
        let mut failure = parsed.failure.take();
        for (rows_before, line, bad) in parsed.bad.drain(..) {
            let error = DataError::row(&done.name, self.input_lines + line, bad);
            if self.skipped_rows < self.skip_bad {
                self.skipped_rows += 1;
                if let Some(gaps) = &mut self.gaps {
                    gaps.push_back(self.received + rows_before);
                }
                if self.skipped.len() < KEPT {
                    self.skipped.push(error.of(&self.files));
                }
                continue;
            }
            failure = Some(match self.skipped_rows {
                0 => error,
                n => error.and(&format!(" (after {n} bad rows that were skipped)")),
            });
            allowed = rows_before;
            break;
        }
        self.received += parsed.rows;
        self.input_lines += parsed.lines;
        if let Some(shortage) = shortage {
            let what = format!("a list of {} names of features", self.news.len());
            let words = Message::shortage(&shortage, &what, &[Remedy::NoNames]);
            (allowed, failure) = (0, Some(DataError::memory(&done.name, words)));
        }
        if done.is_last && self.input_rows == 0 && failure.is_none() {
            failure = Some(DataError::empty(&done.name));
        }
        self.current = Some(Current { parsed: done.parsed, delivered: 0, allowed, failure });
    }

    /// Returns the progress of the reader.
    pub fn position(&self) -> Position {
        Position { rows: self.rows, bytes: self.bytes, total: self.total }
    }

    /// The names of hashed features met so far.
    pub fn names(&self) -> &Names {
        self.names.get_or_init(|| Names::from(self.news.clone()))
    }

    /// Returns the number of names met so far, with repetitions.
    pub fn names_met(&self) -> usize {
        self.news.len()
    }

    /// The names after the first `known`, unsorted, which is cheap.
    pub fn names_since(&self, known: usize) -> NewNames {
        self.news.since(known.min(self.news.len()))
    }

    /// The names, without the reader.
    pub fn into_names(mut self) -> Names {
        self.names.take().unwrap_or_else(|| Names::from(self.news))
    }

    /// The text labels met so far under [`Labels::Any`](crate::Labels::Any).
    pub fn label_texts(&self) -> &LabelTexts {
        &self.label_texts
    }

    /// Returns the name of the first input.
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The feature space of the rows.
    pub fn space(&self) -> Space {
        self.space
    }

    /// The column of a CSV or TSV file that is the label.
    pub fn label_column(&self) -> Option<&str> {
        self.label_column.as_deref()
    }

    /// The columns of the first input, in order; `None` if the format has none.
    pub fn column_names(&self) -> Option<&[String]> {
        self.column_names.as_deref()
    }

    /// Whether rows may have a label: a table without the label's column has none.
    pub fn has_label(&self) -> bool {
        self.has_label
    }

    /// The columns whose cells travel with each row, in the order of [`Carried`](crate::Carried): what the patterns of
    /// [`Ask::carried`] stand for.
    pub fn carried_columns(&self) -> &[String] {
        &self.carried
    }

    /// How many rows were skipped before the delivered row of this number (from 0) and since the last call. Nothing unless
    /// [`Ask::mark_skipped`] is set; then [`read`](Self::read) may also return without rows, when only skipped ones
    /// arrived.
    ///
    /// ```
    /// use parsimon_core::Chunk;
    /// use parsimon_data::{Ask, Bounds, Input, Options, Reader};
    ///
    /// let input = Input::Bytes { name: "d.svm".into(), bytes: b"1 1:1\n1 x\n1 2:1\n1 y\n".to_vec() };
    /// let options = Options { bounds: Bounds { skip_bad: 9, ..Bounds::default() }, ask: Ask { mark_skipped: true, ..Ask::default() }, ..Options::default() };
    /// let mut reader = Reader::open(&[input], &options).unwrap();
    /// let mut chunk = Chunk::new();
    /// assert!(reader.read(&mut chunk).unwrap() && chunk.len() == 2);
    /// assert_eq!([0, 1, u64::MAX].map(|row| reader.skipped_before(row)), [0, 1, 1]);
    /// ```
    pub fn skipped_before(&mut self, row: u64) -> u64 {
        let Some(gaps) = &mut self.gaps else { return 0 };
        let before = gaps.len();
        while gaps.front().is_some_and(|&place| place <= row) {
            gaps.pop_front();
        }
        (before - gaps.len()) as u64
    }

    /// The kinds of the columns; `None` where cells are understood one by one, or the format has no columns.
    pub fn table(&self) -> Option<&Arc<TableSchema>> {
        self.table.as_ref()
    }

    /// Returns the number of cells taken for missing because they contradict the kind of their column.
    pub fn unfit_cells(&self) -> u64 {
        self.unfit
    }

    /// Returns what a user should know about the rows read so far, a sentence each: columns that were not read or are missing,
    /// bytes that are not UTF-8, cells that were treated as missing, threads that were not started.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.remarks.sentences();
        if !self.unknown.is_empty() {
            let fields = match self.unknown.len() {
                1 => "1 field is not a column of the table and was not read".to_owned(),
                n => format!("{n} fields are not columns of the table and were not read"),
            };
            warnings.push(format!("{fields}: {}", listed(self.unknown.iter(), 8)));
        }
        let (s, were) = if self.unfit == 1 { ("", "was") } else { ("s", "were") };
        if self.unfit > 0 {
            warnings.push(format!(
                "{} cell{s} did not fit the kind of the column and {were} treated as missing",
                self.unfit
            ));
        }
        warnings
    }

    /// Guesses about a table of text, each with the setting that changes it: the separator of cells
    /// and a missing header. The first input decides.
    pub fn guesses(&self) -> &[Message] {
        &self.guesses
    }

    /// The format of the inputs.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Why rows were skipped: the first ten.
    pub fn skipped(&self) -> &[DataError] {
        &self.skipped
    }

    /// Which input the last rows came from, from 0, and how many rows of that input have been delivered.
    pub fn input_position(&self) -> (usize, u64) {
        (self.inputs_begun.saturating_sub(1), self.input_delivered)
    }

    /// Returns the number of skipped rows.
    pub fn skipped_rows(&self) -> u64 {
        self.skipped_rows
    }

    /// The largest index of the rows read ahead so far.
    pub fn largest_index(&self) -> u32 {
        self.largest
    }
}

/// Refuses interactions where the features of rows cannot be multiplied.
fn refuse_interactions(format: Format, space: Space, options: &Options) -> Result<(), DataError> {
    let words = match () {
        () if options.reading.interactions.is_empty() => return Ok(()),
        () if format == Format::Cache => {
            "interactions are made when a cache is written, not when it is read"
        }
        () if space == Space::Ids => {
            "interactions need hashed features: ids leave no room for products"
        }
        () => return Ok(()),
    };
    Err(DataError::setting(words))
}

/// The options of parser threads. `table` has the columns that were found.
fn spec(
    space: Space,
    labels: LabelReader,
    options: Options,
    table: Option<&Arc<TableSchema>>,
    labels_only: bool,
) -> Spec {
    // The fields of JSON rows are read by a schema that was given, though the format has no columns.
    let schema = match &options.reading.kinds {
        Kinds::Known(known) => Some(known),
        Kinds::ByCell | Kinds::Found => table,
    };
    Spec {
        space,
        labels,
        max_value: options.bounds.max_value,
        max_cell: options.max_cell(),
        max_label: options.max_label(),
        carried: options.ask.carried.len(),
        missing: Missing::of(schema),
        label_form: NumberForm::of_label(schema, options.reading.label_column.as_ref()),
        ngrams: schema.and_then(|schema| schema.ngrams).map_or(1, usize::from),
        labels_only,
        options,
    }
}

fn is_stopped(stop: Option<&Stop>) -> bool {
    stop.is_some_and(Stop::is_stopped)
}

impl Current {
    /// Fills `chunk` with the next rows, if some are left.
    fn deliver(&mut self, chunk: &mut Chunk) -> bool {
        if self.delivered == self.parsed.len || self.allowed == 0 {
            return false;
        }
        let next = &mut self.parsed.chunks[self.delivered];
        self.delivered += 1;
        let rows = next.len() as u64;
        if rows <= self.allowed {
            self.allowed -= rows;
            std::mem::swap(chunk, next);
        } else {
            for i in 0..self.allowed as usize {
                chunk.copy_row(next, i);
            }
            self.allowed = 0;
        }
        true
    }
}
