//! One row as a dictionary: names are hashed as the program hashes the fields of a JSON line, whole numbers are ids.

use rustc_hash::FxHashSet;

use numpy::PyReadonlyArray2;
use parsimon::data::{Names, Space};
use parsimon::rows::{Chunk, Repeats, RowError};
use parsimon::workspace::hash;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyFloatMethods, PyInt, PyList, PyString, PyTuple};

use crate::errors::BadInput;

/// The names of rows that were learned. Those of rows that are refused are forgotten.
#[derive(Default)]
pub(crate) struct SeenNames {
    seen: FxHashSet<u64>,
    /// A cache of seen hashes: the slot is the hash's low bits. An empty slot holds a hash that belongs to another slot.
    ///
    /// PERF: a name is nearly always known, and this is the cheapest way to see it.
    lately: Vec<u64>,
    fresh: Vec<(u64, u32, String)>,
    /// In the order in which they came. They are sorted when they are handed over, and not moved at every new one.
    names: Vec<(u32, String)>,
}

/// The places of names seen lately: 64 kB.
const LATELY: usize = 1 << 13;

impl SeenNames {
    #[inline]
    fn note(
        &mut self,
        hash: u64,
        slot: u32,
        name: impl FnOnce() -> PyResult<String>,
    ) -> PyResult<()> {
        if self.lately.get(hash as usize % LATELY) == Some(&hash) {
            return Ok(());
        }
        if self.seen.insert(hash) {
            let name = name().inspect_err(|_| {
                self.seen.remove(&hash);
            })?;
            self.fresh.push((hash, slot, name));
        } else if self.fresh.is_empty() {
            // Names of rows that were learned stay seen; those of the current row may be forgotten.
            if self.lately.is_empty() {
                self.lately.extend(1..=LATELY as u64);
            }
            self.lately[hash as usize % LATELY] = hash;
        }
        Ok(())
    }

    /// A name that stands for its id.
    pub(crate) fn insert(&mut self, id: u32, name: &str) {
        self.names.push((id, name.to_owned()));
    }

    /// The rows since the last call were learned, or were not.
    pub(crate) fn settle<T>(&mut self, learned: PyResult<T>) -> PyResult<T> {
        for (hash, slot, name) in self.fresh.drain(..) {
            if learned.is_ok() {
                self.names.push((slot, name));
            } else {
                self.seen.remove(&hash);
            }
        }
        learned
    }

    /// Hands the names over.
    pub(crate) fn take(&mut self) -> Names {
        let names = std::mem::take(&mut self.names);
        names.iter().map(|(slot, name)| (*slot, &**name)).collect()
    }
}

/// The keys of the last row of names, and the slots they became.
///
/// PERF: rows of a stream often have the same keys in the same order, and a row is predicted before it is learned. Its keys are then
/// neither hashed nor sorted again: they are the same objects, or have the same letters. The objects are held, so that no other can take
/// their addresses.
#[derive(Default)]
pub(crate) struct Layout {
    entries: Vec<Entry>,
    /// The slots in the upper halves, the places in the row in the lower ones; in order.
    order: Vec<u64>,
    /// NaN is a missing value.
    values: Vec<f64>,
    /// Whether the diary has the names.
    is_noted: bool,
}

struct Entry {
    key: Py<PyAny>,
    /// The value, where it is a text.
    text: Option<Py<PyAny>>,
    hash: u64,
    slot: u32,
}

impl Layout {
    /// Rows longer than this are not remembered.
    const LONGEST: usize = 1024;

    /// Forgets the row.
    pub(crate) fn clear(&mut self) {
        self.entries.clear();
    }

