//! Buffers and parsers that are reused from one request to the next.

use std::sync::{Mutex, OnceLock, PoisonError};

use parsimon::data::{Ask, Bounds, DataError, Format, Labels, Options, Reading};
use parsimon::rows::Chunk;
use parsimon::serve::RowParser;
use parsimon::workspace::Header;
use parsimon::{InputSchema, Settings, Trainer};

use super::label::Columns;
use super::record::{KindsFrom, Start};
use crate::answer::Task;
use crate::content::Content;
use crate::engine::Limits;
use crate::error::Refusal;

/// Rows that a replica is read for at most before it is let go.
pub(crate) const AT_ONCE: usize = 256;

/// The largest number of a cell whose column has no kind yet. Its square is finite in single precision.
const WIDEST_CELL: f64 = 1e18;

/// Options for reading the rows of a model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RowOptions {
    score: Options,
    learn: Options,
}

impl RowOptions {
    pub(crate) fn new(settings: &Settings, schema: &InputSchema, max_value: f64) -> Self {
        let base = Options {
            reading: Reading { header: Header::Present, ..Reading::default() },
            ask: Ask { id: Some("id".into()), ..Ask::default() },
            bounds: Bounds { chunk_rows: AT_ONCE, ..Bounds::default() },
            ..Options::default()
        };
        // The bound of the precision is put in below.
        let learn = schema.options(settings, parsimon::settings::Precision::F64, &base);
        let learn = Options { bounds: Bounds { max_value, ..learn.bounds }, ..learn };
        Self::of_learning(learn)
    }

    fn of_learning(learn: Options) -> Self {
        let score = Options {
            reading: Reading {
                labels: Labels::Optional(Box::new(learn.reading.labels.clone())),
                ..learn.reading.clone()
            },
            ask: Ask { unfit_is_missing: true, keep_names: false, ..learn.ask.clone() },
            ..learn.clone()
        };
        Self { score, learn }
    }

    /// Returns the options of a learner.
    pub(crate) fn of(start: &Start, trainer: &Trainer) -> Self {
        let max_value = trainer.options().precision.max_value();
        Self::of_start(start, trainer.settings(), max_value)
    }

    /// Returns the options of a first record. Where each cell is understood on its own, a number is one feature in every format.
    pub(crate) fn of_start(start: &Start, settings: &Settings, max_value: f64) -> Self {
        let is_by_cell = start.kinds != KindsFrom::Start && start.schema.table.is_none();
        let max_value = match is_by_cell && settings.is_normalized() {
            // Number columns take larger numbers, and it is not known yet which columns have numbers.
            true => max_value.max(WIDEST_CELL),
            false => max_value,
        };
        let mut learn = Self::new(settings, &start.schema, max_value).learn;
        learn.reading.numbers_apart &= start.schema.table.is_some() || start.checkpoint.is_some();
        Self::of_learning(learn)
    }

    /// Options for rows to be learned.
    pub(crate) fn learning(&self) -> &Options {
        &self.learn
    }
}

/// Buffers of one request at a time.
#[derive(Default)]
pub(crate) struct RequestBuffers {
    /// By format, and by whether bad rows are skipped.
    parsers: Vec<((Format, bool), RowParser)>,
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) margins: Vec<f64>,
    pub(crate) weights: Vec<f64>,
}

impl RequestBuffers {
    /// Parses the rows of a request into `chunks`.
    pub(crate) fn parse(
        &mut self,
        content: &Content<'_>,
        options: &Options,
        limits: &Limits,
    ) -> Result<&mut RowParser, Refusal> {
        let _held = limits.admit(content)?;
        let place = self.parser_of(content.format, false, options, limits)?;
        let parser = &mut self.parsers[place].1;
        parser.parse(&content.text, &mut self.chunks)?;
        limits.check(&self.chunks)?;
        Ok(parser)
    }
}

impl RequestBuffers {
    /// Returns the place of the parser of a format.
    fn parser_of(
        &mut self,
        format: Format,
        skips_bad: bool,
        options: &Options,
        limits: &Limits,
    ) -> Result<usize, Refusal> {
        let key = (format, skips_bad);
        if let Some(place) = self.parsers.iter().position(|(known, _)| *known == key) {
            return Ok(place);
        }
        let skip_bad = if skips_bad { u64::MAX } else { options.bounds.skip_bad };
        let products = limits.features as u64;
        let bounds = Bounds { skip_bad, products, ..options.bounds.clone() };
        let options = Options { bounds, ..options.clone() };
        self.parsers.push((key, RowParser::new("body", format, &options)?));
        Ok(self.parsers.len() - 1)
    }

