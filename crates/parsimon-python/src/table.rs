//! Tables that the library's own readers read: files of every format, and Arrow data in memory.

use std::path::PathBuf;

use parsimon::core::Chunk;
use parsimon::data::arrow::array::{Array, RecordBatch};
use parsimon::data::arrow::datatypes::SchemaRef;
use parsimon::data::{Input, Labels, Options, Reader, Space, count_labels};
use parsimon::{InputSchema, LearnerOptions, Spec, Storage, Trainer};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::capsule;
use crate::errors::raised;

/// More labels than this are taken for numbers.
const MOST_CLASSES: usize = 10_000;

/// Rows somewhere, and how they are to be read.
#[pyclass(module = "parsimon._parsimon", frozen)]
pub(crate) struct Table {
    place: Place,
    options: Options,
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
    ignore: Vec<String>,
    text: Vec<String>,
    bits: Option<u8>,
    format: Option<String>,
}

impl Roles {
    fn options(self) -> PyResult<Options> {
        let format = self.format.map(|f| f.parse()).transpose().map_err(PyValueError::new_err)?;
        Ok(Options {
            format,
            space: self.bits.map(|bits| Space::Hashed { bits }),
            label_column: self.label,
            weight_column: self.weight,
            ignored_columns: self.ignore,
            text_columns: self.text,
            ..Options::default()
        })
    }
}

#[pymethods]
impl Table {
    /// Files, one after the other.
    #[staticmethod]
    fn files(paths: Vec<PathBuf>, roles: Roles) -> PyResult<Self> {
        let inputs = paths.into_iter().map(Input::Path).collect();
        Ok(Self { place: Place::Files(inputs), options: roles.options()? })
    }

    /// Arrow data in memory.
    #[staticmethod]
    fn arrow(data: &Bound<'_, PyAny>, roles: Roles) -> PyResult<Self> {
        let (schema, batches) = capsule::batches(data)?;
        Ok(Self { place: Place::Memory { schema, batches }, options: roles.options()? })
    }

    /// The bits of the hashed names; `None` where features are ids.
    fn bits(&self) -> PyResult<Option<u8>> {
        let options = Options { labels: Labels::Any, ..self.options.clone() };
        Ok(match self.open(&options)?.space() {
            Space::Ids => None,
            Space::Hashed { bits } => Some(bits),
        })
    }

    /// The labels, numbers in order, then texts in order.
    fn labels(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        py.detach(|| {
            let options =
                Options { labels: Labels::Any, keep_names: false, ..self.options.clone() };
            let scan = count_labels(self.open(&options)?, MOST_CLASSES).map_err(raised)?;
            Ok(scan.labels.into_iter().map(|(label, _)| label).collect())
        })
    }

    /// Where the values of the columns in memory lie: nothing was copied if they lie where they lay.
    fn addresses(&self) -> Vec<usize> {
        let Place::Memory { batches, .. } = &self.place else { return Vec::new() };
        let columns = batches.iter().flat_map(RecordBatch::columns);
        let buffers = columns.flat_map(|column| column.to_data().buffers().to_vec());
        buffers.map(|buffer| buffer.as_ptr() as usize).collect()
    }

    /// The number of rows and the largest id.
    fn survey(&self, py: Python<'_>) -> PyResult<(u64, u32)> {
        py.detach(|| {
            let options =
                Options { labels: Labels::Any, keep_names: false, ..self.options.clone() };
            let (mut reader, mut chunk) = (self.open(&options)?, Chunk::new());
            while reader.read(&mut chunk).map_err(raised)? {}
            Ok((reader.position().rows, reader.largest_index()))
        })
    }
}

impl Table {
    fn open(&self, options: &Options) -> PyResult<Reader> {
        let reader = match &self.place {
            Place::Files(inputs) => Reader::open(inputs, options),
            Place::Memory { schema, batches } => {
                let batches: Vec<_> = batches.iter().cloned().map(Ok).collect();
                Reader::over_batches("the table", schema, Box::new(batches.into_iter()), options)
            }
        };
        reader.map_err(raised)
    }

    /// A learner at the origin, for rows like these.
    pub(crate) fn trainer(
        &self,
        spec: &str,
        frame: LearnerOptions,
        classes: Vec<String>,
    ) -> PyResult<Trainer> {
        let settings = Spec::from_json(spec).and_then(|s| s.resolve()).map_err(raised)?;
        let space = self.bits()?.map_or(Space::Ids, |bits| Space::Hashed { bits });
        let reading = InputSchema::new(&self.options, space, classes);
        let storage = if reading.bits.is_some() { Storage::Index } else { Storage::Growing };
        Trainer::new(settings, LearnerOptions { storage, ..frame }, reading).map_err(raised)
    }

    /// Reads as the learner wants it.
    pub(crate) fn reader(&self, trainer: &Trainer) -> PyResult<Reader> {
        let (settings, precision) = (trainer.settings(), trainer.frame().precision);
        self.open(&trainer.schema().options(settings, precision, &self.options))
    }

    /// Reads for prediction: labels may be missing.
    pub(crate) fn reader_without_labels(
        &self,
        reading: &InputSchema,
        settings: &parsimon::Settings,
        precision: parsimon::core::Precision,
    ) -> PyResult<Reader> {
        let options = reading.options(settings, precision, &self.options);
        let labels = Labels::Optional(Box::new(options.labels.clone()));
        self.open(&Options { labels, keep_names: false, ..options })
    }

    /// Data in memory is looked through before the first row is learned.
    pub(crate) fn check(&self, trainer: &Trainer) -> PyResult<()> {
        if matches!(self.place, Place::Files(_)) {
            return Ok(());
        }
        let (mut reader, mut chunk) = (self.reader(trainer)?, Chunk::new());
        while reader.read(&mut chunk).map_err(raised)? {}
        Ok(())
    }

    /// What the rows come from, for the model's provenance.
    pub(crate) fn inputs(&self) -> Vec<String> {
        match &self.place {
            Place::Files(inputs) => inputs.iter().map(Input::name).collect(),
            Place::Memory { .. } => Vec::new(),
        }
    }
}
