//! Tables that the library's own readers read: files of every format, and Arrow data in memory.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use parsimon::data::arrow::array::{Array, RecordBatch};
use parsimon::data::arrow::datatypes::SchemaRef;
use parsimon::data::{
    Ask, DataError, Format, Input, Kinds, Labels, Options, Reader, Reading, Space,
};
use parsimon::job::{Ended, until_it_fits};
use parsimon::rows::Chunk;
use parsimon::settings::Storage;
use parsimon::survey::Found;
use parsimon::survey::{
    LabelNeed, Needs, Scan, SeenLabels, Source, scan, schema_from_json, schema_to_json, table,
    with_kinds,
};
use parsimon::workspace::{Curves, Header, Pairs};
use parsimon::{InputSchema, LearnerOptions, Settings, Spec, Trainer};
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;

use crate::capsule;
use crate::errors::raised;
use crate::guard::{detached, guarded};
use crate::json_rows::json_lines;

/// Rows somewhere, and how they are to be read.
#[pyclass(module = "parsimon._parsimon", frozen)]
pub(crate) struct Table {
    place: Place,
    options: Options,
    /// Known once the table was opened.
    space: OnceLock<Space>,
    /// The options with the kinds of columns, once these were looked for.
    known: Mutex<Option<Options>>,
}

enum Place {
    Files(Vec<Input>),
    Memory { schema: SchemaRef, batches: Vec<RecordBatch> },
}

/// Which columns are what; the names are Python's keywords.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Roles {
    label: Option<String>,
    weight: Option<String>,
    numbers: Vec<String>,
    categories: Vec<String>,
    texts: Vec<String>,
    ignore: Vec<String>,
    keep: Vec<String>,
    /// The kinds of all columns, as JSON.
    schema: Option<String>,
    bits: Option<u8>,
    missing: Vec<String>,
    ngrams: Option<u8>,
    curves: Option<String>,
    pairs: Option<String>,
    header: Option<bool>,
    format: Option<String>,
    separator: Option<char>,
    interactions: Vec<Vec<String>>,
    threads: Option<usize>,
    skip_bad: u64,
}

impl Roles {
    fn options(self) -> PyResult<Options> {
        let format = self.format.map(|f| f.parse()).transpose().map_err(PyValueError::new_err)?;
        let kinds = match &self.schema {
            None => Kinds::Found,
            Some(text) => {
                let schema = schema_from_json(text)
                    .map_err(|e| PyValueError::new_err(format!("schema: {e}")))?;
                Kinds::Known(Arc::new(schema))
            }
        };
        let mut options = Options::from(Reading {
            format,
            space: self.bits.map(|bits| Space::Hashed { bits }),
            label_column: self.label,
            weight_column: self.weight,
            numbers: self.numbers,
            categories: self.categories,
            texts: self.texts,
            ignore: self.ignore,
            keep: self.keep,
            kinds,
            missing: self.missing,
            ngrams: self.ngrams,
            curves: wish(self.curves.as_deref(), Curves::parse)?,
            pairs: wish(self.pairs.as_deref(), Pairs::parse)?,
            header: match self.header {
                None => Header::Guess,
                Some(true) => Header::Present,
                Some(false) => Header::Absent,
            },
            separator: self.separator.map(separator).transpose()?,
            interactions: self.interactions,
            ..Reading::default()
        });
        options.bounds.skip_bad = self.skip_bad;
        options.run.threads = self.threads.unwrap_or(1);
        Ok(options)
    }
}

/// Curves or pairs that are asked for.
fn wish<T: Default>(text: Option<&str>, parse: fn(&str) -> Result<T, String>) -> PyResult<T> {
    text.map(parse).transpose().map_err(PyValueError::new_err).map(Option::unwrap_or_default)
}

/// A sign between cells, as a byte.
fn separator(sign: char) -> PyResult<u8> {
    let refused =
        |_| PyValueError::new_err(format!("separator must be one sign of ASCII, got {sign:?}"));
    u8::try_from(sign).map_err(refused)
}

#[pymethods]
impl Table {
    /// Files, one after the other.
    #[staticmethod]
    fn files(paths: Vec<PathBuf>, roles: Roles) -> PyResult<Self> {
        let inputs = paths.into_iter().map(Input::Path).collect();
        Ok(Self::new(Place::Files(inputs), roles.options()?))
    }