    /// Replaces the rows by the good ones of a request. Returns the lines of the others, with what is wrong with them.
    pub(crate) fn parse_good(
        &mut self,
        content: &Content<'_>,
        options: &Options,
        limits: &Limits,
    ) -> Result<Vec<(u64, DataError)>, Refusal> {
        let _held = limits.admit(content)?;
        let place = self.parser_of(content.format, true, options, limits)?;
        let bad = self.parsers[place].1.parse_good(&content.text, &mut self.chunks)?;
        limits.check(&self.chunks)?;
        Ok(bad)
    }

    /// Returns the names that the last text with bad rows was the first to have.
    pub(crate) fn names_of_good(&self, format: Format) -> Vec<(u32, Box<[u8]>)> {
        let parser = self.parsers.iter().find(|(known, _)| *known == (format, true));
        let names = parser.into_iter().flat_map(|(_, parser)| parser.new_names());
        names.map(|(slot, name)| (slot, name.into())).collect()
    }

    /// Makes all names new again.
    pub(crate) fn forget_names(&mut self) {
        self.parsers.iter_mut().for_each(|(_, parser)| parser.forget_names());
    }
}

/// A way of reading rows, and the buffers for it.
pub(crate) struct RowReading {
    pub(crate) options: RowOptions,
    pub(crate) scores: BufferPool,
    pub(crate) learning: BufferPool,
    pub(crate) columns: Columns,
    pub(crate) task: Task,
}

impl RowReading {
    pub(crate) fn new(options: RowOptions, schema: &InputSchema, task: Task) -> Self {
        let (scores, learning) =
            (BufferPool::for_scores(&options), BufferPool::for_learning(&options));
        Self { options, scores, learning, columns: Columns::of(schema), task }
    }
}

/// The reading of rows: that of the start and, once the first rows have shown the kinds of their columns, with these.
pub(crate) struct Readings {
    first: RowReading,
    settled: OnceLock<RowReading>,
}

impl Readings {
    pub(crate) fn new(first: RowReading) -> Self {
        Self { first, settled: OnceLock::new() }
    }

    /// Returns the reading of rows that are appended now.
    pub(crate) fn latest(&self) -> &RowReading {
        self.settled.get().unwrap_or(&self.first)
    }

    /// Returns the reading for a state of the model.
    pub(crate) fn of(&self, is_warming: bool) -> &RowReading {
        if is_warming { &self.first } else { self.latest() }
    }

    /// Sets the reading of all rows to come. The holder of the intake calls it, once.
    pub(crate) fn settle(&self, reading: RowReading) {
        let is_first = self.settled.set(reading).is_ok();
        assert!(is_first, "the kinds of columns are settled once");
    }
}

/// BufferPool that are free.
pub(crate) struct BufferPool {
    options: Options,
    free: Mutex<Vec<RequestBuffers>>,
}

impl BufferPool {
    /// Returns a pool for scoring.
    pub(crate) fn for_scores(reading: &RowOptions) -> Self {
        Self { options: reading.score.clone(), free: Mutex::default() }
    }

    /// Returns a pool for learning. The label is not guessed.
    pub(crate) fn for_learning(reading: &RowOptions) -> Self {
        let mut options = reading.learn.clone();
        options.ask.needs_label = true;
        Self { options, free: Mutex::default() }
    }

    /// Returns the options for scores that are explained: the names of features are kept.
    pub(crate) fn options_with_names(&self) -> Options {
        Options {
            ask: Ask { keep_names: true, ..self.options.ask.clone() },
            ..self.options.clone()
        }
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Calls `work` with free buffers.
    pub(crate) fn lend<R>(&self, work: impl FnOnce(&mut RequestBuffers) -> R) -> R {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut buffers = free.unwrap_or_default();
        let done = work(&mut buffers);
        // The buffers of a huge request are not worth keeping.
        if buffers.margins.capacity() <= 1 << 16 {
            self.free.lock().unwrap_or_else(PoisonError::into_inner).push(buffers);
        }
        done
    }
}
