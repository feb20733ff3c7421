//! Rows that are dictionaries of Python as JSON lines, which the reader of files reads.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::errors::BadInput;

/// The deepest nesting of a value.
const DEEPEST: usize = 32;

/// The rows as JSON lines; `None` if the data is no list of dictionaries.
pub(crate) fn json_lines(data: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u8>>> {
    let is_list = data.is_instance_of::<PyList>() || data.is_instance_of::<PyTuple>();
    if !is_list || data.len()? == 0 || !data.get_item(0)?.is_instance_of::<PyDict>() {
        return Ok(None);
    }
    let mut text = String::new();
    for (row, place) in data.try_iter()?.zip(1..) {
        let row = row?;
        let fields = row.cast::<PyDict>().map_err(|_| {
            PyTypeError::new_err(format!("row {place} is no dict; the rows before it are"))
        })?;
        object(&mut text, fields, DEEPEST)
            .map_err(|e| crate::errors::at_row(data.py(), e, place - 1))?;
        text.push('\n');
    }
    Ok(Some(text.into_bytes()))
}

fn quoted(text: &mut String, value: &str) {
    text.push_str(&serde_json::Value::from(value).to_string());
}

fn object(text: &mut String, fields: &Bound<'_, PyDict>, depth: usize) -> PyResult<()> {
    text.push('{');
    for (i, (key, value)) in fields.iter().enumerate() {
        if i > 0 {
            text.push(',');
        }
        let name = key.cast::<PyString>().map_err(|_| {
            PyTypeError::new_err(format!("the names of columns must be str, got {key:?}"))
        })?;
        quoted(text, &name.to_cow()?);
        text.push(':');
        cell(text, &key, &value, depth)?;
    }
    text.push('}');
    Ok(())
}

/// Writes a value. Values of numpy, pandas and datetime are written as the numbers, texts or times that they represent.
fn cell(
    text: &mut String,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
    depth: usize,
) -> PyResult<()> {
    let odd = || {
        PyTypeError::new_err(format!(
            "the value of {key:?} must be a number, a str, a bool, a date, a list or a dict, got {value:?}"
        ))
    };
    let Some(depth) = depth.checked_sub(1) else { return Err(odd()) };
    if value.is_none() {
        text.push_str("null");
    } else if let Ok(truth) = value.cast::<PyBool>() {
        text.push_str(if truth.is_true() { "true" } else { "false" });
    } else if let Ok(word) = value.cast::<PyString>() {
        quoted(text, &word.to_cow()?);
    } else if let Ok(number) = value.cast::<PyFloat>() {
        float(text, key, number.value())?;
    } else if value.is_instance_of::<PyInt>() {
        text.push_str(&value.str()?.to_cow()?);
    } else if let Ok(fields) = value.cast::<PyDict>() {
        object(text, fields, depth)?;
    } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        text.push('[');
        for (i, item) in value.try_iter()?.enumerate() {
            if i > 0 {
                text.push(',');
            }
            cell(text, key, &item?, depth)?;
        }
        text.push(']');
    } else {
        let kind = value.get_type().name()?;
        match &*kind.to_cow()? {
            "NAType" | "NaTType" => text.push_str("null"),
            "Decimal" => float(text, key, value.extract()?)?,
            _ if value.hasattr("isoformat")? => {
                quoted(text, &value.call_method0("isoformat")?.cast::<PyString>()?.to_cow()?);
            }
            _ if value.hasattr("tolist")? => {
                cell(text, key, &value.call_method0("tolist")?, depth)?;
            }
            _ => return Err(odd()),
        }
    }
    Ok(())
}

/// Writes a number; NaN is a missing value.
fn float(text: &mut String, key: &Bound<'_, PyAny>, number: f64) -> PyResult<()> {
    if number.is_nan() {
        text.push_str("null");
    } else if number.is_infinite() {
        let bad = BadInput::new(format!("the value of {key:?} is infinity or too large"));
        return Err(bad.in_field(key.str()?.to_string()).into());
    } else {
        text.push_str(&format!("{number:?}"));
    }
    Ok(())
}