    /// Arrow data in memory, or a list of dictionaries, which is read as JSON lines are.
    #[staticmethod]
    fn arrow(data: &Bound<'_, PyAny>, roles: Roles) -> PyResult<Self> {
        if let Some(bytes) = json_lines(data)? {
            let mut options = roles.options()?;
            options.reading.format = Some(Format::Jsonl);
            let input = Input::Bytes { name: "the rows".into(), bytes };
            return Ok(Self::new(Place::Files(vec![input]), options));
        }
        let (schema, batches) = capsule::batches(data)?;
        Ok(Self::new(Place::Memory { schema, batches }, roles.options()?))
    }

    /// The kinds of the columns as JSON; `None` where the data is no table. The label need not be clear.
    fn schema(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let labels = Labels::Optional(Box::new(Labels::Any));
        let options = Options {
            reading: Reading { labels, ..self.options.reading.clone() },
            ..self.options.clone()
        };
        let found = detached(py, || table(self, &options))?.map_err(raised)?;
        Ok(found.map(|schema| schema_to_json(&schema)))
    }

    /// The addresses of the columns' values in memory, which show that nothing was copied.
    fn addresses(&self) -> Vec<usize> {
        let Place::Memory { batches, .. } = &self.place else { return Vec::new() };
        let columns = batches.iter().flat_map(RecordBatch::columns);
        let buffers = columns.flat_map(|column| column.to_data().buffers().to_vec());
        buffers.map(|buffer| buffer.as_ptr() as usize).collect()
    }

    /// The labels, the number of features and the number of rows, in one pass: the labels if they are asked for, the numbers
    /// if a learner with the spec needs them.
    fn survey(&self, py: Python<'_>, spec: &str, labels: bool) -> PyResult<Surveyed> {
        let settings = Spec::from_json(spec).and_then(|s| s.resolve());
        let settings = settings.map_err(|e| PyValueError::new_err(e.to_string()))?;
        let needs = Needs {
            labels: if labels { LabelNeed::All } else { LabelNeed::Nothing },
            dimension: settings.needs_dimension(),
            rows: settings.needs_rows(),
        };
        if needs.is_nothing() {
            return Ok((None, None, None));
        }
        let scan = detached(py, || self.scan(needs))?.map_err(raised)?;
        let labels = match scan.labels {
            Some(SeenLabels::All(labels)) => Some(labels),
            _ => None,
        };
        Ok((labels, scan.dimension, scan.rows))
    }
}

/// Labels, number of features, number of rows; each if it was looked for.
type Surveyed = (Option<Vec<String>>, Option<u32>, Option<u64>);

/// The facts found in the data, as far as the settings need them.
pub(crate) fn needed(
    settings: &[Settings],
    classes: Vec<String>,
    dimension: Option<u32>,
    rows: Option<u64>,
) -> Found {
    let needs = Needs::of_all(settings);
    Found {
        classes,
        dimension: dimension.filter(|_| needs.dimension),
        rows: rows.filter(|_| needs.rows),
        ..Found::default()
    }
}

/// Warns about what a person should know of the rows that were read, such as cells that do not fit the kind of their column.
pub(crate) fn warn(py: Python<'_>, reader: &Reader) -> PyResult<()> {
    for words in reader.warnings() {
        let words = std::ffi::CString::new(words)?;
        // Behind the methods of the estimator.
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &words, 4)?;
    }
    Ok(())
}

/// Labels are counted in rows whose features are read as well: a bad row is refused before the first is learned.
impl Source for Table {
    fn open(&self, options: &Options) -> Result<Reader, DataError> {
        let reader = match &self.place {
            Place::Files(inputs) => Reader::open(inputs, options),
            Place::Memory { schema, batches } => {
                let batches: Vec<_> = batches.iter().cloned().map(Ok).collect();
                Reader::over_batches("the table", schema, Box::new(batches.into_iter()), options)
            }
        }?;
        // Known from now on: the table need not be opened to learn it.
        let _ = self.space.set(reader.space());
        Ok(reader)
    }