    /// Reads the values of a row that has the keys of the last one; `false` if it has others, or a value that must be looked at.
    fn take_values(&mut self, row: &Bound<'_, PyDict>, limit: f64) -> bool {
        if row.len() != self.entries.len() {
            return false;
        }
        self.values.clear();
        for ((key, value), entry) in row.iter().zip(&mut self.entries) {
            if key.as_ptr() != entry.key.as_ptr() {
                if !is_same_text(&key, entry.key.bind(row.py())) {
                    return false;
                }
                entry.key = key.unbind();
            }
            let number = match (&entry.text, value.cast_exact::<PyFloat>()) {
                (None, Ok(float)) => float.value(),
                (None, Err(_)) if value.is_exact_instance_of::<PyInt>() => {
                    value.extract().unwrap_or(f64::NAN)
                }
                (Some(text), _) if text.as_ptr() == value.as_ptr() => 1.0,
                _ => return false,
            };
            // NaN, a missing value, is not within the limit.
            let is_within = number.abs() <= limit;
            if !is_within {
                return false;
            }
            self.values.push(number);
        }
        true
    }

    /// Takes the values of a row whose keys are those of the last one, as objects; `false` if they are not, or a value is too large.
    fn take_row(&mut self, keys: &[Bound<'_, PyAny>], values: &[f64], limit: f64) -> bool {
        let is_known = |(entry, key): (&Entry, &Bound<'_, PyAny>)| {
            entry.key.as_ptr() == key.as_ptr() && entry.text.is_none()
        };
        let is_same =
            self.entries.len() == keys.len() && self.entries.iter().zip(keys).all(is_known);
        // NaN is a missing value.
        if !is_same || values.iter().any(|value| value.abs() > limit) {
            return false;
        }
        self.values.clear();
        self.values.extend_from_slice(values);
        true
    }

    /// Reads a row.
    fn read(&mut self, row: &Bound<'_, PyDict>, bits: u8, limit: f64) -> PyResult<()> {
        self.entries.clear();
        self.values.clear();
        self.order.clear();
        self.is_noted = false;
        for (place, (key, value)) in (0u64..).zip(row.iter()) {
            let name = key.cast::<PyString>().map_err(|_| {
                PyTypeError::new_err("features are named here: every key must be a str")
            })?;
            // PERF: nearly all values are floats.
            let (number, text) = match value.cast_exact::<PyFloat>() {
                Ok(float) => (within(&key, float.value(), limit)?, None),
                // As in JSON lines: a text is the feature `name=text`, nothing is no feature.
                Err(_) if value.is_instance_of::<PyString>() => (Some(1.0), Some(value)),
                Err(_) => (number(&key, &value, limit)?, None),
            };
            let hash = match &text {
                None => hash::feature(0, name.to_cow()?.as_bytes()),
                Some(_) => hash::feature(0, spelled(&key, text.as_ref())?.as_bytes()),
            };
            let slot = hash::slot(hash, bits);
            self.values.push(number.unwrap_or(f64::NAN));
            // Values of one slot add up in the order of the row.
            self.order.push(u64::from(slot) << 32 | place);
            let (key, text) = (key.unbind(), text.map(Bound::unbind));
            self.entries.push(Entry { key, text, hash, slot });
        }
        self.order.sort_unstable();
        Ok(())
    }

    /// Appends the row whose values were read.
    fn push(
        &mut self,
        py: Python<'_>,
        chunk: &mut Chunk,
        diary: Option<&mut SeenNames>,
    ) -> PyResult<()> {
        if let Some(diary) = diary.filter(|_| !self.is_noted) {
            let mut is_whole = true;
            for (entry, value) in self.entries.iter().zip(&self.values) {
                if value.is_nan() {
                    is_whole = false;
                } else {
                    diary.note(entry.hash, entry.slot, || entry.name(py))?;
                }
            }
            self.is_noted = is_whole;
        }
        for &key in &self.order {
            let value = self.values[key as u32 as usize];
            if !value.is_nan() {
                chunk.push_feature((key >> 32) as u32, value);
            }
        }
        if self.entries.len() > Self::LONGEST {
            self.clear();
        }
        Ok(())
    }
}

/// Whether two keys have the same letters.
fn is_same_text(a: &Bound<'_, PyAny>, b: &Bound<'_, PyAny>) -> bool {
    let (Ok(a), Ok(b)) = (a.cast_exact::<PyString>(), b.cast_exact::<PyString>()) else {
        return false;
    };
    matches!((a.to_cow(), b.to_cow()), (Ok(a), Ok(b)) if a == b)
}

impl Entry {
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        spelled(self.key.bind(py), self.text.as_ref().map(|text| text.bind(py)))
    }
}

