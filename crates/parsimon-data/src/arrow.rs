//! The parts of Apache Arrow that tables are read and written with, under the paths of the crate `arrow`.
//!
//! `arrow` as a whole also brings arithmetic, sorting and regular expressions, which no reader calls and every first build would compile.

/// Arrays, and what builds, casts and walks them.
pub mod array {
    pub use arrow_array::builder::*;
    pub use arrow_array::cast::*;
    pub use arrow_array::iterator::*;
    pub use arrow_array::*;
}

/// Conversion of a column to another type.
pub mod compute {
    pub use arrow_cast::cast;
}

/// Types of columns.
pub mod datatypes {
    pub use arrow_array::types::*;
    pub use arrow_buffer::i256;
    pub use arrow_schema::{
        DataType, Field, FieldRef, Fields, IntervalUnit, Schema, SchemaRef, TimeUnit, UnionFields,
        UnionMode,
    };
}

/// Errors of Arrow.
pub mod error {
    pub use arrow_schema::ArrowError;
}

/// Rows of a table, a column at a time.
pub mod record_batch {
    pub use arrow_array::{RecordBatch, RecordBatchOptions, RecordBatchReader};
}

pub use arrow_array::{ffi, ffi_stream};
pub use arrow_ipc as ipc;
