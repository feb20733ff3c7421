//! One row as a dictionary: names are hashed as the program hashes the fields of a JSON line, whole numbers are ids.

use rustc_hash::FxHashSet;

use parsimon::core::{Chunk, Repeats, RowError};
use parsimon::data::{Names, Space, hash};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyFloatMethods, PyInt, PyString};

use crate::errors::BadInput;

/// The names of rows that were learned. Those of rows that are refused are forgotten.
#[derive(Default)]
pub(crate) struct Diary {
    // PERF: a name is nearly always known, and this is the cheapest way to see it.
    seen: FxHashSet<u64>,
    fresh: Vec<(u64, u32, String)>,
    names: Names,
}

impl Diary {
    fn note(&mut self, hash: u64, slot: u32, name: &str) {
        if self.seen.insert(hash) {
            self.fresh.push((hash, slot, name.to_owned()));
        }
    }

    /// A name that stands for its id.
    pub(crate) fn insert(&mut self, id: u32, name: &str) {
        self.names.insert(id, name);
    }

    /// The rows since the last call were learned, or were not.
    pub(crate) fn settle<T>(&mut self, learned: PyResult<T>) -> PyResult<T> {
        for (hash, slot, name) in self.fresh.drain(..) {
            if learned.is_ok() {
                self.names.insert(slot, &name);
            } else {
                self.seen.remove(&hash);
            }
        }
        learned
    }

    /// Hands the names over.
    pub(crate) fn take(&mut self) -> Names {
        std::mem::take(&mut self.names)
    }
}

/// Appends a row to the chunk. `bits` is `None` where keys are ids.
pub(crate) fn push_dict(
    chunk: &mut Chunk,
    diary: Option<&mut Diary>,
    row: &Bound<'_, PyDict>,
    bits: Option<u8>,
    label: Option<f64>,
    weight: f64,
    limit: f64,
) -> PyResult<()> {
    let pushed = push_features(chunk, diary, row, bits, limit);
    if pushed.is_err() {
        chunk.abandon_row();
        return pushed;
    }
    chunk.finish_row(label, weight, Repeats::Add).map_err(|e| {
        let words = match e {
            RowError::NotFinite { .. } => "the sum of a feature's values is not finite".to_owned(),
            _ => e.to_string(),
        };
        BadInput::new(words).into()
    })
}

fn push_features(
    chunk: &mut Chunk,
    mut diary: Option<&mut Diary>,
    row: &Bound<'_, PyDict>,
    bits: Option<u8>,
    limit: f64,
) -> PyResult<()> {
    for (key, value) in row.iter() {
        let Some(bits) = bits else {
            let id = id(&key)?;
            if let Some(number) = number(&key, &value, limit)? {
                chunk.push_feature(id, number);
            }
            continue;
        };
        let name = key.cast::<PyString>().map_err(|_| {
            PyTypeError::new_err("features are named here: every key must be a str")
        })?;
        let name = name.to_cow()?;
        let mut push = |name: &str, value: f64| {
            let hash = hash::feature(0, name.as_bytes());
            let slot = hash::slot(hash, bits);
            chunk.push_feature(slot, value);
            if let Some(diary) = &mut diary {
                diary.note(hash, slot, name);
            }
        };
        // PERF: nearly all values are floats.
        if let Ok(float) = value.cast_exact::<PyFloat>() {
            if let Some(number) = within(&key, float.value(), limit)? {
                push(&name, number);
            }
            continue;
        }
        // As in JSON lines: a text is the feature `name=text`, nothing is no feature.
        match value.cast::<PyString>() {
            Ok(text) => push(&format!("{name}={}", text.to_cow()?), 1.0),
            Err(_) => {
                if let Some(number) = number(&key, &value, limit)? {
                    push(&name, number);
                }
            }
        }
    }
    Ok(())
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

/// A number of moderate size; `None` for NaN, which stands for a missing value in tables.
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