/// The name of a feature: the key, and the value if it is a text, as in JSON lines.
fn spelled(key: &Bound<'_, PyAny>, text: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
    let name = key.cast::<PyString>()?.to_cow()?;
    Ok(match text {
        None => name.into_owned(),
        Some(text) => format!("{name}={}", text.cast::<PyString>()?.to_cow()?),
    })
}

/// Receiver of a row, and the values that are kept of it.
pub(crate) struct RowTarget<'a> {
    pub(crate) chunk: &'a mut Chunk,
    /// Records the names of rows that are learned.
    pub(crate) diary: Option<&'a mut SeenNames>,
    pub(crate) layout: &'a mut Layout,
    /// `None` where keys are ids.
    pub(crate) bits: Option<u8>,
    /// The largest value.
    pub(crate) limit: f64,
}

impl RowTarget<'_> {
    /// Appends a row to the chunk.
    pub(crate) fn push(
        &mut self,
        row: &Bound<'_, PyDict>,
        label: Option<f64>,
        weight: f64,
    ) -> PyResult<()> {
        let pushed = match self.bits {
            None => self.push_ids(row),
            Some(bits) => self.push_names(row, bits),
        };
        self.finish(pushed, label, weight)
    }

    /// Appends row `i` of a frame to the chunk.
    fn push_of_frame(
        &mut self,
        frame: &NumberFrame<'_>,
        i: usize,
        label: Option<f64>,
        weight: f64,
    ) -> PyResult<()> {
        let values = frame.row(i)?;
        let is_fast = self.bits.is_some() && self.layout.take_row(&frame.keys, values, self.limit);
        if !is_fast {
            return self.push(&frame.dict(i)?, label, weight);
        }
        let pushed = self.layout.push(frame.values.py(), self.chunk, self.diary.as_deref_mut());
        self.finish(pushed, label, weight)
    }

    /// Ends the row, or forgets it.
    fn finish(&mut self, pushed: PyResult<()>, label: Option<f64>, weight: f64) -> PyResult<()> {
        let finished = pushed.and_then(|()| {
            self.chunk.finish_row(label, weight, Repeats::Add).map_err(|e| {
                let words = match e {
                    RowError::NotFinite { .. } => {
                        "the sum of a feature's values is not finite".to_owned()
                    }
                    _ => e.to_string(),
                };
                BadInput::new(words).into()
            })
        });
        if finished.is_err() {
            // The diary forgets the names, too.
            self.layout.clear();
            self.chunk.abandon_row();
        }
        finished
    }

    fn push_ids(&mut self, row: &Bound<'_, PyDict>) -> PyResult<()> {
        // Columns that are not named are zero, as in a sparse matrix.
        if !self.chunk.columns().is_empty() {
            self.chunk.open_numbers().fill(0.0);
        }
        for (key, value) in row.iter() {
            let id = id(&key)?;
            let number = number(&key, &value, self.limit)?;
            // The columns of an array are in the order of their ids, from 1.
            let place = (id as usize).wrapping_sub(1);
            match self.chunk.columns().get(place).is_some_and(|column| column.id == id) {
                true => self.chunk.open_numbers()[place] = number.unwrap_or(f64::NAN),
                false => number.into_iter().for_each(|x| self.chunk.push_feature(id, x)),
            }
        }
        Ok(())
    }

    fn push_names(&mut self, row: &Bound<'_, PyDict>, bits: u8) -> PyResult<()> {
        if !self.layout.take_values(row, self.limit) {
            self.layout.read(row, bits, self.limit)?;
        }
        self.layout.push(row.py(), self.chunk, self.diary.as_deref_mut())
    }
}