    fn inputs(&self) -> &[Input] {
        match &self.place {
            Place::Files(inputs) if inputs.iter().all(|input| input.path().is_some()) => inputs,
            // Rows in memory have no name that a model should remember.
            Place::Files(_) | Place::Memory { .. } => &[],
        }
    }

    fn read_once(&self) -> Option<String> {
        match &self.place {
            Place::Files(inputs) => inputs.read_once(),
            Place::Memory { .. } => None,
        }
    }
}

impl Table {
    /// How the rows are read, as the caller wants it; with the kinds of columns, if these were looked for.
    pub(crate) fn options(&self) -> Options {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.clone().unwrap_or_else(|| self.options.clone())
    }

    fn new(place: Place, options: Options) -> Self {
        Self { place, options, space: OnceLock::new(), known: Mutex::new(None) }
    }

    /// The options with the kinds of columns.
    fn known(&self) -> Result<Options, DataError> {
        // A thread that panicked has left the options whole.
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some(options) => Ok(options.clone()),
            None => Ok(known.insert(with_kinds(self, &self.options)?).clone()),
        }
    }

    /// Passes over the rows; where one contradicts the kind of a column, again with a wider kind.
    fn scan(&self, needs: Needs) -> Result<Scan, DataError> {
        let known = self.known()?;
        let (seen, known) = until_it_fits(self, &known, &mut (), |options, _| {
            let seen = scan(self, options, needs).map_err(Ended::<DataError>::data)?;
            Ok((seen, options.clone()))
        })?;
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
        Ok(seen)
    }

    fn open(&self, options: &Options) -> PyResult<Reader> {
        Source::open(self, options).map_err(raised)
    }

    /// The feature space; the table is opened if it never was.
    fn space(&self) -> PyResult<Space> {
        match self.space.get() {
            Some(space) => Ok(*space),
            None => {
                let options = self.known().map_err(raised)?;
                Ok(self
                    .open(&Options {
                        reading: Reading { labels: Labels::Any, ..options.reading },
                        ..options
                    })?
                    .space())
            }
        }
    }

    /// A learner at the origin, for rows like these.
    pub(crate) fn trainer(
        &self,
        settings: Settings,
        frame: LearnerOptions,
        found: Found,
    ) -> PyResult<Trainer> {
        let options = self.known().map_err(raised)?;
        let reading = InputSchema::new(&options, self.space()?, found);
        let storage = if reading.bits.is_some() { Storage::Index } else { Storage::Growing };
        let frame = LearnerOptions { storage, ..frame };
        guarded(|| Trainer::new(settings, frame, reading))?.map_err(raised)
    }

    /// Reads as the learner wants it.
    pub(crate) fn reader(&self, trainer: &Trainer) -> PyResult<Reader> {
        let (settings, precision) = (trainer.settings(), trainer.options().precision);
        self.open(&trainer.schema().options(settings, precision, &self.options))
    }

    /// Reads for prediction: labels may be missing.
    pub(crate) fn reader_without_labels(
        &self,
        reading: &InputSchema,
        settings: &parsimon::Settings,
        precision: parsimon::settings::Precision,
    ) -> PyResult<Reader> {
        let options = reading.options(settings, precision, &self.options);
        let labels = Labels::Optional(Box::new(options.reading.labels.clone()));
        self.open(&Options {
            reading: Reading { labels, ..options.reading },
            ask: Ask { keep_names: false, unfit_is_missing: true, ..options.ask },
            ..options
        })
    }

    /// Whether the rows are Arrow data in memory.
    pub(crate) fn is_in_memory(&self) -> bool {
        matches!(self.place, Place::Memory { .. })
    }

    /// Data in memory is looked through before the first row is learned, where it cannot be unlearned.
    pub(crate) fn check(&self, trainer: &Trainer) -> PyResult<()> {
        if !self.is_in_memory() {
            return Ok(());
        }
        let (mut reader, mut chunk) = (self.reader(trainer)?, Chunk::new());
        while reader.read(&mut chunk).map_err(raised)? {}
        Ok(())
    }

    /// About how many cells there are; very many in files.
    pub(crate) fn cells(&self) -> usize {
        match &self.place {
            Place::Files(_) => usize::MAX,
            Place::Memory { batches, .. } => {
                batches.iter().map(|batch| batch.get_array_memory_size() / size_of::<f64>()).sum()
            }
        }
    }
}
