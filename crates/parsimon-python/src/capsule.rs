//! Arrow data of other libraries, by the capsules of Arrow's C data interface: buffers are borrowed, not copied.

#![allow(unsafe_code, reason = "the interface is structs in C behind pointers")]

use std::ffi::CStr;

use parsimon::data::arrow::array::{Array, RecordBatch, RecordBatchReader, StructArray};
use parsimon::data::arrow::datatypes::{DataType, SchemaRef};
use parsimon::data::arrow::error::ArrowError;
use parsimon::data::arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use parsimon::data::arrow::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

use crate::guard::caught;

type Batches = (SchemaRef, Vec<RecordBatch>);

/// Takes the batches of a table, a record batch, a data frame or a reader.
pub(crate) fn batches(data: &Bound<'_, PyAny>) -> PyResult<Batches> {
    if data.hasattr("__arrow_c_stream__")? {
        let capsule = data.call_method0("__arrow_c_stream__")?;
        let stream = pointer(&capsule, "__arrow_c_stream__", c"arrow_array_stream")?;
        return sound(|| read_stream(stream));
    }
    if data.hasattr("__arrow_c_array__")? {
        let capsules = data.call_method0("__arrow_c_array__")?;
        let pair = capsules.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>();
        let (schema, array) = pair.map_err(|_| {
            PyTypeError::new_err(format!(
                "__arrow_c_array__ must return two capsules, got {}",
                named(&capsules)
            ))
        })?;
        let schema = pointer(&schema, "__arrow_c_array__", c"arrow_schema")?;
        let array = pointer(&array, "__arrow_c_array__", c"arrow_array")?;
        let array = sound(|| read_array(schema, array))?;
        let batch = record_batch(array)?;
        return Ok((batch.schema(), vec![batch]));
    }
    Err(PyTypeError::new_err(format!(
        "an Arrow table, record batch or data frame is wanted (anything with __arrow_c_stream__), got {}",
        named(data)
    )))
}

fn read_stream(stream: *mut FFI_ArrowArrayStream) -> Result<Batches, ArrowError> {
    // SAFETY: a capsule of that name holds that struct; from_raw moves it out and leaves an empty one, which is refused the
    // second time.
    let reader = unsafe { ArrowArrayStreamReader::from_raw(stream) }?;
    let schema = reader.schema();
    Ok((schema, reader.collect::<Result<_, _>>()?))
}

fn read_array(
    schema: *mut FFI_ArrowSchema,
    array: *mut FFI_ArrowArray,
) -> Result<StructArray, ArrowError> {
    // SAFETY: as above; the schema is only read, and stays with its capsule.
    let (array, schema) = unsafe { (FFI_ArrowArray::from_raw(array), &*schema) };
    if array.is_released() {
        return Err(ArrowError::CDataInterface("the array was taken already".to_owned()));
    }
    // SAFETY: the array was not released, and it is what its schema says, by the promise of the interface.
    let data = unsafe { from_ffi(array, schema) }?;
    match data.data_type() {
        DataType::Struct(_) => Ok(StructArray::from(data)),
        other => Err(ArrowError::SchemaError(format!(
            "a record batch is wanted, not an array of {other}"
        ))),
    }
}

fn record_batch(array: StructArray) -> PyResult<RecordBatch> {
    match array.null_count() {
        0 => Ok(RecordBatch::from(array)),
        nulls => Err(PyValueError::new_err(format!(
            "a record batch has columns with nulls, not rows that are null; {nulls} rows are"
        ))),
    }
}

/// Reads what another library offers. Arrow's own code panics over some structs that were released or never filled.
fn sound<T>(read: impl FnOnce() -> Result<T, ArrowError>) -> PyResult<T> {
    let broken = |words| PyValueError::new_err(format!("the Arrow data is broken: {words}"));
    match caught(read) {
        Ok(Ok(read)) => Ok(read),
        Ok(Err(ArrowError::SchemaError(words))) => Err(PyTypeError::new_err(words)),
        Ok(Err(error)) => Err(broken(error.to_string())),
        Err(panic) => Err(broken(panic)),
    }
}

/// The struct in a capsule.
fn pointer<T>(capsule: &Bound<'_, PyAny>, method: &str, name: &'static CStr) -> PyResult<*mut T> {
    let wanted = name.to_string_lossy();
    let Ok(found) = capsule.cast::<PyCapsule>() else {
        return Err(PyTypeError::new_err(format!(
            "{method} must return a capsule named {wanted}, got {}",
            named(capsule)
        )));
    };
    let pointer = found.pointer_checked(Some(name)).map_err(|_| {
        PyValueError::new_err(format!(
            "{method} must return a capsule named {wanted}; this one has another name"
        ))
    })?;
    Ok(pointer.as_ptr().cast())
}

/// The name of a value's type.
fn named(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "something else".to_owned(), |name| name.to_string())
}
