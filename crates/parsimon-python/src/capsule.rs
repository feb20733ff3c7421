//! Arrow data of other libraries, by the capsules of Arrow's C data interface: buffers are borrowed, not copied.

#![allow(unsafe_code, reason = "the interface is structs in C behind pointers")]

use parsimon::data::arrow::array::{RecordBatch, RecordBatchReader, StructArray};
use parsimon::data::arrow::datatypes::SchemaRef;
use parsimon::data::arrow::error::ArrowError;
use parsimon::data::arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use parsimon::data::arrow::ffi_stream::{ArrowArrayStreamReader, FFI_ArrowArrayStream};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

/// Takes the batches of whatever offers them: a table, a record batch, a data frame, a reader.
pub(crate) fn batches(data: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let broken = |e: ArrowError| PyValueError::new_err(format!("the Arrow data is broken: {e}"));
    if data.hasattr("__arrow_c_stream__")? {
        let capsule = data.call_method0("__arrow_c_stream__")?;
        let stream = pointer::<FFI_ArrowArrayStream>(&capsule, c"arrow_array_stream")?;
        // SAFETY: a capsule of that name holds that struct, which nobody has moved out yet; from_raw leaves an empty one.
        let reader = unsafe { ArrowArrayStreamReader::from_raw(stream) }.map_err(broken)?;
        let schema = reader.schema();
        return Ok((schema, reader.collect::<Result<_, _>>().map_err(broken)?));
    }
    if data.hasattr("__arrow_c_array__")? {
        let capsules = data.call_method0("__arrow_c_array__")?;
        let (schema, array) = capsules.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>()?;
        let schema = pointer::<FFI_ArrowSchema>(&schema, c"arrow_schema")?;
        let array = pointer::<FFI_ArrowArray>(&array, c"arrow_array")?;
        // SAFETY: as above; the schema is only read, and stays with its capsule.
        let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array), &*schema) };
        let data = data.map_err(broken)?;
        if !matches!(data.data_type(), parsimon::data::arrow::datatypes::DataType::Struct(_)) {
            return Err(PyTypeError::new_err(format!(
                "a record batch is wanted, not an array of {}",
                data.data_type()
            )));
        }
        let batch = RecordBatch::from(StructArray::from(data));
        return Ok((batch.schema(), vec![batch]));
    }
    Err(PyTypeError::new_err(format!(
        "an Arrow table, record batch or data frame is wanted (anything with __arrow_c_stream__), got {}",
        data.get_type().name()?
    )))
}

fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &'static std::ffi::CStr) -> PyResult<*mut T> {
    let capsule = capsule.cast::<PyCapsule>()?;
    Ok(capsule.pointer_checked(Some(name))?.as_ptr().cast())
}