/// A frame of numbers: the names of its columns, and its values row by row.
pub(crate) struct NumberFrame<'py> {
    keys: Vec<Bound<'py, PyAny>>,
    values: PyReadonlyArray2<'py, f64>,
}

impl<'py> NumberFrame<'py> {
    fn row(&self, i: usize) -> PyResult<&[f64]> {
        let width = self.keys.len();
        Ok(&self.values.as_slice()?[i * width..(i + 1) * width])
    }

    fn dict(&self, i: usize) -> PyResult<Bound<'py, PyDict>> {
        let row = PyDict::new(self.values.py());
        self.keys.iter().zip(self.row(i)?).try_for_each(|(key, value)| row.set_item(key, value))?;
        Ok(row)
    }
}

/// Several rows by name: dictionaries, or a frame of numbers, which needs no dictionary per row.
pub(crate) enum NamedRows<'py> {
    Dicts(Bound<'py, PyList>),
    Frame(NumberFrame<'py>),
}

impl<'py> NamedRows<'py> {
    /// Takes a list of dictionaries, or a pair of the names of columns and an array.
    pub(crate) fn new(rows: &Bound<'py, PyAny>) -> PyResult<Self> {
        if let Ok(rows) = rows.cast::<PyList>() {
            return Ok(Self::Dicts(rows.clone()));
        }
        let pair = rows.cast::<PyTuple>()?;
        let keys: Vec<_> = pair.get_item(0)?.cast::<PyList>()?.iter().collect();
        let values: PyReadonlyArray2<'py, f64> = pair.get_item(1)?.extract()?;
        if values.as_array().ncols() != keys.len() {
            let message = format!("{} names for {} columns", keys.len(), values.as_array().ncols());
            return Err(BadInput::new(message).into());
        }
        values.as_slice()?;
        Ok(Self::Frame(NumberFrame { keys, values }))
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Dicts(rows) => rows.len(),
            Self::Frame(frame) => frame.values.as_array().nrows(),
        }
    }

    /// Appends row `i` to a chunk.
    pub(crate) fn push(
        &self,
        i: usize,
        target: &mut RowTarget<'_>,
        label: Option<f64>,
        weight: f64,
    ) -> PyResult<()> {
        match self {
            Self::Dicts(rows) => target.push(rows.get_item(i)?.cast::<PyDict>()?, label, weight),
            Self::Frame(frame) => target.push_of_frame(frame, i, label, weight),
        }
    }
}

fn id(key: &Bound<'_, PyAny>) -> PyResult<u32> {
    let wrong = || {
        PyTypeError::new_err(format!(
            "features are ids here: every key must be an int from 0 to {}, got {key:?}",
            Space::LARGEST_ID
        ))
    };
    let key = key.cast::<PyInt>().map_err(|_| wrong())?;
    key.extract::<u32>().ok().filter(|id| *id <= Space::LARGEST_ID).ok_or_else(wrong)
}

/// A number; `None` where the value is missing.
fn number(key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>, limit: f64) -> PyResult<Option<f64>> {
    if value.is_none() || is_missing_in_pandas(value)? {
        return Ok(None);
    }
    let number = value.extract::<f64>().map_err(|_| {
        PyTypeError::new_err(format!(
            "the value of {key:?} must be a number or a str, got {value:?}"
        ))
    })?;
    within(key, number, limit)
}

/// Whether a value is one of pandas' own for a missing one.
fn is_missing_in_pandas(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    let name = value.get_type().name()?;
    let name = name.to_cow()?;
    Ok(matches!(&*name, "NAType" | "NaTType"))
}

/// Checks that a number has moderate size; returns `None` for NaN, a missing value in tables.
fn within(key: &Bound<'_, PyAny>, number: f64, limit: f64) -> PyResult<Option<f64>> {
    if number.abs() <= limit {
        return Ok(Some(number));
    }
    if number.is_nan() {
        return Ok(None);
    }
    let bad = BadInput::new(format!("the value of {key:?} is infinity or too large"));
    Err(bad.in_field(key.str()?.to_string()).into())
}
